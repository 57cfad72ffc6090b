/* ec.over and ec.combinations: quantities that take several values for every design, and the
 * distributions that they are drawn from. */
#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_job.h"
#include "lua_values.h"
#include "distribution.h"
#include "random.h"
#include "sampling.h"

#define EC_LUA_DISTRIBUTION "distribution"

enum { MOST_COMBINED = 16, MOST_SAMPLES = 1000000, FINAL_SAMPLES = 1000, MOST_ELEMENTS = 1000000 };

/* ---- distributions --------------------------------------------------------------------------- */

typedef struct distribution {
    ec_distribution draw;
    bool each; /* no draw: element i fails in sample i */
} distribution;

/* Keys of all kinds. */
typedef struct distribution_keys {
    double mean, sigma, limit, correlation, min, mode, max, probability;
    int64_t count, failed;
    bool each;
} distribution_keys;

#define NUMBER(name, flags, initial, min, max, help)                                               \
    {                                                                                              \
#name, EC_KEY_NUMBER, flags, initial, min, max, NULL, NULL, help,                          \
            offsetof(distribution_keys, name)                                                      \
    }
#define COUNT(flags, help)                                                                         \
    {                                                                                              \
        "count", EC_KEY_INTEGER, flags, NAN, 1, MOST_ELEMENTS, NULL, NULL, help,                   \
            offsetof(distribution_keys, count)                                                     \
    }
#define ELEMENTS COUNT(0, "a list of so many independent values; without it a single number")

static const ec_key normal_keys[] = {
    NUMBER(sigma, EC_KEY_REQUIRED, NAN, 0, INFINITY, "standard deviation"),
    NUMBER(mean, 0, 0, -INFINITY, INFINITY, "mean"),
    NUMBER(limit, EC_KEY_ABOVE, NAN, 0, INFINITY,
           "only values within so much of the mean: parts beyond are sorted out"),
    NUMBER(correlation, 0, 0, 0, 1,
           "between any two of the count values: the share of the variance that they have in "
           "common"),
    ELEMENTS};
static const ec_key uniform_keys[] = {
    NUMBER(limit, 0, NAN, 0, INFINITY, "from -limit to limit"),
    NUMBER(min, 0, NAN, -INFINITY, INFINITY, "instead of limit, with max"),
    NUMBER(max, 0, NAN, -INFINITY, INFINITY, "instead of limit, with min"), ELEMENTS};
static const ec_key triangular_keys[] = {
    NUMBER(limit, 0, NAN, 0, INFINITY, "from -limit to limit, most likely 0"),
    NUMBER(min, 0, NAN, -INFINITY, INFINITY, "instead of limit, with max"),
    NUMBER(max, 0, NAN, -INFINITY, INFINITY, "instead of limit, with min"),
    NUMBER(mode, 0, NAN, -INFINITY, INFINITY,
           "the most likely value (default: the middle of min and max)"),
    ELEMENTS};
static const ec_key failures_keys[] = {
    COUNT(EC_KEY_REQUIRED, "number of elements"),
    NUMBER(probability, 0, NAN, 0, 1, "of each element to fail"),
    {"failed", EC_KEY_INTEGER, 0, NAN, 0, MOST_ELEMENTS, NULL, NULL,
     "instead: exactly so many elements fail in each sample", offsetof(distribution_keys, failed)},
    {"each", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "instead: every element in turn, alone: count samples, nothing is drawn",
     offsetof(distribution_keys, each)}};

const ec_noun ec_noun_normal = {"ec.normal", "ec.normal{ sigma = 0.02, count = 32 }",
                                "Normally distributed errors, for ec.over. With limit the "
                                "distribution is truncated, as parts are that were measured.",
                                EC_KEYS(normal_keys)};
const ec_noun ec_noun_uniform = {"ec.uniform", "ec.uniform{ limit = 0.05, count = 32 }",
                                 "Values anywhere in a range, equally likely, for ec.over.",
                                 EC_KEYS(uniform_keys)};
const ec_noun ec_noun_triangular = {
    "ec.triangular", "ec.triangular{ min = 3.3, mode = 3.38, max = 3.5 }",
    "Values in a range, the most likely one at its mode, for ec.over.", EC_KEYS(triangular_keys)};
