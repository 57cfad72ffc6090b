/* Populations that several workers evaluate: the bits of one worker, errors, interrupts. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, pthread_self */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "../../core/executor.h"
#include "../../core/wall_clock.h"

enum { GENES = 3, GROUPS = 6, MOST = 70, SAMPLES = 2 };

/* What the evaluator of these tests does: y = 3 x^2 + g, failed where x < -0.8. */
typedef struct model {
    pthread_t main;
    atomic_int runs, elsewhere; /* all, and those of other threads */
    double
        failing; /* the run that holds a design of this x ends with an error, the others wait to be
                       asked to end; NaN: none */
    bool waits;  /* every run waits to be asked */
    double seconds; /* that a run takes */
} model;

typedef struct evaluator {
    ec_evaluator head;
    model *model;
    ec_log *log;
} evaluator;

static int model_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **made)
{
    evaluator *ev = calloc(1, sizeof *ev);

    assert_non_null(ev);
    ev->head = (ec_evaluator){info->call->def, backend};
    ev->model = info->call->config;
    ev->log = info->log;
    ec_log_write(info->log, EC_LOG_WARNING, "planned");
    *made = &ev->head;
    return EC_OK;
}

static int wait_to_be_asked(const ec_exec *exec)
{
    double start = ec_wall_seconds();

    while (!exec->interrupt->asked(exec->interrupt->user))
        if (ec_wall_seconds() > start + 60)
            return ec_fail(EC_ERR_INTERNAL, "nobody ends this run");
    return EC_STOPPED;
}

static int model_run(ec_evaluator *evaluator_, const ec_exec *exec, const ec_array *const *in,
                     ec_array *const *out, uint8_t *status, size_t n)
{
    evaluator *ev = (evaluator *)evaluator_;
    model *m = ev->model;
    const double *x = in[0]->data, *g = in[1]->data;
    bool fails = false;

    atomic_fetch_add(&m->runs, 1);
    atomic_fetch_add(&m->elsewhere, !pthread_equal(pthread_self(), m->main));
    for (size_t c = 0; c < n; c++)
        fails = fails || x[c] == m->failing;
    if (fails)
        return ec_fail(EC_ERR_DEVICE, "the card with %.3f is gone", m->failing);
    if (m->waits || !isnan(m->failing))
        return wait_to_be_asked(exec);
    nanosleep(&(struct timespec){0, (long)(m->seconds * 1e9)}, NULL);
    for (size_t s = 0; s < out[0]->samples; s++) /* the inputs' strides are 0 without the axis */
        for (size_t c = 0; c < n; c++) {
            double a = x[s * in[0]->sample_stride + c];
            double b = g[s * in[1]->sample_stride + (in[1]->lanes > 1 ? c : 0)];
            ((double *)out[0]->data)[s * out[0]->sample_stride + c] = 3 * a * a + b;
            if (a < -0.8 && !(status[c] & EC_CANDIDATE_EVALUATOR)) {
                status[c] |= EC_CANDIDATE_EVALUATOR;
                ec_log_write(ev->log, EC_LOG_WARNING, "no %.17g", a);
            }
        }
    return EC_OK;
}

static void model_destroy(ec_evaluator **handle)
{
    free(*handle);
    *handle = NULL;
}

static const ec_evaluator_def whole = {.name = "whole",
                                       .flags = EC_EVALUATOR_SELF_CHUNKING,
                                       .plan = model_plan,
                                       .run = model_run,
                                       .destroy = model_destroy},
                              chunked = {.name = "chunked",
                                         .plan = model_plan,
                                         .run = model_run,
                                         .destroy = model_destroy},
                              users = {.name = "users",
                                       .flags = EC_EVALUATOR_USERS,
                                       .plan = model_plan,
                                       .run = model_run,
                                       .destroy = model_destroy};

static double gene(size_t c, size_t e)
{
    return sin((double)(c * GENES + e + 1) * 12.9898);
}

/* Outputs of all kinds: of a call, of its samples, a list, complex, of groups, constant. */
enum { OUTPUTS = 6 };

