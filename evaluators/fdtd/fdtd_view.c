/* fdtd_view.c: the grid of one design as files for ParaView. */
#include "fdtd_view_internal.h"

#include "../../core/output_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of a view. */
typedef struct writer {
    const ec_fdtd_view *view;
    int32_t *id;     /* [node] of a file's points; -1: not one of them */
    char stem[4400]; /* of the names */
} writer;

static double middle(const ec_fdtd_view *v, int axis, int cell)
{
    return 0.5 * (v->build->line[axis][cell] + v->build->line[axis][cell + 1]);
}

static double width(const ec_fdtd_view *v, int axis, int cell)
{
    return v->build->line[axis][cell + 1] - v->build->line[axis][cell];
}

static bool cell_medium(const ec_fdtd_view *v, const int p[3], ec_fdtd_medium *medium)
{
    double at[3], least = INFINITY;
    for (int c = 0; c < 3; c++) {
        at[c] = middle(v, c, p[c]);
        least = fmin(least, width(v, c, p[c]));
    }
    return ec_fdtd_medium_at(&v->structure, at, 1e-6 * least, medium);
}

static bool edge_is_conductor(const ec_fdtd_view *v, const int p[3], int along)
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
static void each_node(const ec_fdtd_view *v,
                      void (*visit)(const ec_fdtd_view *v, const int p[3], FILE *to), FILE *to)
{
    int p[3];
    for (p[2] = 0; p[2] <= v->n[2]; p[2]++)
        for (p[1] = 0; p[1] <= v->n[1]; p[1]++)
            for (p[0] = 0; p[0] <= v->n[0]; p[0]++)
                visit(v, p, to);
}

static void mark(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium medium;
    uint8_t flag = 0;
    (void)to;
    for (int c = 0; c < 3; c++)
        if (p[c] < v->n[c] && edge_is_conductor(v, p, c))
            flag |= (uint8_t)(1u << c);
    if (p[0] < v->n[0] && p[1] < v->n[1] && p[2] < v->n[2] && !cell_medium(v, p, &medium))
        flag |= EC_FDTD_VIEW_SOLID;
    v->flag[ec_fdtd_view_node(v, p)] = flag;
}

bool ec_fdtd_view_face(const ec_fdtd_view *v, const int p[3], int c, size_t corner[4])
{
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    int q[3] = {p[0], p[1], p[2]};
    if (p[a] >= v->n[a] || p[b] >= v->n[b])
        return false;
    corner[0] = ec_fdtd_view_node(v, q);
    q[a]++;
    corner[1] = ec_fdtd_view_node(v, q);
    q[b]++;
    corner[2] = ec_fdtd_view_node(v, q);
    q[a]--;
    corner[3] = ec_fdtd_view_node(v, q);
    return true;
}

bool ec_fdtd_view_conducts(const ec_fdtd_view *v, int c, const size_t corner[4])
{
    const unsigned a = 1u << (c + 1) % 3, b = 1u << (c + 2) % 3;
    return (v->flag[corner[0]] & a) && (v->flag[corner[0]] & b) && (v->flag[corner[1]] & b) &&
           (v->flag[corner[3]] & a);
}

/* A face of conductors that is not within one. */
static bool face_is_drawn(const ec_fdtd_view *v, const int p[3], int c, size_t corner[4])
{
    if (!ec_fdtd_view_face(v, p, c, corner) || !ec_fdtd_view_conducts(v, c, corner))
        return false;
    int before[3] = {p[0], p[1], p[2]};
    before[c]--;
    bool below = before[c] >= 0 && (v->flag[ec_fdtd_view_node(v, before)] & EC_FDTD_VIEW_SOLID);
    bool above = p[c] < v->n[c] && (v->flag[ec_fdtd_view_node(v, p)] & EC_FDTD_VIEW_SOLID);
    return !(below && above);
}