const ec_noun ec_noun_failures = {
    "ec.failures", "ec.failures{ count = 32, failed = 2 }",
    "Elements that fail, for ec.over: a list of 1 (works) and 0 (has failed), to be multiplied "
    "with the amplitudes. Give one of probability, failed and each.",
    EC_KEYS(failures_keys)};

static int push_distribution(lua_State *L, const distribution *from)
{
    distribution *d = lua_newuserdatauv(L, sizeof *d, 0);
    *d = *from;
    luaL_setmetatable(L, EC_LUA_DISTRIBUTION);
    return 1;
}

static distribution parse_distribution(lua_State *L, const ec_noun *noun, ec_distribution_kind kind,
                                       distribution_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    keys->count = -1;
    keys->mode = keys->min = keys->max = keys->limit = NAN;
    ec_lua_keys_parse(L, 1, noun, keys, NULL);
    distribution d = {.draw = {.kind = kind, .limit = INFINITY}};
    d.draw.count = keys->count > 0 ? (int32_t)keys->count : 0;
    return d;
}

static int module_normal(lua_State *L)
{
    distribution_keys keys;
    distribution d = parse_distribution(L, &ec_noun_normal, EC_DISTRIBUTION_NORMAL, &keys);
    d.draw.mean = keys.mean;
    d.draw.sigma = keys.sigma;
    d.draw.limit = isnan(keys.limit) ? INFINITY : keys.limit;
    d.draw.correlation = keys.correlation;
    if (keys.correlation > 0 && !isnan(keys.limit))
        ec_lua_fail(L, "ec.normal: keys 'limit' and 'correlation' do not go together");
    if (keys.correlation > 0 && keys.count < 1)
        ec_lua_fail(L, "ec.normal: key 'correlation': is between several values: give count");
    return push_distribution(L, &d);
}

/* min and max of a range that is given by them or by a limit. */
static void read_range(lua_State *L, const char *name, const distribution_keys *keys,
                       ec_distribution *draw)
{
    bool ends = !isnan(keys->min) && !isnan(keys->max);
    bool any = !isnan(keys->min) || !isnan(keys->max) || !isnan(keys->mode);
    if (isnan(keys->limit) ? !ends : any)
        ec_lua_fail(L, "%s: give limit, or min and max", name);
    draw->min = ends ? keys->min : -keys->limit;
    draw->max = ends ? keys->max : keys->limit;
    if (draw->min > draw->max)
        ec_lua_fail(L, "%s: key 'min': %.14g is above max, %.14g", name, draw->min, draw->max);
    draw->mode = isnan(keys->mode) ? 0.5 * (draw->min + draw->max) : keys->mode;
}

static int module_uniform(lua_State *L)
{
    distribution_keys keys;
    distribution d = parse_distribution(L, &ec_noun_uniform, EC_DISTRIBUTION_UNIFORM, &keys);
    read_range(L, "ec.uniform", &keys, &d.draw);
    return push_distribution(L, &d);
}

static int module_triangular(lua_State *L)
{
    distribution_keys keys;
    distribution d = parse_distribution(L, &ec_noun_triangular, EC_DISTRIBUTION_TRIANGULAR, &keys);
    read_range(L, "ec.triangular", &keys, &d.draw);
    if (!(d.draw.min <= d.draw.mode && d.draw.mode <= d.draw.max))
        ec_lua_fail(L, "ec.triangular: key 'mode': %.14g is not between min, %.14g, and max, %.14g",
                    d.draw.mode, d.draw.min, d.draw.max);
    return push_distribution(L, &d);
}

static int module_failures(lua_State *L)
{
    distribution_keys keys;
    distribution d = parse_distribution(L, &ec_noun_failures, EC_DISTRIBUTION_FAILURES, &keys);
    if (!isnan(keys.probability) + (keys.failed >= 0) + keys.each != 1)
        ec_lua_fail(L, "ec.failures: give one of the keys probability, failed and each");
    d.each = keys.each;
    d.draw.probability = keys.probability;
    if (keys.failed > keys.count)
        ec_lua_fail(L, "ec.failures: key 'failed': %d elements cannot fail, there are %d",
                    (int)keys.failed, (int)keys.count);
    if (keys.failed >= 0) {
        d.draw.kind = EC_DISTRIBUTION_FAILED;
        d.draw.failed = (int32_t)keys.failed;
    }
    return push_distribution(L, &d);
}

