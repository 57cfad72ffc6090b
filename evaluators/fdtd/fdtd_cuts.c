/* fdtd_cuts.c: three cuts through the grid of one design as a plot. */
#include "../../core/output_file.h"
#include "../../core/output_internal.h"
#include "fdtd_line_plan_internal.h"
#include "fdtd_view_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONDUCTOR = -2, AIR = -1 }; /* colours of what is no material, as the structure has them */

typedef struct cut {
    const ec_fdtd_view *view;
    int axis, u, v; /* across it, and those drawn: u to the right, v upwards */
    int32_t node;   /* of the plane */
    FILE *to;
} cut;

static double line_at(const cut *c, int axis, int32_t i)
{
    return c->view->build->line[axis][i];
}

/* Materials in their order, pale; conductors dark. */
static unsigned colour_of(int material)
{
    static const unsigned pale[] = {0xf6d7a7, 0xb9dfb0, 0xf4b6b6, 0xbcd4ee,
                                    0xd9c2e9, 0xf3efa0, 0xb5e3df, 0xdcc9b6};
    return material == CONDUCTOR ? 0x5a5a5a
           : material == AIR     ? 0xffffff
                                 : pale[(size_t)material % (sizeof pale / sizeof *pale)];
}

static int material_at(const cut *c, const double *at, double tolerance)
{
    const ec_fdtd_structure *s = &c->view->structure;
    double q[3];
    for (int k = 0; k < 3; k++) /* what touches the domain's end goes on beyond it */
        q[k] = fmax(fmin(at[k], s->end[k][1] - 4 * tolerance), s->end[k][0] + 4 * tolerance);
    const int top = ec_fdtd_top(s, q, tolerance);
    return top < 0 ? AIR : s->solid[top].material;
}

/* Neighbours of one colour along u are one box. */
static void write_box(const cut *c, const double u[2], const double v[2], unsigned colour)
{
    if (u[1] > u[0])
        fprintf(c->to, "%.9g %.9g %.9g %.9g %.9g %.9g %u\n", 0.5 * (u[0] + u[1]),
                0.5 * (v[0] + v[1]), u[0], u[1], v[0], v[1], colour);
}

/* Cells are those below the plane, which have what carries a plate on it; with conformal conductors
 * parts of the plane itself. */
static void write_cells(const cut *c)
{
    const ec_fdtd_view *view = c->view;
    const int parts = view->model->config.grid.conformal ? 4 : 1;
    const int32_t below = c->node > 0 ? c->node - 1 : 0;
    double at[3];

    at[c->axis] = parts > 1 ? line_at(c, c->axis, c->node)
                            : 0.5 * (line_at(c, c->axis, below) + line_at(c, c->axis, below + 1));
    for (int32_t j = 0; j < view->n[c->v] * parts; j++) {
        const double y = line_at(c, c->v, j / parts);
        const double dy = (line_at(c, c->v, j / parts + 1) - y) / parts;
        const double v[2] = {y + dy * (j % parts), y + dy * (j % parts + 1)};
        double u[2] = {0, 0};
        int before = AIR;
        for (int32_t i = 0; i < view->n[c->u] * parts; i++) {
            const double x = line_at(c, c->u, i / parts);
            const double dx = (line_at(c, c->u, i / parts + 1) - x) / parts;
            at[c->u] = x + dx * (i % parts + 0.5);
            at[c->v] = 0.5 * (v[0] + v[1]);
            const int material = material_at(c, at, 1e-6 * fmin(dx, dy));
            if (material != before) {
                if (before != AIR)
                    write_box(c, u, v, colour_of(before));
                u[0] = x + dx * (i % parts);
                before = material;
            }
            u[1] = x + dx * (i % parts + 1);
        }
        if (before != AIR)
            write_box(c, u, v, colour_of(before));
    }
}

static bool face_at(const cut *c, int32_t i, int32_t j)
{
    size_t corner[4];
    int p[3];
    p[c->axis] = c->node;
    p[c->u] = i;
    p[c->v] = j;
    return i >= 0 && j >= 0 && ec_fdtd_view_face(c->view, p, c->axis, corner) &&
           ec_fdtd_view_conducts(c->view, c->axis, corner);
}