static void mark_faces(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    size_t corner[4];
    (void)to;
    for (int c = 0; c < 3; c++) {
        const unsigned a = 1u << (EC_FDTD_VIEW_DRAWN + (c + 1) % 3),
                       b = 1u << (EC_FDTD_VIEW_DRAWN + (c + 2) % 3);
        if (!ec_fdtd_view_face(v, p, c, corner) || !ec_fdtd_view_conducts(v, c, corner))
            continue;
        v->flag[corner[0]] |= (uint8_t)(a | b);
        v->flag[corner[1]] |= (uint8_t)b;
        v->flag[corner[3]] |= (uint8_t)a;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(const writer *w, const char *ending, const char *type, ec_output_file *file)
{
    char path[4500];
    snprintf(path, sizeof path, "%s%s", w->stem, ending);
    int status = ec_output_file_open(path, file);
    if (status == EC_OK)
        fprintf(file->stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"0.1\">\n",
                type);
    return status;
}

static void write_cell(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium m;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    fprintf(to, "%.6g\n", cell_medium(v, p, &m) ? m.eps_r : 0);
}

static void write_conductivity(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    ec_fdtd_medium m;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    fprintf(to, "%.6g\n", cell_medium(v, p, &m) ? m.sigma : 0);
}

/* The part of a cell that is a conductor. */
static double conductor_part(const ec_fdtd_view *v, const int p[3])
{
    enum { SAMPLES = 4 };
    double low[3], size[3], at[3], least = INFINITY;
    int inside = 0;
    if (!v->model->config.grid.conformal)
        return v->flag[ec_fdtd_view_node(v, p)] & EC_FDTD_VIEW_SOLID ? 1 : 0;
    for (int c = 0; c < 3; c++) {
        low[c] = v->build->line[c][p[c]];
        size[c] = width(v, c, p[c]);
        least = fmin(least, size[c]);
    }
    if (!ec_fdtd_may_conduct(&v->structure, low, size, 1e-6 * least))
        return 0;
    for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++) {
        const int place[3] = {i % SAMPLES, i / SAMPLES % SAMPLES, i / (SAMPLES * SAMPLES)};
        for (int c = 0; c < 3; c++)
            at[c] = low[c] + size[c] * (place[c] + 0.5) / SAMPLES;
        inside += ec_fdtd_is_conductor(&v->structure, at, 1e-6 * least);
    }
    return (double)inside / (SAMPLES * SAMPLES * SAMPLES);
}

static void write_conductor(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    if (p[0] < v->n[0] && p[1] < v->n[1] && p[2] < v->n[2])
        fprintf(to, "%.6g\n", conductor_part(v, p));
}

static void write_absorbing(const ec_fdtd_view *v, const int p[3], FILE *to)
{
    bool absorbing = false;
    if (p[0] == v->n[0] || p[1] == v->n[1] || p[2] == v->n[2])
        return;
    for (int c = 0; c < 3; c++)
        absorbing = absorbing || p[c] < v->setup.shape.layers[c][0] ||
                    p[c] >= v->n[c] - v->setup.shape.layers[c][1];
    fputs(absorbing ? "1\n" : "0\n", to);
}

static int write_grid(const writer *w)
{
    const ec_fdtd_view *v = w->view;
    static const struct {
        const char *name, *type;
        void (*write)(const ec_fdtd_view *v, const int p[3], FILE *to);
    } data[] = {{"eps_r", "Float32", write_cell},
                {"conductivity", "Float32", write_conductivity},
                {"conductor", "Float32", write_conductor},
                {"absorbing", "UInt8", write_absorbing}};
    ec_output_file file;
    int status = open_file(w, "_grid.vtr", "RectilinearGrid", &file);
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

static bool lone_edge(const ec_fdtd_view *v, const int p[3], int c, size_t end[2])
{
    int q[3] = {p[0], p[1], p[2]};
    end[0] = ec_fdtd_view_node(v, p);
    if (p[c] >= v->n[c] || !(v->flag[end[0]] & 1u << c) ||
        (v->flag[end[0]] & 1u << (EC_FDTD_VIEW_DRAWN + c)))
        return false;
    q[c]++;
    end[1] = ec_fdtd_view_node(v, q);
    return true;
}

static int write_conductors(const writer *w)
{
    const ec_fdtd_view *v = w->view;
    ec_output_file file;
    size_t corner[4];
    int64_t points = 0, lines = 0, faces = 0;
    size_t nodes = (size_t)(v->n[0] + 1) * (size_t)(v->n[1] + 1) * (size_t)(v->n[2] + 1);
    int status = open_file(w, "_conductors.vtp", "PolyData", &file);
    if (status < 0)
        return status;
    FILE *to = file.stream;
    for (int pass = 0; pass < 4; pass++) { /* count, points, lines, faces */
        int p[3];
        if (pass == 1) {
            for (size_t i = 0; i < nodes; i++)
                w->id[i] = w->id[i] >= 0 ? (int32_t)points++ : -1;
            write_head(to, points, lines, faces);
        } else if (pass >= 2) {
            fprintf(to, pass == 2 ? "</DataArray>\n</Points>\n<Lines>\n" : "</Lines>\n<Polys>\n");
            fputs(connectivity, to);
        }
        for (p[2] = 0; p[2] <= v->n[2]; p[2]++)
            for (p[1] = 0; p[1] <= v->n[1]; p[1]++)
                for (p[0] = 0; p[0] <= v->n[0]; p[0]++) {
                    if (pass == 1 && w->id[ec_fdtd_view_node(v, p)] >= 0)
                        fprintf(to, "%.17g %.17g %.17g\n", v->build->line[0][p[0]],
                                v->build->line[1][p[1]], v->build->line[2][p[2]]);
                    for (int c = 0; c < 3 && pass != 1; c++) {
                        if (pass != 3 && lone_edge(v, p, c, corner)) {
                            if (pass == 2)
                                fprintf(to, "%d %d\n", w->id[corner[0]], w->id[corner[1]]);
                            else
                                w->id[corner[0]] = w->id[corner[1]] = 0;
                            lines += pass == 0;
                        }
                        if (pass != 2 && face_is_drawn(v, p, c, corner)) {
                            if (pass == 3)
                                fprintf(to, "%d %d %d %d\n", w->id[corner[0]], w->id[corner[1]],
                                        w->id[corner[2]], w->id[corner[3]]);
                            for (int k = 0; k < 4 && pass == 0; k++)
                                w->id[corner[k]] = 0;
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

static int write_ports(const writer *w)
{
    const ec_fdtd_view *v = w->view;
    const ec_fdtd_config *c = &v->model->config;
    ec_output_file file;
    int status = open_file(w, "_ports.vtp", "PolyData", &file);
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

static int write_index(const writer *w)
{
    static const char *const parts[][2] = {
        {"grid", "_grid.vtr"}, {"conductors", "_conductors.vtp"}, {"ports", "_ports.vtp"}};
    const char *slash = strrchr(w->stem, '/');
    ec_output_file file;
    int status = open_file(w, ".vtm", "vtkMultiBlockDataSet", &file);
    if (status < 0)
        return status;
    fprintf(file.stream, "<vtkMultiBlockDataSet>\n");
    for (int i = 0; i < 3; i++)
        fprintf(file.stream, "<DataSet index=\"%d\" name=\"%s\" file=\"%s%s\"/>\n", i, parts[i][0],
                slash ? slash + 1 : w->stem, parts[i][1]);
    fprintf(file.stream, "</vtkMultiBlockDataSet>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

/* ---- a design -------------------------------------------------------------------------------- */

int ec_fdtd_winner_values(const ec_fdtd_winner *w, double **values)
{
    double *to = calloc((size_t)w->call->n_in + 1, sizeof *to);
    int status = to ? EC_OK : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a design");
    for (int32_t i = 0; i < w->call->n_in && status == EC_OK; i++)
        status = ec_fdtd_winner_number(w, w->call->in[i], &to[i]);
    *values = to;
    return status;
}

static int mark_all(ec_fdtd_view *v)
{
    const ec_fdtd_build *b = v->build;
    size_t nodes = 1;
    v->structure = (ec_fdtd_structure){.solid = b->solid,
                                       .n_solids = b->n_solids,
                                       .point = b->point,
                                       .medium = b->medium,
                                       .n_media = b->n_media};
    for (int c = 0; c < 3; c++) {
        v->structure.line[c] = b->line[c];
        memcpy(v->structure.end[c], b->end[c], sizeof b->end[c]);
        v->n[c] = v->setup.shape.n[c];
        nodes *= (size_t)v->n[c] + 1;
    }
    v->flag = calloc(nodes, 1);
    if (!v->flag)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a view of %zu nodes", nodes);
    each_node(v, mark, NULL);
    each_node(v, mark_faces, NULL);
    return EC_OK;
}

int ec_fdtd_view_outline(const ec_fdtd_winner *winner, ec_fdtd_view *v)
{
    const ec_fidelity fidelity = winner->at_search ? EC_SEARCH : EC_FINAL;
    *v = (ec_fdtd_view){.model = ec_fdtd_setup_of(winner->call, fidelity)->model};
    int status = ec_fdtd_winner_values(winner, &v->values);
    if (status == EC_OK)
        status = ec_fdtd_line_plan_create(v->model, NULL, &v->lines);
    if (status == EC_OK) {
        ec_fdtd_setup_init(v->model, v->lines, &v->setup);
        status = ec_fdtd_build_outline(&v->setup, v->values, &v->build);
    }
    return status;
}

int ec_fdtd_view_create(const ec_fdtd_winner *winner, ec_fdtd_view *v)
{
    int status = ec_fdtd_view_outline(winner, v);
    return status < 0 ? status : mark_all(v);
}

void ec_fdtd_view_release(ec_fdtd_view *v)
{
    if (v->build)
        ec_fdtd_build_destroy(&v->setup, &v->build);
    ec_fdtd_line_plan_destroy(&v->lines);
    free(v->values);
    free(v->flag);
}

static int write_vtk(const ec_fdtd_view *v, const char *path)
{
    writer w = {.view = v};
    size_t nodes = (size_t)(v->n[0] + 1) * (size_t)(v->n[1] + 1) * (size_t)(v->n[2] + 1);
    memcpy(w.stem, path, strlen(path) - 4);
    w.id = malloc(nodes * sizeof *w.id);
    if (!w.id)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a view of %zu nodes", nodes);
    memset(w.id, -1, nodes * sizeof *w.id);
    int status = write_grid(&w);
    if (status == EC_OK)
        status = write_conductors(&w);
    if (status == EC_OK)
        status = write_ports(&w);
    if (status == EC_OK)
        status = write_index(&w);
    if (status == EC_OK) {
        char table[4500];
        snprintf(table, sizeof table, "%s_structure.csv", w.stem);
        status = ec_fdtd_structure_table(v, table);
    }
    free(w.id);
    return status;
}

int ec_fdtd_view_write(const ec_fdtd_winner *winner, const char *path, ec_log *log)
{
    size_t n = strlen(path);
    const char *ending = n < 5 || n >= sizeof((writer *)0)->stem ? "" : path + n - 4;
    bool vtk = strcmp(ending, ".vtm") == 0;
    if (!vtk && strcmp(ending, ".png") != 0)
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a view is written as .vtm or .png", path);
    ec_fdtd_view v;
    int status = ec_fdtd_view_create(winner, &v);
    if (status == EC_OK)
        status = vtk ? write_vtk(&v, path) : ec_fdtd_cuts_write(&v, path, log);
    ec_fdtd_view_release(&v);
    return status;
}
