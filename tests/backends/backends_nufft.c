/* backends_nufft.c: batched NUFFTs against a direct sum in float64 that shares no code with them,
 * on every CPU level and on CUDA. The candidates of a batch take their points by turns from five kinds. */
#include "backends.h"

#include "nufft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 5, VECTORS_MAX = 3 };

typedef struct problem {
    ec_nufft_info info;
    size_t n;
    int32_t vectors;
    size_t n_in, n_out; /* complex numbers of a vector */
    double *point[2], *target[2];
    double *in, *want; /* complex, [n][vectors][...] */
    void *typed;       /* in, in the precision of the plan */
    ec_guarded out;
    void *result; /* out, on the host */
    uint8_t *status;
    uint64_t seed;
} problem;

static double draw(problem *p)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->seed >> 11) * 0x1p-53;
}

/* Candidate c has points anywhere, on nodes, in pairs at one place, at the period's edge, or 1e4
 * periods away. Type 3: within span; each kind also has its own middle. */
static double place_point(problem *p, size_t c, int32_t m, int32_t d, double span,
                          const double *earlier)
{
    static const double edge[] = {0.0, 1.0, 0.5, -0.5, 1.0 - 0x1p-53, -0x1p-60, -0x1p-1074};
    bool free = p->info.type == 3;
    int32_t nodes = free ? 8 : p->info.modes[d] + p->info.modes[d] / 4 * (m % 2);
    double low = free ? -span : 0.0, width = free ? 2.0 * span : 1.0;

    switch (c % KINDS) {
    case 1:
        return low + width * (floor(draw(p) * nodes) / nodes);
    case 2:
        return m % 2 ? earlier[m - 1] : low + width * draw(p);
    case 3:
        return free ? (m % 2 ? span : -span) : edge[(size_t)(draw(p) * 7.0)];
    case 4:
        return (free || m % 2 ? 1e4 : -1e4) + low + width * draw(p);
    default:
        return low + width * draw(p);
    }
}

static int problem_open(ec_backend *backend, problem *p, const ec_nufft_info *info, size_t n,
                        int32_t vectors)
{
    memset(p, 0, sizeof *p);
    p->info = *info;
    p->n = n;
    p->vectors = vectors;
    p->seed = 0x9E3779B97F4A7C15u;
    size_t modes = (size_t)info->modes[0] * (size_t)(info->dim == 2 ? info->modes[1] : 1);
    size_t points = (size_t)info->points, targets = (size_t)info->targets;
    size_t all = n * (size_t)vectors;
    p->n_in = info->type == 2 ? modes : points;
    p->n_out = info->type == 1 ? modes : info->type == 2 ? points : targets;
    p->in = (double *)malloc(all * p->n_in * 2 * sizeof(double));
    p->want = (double *)calloc(all * p->n_out * 2, sizeof(double));
    p->typed = malloc(all * p->n_in * 2 * sizeof(double));
    p->status = (uint8_t *)malloc(n);
    EC_CHECK(p->in && p->want && p->typed && p->status, "out of memory");
    for (int32_t d = 0; d < info->dim; d++) {
        p->point[d] = (double *)malloc(n * points * sizeof(double));
        p->target[d] = (double *)malloc(n * (targets + 1) * sizeof(double));
        EC_CHECK(p->point[d] && p->target[d], "out of memory");
        for (size_t c = 0; c < n; c++) {
            double *x = p->point[d] + c * points, *s = p->target[d] + c * targets;
            for (int32_t m = 0; m < info->points; m++)
                x[m] = place_point(p, c, m, d, info->span[d], x);
            for (int32_t k = 0; k < info->targets; k++)
                s[k] = (double)c + (2.0 * draw(p) - 1.0) * info->target_span[d];
        }
    }
    for (size_t i = 0; i < all * p->n_in * 2; i++) {
        p->in[i] = 2.0 * draw(p) - 1.0;
        if (info->double_precision) {
            ((double *)p->typed)[i] = p->in[i];
        } else {
            ((float *)p->typed)[i] = (float)p->in[i];
            p->in[i] = ((float *)p->typed)[i];
        }
    }
    size_t real = info->double_precision ? sizeof(double) : sizeof(float);
    EC_CHECK_CALL(ec_guarded_create(backend, all * p->n_out * 2 * real, &p->out));
    p->result = malloc(p->out.bytes);
    EC_CHECK(p->result, "out of memory");
    return 0;
}

static void problem_close(ec_backend *backend, problem *p)
{
    ec_guarded_release(backend, &p->out);
    for (int d = 0; d < 2; d++) {
        free(p->point[d]);
        free(p->target[d]);
    }
    free(p->in);
    free(p->want);
    free(p->typed);
    free(p->result);
    free(p->status);
}

/* What a batch reads and writes, on the backend. */
typedef struct staged {
    ec_nufft_batch batch;
    void *block[8];
    int n_blocks;
} staged;

/* Memory of the backend with the given content, in place of `*host`. */
static int stage(ec_backend *backend, staged *s, size_t bytes, const void *host, void *staged_at)
{
    void *memory = NULL;

    EC_CHECK_CALL(backend->ops->alloc(backend, bytes, &memory));
    s->block[s->n_blocks++] = memory;
    EC_CHECK_CALL(backend->ops->upload(backend, memory, host, bytes));
    memcpy(staged_at, &memory, sizeof memory);
    return 0;
}

static int bind(ec_backend *backend, const problem *p, staged *s)
{
    const ec_nufft_info *info = &p->info;
    size_t points = p->n * (size_t)info->points * sizeof(double);
    size_t targets = p->n * (size_t)info->targets * sizeof(double);
    size_t real = info->double_precision ? sizeof(double) : sizeof(float);
    size_t in = p->n * (size_t)p->vectors * p->n_in * 2 * real;

    memset(s, 0, sizeof *s);
    for (int32_t d = 0; d < info->dim; d++) {
        if (stage(backend, s, points, p->point[d], &s->batch.point[d]))
            return 1;
        if (targets > 0 && stage(backend, s, targets, p->target[d], &s->batch.target[d]))
            return 1;
    }
    if (stage(backend, s, in, p->typed, &s->batch.in) ||
        stage(backend, s, p->n, p->status, &s->batch.status))
        return 1;
    s->batch.n = p->n;
    s->batch.vectors = p->vectors;
    s->batch.point_stride = (size_t)info->points;
    s->batch.target_stride = (size_t)info->targets;
    s->batch.out = p->out.data;
    return 0;
}

