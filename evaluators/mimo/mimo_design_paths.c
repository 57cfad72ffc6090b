/* mimo_design_paths.c: the paths of one design, and their files. */
#include "mimo_design.h"

#include "../../core/output_file.h"
#include "mimo_internal.h"
#include "scene_save_internal.h"

#include <stdlib.h>
#include <string.h>

static const size_t most_paths = 2000000;

/* A path that is kept; its steps and points begin at `first`, its gains at its number times the
 * number of frequencies. */
typedef struct route {
    size_t pair; /* receiving antenna n_tx + transmitting one */
    int32_t depth, rank;
    size_t first;
    double length, power;
    double departure[3], arrival[3]; /* unit, of travel */
    bool grazing;
} route;

struct ec_mimo_paths {
    const ec_mimo_design *design;
    ec_mimo_parts parts;
    size_t n, n_steps;
    route *route;
    ec_c128 *gain; /* [n][n_frequencies] */
    uint32_t *step;
    double (*point)[3];
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "mimo: no memory for the paths of a design");
}

double ec_mimo_design_work(const ec_mimo_design *design)
{
    const ec_mimo_parts p = ec_mimo_parts_of(design->winner.call);
    return (double)p.receivers * p.n_rx * p.n_tx * (double)p.sequences->n;
}

void ec_mimo_paths_destroy(ec_mimo_paths **paths)
{
    if (!paths || !*paths)
        return;
    free((*paths)->route);
    free((*paths)->gain);
    free((*paths)->step);
    free((*paths)->point);
    free(*paths);
    *paths = NULL;
}

size_t ec_mimo_paths_count(const ec_mimo_paths *paths)
{
    return paths->n;
}

/* ---- following them -------------------------------------------------------------------------- */

/* What all pairs share. */
typedef struct tracing {
    const ec_mimo_design *design;
    ec_mimo_parts parts;
    ec_fresnel_face *face; /* [n_frequencies][n_materials] */
    double longest;        /* wavelength */
    ec_mimo_path_limits limits;
} tracing;

static int by_strength(const void *left, const void *right)
{
    const route *a = left, *b = right;

    if (a->power != b->power)
        return a->power > b->power ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank; /* until sorted the place in the list */
}

static route route_of(const tracing *t, const ec_path_list *list, size_t i, size_t pair)
{
    const ec_path *p = &list->path[i];
    route r = {.pair = pair,
               .depth = p->depth,
               .rank = (int32_t)i,
               .first = p->first,
               .length = p->length,
               .grazing = 2 * EC_PI * p->smooth < t->longest};

    ec_path_copy(p->depth > 0 ? list->direction[p->first] : list->arrival[i], r.departure);
    ec_path_copy(list->arrival[i], r.arrival);
    return r;
}

/* For n paths at f frequencies and of so many steps in all. */
static int allocate(size_t n, size_t f, size_t steps, ec_mimo_paths *to)
{
    to->route = malloc((n + 1) * sizeof *to->route);
    to->gain = malloc((n * f + 1) * sizeof *to->gain);
    to->step = malloc((steps + 1) * sizeof *to->step);
    to->point = malloc((steps + 1) * sizeof *to->point);
    return to->route && to->gain && to->step && to->point ? EC_OK : no_memory();
}

/* Copies the kept paths of a list behind those of *to. */
static int keep(const tracing *t, const ec_path_list *list, size_t n, const route *kept,
                const ec_c128 *gain, ec_mimo_paths *to)
{
    size_t f = (size_t)t->parts.n_frequencies, steps = 0;

    for (size_t i = 0; i < n; i++)
        steps += (size_t)kept[i].depth;
    int status = allocate(n, f, steps, to);
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        route *r = &to->route[i];
        *r = kept[i];
        memcpy(to->gain + i * f, gain + (size_t)r->rank * f, f * sizeof *gain);
        memcpy(to->step + to->n_steps, list->step + r->first, (size_t)r->depth * sizeof *to->step);
        memcpy(to->point + to->n_steps, list->point + r->first,
               (size_t)r->depth * sizeof *to->point);
        r->first = to->n_steps;
        r->rank = (int32_t)i + 1;
        to->n_steps += (size_t)r->depth;
    }
    to->n = n;
    return EC_OK;
}