static void write_plates(const cut *c)
{
    for (int32_t j = 0; j < c->view->n[c->v]; j++)
        for (int32_t i = 0, first = 0; i <= c->view->n[c->u]; i++) {
            if (i < c->view->n[c->u] && face_at(c, i, j))
                continue;
            const double u[2] = {line_at(c, c->u, first), line_at(c, c->u, i)};
            const double v[2] = {line_at(c, c->v, j), line_at(c, c->v, j + 1)};
            write_box(c, u, v, colour_of(CONDUCTOR));
            first = i + 1;
        }
}

/* Edges in the plane that are conductors by themselves: plates and wires seen from their side. */
static void write_edges(const cut *c)
{
    const ec_fdtd_view *view = c->view;
    for (int t = 0; t < 2; t++) {
        const int along = t ? c->v : c->u, other = t ? c->u : c->v;
        int p[3];
        p[c->axis] = c->node;
        for (p[other] = 0; p[other] <= view->n[other]; p[other]++)
            for (p[along] = 0; p[along] < view->n[along]; p[along]++) {
                const int32_t i = p[c->u], j = p[c->v];
                if (!(view->flag[ec_fdtd_view_node(view, p)] & 1u << along) || face_at(c, i, j) ||
                    face_at(c, i - (t == 1), j - (t == 0)))
                    continue;
                fprintf(c->to, "%.9g %.9g\n", line_at(c, c->u, i), line_at(c, c->v, j));
                fprintf(c->to, "%.9g %.9g\n\n", line_at(c, c->u, i + (t == 0)),
                        line_at(c, c->v, j + (t == 1)));
            }
    }
}

static void write_lines(const cut *c)
{
    const int32_t nu = c->view->n[c->u], nv = c->view->n[c->v];
    for (int32_t i = 0; i <= nu; i++)
        fprintf(c->to, "%.9g %.9g\n%.9g %.9g\n\n", line_at(c, c->u, i), line_at(c, c->v, 0),
                line_at(c, c->u, i), line_at(c, c->v, nv));
    for (int32_t j = 0; j <= nv; j++)
        fprintf(c->to, "%.9g %.9g\n%.9g %.9g\n\n", line_at(c, c->u, 0), line_at(c, c->v, j),
                line_at(c, c->u, nu), line_at(c, c->v, j));
}

/* The domain without absorbing layers. */
static void write_inside(const cut *c)
{
    double at[2][2];
    for (int t = 0; t < 2; t++) {
        const int axis = t ? c->v : c->u;
        const int32_t *layers = c->view->setup.shape.layers[axis];
        at[t][0] = line_at(c, axis, layers[0]);
        at[t][1] = line_at(c, axis, c->view->n[axis] - layers[1]);
    }
    for (int i = 0; i < 5; i++)
        fprintf(c->to, "%.9g %.9g\n", at[0][(i + 1) / 2 % 2], at[1][i / 2 % 2]);
}

static double port_at(const cut *c, int32_t port, int end, int axis)
{
    const ec_fdtd_port *p = c->view->model->config.ports + port;
    return ec_fdtd_number_of(end ? p->to[axis] : p->from[axis], c->view->values);
}

/* Ports that the plane meets. */
static bool meets(const cut *c, int32_t port)
{
    const double a = port_at(c, port, 0, c->axis), b = port_at(c, port, 1, c->axis);
    const int32_t n = c->view->n[c->axis];
    const double low = line_at(c, c->axis, c->node > 0 ? c->node - 1 : 0);
    const double high = line_at(c, c->axis, c->node < n ? c->node + 1 : n);
    return fmin(a, b) <= high && fmax(a, b) >= low;
}

