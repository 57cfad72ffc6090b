/* test_fdtd_lines.c: grid lines of candidates: what all must have, over random models. */
#include "evaluators/fdtd/fdtd_lines_internal.h"
#include "core/log.h"
#include "core/status.h"
#include "ray_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MM 1e-3

enum { MOST_OBJECTS = 16, MOST_NUMBERS = 16, MOST_PORTS = 2 };

/* ---- models by hand ---- */

typedef struct model {
    ec_fdtd_model of;
    ec_fdtd_object object[MOST_OBJECTS];
    ec_fdtd_material material[4];
    ec_fdtd_port port[MOST_PORTS];
    ec_interval range[MOST_NUMBERS];
    double frequency[2];
} model;

typedef struct lines {
    int32_t n[3];
    double *x[3];
} lines;

static ec_fdtd_number fixed(double value)
{
    return (ec_fdtd_number){value, -1};
}

static ec_fdtd_number variable(model *m, double lo, double hi)
{
    assert_true(m->of.n_numbers < MOST_NUMBERS);
    m->range[m->of.n_numbers] = (ec_interval){lo, hi};
    return (ec_fdtd_number){0, m->of.n_numbers++};
}

static void start(model *m)
{
    memset(m, 0, sizeof *m);
    ec_fdtd_config *c = &m->of.config;
    m->of.range = m->range;
    c->objects = m->object;
    c->materials = m->material;
    c->ports = m->port;
    c->frequency = m->frequency;
    c->n_frequencies = 2;
    m->frequency[0] = 1e9;
    m->frequency[1] = 4e9;
    c->layers = 8;
    c->grid.cells_per_wavelength = 20;
    c->grid.growth = 1.4;
    c->grid.largest = c->grid.smallest = c->grid.air = NAN;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            c->wall[a][side] = EC_FDTD_WALL_PML;
            c->grid.domain[side][a] = fixed(NAN);
        }
}

static ec_fdtd_object *add(model *m, ec_fdtd_kind kind, const char *name, int32_t material)
{
    assert_true(m->of.config.n_objects < MOST_OBJECTS);
    ec_fdtd_object *o = &m->object[m->of.config.n_objects++];
    o->kind = kind;
    o->name = name;
    o->material = material;
    o->axis = 2;
    ec_fdtd_number *each[] = {&o->at[0],  &o->at[1],        &o->at[2],   &o->to[0],   &o->to[1],
                              &o->to[2],  &o->size[0],      &o->size[1], &o->size[2], &o->radius,
                              &o->length, &o->inner_radius, &o->ohms};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        *each[i] = fixed(0);
    return o;
}

static ec_fdtd_object *add_box(model *m, const char *name, int32_t material, ec_fdtd_number at,
                               ec_fdtd_number size)
{
    ec_fdtd_object *o = add(m, EC_FDTD_BOX, name, material);
    for (int a = 0; a < 3; a++) {
        o->at[a] = at;
        o->size[a] = size;
    }
    return o;
}

static int32_t add_material(model *m, const char *name, double eps_r)
{
    ec_fdtd_material *new = &m->material[m->of.config.n_materials++];
    new->name = name;
    new->eps_r = fixed(eps_r);
    new->mu_r = fixed(1);
    new->conductivity = new->magnetic_conductivity = new->loss_tangent = fixed(0);
    return m->of.config.n_materials - 1;
}

static void middle(const model *m, double *values)
{
    for (int32_t i = 0; i < m->of.n_numbers; i++)
        values[i] = 0.5 * (m->range[i].lo + m->range[i].hi);
}

static void count_warnings(void *user, ec_log_level level, const char *text)
{
    (void)text;
    if (level >= EC_LOG_WARNING)
        ++*(int *)user;
}

static ec_fdtd_line_plan *plan_of(const model *m, int *warnings)
{
    ec_fdtd_line_plan *plan;
    int n = 0;
    ec_log log = {EC_LOG_INFO, count_warnings, &n};

    int status = ec_fdtd_line_plan_create(&m->of, &log, &plan);
    if (status != EC_OK)
        fail_msg("%s", ec_error_text());
    if (warnings)
        *warnings = n;
    return plan;
}

static lines lines_for(const ec_fdtd_line_plan *plan)
{
    lines l;
    for (int a = 0; a < 3; a++) {
        l.n[a] = ec_fdtd_line_cells(plan, a);
        l.x[a] = (double *)malloc(sizeof(double) * ((size_t)l.n[a] + 1));
        assert_non_null(l.x[a]);
    }
    return l;
}

static void free_lines(lines *l)
{
    for (int a = 0; a < 3; a++)
        free(l->x[a]);
}

static void lay_ok(const ec_fdtd_line_plan *plan, const double *values, lines *l)
{
    int status = ec_fdtd_lay_lines(plan, values, l->x);
    if (status != EC_OK)
        fail_msg("%s", ec_error_text());
}

