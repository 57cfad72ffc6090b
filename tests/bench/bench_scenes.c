/* bench_scenes.c: meshes and rays to time ray tracing with. */
#include "bench_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static void *need(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "bench: out of memory\n");
    exit(1);
}

/* splitmix64 (Steele, Lea and Flood 2014) */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* ---- meshes ---- */

static int32_t add_vertex(bench_mesh *m, double x, double y, double z)
{
    if (m->n_vertices == m->vertex_room) {
        m->vertex_room = 2 * m->vertex_room + 1024;
        m->vertex = need(realloc(m->vertex, (size_t)m->vertex_room * sizeof *m->vertex));
    }
    double *v = m->vertex[m->n_vertices];
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return m->n_vertices++;
}

static void add_triangle(bench_mesh *m, int32_t a, int32_t b, int32_t c)
{
    if (m->n_triangles == m->triangle_room) {
        m->triangle_room = 2 * m->triangle_room + 1024;
        m->triangle = need(realloc(m->triangle, (size_t)m->triangle_room * sizeof *m->triangle));
    }
    int32_t *t = m->triangle[m->n_triangles++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* nu x nv cells of two triangles over [0, 1]^2; seen from the side of du x dv. */
typedef void surface(const double *form, double u, double v, double p[3]);

static void add_surface(bench_mesh *m, surface *at, const double *form, int nu, int nv)
{
    int32_t first = m->n_vertices;
    double p[3];

    for (int i = 0; i <= nu; i++)
        for (int k = 0; k <= nv; k++) {
            at(form, (double)i / nu, (double)k / nv, p);
            add_vertex(m, p[0], p[1], p[2]);
        }
    for (int i = 0; i < nu; i++)
        for (int k = 0; k < nv; k++) {
            int32_t a = first + i * (nv + 1) + k, b = a + nv + 1;
            add_triangle(m, a, b, b + 1);
            add_triangle(m, a, b + 1, a + 1);
        }
}

/* corner, side u, side v */
static void flat(const double *f, double u, double v, double p[3])
{
    for (int i = 0; i < 3; i++)
        p[i] = f[i] + u * f[3 + i] + v * f[6 + i];
}

/* middle of the bottom, radius, height */
static void tube(const double *f, double u, double v, double p[3])
{
    p[0] = f[0] + f[3] * cos(2 * PI * u);
    p[1] = f[1] + f[3] * sin(2 * PI * u);
    p[2] = f[2] + f[4] * v;
}

/* middle, half axes */
static void ball(const double *f, double u, double v, double p[3])
{
    p[0] = f[0] + f[3] * cos(2 * PI * u) * sin(PI * v);
    p[1] = f[1] + f[4] * sin(2 * PI * u) * sin(PI * v);
    p[2] = f[2] - f[5] * cos(PI * v);
}

/* Six faces of n x n cells, seen from outside or from inside. */
static void add_box(bench_mesh *m, const double low[3], const double high[3], int n, int inside)
{
    for (int axis = 0; axis < 3; axis++) {
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int side = 0; side < 2; side++) {
            double form[9] = {0};
            for (int i = 0; i < 3; i++)
                form[i] = low[i];
            form[axis] = side ? high[axis] : low[axis];
            form[(side != inside ? 3 : 6) + u] = high[u] - low[u];
            form[(side != inside ? 6 : 3) + v] = high[v] - low[v];
            add_surface(m, flat, form, n, n);
        }
    }
}

static void add_block(bench_mesh *m, double x, double y, double z, double a, double b, double c)
{
    const double low[3] = {x - a, y - b, z - c}, high[3] = {x + a, y + b, z + c};
    add_box(m, low, high, 1, 0);
}

static void add_legs(bench_mesh *m, double x, double y, double dx, double dy, double radius,
                     double top)
{
    for (int i = 0; i < 4; i++) {
        const double form[5] = {x + (i & 1 ? dx : -dx), y + (i & 2 ? dy : -dy), 0, radius, top};
        add_surface(m, tube, form, 24, 1);
    }
}

static void add_chair(bench_mesh *m, double x, double y, double facing)
{
    const double seat[6] = {x, y, 0.46, 0.24, 0.22, 0.04};
    const double back[6] = {x, y + 0.22 * facing, 0.75, 0.22, 0.03, 0.22};

    add_surface(m, ball, seat, 32, 16);
    add_surface(m, ball, back, 32, 16);
    add_legs(m, x, y, 0.17, 0.16, 0.015, 0.44);
}

static void add_plant(bench_mesh *m, double x, double y, uint64_t *state)
{
    const double pot[5] = {x, y, 0, 0.2, 0.4};

    add_surface(m, tube, pot, 48, 4);
    for (int leaf = 0; leaf < 3000; leaf++) {
        double at[3], side[2][3];
        double radius = 0.45 * cbrt(uniform(state)), z = 2 * uniform(state) - 1;
        double turn = 2 * PI * uniform(state);
        at[0] = x + radius * sqrt(1 - z * z) * cos(turn);
        at[1] = y + radius * sqrt(1 - z * z) * sin(turn);
        at[2] = 1.0 + 1.2 * radius * z;
        for (int i = 0; i < 6; i++)
            side[i / 3][i % 3] = 0.05 * (2 * uniform(state) - 1);
        int32_t a = add_vertex(m, at[0], at[1], at[2]);
        for (int i = 0; i < 2; i++)
            add_vertex(m, at[0] + side[i][0], at[1] + side[i][1], at[2] + side[i][2]);
        add_triangle(m, a, a + 1, a + 2);
    }
}

void bench_mesh_cylinder_plate(bench_mesh *m)
{
    const double cylinder[5] = {0, 0, -7.5, 10, 15};
    const double plate[9] = {30, 25, -7.5, 0, -50, 0, 0, 0, 15}; /* seen from the cylinder */

    memset(m, 0, sizeof *m);
    add_surface(m, tube, cylinder, 1028, 45);
    add_surface(m, flat, plate, 50, 29);
}

void bench_mesh_room(bench_mesh *m)
{
    const double low[3] = {0, 0, 0}, high[3] = {12, 9, 3};
    uint64_t state = 1;

    memset(m, 0, sizeof *m);
    add_box(m, low, high, 16, 1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            double x = 1.8 + 2.8 * i, y = 2.5 + 4 * k;
            add_block(m, x, y, 0.73, 0.9, 0.45, 0.02);
            add_legs(m, x, y, 0.8, 0.35, 0.03, 0.71);
            add_block(m, x, y, 0.95, 0.3, 0.01, 0.18); /* a screen */
            for (int c = 0; c < 4; c++)
                add_chair(m, x + (c & 1 ? 0.45 : -0.45), y + (c & 2 ? 0.75 : -0.75),
                          c & 2 ? 1 : -1);
        }
    for (int i = 0; i < 6; i++) {
        const double lamp[6] = {2 + 4 * (i % 3), 2.5 + 4 * (i / 3), 2.6, 0.2, 0.2, 0.15};
        add_surface(m, ball, lamp, 64, 32);
    }
    for (int i = 0; i < 6; i++)
        add_plant(m, i % 2 ? 11.3 : 0.7, 0.7 + 3.8 * (i / 2), &state);
}

void bench_mesh_ball(bench_mesh *m, int32_t n)
{
    const double form[6] = {1, 2, 3, -5, 5, 5}; /* mirrored: turned inside out */

    memset(m, 0, sizeof *m);
    add_surface(m, ball, form, n, n);
}

void bench_mesh_free(bench_mesh *m)
{
    free(m->vertex);
    free(m->triangle);
    memset(m, 0, sizeof *m);
}

/* ---- rays ---- */

static double normal_of(const bench_mesh *m, int32_t k, double normal[3])
{
    const int32_t *t = m->triangle[k];
    const double *a = m->vertex[t[0]], *b = m->vertex[t[1]], *c = m->vertex[t[2]];
    double length = 0;

    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, l = (i + 2) % 3;
        normal[i] = (b[j] - a[j]) * (c[l] - a[l]) - (b[l] - a[l]) * (c[j] - a[j]);
        length += normal[i] * normal[i];
    }
    length = sqrt(length);
    for (int i = 0; i < 3 && length > 0; i++)
        normal[i] /= length;
    return length;
}

