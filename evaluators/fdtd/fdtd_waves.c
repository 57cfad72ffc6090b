/* fdtd_waves.c: waves at ports, impedance and propagation of lines. */
#include "fdtd_waves_internal.h"

#include "../../core/detmath.h"

#include <complex.h>
#include <stdlib.h>
#undef I

typedef double complex cplx;

static cplx from_c128(ec_c128 z)
{
    return CMPLX(z.re, z.im);
}

static ec_c128 to_c128(cplx z)
{
    return (ec_c128){creal(z), cimag(z)};
}

static cplx sum_of(const ec_fdtd_config *c, const ec_fdtd_result *r, int32_t probe, int32_t f)
{
    return from_c128(r->sum[(size_t)probe * (size_t)c->n_frequencies + (size_t)f]);
}

/* What a port of a line measures at one frequency. */
typedef struct section {
    cplx v[3], i[2]; /* along the line */
    double d[2];     /* m */
} section;

static section section_of(const ec_fdtd_config *c, const ec_fdtd_result *r, int32_t port, int32_t f)
{
    const int32_t own = port * EC_FDTD_PORT_PROBES, further = ec_fdtd_line_probe(c, port);

    return (section){
        {sum_of(c, r, further + EC_FDTD_V_BEHIND, f), sum_of(c, r, own + EC_FDTD_VOLTAGE, f),
         sum_of(c, r, further + EC_FDTD_V_AHEAD, f)},
        {sum_of(c, r, own + EC_FDTD_THROUGH, f), sum_of(c, r, further + EC_FDTD_I_AHEAD, f)},
        {r->run[port].behind, r->run[port].ahead}};
}

enum {
    TERMS = 3,   /* of a fit over frequency, at most */
    FIT_FROM = 4 /* frequencies a term */
};

/* Whether anything takes power, so that z or y may have a real part that does not grow with frequency. */
static bool is_lossy(const ec_fdtd_config *c)
{
    bool lossy = false;

    for (int32_t i = 0; i < c->n_materials; i++) {
        const ec_fdtd_material *m = c->materials + i;
        const ec_fdtd_number n[] = {m->conductivity, m->magnetic_conductivity, m->loss_tangent};
        for (int k = 0; k < 3; k++)
            lossy = lossy || n[k].expr >= 0 || n[k].value != 0;
        lossy = lossy || m->n_poles > 0;
    }
    for (int32_t i = 0; i < c->n_objects; i++) { /* sheets */
        const ec_fdtd_object *o = c->objects + i;
        lossy = lossy || (o->kind == EC_FDTD_PLATE && o->material == EC_FDTD_FREE_SPACE);
    }
    return lossy;
}

/* Fits sum c_k f^power[k] to y over all frequencies where an error counts with weight w, and puts it in
 * the place of y. Terms that the weights cannot tell apart are left out. work: [TERMS][n]. */
static void fit(const ec_fdtd_config *c, int32_t terms, const int *power, const double *w,
                double *y, double *work)
{
    const int32_t n = c->n_frequencies;
    double coefficient[TERMS];
    int32_t used = 0;

    /* Terms made orthogonal one after the other (Gram and Schmidt). */
    for (int32_t k = 0; k < terms; k++) {
        double *q = work + (size_t)used * (size_t)n, size = 0, rest = 0, sum = 0;
        for (int32_t f = 0; f < n; f++) {
            q[f] = pow(c->frequency[f] / c->frequency[n - 1], power[k]);
            size += w[f] * q[f] * q[f];
        }
        for (int turn = 0; turn < 2; turn++) /* twice is enough */
            for (int32_t m = 0; m < used; m++) {
                const double *p = work + (size_t)m * (size_t)n;
                double along = 0;
                for (int32_t f = 0; f < n; f++)
                    along += w[f] * p[f] * q[f];
                for (int32_t f = 0; f < n; f++)
                    q[f] -= along * p[f];
            }
        for (int32_t f = 0; f < n; f++)
            rest += w[f] * q[f] * q[f];
        if (!(rest > 1e-10 * size))
            continue;
        for (int32_t f = 0; f < n; f++) {
            q[f] /= sqrt(rest);
            sum += w[f] * q[f] * y[f];
        }
        coefficient[used++] = sum;
    }
    for (int32_t f = 0; f < n && used > 0; f++) {
        y[f] = 0;
        for (int32_t m = 0; m < used; m++)
            y[f] += coefficient[m] * work[(size_t)m * (size_t)n + (size_t)f];
    }
}