/* The paths of one pair, sorted and cut. */
static int follow(const tracing *t, size_t pair, ec_mimo_paths *to)
{
    const ec_mimo_design *d = t->design;
    const ec_mimo_parts *p = &t->parts;
    size_t f = (size_t)p->n_frequencies, receiver = pair / (size_t)p->n_tx,
           transmitter = pair % (size_t)p->n_tx;
    const double *from = d->tx[transmitter], *at = d->rx[receiver];
    const ec_antenna *tx = ec_mimo_antenna_of(d->winner.call, false, (int32_t)transmitter);
    const ec_antenna *rx = ec_mimo_antenna_of(d->winner.call, true, (int32_t)receiver);
    ec_path_list list = {0};

    int status = ec_path_find(p->plan, p->sequences, from, at, &list);
    route *all = malloc((list.n + 1) * sizeof *all);
    ec_c128 *gain = malloc((list.n * f + 1) * sizeof *gain);
    if (status == EC_OK && (!all || !gain))
        status = no_memory();
    for (size_t i = 0; i < list.n && status == EC_OK; i++) {
        all[i] = route_of(t, &list, i, pair);
        for (size_t k = 0; k < f; k++) {
            ec_c128 h =
                ec_path_channel(p->scene, t->face + k * (size_t)p->scene->n_materials, &list, i, tx,
                                from, rx, at, EC_LIGHT_SPEED / p->frequency[k]);
            gain[i * f + k] = h;
            all[i].power += h.re * h.re + h.im * h.im;
        }
    }
    if (status == EC_OK) {
        size_t n = list.n;
        qsort(all, n, sizeof *all, by_strength);
        if (t->limits.strongest > 0 && n > (size_t)t->limits.strongest)
            n = (size_t)t->limits.strongest;
        while (n > 1 && all[n - 1].power < all[0].power * pow(10, -0.1 * t->limits.floor_db))
            n--;
        status = keep(t, &list, n, all, gain, to);
    }
    free(all);
    free(gain);
    ec_path_list_free(&list);
    return status;
}

/* Those of all pairs, one after another. */
static int join(const ec_mimo_paths *pair, size_t pairs, ec_mimo_paths *to)
{
    size_t f = (size_t)to->parts.n_frequencies, n = 0, steps = 0;

    for (size_t i = 0; i < pairs; i++) {
        n += pair[i].n;
        steps += pair[i].n_steps;
    }
    if (n > most_paths)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "the design has %zu paths, at most %zu are written: take the strongest ones "
                       "of each pair, or a floor below these",
                       n, most_paths);
    int status = allocate(n, f, steps, to);
    if (status < 0)
        return status;
    for (size_t i = 0; i < pairs; i++) {
        const ec_mimo_paths *p = &pair[i];
        memcpy(to->gain + to->n * f, p->gain, p->n * f * sizeof *p->gain);
        memcpy(to->step + to->n_steps, p->step, p->n_steps * sizeof *p->step);
        memcpy(to->point + to->n_steps, p->point, p->n_steps * sizeof *p->point);
        for (size_t k = 0; k < p->n; k++) {
            to->route[to->n + k] = p->route[k];
            to->route[to->n + k].first += to->n_steps;
        }
        to->n += p->n;
        to->n_steps += p->n_steps;
    }
    return EC_OK;
}

static int make_faces(tracing *t)
{
    const ec_mimo_parts *p = &t->parts;
    size_t materials = (size_t)p->scene->n_materials;
    int status = EC_OK;

    t->face = malloc(((size_t)p->n_frequencies * materials + 1) * sizeof *t->face);
    if (!t->face)
        return no_memory();
    for (int32_t f = 0; f < p->n_frequencies && status == EC_OK; f++) {
        t->longest = fmax(t->longest, EC_LIGHT_SPEED / p->frequency[f]);
        status = ec_path_faces(p->scene, p->frequency[f], t->face + (size_t)f * materials);
    }
    return status;
}