void bench_rays_bounce(bench_rays *rays, const bench_mesh *m, size_t n)
{
    double *sum = need(malloc(((size_t)m->n_triangles + 1) * sizeof *sum)), normal[3];
    uint64_t state = 7;

    rays->n = n;
    for (int i = 0; i < 3; i++) {
        rays->origin[i] = need(malloc(n * sizeof(double)));
        rays->direction[i] = need(malloc(n * sizeof(double)));
    }
    sum[0] = 0;
    for (int32_t k = 0; k < m->n_triangles; k++)
        sum[k + 1] = sum[k] + normal_of(m, k, normal);
    for (size_t r = 0; r < n; r++) {
        double where = uniform(&state) * sum[m->n_triangles];
        int32_t low = 0, high = m->n_triangles;
        while (high - low > 1) {
            int32_t middle = low + (high - low) / 2;
            if (sum[middle] <= where)
                low = middle;
            else
                high = middle;
        }
        normal_of(m, low, normal);
        double s = sqrt(uniform(&state)), t = uniform(&state);
        double radius2 = uniform(&state), turn = 2 * PI * uniform(&state);
        int axis = fabs(normal[0]) < 0.5 ? 0 : 1;
        double x[3], y[3], length = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = (i == axis) - normal[axis] * normal[i];
            length += x[i] * x[i];
        }
        for (int i = 0; i < 3; i++)
            x[i] /= sqrt(length);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            y[i] = normal[j] * x[l] - normal[l] * x[j];
        }
        for (int i = 0; i < 3; i++) {
            const int32_t *v = m->triangle[low];
            rays->origin[i][r] = (1 - s) * m->vertex[v[0]][i] + s * (1 - t) * m->vertex[v[1]][i] +
                                 s * t * m->vertex[v[2]][i] + 1e-4 * normal[i];
            rays->direction[i][r] = sqrt(radius2) * (cos(turn) * x[i] + sin(turn) * y[i]) +
                                    sqrt(1 - radius2) * normal[i];
        }
    }
    free(sum);
}

void bench_rays_free(bench_rays *rays)
{
    for (int i = 0; i < 3; i++) {
        free(rays->origin[i]);
        free(rays->direction[i]);
    }
    memset(rays, 0, sizeof *rays);
}