/* ---- quantities ------------------------------------------------------------------------------ */

/* One quantity of an ec.over: drawn, or the rows of a list. */
typedef struct quantity {
    const char *name;
    const ec_distribution *draw;
    bool each;
    const double *row; /* [rows][elements]; NULL: drawn, or each */
    int32_t rows, elements, rank;
} quantity;

typedef struct over_keys {
    int values;
    int64_t samples, final_samples, seed;
    int sampling;
} over_keys;

static const ec_key over_table[] = {
    {"values", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "a number, or a list of numbers, for each sample", offsetof(over_keys, values)},
    {"samples", EC_KEY_INTEGER, 0, NAN, 1, MOST_SAMPLES, NULL, NULL,
     "samples of the distributions that each design of the search meets",
     offsetof(over_keys, samples)},
    {"final_samples", EC_KEY_INTEGER, 0, NAN, 1, MOST_SAMPLES, NULL, NULL,
     "samples of the final figures, others than those of the search (default: 10 times as many, "
     "but at most 1000 in all combinations with lists, and at least as many as in the search)",
     offsetof(over_keys, final_samples)},
    {"seed", EC_KEY_INTEGER, 0, 1, 0, INFINITY, NULL, NULL, "seed of the samples",
     offsetof(over_keys, seed)},
    {"sampling", EC_KEY_WORD, 0, EC_SAMPLING_LHS, 0, 0, NULL, "sobol|lhs|halton|random",
     "lhs: a Latin hypercube, each value spread evenly over its distribution; sobol, halton: up to "
     "256 values",
     offsetof(over_keys, sampling)}};

const ec_noun ec_noun_over = {
    "ec.over", "ec.over{ shift = ec.normal{ sigma = 0.02, count = 32 }, samples = 64 }",
    "Quantities that take several values for every design: tolerances, failures, frequencies, "
    "scenarios. Each is a distribution (ec.normal, ec.uniform, ec.triangular, ec.failures) or a "
    "list of values, under a name of your own; the result is a table with an expression for each "
    "name. All designs meet the same samples. What is built from them varies over the samples too, "
    "until :mean(), :max(), :percentile(p), :tail_mean(p), :yield{ max = y } ... reduces it. "
    "Final figures are those of other samples, final_samples of them. Lists are combined with each "
    "other and with all samples of the distributions. ec.over{ values = {0.95, 1, 1.05} }, for "
    "short ec.over{0.95, 1, 1.05}, is a single expression. All ec.over of a script have the same "
    "number of samples: sample i of one goes with sample i of the others.",
    EC_KEYS(over_table)};

/* The list, or the list of lists, at a stack index. Its memory is pinned by the stack or the graph. */
static void read_list(lua_State *L, int index, const char *what, quantity *q)
{
    bool nested = false;
    if (lua_istable(L, index)) {
        nested = lua_rawgeti(L, index, 1) != LUA_TNUMBER;
        lua_pop(L, 1);
    }
    if (nested) {
        ec_expr m = ec_lua_expr_get(L, index, what);
        const ec_node *node = ec_lua_expr_node(L, m);
        if (node->op != EC_OP_CONSTANT || node->rank != 2)
            ec_lua_fail(L, "%s: wants numbers, or lists of numbers of equal length", what);
        q->row = node->data;
        q->rows = node->shape[0];
        q->elements = node->shape[1];
        q->rank = 1;
        return;
    }
    ec_lua_list list;
    ec_lua_list_get(L, index, what, &list);
    q->row = list.v;
    q->rows = list.n;
    q->elements = 1;
}

