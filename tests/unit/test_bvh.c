/* test_bvh.c: hierarchies over triangles: what rays find, against every triangle tested in
 * float64 and in the same float32 arithmetic, on every layout; closed meshes do not leak; odd
 * input. */
#include "bvh_internal.h"
#include "bvh_trace.h"
#include "bvh_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- meshes ---- */

typedef struct mesh {
    int32_t n; /* triangles; vertices are not shared, but equal where triangles meet */
    double (*vertex)[3];
    int32_t (*triangle)[3], *part;
} mesh;

static uint64_t state;

static double uniform(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
    return low + (high - low) * uniform();
}

static void mesh_start(mesh *m, int32_t most)
{
    m->n = 0;
    m->vertex = malloc(3 * (size_t)most * sizeof *m->vertex);
    m->triangle = malloc((size_t)most * sizeof *m->triangle);
    m->part = malloc((size_t)most * sizeof *m->part);
    assert_true(m->vertex && m->triangle && m->part);
}

static void mesh_free(mesh *m)
{
    free(m->vertex);
    free(m->triangle);
    free(m->part);
}

static void add(mesh *m, const double a[3], const double b[3], const double c[3], int32_t part)
{
    const double *corner[3] = {a, b, c};

    for (int i = 0; i < 3; i++) {
        m->triangle[m->n][i] = 3 * m->n + i;
        memcpy(m->vertex[3 * m->n + i], corner[i], 3 * sizeof(double));
    }
    m->part[m->n++] = part;
}

/* A closed ball: the faces of an octahedron in n^2 triangles each, stretched. The corners of faces
 * that meet have the same bits. `bump`: how rough. */
static void ball_corner(int face, int i, int j, int n, double bump, const double stretch[3],
                        double p[3])
{
    int k = n - i - j;
    double x[3] = {face & 1 ? -i : i, face & 2 ? -j : j, face & 4 ? -k : k};
    double length = sqrt((double)(i * i + j * j + k * k));
    double rough = 1 + bump * sin(7 * x[0] + 0.3) * sin(5 * x[1] + 0.2) * sin(3 * x[2] + 0.1);

    for (int d = 0; d < 3; d++)
        p[d] = rough * stretch[d] * (x[d] + 0.0) / length;
}

static void make_ball(mesh *m, int n, double bump, double sx, double sy, double sz)
{
    const double stretch[3] = {sx, sy, sz};
    double p[4][3];

    mesh_start(m, 8 * n * n);
    for (int face = 0; face < 8; face++)
        for (int i = 0; i < n; i++)
            for (int j = 0; i + j < n; j++) {
                ball_corner(face, i, j, n, bump, stretch, p[0]);
                ball_corner(face, i + 1, j, n, bump, stretch, p[1]);
                ball_corner(face, i, j + 1, n, bump, stretch, p[2]);
                add(m, p[0], p[1], p[2], face);
                if (i + j + 2 > n)
                    continue;
                ball_corner(face, i + 1, j + 1, n, bump, stretch, p[3]);
                add(m, p[1], p[3], p[2], face);
            }
}

static void add_box(mesh *m, const double low[3], const double high[3], int n, int32_t part)
{
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    int u = (axis + 1) % 3, v = (axis + 2) % 3;
                    double p[4][3];
                    for (int k = 0; k < 4; k++) {
                        int a = i + (k & 1), b = j + (k >> 1);
                        p[k][axis] = side ? high[axis] : low[axis];
                        p[k][u] = low[u] + (high[u] - low[u]) * a / n;
                        p[k][v] = low[v] + (high[v] - low[v]) * b / n;
                    }
                    add(m, p[0], p[1], p[3], part + 2 * axis + side);
                    add(m, p[0], p[3], p[2], part + 2 * axis + side);
                }
}

