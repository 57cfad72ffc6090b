/* fdtd_model.c: copies a model and walks over its numbers. */
#include "fdtd_model_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdtd_metal_internal.h"

/* A copy of n elements; NULL for none of them, *ok false without memory. */
static void *copy_of(const void *from, size_t n, size_t size, bool *ok)
{
    void *to = n ? malloc(n * size) : NULL;
    if (to)
        memcpy(to, from, n * size);
    else if (n)
        *ok = false;
    return to;
}

static char *text_of(const char *from, bool *ok)
{
    return from ? copy_of(from, strlen(from) + 1, 1, ok) : NULL;
}

/* Conductors with losses: perfect ones with a surface, whose poles are those of the band. */
static bool take_metals(ec_fdtd_model *m)
{
    ec_fdtd_config *c = &m->config;

    m->metal = malloc(((size_t)c->n_objects + 1) * sizeof *m->metal);
    for (int32_t i = 0; i < c->n_materials; i++) {
        ec_fdtd_material *o = (ec_fdtd_material *)c->materials + i;
        ec_fdtd_pole *poles = NULL;
        if (!o->metal)
            continue;
        if (ec_fdtd_metal_poles(c, &poles, &o->n_poles) < 0)
            return false;
        free((void *)o->poles);
        o->poles = poles;
    }
    for (int32_t i = 0; m->metal && i < c->n_objects; i++) {
        ec_fdtd_object *o = (ec_fdtd_object *)c->objects + i;
        const bool is_metal = o->material >= 0 && c->materials[o->material].metal;
        m->metal[i] = is_metal ? o->material : -1;
        if (is_metal)
            o->material = EC_FDTD_PEC;
    }
    return m->metal != NULL;
}

int ec_fdtd_model_create(const ec_fdtd_config *config, ec_fdtd_model **model)
{
    ec_fdtd_model *m = calloc(1, sizeof *m);
    bool ok = true;

    if (!m)
        return ec_fail(EC_ERR_MEMORY, "no memory for a model");
    m->config = *config;
    ec_fdtd_config *c = &m->config;
    c->objects = copy_of(c->objects, (size_t)c->n_objects, sizeof *c->objects, &ok);
    c->materials = copy_of(c->materials, (size_t)c->n_materials, sizeof *c->materials, &ok);
    c->ports = copy_of(c->ports, (size_t)c->n_ports, sizeof *c->ports, &ok);
    c->frequency = copy_of(c->frequency, (size_t)c->n_frequencies, sizeof *c->frequency, &ok);
    if (!c->objects)
        c->n_objects = 0;
    if (!c->materials)
        c->n_materials = 0;
    if (!c->ports)
        c->n_ports = 0;
    /* What they point to still belongs to the caller: each is replaced by a copy of its own. */
    for (int32_t i = 0; i < c->n_objects; i++) {
        ec_fdtd_object *o = (ec_fdtd_object *)c->objects + i;
        o->name = text_of(o->name, &ok);
        o->points = copy_of(o->points, (size_t)o->n_points, sizeof *o->points, &ok);
    }
    for (int32_t i = 0; i < c->n_materials; i++) {
        ec_fdtd_material *o = (ec_fdtd_material *)c->materials + i;
        o->name = text_of(o->name, &ok);
        o->poles = copy_of(o->poles, (size_t)o->n_poles, sizeof *o->poles, &ok);
    }
    for (int32_t i = 0; i < c->n_ports; i++) {
        ec_fdtd_port *o = (ec_fdtd_port *)c->ports + i;
        o->name = text_of(o->name, &ok);
    }
    ok = ok && take_metals(m);
    if (!ok) {
        ec_fdtd_model_destroy(&m);
        return ec_fail(EC_ERR_MEMORY, "no memory for a model of %d objects", config->n_objects);
    }
    *model = m;
    return EC_OK;
}