/* A quotient by jw: its real part is even in frequency, its imaginary part odd. */
static void fit_quotient(const ec_fdtd_config *c, const double *w, cplx *y, double *work)
{
    static const int even[] = {0, 2, 4}, odd[] = {1, 3}, odd_lossy[] = {-1, 1, 3};
    const int32_t n = c->n_frequencies, terms = n / FIT_FROM;
    const int32_t odds = is_lossy(c) ? 3 : 2;
    double *part = work + (size_t)TERMS * (size_t)n;

    if (terms == 0)
        return;
    for (int32_t f = 0; f < n; f++)
        part[f] = creal(y[f]);
    fit(c, terms < 3 ? terms : 3, even, w, part, work);
    for (int32_t f = 0; f < n; f++) {
        const double other = cimag(y[f]);
        y[f] = part[f];
        part[f] = other;
    }
    fit(c, terms < odds ? terms : odds, is_lossy(c) ? odd_lossy : odd, w, part, work);
    for (int32_t f = 0; f < n; f++)
        y[f] = CMPLX(creal(y[f]), part[f]);
}

/* z and y of all frequencies, z[n] and y[n]; false: no memory. */
static bool find_constants(const ec_fdtd_config *c, const ec_fdtd_result *r, int32_t port, cplx *z,
                           cplx *y)
{
    const int32_t n = c->n_frequencies;
    double *weight = malloc((size_t)(3 + TERMS) * (size_t)n * sizeof *weight), largest = 0;
    double *other = weight + n, *work = other + n;

    if (!weight)
        return false;
    for (int32_t f = 0; f < n; f++) {
        const section s = section_of(c, r, port, f);
        const double d = 0.5 * (s.d[0] + s.d[1]);
        const cplx jw = CMPLX(0, 2 / r->dt * sin(EC_PI * c->frequency[f] * r->dt));
        const cplx flow = s.d[0] * s.i[0] + s.d[1] * s.i[1];
        z[f] = flow != 0 ? -(s.v[2] - s.v[0]) / (flow * jw) : 0;
        y[f] = s.v[1] != 0 ? -(s.i[1] - s.i[0]) / (d * s.v[1] * jw) : 0;
        /* What is left over of the two laws of the line counts. */
        weight[f] = creal(flow * conj(flow)) * creal(jw * conj(jw));
        other[f] = creal(s.v[1] * conj(s.v[1])) * creal(jw * conj(jw));
        largest = fmax(largest, fmax(weight[f], other[f]));
    }
    if (largest > 0 && isfinite(largest)) {
        fit_quotient(c, weight, z, work);
        fit_quotient(c, other, y, work);
    }
    for (int32_t f = 0; f < n; f++) {
        const cplx jw = CMPLX(0, 2 / r->dt * sin(EC_PI * c->frequency[f] * r->dt));
        z[f] *= jw;
        y[f] *= jw;
    }
    free(weight);
    return true;
}