/* second: of the call over samples. Without groups their gene is one of the designs'. */
static void make_graph(const ec_evaluator_def *def, const ec_evaluator_def *second, bool grouped,
                       model *m, ec_graph **graph, ec_expr *output)
{
    static const double low[GENES] = {-1, -1, -1}, high[GENES] = {1, 1, 1};
    static const double drawn[SAMPLES] = {0.5, -0.25};
    ec_call_output y = {.name = "y", .dtype = EC_F64, .range = {-9, 9}};
    ec_call *call, *over;
    ec_graph *g;

    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = ec_graph_variable(g, false, 0, GENES, low, high);
    ec_expr first = ec_graph_slice(g, x, 0, 0);
    ec_expr shared =
        grouped ? ec_graph_variable(g, true, 0, 0, low, high) : ec_graph_slice(g, x, 1, 0);
    ec_expr samples = ec_graph_samples(g, SAMPLES, 0, NULL, drawn);
    ec_expr in[2] = {first, shared};
    assert_int_equal(ec_graph_call(g, def, m, 2, in, &call), EC_OK);
    output[0] = ec_graph_call_output(g, call, &y);
    in[1] = ec_graph_op(g, EC_OP_ADD, 2, (ec_expr[]){samples, shared}, 0, NULL);
    assert_int_equal(ec_graph_call(g, second, m, 2, in, &over), EC_OK);
    output[1] = ec_graph_call_output(g, over, &y);
    output[2] = ec_graph_op(g, EC_OP_MUL, 2, (ec_expr[]){x, output[0]}, 0, NULL);
    output[3] = ec_graph_op(g, EC_OP_COMPLEX, 2, (ec_expr[]){output[0], first}, 0, NULL);
    output[4] = ec_graph_op(g, EC_OP_SIN, 1, &shared, 0, NULL);
    output[5] = ec_graph_number(g, 7);
    for (int i = 0; i < OUTPUTS; i++)
        assert_true(output[i] >= 0);
    *graph = g;
}

typedef struct batch {
    ec_backend *backend;
    ec_executor *executor;
    ec_array X, XG;
    bool grouped;
    int32_t map[128];
    uint8_t status[128];
} batch;

static void batch_create(batch *b, const char *backend, bool grouped, ec_graph *g,
                         const ec_expr *outputs, const int32_t *stop, const ec_interrupt *interrupt,
                         ec_log *log)
{
    ec_executor_info info = {.outputs = outputs,
                             .n_outputs = OUTPUTS,
                             .max_candidates = MOST,
                             .max_groups = grouped ? GROUPS : 0,
                             .stop = stop,
                             .interrupt = interrupt,
                             .log = log};
    int32_t genes = GENES, one = 1;

    b->grouped = grouped;
    assert_int_equal(
        ec_backend_create(&(ec_backend_info){.name = backend, .threads = 3}, &b->backend), EC_OK);
    assert_int_equal(ec_executor_create(g, b->backend, &info, &b->executor), EC_OK);
    assert_int_equal(
        ec_array_create(b->backend, &b->X, EC_F64, EC_AXIS_CANDIDATE, 1, &genes, MOST, 1), EC_OK);
    assert_int_equal(ec_array_create(b->backend, &b->XG, EC_F64, EC_AXIS_GROUP, 1, &one, GROUPS, 1),
                     EC_OK);
    for (size_t e = 0; e < GENES; e++)
        for (size_t c = 0; c < b->X.ld; c++)
            ((double *)b->X.data)[e * b->X.ld + c] = gene(c, e);
    for (size_t c = 0; c < b->XG.ld; c++)
        ((double *)b->XG.data)[c] = gene(c, 500);
    for (int c = 0; c < 128; c++)
        b->map[c] = c / 13 % GROUPS;
}

static int batch_run(batch *b, size_t n)
{
    b->X.lanes = n;
    b->XG.lanes = GROUPS;
    return ec_executor_run(b->executor, &b->X, b->grouped ? &b->XG : NULL,
                           b->grouped ? b->map : NULL, b->status, n, b->grouped ? GROUPS : 0);
}

static void batch_release(batch *b)
{
    ec_executor_destroy(&b->executor);
    ec_array_release(b->backend, &b->X);
    ec_array_release(b->backend, &b->XG);
    ec_backend_destroy(&b->backend);
}

