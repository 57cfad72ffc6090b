/* test_mimo_metrics.c: K factor, delays and angular spreads of links against closed forms: two rays
 * over a ground, a canyon of images, one path, none; the same bits alone and among others. */
#include <complex.h>
#include <math.h>

#include "evaluators/mimo/path_moments.h"
#include "mimo_harness.h"

enum { METRICS = EC_MIMO_OUTPUTS - EC_MIMO_K_FACTOR_DB, FREQUENCIES = 2 };
enum { K, MEAN, SPREAD, TX_AZIMUTH, TX_ELEVATION, RX_AZIMUTH, RX_ELEVATION, SHARE };

static const double frequency[FREQUENCIES] = {2.4e9, 5.1e9};

static int setup(void **state)
{
    (void)state;
    return mimo_open_cpu();
}

static int teardown(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    return 0;
}

/* All metrics, [METRICS][...] each as long as the call's H, and H where it is not NULL. */
static void evaluate(ec_graph *g, const ec_mimo_config *c, double **metric, ec_c128 *h)
{
    ec_call *call = mimo_link(g, c);
    ec_expr e[METRICS + 1];
    double *out[METRICS + 1];
    uint8_t status = 0;

    for (int m = 0; m < METRICS; m++) {
        e[m] = ec_mimo_value(g, call, (ec_mimo_output)(EC_MIMO_K_FACTOR_DB + m));
        assert_true(e[m] >= 0);
        out[m] = metric[m];
    }
    e[METRICS] = ec_mimo_value(g, call, EC_MIMO_CHANNEL);
    out[METRICS] = (double *)h;
    assert_int_equal(ec_evaluate_once(g, cpu, EC_SEARCH, h ? METRICS + 1 : METRICS, e, NULL, 0,
                                      NULL, 0, out, &status, NULL),
                     EC_OK);
    assert_int_equal(status, 0);
}

/* ---- the definitions, of a list of paths --------------------------------------------------------- */

typedef struct path {
    double power, length, azimuth[2], elevation[2]; /* at tx, at rx */
} path;

static double circular(int n, const path *p, int which)
{
    double complex sum = 0;
    double power = 0;

    for (int i = 0; i < n; i++) {
        double a = which & 1 ? p[i].elevation[which / 2] : p[i].azimuth[which / 2];
        sum += p[i].power * cexp(I * a);
        power += p[i].power;
    }
    double r = fmin(1, cabs(sum) / power);
    return sqrt(-2 * log(r));
}

static void expected(int n, const path *p, double want[METRICS])
{
    double power = 0, peak = 0, mean = 0, square = 0;

    for (int i = 0; i < n; i++) {
        power += p[i].power;
        peak = fmax(peak, p[i].power);
        mean += p[i].power * p[i].length / EC_LIGHT_SPEED;
    }
    mean /= power;
    for (int i = 0; i < n; i++)
        square += p[i].power * pow(p[i].length / EC_LIGHT_SPEED - mean, 2);
    want[K] = 10 * log10(peak / (power - peak));
    want[MEAN] = mean;
    want[SPREAD] = sqrt(square / power);
    for (int i = 0; i < 4; i++)
        want[TX_AZIMUTH + i] = circular(n, p, i);
    want[SHARE] = 0; /* nothing is curved */
}

/* K to 1e-9 dB, delays to 1e-9 of the delay (spreads as stated to 3e-8 of the largest excess delay),
 * angles to 3e-8 rad. */
static void close_to(const double got[METRICS], const double want[METRICS], double largest)
{
    static const double near[METRICS] = {1e-9, 0, 0, 3e-8, 3e-8, 3e-8, 3e-8, 0};

    for (int m = 0; m < METRICS; m++) {
        double limit = near[m];
        if (m == MEAN)
            limit = 1e-12 * want[MEAN];
        if (m == SPREAD)
            limit = fmin(3e-8 * largest, 1e-13 * largest * largest / want[SPREAD]);
        if (!(fabs(got[m] - want[m]) <= limit))
            print_error("metric %d: %.17g, not %.17g\n", m, got[m], want[m]);
        assert_true(fabs(got[m] - want[m]) <= limit);
    }
}

/* Two rays over a conductor, polarised across the plane of incidence: gains (wavelength / 4 pi r)^2.
 * Then K = 20 log10(r2 / r1) and the delay spread is r1 r2 (r2 - r1) / (r1^2 + r2^2) / c. */
