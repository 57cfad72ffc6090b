/* test_array_elements.c: arrays of elements with fields of their own, against a long double direct
 * sum whose elements are the textbook's formulas (Balanis, "Antenna Theory", 4.2, 4.6; Ludwig's
 * third definition in its angles), and against directivities with closed answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern.h"
#include "core/executor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const long double PI_L = 3.141592653589793238462643383279503L;

enum { MOST = 40 };

/* ---- one design ---- */

typedef struct bench {
    ec_backend *backend;
    ec_graph *graph;
    ec_array_config config;
    ec_array_inputs in;
    ec_call *call;
    double *axis[2];
    int32_t n;
    double x[MOST], y[MOST], z[MOST], amplitude[MOST], phase[MOST]; /* in wavelengths */
    double genes[8 * MOST];
    size_t n_genes;
} bench;

static void bench_open(bench *b, int32_t n)
{
    ec_backend_info info = {.name = "cpu", .threads = 2};

    memset(b, 0, sizeof *b);
    assert_int_equal(ec_backend_create(&info, &b->backend), EC_OK);
    assert_int_equal(ec_graph_create(&b->graph), EC_OK);
    ec_array_config_default(&b->config);
    b->config.elements = b->n = n;
    for (int32_t i = 0; i < n; i++)
        b->amplitude[i] = 1.0;
}

static void bench_close(bench *b)
{
    free(b->axis[0]);
    free(b->axis[1]);
    ec_graph_destroy(&b->graph);
    ec_backend_destroy(&b->backend);
}

static void set_axis(bench *b, int which, double from, double to, int32_t n)
{
    double *a = malloc((size_t)n * sizeof *a);

    assert_non_null(a);
    for (int32_t i = 0; i < n; i++)
        a[i] = from + (to - from) * i / (n - 1);
    b->axis[which] = a;
    if (which == 0) {
        b->config.a = a;
        b->config.na = n;
    } else {
        b->config.b = a;
        b->config.nb = n;
    }
}

static ec_expr variable(bench *b, const double *value, int32_t n, double width)
{
    double lo[MOST], hi[MOST];

    for (int32_t i = 0; i < n; i++) {
        b->genes[b->n_genes + (size_t)i] = value[i];
        lo[i] = value[i] - width;
        hi[i] = value[i] + width;
    }
    ec_expr e = ec_graph_variable(b->graph, false, (int32_t)b->n_genes, n, lo, hi);
    b->n_genes += (size_t)n;
    return e;
}

/* width 0: constants. */
static int try_call(bench *b, double width)
{
    const double *value[5] = {b->x, b->y, b->z, b->amplitude, b->phase};
    ec_expr in[5];

    for (int k = 0; k < 5; k++)
        in[k] = width > 0 ? variable(b, value[k], b->n, width)
                          : ec_graph_constant(b->graph, 1, &b->n, value[k]);
    ec_expr none = EC_ARRAY_ABSENT;
    b->in = (ec_array_inputs){in[0], in[1], in[2], in[3], in[4], ec_graph_number(b->graph, 1.0),
                              none,  none,  none};
    return ec_array_call(b->graph, &b->config, &b->in, &b->call);
}

static void make_call(bench *b, double width)
{
    if (try_call(b, width) < 0)
        fail_msg("%s", ec_error_text());
}

static void values_of(bench *b, ec_expr e, ec_fidelity fidelity, double *to)
{
    double *out[1] = {to};
    uint8_t status = 0;

    if (e < 0 || ec_evaluate_once(b->graph, b->backend, fidelity, 1, &e, b->genes, b->n_genes, NULL,
                                  0, out, &status, NULL) < 0)
        fail_msg("%s", ec_error_text());
    assert_int_equal(status, 0);
}

static double value_of(bench *b, ec_expr e, ec_fidelity fidelity)
{
    double value = 0;

    values_of(b, e, fidelity, &value);
    return value;
}

static void near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s is %.10g, expected %.10g within %g", what, got, want, tolerance);
}

/* ---- the textbook ---- */

/* An element of its own: which formula, where it looks. */
typedef struct oracle {
    int kind; /* ec_element_kind; dipoles along `axis` */
    long double q, axis[3];
    long double x[3], z[3]; /* own x and normal; y = z x x */
} oracle;

/* Of theta and phi. */
typedef struct direction {
    long double st, ct, sp, cp;
} direction;

static direction towards(long double theta, long double phi)
{
    direction d;

    sincosl(theta, &d.st, &d.ct);
    sincosl(phi, &d.sp, &d.cp);
    return d;
}

/* E_theta and E_phi (complex only by the array's phases) in a direction. */
static void textbook(const oracle *o, const direction *d, long double e[2])
{
    const long double st = d->st, ct = d->ct, sp = d->sp, cp = d->cp;
    long double r[3] = {st * cp, st * sp, ct};
    long double th[3] = {ct * cp, ct * sp, -st}, ph[3] = {-sp, cp, 0}, field[3] = {0, 0, 0};

    if (o->kind >= (int)EC_ELEMENT_KIND_SHORT_DIPOLE) {
        /* |E| along the unit vector of growing angle from the axis */
        long double c = o->axis[0] * r[0] + o->axis[1] * r[1] + o->axis[2] * r[2];
        long double s = sqrtl(fmaxl(0, 1 - c * c));
        if (s > 1e-12L) {
            long double size =
                o->kind == (int)EC_ELEMENT_KIND_SHORT_DIPOLE ? s : cosl(PI_L / 2 * c) / s;
            for (int i = 0; i < 3; i++)
                field[i] = size * (c * r[i] - o->axis[i]) / s;
        }
    } else { /* E_theta' = cos phi', E_phi' = -sin phi' in its own angles */
        const long double *x = o->x, *z = o->z;
        long double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2],
                            z[0] * x[1] - z[1] * x[0]};
        long double own[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            own[0] += x[i] * r[i];
            own[1] += y[i] * r[i];
            own[2] += z[i] * r[i];
        }
        long double s = hypotl(own[0], own[1]), c = own[2]; /* of theta' */
        long double sin_p = s > 0 ? own[1] / s : 0, cos_p = s > 0 ? own[0] / s : 1;
        long double size = c > 1e-12L ? powl(c, o->q) : 0;
        long double et = size * cos_p, ep = -size * sin_p;
        for (int i = 0; i < 3; i++)
            field[i] = et * (c * cos_p * x[i] + c * sin_p * y[i] - s * z[i]) +
                       ep * (-sin_p * x[i] + cos_p * y[i]);
    }
    e[0] = e[1] = 0;
    for (int i = 0; i < 3; i++) {
        e[0] += th[i] * field[i];
        e[1] += ph[i] * field[i];
    }
}