static void check_same(const batch *a, const batch *b, size_t n)
{
    assert_memory_equal(a->status, b->status, n);
    for (int32_t i = 0; i < OUTPUTS; i++) {
        const ec_array *p = ec_executor_output(a->executor, i);
        const ec_array *q = ec_executor_output(b->executor, i);
        size_t size = ec_dtype_size(p->dtype);
        assert_int_equal(p->lanes, q->lanes);
        for (size_t s = 0; s < p->samples; s++)
            for (size_t e = 0; e < p->elements; e++)
                assert_memory_equal(
                    (const char *)p->data + (s * p->sample_stride + e * p->ld) * size,
                    (const char *)q->data + (s * q->sample_stride + e * q->ld) * size,
                    p->lanes * size);
    }
}

static model fresh_model(void)
{
    return (model){.main = pthread_self(), .failing = NAN, .seconds = 0};
}

/* ---- names ---- */

static void test_lists(void **state)
{
    static const char *const refused[] = {"cpu,",       "cpu,,cpu",     ",cpu",    "cpu,cuda:0",
                                          "cuda:0,cpu", "cpu,cuda:all", "auto,cpu"};
    ec_backend *b = NULL;
    char list[80];
    (void)state;

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(ec_backend_is_name(refused[i]));
        assert_int_equal(ec_backend_create(&(ec_backend_info){.name = refused[i]}, &b),
                         EC_ERR_BACKEND);
        assert_non_null(strstr(ec_error_text(), "lists like cuda:0,cuda:1"));
    }
    assert_true(ec_backend_is_name("cuda:all") && ec_backend_is_name("cuda:0,cuda:12"));
    assert_int_equal(ec_backend_create(&(ec_backend_info){.name = "cpu,cpu,cpu", .threads = 6}, &b),
                     EC_OK);
    assert_int_equal(b->n_workers, 2);
    assert_ptr_equal(ec_backend_member(b, 0), b);
    assert_null(ec_backend_member(b, 3));
    assert_string_equal(ec_backend_member(b, 2)->name, "cpu");
#ifdef _OPENMP
    assert_int_equal(b->threads, 6);
    assert_int_equal(ec_backend_member(b, 1)->threads, 2);
#endif
    ec_backend_list(b, list, sizeof list);
    assert_string_equal(list, "cpu,cpu,cpu");
    assert_int_equal(strncmp(b->device, "3 x ", 4), 0);
    ec_backend_destroy(&b);
}

/* ---- bits ---- */

static void check_split(const ec_evaluator_def *def, const char *list, bool grouped)
{
    static const size_t sizes[] = {MOST, 1, 2, 3, 31, 33, 64};
    model m = fresh_model();
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_expr output[OUTPUTS];
    ec_graph *g;
    batch one, many;

    make_graph(def, def, grouped, &m, &g, output);
    batch_create(&one, "cpu", grouped, g, output, NULL, NULL, &quiet);
    batch_create(&many, list, grouped, g, output, NULL, NULL, &quiet);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        assert_int_equal(batch_run(&one, n), EC_OK);
        assert_int_equal(atomic_load(&m.elsewhere), 0);
        m.seconds = 0.025; /* long enough to be worth a split */
        memset(many.status, 0x55, sizeof many.status);
        assert_int_equal(batch_run(&many, n), EC_OK);
        assert_true(n == 1 || atomic_load(&m.elsewhere) > 0);
        atomic_store(&m.elsewhere, 0);
        m.seconds = 0;
        check_same(&one, &many, n);
    }
    assert_true(one.status[MOST - 1] == 0 || one.status[MOST - 1] == EC_CANDIDATE_EVALUATOR);
    batch_release(&one);
    batch_release(&many);
    ec_graph_destroy(&g);
}

static void test_same_bits(void **state)
{
    (void)state;
    check_split(&whole, "cpu,cpu", false);
    check_split(&whole, "cpu,cpu,cpu", true);
    check_split(&chunked, "cpu,cpu,cpu,cpu,cpu,cpu,cpu", false);
    check_split(&chunked, "cpu,cpu", true);
}

/* Runs that are over at once go to one worker, and are the same. */
static void test_short_runs(void **state)
{
    model m = fresh_model();
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_expr output[OUTPUTS];
    ec_graph *g;
    batch one, many;
    (void)state;

    make_graph(&chunked, &chunked, true, &m, &g, output);
    batch_create(&one, "cpu", true, g, output, NULL, NULL, &quiet);
    batch_create(&many, "cpu,cpu", true, g, output, NULL, NULL, &quiet);
    assert_int_equal(batch_run(&one, MOST), EC_OK);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(batch_run(&many, MOST), EC_OK);
        check_same(&one, &many, MOST);
    }
    assert_true(atomic_load(&m.elsewhere) > 0);
    batch_release(&one);
    batch_release(&many);
    ec_graph_destroy(&g);
}