void ec_fdtd_model_destroy(ec_fdtd_model **model)
{
    ec_fdtd_model *m = *model;

    if (!m)
        return;
    for (int32_t i = 0; i < m->config.n_objects; i++) {
        free((void *)m->config.objects[i].name);
        free((void *)m->config.objects[i].points);
    }
    for (int32_t i = 0; i < m->config.n_materials; i++) {
        free((void *)m->config.materials[i].name);
        free((void *)m->config.materials[i].poles);
    }
    for (int32_t i = 0; i < m->config.n_ports; i++)
        free((void *)m->config.ports[i].name);
    free((void *)m->config.objects);
    free((void *)m->config.materials);
    free((void *)m->config.ports);
    free((void *)m->config.frequency);
    free(m->metal);
    free(m->range);
    free(m->designs);
    free(m);
    *model = NULL;
}

typedef struct walk {
    ec_fdtd_visit *visit;
    void *user;
    int status;
} walk;

/* Names what a number is, for messages: "patch: size". */
static void number(walk *w, const ec_fdtd_number *n, const char *of, const char *what)
{
    char text[160];

    if (w->status != EC_OK)
        return;
    snprintf(text, sizeof text, "%s: %s", of ? of : "ec.fdtd", what);
    w->status = w->visit(w->user, (ec_fdtd_number *)n, text);
}

static void numbers(walk *w, const ec_fdtd_number *n, int count, const char *of, const char *what)
{
    for (int i = 0; i < count; i++)
        number(w, n + i, of, what);
}

int ec_fdtd_model_numbers(ec_fdtd_model *model, ec_fdtd_visit *visit, void *user)
{
    const ec_fdtd_config *c = &model->config;
    walk w = {visit, user, EC_OK};

    for (int32_t i = 0; i < c->n_objects; i++) {
        const ec_fdtd_object *o = c->objects + i;
        numbers(&w, o->at, 3, o->name, "at");
        numbers(&w, o->to, 3, o->name, "to");
        numbers(&w, o->size, 3, o->name, "size");
        number(&w, &o->radius, o->name, "radius");
        number(&w, &o->inner_radius, o->name, "inner_radius");
        number(&w, &o->length, o->name, "length");
        number(&w, &o->ohms, o->name, "ohms");
        for (int32_t p = 0; p < o->n_points; p++)
            numbers(&w, o->points[p], 2, o->name, "points");
    }
    for (int32_t i = 0; i < c->n_materials; i++) {
        const ec_fdtd_material *o = c->materials + i;
        number(&w, &o->eps_r, o->name, "eps_r");
        number(&w, &o->mu_r, o->name, "mu_r");
        number(&w, &o->conductivity, o->name, "conductivity");
        number(&w, &o->magnetic_conductivity, o->name, "magnetic_conductivity");
        number(&w, &o->loss_tangent, o->name, "loss_tangent");
        for (int32_t p = 0; p < o->n_poles; p++) {
            number(&w, &o->poles[p].strength, o->name, "strength of a pole");
            number(&w, &o->poles[p].time, o->name, "time of a pole");
            number(&w, &o->poles[p].resonance, o->name, "resonance of a pole");
            number(&w, &o->poles[p].damping, o->name, "damping of a pole");
        }
    }
    for (int32_t i = 0; i < c->n_ports; i++) {
        const ec_fdtd_port *o = c->ports + i;
        numbers(&w, o->from, 3, o->name, "from");
        numbers(&w, o->to, 3, o->name, "to");
        number(&w, &o->ohms, o->name, "ohms");
        number(&w, &o->henries, o->name, "henries");
        number(&w, &o->farads, o->name, "farads");
        number(&w, &o->plane, o->name, "plane");
        number(&w, &o->shift, o->name, "shift");
    }
    number(&w, &c->wave.theta, NULL, "theta of the plane wave");
    number(&w, &c->wave.phi, NULL, "phi of the plane wave");
    number(&w, &c->wave.polarization, NULL, "polarization of the plane wave");
    numbers(&w, c->grid.domain[0], 3, NULL, "domain");
    numbers(&w, c->grid.domain[1], 3, NULL, "domain");
    return w.status;
}