static int line_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *r,
                      int32_t port, ec_fdtd_wave *wave)
{
    const ec_fdtd_config *c = &setup->model->config;
    const ec_fdtd_port *p = c->ports + port;
    const double reach =
        ec_fdtd_number_of(p->plane, values) + ec_fdtd_number_of(p->shift, values) - r->run[port].at;

    cplx *constant = malloc(2 * (size_t)c->n_frequencies * sizeof *constant);
    if (!constant || !find_constants(c, r, port, constant, constant + c->n_frequencies)) {
        free(constant);
        return ec_fail(EC_ERR_MEMORY, "no memory for a line at %d frequencies", c->n_frequencies);
    }
    for (int32_t f = 0; f < c->n_frequencies; f++) {
        const section s = section_of(c, r, port, f);
        const cplx z = constant[f], y = constant[c->n_frequencies + f];
        const double d = 0.5 * (s.d[0] + s.d[1]);
        const cplx own = csqrt(z / y), half = 0.5 * d * y * own; /* sinh(gamma d / 2) */
        const cplx gamma = 2 / d * casinh(half);
        const cplx i = (s.d[1] * s.i[0] + s.d[0] * s.i[1]) / (2 * d * csqrt(1 + half * half));
        const cplx ahead = 0.5 * (s.v[1] + own * i) * cexp(-gamma * reach);
        const cplx back = 0.5 * (s.v[1] - own * i) * cexp(gamma * reach);
        wave[f].v = to_c128(ahead + back);
        wave[f].i = to_c128((ahead - back) / own);
        wave[f].impedance = to_c128(own);
        wave[f].gamma = to_c128(gamma);
    }
    free(constant);
    return EC_OK;
}

ec_c128 ec_fdtd_source_spectrum(const ec_fdtd_build *b, double frequency)
{
    const double turns = frequency * b->dt, start = 0.5 * turns;
    double re = 0, im = 0, c, s, wc, ws;

    ec_det_sincospi(-2 * (start - ec_det_floor(start)), &s, &c);
    ec_det_sincospi(-2 * turns, &ws, &wc);
    for (int64_t t = 0; t < b->n_wave; t++) {
        re += b->wave[t] * c;
        im += b->wave[t] * s;
        const double next = c * wc - s * ws;
        s = s * wc + c * ws;
        c = next;
    }
    return (ec_c128){b->dt * re, b->dt * im};
}

/* Voltage and current of a port without a line. */
static void port_waves(const ec_fdtd_config *c, const ec_fdtd_result *r, int32_t port, double ohms,
                       ec_fdtd_wave *wave)
{
    const ec_fdtd_port_kind kind = c->ports[port].kind;
    const int32_t probe = port * EC_FDTD_PORT_PROBES;

    for (int32_t f = 0; f < c->n_frequencies; f++) {
        const double mean = cos(EC_PI * c->frequency[f] * r->dt), root = sqrt(mean);
        cplx v = sum_of(c, r, probe + EC_FDTD_VOLTAGE, f);
        cplx i = 0;
        if (kind == EC_FDTD_PROBE) {
            i = sum_of(c, r, probe + EC_FDTD_THROUGH, f);
        } else {
            if (r->driven == port)
                i = from_c128(ec_fdtd_source_spectrum(r->build, c->frequency[f]));
            if (kind == EC_FDTD_LUMPED)
                i = (i - mean * v) / ohms;
            v *= root;
            i /= root;
        }
        wave[f] = (ec_fdtd_wave){.v = to_c128(v), .i = to_c128(i)};
    }
}

int ec_fdtd_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *r,
                  ec_fdtd_wave *wave)
{
    const ec_fdtd_config *c = &setup->model->config;

    for (int32_t p = 0; p < c->n_ports; p++, wave += c->n_frequencies) {
        const double ohms = ec_fdtd_number_of(c->ports[p].ohms, values);
        const bool line = ec_fdtd_is_line(c->ports[p].kind);
        const int status = line ? line_waves(setup, values, r, p, wave) : EC_OK;
        if (status < 0)
            return status;
        if (!line)
            port_waves(c, r, p, ohms, wave);
        for (int32_t f = 0; f < c->n_frequencies; f++) {
            ec_fdtd_wave *w = wave + f;
            const cplx reference = line && !isfinite(ohms) ? from_c128(w->impedance) : ohms;
            const double scale = 0.5 / sqrt(creal(reference));
            w->a = to_c128(scale * (from_c128(w->v) + reference * from_c128(w->i)));
            w->b = to_c128(scale * (from_c128(w->v) - reference * from_c128(w->i)));
        }
    }
    return EC_OK;
}