/* Sum of the elements; F[0], F[1]: re and im of the chosen part, F[2]: its power. */
static void plain_sum(const bench *b, const oracle *element, int n_oracles, double theta,
                      double phi, long double F[3])
{
    const direction d = towards(theta, phi);
    long double s, c, u = d.st * d.cp, v = d.st * d.sp, w = d.ct, sum[2][2] = {{0}};
    sincosl((long double)phi - b->config.copolar, &s, &c);

    for (int32_t m = 0; m < b->n; m++) {
        long double turn = b->x[m] * u + b->y[m] * v + b->z[m] * (w - 1), e[2]; /* steered to z */
        long double angle = 2 * PI_L * (turn - rintl(turn)) + b->phase[m];
        long double re, im;
        sincosl(angle, &im, &re);
        textbook(&element[n_oracles > 1 ? m : 0], &d, e);
        for (int k = 0; k < 2; k++) {
            sum[k][0] += b->amplitude[m] * e[k] * re;
            sum[k][1] += b->amplitude[m] * e[k] * im;
        }
    }
    long double part[5][2]; /* of theta and phi */
    part[EC_POLARIZATION_CO][0] = c, part[EC_POLARIZATION_CO][1] = -s;
    part[EC_POLARIZATION_CROSS][0] = s, part[EC_POLARIZATION_CROSS][1] = c;
    part[EC_POLARIZATION_THETA][0] = 1, part[EC_POLARIZATION_THETA][1] = 0;
    part[EC_POLARIZATION_PHI][0] = 0, part[EC_POLARIZATION_PHI][1] = 1;
    if (b->config.polarization == EC_POLARIZATION_TOTAL) {
        F[0] = F[1] = 0;
        F[2] = sum[0][0] * sum[0][0] + sum[0][1] * sum[0][1] + sum[1][0] * sum[1][0] +
               sum[1][1] * sum[1][1];
        return;
    }
    const long double *p = part[b->config.polarization];
    F[0] = p[0] * sum[0][0] + p[1] * sum[1][0];
    F[1] = p[0] * sum[0][1] + p[1] * sum[1][1];
    F[2] = F[0] * F[0] + F[1] * F[1];
}

static double draw(double lo, double hi)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

static void scatter(bench *b, double wide, double deep)
{
    for (int32_t i = 0; i < b->n; i++) {
        b->x[i] = draw(-wide, wide);
        b->y[i] = draw(-wide, wide);
        b->z[i] = draw(-deep, deep);
        b->amplitude[i] = draw(0.5, 1.0);
        b->phase[i] = draw(-1.0, 1.0);
    }
}

/* ---- one element for all ---- */

typedef struct common_case {
    const char *name;
    ec_element_kind kind;
    double q, axis[3], normal[3], rotation;
} common_case;

static const common_case commons[] = {
    {"cosq", EC_ELEMENT_KIND_COSQ, 1.3, {1, 0, 0}, {0, 0, 1}, 0},
    {"cosq turned away", EC_ELEMENT_KIND_COSQ, 0.8, {1, 0, 0}, {0.4, -0.3, 0.8}, 0.7},
    {"hemispheric, tilted", EC_ELEMENT_KIND_HEMISPHERIC, 0, {1, 0, 0}, {0.2, 0.1, 1}, 0},
    {"short dipole along x", EC_ELEMENT_KIND_SHORT_DIPOLE, 0, {1, 0, 0}, {0, 0, 1}, 0},
    {"short dipole askew", EC_ELEMENT_KIND_SHORT_DIPOLE, 0, {1, -2, 0.5}, {0, 0, 1}, 0},
    {"half-wave dipole along z", EC_ELEMENT_KIND_HALF_WAVE, 0, {0, 0, 1}, {0, 0, 1}, 0},
    {"half-wave dipole, turned", EC_ELEMENT_KIND_HALF_WAVE, 0, {0, 1, 0}, {0.3, 0.2, 0.9}, 0.5},
};

static void set_common(bench *b, const common_case *c, oracle *o)
{
    ec_element_pattern pattern;
    ec_element_frame frame;

    assert_int_equal(ec_element_pattern_init(c->kind, c->q, c->axis, &pattern), EC_OK);
    assert_int_equal(ec_element_frame_of(c->normal, c->rotation, &frame), EC_OK);
    b->config.element = pattern;
    b->config.frame = frame;
    /* the frame, written by Rodrigues' rotation of z to the normal */
    long double n[3], length = 0, x[3] = {cosl(c->rotation), sinl(c->rotation), 0}, a[3] = {0};
    for (int i = 0; i < 3; i++)
        length += (long double)c->normal[i] * c->normal[i];
    for (int i = 0; i < 3; i++)
        n[i] = c->normal[i] / sqrtl(length);
    long double k[3] = {-n[1], n[0], 0}, sine = hypotl(n[0], n[1]), cosine = n[2];
    *o = (oracle){.kind = (int)c->kind, .q = c->q};
    for (int what = 0; what < 2; what++) { /* x, then the axis */
        long double v[3] = {x[0], x[1], x[2]}, along = 0, unit[3];
        if (what) {
            long double size =
                sqrtl(c->axis[0] * c->axis[0] + c->axis[1] * c->axis[1] + c->axis[2] * c->axis[2]);
            v[0] = (c->axis[0] * x[0] - c->axis[1] * x[1]) / size;
            v[1] = (c->axis[0] * x[1] + c->axis[1] * x[0]) / size;
            v[2] = c->axis[2] / size;
        }
        for (int i = 0; i < 3; i++) {
            unit[i] = sine > 0 ? k[i] / sine : 0;
            along += unit[i] * v[i];
        }
        long double across[3] = {unit[1] * v[2] - unit[2] * v[1], unit[2] * v[0] - unit[0] * v[2],
                                 unit[0] * v[1] - unit[1] * v[0]};
        for (int i = 0; i < 3; i++)
            a[i] =
                sine > 0 ? v[i] * cosine + across[i] * sine + unit[i] * along * (1 - cosine) : v[i];
        memcpy(what ? o->axis : o->x, a, sizeof a);
    }
    memcpy(o->z, n, sizeof n);
}

/* Levels in listed directions, and the complex pattern, of every element in every polarization. */
static void common_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof commons / sizeof *commons; i++)
        for (int polarization = 0; polarization < 5; polarization++) {
            enum { NA = 12, NB = 16 };
            double got[2 * NA * NB], level[NA * NB];
            double theta[NA * NB], phi[NA * NB];
            bench b;
            oracle o;
            bench_open(&b, 9);
            scatter(&b, 1.5, 0.4);
            set_common(&b, &commons[i], &o);
            b.config.polarization = (ec_array_polarization)polarization;
            b.config.copolar = 0.3;
            b.config.kind = EC_ARRAY_GRID_THETA_PHI;
            set_axis(&b, 0, 0.05, 3.0, NA);
            set_axis(&b, 1, -1.0, 4.0, NB);
            make_call(&b, 0);
            values_of(&b, ec_array_pattern(b.graph, b.call), EC_FINAL, got);
            for (int k = 0; k < NA * NB; k++) {
                theta[k] = b.config.a[k / NB];
                phi[k] = b.config.b[k % NB];
            }
            values_of(&b, ec_array_level_db(b.graph, b.call, NULL, false, NA * NB, theta, phi),
                      EC_FINAL, level);
            for (int k = 0; k < NA * NB; k++) {
                long double F[3];
                plain_sum(&b, &o, 1, theta[k], phi[k], F);
                near(commons[i].name, hypot(got[2 * k], got[2 * k + 1]), (double)sqrtl(F[2]),
                     1e-12 * b.n);
                if (polarization) {
                    near("real part", got[2 * k], (double)F[0], 1e-12 * b.n);
                    near("imaginary part", got[2 * k + 1], (double)F[1], 1e-12 * b.n);
                }
                if (F[2] > 1e-12L)
                    near("level", level[k], (double)(10 * log10l(F[2])), 1e-6);
            }
            bench_close(&b);
        }
}