/* Triangles of all sizes, many long and thin, and some that fill the scene. */
static void make_soup(mesh *m, int32_t n)
{
    double p[3][3];

    mesh_start(m, n);
    while (m->n < n) {
        double size = m->n % 50 == 0 ? 8 : pow(10, between(-3, 0.3));
        double thin = m->n % 3 == 0 ? 1e-3 : 1;
        for (int i = 0; i < 3; i++) {
            p[0][i] = between(-5, 5);
            p[1][i] = p[0][i] + size * between(-1, 1);
            p[2][i] = p[1][i] + thin * size * between(-1, 1);
        }
        add(m, p[0], p[1], p[2], m->n % 7);
    }
}

/* A room with boxes that stand on its floor and against its walls. */
static void make_room(mesh *m)
{
    const double low[3] = {-5, -4, 0}, high[3] = {5, 4, 3};

    mesh_start(m, 13000);
    add_box(m, low, high, 20, 0);
    for (int i = 0; i < 40; i++) {
        double a[3] = {between(-5, 4), between(-4, 3), 0}, b[3];
        for (int k = 0; k < 3; k++)
            b[k] = a[k] + between(0.1, 1);
        if (i % 4 == 0)
            a[0] = -5;
        add_box(m, a, b, i % 5 == 0 ? 7 : 1, 6 + 6 * i);
    }
}

static ec_bvh *built(const mesh *m, int threads, bool objects)
{
    const ec_bvh_info info = {.n_vertices = 3 * m->n,
                              .vertex = (const double(*)[3])m->vertex,
                              .n_triangles = m->n,
                              .triangle = (const int32_t(*)[3])m->triangle,
                              .part = m->part,
                              .threads = threads,
                              .object_splits_only = objects};
    ec_bvh *bvh = NULL;

    if (ec_bvh_build(&info, &bvh) != EC_OK)
        fail_msg("%s", ec_error_text());
    return bvh;
}

static ec_backend *cpu(const char *isa)
{
    const ec_backend_info info = {.name = "cpu", .isa = isa};
    ec_backend *backend = NULL;

    if (ec_backend_create(&info, &backend) != EC_OK)
        fail_msg("%s", ec_error_text());
    return backend;
}

static ec_bvh_layout *laid_out(const ec_bvh *bvh, ec_backend *backend, int layout)
{
    ec_bvh_layout *made = NULL;

    if (ec_bvh_lay_out(bvh, backend, layout, &made) != EC_OK)
        fail_msg("%s", ec_error_text());
    return made;
}

/* ---- rays ---- */

typedef struct beam {
    double origin[3], direction[3], t_min, t_max;
    int32_t skip_a, skip_b;
} beam;

static beam towards(const double from[3], const double to[3])
{
    beam b = {.t_min = 0, .t_max = INFINITY, .skip_a = EC_BVH_NO_PART, .skip_b = EC_BVH_NO_PART};

    for (int i = 0; i < 3; i++) {
        b.origin[i] = from[i];
        b.direction[i] = to[i] - from[i];
    }
    return b;
}

static bool set_ray(const ec_bvh_view *view, const beam *b, ec_bvh_ray *ray)
{
    return ec_bvh_ray_set(view, b->origin, b->direction, b->t_min, b->t_max, b->skip_a, b->skip_b,
                          ray);
}

static ec_bvh_hit traced(const ec_bvh_view *view, const beam *b)
{
    ec_bvh_hit hit = {INFINITY, 0, 0, -1};
    ec_bvh_ray ray;

    if (set_ray(view, b, &ray))
        ec_bvh_closest(view, &ray, &hit);
    return hit;
}

static void barycentric(const mesh *m, int32_t k, double s, double t, double p[3])
{
    const double(*v)[3] = (const double(*)[3]) & m->vertex[3 * k];

    for (int i = 0; i < 3; i++)
        p[i] = (1 - s - t) * v[0][i] + s * v[1][i] + t * v[2][i];
}

/* Rays of many kinds: between points of the box, along axes, towards corners and edges, in the
 * planes of triangles (which they meet edge on), from the surface, from far away. */
