/* Channels as expressions: a receiver has the same bits alone and among others, a design alone and
 * in a batch; reciprocity; designs that fail. */
#include <math.h>

#include "mimo_harness.h"
#include "mimo_places.h"

static ec_scene *room; /* 8 x 5 x 3 m of concrete, a box of metal within */

static ec_scene *make_room(void)
{
    ec_shape shape[2];

    ec_shape_default(EC_SHAPE_BOX, &shape[0]);
    memcpy(shape[0].at, (double[]){4, 2.5, 1.5}, sizeof shape[0].at);
    memcpy(shape[0].size, (double[]){8, 5, 3}, sizeof shape[0].size);
    shape[0].inward = true;
    ec_shape_default(EC_SHAPE_BOX, &shape[1]);
    memcpy(shape[1].at, (double[]){4, 2, 0.9}, sizeof shape[1].at);
    memcpy(shape[1].size, (double[]){0.4, 1, 1.8}, sizeof shape[1].size);
    return mimo_scene(2, shape, (const char *const[]){"itu_concrete", "pec"});
}

static int setup(void **state)
{
    (void)state;
    room = make_room();
    return mimo_open_cpu();
}

static int teardown(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    ec_scene_destroy(&room);
    return 0;
}

static ec_graph *graph(void)
{
    ec_graph *g = NULL;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    return g;
}

static const double frequency[2] = {3.5e9, 3.6e9};

static ec_mimo_config config(void)
{
    ec_mimo_config c = mimo_config(room, 2, frequency);

    c.depth = 2;
    c.diffractions = 1;
    return c;
}

static ec_expr channel(ec_graph *g, const ec_mimo_config *c)
{
    return ec_mimo_value(g, mimo_link(g, c), EC_MIMO_CHANNEL);
}

static void evaluate(ec_graph *g, ec_expr e, const double *genes, size_t n_genes, void *to,
                     uint8_t *status)
{
    double *out = to;
    assert_true(e >= 0);
    assert_int_equal(
        ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, genes, n_genes, NULL, 0, &out, status, NULL),
        EC_OK);
}

enum { USERS = 100, MASTS = 2 };
static const double mast[MASTS][3] = {{1.3, 0.9, 2.7}, {1.3, 1.1, 2.7}};

static void users(double (*at)[3])
{
    for (int i = 0; i < USERS; i++) {
        at[i][0] = 0.55 + 0.7 * (i % 10);
        at[i][1] = 0.35 + 0.45 * (i / 10) + 0.003 * (i % 7);
        at[i][2] = 1.93;
    }
}

/* The bits of H for one user whose sequences were settled for a box around it alone, and for one
 * of a hundred; their order does not matter either. */
static void test_alone_or_among_others(void **state)
{
    (void)state;
    double at[USERS][3], back[USERS][3];
    ec_c128 all[2 * USERS * MASTS], turned[2 * USERS * MASTS];
    ec_mimo_config c = config();
    uint8_t status = 0;
    users(at);
    for (int i = 0; i < USERS; i++)
        memcpy(back[i], at[USERS - 1 - i], sizeof back[i]);
    ec_graph *g = graph();
    mimo_stand(g, MASTS, mast, &c.tx);
    mimo_stand(g, USERS, (const double(*)[3])at, &c.rx);
    c.receivers = USERS;
    evaluate(g, channel(g, &c), NULL, 0, all, &status);
    assert_int_equal(status, 0);
    mimo_stand(g, USERS, (const double(*)[3])back, &c.rx);
    evaluate(g, channel(g, &c), NULL, 0, turned, &status);
    c.receivers = 1;
    for (int i = 0; i < USERS; i += 9) {
        ec_c128 one[2 * MASTS];
        mimo_stand(g, 1, (const double(*)[3])(at + i), &c.rx);
        evaluate(g, channel(g, &c), NULL, 0, one, &status);
        for (int f = 0; f < 2; f++) {
            size_t bytes = MASTS * sizeof *one;
            assert_memory_equal(one + f * MASTS, all + (f * USERS + i) * MASTS, bytes);
            assert_memory_equal(one + f * MASTS, turned + (f * USERS + USERS - 1 - i) * MASTS,
                                bytes);
        }
        assert_true(hypot(one[0].re, one[0].im) > 1e-5);
    }
    ec_graph_destroy(&g);
}