/* The highest side lobe of a cut by a fine direct search: samples of the plain sum and a parabola
 * through the best three. */
static double fine_sll(const bench *b, const oracle *o, int n_oracles, double edge)
{
    const int count = 40000;
    long double in = 0, out = 0, *p = malloc((size_t)(count + 1) * sizeof *p), F[3];

    assert_non_null(p);
    for (int i = 0; i <= count; i++) {
        double t = b->config.a[0] + (b->config.a[b->config.na - 1] - b->config.a[0]) * i / count;
        plain_sum(b, o, n_oracles, fabs(t), t < 0 ? b->config.fixed + EC_PI : b->config.fixed, F);
        p[i] = F[2];
    }
    for (int side = -1; side <= 1; side += 2) { /* the skirts */
        plain_sum(b, o, n_oracles, edge, side < 0 ? b->config.fixed + EC_PI : b->config.fixed, F);
        out = fmaxl(out, F[2]);
    }
    for (int i = 0; i <= count; i++) {
        double t = b->config.a[0] + (b->config.a[b->config.na - 1] - b->config.a[0]) * i / count;
        long double top = p[i];
        if (i > 0 && i < count && p[i] >= p[i - 1] && p[i] >= p[i + 1]) {
            long double slope = (p[i + 1] - p[i - 1]) / 2, bend = p[i + 1] - 2 * p[i] + p[i - 1];
            top += bend < 0 ? -slope * slope / (2 * bend) : 0;
        }
        if (fabs(t) <= edge)
            in = fmaxl(in, top);
        else
            out = fmaxl(out, top);
    }
    free(p);
    return (double)(10 * log10l(out / in));
}

/* Refined peaks of final fidelity and interpolated ones of the search. */
static void common_side_lobes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof commons / sizeof *commons; i++)
        for (int polarization = 0; polarization < 4; polarization++) {
            bench b;
            oracle o;
            ec_array_beam beam;
            if (polarization == EC_POLARIZATION_CROSS) /* its peak may be anywhere */
                continue;
            bench_open(&b, 14);
            for (int32_t k = 0; k < b.n; k++) {
                b.x[k] = 0.6 * (k - 6.5) + draw(-0.1, 0.1);
                b.y[k] = draw(-0.3, 0.3);
                b.z[k] = draw(-0.2, 0.2);
            }
            set_common(&b, &commons[i], &o);
            b.config.polarization = (ec_array_polarization)polarization;
            b.config.kind = EC_ARRAY_CUT_THETA;
            b.config.fixed = 0.2;
            set_axis(&b, 0, -1.5, 1.5, 1501);
            make_call(&b, 0);
            ec_array_beam_default(&beam);
            beam.look_a = 0.0;
            beam.exclude_a = 0.3;
            ec_expr sll = ec_array_sll_db(b.graph, b.call, &beam);
            long double F[3];
            plain_sum(&b, &o, 1, 0.01, 0.2, F);
            if (F[2] > 1) { /* dipoles along z have no beam there */
                double want = fine_sll(&b, &o, 1, 0.3);
                near(commons[i].name, value_of(&b, sll, EC_FINAL), want, 1e-6);
                near(commons[i].name, value_of(&b, sll, EC_SEARCH), want, 2e-3);
            }
            bench_close(&b);
        }
}

/* Every row path gives the pattern of the direct sum, also where the element has no symmetry. */
static void common_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof commons / sizeof *commons; i++) {
        double got[3];
        for (int method = 0; method < 3; method++) {
            bench b;
            oracle o;
            bench_open(&b, 20);
            for (int32_t k = 0; k < b.n; k++) {
                b.x[k] = 0.5 * (k % 5) + 0.02 * k;
                b.y[k] = 0.5 * (k / 5) - 0.03 * k;
            }
            set_common(&b, &commons[i], &o);
            b.config.kind = EC_ARRAY_GRID_UV;
            b.config.method = method == 0   ? EC_METHOD_DIRECT
                              : method == 1 ? EC_METHOD_PRODUCT
                                            : EC_METHOD_NUFFT;
            b.config.tolerance = method == 2 ? 1e-6 : 0;
            set_axis(&b, 0, -1, 1, 80);
            set_axis(&b, 1, -1, 1, 80);
            make_call(&b, 0);
            ec_array_mask_line all = {0, 3, {0, 0}, {-(double)INFINITY, -(double)INFINITY}};
            ec_array_mask_line far = {0.7, 3, {0, 0}, {-(double)INFINITY, -(double)INFINITY}};
            got[method] =
                value_of(&b,
                         ec_graph_binary(b.graph, EC_OP_SUB,
                                         ec_array_excess_db(b.graph, b.call, NULL, false, 1, &far),
                                         ec_array_excess_db(b.graph, b.call, NULL, false, 1, &all)),
                         EC_SEARCH);
            bench_close(&b);
        }
        near(commons[i].name, got[1], got[0], 1e-3);
        near(commons[i].name, got[2], got[0], 1e-3);
    }
}

/* ---- directivity ---- */

typedef struct single_case {
    const char *name;
    ec_element_kind kind;
    double q, axis[3], normal[3], want;
} single_case;

static double directivity_of(bench *b, double theta, double phi)
{
    ec_array_beam beam;

    b->config.kind = EC_ARRAY_GRID_THETA_PHI;
    set_axis(b, 0, 0, EC_PI, 7);
    set_axis(b, 1, 0, 6, 7);
    make_call(b, 0);
    ec_array_beam_default(&beam);
    beam.look_a = theta;
    beam.look_b = phi;
    return value_of(b, ec_array_directivity_db(b->graph, b->call, &beam), EC_FINAL);
}

/* Balanis: short dipole 1.5, half-wave dipole 1.640922; cos^q: 2 (2q + 1), whatever it is turned
 * to. */