static beam some_ray(const mesh *m, double reach)
{
    int kind = (int)(8 * uniform());
    int32_t k = (int32_t)(m->n * uniform()), l = (int32_t)(m->n * uniform());
    double a[3], b[3], s = uniform(), t = uniform() * (1 - s);

    for (int i = 0; i < 3; i++) {
        a[i] = between(-reach, reach);
        b[i] = between(-reach, reach);
    }
    if (kind == 1) /* along an axis */
        for (int i = 1; i < 3; i++)
            b[i] = a[i];
    else if (kind == 2) /* to a corner */
        memcpy(b, m->vertex[3 * k], sizeof b);
    else if (kind == 3) /* to an edge */
        barycentric(m, k, s, 0, b);
    else if (kind == 4) { /* edge on */
        barycentric(m, k, between(-2, 2), between(-2, 2), a);
        barycentric(m, k, s, t, b);
    } else if (kind == 5) { /* from one triangle to another */
        barycentric(m, k, s, t, a);
        barycentric(m, l, t, s, b);
    } else if (kind == 6) /* from far away */
        for (int i = 0; i < 3; i++)
            a[i] *= 1000;
    beam ray = towards(a, b);
    if (kind == 5 || uniform() < 0.3) {
        ray.skip_a = m->part[k];
        ray.skip_b = uniform() < 0.5 ? m->part[l] : EC_BVH_NO_PART;
    }
    if (uniform() < 0.3)
        ray.t_max = between(0, 2);
    if (uniform() < 0.3)
        ray.t_min = between(0, 1);
    return ray;
}

/* What a beam meets first. */
static ec_bvh_hit expected(const ec_bvh *bvh, const ec_bvh_view *view, const beam *b)
{
    ec_bvh_hit none = {INFINITY, 0, 0, -1};
    ec_bvh_ray ray;

    return set_ray(view, b, &ray) ? every_triangle(bvh, &ray) : none;
}

static bool same(const ec_bvh_hit *a, const ec_bvh_hit *b)
{
    return a->triangle == b->triangle && a->t == b->t && a->u == b->u && a->v == b->v;
}

/* ---- the same hits everywhere ---- */

static void check_layouts(const mesh *m, int rays, double reach)
{
    for (int objects = 0; objects < 2; objects++) {
        ec_bvh *bvh = built(m, 0, objects);
        ec_backend *backend = cpu(NULL);
        ec_bvh_layout *layout[EC_BVH_LAYOUTS];
        int hits = 0;
        for (int i = 0; i < EC_BVH_LAYOUTS; i++)
            layout[i] = laid_out(bvh, backend, i);
        for (int r = 0; r < rays; r++) {
            beam b = some_ray(m, reach);
            ec_bvh_hit want = expected(bvh, ec_bvh_layout_view(layout[0]), &b);
            hits += want.triangle >= 0;
            for (int i = 0; i < EC_BVH_LAYOUTS; i++) {
                const ec_bvh_view *view = ec_bvh_layout_view(layout[i]);
                ec_bvh_hit got = traced(view, &b);
                ec_bvh_ray ray;
                if (!same(&got, &want))
                    fail_msg("layout %s, ray %d: triangle %d at %.9g, not %d at %.9g",
                             ec_bvh_layout_get_stats(layout[i])->name, r, got.triangle,
                             (double)got.t, want.triangle, (double)want.t);
                if (set_ray(view, &b, &ray))
                    assert_int_equal(ec_bvh_any(view, &ray), want.triangle >= 0);
                if (want.triangle < 0)
                    continue;
                /* a segment that ends there hits, one that ends before does not */
                beam shorter = b;
                shorter.t_max = want.t;
                assert_true(set_ray(view, &shorter, &ray) && ec_bvh_any(view, &ray));
                shorter.t_max = nextafterf(want.t, -1);
                assert_false(set_ray(view, &shorter, &ray) && ec_bvh_any(view, &ray));
            }
        }
        assert_in_range(hits, rays / 10, rays);
        for (int i = 0; i < EC_BVH_LAYOUTS; i++)
            ec_bvh_layout_destroy(&layout[i]);
        ec_backend_destroy(&backend);
        ec_bvh_destroy(&bvh);
        assert_null(bvh);
    }
}