static void read_quantity(lua_State *L, int index, const char *what, quantity *q)
{
    const distribution *d = luaL_testudata(L, index, EC_LUA_DISTRIBUTION);
    q->rows = 1;
    if (!d) {
        read_list(L, index, what, q);
        return;
    }
    q->elements = d->draw.count > 0 ? d->draw.count : 1;
    q->rank = d->draw.count > 0;
    q->each = d->each;
    if (d->each)
        q->rows = d->draw.count;
    else
        q->draw = &d->draw;
}

/* Sample s of a quantity is draw s % draws; the rows of lists follow in the order of the names, the
 * last one fastest. */
static void write_rows(const quantity *q, double *to, int64_t samples, int64_t draws,
                       int64_t stride)
{
    for (int64_t s = 0; s < samples; s++) {
        int64_t row = s / draws / stride % q->rows;
        for (int64_t e = 0; e < q->elements; e++)
            to[s * q->elements + e] = q->each ? e != row : q->row[row * q->elements + e];
    }
}

/* What an ec.over has in all: points of the unit cube, a dimension after the other, by set. */
typedef struct over_set {
    int64_t draws[2], lists; /* draws: of the search, of the final figures */
    int32_t dimensions;      /* of what is drawn; 0: nothing is */
    double *points[2];
} over_set;

/* What belongs to one combination of the lists is repeated for the others. */
static int write_draws(const quantity *q, const over_set *set, int which, int32_t dimension,
                       double *to)
{
    int64_t draws = set->draws[which], numbers = draws * q->elements;
    int status =
        ec_distribution_fill(q->draw, (size_t)draws, set->points[which] + dimension * draws, to);
    for (int64_t i = 1; i < set->lists && status == EC_OK; i++)
        memcpy(to + i * numbers, to, (size_t)numbers * sizeof *to);
    return status;
}

/* *dimension: the first one of the quantity, and then of the next. */
static int push_quantity(lua_State *L, const char *noun, const quantity *q, const over_set *set,
                         int32_t *dimension, int64_t stride)
{
    double *value[2] = {NULL, NULL};
    int status = EC_OK;
    for (int which = 0; which < (set->dimensions > 0 ? 2 : 1) && status == EC_OK; which++) {
        int64_t samples = set->draws[which] * set->lists;
        value[which] = ec_lua_values_new(L, samples * q->elements);
        if (q->draw)
            status = write_draws(q, set, which, *dimension, value[which]);
        else
            write_rows(q, value[which], samples, set->draws[which], stride);
    }
    ec_expr e = status;
    if (status == EC_OK)
        e = ec_graph_draws(ec_lua_host_of(L)->graph, (int32_t)(set->draws[0] * set->lists),
                           (int32_t)(set->draws[1] * set->lists), q->rank, &q->elements, value[0],
                           value[1]);
    if (e < 0)
        ec_lua_fail_core(L, noun);
    *dimension += q->draw ? ec_distribution_dimensions(q->draw) : 0;
    return ec_lua_expr_push(L, e);
}

/* Counts of samples and dimensions. */
static over_set plan_set(lua_State *L, const char *noun, int n, const quantity *q,
                         const over_keys *keys)
{
    over_set set = {.draws = {1, 1}, .lists = 1};
    double lists = 1, dimensions = 0;
    for (int i = 0; i < n; i++) {
        if (q[i].draw)
            dimensions += ec_distribution_dimensions(q[i].draw);
        lists *= q[i].rows;
        if (q[i].rows == 0)
            ec_lua_fail(L, "%s: '%s': an empty list", noun, q[i].name);
    }
    if (dimensions == 0 && (keys->samples > 0 || keys->final_samples > 0))
        ec_lua_fail(L,
                    "%s: key 'samples': nothing is drawn, lists bring their own number of samples",
                    noun);
    if (dimensions > 0 && keys->samples < 1)
        ec_lua_fail(L, "%s: key 'samples' is missing (%s)", noun, over_table[1].help);
    if (dimensions > 0) {
        int64_t draws = keys->samples;
        int64_t more = 10 * draws, most_draws = (int64_t)(FINAL_SAMPLES / lists);
        more = more > most_draws ? most_draws : more;
        more = more < draws ? draws : more;
        set.draws[0] = draws;
        set.draws[1] = keys->final_samples > 0 ? keys->final_samples : more;
    }
    double most = fmax((double)set.draws[0], (double)set.draws[1]) * lists;
    if (most > MOST_SAMPLES)
        ec_lua_fail(L, "%s: %.0f combinations, at most %d are allowed", noun, most, MOST_SAMPLES);
    if (dimensions > INT32_MAX)
        ec_lua_fail(L, "%s: too many values are drawn", noun);
    set.lists = (int64_t)lists;
    set.dimensions = (int32_t)dimensions;
    return set;
}

