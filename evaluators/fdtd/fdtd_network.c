/* fdtd_network.c: S-parameters of one design, evaluated and written. */
#include "fdtd_network.h"

#include "../../core/executor.h"
#include "../../core/output_file.h"
#include "fdtd_drive_internal.h"
#include "fdtd_model_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ec_fdtd_config *config_of(const ec_call *call)
{
    return &ec_fdtd_model_of(call)->config;
}

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for the S-parameters of a design");
}

int ec_fdtd_winner_number(const ec_fdtd_winner *winner, ec_expr expr, double *value)
{
    const ec_fdtd_winner *w = winner;
    const ec_node *node = ec_graph_node(w->graph, expr);
    size_t samples =
        node->axes & EC_AXIS_SAMPLE ? (size_t)ec_graph_sample_count(w->graph, true) : 1;
    double *all = NULL;
    int32_t length = 0;
    int status = EC_OK;

    if (w->job) {
        status = ec_result_value(w->job, w->result, w->backend, expr, &all, &length, NULL);
    } else {
        all = malloc((size_t)node->elements * samples * sizeof *all);
        status =
            all ? ec_evaluate_once(w->graph, w->backend, EC_FINAL, 1, &expr, w->genes, w->n_genes,
                                   w->group_genes, w->n_group_genes, &all, NULL, NULL)
                : no_memory();
    }
    if (status >= 0)
        *value = all[0];
    free(all);
    return status;
}