static void test_layouts(void **unused)
{
    mesh m;

    (void)unused;
    state = 1;
    make_soup(&m, 1500);
    check_layouts(&m, 6000, 6);
    mesh_free(&m);
    make_room(&m);
    check_layouts(&m, 2000, 5);
    mesh_free(&m);
    make_ball(&m, 12, 0.3, 1, 20, 0.01);
    check_layouts(&m, 3000, 2);
    mesh_free(&m);
}

/* ---- float64 oracle ---- */

/* Moeller and Trumbore 1997 in float64 on the vertices as given: the nearest triangle that is met
 * well inside, and the nearest that is met at all or missed by a hair. */
static void oracle(const mesh *m, const beam *b, double hair, double *sure, double *maybe)
{
    *sure = *maybe = INFINITY;
    for (int32_t k = 0; k < m->n; k++) {
        const double(*v)[3] = (const double(*)[3]) & m->vertex[3 * k];
        const double *d = b->direction;
        double e1[3], e2[3], p[3], q[3], s[3], det = 0, u = 0, w = 0, t = 0;
        if (m->part[k] == b->skip_a || m->part[k] == b->skip_b)
            continue;
        for (int i = 0; i < 3; i++) {
            e1[i] = v[1][i] - v[0][i];
            e2[i] = v[2][i] - v[0][i];
            s[i] = b->origin[i] - v[0][i];
        }
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            p[i] = d[j] * e2[l] - d[l] * e2[j];
            q[i] = s[j] * e1[l] - s[l] * e1[j];
        }
        for (int i = 0; i < 3; i++) {
            det += e1[i] * p[i];
            u += s[i] * p[i];
            w += d[i] * q[i];
            t += e2[i] * q[i];
        }
        u /= det;
        w /= det;
        t /= det;
        double margin = fmin(fmin(u, w), 1 - u - w);
        /* how far a rounding of the ray moves the point: more where it is met at a low angle */
        double lengths = 0, size = 0;
        for (int i = 0; i < 3; i++) {
            lengths += d[i] * d[i];
            size += e1[i] * e1[i] + e2[i] * e2[i];
        }
        double slip = hair * sqrt(lengths) * sqrt(size) / fabs(det);
        if (!(slip < 0.1)) { /* nearly edge on: nothing is sure */
            if (margin > -2 || !(margin == margin))
                *maybe = 0;
            continue;
        }
        double along = slip * sqrt(size) / sqrt(lengths);
        if (margin > slip && t >= b->t_min + along && t <= b->t_max - along)
            *sure = fmin(*sure, t + along);
        if (margin > -slip && t >= b->t_min - along && t <= b->t_max + along)
            *maybe = fmin(*maybe, t - along);
    }
}

static void test_oracle(void **unused)
{
    mesh m;
    int sharp = 0, rays = 20000;

    (void)unused;
    state = 2;
    make_soup(&m, 1000);
    ec_bvh *bvh = built(&m, 0, false);
    ec_backend *backend = cpu(NULL);
    ec_bvh_layout *layout = laid_out(bvh, backend, EC_BVH_AUTO);
    for (int r = 0; r < rays; r++) {
        double a[3], c[3], sure, maybe, miss = 0;
        for (int i = 0; i < 3; i++) {
            a[i] = between(-6, 6);
            c[i] = between(-6, 6);
        }
        beam b = towards(a, c);
        if (r % 2)
            b.skip_a = r % 7;
        ec_bvh_hit hit = traced(ec_bvh_layout_view(layout), &b);
        oracle(&m, &b, 6e-6, &sure, &maybe);
        if (!((double)hit.t <= sure * (1 + 1e-6) && (double)hit.t >= maybe * (1 - 1e-6) - 1e-6))
            fail_msg("ray %d: hit at %.9g, the oracle has %.9g to %.9g", r, (double)hit.t, maybe,
                     sure);
        sharp += sure < INFINITY && sure - maybe < 1e-3;
        if (hit.triangle < 0)
            continue;
        for (int i = 0; i < 3; i++) { /* the weights give the point */
            const double(*v)[3] = (const double(*)[3]) & m.vertex[3 * hit.triangle];
            double p = (1 - (double)hit.u - (double)hit.v) * v[0][i] + (double)hit.u * v[1][i] +
                       (double)hit.v * v[2][i];
            miss = fmax(miss, fabs(p - (b.origin[i] + (double)hit.t * b.direction[i])));
        }
        assert_true(miss < 4e-5); /* 32 u M, M = 16, and as much along the ray */
        assert_int_not_equal(m.part[hit.triangle], b.skip_a);
    }
    assert_true(sharp > rays / 3);
    ec_bvh_layout_destroy(&layout);
    ec_backend_destroy(&backend);
    ec_bvh_destroy(&bvh);
    mesh_free(&m);
}

