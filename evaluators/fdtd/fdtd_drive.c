/* fdtd_drive.c: spectra of what drives a domain. */
#include "fdtd_drive_internal.h"

/* Below this part of its spectrum's peak a pulse says nothing. */
static const double silence = 1e-3;

bool ec_fdtd_has_waves(const ec_fdtd_port *p)
{
    return p->kind == EC_FDTD_LUMPED || ec_fdtd_is_line(p->kind);
}

bool ec_fdtd_is_silent(const ec_fdtd_setup *s, double frequency)
{
    return ec_fdtd_pulse_level(s, frequency) < silence;
}

ec_fdtd_drive ec_fdtd_drive_of(const ec_fdtd_setup *s, const ec_fdtd_result *r,
                               const ec_fdtd_wave *wave, int32_t j, int32_t f)
{
    const ec_fdtd_config *c = &s->model->config;
    ec_fdtd_drive d = {.known = !ec_fdtd_is_silent(s, c->frequency[f])};

    if (j == EC_FDTD_WAVE) {
        d.unit = ec_fdtd_plane_wave_spectrum(s, r->build, r->wave, c->frequency[f]);
    } else {
        const ec_fdtd_wave *w = wave + (size_t)j * (size_t)c->n_frequencies + f;
        d.accepted = 0.5 * (w->v.re * w->i.re + w->v.im * w->i.im);
        d.unit = ec_fdtd_has_waves(c->ports + j)
                     ? w->a
                     : ec_fdtd_source_spectrum(r->build, c->frequency[f]);
    }
    d.offered = 0.5 * (d.unit.re * d.unit.re + d.unit.im * d.unit.im);
    return d;
}