int32_t ec_fdtd_port_count(const ec_call *call)
{
    const ec_fdtd_config *c = config_of(call);
    int32_t n = 0;

    for (int32_t i = 0; i < c->n_ports; i++)
        n += ec_fdtd_has_waves(&c->ports[i]);
    return n;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* Whether a port's waves are of its line's own impedance. */
static bool has_own(const ec_fdtd_port *port)
{
    return port->ohms.expr < 0 && isinf(port->ohms.value);
}

/* Resistances, which may depend on the design. */
static int read_references(const ec_fdtd_winner *w, ec_fdtd_network *d)
{
    const ec_fdtd_config *c = config_of(w->call);

    for (int32_t i = 0; i < d->s.n_ports; i++) {
        ec_fdtd_number ohms = c->ports[d->port[i]].ohms;
        d->s.reference[i] = ohms.value;
        if (ohms.expr < 0)
            continue;
        int status = ec_fdtd_winner_number(w, w->call->in[ohms.expr], &d->s.reference[i]);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

/* All entries in one evaluation: [receiving][source][samples][frequency]; then, for each port, its
 * line's impedance where its waves are of that. Steps and decays are of the first sample. */
static int evaluate(const ec_fdtd_winner *w, ec_fdtd_network *d, ec_c128 *values)
{
    enum { MORE = 2 }; /* steps and decay of each port */
    int32_t n = d->s.n_ports, pairs = n * n, all = 0;
    size_t step = (size_t)d->samples * (size_t)d->s.n_frequencies;
    const size_t most = (size_t)(pairs + (1 + MORE) * n);
    ec_expr *expr = malloc(most * sizeof *expr);
    double **out = malloc(most * sizeof *out);
    double *runs = malloc((size_t)(MORE * n) * (size_t)d->samples * sizeof *runs);
    const ec_result *r = w->result;
    uint8_t failed = 0;
    int status = expr && out && runs ? EC_OK : no_memory();

    for (int32_t k = 0; k < MORE * n && status == EC_OK; k++) {
        const int32_t j = d->port[k / MORE];
        const ec_fdtd_what what = {
            .output = k % MORE ? EC_FDTD_DECAY : EC_FDTD_STEPS, .i = j, .j = j};
        expr[all] = ec_fdtd_value(w->graph, w->call, &what);
        out[all] = runs + (size_t)k * (size_t)d->samples;
        status = expr[all] < 0 ? expr[all] : EC_OK;
        all++;
    }
    for (int32_t k = 0; k < pairs + n && status == EC_OK; k++) {
        const int32_t i = d->port[k < pairs ? k / n : k - pairs];
        const ec_fdtd_what what = {.output = k < pairs ? EC_FDTD_S : EC_FDTD_LINE_IMPEDANCE,
                                   .i = i,
                                   .j = k < pairs ? d->port[k % n] : i};
        if (k >= pairs && !has_own(config_of(w->call)->ports + i))
            continue;
        expr[all] = ec_fdtd_value(w->graph, w->call, &what);
        out[all] = (double *)(void *)(values + (size_t)k * step);
        status = expr[all] < 0 ? expr[all] : EC_OK;
        all++;
    }
    if (status == EC_OK)
        status = ec_evaluate_once(w->graph, w->backend, EC_FINAL, all, expr, r ? r->genes : NULL,
                                  r ? (size_t)r->n_genes : 0, r ? r->group_genes : NULL,
                                  r ? (size_t)r->n_group_genes : 0, out, &failed, NULL);
    if (status == EC_OK && failed & ~EC_CANDIDATE_NOT_FINITE)
        status = ec_fail(EC_ERR_RANGE, "the S-parameters of this design cannot be computed: its "
                                       "structure does not fit its grid");
    for (int32_t k = 0; k < MORE * n && status == EC_OK; k++)
        (k % MORE ? d->decay_db : d->steps)[k / MORE] = runs[(size_t)k * (size_t)d->samples];
    free(runs);
    free(expr);
    free(out);
    return status;
}

static int read_matrix(const ec_fdtd_winner *w, ec_fdtd_network *d)
{
    int32_t n = d->s.n_ports, nf = d->s.n_frequencies;
    size_t pairs = (size_t)n * (size_t)n, step = (size_t)d->samples * (size_t)nf;
    ec_c128 *values = malloc((pairs + (size_t)n) * step * sizeof *values);
    int status = values ? evaluate(w, d, values) : no_memory();

    for (size_t k = 0; k < pairs && status == EC_OK; k++)
        for (int32_t f = 0; f < nf; f++)
            d->s.s[(size_t)f * pairs + k] = values[k * step + (size_t)f];
    for (int32_t i = 0; i < n && status == EC_OK; i++) {
        const ec_c128 *own = values + (pairs + (size_t)i) * step;
        const bool has = has_own(config_of(w->call)->ports + d->port[i]);
        if (has)
            d->s.reference[i] = own[nf / 2].re;
        for (int32_t f = 0; f < nf; f++)
            d->waves[f * n + i] = has ? own[f].re : d->s.reference[i];
    }
    free(values);
    return status;
}

static int allocate(const ec_fdtd_config *c, ec_fdtd_network *d)
{
    size_t n = (size_t)d->s.n_ports, nf = (size_t)d->s.n_frequencies;

    d->s.frequency = malloc(nf * sizeof *d->s.frequency);
    d->s.reference = malloc(n * sizeof *d->s.reference);
    d->s.s = malloc(nf * n * n * sizeof *d->s.s);
    d->name = calloc(n, sizeof *d->name);
    d->port = malloc(n * sizeof *d->port);
    d->waves = malloc(nf * n * sizeof *d->waves);
    d->steps = malloc(n * sizeof *d->steps);
    d->decay_db = malloc(n * sizeof *d->decay_db);
    if (!d->s.frequency || !d->s.reference || !d->s.s || !d->name || !d->port || !d->waves ||
        !d->steps || !d->decay_db)
        return no_memory();
    for (int32_t i = 0, k = 0; i < c->n_ports; i++)
        if (ec_fdtd_has_waves(&c->ports[i]))
            d->port[k++] = i;
    memcpy(d->s.frequency, c->frequency, nf * sizeof *d->s.frequency);
    for (size_t i = 0; i < n; i++)
        if (!(d->name[i] = copy_text(c->ports[d->port[i]].name)))
            return no_memory();
    return EC_OK;
}

/* With everything but what depends on a design. */
static int begin(const ec_call *call, ec_fdtd_network **design)
{
    const ec_fdtd_config *c = config_of(call);
    const int32_t n = ec_fdtd_port_count(call);

    if (n == 0)
        return ec_fail(EC_ERR_ARGUMENT, "the model has no port, and so no S-parameters");
    ec_fdtd_network *d = *design = calloc(1, sizeof *d);
    if (!d)
        return no_memory();
    d->s.n_ports = n;
    d->s.n_frequencies = c->n_frequencies;
    return allocate(c, d);
}

int ec_fdtd_network_fixed(const ec_call *call, ec_fdtd_network **design)
{
    const ec_fdtd_config *c = config_of(call);
    ec_fdtd_network *d = NULL;
    int status = begin(call, &d);

    for (int32_t i = 0; i < (status == EC_OK ? d->s.n_ports : 0) && status == EC_OK; i++) {
        const ec_fdtd_port *port = c->ports + d->port[i];
        d->s.reference[i] = port->ohms.value;
        if (port->ohms.expr >= 0 || has_own(port))
            status = ec_fail(EC_ERR_UNSUPPORTED,
                             "port '%s': its ohms are not one number for all designs", d->name[i]);
        for (int32_t f = 0; f < c->n_frequencies; f++)
            d->waves[f * d->s.n_ports + i] = d->s.reference[i];
    }
    if (status < 0)
        ec_fdtd_network_destroy(&d);
    *design = d;
    return status;
}

int ec_fdtd_network_create(const ec_fdtd_winner *winner, ec_fdtd_network **design)
{
    ec_fdtd_network *d = NULL;
    int status = begin(winner->call, &d);

    if (status == EC_OK) {
        d->samples =
            winner->call->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(winner->graph, true) : 1;
        status = read_references(winner, d);
    }
    if (status == EC_OK)
        status = read_matrix(winner, d);
    if (status < 0) {
        ec_fdtd_network_destroy(&d);
        return status;
    }
    *design = d;
    return EC_OK;
}

void ec_fdtd_network_destroy(ec_fdtd_network **design)
{
    if (!design || !*design)
        return;
    ec_fdtd_network *d = *design;
    for (int32_t i = 0; d->name && i < d->s.n_ports; i++)
        free(d->name[i]);
    free(d->name);
    free(d->port);
    free(d->waves);
    free(d->steps);
    free(d->decay_db);
    free(d->s.frequency);
    free(d->s.reference);
    free(d->s.s);
    free(d);
    *design = NULL;
}

/* ---- other references ------------------------------------------------------------------------ */

static ec_c128 product(ec_c128 a, ec_c128 b)
{
    return (ec_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static ec_c128 quotient(ec_c128 a, ec_c128 b)
{
    const double d = b.re * b.re + b.im * b.im;
    return (ec_c128){(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
}

static void subtract(ec_c128 *from, ec_c128 a, ec_c128 b)
{
    const ec_c128 p = product(a, b);
    from->re -= p.re;
    from->im -= p.im;
}

/* Solves X q = w for X, row by row of both, by columns with pivots: w becomes X, q is spoilt. Both
 * [n][n]. */
static void solve_right(int32_t n, ec_c128 *q, ec_c128 *w)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t j = k + 1; j < n; j++)
            if (hypot(q[k * n + j].re, q[k * n + j].im) >
                hypot(q[k * n + best].re, q[k * n + best].im))
                best = j;
        for (int32_t i = 0; i < 2 * n && best != k; i++) {
            ec_c128 *row = i < n ? q + i * n : w + (i - n) * n, swap = row[k];
            row[k] = row[best];
            row[best] = swap;
        }
        const ec_c128 pivot = q[k * n + k];
        for (int32_t i = 0; i < 2 * n; i++) {
            ec_c128 *row = i < n ? q + i * n : w + (i - n) * n;
            row[k] = quotient(row[k], pivot);
        }
        for (int32_t j = 0; j < n; j++) {
            const ec_c128 factor = q[k * n + j];
            for (int32_t i = 0; i < 2 * n && j != k; i++) {
                ec_c128 *row = i < n ? q + i * n : w + (i - n) * n;
                subtract(row + j, row[k], factor);
            }
        }
    }
}

int ec_fdtd_network_renormalize(ec_fdtd_network *d, double ohms)
{
    const int32_t n = d->s.n_ports;

    if (!(ohms > 0) || !isfinite(ohms))
        return ec_fail(EC_ERR_RANGE, "a reference of %g ohm: it must be above 0", ohms);
    ec_c128 *q = malloc((size_t)n * (size_t)n * sizeof *q);
    if (!q)
        return no_memory();
    for (int32_t f = 0; f < d->s.n_frequencies; f++) {
        ec_c128 *s = d->s.s + (size_t)f * (size_t)n * (size_t)n;
        for (int32_t i = 0; i < n; i++) { /* (R + R') and (R - R') over R + R' */
            const double part = (d->waves[f * n + i] - ohms) / (d->waves[f * n + i] + ohms);
            for (int32_t j = 0; j < n; j++) {
                const ec_c128 old = s[i * n + j];
                q[i * n + j] = (ec_c128){part * old.re + (i == j), part * old.im};
                s[i * n + j] = (ec_c128){old.re + (i == j ? part : 0), old.im};
            }
        }
        /* S' = P (part + S) (1 + part S)^-1 / P, with P = (R + R') / (2 sqrt(R R')) */
        solve_right(n, q, s);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                const double ri = d->waves[f * n + i], rj = d->waves[f * n + j];
                const double scale = (ri + ohms) / sqrt(ri) / ((rj + ohms) / sqrt(rj));
                s[i * n + j].re *= scale;
                s[i * n + j].im *= scale;
            }
        for (int32_t i = 0; i < n; i++)
            d->waves[f * n + i] = ohms;
    }
    for (int32_t i = 0; i < n; i++)
        d->s.reference[i] = ohms;
    free(q);
    return EC_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* What goes out for 1 that goes in: a passive structure whose run has decayed stays below. */
static const double most_balance = 1.01;

void ec_fdtd_network_say(const ec_fdtd_network *design, const char *name, ec_log *log)
{
    size_t n = (size_t)design->s.n_ports, nf = (size_t)design->s.n_frequencies;
    double balance = 0, difference = 0, steps = 0, decay = INFINITY;
    char other[64] = "";

    for (size_t f = 0; f < nf; f++)
        for (size_t j = 0; j < n; j++) {
            const ec_c128 *s = design->s.s + f * n * n;
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                ec_c128 a = s[i * n + j], b = s[j * n + i];
                sum += a.re * a.re + a.im * a.im;
                difference = fmax(difference, hypot(a.re - b.re, a.im - b.im));
            }
            balance = fmax(balance, sum);
        }
    for (size_t j = 0; j < n; j++) {
        steps = fmax(steps, design->steps[j]);
        decay = fmin(decay, design->decay_db[j]);
    }
    if (n > 1)
        snprintf(other, sizeof other, ", |S_ij - S_ji| up to %.2g", difference);
    ec_log_write(log, EC_LOG_INFO,
                 "%s: sum of |S_ij|^2 over i up to %.4f%s; up to %.0f steps, energy down by at "
                 "least %.1f dB",
                 name, balance, other, steps, decay);
    if (balance > most_balance)
        ec_log_write(log, EC_LOG_WARNING,
                     "%s: more power comes out of the structure than goes in, up to %.4g times as "
                     "much: a higher decay_db or more max_steps let its fields decay, a finer grid "
                     "is more exact",
                     name, balance);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_csv(const ec_fdtd_network *d, const char *path)
{
    int32_t n = d->s.n_ports;
    ec_output_file file;
    int status = ec_output_file_open(path, &file);

    if (status < 0)
        return status;
    fprintf(file.stream, "frequency_hz");
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= n; i++)
            fprintf(file.stream, ",s_%d_%d_re,s_%d_%d_im,s_%d_%d_db,s_%d_%d_phase_deg", i, j, i, j,
                    i, j, i, j);
    fprintf(file.stream, "\n");
    for (int32_t f = 0; f < d->s.n_frequencies; f++) {
        fprintf(file.stream, "%.17g", d->s.frequency[f]);
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i < n; i++) {
                ec_c128 s = d->s.s[((size_t)f * (size_t)n + (size_t)i) * (size_t)n + (size_t)j];
                fprintf(file.stream, ",%.17g,%.17g,%.17g,%.17g", ec_printable(s.re),
                        ec_printable(s.im), ec_printable(20 * log10(hypot(s.re, s.im))),
                        ec_printable(atan2(s.im, s.re) * (180 / EC_PI)));
            }
        fprintf(file.stream, "\n");
    }
    return ec_output_file_close(&file);
}

int ec_fdtd_network_write(const ec_fdtd_network *design, const char *path)
{
    const char *ending = strrchr(path, '.');
    char note[400] = "ports:";

    if (ending && strcmp(ending, ".csv") == 0)
        return write_csv(design, path);
    for (int32_t i = 0; i < design->s.n_ports; i++) {
        size_t used = strlen(note);
        snprintf(note + used, sizeof note - used, "%s %d %s", i ? "," : "", (int)i + 1,
                 design->name[i]);
    }
    for (char *c = note; *c; c++) /* a name must not end the line */
        *c = (unsigned char)*c < 32 ? ' ' : *c;
    return ec_touchstone_write(&design->s, note, path);
}