static void assert_fails(const model *m, const double *values, const char *words)
{
    ec_fdtd_line_plan *plan;
    int warnings = 0;
    ec_log log = {EC_LOG_INFO, count_warnings, &warnings};
    int status = ec_fdtd_line_plan_create(&m->of, &log, &plan);
    if (status == EC_OK && values) {
        lines l = lines_for(plan);
        status = ec_fdtd_lay_lines(plan, values, l.x);
        free_lines(&l);
    }
    assert_true(status < 0);
    if (!strstr(ec_error_text(), words))
        fail_msg("\"%s\" lacks \"%s\"", ec_error_text(), words);
    ec_fdtd_line_plan_destroy(&plan);
}

/* ---- properties ---- */

static void assert_ascending(const lines *l)
{
    for (int a = 0; a < 3; a++)
        for (int32_t i = 0; i < l->n[a]; i++)
            assert_true(l->x[a][i + 1] > l->x[a][i]);
}

static double worst_ratio(int32_t n, const double *x)
{
    double worst = 1;
    for (int32_t i = 1; i < n; i++) {
        double a = x[i] - x[i - 1], b = x[i + 1] - x[i];
        worst = fmax(worst, fmax(a / b, b / a));
    }
    return worst;
}

static double distance_to_line(const lines *l, int a, double x)
{
    return fabs(l->x[a][ec_fdtd_nearest_line(l->n[a], l->x[a], x)] - x);
}

static bool is_on_line(const lines *l, int a, double x)
{
    return distance_to_line(l, a, x) == 0;
}

static double largest_within(const lines *l, int a, double lo, double hi)
{
    double largest = 0;
    for (int32_t i = 0; i < l->n[a]; i++)
        if (l->x[a][i] > lo - 1e-9 && l->x[a][i + 1] < hi + 1e-9)
            largest = fmax(largest, l->x[a][i + 1] - l->x[a][i]);
    return largest;
}

/* A patch on a board, fed by a port. */
static void patch(model *m, bool varied)
{
    double h = 1.524 * MM;
    start(m);
    int32_t board = add_material(m, "board", 3.38);
    ec_fdtd_number w = varied ? variable(m, 36 * MM, 44 * MM) : fixed(40 * MM);
    ec_fdtd_number l = varied ? variable(m, 28 * MM, 34 * MM) : fixed(31 * MM);
    ec_fdtd_object *o = add(m, EC_FDTD_BOX, "board", board);
    o->size[0] = o->size[1] = fixed(60 * MM);
    o->size[2] = fixed(h);
    o->at[2] = fixed(h / 2);
    o = add(m, EC_FDTD_PLATE, "ground", EC_FDTD_PEC);
    o->size[0] = o->size[1] = fixed(60 * MM);
    o = add(m, EC_FDTD_PLATE, "patch", EC_FDTD_PEC);
    o->size[0] = l;
    o->size[1] = w;
    o->at[2] = fixed(h);
    m->of.config.n_ports = 1;
    ec_fdtd_port *p = &m->port[0];
    p->name = "in";
    p->axis = 2;
    p->from[0] = p->to[0] = fixed(-6 * MM);
    p->from[1] = p->to[1] = p->from[2] = fixed(0);
    p->to[2] = fixed(h);
    m->of.config.grid.least_cells = 4;
}