/* ---- no leaks ---- */

/* From inside of a closed mesh every ray hits, wherever it is aimed. */
static void check_closed(const mesh *m, int rays, const double inside[3])
{
    static const char *const levels[] = {"v1", "v3", "v4"};
    ec_bvh *bvh = built(m, 0, false);
    size_t n = (size_t)rays;
    double *memory = malloc(6 * n * sizeof *memory);
    float *t = malloc(n * sizeof *t);
    int32_t *triangle = malloc(n * sizeof *triangle);
    ec_bvh_rays in = {.origin = {memory, memory + n, memory + 2 * n},
                      .direction = {memory + 3 * n, memory + 4 * n, memory + 5 * n}};

    assert_true(memory && t && triangle);
    for (size_t r = 0; r < n; r++) {
        int32_t k = (int32_t)(m->n * uniform());
        double s = uniform(), p[3];
        barycentric(m, k, r % 4 == 0 ? 0 : r % 4 == 1 ? 0.5 : s, r % 4 == 3 ? 1 - s : 0, p);
        for (size_t i = 0; i < 3; i++) {
            double from = r % 3 ? inside[i] * between(-1, 1) : 0; /* the middle: many zeros */
            memory[i * n + r] = from;
            memory[(3 + i) * n + r] = p[i] - from;
        }
    }
    for (int isa = ec_isa_detect(); isa >= 0; isa = isa ? 0 : -1) { /* the best and the least */
        ec_backend *backend = cpu(ec_isa_detect() ? levels[isa] : NULL);
        ec_bvh_layout *layout = laid_out(bvh, backend, EC_BVH_AUTO);
        const ec_bvh_hits out = {.t = t, .triangle = triangle};
        assert_int_equal(ec_bvh_closest_run(layout, &in, &out, n), EC_OK);
        for (size_t r = 0; r < n; r++)
            if (!(fabsf(t[r] - 1) < 1e-2f))
                fail_msg("ray %zu of %s hits triangle %d at %g", r, ec_isa_name(isa), triangle[r],
                         (double)t[r]);
        ec_bvh_layout_destroy(&layout);
        ec_backend_destroy(&backend);
    }
    ec_bvh_destroy(&bvh);
    free(memory);
    free(t);
    free(triangle);
}

static void test_watertight(void **unused)
{
    const double inside[3] = {0.5, 0.5, 0.5}, middle[3] = {2, 1, 0.5};
    const double low[3] = {-3, -2, -1}, high[3] = {3, 2, 1};
    mesh m;

    (void)unused;
    state = 3;
    make_ball(&m, 24, 0, 1, 1, 1);
    check_closed(&m, 500000, inside);
    mesh_free(&m);
    mesh_start(&m, 1200);
    add_box(&m, low, high, 1, 0);
    check_closed(&m, 300000, middle);
    m.n = 0;
    add_box(&m, low, high, 10, 0);
    check_closed(&m, 300000, middle);
    mesh_free(&m);
}

/* ---- odd input ---- */