/* Results and status come to the host. */
static int fetch(ec_backend *backend, problem *p, staged *s)
{
    EC_CHECK_CALL(backend->ops->download(backend, p->result, p->out.data, p->out.bytes));
    EC_CHECK_CALL(backend->ops->download(backend, p->status, s->batch.status, p->n));
    for (int i = 0; i < s->n_blocks; i++)
        backend->ops->release(backend, s->block[i]);
    return 0;
}

static int run(ec_backend *backend, problem *p, ec_nufft *plan)
{
    staged s;

    if (bind(backend, p, &s))
        return 1;
    EC_CHECK_CALL(backend->ops->fill(backend, p->out.data, 0xFF, p->out.bytes));
    EC_CHECK_CALL(ec_nufft_run(plan, &s.batch));
    return fetch(backend, p, &s);
}

static double got(const problem *p, size_t i)
{
    return p->info.double_precision ? ((const double *)p->result)[i]
                                    : (double)((const float *)p->result)[i];
}

/* Target k along axis d: a mode or a number of its own. */
static double target_of(const problem *p, size_t c, size_t k, int32_t d)
{
    const ec_nufft_info *info = &p->info;

    if (info->type == 3)
        return p->target[d][c * (size_t)info->targets + k];
    int32_t inner = info->dim == 2 ? info->modes[1] : 1;
    if (d == 0)
        return (double)(k / (size_t)inner) - info->modes[0] / 2;
    return (double)(k % (size_t)inner) - inner / 2;
}

/* Phases in long double: x - nearest integer is exact, and so is a product of them to 2^-63 of
 * it. */
static void direct_sum(problem *p)
{
    const ec_nufft_info *info = &p->info;
    size_t points = (size_t)info->points, n_k = info->type == 2 ? p->n_in : p->n_out;

    for (size_t c = 0; c < p->n; c++)
        for (size_t m = 0; m < points; m++)
            for (size_t k = 0; k < n_k; k++) {
                long double turns = 0.0L;
                for (int32_t d = 0; d < info->dim; d++) {
                    double x = p->point[d][c * points + m];
                    x = info->type == 3 ? x : x - rint(x);
                    turns += (long double)target_of(p, c, k, d) * x;
                }
                double angle = 2 * EC_PI * (double)(turns - rintl(turns));
                double co = cos(angle), si = info->sign * sin(angle);
                for (int32_t v = 0; v < p->vectors; v++) {
                    size_t set = c * (size_t)p->vectors + (size_t)v;
                    const double *a = p->in + 2 * (set * p->n_in + (info->type == 2 ? k : m));
                    double *f = p->want + 2 * (set * p->n_out + (info->type == 2 ? m : k));
                    f[0] += a[0] * co - a[1] * si;
                    f[1] += a[0] * si + a[1] * co;
                }
            }
}

/* Relative l2 error of each candidate's vectors; the largest. It refers to the output's norm, or to
 * what that is for random points where a few values happen to cancel. */
static double worst_error(const problem *p)
{
    double worst = 0.0;

    for (size_t set = 0; set < p->n * (size_t)p->vectors; set++) {
        double error = 0.0, norm = 0.0, random = 0.0;
        for (size_t i = 0; i < 2 * p->n_in; i++)
            random += p->in[2 * set * p->n_in + i] * p->in[2 * set * p->n_in + i];
        random *= (double)p->n_out;
        for (size_t i = 0; i < 2 * p->n_out; i++) {
            double want = p->want[2 * set * p->n_out + i];
            double off = got(p, 2 * set * p->n_out + i) - want;
            error += off * off;
            norm += want * want;
        }
        double relative = sqrt(error / fmax(norm, random));
        if (!(relative <= worst))
            worst = relative;
    }
    return worst;
}

static double limit_of(const ec_nufft_info *info)
{
    double eps = info->double_precision ? 1.1e-16 : 6e-8;
    double most = info->modes[0];

    if (info->dim == 2 && info->modes[1] > most)
        most = info->modes[1];
    for (int32_t d = 0; d < info->dim && info->type == 3; d++)
        most = fmax(most, 4.0 * info->span[d] * info->target_span[d]);
    return fmax(info->tolerance, most * eps);
}

/* Runs a plan for the problem, whose sums are known, and checks its errors. A grid that is too
 * coarse for the tolerance is no failure: see nufft/arguments. */
static int check_error(ec_backend *backend, problem *p, const ec_nufft_info *info)
{
    ec_nufft *plan;
    char text[200];
    int status = ec_nufft_create(backend, info, &plan);

    if (status == EC_ERR_ARGUMENT && info->method == EC_NUFFT_FFT &&
        (info->upsampling > 0.0 || info->type == 3))
        return 0;
    if (status == EC_ERR_UNSUPPORTED && info->regular != 0 && info->tolerance < 1e-5)
        return 0;
    EC_CHECK_CALL(status);
    ec_nufft_describe(plan, text, sizeof text);
    if (run(backend, p, plan))
        return 1;
    double error = worst_error(p), limit = limit_of(info);
    EC_CHECK(error <= limit, "%s, %d x %d modes, %d points, sign %d: error %.3g, allowed %.3g",
             text, info->modes[0], info->dim == 2 ? info->modes[1] : 1, info->points, info->sign,
             error, limit);
    for (size_t c = 0; c < p->n; c++)
        EC_CHECK(p->status[c] == EC_CANDIDATE_OK, "candidate %zu: status %d", c, p->status[c]);
    if (ec_guarded_check(backend, &p->out, text))
        return 1;
    ec_nufft_destroy(&plan);
    EC_CHECK(!plan, "destroy left the handle");
    return 0;
}

