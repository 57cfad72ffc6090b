/* array_weights_thinning.h: Keizer's iteration of one candidate (array_weights.h), on the CPU over a
 * regular grid by non-uniform FFTs from the elements to the grid and back (nufft.h), else by sums
 * over every direction and element.
 *
 * Of an element in common with the size g in a direction, what is clipped is g F, and what goes back
 * to the elements the change of F. Operations of a round for N elements and G directions: 8 G N
 * multiply-adds, or two transforms; 64 N comparisons.
 */
#ifndef EC_ARRAY_WEIGHTS_THINNING_H
#define EC_ARRAY_WEIGHTS_THINNING_H

#include "array_weights_solve.h"

/* A whole number that ascends with x. */
EC_FN uint64_t ec_weights_rank(double x)
{
    uint64_t bits = ec_det_bits(x + 0.0); /* no -0 */

    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* The `filled` largest of the values in column become 1 in trial, the others 0; of equal values the
 * first. True when that changes trial. The rank of the last one that is filled is found bit by bit. */
EC_PATTERN_FN bool ec_weights_fill_largest(const ec_team *team, const ec_weights_args *args,
                                           ec_weights_work *work)
{
    const double *value = work->column.re;
    uint64_t last = 0;
    bool changed = false;

    ec_team_sync(team);
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t tried = last | (uint64_t)1 << bit;
        int32_t reach = 0;
        for (int32_t m = team->rank; m < work->n; m += team->size)
            reach += ec_weights_rank(value[m]) >= tried;
        if (ec_team_sum(team, (double)reach) >= (double)args->filled)
            last = tried;
    }
    int32_t above = 0;
    for (int32_t m = team->rank; m < work->n; m += team->size)
        above += ec_weights_rank(value[m]) > last;
    int32_t left = args->filled - (int32_t)ec_team_sum(team, (double)above);
    for (int32_t m = 0; m < work->n && team->rank == 0; m++) {
        uint64_t rank = ec_weights_rank(value[m]);
        bool filled = rank > last || (rank == last && left-- > 0);
        changed = changed || (filled ? 1.0 : 0.0) != work->trial.re[m];
        work->trial.re[m] = filled ? 1.0 : 0.0;
        work->trial.im[m] = 0.0;
    }
    return ec_team_any(team, changed);
}

/* ---- by transforms ---- */

#ifndef __CUDACC__

/* exp(2 pi j r . (d - d0)) of the elements towards the grid's mode 0, and their places in turns. */
static inline void ec_weights_place(const ec_weights_args *args, const ec_weights_work *work)
{
    const ec_weights_lattice *grid = &args->lattice;
    double *x = (double *)(void *)(work->transform + grid->at_point), *y = x + work->n;

    for (int32_t m = 0; m < work->n; m++) {
        x[m] = work->x[m] * grid->step_u;
        y[m] = work->y[m] * grid->step_v;
    }
}

static inline ec_direction ec_weights_off_centre(const ec_weights_args *args,
                                                 const ec_weights_work *work)
{
    ec_direction off = {args->lattice.centre_u - work->u0, args->lattice.centre_v - work->v0, 0.0};

    return off;
}

static inline uint8_t ec_weights_transform(const ec_weights_args *args, const ec_weights_work *work,
                                           bool to_modes)
{
    const ec_weights_lattice *grid = &args->lattice;
    const double *x = (const double *)(const void *)(work->transform + grid->at_point);
    char *elements = work->transform + grid->at_strength, *modes = work->transform + grid->at_mode;
    const ec_nufft_args *plan = to_modes ? grid->to_modes : grid->to_elements;
    ec_nufft_io io = {.point = {x, x + work->n},
                      .in = to_modes ? elements : modes,
                      .out = to_modes ? modes : elements,
                      .vectors = 1};

    return plan->function(plan, &io, work->transform + grid->at_work);
}

/* F of trial in all modes of the grid. */
static inline void ec_weights_to_modes(const ec_weights_args *args, ec_weights_work *work)
{
    ec_c128 *strength = (ec_c128 *)(void *)(work->transform + args->lattice.at_strength);

    ec_weights_phasors(work, ec_weights_off_centre(args, work), 1.0, work->best);
    for (int32_t m = 0; m < work->n; m++) {
        strength[m].re = work->trial.re[m] * work->best.re[m];
        strength[m].im = work->trial.re[m] * work->best.im[m];
    }
    ec_weights_transform(args, work, true);
}