static void check_small(const mesh *m)
{
    ec_bvh *bvh = built(m, 2, false);
    ec_backend *backend = cpu(NULL);

    for (int i = 0; i < EC_BVH_LAYOUTS; i++) {
        ec_bvh_layout *layout = laid_out(bvh, backend, i);
        for (int r = 0; r < 300; r++) {
            double a[3] = {between(-3, 3), between(-3, 3), between(-3, 3)};
            double b[3] = {between(-1, 1), between(-1, 1), r % 2 ? 0 : between(-1, 1)};
            beam ray = m->n && r % 3 ? towards(a, m->vertex[(r * 7) % (3 * m->n)]) : towards(a, b);
            ec_bvh_hit got = traced(ec_bvh_layout_view(layout), &ray);
            ec_bvh_hit want = expected(bvh, ec_bvh_layout_view(layout), &ray);
            assert_true(same(&got, &want));
        }
        ec_bvh_layout_destroy(&layout);
    }
    ec_backend_destroy(&backend);
    ec_bvh_destroy(&bvh);
}

static void test_small(void **unused)
{
    const double o[3] = {0, 0, 0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    mesh m;

    (void)unused;
    state = 4;
    mesh_start(&m, 6000);
    check_small(&m); /* nothing */
    add(&m, o, x, y, 0);
    check_small(&m);
    for (int i = 0; i < 3000; i++) /* copies of one triangle: the lowest number is hit */
        add(&m, o, x, y, 0);
    check_small(&m);
    m.n = 0;
    for (int i = 0; i < 3000; i++) /* all in a point */
        add(&m, x, x, x, 0);
    check_small(&m);
    m.n = 0;
    for (int i = 0; i < 300; i++) /* around one middle, each half as large as the last */
        for (int k = 0; k < 2; k++) {
            double s = ldexp(1, -i / 3);
            const double a[3] = {-s, -s, 0}, b[3] = {s, -s, 0}, c[3] = {0, 2 * s, 0};
            add(&m, a, b, c, 0);
        }
    check_small(&m);
    m.n = 0;
    for (int i = 0; i < 2000; i++) { /* in a row, each twice as far as the last: a deep tree */
        double s = ldexp(1, -(i % 140));
        const double a[3] = {s, 0, 0}, b[3] = {s, 1e-9, 0}, c[3] = {s, 0, 1e-9};
        add(&m, a, b, c, 0);
    }
    check_small(&m);
    m.n = 0;
    for (int i = 0; i < 5000; i++) { /* coplanar, overlapping */
        double s = uniform(), t = uniform();
        const double a[3] = {s, t, 0}, b[3] = {s + uniform(), t, 0}, c[3] = {s, t + uniform(), 0};
        add(&m, a, b, c, 0);
    }
    check_small(&m);
    mesh_free(&m);
}

static void test_bad_rays(void **unused)
{
    mesh m;

    (void)unused;
    make_ball(&m, 4, 0, 1, 1, 1);
    ec_bvh *bvh = built(&m, 1, false);
    ec_backend *backend = cpu(NULL);
    for (int i = 0; i < EC_BVH_LAYOUTS; i++) {
        ec_bvh_layout *layout = laid_out(bvh, backend, i);
        const double from[3] = {0.1, 0.2, 0.3}, to[3] = {1, 2, 3};
        const double bad[] = {NAN, INFINITY, -INFINITY};
        const beam good = towards(from, to);
        assert_true(traced(ec_bvh_layout_view(layout), &good).triangle >= 0);
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++) {
                beam b = good;
                b.origin[axis] = bad[k];
                assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
                b = good;
                b.direction[axis] = bad[k];
                assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
            }
        beam b = good;
        b.t_min = NAN;
        assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
        b = good;
        b.t_max = NAN;
        assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
        b = good;
        b.t_min = 2;
        b.t_max = 1;
        assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
        b = towards(from, from); /* no direction */
        assert_int_equal(traced(ec_bvh_layout_view(layout), &b).triangle, -1);
        ec_bvh_layout_destroy(&layout);
    }
    ec_backend_destroy(&backend);
    ec_bvh_destroy(&bvh);
    mesh_free(&m);
}

static void refused(ec_bvh_info info, const char *sentence)
{
    ec_bvh *bvh = NULL;

    assert_int_equal(ec_bvh_build(&info, &bvh), EC_ERR_ARGUMENT);
    assert_null(bvh);
    if (!strstr(ec_error_text(), sentence))
        fail_msg("'%s' is not in '%s'", sentence, ec_error_text());
}