/* Under sanitizers, which take ten times as long, every third tolerance, with every type, dimension,
 * precision, shape and upsampling. */
static bool is_left_out(int t)
{
#ifdef EC_TEST_SANITIZED
    return t % 3 != 2;
#else
    (void)t;
    return false;
#endif
}

/* Every tolerance, method and upsampling. */
static int check_plans(ec_backend *backend, problem *p)
{
    static const double upsampling[] = {0, 1.25, 1.5, 2};
    ec_nufft_info info = p->info;

    for (int t = 2; t <= (info.double_precision ? 12 : 6); t++) {
        if (is_left_out(t))
            continue;
        info.tolerance = pow(10.0, -t);
        info.method = EC_NUFFT_FFT;
        for (int u = 0; u < 4; u++) {
            info.upsampling = upsampling[u];
            if (check_error(backend, p, &info))
                return 1;
        }
        info.upsampling = 0.0;
        info.method = EC_NUFFT_AUTO;
        if (check_error(backend, p, &info))
            return 1;
    }
    info.method = EC_NUFFT_DIRECT;
    return check_error(backend, p, &info);
}

/* Every shape of a type, dimension and precision. */
static int check_errors(ec_backend *backend, int32_t type, int32_t dim, bool double_precision)
{
    static const int32_t shapes[][3] = {{1, 1, 1},   {1, 3, 2},    {2, 1, 3},
                                        {3, 5, 7},   {8, 8, 12},   {7, 4, 5},
                                        {30, 17, 9}, {33, 20, 50}, {64, 21, 41}};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        ec_nufft_info info = {.type = type,
                              .dim = dim,
                              .modes = {shapes[s][0], shapes[s][1]},
                              .points = shapes[s][2],
                              .double_precision = double_precision,
                              .sign = s % 2 ? 1 : -1};
        problem p;
        if (type == 3) {
            info.targets = shapes[s][0] + shapes[s][1];
            info.span[0] = 0.5 * (s % 3);
            info.span[1] = 3.0;
            info.target_span[0] = 0.5 * shapes[s][0];
            info.target_span[1] = 1.7 * (s % 4);
            info.modes[0] = info.modes[1] = 1; /* not read */
        }
        if (problem_open(backend, &p, &info, 2 * KINDS, s % 2 ? VECTORS_MAX : 1))
            return 1;
        direct_sum(&p);
        if (check_plans(backend, &p))
            return 1;
        problem_close(backend, &p);
    }
    return 0;
}

#define ERROR_CASE(name, type, dim, double_precision)                                              \
    static int name(ec_backend *backend)                                                           \
    {                                                                                              \
        return check_errors(backend, type, dim, double_precision);                                 \
    }

ERROR_CASE(type1_1d_f32, 1, 1, false)
ERROR_CASE(type1_1d_f64, 1, 1, true)
ERROR_CASE(type1_2d_f32, 1, 2, false)
ERROR_CASE(type1_2d_f64, 1, 2, true)
ERROR_CASE(type2_1d_f32, 2, 1, false)
ERROR_CASE(type2_1d_f64, 2, 1, true)
ERROR_CASE(type2_2d_f32, 2, 2, false)
ERROR_CASE(type2_2d_f64, 2, 2, true)
ERROR_CASE(type3_1d_f32, 3, 1, false)
ERROR_CASE(type3_1d_f64, 3, 1, true)
ERROR_CASE(type3_2d_f32, 3, 2, false)
ERROR_CASE(type3_2d_f64, 3, 2, true)

/* Long lines and wide grids: FFTs of many stages, lines of several blocks of lanes. */
static int large(ec_backend *backend)
{
    static const int32_t shapes[][4] = {
        {1, 3000, 1, 40}, {1, 1021, 1, 300}, {2, 150, 201, 60}, {2, 3, 500, 30}, {2, 400, 2, 30}};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int32_t i = 0; i < 4; i++) {
            ec_nufft_info info = {.type = 1 + i % 2,
                                  .dim = shapes[s][0],
                                  .modes = {shapes[s][1], shapes[s][2]},
                                  .points = shapes[s][3],
                                  .double_precision = i >= 2,
                                  .sign = i % 2 ? 1 : -1,
                                  .tolerance = i >= 2 ? 1e-10 : 1e-5};
            problem p;
            if (problem_open(backend, &p, &info, KINDS, 1))
                return 1;
            direct_sum(&p);
            for (int method = EC_NUFFT_FFT; method <= EC_NUFFT_DIRECT; method++) {
                info.method = (ec_nufft_method)method;
                if (check_error(backend, &p, &info))
                    return 1;
            }
            problem_close(backend, &p);
        }
    return 0;
}

/* So many points on so large a grid that they are sorted by bins first. */
static int sorted(ec_backend *backend)
{
    ec_nufft_info infos[] = {
        {.type = 1, .dim = 2, .modes = {330, 30}, .points = 1000, .sign = 1, .tolerance = 1e-4},
        {.type = 2, .dim = 2, .modes = {330, 30}, .points = 1000, .sign = 1, .tolerance = 1e-4},
        {.type = 3, .dim = 2, .modes = {1, 1}, .points = 1100, .targets = 1000, .sign = -1},
        {.type = 3, .dim = 2, .modes = {1, 1}, .points = 1100, .targets = 1000, .sign = -1}};

    for (int i = 0; i < 4; i++) {
        ec_nufft_info *info = &infos[i];
        problem p;
        if (info->type == 3) {
            info->span[0] = info->span[1] = 0.5;
            info->target_span[0] = 60.0;
            info->target_span[1] = 50.0;
            info->double_precision = i == 3;
            info->tolerance = i == 3 ? 1e-11 : 1e-4;
        }
        info->method = EC_NUFFT_FFT;
        if (problem_open(backend, &p, info, 1, 1))
            return 1;
        direct_sum(&p);
        if (check_error(backend, &p, info))
            return 1;
        problem_close(backend, &p);
    }
    return 0;
}