static void test_two_rays(void **state)
{
    (void)state;
    static const double tx[2][3] = {{0, 0, 2.5}, {0, 0, 31}}, rx[3][3] = {
                                                                  {30, 0, 1.5},
                                                                  {30, 0, 7},
                                                                  {30, 0, 0.04},
                                                              };
    double got[METRICS][FREQUENCIES * 6], *to[METRICS];
    ec_shape ground;
    ec_graph *g = NULL;

    ec_shape_default(EC_SHAPE_GROUND, &ground);
    ground.size[0] = ground.size[1] = 200;
    ec_scene *scene = mimo_scene(1, &ground, (const char *const[]){"pec"});
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_mimo_config c = mimo_config(scene, FREQUENCIES, frequency);
    memcpy(c.tx.antenna.axis, (double[]){0, 1, 0}, sizeof c.tx.antenna.axis);
    memcpy(c.rx.antenna.axis, (double[]){0, 1, 0}, sizeof c.rx.antenna.axis);
    mimo_stand(g, 2, tx, &c.tx);
    mimo_stand(g, 3, rx, &c.rx);
    for (int m = 0; m < METRICS; m++)
        to[m] = got[m];
    evaluate(g, &c, to, NULL);
    for (int f = 0; f < FREQUENCIES; f++)
        for (int r = 0; r < 3; r++)
            for (int t = 0; t < 2; t++) {
                double a = tx[t][2], b = rx[r][2], r1 = hypot(30, a - b), r2 = hypot(30, a + b);
                double want[METRICS], mine[METRICS];
                path p[2] = {
                    {1 / (r1 * r1), r1, {0, 0}, {asin((b - a) / r1), asin((b - a) / r1)}},
                    {1 / (r2 * r2), r2, {0, 0}, {asin(-(a + b) / r2), asin((a + b) / r2)}}};
                expected(2, p, want);
                assert_true(fabs(want[K] - 20 * log10(r2 / r1)) < 1e-9);
                assert_true(fabs(want[SPREAD] * EC_LIGHT_SPEED -
                                 r1 * r2 * (r2 - r1) / (r1 * r1 + r2 * r2)) < 1e-12);
                for (int m = 0; m < METRICS; m++)
                    mine[m] = got[m][(f * 3 + r) * 2 + t];
                close_to(mine, want, (r2 - r1) / EC_LIGHT_SPEED);
                assert_true(mine[TX_AZIMUTH] == 0 && mine[RX_AZIMUTH] == 0);
            }
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
}

/* Two walls at y = +-w/2: images of the transmitter at n w + (-1)^n y, |n| <= depth; polarised along
 * the walls, whose reflections then are -1. */
static void test_canyon(void **state)
{
    (void)state;
    enum { DEPTH = 4, IMAGES = 2 * DEPTH + 1 };
    const double w = 14, tx[3] = {-20, 2.2, 4}, rx[3] = {31, -3.7, 4};
    double got[METRICS][FREQUENCIES], *to[METRICS], want[METRICS], mine[METRICS];
    path p[IMAGES];
    ec_shape canyon;
    ec_graph *g = NULL;

    ec_shape_default(EC_SHAPE_CANYON, &canyon);
    canyon.size[0] = 200;
    canyon.size[1] = w;
    canyon.size[2] = 30;
    ec_scene *scene = mimo_scene(1, &canyon, (const char *const[]){"pec"});
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_mimo_config c = mimo_config(scene, FREQUENCIES, frequency);
    c.depth = DEPTH;
    mimo_stand(g, 1, &tx, &c.tx);
    mimo_stand(g, 1, &rx, &c.rx);
    for (int m = 0; m < METRICS; m++)
        to[m] = got[m];
    evaluate(g, &c, to, NULL);
    for (int n = -DEPTH; n <= DEPTH; n++) {
        double y = n * w + (n & 1 ? -1 : 1) * tx[1], dx = rx[0] - tx[0], dy = rx[1] - y;
        path *q = &p[n + DEPTH];
        q->length = hypot(dx, dy);
        q->power = 1 / (q->length * q->length);
        q->azimuth[1] = atan2(dy, dx);
        q->azimuth[0] = atan2(n & 1 ? -dy : dy, dx); /* mirrored |n| times on the way */
        q->elevation[0] = q->elevation[1] = 0;
    }
    expected(IMAGES, p, want);
    assert_true(want[K] < 0 && want[RX_AZIMUTH] > 0.2);
    for (int f = 0; f < FREQUENCIES; f++) {
        for (int m = 0; m < METRICS; m++)
            mine[m] = got[m][f];
        close_to(mine, want, 30 / EC_LIGHT_SPEED);
    }
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
}

/* A plate between the antennas of one pair, not of the other. */
static void test_one_path_and_none(void **state)
{
    (void)state;
    static const double tx[1][3] = {{0, 0, 0}}, rx[2][3] = {{10, 0, 0}, {0, 4, 0}};
    double got[METRICS][FREQUENCIES * 2], *to[METRICS];
    ec_shape plate;
    ec_graph *g = NULL;

    ec_shape_default(EC_SHAPE_PLATE, &plate);
    memcpy(plate.at, (double[]){5, 0, 0}, sizeof plate.at);
    memcpy(plate.axis, (double[]){1, 0, 0}, sizeof plate.axis);
    plate.size[0] = plate.size[1] = 3;
    ec_scene *scene = mimo_scene(1, &plate, (const char *const[]){"pec"});
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_mimo_config c = mimo_config(scene, FREQUENCIES, frequency);
    c.depth = 0;
    mimo_stand(g, 1, tx, &c.tx);
    mimo_stand(g, 2, rx, &c.rx);
    for (int m = 0; m < METRICS; m++)
        to[m] = got[m];
    evaluate(g, &c, to, NULL);
    for (int f = 0; f < FREQUENCIES; f++) {
        assert_true(got[K][2 * f] == -150 && got[K][2 * f + 1] == 150);
        assert_true(got[MEAN][2 * f] == 0);
        assert_true(fabs(got[MEAN][2 * f + 1] - 4 / EC_LIGHT_SPEED) < 1e-20);
        for (int m = SPREAD; m < METRICS; m++)
            assert_true(got[m][2 * f] == 0 && got[m][2 * f + 1] == 0);
    }
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
}