static void directivity_of_one(void **state)
{
    static const single_case list[] = {
        {"short dipole", EC_ELEMENT_KIND_SHORT_DIPOLE, 0, {1, 0, 0}, {0, 0, 1}, 1.760913},
        {"half-wave dipole", EC_ELEMENT_KIND_HALF_WAVE, 0, {0, 1, 0}, {0, 0, 1}, 2.150874},
        {"half-wave dipole, tilted",
         EC_ELEMENT_KIND_HALF_WAVE,
         0,
         {1, 1, 0},
         {0, 0.6, 0.8},
         2.150874},
        {"cosq", EC_ELEMENT_KIND_COSQ, 1.5, {1, 0, 0}, {0, 0, 1}, 9.030900},
        {"cosq, tilted", EC_ELEMENT_KIND_COSQ, 1.5, {1, 0, 0}, {0.6, 0, 0.8}, 9.030900},
        {"cosq, backwards", EC_ELEMENT_KIND_COSQ, 1, {1, 0, 0}, {0, 0, -1}, 7.781513},
        {"hemispheric", EC_ELEMENT_KIND_HEMISPHERIC, 0, {1, 0, 0}, {0, 0, 1}, 3.0103},
        {"hemispheric, tilted", EC_ELEMENT_KIND_HEMISPHERIC, 0, {1, 0, 0}, {0, 0.6, 0.8}, 3.0103},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const single_case *c = &list[i];
        common_case as = {c->name,
                          c->kind,
                          c->q,
                          {c->axis[0], c->axis[1], c->axis[2]},
                          {c->normal[0], c->normal[1], c->normal[2]},
                          0};
        bench b;
        oracle o;
        bench_open(&b, 1);
        b.x[0] = 0.7;
        set_common(&b, &as, &o);
        double theta = atan2(hypot(c->normal[0], c->normal[1]), c->normal[2]);
        double phi = c->normal[0] == 0 && c->normal[1] == 0 ? 0 : atan2(c->normal[1], c->normal[0]);
        near(c->name, directivity_of(&b, theta, phi), c->want, 2e-5);
        bench_close(&b);
    }
}

/* Two isotropic elements close together whose difference has its null at the back: a cardioid,
 * (1 + cos)^2, D = 3. */
static void cardioid(void **state)
{
    const double d = 1e-3;
    bench b;

    (void)state;
    bench_open(&b, 2);
    b.x[1] = d;
    b.phase[1] = EC_PI + 2 * EC_PI * d;
    near("cardioid", directivity_of(&b, EC_PI / 2, 0), 4.771213, 1e-4);
    bench_close(&b);
}

/* Any array's directivity against a midpoint rule over the plain sum: the power is that of both
 * polarizations, the numerator that of one. */
static void directivity_of_arrays(void **state)
{
    const int np = 96;

    (void)state;
    for (size_t i = 0; i < sizeof commons / sizeof *commons; i++)
        for (int half = 0; half < 2; half++) {
            bool turned =
                commons[i].normal[0] != 0 && commons[i].kind < EC_ELEMENT_KIND_SHORT_DIPOLE;
            const int nt = half ? 1000 : 2000;
            long double sum = 0, F[3];
            bench b;
            oracle o;
            if (half && turned)
                continue;
            bench_open(&b, 4);
            scatter(&b, 0.6, 0.3);
            set_common(&b, &commons[i], &o);
            for (int k = 0; k < nt; k++)
                for (int l = 0; l < np; l++) {
                    double w = half ? (k + 0.5) / nt : 2 * (k + 0.5) / nt - 1;
                    plain_sum(&b, &o, 1, acos(w), 2 * EC_PI * (l + 0.5) / np, F);
                    sum += F[2] / ((half ? 2.0L : 1.0L) * nt * np);
                }
            bench plain = b;
            bench_close(&b);
            for (int polarization = 0; polarization < 3; polarization++) {
                bench_open(&b, 4);
                memcpy(b.x, plain.x, sizeof b.x);
                memcpy(b.y, plain.y, sizeof b.y);
                memcpy(b.z, plain.z, sizeof b.z);
                memcpy(b.amplitude, plain.amplitude, sizeof b.amplitude);
                memcpy(b.phase, plain.phase, sizeof b.phase);
                set_common(&b, &commons[i], &o);
                b.config.polarization = (ec_array_polarization)polarization;
                b.config.integrate = half ? EC_INTEGRATE_HEMISPHERE : EC_INTEGRATE_SPHERE;
                plain_sum(&b, &o, 1, 0.5, 0.4, F);
                double got = F[2] > 1e-20L ? directivity_of(&b, 0.5, 0.4) : (double)NAN;
                /* a tilted horizon costs the midpoint rule its order */
                bool step = turned && commons[i].kind == EC_ELEMENT_KIND_HEMISPHERIC;
                if (F[2] > 1e-20L) /* some have no cross-polar field */
                    near(commons[i].name, got, (double)(10 * log10l(F[2] / sum)),
                         step ? 0.02 : 1e-4);
                bench_close(&b);
            }
        }
}

/* ---- gradients ---- */

static void check_gradient(const char *name, bench *b, ec_expr metric, double tolerance)
{
    ec_expr with[5] = {b->in.x, b->in.y, b->in.z, b->in.amplitude, b->in.phase}, grad[5];
    double got[MOST];
    size_t gene = 0;

    if (metric < 0 || ec_graph_gradient(b->graph, metric, 5, with, grad) < 0)
        fail_msg("%s: %s", name, ec_error_text());
    for (int k = 0; k < 5; k++) {
        values_of(b, grad[k], EC_FINAL, got);
        for (int32_t i = 0; i < b->n; i++, gene++) {
            double h = 1e-5, keep = b->genes[gene], f[2];
            for (int side = 0; side < 2; side++) {
                b->genes[gene] = keep + (side ? h : -h);
                f[side] = value_of(b, metric, EC_FINAL);
            }
            b->genes[gene] = keep;
            double want = (f[1] - f[0]) / (2 * h);
            if (!(fabs(got[i] - want) <= tolerance * (1 + fabs(want))))
                fail_msg("%s: derivative over gene %zu is %.9g, by differences %.9g", name, gene,
                         got[i], want);
        }
    }
}

static void check_gradients(bench *b)
{
    double at[2] = {0.3, -0.6};
    ec_array_beam beam;

    make_call(b, 0.3);
    ec_array_beam_default(&beam);
    beam.look_a = 0.0;
    beam.exclude_a = 0.3;
    check_gradient("sll", b, ec_array_sll_db(b->graph, b->call, &beam), 2e-5);
    beam.exclude_a = (double)NAN;
    check_gradient("hpbw", b, ec_array_hpbw_deg(b->graph, b->call, &beam), 2e-5);
    check_gradient("directivity", b, ec_array_directivity_db(b->graph, b->call, &beam), 2e-5);
    ec_expr level = ec_array_level_db(b->graph, b->call, &beam, false, 2, at, NULL);
    check_gradient("level", b, ec_graph_unary(b->graph, EC_OP_SUM, level), 2e-5);
    ec_expr power = ec_graph_unary(b->graph, EC_OP_ABS2, ec_array_pattern(b->graph, b->call));
    ec_expr sum = ec_graph_unary(b->graph, EC_OP_SUM, power);
    check_gradient("pattern", b,
                   ec_graph_binary(b->graph, EC_OP_MUL, sum, ec_graph_number(b->graph, 1e-3)),
                   1e-5);
}

