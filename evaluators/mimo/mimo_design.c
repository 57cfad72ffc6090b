/* mimo_design.c: positions and channels of one design; antennas and H as files. */
#include "mimo_design.h"

#include "../../core/executor.h"
#include "../../core/npy_file.h"
#include "../../core/output_file.h"
#include "mimo_internal.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "mimo: no memory for the channels of a design");
}

static int evaluate_once(const ec_mimo_winner *w, ec_expr e, double **value)
{
    const ec_node *node = ec_graph_node(w->graph, e);
    size_t samples =
        node->axes & EC_AXIS_SAMPLE ? (size_t)ec_graph_sample_count(w->graph, true) : 1;
    size_t width = node->dtype == EC_C128 ? 2 : 1;
    double *to = malloc((size_t)node->elements * samples * width * sizeof *to);
    uint8_t failed = 0;
    const ec_result *r = w->result;

    if (!to)
        return no_memory();
    int status = ec_evaluate_once(w->graph, w->backend, EC_FINAL, 1, &e, r ? r->genes : NULL,
                                  r ? (size_t)r->n_genes : 0, r ? r->group_genes : NULL,
                                  r ? (size_t)r->n_group_genes : 0, &to, &failed, NULL);
    if (status == EC_OK && failed & ~EC_CANDIDATE_NOT_FINITE)
        status = ec_fail(EC_ERR_RANGE, "the channels of this design cannot be computed: an antenna "
                                       "is inside a solid, on a surface, at an antenna of the "
                                       "other end, or outside of its box");
    if (status < 0) {
        free(to);
        return status;
    }
    *value = to;
    return EC_OK;
}

int ec_mimo_evaluate(const ec_mimo_winner *w, ec_expr e, double **value)
{
    int32_t length = 0;

    /* a search's result knows whether the expression is one of its job */
    return w->job && ec_graph_node(w->graph, e)->dtype != EC_C128
               ? ec_result_value(w->job, w->result, w->backend, e, value, &length, NULL)
               : evaluate_once(w, e, value);
}

/* One coordinate of the antennas of an end. */
static int read_axis(const ec_mimo_winner *w, ec_expr e, int32_t n, int axis, double (*to)[3])
{
    double *value = NULL;
    int status = ec_mimo_evaluate(w, e, &value);

    if (status < 0)
        return status;
    bool each = ec_graph_node(w->graph, e)->elements > 1;
    for (int32_t i = 0; i < n; i++)
        to[i][axis] = value[each ? i : 0];
    free(value);
    return EC_OK;
}

int ec_mimo_design_places(const ec_mimo_winner *winner, bool receives, double (**at)[3],
                          int32_t *count, bool *sampled)
{
    const ec_mimo_parts p = ec_mimo_parts_of(winner->call);
    const ec_expr *in = winner->call->in + (receives ? 3 : 0);
    int32_t n = receives ? p.receivers * p.n_rx : p.n_tx;
    double(*to)[3] = malloc((size_t)n * sizeof *to);
    int status = to ? EC_OK : no_memory();
    bool varies = false;

    for (int k = 0; k < 3 && status == EC_OK; k++) {
        varies = varies || ec_graph_node(winner->graph, in[k])->axes & EC_AXIS_SAMPLE;
        status = read_axis(winner, in[k], n, k, to);
    }
    if (status < 0) {
        free(to);
        return status;
    }
    *at = to;
    *count = n;
    if (sampled)
        *sampled = varies;
    return EC_OK;
}

/* Those of the call, or what their expression is at the design. */
static int read_frequencies(const ec_mimo_winner *w, const ec_mimo_parts *p, double **frequency)
{
    size_t bytes = (size_t)p->n_frequencies * sizeof **frequency;

    if (!p->frequency)
        return ec_mimo_evaluate(w, w->call->in[EC_MIMO_IN_FREQUENCY], frequency);
    *frequency = malloc(bytes);
    if (!*frequency)
        return no_memory();
    memcpy(*frequency, p->frequency, bytes);
    return EC_OK;
}

static int host_threads(const ec_backend *backend)
{
#ifdef _OPENMP
    return backend->is_cuda ? omp_get_max_threads() : backend->threads;
#else
    (void)backend;
    return 1;
#endif
}

int ec_mimo_design_create(const ec_mimo_winner *winner, ec_mimo_design **design)
{
    const ec_mimo_parts p = ec_mimo_parts_of(winner->call);
    int32_t count;
    ec_mimo_design *d = calloc(1, sizeof *d);
    ec_expr h = ec_mimo_value(winner->graph, winner->call, EC_MIMO_CHANNEL);
    double *value = NULL;

    if (!d)
        return no_memory();
    d->winner = *winner;
    d->n_tx = p.n_tx;
    d->n_rx = p.n_rx;
    d->receivers = p.receivers;
    d->n_frequencies = p.n_frequencies;
    d->threads = host_threads(winner->backend);
    int status = h < 0 ? h : ec_mimo_design_places(winner, false, &d->tx, &count, &d->tx_sampled);
    if (status == EC_OK)
        status = ec_mimo_design_places(winner, true, &d->rx, &count, &d->rx_sampled);
    if (status == EC_OK)
        status = read_frequencies(winner, &p, &d->frequency);
    if (status == EC_OK)
        status = ec_mimo_evaluate(winner, h, &value);
    if (status < 0) {
        ec_mimo_design_destroy(&d);
        return status;
    }
    d->h = (ec_c128 *)(void *)value;
    d->samples = ec_graph_node(winner->graph, h)->axes & EC_AXIS_SAMPLE
                     ? ec_graph_sample_count(winner->graph, true)
                     : 1;
    *design = d;
    return EC_OK;
}