/* Re mean of conj(e_im) times the changes in q and field, into column. */
static inline void ec_weights_from_modes(const ec_weights_args *args, ec_weights_work *work)
{
    const ec_weights_lattice *grid = &args->lattice;
    ec_c128 *mode = (ec_c128 *)(void *)(work->transform + grid->at_mode);
    const ec_c128 *at = (const ec_c128 *)(const void *)(work->transform + grid->at_strength);
    size_t count = (size_t)grid->count[0] * (size_t)grid->count[1];

    for (size_t k = 0; k < count; k++)
        mode[k].re = mode[k].im = 0.0;
    for (int32_t i = 0; i < args->directions; i++) {
        mode[grid->mode[i]].re = work->q[i];
        mode[grid->mode[i]].im = work->field[i];
    }
    ec_weights_transform(args, work, false);
    for (int32_t m = 0; m < work->n; m++)
        work->column.re[m] = at[m].re * work->best.re[m] + at[m].im * work->best.im[m];
}

#endif

/* F of trial without the element towards direction i of the grid. */
EC_PATTERN_FN ec_c128 ec_weights_factor_at(const ec_weights_args *args, const ec_weights_work *work,
                                           int32_t i)
{
#ifndef __CUDACC__
    if (args->lattice.count[0] > 0)
        return ((const ec_c128 *)(const void *)(work->transform +
                                                args->lattice.at_mode))[args->lattice.mode[i]];
#endif
    return ec_weights_product(work->n, ec_weights_row(work->row, i, work->stride), work->trial);
}

/* ---- rounds ---- */

/* F' - F of the clipped side lobes over the number of directions, into q and field; every member
 * gets the highest |g F|. Rows of the grid hold no g here. */
EC_PATTERN_FN double ec_weights_clip(const ec_team *team, const ec_weights_args *args, double limit,
                                     ec_weights_work *work)
{
    ec_pattern_best best = {-1.0, 0.0, 0.0, 0, 0};
    double share = 1.0 / args->directions;

    for (int32_t i = team->rank; i < args->directions; i += team->size) {
        ec_c128 f = ec_weights_factor_at(args, work, i);
        double level = args->level ? args->level[i] : 1.0;
        double size = work->wanted[i] > 0.0 ? level * sqrt(f.re * f.re + f.im * f.im) : 0.0;
        double less = size > limit ? share * (limit / size - 1.0) : 0.0;
        work->q[i] = f.re * less;
        work->field[i] = f.im * less;
        if (size > best.score) {
            best.score = size;
            best.a = i;
        }
    }
    ec_team_best(team, &best);
    ec_team_sync(team);
    return best.score;
}

/* Weights into best; false: the element does not radiate towards the look direction. */
EC_PATTERN_FN bool ec_weights_thin(const ec_team *team, const ec_weights_args *args, size_t c,
                                   size_t s, ec_weights_work *work)
{
    ec_direction look = {work->u0, work->v0, work->w0};
    double least = 0.0, level = ec_weights_level(args, look);
    bool transforms = args->lattice.count[0] > 0;

    if (!(level > 0.0))
        return false;
    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        work->column.re[m] = ec_pattern_read(&args->in[EC_WEIGHTS_START], c, s, m);
        work->trial.re[m] = 0.0;
    }
#ifndef __CUDACC__
    if (transforms)
        ec_weights_place(args, work);
#endif
    for (int32_t round = 0; round < args->iterations; round++) {
        if (!ec_weights_fill_largest(team, args, work))
            break;
#ifndef __CUDACC__
        if (transforms)
            ec_weights_to_modes(args, work);
#endif
        double highest = ec_weights_clip(team, args, args->clip * args->filled * level, work);
        if (round == 0 || highest < least) {
            least = highest;
            for (int32_t m = team->rank; m < work->n; m += team->size)
                work->hold.re[m] = work->trial.re[m];
        }
#ifndef __CUDACC__
        if (transforms)
            ec_weights_from_modes(args, work);
#endif
        if (!transforms)
            ec_weights_gather_field(team, args, work, work->q, work->field, work->column);
        ec_team_sync(team);
        for (int32_t m = team->rank; m < work->n; m += team->size)
            work->column.re[m] += work->trial.re[m];
    }
    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        work->best.re[m] = work->hold.re[m];
        work->best.im[m] = 0.0;
    }
    return true;
}

#endif