static void cut_of_line(bench *b)
{
    bench_open(b, 8);
    for (int32_t k = 0; k < b->n; k++) {
        b->x[k] = 0.55 * (k - 3.5) + draw(-0.1, 0.1);
        b->y[k] = draw(-0.3, 0.3);
        b->z[k] = draw(-0.2, 0.2);
        b->amplitude[k] = draw(0.6, 1.0);
        b->phase[k] = draw(-0.2, 0.2);
    }
    b->config.kind = EC_ARRAY_CUT_THETA;
    b->config.fixed = 0.2;
    set_axis(b, 0, -1.5, 1.5, 301);
}

static void gradients_of_common_elements(void **state)
{
    static const int which[] = {1, 3, 6};

    (void)state;
    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        for (int polarization = 0; polarization < 2; polarization++) {
            bench b;
            oracle o;
            cut_of_line(&b);
            set_common(&b, &commons[which[i]], &o);
            b.config.polarization = (ec_array_polarization)polarization;
            check_gradients(&b);
            bench_close(&b);
        }
}

/* ---- tables ---- */

/* A half-wave dipole along x with its field times `size`, on a table of `step` degrees. */
static void make_table(int step, double size, ec_element_pattern *table)
{
    int32_t nt = 180 / step + 1, np = 360 / step + 1;
    double *theta = malloc((size_t)nt * sizeof *theta), *phi = malloc((size_t)np * sizeof *phi);
    ec_c128 *e = calloc(2 * (size_t)nt * (size_t)np, sizeof *e);
    oracle o = {.kind = EC_ELEMENT_KIND_HALF_WAVE, .axis = {1, 0, 0}};
    ec_far_field *field = NULL;

    assert_true(theta && phi && e);
    for (int32_t i = 0; i < nt; i++)
        theta[i] = EC_PI * i / (nt - 1);
    for (int32_t k = 0; k < np; k++)
        phi[k] = 2 * EC_PI * k / (np - 1);
    for (int32_t i = 0; i < nt; i++)
        for (int32_t k = 0; k < np; k++) {
            const direction d = towards(theta[i], phi[k]);
            long double of[2];
            textbook(&o, &d, of);
            e[i * np + k].re = size * (double)of[0];
            e[(nt + i) * np + k].re = size * (double)of[1];
        }
    assert_int_equal(
        ec_far_field_create(nt, theta, np, phi, e, e + (size_t)nt * (size_t)np, 0, &field), EC_OK);
    assert_int_equal(ec_element_table_create(field, table), EC_OK);
    ec_far_field_destroy(&field);
    free(theta);
    free(phi);
    free(e);
}

/* The table's stated error for 5 degrees is 2.4e-6 of the largest field. */
static void table_and_closed_form(void **state)
{
    const double size = 40.0;
    static const common_case turned = {"table",   EC_ELEMENT_KIND_HALF_WAVE, 0,
                                       {1, 0, 0}, {0.3, 0.2, 0.9},           0.5};

    (void)state;
    for (int polarization = 0; polarization < 5; polarization++) {
        double level[2][3], sll[2][2], directivity[2], excess[2];
        double at[3] = {0.2, -0.7, 1.1};
        for (int use = 0; use < 2; use++) {
            bench b;
            oracle o;
            ec_element_pattern table = {0};
            ec_array_beam beam;
            bench_open(&b, 10);
            for (int32_t k = 0; k < b.n; k++)
                b.x[k] = 0.5 * k + 0.05 * (k % 3);
            b.config.kind = EC_ARRAY_CUT_THETA;
            b.config.fixed = 0.6;
            set_axis(&b, 0, -1.5, 1.5, 601);
            set_common(&b, &turned, &o);
            b.config.polarization = (ec_array_polarization)polarization;
            if (use) {
                make_table(5, size, &table);
                b.config.element = table;
            }
            make_call(&b, 0);
            ec_element_table_destroy(&table); /* the call has a copy */
            ec_array_beam_default(&beam);
            beam.exclude_a = 0.25;
            ec_expr side = ec_array_sll_db(b.graph, b.call, &beam);
            ec_array_mask_line all = {-2, 2, {0, 0}, {-(double)INFINITY, -(double)INFINITY}};
            values_of(&b, ec_array_level_db(b.graph, b.call, NULL, false, 3, at, NULL), EC_FINAL,
                      level[use]);
            sll[use][0] = value_of(&b, side, EC_SEARCH);
            sll[use][1] = value_of(&b, side, EC_FINAL);
            excess[use] =
                value_of(&b, ec_array_excess_db(b.graph, b.call, NULL, false, 1, &all), EC_FINAL);
            directivity[use] =
                value_of(&b, ec_array_directivity_db(b.graph, b.call, &beam), EC_FINAL);
            bench_close(&b);
        }
        double up = 20 * log10(size);
        for (int k = 0; k < 3; k++)
            near("level of a table", level[1][k], level[0][k] + up,
                 8.7 * 2.4e-6 * pow(10, (20 - fmin(20, level[0][k])) / 20));
        near("side lobes of a table, search", sll[1][0], sll[0][0], 2e-3);
        near("side lobes of a table", sll[1][1], sll[0][1], 5e-4);
        near("excess of a table", excess[1], excess[0] + up, 1e-3);
        near("directivity of a table", directivity[1], directivity[0], 5e-4);
    }
}

/* ---- elements with fields of their own ---- */

typedef struct own_case {
    const char *name;
    ec_element_kind kind;
    double q, axis[3];
} own_case;

static const own_case owns[] = {
    {"cosq on a cylinder", EC_ELEMENT_KIND_COSQ, 1.2, {1, 0, 0}},
    {"hemispheric on a cylinder", EC_ELEMENT_KIND_HEMISPHERIC, 0, {1, 0, 0}},
    {"dipoles on a cylinder", EC_ELEMENT_KIND_HALF_WAVE, 0, {0.2, 1, 0.1}},
};