static void write_ports(const cut *c, bool met)
{
    for (int32_t i = 0; i < c->view->model->config.n_ports; i++) {
        if (meets(c, i) != met)
            continue;
        const double u[2] = {port_at(c, i, 0, c->u), port_at(c, i, 1, c->u)};
        const double v[2] = {port_at(c, i, 0, c->v), port_at(c, i, 1, c->v)};
        for (int k = 0; k < 5; k++)
            fprintf(c->to, "%.9g %.9g\n", u[(k + 1) / 2 % 2], v[k / 2 % 2]);
        fprintf(c->to, "\n");
    }
}

static void write_names(const cut *c)
{
    for (int32_t i = 0; i < c->view->model->config.n_ports; i++) {
        const char *name = c->view->model->config.ports[i].name;
        fprintf(c->to, "%.9g %.9g \"", 0.5 * (port_at(c, i, 0, c->u) + port_at(c, i, 1, c->u)),
                0.5 * (port_at(c, i, 0, c->v) + port_at(c, i, 1, c->v)));
        for (const char *p = name ? name : ""; *p; p++)
            fputc((unsigned char)*p < ' ' || *p == '"' || *p == '\\' ? '_' : *p, c->to);
        fprintf(c->to, "\"\n");
    }
}

/* A line of nothing first: gnuplot refuses empty blocks. */
static void begin_block(const cut *c, const char *name)
{
    fprintf(c->to, "$%s_%c << EOD\nNaN NaN NaN NaN NaN NaN 0\n\n", name, "xyz"[c->axis]);
}

static void write_blocks(const cut *c)
{
    static const struct {
        const char *name;
        void (*write)(const cut *c);
    } blocks[] = {{"cells", write_cells}, {"plates", write_plates}, {"edges", write_edges},
                  {"lines", write_lines}, {"inside", write_inside}, {"names", write_names}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        begin_block(c, blocks[i].name);
        blocks[i].write(c);
        fprintf(c->to, "EOD\n");
    }
    for (int met = 0; met < 2; met++) {
        begin_block(c, met ? "met" : "other");
        write_ports(c, met);
        fprintf(c->to, "EOD\n");
    }
}

static void write_panel(const cut *c)
{
    static const struct {
        const char *block, *style;
    } layer[] = {
        {"cells", "using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder linecolor rgb "
                  "variable"},
        {"plates", "using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder linecolor rgb "
                   "variable"},
        {"lines", "using 1:2 with lines linewidth 0.3 linecolor rgb '#a0a0a0'"},
        {"inside", "using 1:2 with lines dashtype 2 linewidth 1 linecolor rgb '#2060c0'"},
        {"edges", "using 1:2 with lines linewidth 3 linecolor rgb '#303030'"},
        {"other", "using 1:2 with lines dashtype 3 linewidth 1 linecolor rgb '#d02020'"},
        {"met", "using 1:2 with lines linewidth 3 linecolor rgb '#d02020'"},
        {"names", "using 1:2:3 with labels offset 0,1 textcolor rgb '#d02020'"}};
    const char x = "xyz"[c->axis];
    fprintf(c->to,
            "set title '%c = %s'\nset xlabel '%c (m)'\nset ylabel '%c (m)'\n"
            "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nplot ",
            x, ec_fdtd_length_of(line_at(c, c->axis, c->node)).text, "xyz"[c->u], "xyz"[c->v],
            line_at(c, c->u, 0), line_at(c, c->u, c->view->n[c->u]), line_at(c, c->v, 0),
            line_at(c, c->v, c->view->n[c->v]));
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++)
        fprintf(c->to, "%s$%s_%c %s", i ? ", \\\n     " : "", layer[i].block, x, layer[i].style);
    fprintf(c->to, "\n");
}

static void write_key_line(FILE *to, int *row, unsigned colour, const char *text)
{
    char word[600];
    ec_output_gnuplot_word(text, word, sizeof word);
    fprintf(to,
            "set object %d rectangle from 0.02,%.3f to 0.08,%.3f fillstyle solid border "
            "linecolor rgb '#808080' fillcolor rgb '#%06x'\nset label %s at 0.11,%.3f left\n",
            *row, 0.93 - 0.07 * *row, 0.98 - 0.07 * *row, colour, word, 0.955 - 0.07 * *row);
    ++*row;
}