/* Pairs are followed in any order, each into its own place. */
static int follow_all(const tracing *t, size_t pairs, ec_mimo_paths *pair)
{
    bool failed = false;

#pragma omp parallel for schedule(dynamic, 1) num_threads(t->design->threads) reduction(|| : failed)
    for (int64_t i = 0; i < (int64_t)pairs; i++)
        failed = follow(t, (size_t)i, &pair[i]) < 0 || failed;
    /* memory is all that can lack; the sentence of an error belongs to the thread that met it */
    return failed ? no_memory() : EC_OK;
}

int ec_mimo_design_paths(const ec_mimo_design *design, const ec_mimo_path_limits *limits,
                         ec_mimo_paths **paths)
{
    tracing t = {
        .design = design, .parts = ec_mimo_parts_of(design->winner.call), .limits = *limits};
    t.parts.frequency = design->frequency;
    size_t pairs = (size_t)design->receivers * (size_t)design->n_rx * (size_t)design->n_tx;

    if (limits->strongest < 0 || !(limits->floor_db >= 0))
        return ec_fail(EC_ERR_ARGUMENT,
                       "paths: the strongest %d down to %g dB below the first of each pair; both "
                       "are 0 or more",
                       (int)limits->strongest, limits->floor_db);
    ec_mimo_paths *to = calloc(1, sizeof *to), *pair = calloc(pairs + 1, sizeof *pair);
    int status = to && pair ? make_faces(&t) : no_memory();
    if (status == EC_OK)
        status = follow_all(&t, pairs, pair);
    if (status == EC_OK) {
        to->design = design;
        to->parts = t.parts;
        status = join(pair, pairs, to);
    }
    for (size_t i = 0; i < pairs && pair; i++) {
        free(pair[i].route);
        free(pair[i].gain);
        free(pair[i].step);
        free(pair[i].point);
    }
    free(pair);
    free(t.face);
    if (status < 0) {
        ec_mimo_paths_destroy(&to);
        return status;
    }
    *paths = to;
    return EC_OK;
}

/* ---- what files say of a path ---------------------------------------------------------------- */

static int32_t receiver_of(const ec_mimo_paths *p, const route *r)
{
    return (int32_t)(r->pair / (size_t)p->parts.n_tx) / p->parts.n_rx + 1;
}

static int32_t rx_of(const ec_mimo_paths *p, const route *r)
{
    return (int32_t)(r->pair / (size_t)p->parts.n_tx) % p->parts.n_rx + 1;
}

static int32_t tx_of(const ec_mimo_paths *p, const route *r)
{
    return (int32_t)(r->pair % (size_t)p->parts.n_tx) + 1;
}

static const double *from_of(const ec_mimo_paths *p, const route *r)
{
    return p->design->tx[r->pair % (size_t)p->parts.n_tx];
}

static const double *to_of(const ec_mimo_paths *p, const route *r)
{
    return p->design->rx[r->pair / (size_t)p->parts.n_tx];
}

static double level(ec_c128 h)
{
    return 20 * log10(hypot(h.re, h.im));
}

static double degrees(double radians)
{
    return radians * (180 / EC_PI) + 0.0;
}

static double azimuth(const double d[3], double sign)
{
    return degrees(atan2(sign * d[1], sign * d[0]));
}

static double elevation(const double d[3], double sign)
{
    return degrees(asin(fmax(-1, fmin(1, sign * d[2]))));
}

/* ---- .csv ------------------------------------------------------------------------------------ */

/* "reflection", ... */
static const char *kind_name(uint32_t step)
{
    static const char *const names[] = {"reflection", "reflection", "diffraction", "transmission"};
    return names[ec_path_kind(step)];
}

/* "OBJECT/part 3", "OBJECT/wedge 1": what is met; ";" stays free for the list. */
static void write_part(const ec_scene *s, uint32_t step, FILE *to)
{
    uint32_t kind = ec_path_kind(step);
    int32_t i = ec_path_index(step);
    int32_t object = kind == EC_PATH_CURVED        ? s->surface[i].object
                     : kind == EC_PATH_DIFFRACTION ? s->wedge[i].object
                                                   : s->facet[i].object;

    for (const char *c = s->object[object]; *c; c++)
        fputc(*c == ';' || *c == '"' || (unsigned char)*c < ' ' ? '_' : *c, to);
    if (kind == EC_PATH_DIFFRACTION)
        fprintf(to, "/wedge %d", (int)i);
    else
        fprintf(to, "/part %d", (int)(kind == EC_PATH_CURVED ? s->n_facets + i : i));
}

