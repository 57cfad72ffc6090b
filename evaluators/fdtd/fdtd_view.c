/* fdtd_view.c: the grid of one design as files for ParaView. */
#include "fdtd_view.h"

#include "../../core/output_file.h"
#include "fdtd_build_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a node: bit c: the edge along c from it is a conductor; bit 3 + c: a face that is drawn has
 * it; SOLID: the cell above it is one. */
enum { DRAWN = 3, SOLID = 64 };

typedef struct view {
    const ec_fdtd_model *model;
    const double *values;
    ec_fdtd_setup setup;
    ec_fdtd_build *build;
    ec_fdtd_structure structure;
    int32_t n[3];
    uint8_t *flag; /* [node] */
    int32_t *id;   /* [node] of a file's points; -1: not one of them */
    char stem[4400];
} view;

static size_t node_of(const view *v, const int p[3])
{
    return ((size_t)p[2] * (size_t)(v->n[1] + 1) + (size_t)p[1]) * (size_t)(v->n[0] + 1) +
           (size_t)p[0];
}

static double middle(const view *v, int axis, int cell)
{
    return 0.5 * (v->build->line[axis][cell] + v->build->line[axis][cell + 1]);
}

static double width(const view *v, int axis, int cell)
{
    return v->build->line[axis][cell + 1] - v->build->line[axis][cell];
}

static bool cell_medium(const view *v, const int p[3], ec_fdtd_medium *medium)
{
    double at[3], least = INFINITY;
    for (int c = 0; c < 3; c++) {
        at[c] = middle(v, c, p[c]);
        least = fmin(least, width(v, c, p[c]));
    }
    return ec_fdtd_medium_at(&v->structure, at, 1e-6 * least, medium);
}

static bool edge_is_conductor(const view *v, const int p[3], int along)
{
    double at[3], least = width(v, along, p[along]);
    for (int c = 0; c < 3; c++) {
        double x = c == along ? middle(v, c, p[c]) : v->build->line[c][p[c]];
        at[c] = ec_fdtd_clamped(&v->structure, c, x);
        for (int side = p[c] - 1; side <= p[c] && c != along; side++)
            if (side >= 0 && side < v->n[c])
                least = fmin(least, width(v, c, side));
    }
    const int top = ec_fdtd_top(&v->structure, at, 0.5e-6 * least);
    return top >= 0 && v->structure.solid[top].material == EC_FDTD_PEC;
}

/* Calls visit for each node, x fastest. */
static void each_node(view *v, void (*visit)(view *v, const int p[3], FILE *to), FILE *to)
{
    int p[3];
    for (p[2] = 0; p[2] <= v->n[2]; p[2]++)
        for (p[1] = 0; p[1] <= v->n[1]; p[1]++)
            for (p[0] = 0; p[0] <= v->n[0]; p[0]++)
                visit(v, p, to);
}

static void mark(view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium medium;
    uint8_t flag = 0;
    (void)to;
    for (int c = 0; c < 3; c++)
        if (p[c] < v->n[c] && edge_is_conductor(v, p, c))
            flag |= (uint8_t)(1u << c);
    if (p[0] < v->n[0] && p[1] < v->n[1] && p[2] < v->n[2] && !cell_medium(v, p, &medium))
        flag |= SOLID;
    v->flag[node_of(v, p)] = flag;
}

/* The corners of the face across c at node p, in their order; false: the grid has no such face. */
static bool face_corners(const view *v, const int p[3], int c, size_t corner[4])
{
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    int q[3] = {p[0], p[1], p[2]};
    if (p[a] >= v->n[a] || p[b] >= v->n[b])
        return false;
    corner[0] = node_of(v, q);
    q[a]++;
    corner[1] = node_of(v, q);
    q[b]++;
    corner[2] = node_of(v, q);
    q[a]--;
    corner[3] = node_of(v, q);
    return true;
}