static void test_bad_meshes(void **unused)
{
    double vertex[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int32_t triangle[1][3] = {{0, 1, 2}};
    ec_bvh_info info = {.n_vertices = 3,
                        .vertex = (const double(*)[3])vertex,
                        .n_triangles = 1,
                        .triangle = (const int32_t(*)[3])triangle};

    (void)unused;
    triangle[0][1] = 3;
    refused(info, "triangle 0 has vertex 3: allowed are 0 to 2");
    triangle[0][1] = -1;
    refused(info, "triangle 0 has vertex -1");
    triangle[0][1] = 1;
    vertex[1][2] = NAN;
    refused(info, "vertex 1 has a coordinate nan");
    vertex[1][2] = 1e13;
    refused(info, "vertex 1 has a coordinate 1e+13");
    vertex[1][2] = 0;
    info.n_triangles = -1;
    refused(info, "-1 triangles");
    const int stop = 1;
    ec_bvh *bvh = NULL;
    info.n_triangles = 1;
    info.stop = &stop;
    assert_int_equal(ec_bvh_build(&info, &bvh), EC_STOPPED);
    assert_null(bvh);
}

/* ---- invariance ---- */

static void test_threads(void **unused)
{
    mesh m;

    (void)unused;
    state = 5;
    make_soup(&m, 20000);
    ec_bvh *one = built(&m, 1, false);
    for (int threads = 2; threads < 6; threads += 3) {
        ec_bvh *more = built(&m, threads, false);
        assert_int_equal(more->n_nodes, one->n_nodes);
        assert_memory_equal(more->node, one->node, (size_t)one->n_nodes * sizeof *one->node);
        ec_bvh_destroy(&more);
    }
    const ec_bvh_stats *s = ec_bvh_get_stats(one);
    ec_bvh *objects = built(&m, 1, true);
    assert_true(s->references > 20000 && s->references <= 30008);
    assert_int_equal(ec_bvh_get_stats(objects)->references, 20000);
    assert_true(s->sah_cost < 0.9 * ec_bvh_get_stats(objects)->sah_cost);
    ec_bvh_destroy(&objects);
    ec_bvh_destroy(&one);
    mesh_free(&m);
}

static void test_translation(void **unused)
{
    const double shift[3] = {4e5, -3e6, 7e4};
    mesh m;
    int apart = 0;

    (void)unused;
    state = 6;
    make_ball(&m, 20, 0.2, 1, 2, 3);
    ec_bvh *here = built(&m, 0, false);
    for (int32_t i = 0; i < 3 * m.n; i++)
        for (int k = 0; k < 3; k++)
            m.vertex[i][k] += shift[k];
    ec_bvh *there = built(&m, 0, false);
    ec_backend *backend = cpu(NULL);
    ec_bvh_layout *a = laid_out(here, backend, EC_BVH_AUTO);
    ec_bvh_layout *b = laid_out(there, backend, EC_BVH_AUTO);
    for (int r = 0; r < 20000; r++) {
        const double from[3] = {between(-4, 4), between(-4, 4), between(-4, 4)};
        const double to[3] = {between(-1, 1), between(-2, 2), between(-3, 3)};
        beam ray = towards(from, to);
        ec_bvh_hit first = traced(ec_bvh_layout_view(a), &ray);
        for (int k = 0; k < 3; k++)
            ray.origin[k] += shift[k];
        ec_bvh_hit second = traced(ec_bvh_layout_view(b), &ray);
        apart += !(first.triangle == second.triangle
                       ? fabsf(first.t - second.t) < 2e-5f || first.triangle < 0
                       : false);
    }
    assert_in_range(apart, 0, 20); /* rays that meet an edge or graze */
    ec_bvh_layout_destroy(&a);
    ec_bvh_layout_destroy(&b);
    ec_backend_destroy(&backend);
    ec_bvh_destroy(&here);
    ec_bvh_destroy(&there);
    mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),    cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_watertight), cmocka_unit_test(test_small),
        cmocka_unit_test(test_bad_rays),   cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_translation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