static void write_csv_head(const ec_mimo_paths *p, FILE *to)
{
    static const char *const names[] = {"frequency_hz", "re", "im", "gain_db", "phase_deg"};

    fprintf(to, "receiver,rx,tx,path,interactions,kinds,parts,points,length_m,delay_s,"
                "departure_azimuth_deg,departure_elevation_deg,arrival_azimuth_deg,"
                "arrival_elevation_deg,grazing");
    for (int32_t f = 0; f < p->parts.n_frequencies; f++)
        for (int i = 0; i < 5; i++)
            if (p->parts.n_frequencies > 1)
                fprintf(to, ",%s[%d]", names[i], (int)f + 1);
            else
                fprintf(to, ",%s", names[i]);
    fprintf(to, "\n");
}

static void write_csv(const ec_mimo_paths *p, FILE *to)
{
    size_t frequencies = (size_t)p->parts.n_frequencies;

    write_csv_head(p, to);
    for (size_t i = 0; i < p->n; i++) {
        const route *r = &p->route[i];
        const uint32_t *step = p->step + r->first;
        const double(*at)[3] = (const double(*)[3])p->point + r->first;
        fprintf(to, "%d,%d,%d,%d,%d,", (int)receiver_of(p, r), (int)rx_of(p, r), (int)tx_of(p, r),
                (int)r->rank, (int)r->depth);
        for (int32_t k = 0; k < r->depth; k++)
            fprintf(to, "%s%s", k ? ";" : "", kind_name(step[k]));
        fprintf(to, ",\"");
        for (int32_t k = 0; k < r->depth; k++) {
            fprintf(to, "%s", k ? ";" : "");
            write_part(p->parts.scene, step[k], to);
        }
        fprintf(to, "\",");
        for (int32_t k = 0; k < r->depth; k++)
            fprintf(to, "%s%.17g %.17g %.17g", k ? ";" : "", at[k][0], at[k][1], at[k][2]);
        fprintf(to, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d", r->length,
                r->length / EC_LIGHT_SPEED, azimuth(r->departure, 1), elevation(r->departure, 1),
                azimuth(r->arrival, -1), elevation(r->arrival, -1), r->grazing);
        for (size_t f = 0; f < frequencies; f++) {
            ec_c128 h = p->gain[i * frequencies + f];
            fprintf(to, ",%.17g,%.17g,%.17g,%.17g,%.17g", p->parts.frequency[f], ec_printable(h.re),
                    ec_printable(h.im), ec_printable(level(h)),
                    ec_printable(degrees(atan2(h.im, h.re))));
        }
        fprintf(to, "\n");
    }
}

/* ---- .vtk ------------------------------------------------------------------------------------ */

enum {
    VTK_RECEIVER,
    VTK_RX,
    VTK_TX,
    VTK_PATH,
    VTK_INTERACTIONS,
    VTK_GRAZING,
    VTK_COUNTS,
    VTK_LENGTH = VTK_COUNTS,
    VTK_DELAY,
    VTK_GAIN,
    VTK_PHASE,
    VTK_FIGURES
};

static double figure(const ec_mimo_paths *p, size_t i, int which)
{
    const route *r = &p->route[i];
    ec_c128 h = p->gain[i * (size_t)p->parts.n_frequencies];

    switch (which) {
    case VTK_RECEIVER:
        return receiver_of(p, r);
    case VTK_RX:
        return rx_of(p, r);
    case VTK_TX:
        return tx_of(p, r);
    case VTK_PATH:
        return r->rank;
    case VTK_INTERACTIONS:
        return r->depth;
    case VTK_GRAZING:
        return r->grazing;
    case VTK_LENGTH:
        return r->length;
    case VTK_DELAY:
        return r->length / EC_LIGHT_SPEED;
    case VTK_GAIN:
        return fmax(level(h), -400); /* readers of text stumble over infinities */
    default:
        return degrees(atan2(h.im, h.re));
    }
}