/* H(TX, RX) = H(RX, TX)^T. */
static void test_reciprocity(void **state)
{
    (void)state;
    double at[USERS][3];
    ec_c128 there[2 * USERS * MASTS], back[2 * USERS * MASTS];
    ec_mimo_config c = config();
    uint8_t status = 0;
    users(at);
    ec_graph *g = graph();
    mimo_stand(g, MASTS, mast, &c.tx);
    mimo_stand(g, USERS, (const double(*)[3])at, &c.rx);
    c.rx.antenna.kind = EC_ELEMENT_KIND_HALF_WAVE;
    evaluate(g, channel(g, &c), NULL, 0, there, &status);
    ec_mimo_end tx = c.tx;
    c.tx = c.rx;
    c.rx = tx;
    evaluate(g, channel(g, &c), NULL, 0, back, &status);
    for (int f = 0; f < 2; f++)
        for (int r = 0; r < USERS; r++)
            for (int t = 0; t < MASTS; t++) {
                ec_c128 a = there[(f * USERS + r) * MASTS + t],
                        b = back[(f * MASTS + t) * USERS + r];
                /* amplitudes are about 1e-3; phases are of some hundred turns */
                assert_true(hypot(a.re - b.re, a.im - b.im) < 1e-13);
            }
    ec_graph_destroy(&g);
}

/* Two antennas that move along x, at y = 0.8 and 1.4: n designs. */
static ec_expr moving(ec_graph *g, ec_mimo_config *c, double min, double max)
{
    const double low[2] = {min, min}, high[2] = {max, max}, y[2] = {0.8, 1.4};
    int32_t two = 2;
    c->tx.at[0] = ec_graph_variable(g, false, 0, 2, low, high);
    c->tx.at[1] = ec_graph_constant(g, 1, &two, y);
    c->tx.at[2] = ec_graph_number(g, 1.7);
    c->tx.count = 2;
    mimo_stand(g, 1, &(const double[3]){6.1, 3.3, 1.2}, &c->rx);
    return channel(g, c);
}

static void genes_of(size_t design, double x[2])
{
    x[0] = 0.5 + 7.0 * (double)((design * 37) % 101) / 101;
    x[1] = 0.5 + 7.0 * (double)((design * 53) % 97) / 97;
}

static void test_alone_or_in_a_batch(void **state)
{
    enum { N = 71 };
    (void)state;
    ec_mimo_config c = config();
    ec_graph *g = graph();
    ec_expr h = moving(g, &c, 0.5, 7.5);
    ec_array X = {0};
    ec_executor *executor = NULL;
    int32_t genes = 2;
    void *status = NULL;
    assert_int_equal(ec_array_create(cpu, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &genes, N, 1), EC_OK);
    assert_int_equal(cpu->ops->alloc(cpu, 128, &status), EC_OK);
    double *x = X.data;
    for (size_t i = 0; i < N; i++) {
        double one[2];
        genes_of(i, one);
        x[i] = one[0];
        x[X.ld + i] = one[1];
    }
    ec_executor_info info = {.n_outputs = 1, .outputs = &h, .max_candidates = N};
    assert_int_equal(ec_executor_create(g, cpu, &info, &executor), EC_OK);
    assert_int_equal(ec_executor_run(executor, &X, NULL, NULL, status, N, 0), EC_OK);
    const ec_array *out = ec_executor_output(executor, 0);
    const ec_c128 *all = out->data;
    const uint8_t *bad = status;
    int failed = 0;
    for (size_t i = 0; i < N; i++) {
        double one[2];
        ec_c128 alone[4];
        uint8_t own = 0;
        genes_of(i, one);
        evaluate(g, h, one, 2, alone, &own);
        assert_int_equal(own, bad[i]);
        failed += own != 0;
        for (size_t e = 0; e < 4; e++)
            assert_memory_equal(&alone[e], &all[e * out->ld + i], sizeof *alone);
    }
    /* the cabinet begins at y = 1.5: no antenna is in it */
    assert_int_equal(failed, 0);
    ec_executor_destroy(&executor);
    ec_array_release(cpu, &X);
    cpu->ops->release(cpu, status);
    ec_graph_destroy(&g);
}