void ec_mimo_design_destroy(ec_mimo_design **design)
{
    if (!design || !*design)
        return;
    free((*design)->frequency);
    free((*design)->tx);
    free((*design)->rx);
    free((*design)->h);
    free(*design);
    *design = NULL;
}

/* ---- antennas ----------------------------------------------------------------------------------- */

static void write_vector(const double v[3], FILE *to)
{
    for (int k = 0; k < 3; k++)
        fprintf(to, ",%.17g", v[k] + 0.0);
}

static void write_antenna(const ec_antenna *antenna, FILE *to)
{
    static const char *const names[] = {
        [EC_ELEMENT_KIND_ISOTROPIC] = "isotropic", [EC_ELEMENT_KIND_HEMISPHERIC] = "hemispheric",
        [EC_ELEMENT_KIND_COSQ] = "cosq",           [EC_ELEMENT_KIND_SHORT_DIPOLE] = "short",
        [EC_ELEMENT_KIND_HALF_WAVE] = "halfwave",  [EC_ELEMENT_KIND_TABLE] = "table"};
    const ec_element_pattern *p = &antenna->pattern;
    const ec_element_frame *f = &antenna->frame;
    bool round = p->kind == EC_ELEMENT_KIND_ISOTROPIC || p->kind == EC_ELEMENT_KIND_SHORT_DIPOLE ||
                 p->kind == EC_ELEMENT_KIND_HALF_WAVE;
    double axis[3];

    for (int k = 0; k < 3; k++)
        axis[k] =
            round ? f->x[k] * p->axis[0] + f->y[k] * p->axis[1] + f->z[k] * p->axis[2] : f->z[k];
    fprintf(to, ",%s", names[p->kind]);
    write_vector(axis, to);
    if (round)
        fprintf(to, ",,,");
    else
        write_vector(f->x, to);
}

static void write_side(const ec_mimo_design *d, int32_t link, bool receives, FILE *to)
{
    int32_t of_each = receives ? d->n_rx : d->n_tx, n = receives ? d->receivers * d->n_rx : d->n_tx;

    for (int32_t i = 0; i < n; i++) {
        fprintf(to, "%d,%s,", (int)link, receives ? "rx" : "tx");
        if (receives)
            fprintf(to, "%d", (int)(i / of_each) + 1);
        fprintf(to, ",%d", (int)(i % of_each) + 1);
        write_vector(receives ? d->rx[i] : d->tx[i], to);
        write_antenna(ec_mimo_antenna_of(d->winner.call, receives, i), to);
        fprintf(to, ",%s\n", (receives ? d->rx_sampled : d->tx_sampled) ? "1" : "");
    }
}

int ec_mimo_design_write_antennas(const ec_mimo_design *design, int32_t link, const char *path)
{
    ec_output_file file;
    int status = ec_output_file_open(path, &file);

    if (status < 0)
        return status;
    fprintf(file.stream, "link,side,receiver,antenna,x_m,y_m,z_m,pattern,axis_x,axis_y,axis_z,up_x,"
                         "up_y,up_z,sample\n");
    write_side(design, link, false, file.stream);
    write_side(design, link, true, file.stream);
    return ec_output_file_close(&file);
}

/* ---- H --------------------------------------------------------------------------------------- */

static void write_rows(const ec_mimo_design *d, FILE *to)
{
    const ec_c128 *h = d->h;

    fprintf(to, "frequency_hz,receiver,rx,tx,re,im,gain_db,phase_deg\n");
    for (int32_t f = 0; f < d->n_frequencies; f++)
        for (int32_t r = 0; r < d->receivers; r++)
            for (int32_t i = 0; i < d->n_rx; i++)
                for (int32_t k = 0; k < d->n_tx; k++, h++)
                    fprintf(to, "%.17g,%d,%d,%d,%.17g,%.17g,%.17g,%.17g\n", d->frequency[f],
                            (int)r + 1, (int)i + 1, (int)k + 1, ec_printable(h->re),
                            ec_printable(h->im), ec_printable(20 * log10(hypot(h->re, h->im))),
                            ec_printable(atan2(h->im, h->re) * (180 / EC_PI)));
}

int ec_mimo_design_write_channel(const ec_mimo_design *design, const char *path)
{
    const ec_mimo_design *d = design;
    const int64_t shape[4] = {d->n_frequencies, d->receivers, d->n_rx, d->n_tx};
    const char *ending = strrchr(path, '.');
    bool npy = ending && strcmp(ending, ".npy") == 0;
    ec_output_file file;

    if (!npy && !(ending && strcmp(ending, ".csv") == 0))
        return ec_fail(EC_ERR_ARGUMENT, "'%s': H is written as .npy or .csv", path);
    int status = ec_output_file_open(path, &file);
    if (status < 0)
        return status;
    if (npy) {
        ec_npy_write_header(file.stream, "<c16", 4, shape);
        fwrite(d->h, sizeof *d->h, (size_t)(shape[0] * shape[1] * shape[2] * shape[3]),
               file.stream);
    } else {
        write_rows(d, file.stream);
    }
    return ec_output_file_close(&file);
}