/* Candidates of type 3 that are wider than the spans are refused, their neighbours are not. */
static int spans(ec_backend *backend)
{
    for (int32_t i = 0; i < 8; i++) {
        ec_nufft_info info = {.type = 3,
                              .dim = 1 + i % 2,
                              .modes = {1, 1},
                              .points = 6,
                              .targets = 9,
                              .span = {2, 2},
                              .target_span = {3, 3},
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = i / 2 % 2 ? EC_NUFFT_DIRECT : EC_NUFFT_FFT};
        problem p;
        ec_nufft *plan;
        if (problem_open(backend, &p, &info, 3, 1))
            return 1;
        if (i < 4)
            p.point[info.dim - 1][6 + 1] += 4.5;
        else
            p.target[info.dim - 1][9 + 1] -= 7.0;
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        if (run(backend, &p, plan))
            return 1;
        EC_CHECK(p.status[0] == 0 && p.status[1] == EC_CANDIDATE_OUT_OF_RANGE && p.status[2] == 0,
                 "status %d %d %d", p.status[0], p.status[1], p.status[2]);
        EC_CHECK(isnan(got(&p, 2 * p.n_out)) && !isnan(got(&p, 4 * p.n_out)),
                 "NaN in the wrong candidate");
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

/* Strengths of 0 give exact zeros, and a transform is linear in its vectors. */
static int zeros(ec_backend *backend)
{
    ec_nufft *plan;
    problem p;

    for (int32_t i = 0; i < 24; i++) {
        ec_nufft_info info = {.type = 1 + i % 3,
                              .dim = 1 + i / 3 % 2,
                              .modes = {20, 12},
                              .points = 15,
                              .targets = 21,
                              .span = {1, 1},
                              .target_span = {5, 4},
                              .double_precision = i / 6 % 2,
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = i < 12 ? EC_NUFFT_FFT : EC_NUFFT_DIRECT};
        if (problem_open(backend, &p, &info, 3, 2))
            return 1;
        size_t real = info.double_precision ? sizeof(double) : sizeof(float);
        memset(p.typed, 0, p.n_in * 2 * real);
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        if (run(backend, &p, plan))
            return 1;
        for (size_t k = 0; k < 2 * p.n_out; k++)
            EC_CHECK(got(&p, k) == 0.0, "type %d: output %zu is %g", info.type, k, got(&p, k));
        EC_CHECK(got(&p, 2 * p.n_out) != 0.0, "type %d: the second vector is 0 as well", info.type);
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

/* A point that is no number spoils its own candidate and no other. */
static int not_finite(ec_backend *backend)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    ec_nufft *plan;
    problem p;

    for (int32_t i = 0; i < 36; i++) {
        ec_nufft_info info = {.type = 1 + i % 3,
                              .dim = 1 + i / 3 % 2,
                              .modes = {9, 10},
                              .points = 5,
                              .targets = 7,
                              .span = {1, 1},
                              .target_span = {5, 4},
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = i / 6 % 2 ? EC_NUFFT_FFT : EC_NUFFT_DIRECT};
        if (problem_open(backend, &p, &info, 3, 1))
            return 1;
        direct_sum(&p);
        p.point[info.dim - 1][5 + 2] = bad[i / 12];
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        if (run(backend, &p, plan))
            return 1;
        EC_CHECK(p.status[0] == 0 && p.status[1] == EC_CANDIDATE_NOT_FINITE && p.status[2] == 0,
                 "status %d %d %d", p.status[0], p.status[1], p.status[2]);
        for (size_t k = 0; k < 2 * p.n_out; k++) {
            EC_CHECK(isnan(got(&p, 2 * p.n_out + k)), "output %zu is %g", k,
                     got(&p, 2 * p.n_out + k));
            EC_CHECK(fabs(got(&p, 4 * p.n_out + k) - p.want[4 * p.n_out + k]) < 0.05,
                     "the next candidate's output %zu is %g", k, got(&p, 4 * p.n_out + k));
        }
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

/* <A x, y> = <x, A^H y> for type 1 and the type 2 of the other sign, both in the same grid. */
static int adjoint(ec_backend *backend)
{
    for (int32_t i = 0; i < 16; i++) {
        ec_nufft_info info = {.type = 1,
                              .dim = 1 + i % 2,
                              .modes = {19, 14},
                              .points = 23,
                              .double_precision = i / 2 % 2,
                              .sign = i / 4 % 2 ? 1 : -1,
                              .tolerance = 1e-3,
                              .method = i < 8 ? EC_NUFFT_FFT : EC_NUFFT_DIRECT};
        problem a, b;
        ec_nufft *plan;
        double left[2] = {0, 0}, right[2] = {0, 0}, norm = 0.0;

        if (problem_open(backend, &a, &info, 1, 1))
            return 1;
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        if (run(backend, &a, plan))
            return 1;
        ec_nufft_destroy(&plan);
        info.type = 2;
        info.sign = -info.sign;
        if (problem_open(backend, &b, &info, 1, 1))
            return 1;
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        for (int32_t d = 0; d < info.dim; d++)
            memcpy(b.point[d], a.point[d], (size_t)info.points * sizeof(double));
        if (run(backend, &b, plan))
            return 1;
        ec_nufft_destroy(&plan);
        for (size_t k = 0; k < a.n_out; k++) { /* (A x) conj(y) */
            double xr = got(&a, 2 * k), xi = got(&a, 2 * k + 1);
            double yr = b.in[2 * k], yi = b.in[2 * k + 1];
            left[0] += xr * yr + xi * yi;
            left[1] += xi * yr - xr * yi;
            norm += xr * xr + xi * xi;
        }
        for (size_t m = 0; m < a.n_in; m++) { /* x conj(A^H y) */
            double xr = a.in[2 * m], xi = a.in[2 * m + 1];
            double yr = got(&b, 2 * m), yi = got(&b, 2 * m + 1);
            right[0] += xr * yr + xi * yi;
            right[1] += xi * yr - xr * yi;
        }
        double off = hypot(left[0] - right[0], left[1] - right[1]);
        double limit = (info.double_precision ? 1e-13 : 1e-5) * sqrt(norm) * (double)a.n_out;
        EC_CHECK(off <= limit, "dim %d: inner products differ by %g, allowed %g", info.dim, off,
                 limit);
        problem_close(backend, &a);
        problem_close(backend, &b);
    }
    return 0;
}

/* The whole batch in parts, on a backend with so many threads. */
static int run_split(ec_backend *backend, problem *p, int threads, size_t part, bool shared,
                     void *result)
{
    ec_backend_info info = {"cpu", threads, ec_isa_name(backend->isa), NULL};
    size_t real = p->info.double_precision ? sizeof(double) : sizeof(float);
    size_t vectors = (size_t)p->vectors;
    ec_backend *other = backend;
    ec_nufft *plan;
    staged s;

    if (!backend->is_cuda)
        EC_CHECK_CALL(ec_backend_create(&info, &other));
    EC_CHECK_CALL(ec_nufft_create(other, &p->info, &plan));
    if (bind(backend, p, &s))
        return 1;
    EC_CHECK_CALL(backend->ops->fill(backend, p->out.data, 0xFF, p->out.bytes));
    for (size_t first = 0; first < p->n; first += part) {
        ec_nufft_batch batch = s.batch;
        batch.n = p->n - first < part ? p->n - first : part;
        batch.point_stride = shared ? 0 : batch.point_stride;
        batch.target_stride = shared ? 0 : batch.target_stride;
        for (int32_t d = 0; d < p->info.dim; d++) {
            batch.point[d] += first * batch.point_stride;
            if (batch.target[d])
                batch.target[d] += first * batch.target_stride;
        }
        batch.in = (const char *)batch.in + first * vectors * p->n_in * 2 * real;
        batch.out = (char *)batch.out + first * vectors * p->n_out * 2 * real;
        batch.status += first;
        EC_CHECK_CALL(ec_nufft_run(plan, &batch));
    }
    if (fetch(backend, p, &s))
        return 1;
    memcpy(result, p->result, p->out.bytes);
    ec_nufft_destroy(&plan);
    if (other != backend)
        ec_backend_destroy(&other);
    return 0;
}

/* The same bits for 1, 2 and 7 threads, any split of the batch, and shared points. */
static int same_bits(ec_backend *backend)
{
    for (int32_t i = 0; i < 24; i++) {
        ec_nufft_info info = {.type = 1 + i % 3,
                              .dim = 1 + i / 3 % 2,
                              .modes = {40, 35},
                              .points = 61,
                              .targets = 50,
                              .span = {3, 3},
                              .target_span = {8, 8},
                              .double_precision = i / 6 % 2,
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = i < 12 ? EC_NUFFT_FFT : EC_NUFFT_DIRECT};
        problem p;
        if (problem_open(backend, &p, &info, 23, 2))
            return 1;
        char *want = (char *)malloc(p.out.bytes), *other = (char *)malloc(p.out.bytes);
        EC_CHECK(want && other, "out of memory");
        if (run_split(backend, &p, 1, p.n, false, want))
            return 1;
        static const int threads[] = {2, 7, 2, 1};
        static const size_t parts[] = {23, 23, 5, 1};
        for (int k = 0; k < 4; k++) {
            if (run_split(backend, &p, threads[k], parts[k], false, other))
                return 1;
            EC_CHECK(memcmp(want, other, p.out.bytes) == 0,
                     "type %d, %d-D: %d threads in parts of %zu give other bits", info.type,
                     info.dim, threads[k], parts[k]);
        }
        if (run_split(backend, &p, 2, p.n, true, other))
            return 1;
        EC_CHECK(memcmp(want, other, p.out.bytes / p.n) == 0, "shared points change candidate 0");
        EC_CHECK(memcmp(want, other, p.out.bytes) != 0, "shared points change nothing");
        free(want);
        free(other);
        problem_close(backend, &p);
    }
    return 0;
}

/* Places that calls of type 3 share: the bits of calls that find them anew, for any strengths; what
 * is outside the spans is refused when the places are filled. */
static int places(ec_backend *backend)
{
    if (backend->is_cuda) {
        printf("  places are kept on the CPU\n");
        return 0;
    }
    for (int32_t i = 0; i < 8; i++) {
        bool many = i >= 4; /* points and targets are sorted by bins */
        ec_nufft_info info = {.type = 3,
                              .dim = 2 - (i < 4 && i % 2),
                              .modes = {1, 1},
                              .points = many ? 3000 : 61,
                              .targets = many ? 4000 : 50,
                              .span = {many ? 30 : 3, many ? 30 : 3},
                              .target_span = {8, 8},
                              .double_precision = i / 2 % 2,
                              .sign = i % 2 ? 1 : -1,
                              .tolerance = 1e-4,
                              .method = EC_NUFFT_FFT};
        problem p;
        ec_nufft *plan;
        if (problem_open(backend, &p, &info, 2, 2))
            return 1;
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        const ec_nufft_args *a = ec_nufft_plan_args(plan);
        char *workspace = (char *)aligned_alloc(64, a->workspace_bytes);
        char *kept = (char *)aligned_alloc(64, a->place_bytes);
        size_t bytes = p.out.bytes / p.n,
               in = (size_t)info.points * 4 * (info.double_precision ? 8 : 4);
        char *want = (char *)malloc(bytes), *other = (char *)malloc(bytes);
        EC_CHECK(workspace && kept && want && other, "out of memory");
        EC_CHECK(!many || (a->bins > 0 && a->inner->bins > 0), "nothing is sorted");
        ec_nufft_io io = {.point = {p.point[0], p.point[1]},
                          .target = {p.target[0], p.target[1]},
                          .places = kept};
        EC_CHECK(a->function(a, &io, workspace) == EC_CANDIDATE_OK, "places are refused");
        for (size_t c = 0; c < 2; c++) { /* other strengths at the same places */
            ec_nufft_io anew = {.point = {p.point[0], p.point[1]},
                                .target = {p.target[0], p.target[1]},
                                .in = (const char *)p.typed + c * in,
                                .out = want,
                                .vectors = 2};
            ec_nufft_io again = {
                .in = (const char *)p.typed + c * in, .out = other, .vectors = 2, .places = kept};
            EC_CHECK(a->function(a, &anew, workspace) == EC_CANDIDATE_OK, "refused");
            memset(workspace, 0xFF, a->workspace_bytes);
            EC_CHECK(a->function(a, &again, workspace) == EC_CANDIDATE_OK, "refused");
            EC_CHECK(memcmp(want, other, bytes) == 0, "kept places give other bits");
        }
        p.point[0][1] += 3.0 * info.span[0];
        EC_CHECK(a->function(a, &io, workspace) == EC_CANDIDATE_OUT_OF_RANGE, "not refused");
        free(workspace);
        free(kept);
        free(want);
        free(other);
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

/* A type 3 whose targets are `modes` lines along axis `regular`, of `each` targets. */
static int open_regular(ec_backend *backend, problem *p, int32_t regular, int32_t modes,
                        int32_t each, int32_t points, bool double_precision)
{
    int32_t along = regular - 1, other = 2 - regular;
    ec_nufft_info info = {.type = 3,
                          .dim = 2,
                          .points = points,
                          .targets = modes * each,
                          .double_precision = double_precision,
                          .sign = modes % 2 ? 1 : -1,
                          .tolerance = 1e-4,
                          .method = EC_NUFFT_FFT,
                          .regular = regular};

    info.modes[along] = modes;
    info.modes[other] = 1;
    info.span[along] = 0.5;
    info.target_span[along] = 0.5 * modes;
    info.span[other] = 3.0;
    info.target_span[other] = 0.3 * each;
    if (problem_open(backend, p, &info, 2 * KINDS, each % 2 ? VECTORS_MAX : 1))
        return 1;
    for (size_t c = 0; c < p->n; c++)
        for (int32_t k = 0; k < info.targets; k++) {
            int32_t line = regular == 1 ? k / each : k % modes;
            p->target[along][c * (size_t)info.targets + (size_t)k] = line - modes / 2;
        }
    direct_sum(p);
    return 0;
}

/* Targets regular along one axis: every tolerance, lines that do and do not fill the lanes. */
static int regular(ec_backend *backend)
{
    static const int32_t shapes[][3] = {{1, 1, 1},  {2, 9, 3},   {7, 1, 12},  {16, 16, 30},
                                        {17, 5, 9}, {33, 40, 7}, {40, 13, 50}};

    if (backend->is_cuda) {
        printf("  on the CPU alone\n");
        return 0;
    }
    for (size_t s = 0; s < 4 * sizeof shapes / sizeof *shapes; s++) {
        const int32_t *shape = shapes[s / 4];
        problem p;
        if (open_regular(backend, &p, 1 + (int32_t)s % 2, shape[0], shape[1], shape[2], s / 2 % 2))
            return 1;
        for (int t = 2; t <= (p.info.double_precision ? 11 : 5); t++) {
            p.info.tolerance = pow(10.0, -t);
            if (check_error(backend, &p, &p.info))
                return 1;
        }
        problem_close(backend, &p);
    }
    return 0;
}

/* Calls with fewer points than the plan's, next to such with all: their sums, and the bits of a call of
 * their own. The points behind them are not read: they are NaN. */
static int fewer(ec_backend *backend)
{
    for (int32_t i = 0; i < 16; i++) {
        bool many = i >= 12; /* points are sorted by bins */
        ec_nufft_info info = {.type = 1 + i % 3,
                              .dim = many ? 2 : 1 + i / 3 % 2,
                              .modes = {many ? 330 : 30, many ? 30 : 20},
                              .points = many ? 1100 : 50,
                              .targets = many ? 300 : 40,
                              .span = {3, 3},
                              .target_span = {many ? 40 : 5, many ? 40 : 5},
                              .double_precision = i / 2 % 2,
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = i / 6 % 2 && !many ? EC_NUFFT_DIRECT : EC_NUFFT_FFT};
        int32_t count[4] = {info.points, 1, 0, info.points - 9};
        size_t real = info.double_precision ? sizeof(double) : sizeof(float);
        problem p, one;
        ec_nufft *plan;
        staged whole;
        if (problem_open(backend, &p, &info, 4, 2))
            return 1;
        size_t points = (size_t)info.points, bytes = p.out.bytes / p.n;
        for (size_t c = 0; c < 4; c++)
            for (size_t m = count[c] > 0 ? (size_t)count[c] : points; m < points; m++)
                for (int32_t d = 0; d < info.dim; d++)
                    p.point[d][c * points + m] = NAN;
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        if (bind(backend, &p, &whole) ||
            stage(backend, &whole, sizeof count, count, &whole.batch.points))
            return 1;
        ec_nufft_batch batch = whole.batch;
        EC_CHECK_CALL(backend->ops->fill(backend, p.out.data, 0xFF, p.out.bytes));
        EC_CHECK_CALL(ec_nufft_run(plan, &batch));
        EC_CHECK_CALL(backend->ops->download(backend, p.result, p.out.data, p.out.bytes));
        EC_CHECK_CALL(backend->ops->download(backend, p.status, batch.status, p.n));
        for (size_t c = 0; c < 4; c++) {
            ec_nufft_info own = info;
            own.points = count[c] > 0 ? count[c] : info.points;
            EC_CHECK(p.status[c] == EC_CANDIDATE_OK, "candidate %zu: status %d", c, p.status[c]);
            if (problem_open(backend, &one, &own, 1, 2))
                return 1;
            size_t vector = one.n_in * 2, all = 2 * p.n_in * 2;
            for (int32_t d = 0; d < info.dim; d++) {
                memcpy(one.point[d], p.point[d] + c * points, (size_t)own.points * sizeof(double));
                memcpy(one.target[d], p.target[d] + c * (size_t)info.targets,
                       (size_t)info.targets * sizeof(double));
            }
            memcpy(one.in, p.in + c * all, 2 * vector * sizeof(double));
            memcpy(one.result, (char *)p.result + c * bytes, 2 * one.n_out * 2 * real);
            direct_sum(&one);
            double error = worst_error(&one), limit = limit_of(&info);
            EC_CHECK(error <= limit, "case %d, candidate %zu: error %.3g, allowed %.3g", i, c,
                     error, limit);
            ec_nufft_batch alone = batch;
            alone.n = 1;
            alone.points = batch.points + c;
            for (int32_t d = 0; d < info.dim; d++) {
                alone.point[d] = batch.point[d] + c * points;
                alone.target[d] = batch.target[d] + c * (size_t)info.targets;
            }
            alone.in = (const char *)batch.in + c * all * real;
            alone.out = one.out.data;
            EC_CHECK_CALL(ec_nufft_run(plan, &alone));
            EC_CHECK_CALL(backend->ops->download(backend, one.result, one.out.data, one.out.bytes));
            EC_CHECK(memcmp(one.result, (char *)p.result + c * bytes, 2 * one.n_out * 2 * real) ==
                         0,
                     "case %d, candidate %zu: other bits alone", i, c);
            problem_close(backend, &one);
        }
        count[1] = info.points + 1;
        batch.points = count;
        EC_CHECK(backend->is_cuda || (ec_nufft_run(plan, &batch) == EC_ERR_ARGUMENT &&
                                      strstr(ec_error_text(), "candidate 1 has")),
                 "says '%s'", ec_error_text());
        if (fetch(backend, &p, &whole))
            return 1;
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

/* Places of the targets alone, with points of each call's own, as many as it likes. */
static int moving(ec_backend *backend)
{
    if (backend->is_cuda) {
        printf("  on the CPU alone\n");
        return 0;
    }
    for (int32_t i = 0; i < 6; i++) {
        int32_t along = i % 3; /* 0: scattered along both axes */
        problem p;
        ec_nufft *plan;
        ec_nufft_info info = {.type = 3,
                              .dim = 2,
                              .modes = {1, 1},
                              .points = 60,
                              .targets = 200,
                              .span = {3, 3},
                              .target_span = {8, 8},
                              .double_precision = i / 3,
                              .sign = 1,
                              .tolerance = 1e-4,
                              .method = EC_NUFFT_FFT};
        if (along > 0 ? open_regular(backend, &p, along, 10, 20, 60, info.double_precision)
                      : problem_open(backend, &p, &info, 2 * KINDS, VECTORS_MAX))
            return 1;
        info = p.info;
        size_t points = (size_t)info.points, targets = (size_t)info.targets;
        for (size_t c = 0; c < p.n; c++) /* the targets of candidate 0, points about 0 */
            for (int32_t d = 0; d < 2; d++) {
                memcpy(p.target[d] + c * targets, p.target[d], targets * sizeof(double));
                for (size_t m = c % KINDS == 4 && d != along - 1 ? 0 : points; m < points; m++)
                    p.point[d][c * points + m] -= 1e4;
            }
        memset(p.want, 0, p.n * (size_t)p.vectors * p.n_out * 2 * sizeof(double));
        direct_sum(&p);
        EC_CHECK_CALL(ec_nufft_create(backend, &info, &plan));
        const ec_nufft_args *a = ec_nufft_plan_args(plan);
        char *workspace = (char *)aligned_alloc(64, a->workspace_bytes);
        char *kept = (char *)aligned_alloc(64, a->place_bytes);
        EC_CHECK(workspace && kept, "out of memory");
        ec_nufft_io io = {.target = {p.target[0], p.target[1]}, .places = kept, .moving = 1};
        EC_CHECK(a->function(a, &io, workspace) == EC_CANDIDATE_OK, "places are refused");
        size_t in = points * (size_t)p.vectors * 2 * (info.double_precision ? 8 : 4);
        io.target[0] = io.target[1] = NULL;
        for (size_t c = 0; c < p.n; c++) {
            memset(workspace, 0xFF, a->workspace_bytes);
            io.point[0] = p.point[0] + c * points;
            io.point[1] = p.point[1] + c * points;
            io.in = (const char *)p.typed + c * in;
            io.out = (char *)p.result + c * (p.out.bytes / p.n);
            io.vectors = p.vectors;
            EC_CHECK(a->function(a, &io, workspace) == EC_CANDIDATE_OK, "candidate %zu", c);
        }
        double error = worst_error(&p), limit = limit_of(&info);
        EC_CHECK(error <= limit, "case %d: error %.3g, allowed %.3g", i, error, limit);
        p.point[along == 1][1] = -3.01; /* what a middle of its own would let pass */
        io.point[0] = p.point[0];
        io.point[1] = p.point[1];
        EC_CHECK(a->function(a, &io, workspace) == EC_CANDIDATE_OUT_OF_RANGE, "not refused");
        free(workspace);
        free(kept);
        ec_nufft_destroy(&plan);
        problem_close(backend, &p);
    }
    return 0;
}

static int arguments(ec_backend *backend)
{
    static const ec_nufft_info good = {
        .type = 1, .dim = 2, .modes = {8, 8}, .points = 4, .sign = 1, .tolerance = 1e-4};
    static const struct {
        const char *text;
        int32_t field;
        double value;
    } bad[] = {
        {"type = 4; allowed", 0, 4},
        {"dim = 3; allowed", 1, 3},
        {"modes[1] = 0; allowed", 2, 0},
        {"points = 0; at least", 3, 0},
        {"sign = 0; allowed", 4, 0},
        {"tolerance = 1e-07; single precision reaches 1e-06, double precision 1e-12", 5, 1e-7},
        {"tolerance = 0; allowed", 5, 0},
        {"tolerance = nan; allowed", 5, NAN},
        {"tolerance = 1e-13; double precision reaches 1e-12", 6, 1e-13},
        {"upsampling = 1; allowed", 7, 1},
        {"tolerance = 1e-06 cannot be reached by a grid with upsampling = 1.25", 8, 1.25}};
    ec_nufft *plan = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ec_nufft_info info = good;
        int32_t whole = bad[i].value == bad[i].value ? (int32_t)bad[i].value : 0;
        switch (bad[i].field) {
        case 0:
            info.type = whole;
            break;
        case 1:
            info.dim = whole;
            break;
        case 2:
            info.modes[1] = whole;
            break;
        case 3:
            info.points = whole;
            break;
        case 4:
            info.sign = whole;
            break;
        case 5:
            info.tolerance = bad[i].value;
            break;
        case 6:
            info.tolerance = bad[i].value;
            info.double_precision = true;
            break;
        case 8:
            info.tolerance = 1e-6;
            info.modes[0] = info.modes[1] = 64;
            info.upsampling = bad[i].value;
            info.method = EC_NUFFT_FFT;
            break;
        case 7:
            info.upsampling = bad[i].value;
            break;
        default:
            info.type = 3;
            info.targets = bad[i].field > 9;
            info.method = EC_NUFFT_FFT;
            info.span[1] = bad[i].field == 10 || bad[i].field == 12 ? bad[i].value : 1.0;
            info.target_span[0] = bad[i].field == 11 ? bad[i].value : 1.0;
            info.target_span[1] = 1.0;
        }
        EC_CHECK(ec_nufft_create(backend, &info, &plan) == EC_ERR_ARGUMENT && !plan,
                 "case %zu was accepted", i);
        EC_CHECK(strstr(ec_error_text(), bad[i].text), "case %zu says '%s'", i, ec_error_text());
    }
    ec_nufft_info grid = good;
    char text[200];
    EC_CHECK_CALL(ec_nufft_create(backend, &good, &plan));
    ec_nufft_describe(plan, text, sizeof text);
    EC_CHECK(strstr(text, "direct sum of type 1, 2-D, single"), "described as '%s'", text);
    ec_nufft_destroy(&plan);
    grid.method = EC_NUFFT_FFT;
    EC_CHECK_CALL(ec_nufft_create(backend, &grid, &plan));
    ec_nufft_batch batch = {.n = 1, .vectors = 0};
    EC_CHECK(ec_nufft_run(plan, &batch) == EC_ERR_ARGUMENT, "0 vectors were accepted");
    ec_nufft_describe(plan, text, sizeof text);
    EC_CHECK(strstr(text, "NUFFT type 1, 2-D, width "), "described as '%s'", text);
    EC_CHECK(ec_nufft_error(plan) > 0 && ec_nufft_error(plan) <= good.tolerance,
             "predicted error %g", ec_nufft_error(plan));
    EC_CHECK(ec_nufft_cost(plan) > 0 && ec_nufft_cost(plan) < 1e-3, "predicted cost %g s",
             ec_nufft_cost(plan));
    ec_nufft_destroy(&plan);
    if (backend->is_cuda)
        return 0;
    ec_nufft_info lines = good;
    lines.type = 3;
    lines.regular = 2;
    lines.targets = 20;
    lines.span[0] = lines.target_span[0] = 1.0;
    EC_CHECK(ec_nufft_create(backend, &lines, &plan) == EC_ERR_ARGUMENT &&
                 strstr(ec_error_text(), "targets = 20; a multiple of the 8 modes"),
             "says '%s'", ec_error_text());
    lines.targets = 16;
    lines.method = EC_NUFFT_DIRECT;
    EC_CHECK(ec_nufft_create(backend, &lines, &plan) == EC_ERR_ARGUMENT &&
                 strstr(ec_error_text(), "regular targets have no direct sum"),
             "says '%s'", ec_error_text());
    lines.method = EC_NUFFT_AUTO;
    lines.span[0] = INFINITY;
    EC_CHECK(ec_nufft_create(backend, &lines, &plan) == EC_ERR_UNSUPPORTED, "no refusal");
    lines.dim = 1;
    EC_CHECK(ec_nufft_create(backend, &lines, &plan) == EC_ERR_ARGUMENT &&
                 strstr(ec_error_text(), "regular = 2 with dim = 1"),
             "says '%s'", ec_error_text());
    return 0;
}

const ec_case ec_cases_nufft[] = {{"nufft/type1_1d_f32", type1_1d_f32},
                                  {"nufft/type1_1d_f64", type1_1d_f64},
                                  {"nufft/type1_2d_f32", type1_2d_f32},
                                  {"nufft/type1_2d_f64", type1_2d_f64},
                                  {"nufft/type2_1d_f32", type2_1d_f32},
                                  {"nufft/type2_1d_f64", type2_1d_f64},
                                  {"nufft/type2_2d_f32", type2_2d_f32},
                                  {"nufft/type2_2d_f64", type2_2d_f64},
                                  {"nufft/type3_1d_f32", type3_1d_f32},
                                  {"nufft/type3_1d_f64", type3_1d_f64},
                                  {"nufft/type3_2d_f32", type3_2d_f32},
                                  {"nufft/type3_2d_f64", type3_2d_f64},
                                  {"nufft/large", large},
                                  {"nufft/sorted", sorted},
                                  {"nufft/spans", spans},
                                  {"nufft/zeros", zeros},
                                  {"nufft/not_finite", not_finite},
                                  {"nufft/adjoint", adjoint},
                                  {"nufft/same_bits", same_bits},
                                  {"nufft/places", places},
                                  {"nufft/regular", regular},
                                  {"nufft/fewer", fewer},
                                  {"nufft/moving", moving},
                                  {"nufft/arguments", arguments},
                                  {NULL, NULL}};
