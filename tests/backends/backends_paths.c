/* backends_paths.c: channels of pairs in a room with a curved body and a slab, against the paths of
 * each pair found alone. */
#include "backends.h"

#include "evaluators/mimo/path_channels.h"
#include "evaluators/mimo/path_kernels.h"
#include "unit/path_scenes.h"

#include <stdlib.h>

enum {
    PAIRS = 61,
    BY_AN_EDGE = 16, /* the last of them */
    FREQUENCIES = 2,
    COUNTS = 2 * FREQUENCIES,
    MOMENTS = COUNTS + 3,
    ROWS = MOMENTS + 2 * FREQUENCIES
};

static double part(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* A closed room, a cupboard, a column, a thin wall; conductors, for materials are of the kinds that
 * path_scenes.h has. */
static void make_hall(test_scene *t)
{
    double u[3] = {0, 1.1, 0}, v[3] = {0, 0, 1}, at[3] = {2.5, 2, 1.2}, foot[3] = {4.2, 1.2, 1.3};

    scene_begin(t, 1);
    scene_aligned_box(t, 0, 0, 0, 6, 4.3, 2.7, true, 63);
    scene_aligned_box(t, 0.3, 0.2, 0.1, 1.1, 0.9, 1.9, false, 63);
    scene_plate(t, at, u, v, 1);
    scene_round(t, EC_SURFACE_CYLINDER, foot, (double[3]){0, 0, 1}, 0.3, 1.2, 180, false);
    scene_end(t);
}

/* Puts the receiver so that the sight line passes an upright edge of the thin wall, at x = 2.5 and
 * y = 0.9, to either side of it by 1e-5 m down to 1e-12 m: float32 cannot tell the sides. */
static void pass_an_edge(int pair, double tx[3], double rx[3])
{
    double at[3] = {2.5, 0.9, 1.2}, away = 1e-5;

    for (int i = 0; i < pair / 2; i++)
        away *= 0.1;
    at[1] += pair % 2 ? away : -away;
    tx[1] = 0.5 + 0.25 * tx[1];
    tx[2] = 0.8 + 0.3 * tx[2];
    for (int k = 0; k < 3; k++)
        rx[k] = 2 * at[k] - tx[k];
}

/* What ec_path_find and ec_path_channel say of one pair. */
static int pair_alone(const ec_path_plan *plan, const ec_path_sequences *sequences,
                      const test_scene *t, const double *frequency, const ec_antenna *a,
                      const ec_antenna *b, const double tx[3], const double rx[3],
                      double rows[ROWS])
{
    ec_path_list list = {0};
    ec_fresnel_face face[2];

    for (int k = 0; k < ROWS; k++)
        rows[k] = 0;
    EC_CHECK_CALL(ec_path_find(plan, sequences, tx, rx, &list));
    for (int f = 0; f < FREQUENCIES; f++) {
        EC_CHECK_CALL(ec_path_faces(&t->s, frequency[f], face));
        for (size_t i = 0; i < list.n; i++) {
            ec_c128 h =
                ec_path_channel(&t->s, face, &list, i, a, tx, b, rx, EC_LIGHT_SPEED / frequency[f]);
            rows[2 * f] += h.re;
            rows[2 * f + 1] += h.im;
            rows[MOMENTS + 2 * f] += hypot(h.re, h.im);
            if (2 * EC_PI * list.path[i].smooth < EC_LIGHT_SPEED / frequency[f])
                rows[MOMENTS + 2 * f + 1] += hypot(h.re, h.im);
        }
    }
    for (size_t i = 0; i < list.n; i++)
        rows[COUNTS + EC_PATH_ROW_GRAZING] +=
            2 * EC_PI * list.path[i].smooth < EC_LIGHT_SPEED / frequency[0];
    rows[COUNTS + EC_PATH_ROW_PATHS] = (double)list.n;
    rows[COUNTS + EC_PATH_ROW_UNRESOLVED] = (double)list.unresolved;
    ec_path_list_free(&list);
    return 0;
}

static int run_channels(ec_backend *backend)
{
    const double frequency[FREQUENCIES] = {2.4e9, 5.1e9};
    ec_path_box tx_box = {{1.4, 0.3, 0.3}, {2.2, 4, 2.4}}, rx_box = {{2.8, 0.2, 0.5}, {5.6, 4, 2}};
    size_t ld = ec_lane_ld(PAIRS);
    test_scene *t = malloc(sizeof *t);
    double *at = calloc(6 * ld, sizeof *at), *got = calloc(ROWS * ld, sizeof *got);
    double *want = calloc(ROWS * ld, sizeof *want);
    ec_path_options options;
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_path_channels *channels = NULL;
    ec_antenna a, b;
    ec_path_antennas sends = {0}, hears = {0};
    ec_guarded places = {0}, work = {0}, sum = {0};
    uint32_t state = 5;
    double paths = 0, grazing = 0;

    EC_CHECK(t && at && got && want, "out of memory");
    make_hall(t);
    ec_path_options_default(&options);
    options.depth = 2;
    options.diffractions = 1;
    options.transmissions = 1;
    EC_CHECK_CALL(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, (double[3]){0, 0, 1}, NULL, &a));
    EC_CHECK_CALL(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, (double[3]){1, 0, 2}, NULL, &b));
    EC_CHECK_CALL(ec_path_plan_create(&t->s, &options, &plan));
    EC_CHECK_CALL(ec_path_enumerate(plan, &tx_box, &rx_box, &sequences));
    for (size_t c = 0; c < PAIRS; c++) {
        double tx[3], rx[3], rows[ROWS];
        for (size_t k = 0; k < 3; k++) {
            tx[k] = tx_box.low[k] + part(&state) * (tx_box.high[k] - tx_box.low[k]);
            rx[k] = rx_box.low[k] + part(&state) * (rx_box.high[k] - rx_box.low[k]);
        }
        if (c >= PAIRS - BY_AN_EDGE)
            pass_an_edge((int)(c + BY_AN_EDGE - PAIRS), tx, rx);
        for (size_t k = 0; k < 3; k++) {
            at[k * ld + c] = tx[k];
            at[(3 + k) * ld + c] = rx[k];
        }
        EC_CHECK(pair_alone(plan, sequences, t, frequency, &a, &b, tx, rx, rows) == 0, "reference");
        for (size_t k = 0; k < ROWS; k++)
            want[k * ld + c] = rows[k];
        paths += rows[COUNTS];
        grazing += rows[COUNTS + EC_PATH_ROW_GRAZING];
    }
    EC_CHECK(sequences->n > 64 && paths > 10 * PAIRS && grazing > 0,
             "%zu sequences, %g paths, %g of them grazing", sequences->n, paths, grazing);
    EC_CHECK_CALL(
        ec_path_channels_create(plan, sequences, FREQUENCIES, frequency, backend, &channels));
    ec_path_channels_want(channels, EC_MOMENTS_GRAZING);
    EC_CHECK_CALL(ec_guarded_create(backend, 6 * ld * sizeof *at, &places));
    EC_CHECK_CALL(ec_guarded_create(backend, ec_path_channels_workspace(channels, PAIRS), &work));
    EC_CHECK_CALL(ec_guarded_create(backend, ROWS * ld * sizeof *got, &sum));
    EC_CHECK_CALL(backend->ops->upload(backend, places.data, at, 6 * ld * sizeof *at));
    EC_CHECK_CALL(ec_path_antennas_create(backend, 1, &a, &sends));
    EC_CHECK_CALL(ec_path_antennas_create(backend, 1, &b, &hears));
    EC_CHECK_CALL(ec_path_channels_run(channels, &sends, &hears, places.data,
                                       (double *)places.data + 3 * ld, PAIRS, work.data, sum.data));
    EC_CHECK_CALL(backend->ops->download(backend, got, sum.data, ROWS * ld * sizeof *got));
    int bad = 0;
    for (size_t k = 0; k < ROWS; k++) { /* counts are exact; fields are sums of some ten waves,
                                           whose phases of 1e2 turns have rounding errors of 1e-13 */
        bool count = k >= COUNTS && k < MOMENTS;
        bad |= ec_compare_f64(count        ? "counts"
                              : k < COUNTS ? "channels"
                                           : "sizes",
                              got + k * ld, want + k * ld, PAIRS, count ? 0 : 1e-9);
    }
    bad |= ec_guarded_check(backend, &places, "places");
    bad |= ec_guarded_check(backend, &work, "workspace");
    bad |= ec_guarded_check(backend, &sum, "channels");
    ec_guarded_release(backend, &places);
    ec_guarded_release(backend, &work);
    ec_guarded_release(backend, &sum);
    ec_path_antennas_destroy(backend, &sends);
    ec_path_antennas_destroy(backend, &hears);
    ec_path_channels_destroy(&channels);
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);
    free(t);
    free(at);
    free(got);
    free(want);
    return bad;
}

const ec_case ec_cases_paths[] = {
    {"paths/channels", run_channels},
    {NULL, NULL},
};