/* A solid cylinder of 36 sides is one: between its sides and the true surface is inside. */
static void test_under_the_surface(void **state)
{
    (void)state;
    const double radius[4] = {0.9, 0.998, 1.001, 1.1}; /* a side's middle is at 0.9962 */
    double at[8][3];
    bool places[8];
    ec_shape shape;
    ec_shape_default(EC_SHAPE_CYLINDER, &shape);
    shape.radius = 1;
    shape.sides = 36;
    ec_scene *scene = mimo_scene(1, &shape, (const char *const[]){"pec"});
    for (int i = 0; i < 8; i++) {
        double angle = (i < 4 ? 5 : 145) * EC_PI / 180;
        at[i][0] = radius[i % 4] * cos(angle);
        at[i][1] = radius[i % 4] * sin(angle);
        at[i][2] = 0.1;
    }
    assert_int_equal(ec_mimo_places_free(scene, 8, (const double(*)[3])at, 0, 1, places), EC_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(places[i], radius[i % 4] > 1);
    ec_scene_destroy(&scene);
}

static void test_designs_that_fail(void **state)
{
    (void)state;
    static const double y[2] = {2.1, 1.0};
    int32_t two = 2;
    ec_c128 h[4];
    uint8_t status = 0;
    ec_mimo_config c = config();
    ec_graph *g = graph();
    moving(g, &c, 0.5, 7.5);
    c.tx.at[1] = ec_graph_constant(g, 1, &two, y);
    ec_expr e = channel(g, &c);
    evaluate(g, e, (double[]){3, 5}, 2, h, &status);
    assert_int_equal(status, 0);
    evaluate(g, e, (double[]){4, 5}, 2, h, &status); /* in the cabinet */
    assert_int_equal(status & EC_CANDIDATE_MISPLACED, EC_CANDIDATE_MISPLACED);
    evaluate(g, e, (double[]){3.8, 5}, 2, h, &status); /* on it */
    assert_int_equal(status & EC_CANDIDATE_MISPLACED, EC_CANDIDATE_MISPLACED);
    mimo_stand(g, 1, &(const double[3]){5, 1, 1.7}, &c.rx);
    e = channel(g, &c);
    evaluate(g, e, (double[]){3, 5}, 2, h, &status); /* at the receiver */
    assert_int_equal(status & EC_CANDIDATE_MISPLACED, EC_CANDIDATE_MISPLACED);
    evaluate(g, e, (double[]){3, 5.1}, 2, h, &status);
    assert_int_equal(status, 0);
    c.tx.box[0][0] = 1;
    c.tx.box[1][0] = 5.5;
    e = channel(g, &c);
    evaluate(g, e, (double[]){3, 5.6}, 2, h, &status);
    assert_int_equal(status, EC_CANDIDATE_OUT_OF_RANGE);
    evaluate(g, e, (double[]){3, 5.4}, 2, h, &status);
    assert_int_equal(status, 0);
    ec_graph_destroy(&g);
}

/* Rays find what enumeration does, in a scene this small. */
static void test_launched(void **state)
{
    (void)state;
    double at[USERS][3];
    ec_c128 a[2 * USERS * MASTS], b[2 * USERS * MASTS];
    ec_mimo_config c = config();
    uint8_t status = 0;
    users(at);
    ec_graph *g = graph();
    mimo_stand(g, MASTS, mast, &c.tx);
    mimo_stand(g, USERS, (const double(*)[3])at, &c.rx);
    c.search = EC_MIMO_EXHAUSTIVE;
    evaluate(g, channel(g, &c), NULL, 0, a, &status);
    c.search = EC_MIMO_LAUNCHED;
    evaluate(g, channel(g, &c), NULL, 0, b, &status);
    assert_memory_equal(a, b, sizeof a);
    ec_graph_destroy(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone_or_among_others),
                                       cmocka_unit_test(test_reciprocity),
                                       cmocka_unit_test(test_alone_or_in_a_batch),
                                       cmocka_unit_test(test_designs_that_fail),
                                       cmocka_unit_test(test_launched),
                                       cmocka_unit_test(test_under_the_surface)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