/* Samples in another order, so that two ec.over do not take their points in step. */
static void shuffle(const ec_random_stream *stream, int64_t n, int32_t dimensions, double *points)
{
    for (int64_t i = n - 1; i > 0; i--) {
        uint32_t words[4];
        ec_random_words(stream, 1, (uint32_t)i, words);
        int64_t k = ec_uniform_below(words[0], (uint32_t)i + 1);
        for (int32_t d = 0; d < dimensions; d++) {
            double *x = points + d * n, keep = x[i];
            x[i] = x[k];
            x[k] = keep;
        }
    }
}

/* Pushes the points of both sets: the names tell the sets of several ec.over apart. */
static void draw_points(lua_State *L, const char *noun, int n, const quantity *q,
                        const over_keys *keys, over_set *set)
{
    uint32_t names = 2166136261u; /* FNV-1a */
    for (int i = 0; i < n; i++)
        for (const char *c = q[i].name;; c++) {
            names = (names ^ (unsigned char)*c) * 16777619u;
            if (!*c)
                break;
        }
    for (uint32_t which = 0; which < 2; which++) {
        ec_random_stream stream = ec_random_make((uint64_t)keys->seed, names, which, 0);
        uint32_t words[4];
        ec_random_words(&stream, 0, 0, words);
        ec_sampling_info info = {.method = (ec_sampling)keys->sampling,
                                 .dimensions = set->dimensions,
                                 .n = (size_t)set->draws[which],
                                 .seed = words[0] | (uint64_t)words[1] << 32};
        set->points[which] = ec_lua_values_new(L, set->draws[which] * set->dimensions);
        if (ec_sampling_fill(&info, set->points[which]) != EC_OK)
            ec_lua_fail_core(L, noun);
        shuffle(&stream, set->draws[which], set->dimensions, set->points[which]);
    }
}

/* Pushes a table with the quantities, in the order of their names. */
static int push_named(lua_State *L, const char *noun, int n, const quantity *q,
                      const over_keys *keys)
{
    over_set set = plan_set(L, noun, n, q, keys);
    ec_lua_mark_line(L);
    if (set.dimensions > 0)
        draw_points(L, noun, n, q, keys, &set);
    lua_createtable(L, 0, n);
    int table = lua_gettop(L);
    int64_t stride = set.lists;
    int32_t dimension = 0;
    for (int i = 0; i < n; i++) {
        stride /= q[i].rows;
        push_quantity(L, noun, &q[i], &set, &dimension, stride);
        lua_setfield(L, table, q[i].name);
        lua_settop(L, table);
    }
    return 1;
}

/* ---- ec.over --------------------------------------------------------------------------------- */

typedef struct name_list {
    const char *name[MOST_COMBINED]; /* in alphabetical order; they belong to the table */
    int n;
} name_list;

static void add_name(lua_State *L, const char *noun, name_list *list, const char *name)
{
    if (list->n == MOST_COMBINED)
        ec_lua_fail(L, "%s: more than %d names", noun, MOST_COMBINED);
    int at = list->n++;
    for (; at > 0 && strcmp(list->name[at - 1], name) > 0; at--)
        list->name[at] = list->name[at - 1];
    list->name[at] = name;
}

/* A number under a free name is a mistyped key. */
static bool take_name(lua_State *L, void *user, const char *name)
{
    if (lua_type(L, -1) == LUA_TNUMBER || lua_type(L, -1) == LUA_TSTRING)
        return false;
    add_name(L, "ec.over", user, name);
    return true;
}

