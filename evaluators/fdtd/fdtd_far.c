/* fdtd_far.c: far fields and power of the fields on a box. */
#include "fdtd_far_internal.h"

#include <stdlib.h>

static ec_c128 times(ec_c128 a, ec_c128 b)
{
    return (ec_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static ec_c128 field_of(const ec_fdtd_faces *s, int side, int32_t f, int32_t i)
{
    const size_t at =
        2 * (((size_t)side * (size_t)s->n_frequencies + (size_t)f) * (size_t)s->n + (size_t)i);
    if (s->double_precision)
        return (ec_c128){((const double *)s->sum)[at], ((const double *)s->sum)[at + 1]};
    return (ec_c128){((const float *)s->sum)[at], ((const float *)s->sum)[at + 1]};
}

/* e^(jk r_axis x) at the nodes and at the cells' middles of each axis. */
typedef struct phases {
    ec_c128 *at[3][2];
} phases;

static void turn(const ec_fdtd_setup *s, const ec_fdtd_build *b, double k, const double *r,
                 phases *to)
{
    for (int axis = 0; axis < 3; axis++) {
        const double *x = b->line[axis];
        for (int i = 0; i <= s->shape.n[axis]; i++)
            for (int half = 0; half < 2; half++) {
                const double place =
                    half ? 0.5 * (x[i] + x[i < s->shape.n[axis] ? i + 1 : i]) : x[i];
                const double angle = k * r[axis] * place;
                to->at[axis][half][i] = (ec_c128){cos(angle), sin(angle)};
            }
    }
}

/* N and L towards r, of the domain's own currents. */
static void currents(const ec_fdtd_build *b, const ec_fdtd_faces *s, int32_t f, double k,
                     const double *r, const phases *phase, ec_c128 *N, ec_c128 *L)
{
    for (int c = 0; c < 3; c++)
        N[c] = L[c] = (ec_c128){0, 0};
    for (int32_t i = 0; i < s->n; i++) {
        const ec_fdtd_pair *p = s->pair + i;
        const int a = p->axis, e = p->e_c, h = p->h_c;
        const double d = b->line[a][p->cell + 1] - b->line[a][p->cell];
        const double scale = p->turn * ec_fdtd_pair_area(b, p) / cos(0.5 * k * d * r[a]);
        const ec_c128 across = times(phase->at[e][1][p->place[e]], phase->at[h][0][p->place[h]]);
        const ec_c128 j = times(times(field_of(s, 1, f, i), across), phase->at[a][0][p->place[a]]);
        const ec_c128 m = times(times(field_of(s, 0, f, i), across), phase->at[a][1][p->cell]);
        N[e].re += scale * j.re;
        N[e].im += scale * j.im;
        L[h].re += scale * m.re;
        L[h].im += scale * m.im;
    }
}

/* The walls that the box ends at, at most one an axis. */
typedef struct mirror {
    int axis, wall; /* its sides' sign: 1 electric, -1 magnetic */
    double at;
} mirror;

static int mirrors(const ec_fdtd_setup *s, const ec_fdtd_build *b, mirror *to)
{
    int n = 0;

    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            const ec_fdtd_wall wall = s->model->config.wall[axis][side];
            if (wall == EC_FDTD_WALL_PEC || wall == EC_FDTD_WALL_PMC)
                to[n++] = (mirror){axis, wall == EC_FDTD_WALL_PEC ? 1 : -1,
                                   b->line[axis][side ? s->shape.n[axis] : 0]};
            if (n == 3)
                return n;
        }
    return n;
}

/* Adds N and L of all images to those of the domain: an image's are those that the domain has towards
 * the mirrored direction, mirrored. */
static void with_images(const ec_fdtd_setup *s, const ec_fdtd_build *b, const ec_fdtd_faces *faces,
                        int32_t f, double k, const double *r, phases *phase, ec_c128 *N, ec_c128 *L)
{
    mirror wall[3];
    const int n = mirrors(s, b, wall);

    for (int c = 0; c < 3; c++)
        N[c] = L[c] = (ec_c128){0, 0};
    for (int image = 0; image < 1 << n; image++) {
        double to[3] = {r[0], r[1], r[2]}, sign[2][3] = {{1, 1, 1}, {1, 1, 1}}, angle = 0;
        ec_c128 own[2][3];
        for (int w = 0; w < n; w++) {
            if (!(image >> w & 1))
                continue;
            const int axis = wall[w].axis;
            to[axis] = -to[axis];
            angle += 2 * k * r[axis] * wall[w].at;
            for (int c = 0; c < 3; c++) { /* along the normal an electric wall keeps J */
                sign[0][c] *= c == axis ? wall[w].wall : -wall[w].wall;
                sign[1][c] *= c == axis ? -wall[w].wall : wall[w].wall;
            }
        }
        turn(s, b, k, to, phase);
        currents(b, faces, f, k, to, phase, own[0], own[1]);
        const ec_c128 there = {cos(angle), sin(angle)};
        for (int q = 0; q < 2; q++)
            for (int c = 0; c < 3; c++) {
                const ec_c128 x = times(own[q][c], there);
                (q ? L : N)[c].re += sign[q][c] * x.re;
                (q ? L : N)[c].im += sign[q][c] * x.im;
            }
    }
}

static ec_c128 along(const ec_c128 *v, const double *u)
{
    return (ec_c128){v[0].re * u[0] + v[1].re * u[1] + v[2].re * u[2],
                     v[0].im * u[0] + v[1].im * u[1] + v[2].im * u[2]};
}

int ec_fdtd_far_fields(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                       const ec_fdtd_faces *faces, int32_t f, double frequency, int32_t n,
                       const double (*direction)[2], ec_c128 (*to)[2])
{
    const double k = 2 * EC_PI * frequency / EC_LIGHT_SPEED, scale = k / (4 * EC_PI);
    const int32_t *size = setup->shape.n;
    ec_c128 *memory = malloc(2 * (size_t)(size[0] + size[1] + size[2] + 3) * sizeof *memory);
    phases phase;

    if (!memory)
        return ec_fail(EC_ERR_MEMORY, "no memory for a far field");
    ec_c128 *next = memory;
    for (int axis = 0; axis < 3; axis++)
        for (int half = 0; half < 2; half++) {
            phase.at[axis][half] = next;
            next += size[axis] + 1;
        }
    for (int32_t i = 0; i < n; i++) {
        const double theta = direction[i][0], phi = direction[i][1];
        const double r[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
        const double up[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), -sin(theta)};
        const double round[3] = {-sin(phi), cos(phi), 0};
        ec_c128 N[3], L[3];
        with_images(setup, build, faces, f, k, r, &phase, N, L);
        const ec_c128 nt = along(N, up), np = along(N, round), lt = along(L, up),
                      lp = along(L, round);
        const ec_c128 u = {lp.re + EC_FDTD_ETA0 * nt.re, lp.im + EC_FDTD_ETA0 * nt.im};
        const ec_c128 v = {lt.re - EC_FDTD_ETA0 * np.re, lt.im - EC_FDTD_ETA0 * np.im};
        to[i][0] = (ec_c128){scale * u.im, -scale * u.re}; /* -j scale u */
        to[i][1] = (ec_c128){-scale * v.im, scale * v.re};
    }
    free(memory);
    return EC_OK;
}

double ec_fdtd_far_power(const ec_fdtd_build *build, const ec_fdtd_faces *faces, int32_t f)
{
    double sum = 0;

    for (int32_t i = 0; i < faces->n; i++) {
        const ec_c128 e = field_of(faces, 0, f, i), h = field_of(faces, 1, f, i);
        sum -= faces->pair[i].turn * ec_fdtd_pair_area(build, faces->pair + i) *
               (e.re * h.re + e.im * h.im);
    }
    return 0.5 * sum;
}

bool ec_fdtd_far_is_behind(const ec_fdtd_config *c, const bool *symmetry, const double *direction)
{
    const double r[3] = {sin(direction[0]) * cos(direction[1]),
                         sin(direction[0]) * sin(direction[1]), cos(direction[0])};

    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            if (c->wall[axis][side] != EC_FDTD_WALL_PML && !symmetry[axis] &&
                (side ? r[axis] : -r[axis]) > 1e-9)
                return true;
    return false;
}