/* ---- what ends a run ---- */

static bool asked_later(void *user)
{
    return --*(int *)user < 0;
}

static void test_ends(void **state)
{
    model m = fresh_model();
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_expr output[OUTPUTS];
    ec_graph *g;
    batch b;
    int patience = 1000, stop = 0;
    ec_interrupt interrupt = {asked_later, &patience};
    (void)state;

    make_graph(&whole, &whole, true, &m, &g, output);
    batch_create(&b, "cpu,cpu,cpu", true, g, output, &stop, &interrupt, &quiet);
    /* an error of any worker ends the others, who would wait for ever */
    interrupt.asked = asked_later;
    for (size_t c = 0; c < 3; c++) {
        patience = 1 << 30;
        m.failing = gene(c * 13, 0); /* designs of a worker are in a row here */
        assert_int_equal(batch_run(&b, 39), EC_ERR_DEVICE);
        assert_non_null(strstr(ec_error_text(), "is gone"));
    }
    /* all hear the interrupt, though it is asked in turn */
    m.failing = NAN;
    m.waits = true;
    patience = 1000;
    assert_int_equal(batch_run(&b, MOST), EC_STOPPED);
    assert_true(atomic_load(&m.elsewhere) > 0);
    /* the next run is a whole one again */
    m.waits = false;
    patience = 1 << 30;
    assert_int_equal(batch_run(&b, MOST), EC_OK);
    /* a stop flag makes it a no-op */
    int runs = atomic_load(&m.runs);
    stop = 1;
    assert_int_equal(batch_run(&b, MOST), EC_OK);
    assert_int_equal(atomic_load(&m.runs), runs);
    batch_release(&b);
    ec_graph_destroy(&g);
}

/* Code of the user is called on one thread. */
static void test_users(void **state)
{
    model m = fresh_model();
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_expr output[OUTPUTS];
    ec_graph *g;
    batch b;
    (void)state;

    m.seconds = 0.025;
    make_graph(&users, &chunked, true, &m, &g, output);
    batch_create(&b, "cpu,cpu", true, g, output, NULL, NULL, &quiet);
    for (int i = 0; i < 3; i++)
        assert_int_equal(batch_run(&b, MOST), EC_OK);
    assert_int_equal(atomic_load(&m.elsewhere), 0);
    batch_release(&b);
    ec_graph_destroy(&g);
}

/* ---- words ---- */

typedef struct heard {
    pthread_t main;
    int planned, failed;
    char last[80];
} heard;

static void hear(void *user, ec_log_level level, const char *text)
{
    heard *h = user;

    assert_int_equal(level, EC_LOG_WARNING);
    assert_true(pthread_equal(pthread_self(), h->main));
    h->planned += strcmp(text, "planned") == 0;
    h->failed += strncmp(text, "no ", 3) == 0;
    snprintf(h->last, sizeof h->last, "%s", text);
}

/* Messages come on the caller's thread, one plan speaks for all, and the worker of the first design
 * that failed has the last word. */
static void test_messages(void **state)
{
    model m = fresh_model();
    heard h = {.main = pthread_self()};
    ec_log log = {EC_LOG_WARNING, hear, &h};
    ec_expr output[OUTPUTS];
    ec_graph *g;
    batch b;
    size_t n = 0;
    (void)state;

    m.seconds = 0.025;
    make_graph(&whole, &whole, true, &m, &g, output);
    batch_create(&b, "cpu,cpu,cpu", true, g, output, NULL, NULL, &log);
    assert_int_equal(h.planned, 2); /* calls of the graph */
    assert_int_equal(batch_run(&b, MOST), EC_OK);
    for (size_t c = 0; c < MOST; c++)
        n += b.status[c] != 0;
    assert_true(n > 3);
    assert_int_equal(h.failed, n);
    /* its worker has the first third of the designs, its own last word is of the last one there */
    size_t last = MOST / 3;
    while (last-- > 0 && !b.status[last])
        ;
    char words[80];
    snprintf(words, sizeof words, "no %.17g", gene(last, 0));
    assert_string_equal(h.last, words);
    batch_release(&b);
    ec_graph_destroy(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),      cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_short_runs), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_users),      cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