/* n elements around an arc of a cylinder along y, normals outwards, each turned a little. */
static void set_cylinder(bench *b, const own_case *c, oracle *o, ec_element_frame *frames)
{
    const double radius = 1.1;

    for (int32_t m = 0; m < b->n; m++) {
        double angle = 0.25 * (m - 0.5 * (b->n - 1)), turn = 0.3 * m;
        common_case one = {c->name,
                           c->kind,
                           c->q,
                           {c->axis[0], c->axis[1], c->axis[2]},
                           {sin(angle), 0.1 * (m % 3), cos(angle)},
                           turn};
        b->x[m] = radius * sin(angle);
        b->y[m] = 0.4 * (m % 2);
        b->z[m] = radius * cos(angle);
        set_common(b, &one, &o[m]);
        frames[m] = b->config.frame;
    }
    b->config.frame = (ec_element_frame){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    b->config.frames = frames;
}

static void own_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof owns / sizeof *owns; i++)
        for (int polarization = 0; polarization < 5; polarization++) {
            enum { NA = 10, NB = 14 };
            double got[2 * NA * NB], level[NA * NB], theta[NA * NB], phi[NA * NB];
            ec_element_frame frames[MOST];
            oracle o[MOST];
            bench b;
            bench_open(&b, 11);
            set_cylinder(&b, &owns[i], o, frames);
            b.config.polarization = (ec_array_polarization)polarization;
            b.config.copolar = -0.4;
            b.config.kind = EC_ARRAY_GRID_THETA_PHI;
            set_axis(&b, 0, 0.05, 3.0, NA);
            set_axis(&b, 1, -1.0, 4.0, NB);
            make_call(&b, 0);
            memset(frames, 0, sizeof frames); /* the call has a copy */
            values_of(&b, ec_array_pattern(b.graph, b.call), EC_FINAL, got);
            for (int k = 0; k < NA * NB; k++) {
                theta[k] = b.config.a[k / NB];
                phi[k] = b.config.b[k % NB];
            }
            values_of(&b, ec_array_level_db(b.graph, b.call, NULL, false, NA * NB, theta, phi),
                      EC_FINAL, level);
            for (int k = 0; k < NA * NB; k++) {
                long double F[3];
                plain_sum(&b, o, b.n, theta[k], phi[k], F);
                if (polarization) {
                    near("real part", got[2 * k], (double)F[0], 1e-12 * b.n);
                    near("imaginary part", got[2 * k + 1], (double)F[1], 1e-12 * b.n);
                } else {
                    near(owns[i].name, got[2 * k], (double)sqrtl(F[2]), 1e-12 * b.n);
                    near("phase of a magnitude", got[2 * k + 1], 0, 0);
                }
                if (F[2] > 1e-12L)
                    near("level", level[k], (double)(10 * log10l(F[2])), 1e-6);
            }
            bench_close(&b);
        }
}

/* Side lobes at final fidelity, and in the search with stored (float32) and computed (float64)
 * fields. */
static void own_side_lobes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof owns / sizeof *owns; i++)
        for (int polarization = 0; polarization < 2; polarization++) {
            ec_element_frame frames[MOST];
            oracle o[MOST];
            ec_array_beam beam;
            double got[2], want = 0;
            for (int precision = 0; precision < 2; precision++) {
                bench b;
                bench_open(&b, 12);
                set_cylinder(&b, &owns[i], o, frames);
                b.config.polarization = (ec_array_polarization)polarization;
                b.config.copolar = 0.9;
                b.config.kind = EC_ARRAY_CUT_THETA;
                b.config.precision = precision ? EC_PRECISION_DOUBLE : EC_PRECISION_SINGLE;
                set_axis(&b, 0, -1.5, 1.5, 1501);
                make_call(&b, 0);
                ec_array_beam_default(&beam);
                beam.look_a = 0.0;
                beam.exclude_a = 0.35;
                ec_expr sll = ec_array_sll_db(b.graph, b.call, &beam);
                got[precision] = value_of(&b, sll, EC_SEARCH);
                if (!precision)
                    want = fine_sll(&b, o, b.n, 0.35);
                /* a hemispheric element's field ends in a step, which has no refined peak */
                bool steps = owns[i].kind == EC_ELEMENT_KIND_HEMISPHERIC;
                near(owns[i].name, value_of(&b, sll, EC_FINAL), want, steps ? 0.2 : 1e-6);
                near(owns[i].name, got[precision], want, steps ? 0.2 : 0.02);
                bench_close(&b);
            }
            near("stored and computed fields", got[0], got[1], 2e-4);
        }
}

static void own_directivity(void **state)
{
    const int nt = 700, np = 240;

    (void)state;
    for (size_t i = 0; i < sizeof owns / sizeof *owns; i++) {
        ec_element_frame frames[MOST];
        oracle o[MOST];
        long double sum = 0, F[3];
        bench b;
        bench_open(&b, 4);
        set_cylinder(&b, &owns[i], o, frames);
        for (int k = 0; k < nt; k++)
            for (int l = 0; l < np; l++) {
                plain_sum(&b, o, b.n, acos(2 * (k + 0.5) / nt - 1), 2 * EC_PI * (l + 0.5) / np, F);
                sum += F[2] / ((long double)nt * np);
            }
        plain_sum(&b, o, b.n, 0.2, 0.4, F);
        near(owns[i].name, directivity_of(&b, 0.2, 0.4), (double)(10 * log10l(F[2] / sum)),
             owns[i].kind == EC_ELEMENT_KIND_HEMISPHERIC ? 0.05 : 2e-3);
        bench_close(&b);
    }
}

/* Hemispheric elements whose normals differ by a degree or so: their horizons lie between the nodes of
 * any quadrature that does not look for them. */