/* Directions that cancel have a finite spread; equal ones none. */
static void test_ends(void **state)
{
    (void)state;
    assert_true(fabs(ec_moment_spread(2, 0, 0) - sqrt(106 * log(2))) < 1e-12);
    assert_true(ec_moment_spread(2, 0, 0) < EC_MOMENT_SPREAD_MAX);
    assert_true(ec_moment_spread(2, 2, 0) == 0 && ec_moment_spread(0, 0, 0) == 0);
    /* a third and two thirds of the power, 90 degrees apart: R = sqrt(5)/3 */
    assert_true(fabs(ec_moment_spread(3, 1, 2) - sqrt(-2 * log(sqrt(5.0) / 3))) < 1e-15);
    assert_true(ec_moment_k_factor_db(1, 1) == 150 && ec_moment_k_factor_db(0, 0) == -150);
}

enum { USERS = 40 };

/* The bits of a user's metrics among others and alone; H is the same with metrics and without. */
static void test_alone_or_among_others(void **state)
{
    (void)state;
    double at[USERS][3], all[METRICS][FREQUENCIES * USERS], one[METRICS][FREQUENCIES];
    double *to[METRICS], *alone[METRICS];
    static const double mast[1][3] = {{1.3, 0.9, 2.7}};
    ec_c128 h[FREQUENCIES * USERS], plain[FREQUENCIES * USERS];
    ec_call *call = NULL;
    ec_shape box[3];
    ec_graph *g = NULL;
    uint8_t status = 0;
    double share = 0;

    ec_shape_default(EC_SHAPE_BOX, &box[0]);
    memcpy(box[0].at, (double[]){4, 2.5, 1.5}, sizeof box[0].at);
    memcpy(box[0].size, (double[]){8, 5, 3}, sizeof box[0].size);
    box[0].inward = true;
    ec_shape_default(EC_SHAPE_BOX, &box[1]);
    memcpy(box[1].at, (double[]){4, 2, 0.9}, sizeof box[1].at);
    memcpy(box[1].size, (double[]){0.4, 1, 1.8}, sizeof box[1].size);
    ec_shape_default(EC_SHAPE_CYLINDER, &box[2]);
    memcpy(box[2].at, (double[]){6.2, 2.1, 1.3}, sizeof box[2].at);
    box[2].radius = 0.2;
    box[2].length = 2.5;
    ec_scene *scene =
        mimo_scene(3, box, (const char *const[]){"itu_concrete", "itu_concrete", "pec"});
    for (int i = 0; i < USERS; i++) {
        at[i][0] = 0.55 + 0.7 * (i % 10);
        at[i][1] = 0.35 + 1.15 * (i / 10) + 0.003 * (i % 7);
        at[i][2] = 1.93;
    }
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_mimo_config c = mimo_config(scene, FREQUENCIES, frequency);
    c.depth = 2;
    c.diffractions = 1;
    mimo_stand(g, 1, mast, &c.tx);
    mimo_stand(g, USERS, (const double(*)[3])at, &c.rx);
    c.receivers = USERS;
    for (int m = 0; m < METRICS; m++) {
        to[m] = all[m];
        alone[m] = one[m];
    }
    evaluate(g, &c, to, h);
    assert_int_equal(ec_mimo_call(g, &c, &call), EC_OK);
    ec_expr e = ec_mimo_value(g, call, EC_MIMO_CHANNEL);
    assert_int_equal(ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, NULL, 0, NULL, 0,
                                      (double *[]){(double *)plain}, &status, NULL),
                     EC_OK);
    assert_memory_equal(h, plain, sizeof h);
    c.receivers = 1;
    for (int i = 0; i < USERS; i += 7) {
        mimo_stand(g, 1, (const double(*)[3])(at + i), &c.rx);
        evaluate(g, &c, alone, NULL);
        for (int m = 0; m < METRICS; m++)
            for (int f = 0; f < FREQUENCIES; f++)
                assert_memory_equal(&one[m][f], &all[m][f * USERS + i], sizeof(double));
        assert_true(one[K][0] > -20 && one[K][0] < 40 && one[SPREAD][0] > 1e-10);
        share = fmax(share, one[SHARE][0]);
    }
    assert_true(share > 0 && share < 1);
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_rays), cmocka_unit_test(test_canyon),
        cmocka_unit_test(test_one_path_and_none), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_alone_or_among_others)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