/* A face of conductors that is not within one. */
static bool face_is_drawn(const view *v, const int p[3], int c, size_t corner[4])
{
    const unsigned a = 1u << (c + 1) % 3, b = 1u << (c + 2) % 3;
    if (!face_corners(v, p, c, corner) || !(v->flag[corner[0]] & a) || !(v->flag[corner[0]] & b) ||
        !(v->flag[corner[1]] & b) || !(v->flag[corner[3]] & a))
        return false;
    int before[3] = {p[0], p[1], p[2]};
    before[c]--;
    bool below = before[c] >= 0 && (v->flag[node_of(v, before)] & SOLID);
    bool above = p[c] < v->n[c] && (v->flag[node_of(v, p)] & SOLID);
    return !(below && above);
}

static void mark_faces(view *v, const int p[3], FILE *to)
{
    size_t corner[4];
    (void)to;
    for (int c = 0; c < 3; c++) {
        const unsigned a = 1u << (DRAWN + (c + 1) % 3), b = 1u << (DRAWN + (c + 2) % 3);
        if (!face_corners(v, p, c, corner))
            continue;
        const unsigned ea = 1u << (c + 1) % 3, eb = 1u << (c + 2) % 3;
        if ((v->flag[corner[0]] & ea) && (v->flag[corner[0]] & eb) && (v->flag[corner[1]] & eb) &&
            (v->flag[corner[3]] & ea)) {
            v->flag[corner[0]] |= (uint8_t)(a | b);
            v->flag[corner[1]] |= (uint8_t)b;
            v->flag[corner[3]] |= (uint8_t)a;
        }
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(const view *v, const char *ending, const char *type, ec_output_file *file)
{
    char path[4500];
    snprintf(path, sizeof path, "%s%s", v->stem, ending);
    int status = ec_output_file_open(path, file);
    if (status == EC_OK)
        fprintf(file->stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"0.1\">\n",
                type);
    return status;
}

static void write_cell(view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium m;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    fprintf(to, "%.6g\n", cell_medium(v, p, &m) ? m.eps_r : 0);
}

static void write_conductivity(view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium m;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    fprintf(to, "%.6g\n", cell_medium(v, p, &m) ? m.sigma : 0);
}

static void write_conductor(view *v, const int p[3], FILE *to)
{
    if (p[0] < v->n[0] && p[1] < v->n[1] && p[2] < v->n[2])
        fputs(v->flag[node_of(v, p)] & SOLID ? "1\n" : "0\n", to);
}

static void write_absorbing(view *v, const int p[3], FILE *to)
{
    bool absorbing = false;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    for (int c = 0; c < 3; c++)
        absorbing = absorbing || p[c] < v->setup.shape.layers[c][0] ||
                    p[c] >= v->n[c] - v->setup.shape.layers[c][1];
    fputs(absorbing ? "1\n" : "0\n", to);
}

static int write_grid(view *v)
{
    static const struct {
        const char *name, *type;
        void (*write)(view *v, const int p[3], FILE *to);
    } data[] = {{"eps_r", "Float32", write_cell},
                {"conductivity", "Float32", write_conductivity},
                {"conductor", "UInt8", write_conductor},
                {"absorbing", "UInt8", write_absorbing}};
    ec_output_file file;
    int status = open_file(v, "_grid.vtr", "RectilinearGrid", &file);
    if (status < 0)
        return status;
    FILE *to = file.stream;
    fprintf(to, "<RectilinearGrid WholeExtent=\"0 %d 0 %d 0 %d\">\n", v->n[0], v->n[1], v->n[2]);
    fprintf(to, "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<Coordinates>\n", v->n[0], v->n[1], v->n[2]);
    for (int c = 0; c < 3; c++) {
        fprintf(to, "<DataArray type=\"Float64\" Name=\"%c\" format=\"ascii\">\n", "xyz"[c]);
        for (int32_t i = 0; i <= v->n[c]; i++)
            fprintf(to, "%.17g\n", v->build->line[c][i]);
        fprintf(to, "</DataArray>\n");
    }
    fprintf(to, "</Coordinates>\n<CellData Scalars=\"eps_r\">\n");
    for (size_t k = 0; k < sizeof data / sizeof *data; k++) {
        fprintf(to, "<DataArray type=\"%s\" Name=\"%s\" format=\"ascii\">\n", data[k].type,
                data[k].name);
        each_node(v, data[k].write, to);
        fprintf(to, "</DataArray>\n");
    }
    fprintf(to, "</CellData>\n</Piece>\n</RectilinearGrid>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

/* Points, lines of two points each and faces of four. */
static void write_head(FILE *to, int64_t points, int64_t lines, int64_t faces)
{
    fprintf(to,
            "<PolyData>\n<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"0\" NumberOfLines=\"%lld\" "
            "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n",
            (long long)points, (long long)lines, (long long)faces);
    fprintf(to, "<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                "format=\"ascii\">\n");
}

static void write_offsets(FILE *to, int64_t count, int step)
{
    fprintf(to, "</DataArray>\n<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">\n");
    for (int64_t i = 1; i <= count; i++)
        fprintf(to, "%lld\n", (long long)(i * step));
    fprintf(to, "</DataArray>\n");
}

static const char connectivity[] =
    "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">\n";

static bool lone_edge(const view *v, const int p[3], int c, size_t end[2])
{
    int q[3] = {p[0], p[1], p[2]};
    end[0] = node_of(v, p);
    if (p[c] >= v->n[c] || !(v->flag[end[0]] & 1u << c) || (v->flag[end[0]] & 1u << (DRAWN + c)))
        return false;
    q[c]++;
    end[1] = node_of(v, q);
    return true;
}

static int write_conductors(view *v)
{
    ec_output_file file;
    size_t corner[4];
    int64_t points = 0, lines = 0, faces = 0;
    size_t nodes = (size_t)(v->n[0] + 1) * (size_t)(v->n[1] + 1) * (size_t)(v->n[2] + 1);
    int status = open_file(v, "_conductors.vtp", "PolyData", &file);
    if (status < 0)
        return status;
    FILE *to = file.stream;
    for (int pass = 0; pass < 4; pass++) { /* count, points, lines, faces */
        int p[3];
        if (pass == 1) {
            for (size_t i = 0; i < nodes; i++)
                v->id[i] = v->id[i] >= 0 ? (int32_t)points++ : -1;
            write_head(to, points, lines, faces);
        } else if (pass >= 2) {
            fprintf(to, pass == 2 ? "</DataArray>\n</Points>\n<Lines>\n" : "</Lines>\n<Polys>\n");
            fputs(connectivity, to);
        }
        for (p[2] = 0; p[2] <= v->n[2]; p[2]++)
            for (p[1] = 0; p[1] <= v->n[1]; p[1]++)
                for (p[0] = 0; p[0] <= v->n[0]; p[0]++) {
                    if (pass == 1 && v->id[node_of(v, p)] >= 0)
                        fprintf(to, "%.17g %.17g %.17g\n", v->build->line[0][p[0]],
                                v->build->line[1][p[1]], v->build->line[2][p[2]]);
                    for (int c = 0; c < 3 && pass != 1; c++) {
                        if (pass != 3 && lone_edge(v, p, c, corner)) {
                            if (pass == 2)
                                fprintf(to, "%d %d\n", v->id[corner[0]], v->id[corner[1]]);
                            else
                                v->id[corner[0]] = v->id[corner[1]] = 0;
                            lines += pass == 0;
                        }
                        if (pass != 2 && face_is_drawn(v, p, c, corner)) {
                            if (pass == 3)
                                fprintf(to, "%d %d %d %d\n", v->id[corner[0]], v->id[corner[1]],
                                        v->id[corner[2]], v->id[corner[3]]);
                            for (int k = 0; k < 4 && pass == 0; k++)
                                v->id[corner[k]] = 0;
                            faces += pass == 0;
                        }
                    }
                }
        if (pass >= 2)
            write_offsets(to, pass == 2 ? lines : faces, pass == 2 ? 2 : 4);
    }
    fprintf(to, "</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

static int write_ports(view *v)
{
    const ec_fdtd_config *c = &v->model->config;
    ec_output_file file;
    int status = open_file(v, "_ports.vtp", "PolyData", &file);
    if (status < 0)
        return status;
    FILE *to = file.stream;
    write_head(to, 2 * (int64_t)c->n_ports, c->n_ports, 0);
    for (int32_t i = 0; i < c->n_ports; i++)
        for (int end = 0; end < 2; end++) {
            const ec_fdtd_number *at = end ? c->ports[i].to : c->ports[i].from;
            fprintf(to, "%.17g %.17g %.17g\n", ec_fdtd_number_of(at[0], v->values),
                    ec_fdtd_number_of(at[1], v->values), ec_fdtd_number_of(at[2], v->values));
        }
    fprintf(to, "</DataArray>\n</Points>\n<Lines>\n%s", connectivity);
    for (int32_t i = 0; i < c->n_ports; i++)
        fprintf(to, "%d %d\n", (int)(2 * i), (int)(2 * i + 1));
    write_offsets(to, c->n_ports, 2);
    fprintf(to, "</Lines>\n<CellData Scalars=\"port\">\n"
                "<DataArray type=\"Int32\" Name=\"port\" format=\"ascii\">\n");
    for (int32_t i = 1; i <= c->n_ports; i++)
        fprintf(to, "%d\n", (int)i);
    fprintf(to, "</DataArray>\n</CellData>\n</Piece>\n</PolyData>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

static int write_index(const view *v)
{
    static const char *const parts[][2] = {
        {"grid", "_grid.vtr"}, {"conductors", "_conductors.vtp"}, {"ports", "_ports.vtp"}};
    const char *slash = strrchr(v->stem, '/');
    ec_output_file file;
    int status = open_file(v, ".vtm", "vtkMultiBlockDataSet", &file);
    if (status < 0)
        return status;
    fprintf(file.stream, "<vtkMultiBlockDataSet>\n");
    for (int i = 0; i < 3; i++)
        fprintf(file.stream, "<DataSet index=\"%d\" name=\"%s\" file=\"%s%s\"/>\n", i, parts[i][0],
                slash ? slash + 1 : v->stem, parts[i][1]);
    fprintf(file.stream, "</vtkMultiBlockDataSet>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

/* ---- a design -------------------------------------------------------------------------------- */

/* The model's numbers; the caller's. */
static int read_values(const ec_fdtd_winner *w, double **values)
{
    double *to = calloc((size_t)w->call->n_in + 1, sizeof *to);
    int status = to ? EC_OK : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a view");
    for (int32_t i = 0; i < w->call->n_in && status == EC_OK; i++)
        status = ec_fdtd_winner_number(w, w->call->in[i], &to[i]);
    *values = to;
    return status;
}

static int write_all(view *v)
{
    const ec_fdtd_build *b = v->build;
    size_t nodes = 1;
    v->structure = (ec_fdtd_structure){
        .solid = b->solid, .n_solids = b->n_solids, .point = b->point, .medium = b->medium};
    for (int c = 0; c < 3; c++) {
        v->structure.line[c] = b->line[c];
        memcpy(v->structure.end[c], b->end[c], sizeof b->end[c]);
        v->n[c] = v->setup.shape.n[c];
        nodes *= (size_t)v->n[c] + 1;
    }
    v->flag = calloc(nodes, 1);
    v->id = malloc(nodes * sizeof *v->id);
    if (!v->flag || !v->id)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a view of %zu nodes", nodes);
    memset(v->id, -1, nodes * sizeof *v->id);
    each_node(v, mark, NULL);
    each_node(v, mark_faces, NULL);
    int status = write_grid(v);
    if (status == EC_OK)
        status = write_conductors(v);
    if (status == EC_OK)
        status = write_ports(v);
    return status == EC_OK ? write_index(v) : status;
}

int ec_fdtd_view_write(const ec_fdtd_winner *winner, const char *path)
{
    view v = {.model = ec_fdtd_model_of(winner->call)};
    size_t n = strlen(path);
    ec_fdtd_line_plan *lines = NULL;
    double *values = NULL;
    if (n < 5 || n >= sizeof v.stem || strcmp(path + n - 4, ".vtm") != 0)
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a view is written as .vtm", path);
    memcpy(v.stem, path, n - 4);
    int status = read_values(winner, &values);
    v.values = values;
    if (status == EC_OK)
        status = ec_fdtd_line_plan_create(v.model, NULL, &lines);
    if (status == EC_OK) {
        ec_fdtd_setup_init(v.model, lines, &v.setup);
        status = ec_fdtd_build_create(&v.setup, values, &v.build);
    }
    if (status == EC_OK)
        status = write_all(&v);
    if (v.build)
        ec_fdtd_build_destroy(&v.setup, &v.build);
    ec_fdtd_line_plan_destroy(&lines);
    free(values);
    free(v.flag);
    free(v.id);
    return status;
}