static void directivity_of_slight_tilts(void **state)
{
    static const own_case hemispheric = {
        "hemispheric, slightly tilted", EC_ELEMENT_KIND_HEMISPHERIC, 0, {1, 0, 0}};
    const int nt = 1500, np = 400;

    (void)state;
    for (int scale = 1; scale <= 10; scale *= 10) {
        ec_element_frame frames[MOST];
        oracle o[MOST];
        long double sum = 0, F[3];
        bench b;
        bench_open(&b, 4);
        for (int32_t m = 0; m < b.n; m++) {
            common_case one = {hemispheric.name,
                               hemispheric.kind,
                               0,
                               {1, 0, 0},
                               {0.006 * scale * cos(2.1 * m), 0.004 * scale * sin(1.7 * m), 1},
                               0};
            b.x[m] = 0.5 * (m % 2);
            b.y[m] = 0.5 * (double)(m / 2);
            set_common(&b, &one, &o[m]);
            frames[m] = b.config.frame;
        }
        b.config.frame = (ec_element_frame){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        b.config.frames = frames;
        for (int k = 0; k < nt; k++)
            for (int l = 0; l < np; l++) {
                plain_sum(&b, o, b.n, acos(2 * (k + 0.5) / nt - 1), 2 * EC_PI * (l + 0.5) / np, F);
                sum += F[2] / ((long double)nt * np);
            }
        plain_sum(&b, o, b.n, 0.0, 0.0, F);
        near(hemispheric.name, directivity_of(&b, 0.0, 0.0), (double)(10 * log10l(F[2] / sum)),
             5e-3);
        bench_close(&b);
    }
}

/* Theta and phi components at a pole are those along the look direction's own phi, as on the theta
 * cut of that phi. */
static void components_at_a_pole(void **state)
{
    static const double phi[] = {0, 0.25, 0.5 * EC_PI, 2.2, -1.0};

    (void)state;
    for (size_t i = 0; i < sizeof phi / sizeof *phi; i++)
        for (int surface = 0; surface < 2; surface++) {
            double value[2];
            for (int k = 0; k < 2; k++) {
                oracle o;
                bench b;
                common_case c = {"cosq", EC_ELEMENT_KIND_COSQ, 1, {1, 0, 0}, {0, 0, 1}, 0.4};
                bench_open(&b, 6);
                set_common(&b, &c, &o);
                b.config.polarization = k ? EC_POLARIZATION_PHI : EC_POLARIZATION_THETA;
                b.config.kind = surface ? EC_ARRAY_GRID_THETA_PHI : EC_ARRAY_CUT_THETA;
                b.config.fixed = phi[i];
                set_axis(&b, 0, surface ? 0.0 : -1.0, 1.0, 101);
                set_axis(&b, 1, -3.0, 3.0, 61);
                b.config.nb = surface ? b.config.nb : 0;
                make_call(&b, 0);
                ec_array_beam beam;
                ec_array_beam_default(&beam);
                beam.look_a = 0.0;
                beam.look_b = surface ? phi[i] : (double)NAN;
                value[k] = value_of(&b, ec_array_directivity_db(b.graph, b.call, &beam), EC_FINAL);
                bench_close(&b);
            }
            /* the element's x is turned by 0.4 */
            near("theta over phi at a pole", value[0] - value[1],
                 20 * log10(fabs(cos(phi[i] - 0.4) / sin(phi[i] - 0.4))), 1e-6);
        }
}

static void own_gradients(void **state)
{
    static const int which[] = {0, 2};

    (void)state;
    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        for (int polarization = 0; polarization < 2; polarization++) {
            ec_element_frame frames[MOST];
            oracle o[MOST];
            bench b;
            cut_of_line(&b);
            bench shape = b;
            set_cylinder(&b, &owns[which[i]], o, frames);
            memcpy(b.x, shape.x, sizeof b.x); /* a line with the normals of a cylinder */
            memcpy(b.y, shape.y, sizeof b.y);
            memcpy(b.z, shape.z, sizeof b.z);
            memcpy(b.phase, shape.phase, sizeof b.phase);
            b.config.polarization = (ec_array_polarization)polarization;
            b.config.copolar = 1.2;
            check_gradients(&b);
            bench_close(&b);
        }
}

/* A table for some elements, the closed form for the others, and all of one kind. */
static void embedded_patterns(void **state)
{
    double got[2];

    (void)state;
    for (int use = 0; use < 2; use++) {
        ec_element_pattern table[2] = {{0}}, each[MOST];
        bench b;
        oracle o;
        static const common_case upright = {
            "table", EC_ELEMENT_KIND_HALF_WAVE, 0, {1, 0, 0}, {0, 0, 1}, 0};
        bench_open(&b, 9);
        for (int32_t k = 0; k < b.n; k++)
            b.x[k] = 0.5 * k + 0.05 * (k % 3);
        set_common(&b, &upright, &o);
        make_table(5, 2, &table[0]);
        make_table(10, 0.5, &table[1]);
        for (int32_t k = 0; k < b.n; k++) {
            each[k] = k % 3 < 2 && use ? table[k % 3] : b.config.element;
            /* a table's size times the amplitude is one */
            b.amplitude[k] = !use ? 1.0 : k % 3 == 0 ? 0.5 : k % 3 == 1 ? 2.0 : 1.0;
        }
        b.config.each = each;
        b.config.kind = EC_ARRAY_CUT_THETA;
        b.config.fixed = 0.6;
        set_axis(&b, 0, -1.5, 1.5, 601);
        make_call(&b, 0);
        for (int k = 0; k < 2; k++)
            ec_element_table_destroy(&table[k]);
        double at[3] = {0.2, -0.7, 1.1}, level[3];
        values_of(&b, ec_array_level_db(b.graph, b.call, NULL, false, 3, at, NULL), EC_FINAL,
                  level);
        for (int k = 0; k < 3; k++) {
            long double F[3];
            b.config.each = NULL;
            for (int32_t m = 0; m < b.n; m++)
                b.amplitude[m] = 1.0;
            plain_sum(&b, &o, 1, fabs(at[k]), at[k] < 0 ? 0.6 + EC_PI : 0.6, F);
            near("level", level[k], (double)(10 * log10l(F[2])), use ? 5e-3 : 1e-9);
        }
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        beam.exclude_a = 0.25;
        got[use] = value_of(&b, ec_array_sll_db(b.graph, b.call, &beam), EC_FINAL);
        bench_close(&b);
    }
    near("side lobes", got[1], got[0], 5e-3);
}

/* The cross-polar level of dipoles, tilted alike and each its own way, by a fine direct search. */
static void cross_polar(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        static const common_case tilted = {
            "tilted dipoles", EC_ELEMENT_KIND_HALF_WAVE, 0, {1, 0.2, 0}, {0.3, 0.2, 1}, 0};
        ec_element_frame frames[MOST];
        oracle o[MOST];
        long double peak = 0, cross = 0, F[3];
        bench b;
        bench_open(&b, 10);
        for (int32_t m = 0; m < b.n; m++) {
            common_case one = tilted;
            one.rotation = 0.1 * m;
            b.x[m] = 0.55 * (m - 4.5);
            set_common(&b, own ? &one : &tilted, &o[m]);
            frames[m] = b.config.frame;
        }
        b.config.frames = own ? frames : NULL;
        b.config.copolar = 0.4;
        b.config.kind = EC_ARRAY_CUT_THETA;
        b.config.fixed = 0.3;
        set_axis(&b, 0, -1.2, 1.2, 801);
        make_call(&b, 0);
        double got = value_of(&b, ec_array_xpol_db(b.graph, b.call, NULL), EC_FINAL);
        double search = value_of(&b, ec_array_xpol_db(b.graph, b.call, NULL), EC_SEARCH);
        for (int i = 0; i <= 40000; i++) {
            double t = -1.2 + 2.4 * i / 40000;
            for (int k = 0; k < 2; k++) {
                long double *most = k ? &cross : &peak;
                b.config.polarization = k ? EC_POLARIZATION_CROSS : EC_POLARIZATION_CO;
                plain_sum(&b, o, own ? b.n : 1, fabs(t), t < 0 ? 0.3 + EC_PI : 0.3, F);
                *most = fmaxl(*most, F[2]);
            }
        }
        double want = (double)(10 * log10l(cross / peak));
        near("cross-polar level", got, want, 1e-5);
        near("cross-polar level in the search", search, want, 2e-2);
        bench_close(&b);
    }
}

/* ---- coupling ---- */

/* A matrix that no formula below takes apart: N ports, two frequencies. */
static void fill_matrix(int32_t n, double frequency[2], ec_c128 *s, double *reference,
                        ec_touchstone *data)
{
    for (int32_t i = 0; i < 2 * n * n; i++) {
        s[i].re = draw(-0.3, 0.3);
        s[i].im = draw(-0.3, 0.3);
    }
    for (int32_t i = 0; i < n; i++)
        reference[i] = i == 2 ? 75.0 : 50.0;
    frequency[0] = 299792458.0 / 1.05;
    frequency[1] = 299792458.0 / 0.9;
    *data = (ec_touchstone){n, 2, frequency, s, reference};
}