/* What the colours are, and the ports. */
static void write_key(const ec_fdtd_view *v, FILE *to)
{
    const ec_fdtd_config *c = &v->model->config;
    char text[400];
    int row = 1;

    fprintf(to, "unset xlabel\nunset ylabel\nunset title\nunset border\nunset tics\n"
                "set size noratio\nset xrange [0:1]\nset yrange [0:1]\n");
    write_key_line(to, &row, colour_of(CONDUCTOR), "conductor");
    for (int32_t i = 0; i < c->n_materials && i < 8; i++) {
        const ec_fdtd_medium *m = v->build->medium + i;
        snprintf(text, sizeof text, "%.200s eps_r %.6g, %.3g S/m%s",
                 c->materials[i].name ? c->materials[i].name : "", m->eps_r, m->sigma,
                 c->materials[i].n_poles ? ", dispersive" : "");
        write_key_line(to, &row, colour_of(i), text);
    }
    write_key_line(to, &row, 0xd02020, "ports; dotted: before or behind the cut");
    write_key_line(to, &row, 0x2060c0, "beyond the dashed line: absorbing layers");
    snprintf(text, sizeof text, "%d x %d x %d cells", v->n[0], v->n[1], v->n[2]);
    write_key_line(to, &row, 0xa0a0a0, text);
    fprintf(to, "plot NaN\n");
}

/* The line nearest to a place. */
static int32_t nearest_node(const ec_fdtd_view *v, int axis, double at)
{
    int32_t best = 0;
    for (int32_t i = 1; i <= v->n[axis]; i++)
        if (fabs(v->build->line[axis][i] - at) < fabs(v->build->line[axis][best] - at))
            best = i;
    return best;
}

/* Along a port its end `to`, which most often is on the structure; across it its middle. */
static double place_of(const ec_fdtd_view *v, int axis)
{
    const ec_fdtd_config *c = &v->model->config;
    if (c->n_ports == 0)
        return 0.5 * (v->build->end[axis][0] + v->build->end[axis][1]);
    const double from = ec_fdtd_number_of(c->ports[0].from[axis], v->values);
    const double to = ec_fdtd_number_of(c->ports[0].to[axis], v->values);
    return c->ports[0].axis == axis ? to : 0.5 * (from + to);
}

int ec_fdtd_cuts_write(const ec_fdtd_view *v, const char *path, ec_log *log)
{
    static const int order[3] = {2, 1, 0};
    const char *slash = strrchr(path, '/');
    char name[420], folder[4400], script[4900];
    ec_output_file file;
    cut c[3];

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(name, sizeof name, "%.400s", slash ? slash + 1 : path);
    name[strlen(name) - 4] = 0;
    snprintf(script, sizeof script, "%s/%s.gp", *folder ? folder : "/", name);
    int status = ec_output_file_open(script, &file);
    if (status < 0)
        return status;
    fprintf(file.stream, "# gnuplot %s.gp\n", name);
    for (int i = 0; i < 3; i++) {
        const int axis = order[i];
        c[i] = (cut){.view = v,
                     .axis = axis,
                     .u = axis == 0 ? 1 : 0,
                     .v = axis == 2 ? 1 : 2,
                     .node = nearest_node(v, axis, place_of(v, axis)),
                     .to = file.stream};
        write_blocks(c + i);
    }
    fprintf(file.stream,
            "set terminal pngcairo noenhanced size 1600,1200 font 'Sans,10'\nset output '%s.png'\n"
            "unset key\nset multiplot layout 2,2\nset size ratio -1\nset xtics rotate by -30\n",
            name);
    for (int i = 0; i < 3; i++)
        write_panel(c + i);
    write_key(v, file.stream);
    fprintf(file.stream, "unset multiplot\n");
    status = ec_output_file_close(&file);
    if (status == EC_OK)
        ec_output_draw(*folder ? folder : "/", name, log);
    return status;
}