static void write_vtk(const ec_mimo_paths *p, FILE *to)
{
    static const char *const names[VTK_FIGURES] = {
        "receiver", "rx",       "tx",      "path",    "interactions",
        "grazing",  "length_m", "delay_s", "gain_db", "phase_deg"};
    size_t points = p->n_steps + 2 * p->n, at = 0;

    fprintf(to,
            "# vtk DataFile Version 3.0\npaths, lengths in m, gains at %.9g Hz\nASCII\n"
            "DATASET POLYDATA\nPOINTS %zu double\n",
            p->parts.frequency[0], points);
    for (size_t i = 0; i < p->n; i++) {
        const route *r = &p->route[i];
        for (int32_t k = -1; k <= r->depth; k++) {
            const double *q = k < 0           ? from_of(p, r)
                              : k == r->depth ? to_of(p, r)
                                              : p->point[r->first + (size_t)k];
            fprintf(to, "%.9g %.9g %.9g\n", q[0], q[1], q[2]);
        }
    }
    fprintf(to, "LINES %zu %zu\n", p->n, points + p->n);
    for (size_t i = 0; i < p->n; i++) {
        int32_t n = p->route[i].depth + 2;
        fprintf(to, "%d", (int)n);
        for (int32_t k = 0; k < n; k++)
            fprintf(to, " %zu", at++);
        fprintf(to, "\n");
    }
    fprintf(to, "CELL_DATA %zu\n", p->n);
    for (int which = 0; which < VTK_FIGURES; which++) {
        fprintf(to, "SCALARS %s %s 1\nLOOKUP_TABLE default\n", names[which],
                which < VTK_COUNTS ? "int" : "double");
        for (size_t i = 0; i < p->n; i++)
            fprintf(to, "%.9g\n", figure(p, i, which));
    }
}

/* ---- .ply ------------------------------------------------------------------------------------ */

static void write_ply(const ec_mimo_paths *p, FILE *to)
{
    const ec_scene *scene = p->parts.scene;
    size_t at = (size_t)scene->n_vertices;

    ec_scene_ply_head(scene, p->n_steps + 2 * p->n, to);
    fprintf(to,
            "element edge %zu\nproperty int vertex1\nproperty int vertex2\nproperty int receiver\n"
            "property int rx\nproperty int tx\nproperty int path\nproperty float gain_db\n"
            "end_header\n",
            p->n_steps + p->n);
    ec_scene_ply_vertices(scene, to);
    for (size_t i = 0; i < p->n; i++) {
        const route *r = &p->route[i];
        for (int32_t k = -1; k <= r->depth; k++) {
            const double *q = k < 0           ? from_of(p, r)
                              : k == r->depth ? to_of(p, r)
                                              : p->point[r->first + (size_t)k];
            fprintf(to, "%.9g %.9g %.9g\n", q[0], q[1], q[2]);
        }
    }
    ec_scene_ply_faces(scene, to);
    for (size_t i = 0; i < p->n; i++, at++) {
        const route *r = &p->route[i];
        for (int32_t k = 0; k <= r->depth; k++, at++)
            fprintf(to, "%zu %zu %d %d %d %d %.9g\n", at, at + 1, (int)receiver_of(p, r),
                    (int)rx_of(p, r), (int)tx_of(p, r), (int)r->rank, figure(p, i, VTK_GAIN));
    }
}

int ec_mimo_paths_write(const ec_mimo_paths *paths, const char *path)
{
    static const struct {
        const char *ending;
        void (*write)(const ec_mimo_paths *, FILE *);
    } kinds[] = {{".csv", write_csv}, {".vtk", write_vtk}, {".ply", write_ply}};
    const char *ending = strrchr(path, '.');
    ec_output_file file;
    size_t kind = 0;

    while (kind < 3 && !(ending && strcmp(ending, kinds[kind].ending) == 0))
        kind++;
    if (kind == 3)
        return ec_fail(EC_ERR_ARGUMENT, "'%s': paths are written as .csv, .vtk or .ply", path);
    int status = ec_output_file_open(path, &file);
    if (status < 0)
        return status;
    kinds[kind].write(paths, file.stream);
    return ec_output_file_close(&file);
}