static void test_patch(void **state)
{
    model m;
    double values[MOST_NUMBERS], step[3];
    int warnings;
    (void)state;

    patch(&m, true);
    ec_fdtd_line_plan *plan = plan_of(&m, &warnings);
    assert_int_equal(warnings, 0);
    lines l = lines_for(plan);
    double free_size = EC_LIGHT_SPEED / 4e9 / 20, in_board = free_size / sqrt(3.38);
    for (int i = 0; i <= 8; i++)
        for (int j = 0; j <= 8; j++) {
            values[0] = (36 + i) * MM;
            values[1] = (28 + 0.75 * j) * MM;
            lay_ok(plan, values, &l);
            assert_ascending(&l);
            double air = EC_LIGHT_SPEED / 2.5e9 / 4;
            for (int a = 0; a < 3; a++) {
                assert_true(worst_ratio(l.n[a], l.x[a]) < 1.4 * (1 + 1e-9));
                assert_true(largest_within(&l, a, -1, 1) <= free_size * 1.021);
                assert_int_equal(ec_fdtd_line_layers(plan, a, 0), 8);
                for (int32_t k = 0; k < 8; k++) {
                    step[0] = l.x[a][k + 1] - l.x[a][k];
                    step[1] = l.x[a][9] - l.x[a][8];
                    assert_true(fabs(step[0] / step[1] - 1) < 1e-9);
                }
            }
            for (int s = -1; s <= 1; s += 2) {
                assert_true(is_on_line(&l, 0, s * 0.5 * values[1]));
                assert_true(is_on_line(&l, 1, s * 0.5 * values[0]));
                assert_true(is_on_line(&l, 0, s * 30 * MM) && is_on_line(&l, 1, s * 30 * MM));
            }
            assert_true(l.x[0][8] == -30 * MM - air && l.x[0][l.n[0] - 8] == 30 * MM + air);
            assert_true(is_on_line(&l, 0, -6 * MM) && is_on_line(&l, 1, 0));
            assert_true(largest_within(&l, 0, -30 * MM, 30 * MM) <= in_board * 1.021);
            assert_true(is_on_line(&l, 2, 0) && is_on_line(&l, 2, 1.524 * MM));
            assert_true(largest_within(&l, 2, 0, 1.524 * MM) < 1.525 * MM / 4);
        }
    char text[4096];
    ec_fdtd_line_plan_describe(plan, text, sizeof text);
    const char *words[] = {
        "3.74741 mm in free space",
        "20 a wavelength of 74.9481 mm at 4 GHz",
        "at least 4 across each object",
        "material 'board': at most 2.03832 mm, its shortest wavelength is 40.7664 mm",
        "air between objects and absorbing walls: 29.9792 mm",
        "at 2.5 GHz",
        "8 + 8 absorbing",
        "domain from -59.9792 mm"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strstr(text, words[i]))
            fail_msg("\"%s\" is not in\n%s", words[i], text);
    assert_true(ec_fdtd_line_resolution(plan) >= 20 / 1.021);
    char shorter[40];
    ec_fdtd_line_plan_describe(plan, shorter, sizeof shorter);
    assert_true(strlen(shorter) == 39 && !strncmp(shorter, text, 39));
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* No line jumps: its position is continuous with a bounded slope, and the same from either side. */
static void test_sweep_is_smooth(void **state)
{
    model m;
    double values[2] = {40 * MM, 0};
    enum { STEPS = 600 };
    (void)state;

    patch(&m, true);
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    lines before = lines_for(plan), now = lines_for(plan), last = lines_for(plan);
    double bend = 0;
    for (int i = 0; i <= STEPS; i++) {
        values[1] = (28 + 6.0 * i / STEPS) * MM;
        lay_ok(plan, values, &now);
        for (int a = 0; a < 3 && i > 0; a++)
            for (int32_t k = 0; k <= now.n[a]; k++)
                assert_true(fabs(now.x[a][k] - before.x[a][k]) <= 2 * 6.0 / STEPS * MM);
        for (int32_t k = 0; k <= now.n[0] && i > 1; k++)
            bend = fmax(bend, fabs(now.x[0][k] - 2 * before.x[0][k] + last.x[0][k]));
        /* both sides of the patch alike */
        for (int32_t k = 0; k <= now.n[1]; k++)
            assert_true(fabs(now.x[1][k] + now.x[1][now.n[1] - k]) < 1e-12);
        lines swap = last;
        last = before;
        before = now;
        now = swap;
    }
    assert_true(bend < 0.3 * 6.0 / STEPS * MM); /* kinks, no jumps */
    free_lines(&last);
    free_lines(&before);
    free_lines(&now);
    ec_fdtd_line_plan_destroy(&plan);
}

/* ---- random models ---- */

static ec_fdtd_number some_number(model *m, uint64_t *seed, double value, double by)
{
    if (m->of.n_numbers == 5 || next_unit(seed) < 0.6)
        return fixed(value);
    return variable(m, value - by * next_unit(seed), value + by * next_unit(seed));
}

static void random_model(model *m, uint64_t seed)
{
    start(m);
    add_material(m, "light", 2.2);
    add_material(m, "dense", 9.8);
    int n = 1 + (int)(5 * next_unit(&seed));
    for (int i = 0; i < n; i++) {
        int32_t material = (int32_t)(3 * next_unit(&seed));
        ec_fdtd_object *o = add(m, (ec_fdtd_kind)(4 * next_unit(&seed)), "thing",
                                material == 2 ? EC_FDTD_PEC : material);
        for (int a = 0; a < 3; a++) {
            o->at[a] = some_number(m, &seed, (60 * next_unit(&seed) - 30) * MM, 0.2 * MM);
            o->size[a] = some_number(m, &seed, (4 + 40 * next_unit(&seed)) * MM, MM);
        }
        o->axis = (int)(3 * next_unit(&seed));
        if (o->kind == EC_FDTD_PLATE)
            o->size[o->axis] = fixed(0);
        o->radius = some_number(m, &seed, (8 + 20 * next_unit(&seed)) * MM, MM);
        o->inner_radius = fixed(next_unit(&seed) < 0.5 ? 0 : 4 * MM);
        o->length = some_number(m, &seed, (4 + 40 * next_unit(&seed)) * MM, MM);
    }
    m->of.config.grid.growth = 1.2 + 0.6 * next_unit(&seed);
    m->of.config.grid.least_cells = (int32_t)(5 * next_unit(&seed));
    if (next_unit(&seed) < 0.3)
        m->of.config.wall[0][0] = EC_FDTD_WALL_PEC;
    if (next_unit(&seed) < 0.3)
        m->of.config.wall[1][1] = EC_FDTD_WALL_PMC;
}

static void marks_are_on_lines(const model *m, const lines *l, const double *values)
{
    for (int32_t i = 0; i < m->of.config.n_objects; i++)
        for (int a = 0; a < 3; a++) {
            const ec_fdtd_object *o = &m->object[i];
            double at = ec_fdtd_number_of(o->at[a], values), half;
            half = 0.5 * ec_fdtd_number_of(o->size[a], values);
            if (o->kind >= EC_FDTD_CYLINDER)
                half = ec_fdtd_number_of(o->radius, values);
            if (o->kind == EC_FDTD_CYLINDER && a == o->axis)
                half = 0.5 * ec_fdtd_number_of(o->length, values);
            /* a thousandth of the finest cell wanted, which is below 4 mm, a tenth where edges may
             * pass each other */
            const double close = m->of.n_numbers > 0 ? 0.4 * MM : 4e-3 * MM;
            assert_true(distance_to_line(l, a, at - half) < close);
            assert_true(distance_to_line(l, a, at + half) < close);
        }
}

/* "x: ... neighbours differ by up to 1.4" */
static double said_ratio(const char *text, int a)
{
    char start_of_line[] = {'\n', (char)('x' + a), ':', ' ', 0};
    const char *words = "neighbours differ by up to ";
    const char *line = strstr(text, start_of_line);

    assert_non_null(line);
    line = strstr(line, words);
    assert_non_null(line);
    return strtod(line + strlen(words), NULL);
}

static void test_random_models(void **state)
{
    enum { MODELS = 150, DESIGNS = 12 };
    int exact = 0, all = 0, mixed = 0, growth_kept = 0, growth_lost = 0;
    char text[4096], words[40];
    (void)state;

    for (int k = 0; k < MODELS; k++) {
        model m;
        double values[MOST_NUMBERS];
        uint64_t seed = (uint64_t)k + 1000;
        random_model(&m, (uint64_t)k);
        ec_fdtd_line_plan *plan;
        int warnings = 0;
        ec_log log = {EC_LOG_INFO, count_warnings, &warnings};
        if (ec_fdtd_line_plan_create(&m.of, &log, &plan) != EC_OK)
            fail_msg("model %d: %s", k, ec_error_text());
        double growth = m.of.config.grid.growth;
        ec_fdtd_line_plan_describe(plan, text, sizeof text);
        lines l = lines_for(plan), again = lines_for(plan);
        for (int d = 0; d < DESIGNS; d++) {
            middle(&m, values);
            for (int32_t i = 0; i < m.of.n_numbers && d > 0; i++)
                values[i] = m.range[i].lo + next_unit(&seed) * (m.range[i].hi - m.range[i].lo);
            lay_ok(plan, values, &l);
            lay_ok(plan, values, &again);
            assert_ascending(&l);
            marks_are_on_lines(&m, &l, values);
            for (int a = 0; a < 3; a++) {
                assert_memory_equal(l.x[a], again.x[a], sizeof(double) * ((size_t)l.n[a] + 1));
                const ec_fdtd_object *o = &m.object[0]; /* its marks come first */
                if (o->kind <= EC_FDTD_PLATE) {
                    double half = 0.5 * ec_fdtd_number_of(o->size[a], values);
                    exact += is_on_line(&l, a, ec_fdtd_number_of(o->at[a], values) - half);
                    all++;
                }
                double ratio = said_ratio(text, a);
                snprintf(words, sizeof words, "%c: edges come in another order", 'x' + a);
                if (strstr(text, words)) {
                    mixed++;
                    continue;
                }
                assert_true(largest_within(&l, a, -1, 1) < 1.03 * EC_LIGHT_SPEED / 4e9 / 20);
                /* 3 digits of it, and designs between those that the plan looked at */
                assert_true(worst_ratio(l.n[a], l.x[a]) < 1.02 * fmax(ratio, growth));
                growth_kept += ratio < growth + 0.005;
                growth_lost += ratio >= growth + 0.005;
            }
        }
        free_lines(&l);
        free_lines(&again);
        ec_fdtd_line_plan_destroy(&plan);
    }
    assert_true(mixed > 100 && growth_kept > 2000 && growth_lost < growth_kept / 20);
    assert_true(exact == all && all > 100);
}

/* ---- marks ---- */

static double smallest_cell(const lines *l, int a)
{
    double least = INFINITY;

    for (int32_t i = 0; i < l->n[a]; i++)
        least = fmin(least, l->x[a][i + 1] - l->x[a][i]);
    return least;
}

/* Two edges pass each other as a number changes: every candidate has the same count, its own marks,
 * and where both nearly meet, within a tenth of the finest cell wanted, one line: no cell is
 * smaller. */
static void test_order_changes(void **state)
{
    model m;
    char text[4096];
    (void)state;

    start(&m);
    add_box(&m, "still", EC_FDTD_PEC, fixed(0), fixed(10 * MM));
    ec_fdtd_object *o = add_box(&m, "moving", EC_FDTD_PEC, fixed(0), fixed(4 * MM));
    o->at[0] = variable(&m, 0, 12 * MM);
    const double close = 0.1 * EC_LIGHT_SPEED / 4e9 / 20;
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    lines l = lines_for(plan);
    for (int i = 0; i <= 120; i++) {
        double at = i * 0.1 * MM;
        lay_ok(plan, &at, &l);
        assert_ascending(&l);
        assert_true(is_on_line(&l, 0, -5 * MM) && is_on_line(&l, 0, 5 * MM));
        /* where it meets the other's edge that one's value counts */
        for (int side = -1; side <= 1; side += 2) {
            const double edge = at + side * 2 * MM, apart = fabs(fabs(edge) - 5 * MM);
            assert_true(distance_to_line(&l, 0, edge) < (apart < close ? close : 1e-12));
        }
        assert_true(smallest_cell(&l, 0) > 0.999 * close);
        assert_true(largest_within(&l, 0, -1, 1) < 1.1 * EC_LIGHT_SPEED / 4e9 / 20);
        assert_true(worst_ratio(l.n[0], l.x[0]) < 2.2);
    }
    ec_fdtd_line_plan_describe(plan, text, sizeof text);
    assert_non_null(strstr(text, "x: edges come in another order in 2 of 3 designs"));
    assert_null(strstr(text, "y: edges"));
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* Edges that are apart by a rounding or by far less than a cell share a line: the first object's,
 * or the domain's. */
static void test_close_marks(void **state)
{
    model m;
    (void)state;

    for (int sign = -1; sign <= 1; sign += 2) {
        double nearly = 5 * MM + sign * 1e-4 * MM;
        start(&m);
        add_box(&m, "first", EC_FDTD_PEC, fixed(0), fixed(10 * MM));
        ec_fdtd_object *o = add(&m, EC_FDTD_BOX, "second", EC_FDTD_PEC);
        for (int a = 0; a < 3; a++) {
            o->at[a] = fixed(0.5 * (nearly + 8 * MM));
            o->size[a] = fixed(8 * MM - nearly);
        }
        m.of.config.grid.domain[1][1] = fixed(8 * MM + sign * 1e-4 * MM);
        ec_fdtd_line_plan *plan = plan_of(&m, NULL);
        lines l = lines_for(plan);
        lay_ok(plan, NULL, &l);
        for (int a = 0; a < 3; a++) {
            assert_true(is_on_line(&l, a, 5 * MM) && is_on_line(&l, a, -5 * MM));
            for (int32_t i = 0; i < l.n[a]; i++)
                assert_true(l.x[a][i + 1] - l.x[a][i] > 0.5 * MM);
        }
        assert_true(l.x[1][l.n[1] - 8] == 8 * MM + sign * 1e-4 * MM);
        free_lines(&l);
        ec_fdtd_line_plan_destroy(&plan);
    }
}

/* Of a polygon the sides across an axis and both ends are marks, not points of slanted sides. */
static void test_polygon_marks(void **state)
{
    model m;
    (void)state;

    start(&m);
    m.of.config.grid.largest = 1 * MM;
    ec_fdtd_object *o = add(&m, EC_FDTD_POLYGON, "wedge", EC_FDTD_PEC);
    /* along x: a side at 0, a point at 3.3 on a slanted side, the tip at 10 */
    ec_fdtd_number points[5][2] = {{fixed(0), fixed(-2 * MM)},
                                   {fixed(3.3 * MM), fixed(-1.7 * MM)},
                                   {fixed(0), fixed(0)},
                                   {fixed(3.3 * MM), fixed(1.7 * MM)},
                                   {fixed(0), fixed(2 * MM)}};
    points[2][0] = variable(&m, 9 * MM, 11 * MM);
    o->points = (const ec_fdtd_number(*)[2])points;
    o->n_points = 5;
    o->at[0] = fixed(1 * MM);
    o->at[2] = fixed(2 * MM);
    o->length = fixed(0.5 * MM);
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    lines l = lines_for(plan);
    double tip = 10.2 * MM;
    lay_ok(plan, &tip, &l);
    assert_true(is_on_line(&l, 0, 1 * MM) && is_on_line(&l, 0, 1 * MM + tip));
    assert_false(is_on_line(&l, 0, 1 * MM + 3.3 * MM));
    assert_true(is_on_line(&l, 1, -2 * MM) && is_on_line(&l, 1, 2 * MM));
    assert_false(is_on_line(&l, 1, 1.7 * MM));
    assert_true(is_on_line(&l, 2, 2 * MM) && is_on_line(&l, 2, 2.5 * MM));
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* A gap far below the cell: cells grade away from it; with `smallest` it is closed, and that is told. */
static void test_gap(void **state)
{
    model m;
    char text[4096];
    int warnings;
    (void)state;

    for (int limited = 0; limited < 2; limited++) {
        start(&m);
        ec_fdtd_object *o = add_box(&m, "left", EC_FDTD_PEC, fixed(-10 * MM), fixed(20 * MM));
        o = add_box(&m, "right", EC_FDTD_PEC, fixed(10.05 * MM), fixed(20 * MM));
        o->at[1] = o->at[2] = fixed(-10 * MM);
        if (limited)
            m.of.config.grid.smallest = 1 * MM;
        ec_fdtd_line_plan *plan = plan_of(&m, &warnings);
        lines l = lines_for(plan);
        lay_ok(plan, NULL, &l);
        int32_t small = 0;
        for (int32_t i = 0; i < l.n[0]; i++)
            small += l.x[0][i + 1] - l.x[0][i] < 0.999 * MM;
        ec_fdtd_line_plan_describe(plan, text, sizeof text);
        if (limited) {
            assert_int_equal(small, 0);
            assert_int_equal(warnings, 1);
            assert_non_null(strstr(text,
                                   "x: edges up to 0.05 mm apart share a line, as those of box "
                                   "'left' and box 'right'"));
        } else {
            assert_non_null(strstr(text, "smallest cell 0.05 mm (between ends of box 'left' and "
                                         "box 'right')"));
            assert_true(small > 5);
            assert_int_equal(warnings, 0);
            assert_true(worst_ratio(l.n[0], l.x[0]) < 1.4 * (1 + 1e-6));
        }
        free_lines(&l);
        ec_fdtd_line_plan_destroy(&plan);
    }
}

/* Gaps that are wide where posts are narrow and the other way round: no counts keep the growth in
 * all designs, and cells are not cut up for it. */
static void test_growth_gives_way(void **state)
{
    model m;
    int warnings;
    (void)state;

    start(&m);
    ec_fdtd_number narrow = variable(&m, 2 * MM, 3 * MM), wide = variable(&m, 1 * MM, 4 * MM);
    for (int i = 0; i < 8; i++) {
        ec_fdtd_object *o = add_box(&m, "post", EC_FDTD_PEC, fixed(0), fixed(2 * MM));
        o->at[0] = fixed(5 * i * MM);
        o->size[0] = i % 2 ? narrow : wide;
    }
    ec_fdtd_line_plan *plan = plan_of(&m, &warnings);
    lines l = lines_for(plan);
    assert_int_equal(warnings, 1);
    for (int corner = 0; corner < 4; corner++) {
        double values[2] = {(2 + corner % 2) * MM, (corner / 2 ? 4 : 1) * MM};
        lay_ok(plan, values, &l);
        for (int32_t i = 0; i < l.n[0]; i++)
            assert_true(l.x[0][i + 1] - l.x[0][i] > 0.25 * MM);
        assert_true(worst_ratio(l.n[0], l.x[0]) < 3);
    }
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* Domains as given; what reaches beyond is cut, also at infinity. */
static void test_domain(void **state)
{
    model m;
    (void)state;

    start(&m);
    ec_fdtd_object *o = add_box(&m, "slab", add_material(&m, "glass", 4), fixed(0), fixed(80 * MM));
    o->size[1] = fixed(INFINITY);
    o->size[2] = fixed(2 * MM);
    add_box(&m, "cube", EC_FDTD_PEC, fixed(0), fixed(6 * MM));
    for (int a = 0; a < 3; a++) {
        m.of.config.grid.domain[0][a] = fixed(0);
        m.of.config.grid.domain[1][a] = a == 0 ? variable(&m, 20 * MM, 30 * MM) : fixed(25 * MM);
        m.of.config.wall[a][0] = EC_FDTD_WALL_PMC;
    }
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    lines l = lines_for(plan);
    for (double end = 20 * MM; end <= 30 * MM; end += 2.5 * MM) {
        lay_ok(plan, &end, &l);
        assert_ascending(&l);
        for (int a = 0; a < 3; a++) {
            assert_true(l.x[a][0] == 0 && ec_fdtd_line_layers(plan, a, 0) == 0);
            assert_true(l.x[a][l.n[a] - 8] == (a == 0 ? end : 25 * MM));
            assert_true(is_on_line(&l, a, 3 * MM));
        }
        assert_true(largest_within(&l, 0, 0, end) < 1.021 * EC_LIGHT_SPEED / 4e9 / 2 / 20);
    }
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* ---- uniform axes ---- */

static void cavity(model *m, double size)
{
    start(m);
    m->frequency[1] = 8.5e9;
    add_box(m, "filling", add_material(m, "glass", 4), fixed(0), fixed(10 * MM));
    for (int a = 0; a < 3; a++) {
        m->of.config.wall[a][0] = m->of.config.wall[a][1] = EC_FDTD_WALL_PEC;
        m->of.config.grid.domain[0][a] = fixed(-20 * MM);
        m->of.config.grid.domain[1][a] = fixed(20 * MM);
        m->of.config.grid.cell[a] = size;
    }
}

static void test_uniform(void **state)
{
    model m;
    int warnings;
    (void)state;

    cavity(&m, 1 * MM);
    ec_fdtd_line_plan *plan = plan_of(&m, &warnings);
    lines l = lines_for(plan);
    lay_ok(plan, NULL, &l);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(l.n[a], 40);
        for (int32_t i = 0; i <= 40; i++)
            assert_true(fabs(l.x[a][i] - (i - 20) * MM) < 1e-15);
    }
    assert_int_equal(warnings, 0);
    assert_true(fabs(ec_fdtd_line_resolution(plan) - EC_LIGHT_SPEED / 8.5e9 / 2 / MM) < 1e-6);
    assert_int_equal(ec_fdtd_nearest_line(40, l.x[0], -1), 0);
    assert_int_equal(ec_fdtd_nearest_line(40, l.x[0], 1), 40);
    assert_int_equal(ec_fdtd_nearest_line(40, l.x[0], 2.4 * MM), 22);
    assert_int_equal(ec_fdtd_nearest_line(40, l.x[0], 2.6 * MM), 23);
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);

    cavity(&m, 2.5 * MM);
    plan = plan_of(&m, &warnings);
    assert_int_equal(warnings, 1); /* 7 cells a wavelength */
    ec_fdtd_line_plan_destroy(&plan);

    cavity(&m, 2 * MM);
    assert_fails(&m, NULL,
                 "box 'filling' ends along x at -5 mm, between the lines at -6 mm and -4 mm");
    m.of.config.grid.snap = true;
    plan = plan_of(&m, NULL);
    assert_int_equal(ec_fdtd_line_cells(plan, 0), 20);
    ec_fdtd_line_plan_destroy(&plan);
    m.object[0].size[1] = fixed(0.5 * MM);
    assert_fails(&m, NULL, "box 'filling' is 0.5 mm long along y and vanishes");

    cavity(&m, 3 * MM);
    assert_fails(&m, NULL, "is not a whole number of cells of 3 mm");
}

/* Absorbing sides: lines run through faces, the domain grows to whole cells and to the largest. */
static void test_uniform_open(void **state)
{
    model m;
    (void)state;

    start(&m);
    ec_fdtd_object *o = add(&m, EC_FDTD_SPHERE, "ball", EC_FDTD_PEC);
    o->radius = variable(&m, 4.3 * MM, 7.7 * MM); /* round: need not end on lines */
    add_box(&m, "block", EC_FDTD_PEC, fixed(0.4 * MM), fixed(4 * MM));
    for (int a = 0; a < 3; a++)
        m.of.config.grid.cell[a] = 1 * MM;
    m.of.config.grid.air = 5.25 * MM;
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    lines l = lines_for(plan);
    for (double r = 4.3 * MM; r < 7.75 * MM; r += 0.1 * MM) {
        lay_ok(plan, &r, &l);
        for (int a = 0; a < 3; a++) {
            assert_true(distance_to_line(&l, a, 0.4 * MM - 2 * MM) < 1e-15);
            assert_true(l.x[a][8] <= -r - 5.25 * MM + 1e-9 * MM);
            assert_true(l.x[a][l.n[a] - 8] >= r + 5.25 * MM - 1e-9 * MM);
        }
        assert_true(worst_ratio(l.n[0], l.x[0]) < 1 + 1e-9);
    }
    free_lines(&l);
    ec_fdtd_line_plan_destroy(&plan);
}

/* ---- many numbers, and sizes ---- */

/* More numbers than have all corners looked at: each design still fits, on both kinds of axes. */
static void test_many_numbers(void **state)
{
    model m;
    double values[MOST_NUMBERS];
    uint64_t seed = 5;
    (void)state;

    for (int uniform = 0; uniform < 2; uniform++) {
        start(&m);
        for (int i = 0; i < 5; i++) {
            ec_fdtd_object *o = add_box(&m, "post", EC_FDTD_PEC, fixed(0), fixed(3 * MM));
            o->at[0] = fixed(20 * i * MM);
            o->size[0] = variable(&m, 4 * MM, 8 * MM);
            o->size[2] = variable(&m, 10 * MM, 20 * MM);
        }
        if (uniform) {
            for (int a = 0; a < 3; a++)
                m.of.config.grid.cell[a] = 1 * MM;
            m.of.config.grid.snap = true;
        }
        ec_fdtd_line_plan *plan = plan_of(&m, NULL);
        lines l = lines_for(plan);
        for (int d = 0; d < 500; d++) {
            for (int i = 0; i < 10; i++) {
                double u = next_unit(&seed);
                u = d % 2 ? u : u < 0.5 ? 0 : 1;
                values[i] = m.range[i].lo + u * (m.range[i].hi - m.range[i].lo);
            }
            lay_ok(plan, values, &l);
            assert_ascending(&l);
            for (int i = 0; i < 5; i++)
                assert_true(distance_to_line(&l, 0, 20 * i * MM + 0.5 * values[2 * i]) <=
                            (uniform ? 0.51 * MM : 0));
            assert_true(largest_within(&l, 0, -1, 1) < 1.1 * EC_LIGHT_SPEED / 4e9 / 20);
        }
        free_lines(&l);
        ec_fdtd_line_plan_destroy(&plan);
    }
}

/* The largest domain of many numbers fits uniform axes though no sampled design may have it. */
static void test_uniform_corner(void **state)
{
    model m;
    double values[MOST_NUMBERS];
    (void)state;

    for (int shift = 0; shift < 12; shift++) {
        start(&m);
        ec_fdtd_number each[12];
        for (int i = 0; i < 12; i++)
            each[i] = variable(&m, 10 * MM, 14 * MM);
        for (int i = 0; i < 2; i++) {
            ec_fdtd_object *o = add_box(&m, "end", EC_FDTD_PEC, fixed(0), fixed(3 * MM));
            o->at[0] = each[(shift + 3 * i) % 12];
            o->size[0] = each[(shift + 3 * i + 1) % 12];
            o->size[1] = each[(shift + 7 + i) % 12];
            o->size[2] = each[(shift + 9 + i) % 12];
        }
        m.of.config.grid.snap = true;
        m.of.config.grid.cell[0] = m.of.config.grid.cell[1] = m.of.config.grid.cell[2] = 1 * MM;
        m.range[(shift + 3) % 12] = (ec_interval){-14 * MM, -10 * MM};
        ec_fdtd_line_plan *plan = plan_of(&m, NULL);
        lines l = lines_for(plan);
        for (int i = 0; i < 12; i++)
            values[i] = m.range[i].lo < 0 ? m.range[i].lo : m.range[i].hi;
        lay_ok(plan, values, &l);
        assert_true(l.x[0][8] <= -21 * MM && l.x[0][l.n[0] - 8] >= 21 * MM);
        free_lines(&l);
        ec_fdtd_line_plan_destroy(&plan);
    }
}

static void test_sizes(void **state)
{
    model m;
    char text[4096], words[80];
    (void)state;

    /* |n| f is largest at 4 GHz for the first, at 1 GHz, its resonance, for the second */
    start(&m);
    add_box(&m, "a", add_material(&m, "debye", 2), fixed(0), fixed(40 * MM));
    add_box(&m, "b", add_material(&m, "lorentz", 1), fixed(0), fixed(30 * MM));
    add_box(&m, "c", add_material(&m, "varied", 1), fixed(0), fixed(20 * MM));
    ec_fdtd_pole debye = {EC_FDTD_DEBYE, fixed(3), fixed(1 / (2 * EC_PI * 4e9)), fixed(0),
                          fixed(0)};
    ec_fdtd_pole lorentz = {EC_FDTD_LORENTZ, fixed(1), fixed(0), fixed(2 * EC_PI * 1e9),
                            fixed(2 * EC_PI * 1e7)};
    m.material[0].poles = &debye;
    m.material[1].poles = &lorentz;
    m.material[0].n_poles = m.material[1].n_poles = 1;
    m.material[2].eps_r = variable(&m, 2, 9);
    m.material[2].mu_r = fixed(4);
    ec_fdtd_line_plan *plan = plan_of(&m, NULL);
    ec_fdtd_line_plan_describe(plan, text, sizeof text);
    double n[3] = {sqrt(hypot(2 + 1.5, 1.5)), sqrt(hypot(1, 1 / 0.02)), 6};
    double f[3] = {4e9, 1e9, 4e9};
    const char *names[3] = {"debye", "lorentz", "varied"};
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "'%s': at most %.6g mm, its", names[i],
                 EC_LIGHT_SPEED / f[i] / n[i] / 20 / MM);
        if (!strstr(text, words))
            fail_msg("\"%s\" is not in\n%s", words, text);
    }
    ec_fdtd_line_plan_destroy(&plan);

    /* the largest cell and a given air; no frequency is needed */
    start(&m);
    add_box(&m, "a", EC_FDTD_PEC, fixed(0), fixed(40 * MM));
    m.of.config.n_frequencies = 0;
    m.of.config.grid.largest = 2 * MM;
    m.of.config.grid.air = 6 * MM;
    plan = plan_of(&m, NULL);
    for (int a = 0; a < 3; a++)
        assert_int_equal(ec_fdtd_line_cells(plan, a), 20 + 2 * (3 + 8));
    ec_fdtd_line_plan_destroy(&plan);

    /* uniform axes need none either */
    m.of.config.grid.largest = NAN;
    for (int a = 0; a < 3; a++)
        m.of.config.grid.cell[a] = 4 * MM;
    plan = plan_of(&m, NULL);
    assert_int_equal(ec_fdtd_line_cells(plan, 0), 10 + 2 * (2 + 8));
    ec_fdtd_line_plan_destroy(&plan);
    m.of.config.grid.air = NAN;
    assert_fails(&m, NULL, "m of air around the objects");
}

/* ---- errors ---- */

static void test_errors(void **state)
{
    model m;
    (void)state;

    start(&m);
    assert_fails(&m, NULL, "nothing says where the domain ends along x");

    patch(&m, false);
    m.of.config.n_frequencies = 0;
    assert_fails(&m, NULL, "nothing says how large the grid's cells are");

    patch(&m, false);
    m.of.config.grid.largest = 1e-9;
    assert_fails(&m, NULL, "cells are needed along x: allowed are 100000");

    patch(&m, false);
    m.of.config.grid.growth = 1;
    assert_fails(&m, NULL, "growth of 1: allowed");

    patch(&m, false);
    m.object[2].at[0] = fixed(NAN);
    assert_fails(&m, NULL, "plate 'patch' ends along x at what is not a number");

    patch(&m, false);
    m.of.config.grid.domain[0][0] = fixed(31 * MM);
    m.of.config.grid.domain[1][0] = fixed(90 * MM);
    assert_fails(&m, NULL, "box 'board' is outside of the domain: it lies from -30 mm to 30 mm");
    m.of.config.grid.domain[0][0] = fixed(-5 * MM);
    assert_fails(&m, NULL, "port 'in' is outside of the domain");
    m.of.config.grid.domain[0][0] = fixed(95 * MM);
    assert_fails(&m, NULL, "the domain along x is empty: from 95 mm to 90 mm");

    /* one design only */
    patch(&m, true);
    m.of.config.grid.domain[1][0] = variable(&m, 31 * MM, 40 * MM);
    m.of.config.grid.domain[0][0] = fixed(-40 * MM);
    double bad[3] = {40 * MM, 31 * MM, -7 * MM};
    assert_fails(&m, bad, "port 'in' is outside of the domain");

    patch(&m, true);
    m.range[0].hi = INFINITY;
    assert_fails(&m, NULL, "has no bounds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_sweep_is_smooth),
        cmocka_unit_test(test_random_models),
        cmocka_unit_test(test_order_changes),
        cmocka_unit_test(test_close_marks),
        cmocka_unit_test(test_polygon_marks),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_growth_gives_way),
        cmocka_unit_test(test_domain),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_uniform_open),
        cmocka_unit_test(test_many_numbers),
        cmocka_unit_test(test_uniform_corner),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
