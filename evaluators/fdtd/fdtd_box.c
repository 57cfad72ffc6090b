/* fdtd_box.c: the pairs of a closed box. */
#include "fdtd_box_internal.h"

#include "fdtd_line_plan_internal.h"

ec_fdtd_box ec_fdtd_box_of(const ec_fdtd_setup *setup, int32_t inset)
{
    const ec_fdtd_shape *s = &setup->shape;
    ec_fdtd_box box;

    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++)
            box.face[axis][side] = s->layers[axis][side] > 0;
        box.lo[axis] = box.face[axis][0] ? s->layers[axis][0] + inset : 0;
        box.hi[axis] = s->n[axis] - (box.face[axis][1] ? s->layers[axis][1] + inset : 0);
    }
    return box;
}

int64_t ec_fdtd_box_count(const ec_fdtd_box *box)
{
    int64_t count = 0, n[3];

    for (int axis = 0; axis < 3; axis++) {
        n[axis] = box->hi[axis] - box->lo[axis];
        if (n[axis] < 1)
            return 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        count +=
            (box->face[axis][0] + box->face[axis][1]) * (n[u] * (n[v] + 1) + n[v] * (n[u] + 1));
    }
    return count;
}

void ec_fdtd_box_pairs(const ec_fdtd_setup *setup, const ec_fdtd_box *box, ec_fdtd_pair *pair)
{
    const ec_fdtd_shape *s = &setup->shape;

    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int t = 1; t < 3 && box->face[axis][side]; t++) {
                const int e = (axis + t) % 3, h = 3 - axis - e;
                int lo[3], hi[3], at[3];
                for (int c = 0; c < 3; c++) {
                    lo[c] = box->lo[c];
                    hi[c] = box->hi[c] - (c == e);
                }
                lo[axis] = hi[axis] = side ? box->hi[axis] : box->lo[axis];
                for (at[2] = lo[2]; at[2] <= hi[2]; at[2]++)
                    for (at[1] = lo[1]; at[1] <= hi[1]; at[1]++)
                        for (at[0] = lo[0]; at[0] <= hi[0]; at[0]++) {
                            int beyond[3] = {at[0], at[1], at[2]};
                            beyond[axis] -= !side;
                            *pair++ = (ec_fdtd_pair){
                                .e = e * s->field + s->plane + ec_fdtd_at(s, at[0], at[1], at[2]),
                                .h = (3 + h) * s->field + s->plane +
                                     ec_fdtd_at(s, beyond[0], beyond[1], beyond[2]),
                                .place = {at[0], at[1], at[2]},
                                .cell = beyond[axis],
                                .axis = (int8_t)axis,
                                .side = (int8_t)side,
                                .e_c = (int8_t)e,
                                .h_c = (int8_t)h,
                                /* axis x h is +e where the axis follows e */
                                .turn = (int8_t)((t == 2) == (side == 1) ? 1 : -1)};
                        }
            }
}

int ec_fdtd_box_check(const ec_fdtd_setup *setup, const ec_fdtd_build *b, const ec_fdtd_box *box,
                      const double *values, const char *what)
{
    const ec_fdtd_config *c = &setup->model->config;

    if (ec_fdtd_box_count(box) == 0)
        return ec_fail(EC_ERR_RANGE, "%s: the domain has no cell inside of the box that it needs",
                       what);
    for (int axis = 0; axis < 3; axis++) {
        const double *x = b->line[axis];
        const double low = box->face[axis][0] ? x[box->lo[axis] + 1] : -INFINITY;
        const double high = box->face[axis][1] ? x[box->hi[axis] - 1] : INFINITY;
        const double slack = 1e-6 * (x[box->lo[axis] + 1] - x[box->lo[axis]]);
        double least = INFINITY, most = -INFINITY;
        for (int32_t i = 0; i < b->n_solids; i++) {
            const ec_fdtd_solid *s = b->solid + i;
            if (s->material == EC_FDTD_FREE_SPACE && !(s->sheet > 0))
                continue;
            least = fmin(least, s->lo[axis]);
            most = fmax(most, s->hi[axis]);
        }
        for (int32_t i = 0; i < c->n_ports; i++) {
            if (c->ports[i].kind == EC_FDTD_PROBE)
                continue;
            const double from = ec_fdtd_number_of(c->ports[i].from[axis], values);
            const double to = ec_fdtd_number_of(c->ports[i].to[axis], values);
            least = fmin(least, fmin(from, to));
            most = fmax(most, fmax(from, to));
        }
        if (least < low - slack || most > high + slack)
            return ec_fail(EC_ERR_RANGE,
                           "%s: objects and ports reach from %c = %s to %s, but must lie between "
                           "%s and %s, some cells before the absorbing walls: more air is needed",
                           what, "xyz"[axis], ec_fdtd_length_of(least).text,
                           ec_fdtd_length_of(most).text, ec_fdtd_length_of(low).text,
                           ec_fdtd_length_of(high).text);
    }
    return EC_OK;
}