/* The quantities of the table at 1, under the names. */
static void read_named(lua_State *L, const char *noun, const name_list *names, quantity *q)
{
    luaL_checkstack(L, 4 * MOST_COMBINED, "too many lists");
    for (int i = 0; i < names->n; i++) {
        const char *what = lua_pushfstring(L, "%s: '%s'", noun, names->name[i]);
        lua_getfield(L, 1, names->name[i]);
        q[i] = (quantity){.name = names->name[i]};
        read_quantity(L, lua_gettop(L), what, &q[i]);
    }
}

static int module_over(lua_State *L)
{
    name_list names = {.n = 0};
    over_keys keys = {.values = 1, .samples = -1, .final_samples = -1, .seed = 1};
    bool plain = !lua_istable(L, 1);
    if (!plain) {
        lua_rawgeti(L, 1, 1);
        plain = !lua_isnil(L, -1) && !luaL_testudata(L, -1, EC_LUA_DISTRIBUTION);
        lua_pop(L, 1);
    }
    if (!plain) {                /* not ec.over{1, 2, 3} */
        ec_lua_table_copy(L, 1); /* which pins the names */
        lua_replace(L, 1);
        ec_key_extra extra = {.take = take_name, .user = &names};
        ec_lua_keys_parse(L, 1, &ec_noun_over, &keys, &extra);
        if ((keys.values != 0) == (names.n > 0))
            ec_lua_fail(L,
                        keys.values ? "ec.over: key 'values' is for a single quantity: give it a "
                                      "name, too"
                                    : "ec.over: nothing to vary over: write %s",
                        ec_noun_over.usage);
    }
    quantity q[MOST_COMBINED];
    if (names.n > 0) {
        read_named(L, "ec.over", &names, q);
        return push_named(L, "ec.over", names.n, q, &keys);
    }
    q[0] = (quantity){.name = "values"};
    read_quantity(L, keys.values, "ec.over: key 'values'", &q[0]);
    if (q[0].draw)
        ec_lua_fail(L, "ec.over: a distribution has no name: write %s", ec_noun_over.usage);
    over_set set = plan_set(L, "ec.over", 1, q, &keys);
    int32_t dimension = 0;
    ec_lua_mark_line(L);
    return push_quantity(L, "ec.over", &q[0], &set, &dimension, 1);
}

/* ---- ec.combinations ------------------------------------------------------------------------- */

const ec_noun ec_noun_combinations = {
    "ec.combinations", "ec.combinations{ steer_u = {0, 0.3}, frequency = {9e9, 10e9, 11e9} }",
    "Several quantities in every combination: a table with what ec.over would give for each name, "
    "all of as many samples as there are combinations. Names are free; the last one in the "
    "alphabet "
    "changes from sample to sample, the first one most slowly.",
    NULL, 0};

static int module_combinations(lua_State *L)
{
    name_list names = {.n = 0};
    quantity q[MOST_COMBINED];
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "ec.combinations: wants a table of lists, as in %s",
                    ec_noun_combinations.usage);
    ec_lua_table_copy(L, 1);
    lua_replace(L, 1);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            ec_lua_fail(L, "ec.combinations: a list without a name: write %s",
                        ec_noun_combinations.usage);
        if (luaL_testudata(L, -1, EC_LUA_DISTRIBUTION))
            ec_lua_fail(L, "ec.combinations: '%s' is a distribution: ec.over draws from it",
                        lua_tostring(L, -2));
        add_name(L, "ec.combinations", &names, lua_tostring(L, -2));
    }
    if (names.n == 0)
        ec_lua_fail(L, "ec.combinations: nothing to combine: write %s", ec_noun_combinations.usage);
    over_keys keys = {.samples = -1, .final_samples = -1};
    read_named(L, "ec.combinations", &names, q);
    return push_named(L, "ec.combinations", names.n, q, &keys);
}

void ec_lua_over_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"over", module_over},
                                         {"combinations", module_combinations},
                                         {"normal", module_normal},
                                         {"uniform", module_uniform},
                                         {"triangular", module_triangular},
                                         {"failures", module_failures},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    luaL_newmetatable(L, EC_LUA_DISTRIBUTION);
    lua_pushliteral(L, "distribution");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
