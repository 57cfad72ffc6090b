/* fdtd_waves.c: waves at ports, impedance and propagation of lines. */
#include "fdtd_waves_internal.h"

#include <complex.h>
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

/* z and y over jw, where both are to be had: no node of a standing wave is near. */
static bool constants(const section *s, double w, cplx *z, cplx *y)
{
    const double d = 0.5 * (s->d[0] + s->d[1]);
    const cplx flow = s->d[0] * s->i[0] + s->d[1] * s->i[1], jw = CMPLX(0, w);

    *z = -(s->v[2] - s->v[0]) / (flow * jw);
    *y = -(s->i[1] - s->i[0]) / (d * s->v[1] * jw);
    /* The impedance from the larger ones of the four: all but the two differences may vanish. */
    const double ratio = cabs(s->v[1]) / (cabs(flow) / (2 * d)), own = sqrt(cabs(*z) / cabs(*y));
    return isfinite(ratio) && isfinite(own) && ratio > 0.03 * own && own > 0.03 * ratio;
}

/* z / jw and y / jw of all frequencies into impedance and gamma, places that are missing from their
 * neighbours. */
static void find_constants(const ec_fdtd_config *c, const ec_fdtd_result *r, int32_t port,
                           ec_fdtd_wave *wave)
{
    int32_t before = -1;

    for (int32_t f = 0; f <= c->n_frequencies; f++) {
        cplx z = 0, y = 0;
        if (f < c->n_frequencies) {
            const section s = section_of(c, r, port, f);
            const bool good = constants(&s, 2 * EC_PI * c->frequency[f], &z, &y);
            wave[f].impedance = to_c128(z);
            wave[f].gamma = to_c128(y);
            if (!good)
                continue;
        }
        for (int32_t m = before + 1; m < f; m++) {
            const int32_t lo = before >= 0 ? before : f, hi = f < c->n_frequencies ? f : lo;
            if (lo >= c->n_frequencies)
                continue; /* there is none: they stay as they are */
            const double span = c->frequency[hi] - c->frequency[lo];
            const double t = span > 0 ? (c->frequency[m] - c->frequency[lo]) / span : 0;
            const ec_fdtd_wave *p = wave + lo, *q = wave + hi;
            wave[m].impedance =
                to_c128((1 - t) * from_c128(p->impedance) + t * from_c128(q->impedance));
            wave[m].gamma = to_c128((1 - t) * from_c128(p->gamma) + t * from_c128(q->gamma));
        }
        before = f;
    }
}

static void line_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *r,
                       int32_t port, ec_fdtd_wave *wave)
{
    const ec_fdtd_config *c = &setup->model->config;
    const ec_fdtd_port *p = c->ports + port;
    const double reach =
        ec_fdtd_number_of(p->plane, values) + ec_fdtd_number_of(p->shift, values) - r->run[port].at;

    find_constants(c, r, port, wave);
    for (int32_t f = 0; f < c->n_frequencies; f++) {
        const section s = section_of(c, r, port, f);
        const cplx jw = CMPLX(0, 2 * EC_PI * c->frequency[f]);
        const cplx z = jw * from_c128(wave[f].impedance), y = jw * from_c128(wave[f].gamma);
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
}

void ec_fdtd_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *r,
                   ec_fdtd_wave *wave)
{
    const ec_fdtd_config *c = &setup->model->config;

    for (int32_t p = 0; p < c->n_ports; p++, wave += c->n_frequencies) {
        const double ohms = ec_fdtd_number_of(c->ports[p].ohms, values);
        const bool line = ec_fdtd_is_line(c->ports[p].kind);
        if (line)
            line_waves(setup, values, r, p, wave);
        for (int32_t f = 0; f < c->n_frequencies; f++) {
            ec_fdtd_wave *w = wave + f;
            if (!line) {
                w->v = to_c128(sum_of(c, r, p * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE, f));
                w->i = to_c128(sum_of(c, r, p * EC_FDTD_PORT_PROBES + EC_FDTD_THROUGH, f));
                w->impedance = w->gamma = (ec_c128){0, 0};
            }
            const cplx reference = line && !isfinite(ohms) ? from_c128(w->impedance) : ohms;
            const double scale = 0.5 / sqrt(creal(reference));
            w->a = to_c128(scale * (from_c128(w->v) + reference * from_c128(w->i)));
            w->b = to_c128(scale * (from_c128(w->v) - reference * from_c128(w->i)));
        }
    }
}
