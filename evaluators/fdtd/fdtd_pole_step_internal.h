/* fdtd_pole_step_internal.h: what a step does at an edge in dispersive media, for one kind of real (REAL,
 * NAME), on the CPU and on CUDA: included once for each. fdtd_poles_internal.h has the equations. */

/* Edge i of the domain's list: after its update and its sources, before anything reads E. 10 flops and
 * 4 reals a pole, and one pole a medium mostly. */
EC_FN void NAME(pole_edge)(const ec_fdtd_domain *d, int32_t i)
{
    const ec_fdtd_dispersive *q = d->dispersive + i;
    const int32_t first = q->first, end = q[1].first;
    REAL *e = (REAL *)d->field + q->index, *before = (REAL *)d->pole_memory + i;
    REAL *memory = (REAL *)d->pole_memory + d->n_dispersive;
    REAL current = 0;

    for (int32_t t = first; t < end; t++) {
        const REAL *c = (const REAL *)d->pole + d->part[t].pole * EC_FDTD_POLE_NUMBERS;
        current = current + (REAL)d->part[t].weight * (c[EC_FDTD_POLE_CP] * memory[2 * t] +
                                                       c[EC_FDTD_POLE_CQ] * memory[2 * t + 1]);
    }
    const REAL b = d->index ? ((const REAL *)d->pair)[2 * d->index[q->edge] + 1]
                            : ((const REAL *)d->b)[q->edge];
    const REAL now = *e - b * current;
    const REAL mean = (REAL)0.5 * (now + *before);
    for (int32_t t = first; t < end; t++) {
        const REAL *c = (const REAL *)d->pole + d->part[t].pole * EC_FDTD_POLE_NUMBERS;
        const REAL P = memory[2 * t], J = memory[2 * t + 1];
        const REAL m =
            (c[EC_FDTD_POLE_CP] * P + c[EC_FDTD_POLE_CQ] * J) + c[EC_FDTD_POLE_CE] * mean;
        memory[2 * t] = c[EC_FDTD_POLE_KP] * (P + m);
        memory[2 * t + 1] = c[EC_FDTD_POLE_KQ] * (2 * m - J);
    }
    *e = now;
    *before = now;
}

/* Twice the energy that the poles of edge i hold, 0 in absorbing cells. */
EC_FN double NAME(pole_energy)(const ec_fdtd_shape *s, const ec_fdtd_domain *d, int32_t i)
{
    const ec_fdtd_dispersive *q = d->dispersive + i;
    const REAL *memory = (const REAL *)d->pole_memory + d->n_dispersive;
    const int64_t component = s->plane * (s->n[2] + 1), at = q->edge % component;
    const int place[3] = {(int)(at % s->pitch), (int)(at % s->plane / s->pitch),
                          (int)(at / s->plane)};
    double sum = 0;

    for (int32_t t = q->first; t < q[1].first; t++) {
        const REAL *c = (const REAL *)d->pole + d->part[t].pole * EC_FDTD_POLE_NUMBERS;
        const double P = (double)memory[2 * t], J = (double)memory[2 * t + 1];
        sum += d->part[t].weight * d->dt *
               ((double)c[EC_FDTD_POLE_UP] * P * P + (double)c[EC_FDTD_POLE_UQ] * J * J);
    }
    for (int axis = 0; axis < 3; axis++) {
        const bool along = axis == (int)(q->edge / component);
        if (place[axis] < s->layers[axis][0] ||
            place[axis] + (along ? 1 : 0) > s->n[axis] - s->layers[axis][1])
            return 0;
        sum /= (double)((const REAL *)(along ? d->id_h : d->id_e)[axis])[place[axis]];
    }
    return sum;
}