/* Steered, coupled isotropic elements against (I - S) a by hand, and gradients through it. */
static void coupling(void **state)
{
    enum { N = 5 };
    ec_c128 s[2 * N * N];
    double frequency[2], reference[N], u[3] = {0.1, -0.4, 0.7}, got[3];
    ec_touchstone data;

    (void)state;
    fill_matrix(N, frequency, s, reference, &data);
    for (int varies = 0; varies < 2; varies++) {
        double wavelength = 0.97, steer = 0.2;
        bench b;
        bench_open(&b, N);
        scatter(&b, 1.5, 0.4);
        set_axis(&b, 0, -1, 1, 101);
        const double *value[5] = {b.x, b.y, b.z, b.amplitude, b.phase};
        ec_expr in[5];
        for (int k = 0; k < 5; k++)
            in[k] = varies ? variable(&b, value[k], N, 0.1)
                           : ec_graph_constant(b.graph, 1, &b.n, value[k]);
        ec_expr of = varies ? variable(&b, &wavelength, 1, 0.02) : ec_graph_number(b.graph, 0.97);
        b.in = (ec_array_inputs){in[0],
                                 in[1],
                                 in[2],
                                 in[3],
                                 in[4],
                                 of,
                                 ec_graph_number(b.graph, steer),
                                 ec_graph_number(b.graph, 0),
                                 ec_graph_number(b.graph, sqrt(1 - steer * steer))};
        ec_array_inputs plain = b.in;
        if (ec_array_couple(b.graph, &data, N, &b.in) < 0 ||
            ec_array_call(b.graph, &b.config, &b.in, &b.call) < 0)
            fail_msg("%s", ec_error_text());
        ec_expr level = ec_array_level_db(b.graph, b.call, NULL, false, 3, u, NULL);
        values_of(&b, level, EC_FINAL, got);
        long double a[N][2], share = (299792458.0L / 0.97L - frequency[0]) /
                                     ((long double)frequency[1] - frequency[0]);
        for (int m = 0; m < N; m++) {
            long double turn =
                (b.x[m] * steer + b.z[m] * sqrtl(1 - (long double)steer * steer)) / 0.97L;
            long double angle = b.phase[m] - 2 * PI_L * turn;
            a[m][0] = b.amplitude[m] * cosl(angle);
            a[m][1] = b.amplitude[m] * sinl(angle);
        }
        for (int k = 0; k < 3; k++) {
            long double F[2] = {0, 0}, w = sqrtl(1 - (long double)u[k] * u[k]);
            for (int m = 0; m < N; m++) {
                long double c[2] = {a[m][0], a[m][1]};
                for (int j = 0; j < N; j++) {
                    const ec_c128 *one = &s[m * N + j], *two = &s[N * N + m * N + j];
                    long double re = one->re + share * ((long double)two->re - one->re);
                    long double im = one->im + share * ((long double)two->im - one->im);
                    c[0] -= re * a[j][0] - im * a[j][1];
                    c[1] -= re * a[j][1] + im * a[j][0];
                }
                long double root = sqrtl(50.0L / reference[m]);
                long double angle = 2 * PI_L * (b.x[m] * u[k] + b.z[m] * w) / 0.97L;
                F[0] += root * (c[0] * cosl(angle) - c[1] * sinl(angle));
                F[1] += root * (c[0] * sinl(angle) + c[1] * cosl(angle));
            }
            near("coupled level", got[k], (double)(10 * log10l(F[0] * F[0] + F[1] * F[1])), 1e-9);
        }
        if (varies) {
            b.in = plain;
            check_gradient("coupled", &b, ec_graph_unary(b.graph, EC_OP_SUM, level), 1e-6);
        }
        bench_close(&b);
    }
    bench b;
    bench_open(&b, 3);
    ec_expr one = ec_graph_number(b.graph, 1);
    b.in = (ec_array_inputs){one, one, one, one, one, one, one, one, one};
    assert_int_equal(ec_array_couple(b.graph, &data, 3, &b.in), EC_ERR_SHAPE);
    assert_non_null(strstr(ec_error_text(), "the coupling has 5 ports, the array has 3 elements"));
    b.in.wavelength = ec_graph_number(b.graph, 2);
    assert_int_equal(ec_array_couple(b.graph, &data, N, &b.in), EC_ERR_RANGE);
    assert_non_null(strstr(ec_error_text(), "the array's frequency is 149896229 to 149896229 Hz"));
    bench_close(&b);
}

/* ---- mistakes ---- */

static void mistakes(void **state)
{
    bench b;

    (void)state;
    bench_open(&b, 3);
    set_axis(&b, 0, -1, 1, 101);
    b.config.polarization = EC_POLARIZATION_CO;
    assert_true(try_call(&b, 0) < 0);
    assert_non_null(
        strstr(ec_error_text(), "polarization 'co' needs elements with a vector field"));
    b.config.element.kind = EC_ELEMENT_KIND_SHORT_DIPOLE;
    assert_true(try_call(&b, 0) < 0);
    assert_non_null(strstr(ec_error_text(), "is no unit vector"));
    b.config.element.axis[0] = 1;
    assert_int_equal(try_call(&b, 0), EC_OK);
    b.config.frame.x[0] = 2;
    assert_true(try_call(&b, 0) < 0);
    assert_non_null(strstr(ec_error_text(), "not orthonormal"));
    b.config.frame.x[0] = 1;
    b.config.element.kind = EC_ELEMENT_KIND_TABLE;
    assert_true(try_call(&b, 0) < 0);
    assert_non_null(strstr(ec_error_text(), "table is empty"));
    b.config.element.kind = EC_ELEMENT_KIND_ISOTROPIC;
    b.config.polarization = EC_POLARIZATION_TOTAL;
    assert_int_equal(try_call(&b, 0), EC_OK);
    assert_true(ec_array_xpol_db(b.graph, b.call, NULL) < 0);
    assert_non_null(strstr(ec_error_text(), "isotropic elements have no vector field"));
    ec_element_frame frames[3] = {b.config.frame, b.config.frame, b.config.frame};
    b.config.frames = frames;
    assert_true(try_call(&b, 0) < 0);
    assert_non_null(strstr(ec_error_text(), "an isotropic element has none"));
    b.config.element.kind = EC_ELEMENT_KIND_COSQ;
    for (int method = 0; method < 2; method++) {
        b.config.method = method ? EC_METHOD_NUFFT : EC_METHOD_PRODUCT;
        assert_true(try_call(&b, 0) < 0);
        assert_non_null(strstr(ec_error_text(), "need method 'direct' or 'auto'"));
    }
    b.config.method = EC_METHOD_DIRECT;
    assert_int_equal(try_call(&b, 0), EC_OK);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_fields),
        cmocka_unit_test(common_side_lobes),
        cmocka_unit_test(common_paths),
        cmocka_unit_test(directivity_of_one),
        cmocka_unit_test(cardioid),
        cmocka_unit_test(directivity_of_arrays),
        cmocka_unit_test(gradients_of_common_elements),
        cmocka_unit_test(table_and_closed_form),
        cmocka_unit_test(own_fields),
        cmocka_unit_test(own_side_lobes),
        cmocka_unit_test(own_directivity),
        cmocka_unit_test(directivity_of_slight_tilts),
        cmocka_unit_test(components_at_a_pole),
        cmocka_unit_test(own_gradients),
        cmocka_unit_test(embedded_patterns),
        cmocka_unit_test(cross_polar),
        cmocka_unit_test(coupling),
        cmocka_unit_test(mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
