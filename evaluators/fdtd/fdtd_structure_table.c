/* fdtd_structure_table.c: what one design of a model is made of, as a table. */
#include "../../core/output.h"
#include "../../core/output_file.h"
#include "fdtd_view_internal.h"

#include <math.h>
#include <stdlib.h>

static const char *const object_kinds[] = {
    [EC_FDTD_BOX] = "box",       [EC_FDTD_PLATE] = "plate",     [EC_FDTD_CYLINDER] = "cylinder",
    [EC_FDTD_SPHERE] = "sphere", [EC_FDTD_POLYGON] = "polygon", [EC_FDTD_WIRE] = "wire"};
static const char *const port_kinds[] = {
    [EC_FDTD_LUMPED] = "lumped", [EC_FDTD_ELEMENT] = "element",       [EC_FDTD_CURRENT] = "current",
    [EC_FDTD_PROBE] = "probe",   [EC_FDTD_MICROSTRIP] = "microstrip", [EC_FDTD_COAX] = "coax"};

/* A row; pointers are borrowed. */
typedef struct row {
    const char *part, *kind, *name, *material;
    double eps_r, conductivity, loss_tangent;
    int axis; /* -1: none */
    double low[3], high[3], radius, inner;
    const double *points; /* pairs */
    int32_t n_points;
} row;

static int put_text(FILE *to, const char *text)
{
    char *field = ec_output_csv_field(text ? text : "");

    if (!field)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a table");
    fprintf(to, "%s,", field);
    free(field);
    return EC_OK;
}

static int put_row(FILE *to, const row *r)
{
    fprintf(to, "%s,%s,", r->part, r->kind);
    int status = put_text(to, r->name);
    if (status == EC_OK)
        status = put_text(to, r->material);
    fprintf(to, "%.17g,%.17g,%.17g,", ec_printable(r->eps_r), ec_printable(r->conductivity),
            ec_printable(r->loss_tangent));
    fprintf(to, "%.*s", r->axis < 0 ? 0 : 1, r->axis < 0 ? "" : &"xyz"[r->axis]);
    for (int c = 0; c < 3; c++)
        fprintf(to, ",%.17g,%.17g", ec_printable(r->low[c]), ec_printable(r->high[c]));
    fprintf(to, ",%.17g,%.17g,", ec_printable(r->radius), ec_printable(r->inner));
    for (int32_t i = 0; i < r->n_points; i++)
        fprintf(to, "%s%.17g %.17g", i ? ";" : "", ec_printable(r->points[2 * i]),
                ec_printable(r->points[2 * i + 1]));
    fputc('\n', to);
    return status;
}

static void take_material(const ec_fdtd_view *v, const ec_fdtd_object *o, row *r)
{
    const ec_fdtd_config *c = &v->model->config;
    const int32_t metal = v->model->metal[o - c->objects], index = metal >= 0 ? metal : o->material;

    r->eps_r = r->conductivity = r->loss_tangent = NAN;
    if (index == EC_FDTD_PEC)
        r->material = "pec";
    if (index == EC_FDTD_FREE_SPACE) {
        r->material = "air";
        r->eps_r = 1;
        r->conductivity = r->loss_tangent = 0;
    }
    if (index < 0)
        return;
    const ec_fdtd_material *m = c->materials + index;
    r->material = m->name;
    r->conductivity = ec_fdtd_number_of(m->conductivity, v->values);
    if (metal >= 0)
        return;
    r->eps_r = ec_fdtd_number_of(m->eps_r, v->values);
    r->loss_tangent = ec_fdtd_number_of(m->loss_tangent, v->values);
}

static row object_row(const ec_fdtd_view *v, const ec_fdtd_object *o, const ec_fdtd_solid *s)
{
    const bool is_round = o->kind == EC_FDTD_CYLINDER || o->kind == EC_FDTD_SPHERE;
    row r = {.part = "object", .kind = object_kinds[o->kind], .name = o->name};

    take_material(v, o, &r);
    r.axis = o->kind == EC_FDTD_BOX || o->kind == EC_FDTD_SPHERE ? -1 : o->axis;
    for (int c = 0; c < 3; c++) {
        r.low[c] = fmax(s->lo[c], v->build->end[c][0]);
        r.high[c] = fmin(s->hi[c], v->build->end[c][1]);
    }
    r.radius = is_round || o->kind == EC_FDTD_WIRE ? s->radius : NAN;
    r.inner = is_round ? s->inner : NAN;
    if (s->kind == EC_FDTD_SOLID_POLYGON) {
        r.points = v->build->point + 2 * s->first_point;
        r.n_points = s->n_points;
    }
    return r;
}

static row port_row(const ec_fdtd_view *v, const ec_fdtd_port *p)
{
    row r = {.part = "port", .kind = port_kinds[p->kind], .name = p->name, .axis = p->axis};

    r.eps_r = r.conductivity = r.loss_tangent = r.radius = r.inner = NAN;
    for (int c = 0; c < 3; c++) {
        r.low[c] = ec_fdtd_number_of(p->from[c], v->values);
        r.high[c] = ec_fdtd_number_of(p->to[c], v->values);
    }
    return r;
}

static int put_table(const ec_fdtd_view *v, const ec_fdtd_object *const *order, FILE *to)
{
    const ec_fdtd_config *c = &v->model->config;
    row domain = {.part = "domain", .kind = "", .axis = -1};

    fputs("part,kind,name,material,eps_r,conductivity_s_m,loss_tangent,axis,x_low_m,x_high_m,y_low_"
          "m,y_high_m,"
          "z_low_m,z_high_m,radius_m,inner_radius_m,points_m\n",
          to);
    domain.eps_r = domain.conductivity = domain.loss_tangent = domain.radius = domain.inner = NAN;
    for (int i = 0; i < 3; i++) {
        domain.low[i] = v->build->end[i][0];
        domain.high[i] = v->build->end[i][1];
    }
    int status = put_row(to, &domain);
    for (int32_t i = 0; i < c->n_objects && status == EC_OK; i++) {
        const row r = object_row(v, order[i], v->build->solid + i);
        status = put_row(to, &r);
    }
    for (int32_t i = 0; i < c->n_ports && status == EC_OK; i++) {
        const row r = port_row(v, c->ports + i);
        status = put_row(to, &r);
    }
    return status;
}

int ec_fdtd_structure_table(const ec_fdtd_view *v, const char *path)
{
    const ec_fdtd_object **order = ec_fdtd_objects_in_order(&v->model->config);
    ec_output_file file;

    if (!order)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a table");
    int status = ec_output_file_open(path, &file);
    if (status == EC_OK) {
        int written = put_table(v, order, file.stream);
        if (written == EC_OK)
            status = ec_output_file_close(&file);
        else
            ec_output_file_drop(&file);
        status = written < 0 ? written : status;
    }
    free(order);
    return status;
}

int ec_fdtd_structure_write(const ec_fdtd_winner *winner, const char *path)
{
    ec_fdtd_view v;
    int status = ec_fdtd_view_outline(winner, &v);

    if (status == EC_OK)
        status = ec_fdtd_structure_table(&v, path);
    ec_fdtd_view_release(&v);
    return status;
}
