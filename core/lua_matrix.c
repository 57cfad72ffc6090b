/* Functions of channel matrices: ec.capacity, ec.singular_values and what follows from them. Each is
 * a method of expressions too. */
#include <math.h>

#include "evaluators/matrix/matrix.h"
#include "lua_expr.h"
#include "lua_matrix.h"

typedef struct matrix_keys {
    ec_expr snr_db;
    int power, normalize, svd, precision, combining;
} matrix_keys;

#define ROW(key, kind, flags, unit, words, help, field)                                            \
    {                                                                                              \
        key, kind, flags, kind == EC_KEY_EXPR ? NAN : 0, 0, 0, unit, words, help,                  \
            offsetof(matrix_keys, field)                                                           \
    }
/* SNR of all transmitters together, or of each; flags: EC_KEY_REQUIRED where no link budget gives it */
#define SNR_ROW(flags, whose)                                                                      \
    ROW("snr_db", EC_KEY_EXPR, flags, "dB", NULL,                                                  \
        "signal over noise power of " whose " (see normalize)", snr_db)
#define BUDGET "; default with normalize = \"none\": that of the link budget"
#define NORMALIZE_ROW                                                                              \
    ROW("normalize", EC_KEY_WORD, 0, NULL, "frobenius|mean|none",                                  \
        "frobenius: each matrix is scaled to ||H||_F^2 = N_rx N_tx, so that SNR is that of the "   \
        "mean receiving antenna; mean: all matrices of the value by one factor to that in the "    \
        "mean; none: H as it is, SNR is the transmitted power over a receiver's noise",            \
        normalize)
#define SVD_ROWS                                                                                   \
    ROW("svd", EC_KEY_WORD, 0, NULL, "jacobi|bisection",                                           \
        "singular values by one-sided Jacobi rotations, or by bidiagonal form and bisection, "     \
        "where those below 1e-8 (float32: 3e-4) of the largest are noise",                         \
        svd),                                                                                      \
        ROW("precision", EC_KEY_WORD, 0, NULL, "float64|float32",                                  \
            "float32 is faster; capacities then are off by about SNR N_rx 1e-7 bit/s/Hz, "         \
            "singular "                                                                            \
            "values by 1e-6 of the largest",                                                       \
            precision)

#define CAPACITY_ROWS                                                                              \
    ROW("power", EC_KEY_WORD, 0, NULL, "equal|water_filling",                                      \
        "equal power at all transmitting antennas, or the best shares of the singular values",     \
        power),                                                                                    \
        NORMALIZE_ROW, SVD_ROWS

static const ec_key capacity_keys[] = {SNR_ROW(EC_KEY_REQUIRED, "all transmitters together"),
                                       CAPACITY_ROWS};
static const ec_key link_capacity_keys[] = {SNR_ROW(0, "all transmitters together" BUDGET),
                                            CAPACITY_ROWS};

const ec_noun ec_noun_capacity = {
    "ec.capacity: options", "ec.capacity(H, { snr_db = 20 })",
    "Capacity in bit/s/Hz of a matrix N_rx x N_tx, the last two axes of H: sum log2(1 + SNR s_k^2 "
    "/ "
    "N_tx) over its singular values s_k, or sum log2(1 + p_k s_k^2) with sum p_k = SNR. Axes "
    "before "
    "(receivers, frequencies) stay: take the mean, the smallest or a percentile of them.",
    EC_KEYS(capacity_keys)};

static const ec_key singular_keys[] = {SVD_ROWS};

const ec_noun ec_noun_singular_values = {
    "ec.singular_values, ec.condition_number, ec.condition_db, ec.effective_rank: options",
    "ec.condition_db(H, { precision = \"float32\" })",
    "How singular values of H, whose last two axes are N_rx x N_tx, are found.",
    EC_KEYS(singular_keys)};

#define SINR_ROWS                                                                                  \
    NORMALIZE_ROW,                                                                                 \
        ROW("combining", EC_KEY_WORD, 0, NULL, "none|mmse|zero_forcing",                           \
            "none: row k of H is user k's own antenna, served by transmitter k; mmse: all rows "   \
            "are antennas of one receiver, which separates the transmitters by linear combining; " \
            "zero_forcing: so that nothing of the other transmitters is left",                     \
            combining)

static const ec_key sinr_keys[] = {SNR_ROW(EC_KEY_REQUIRED, "each transmitter"), SINR_ROWS};
static const ec_key link_sinr_keys[] = {SNR_ROW(0, "each transmitter" BUDGET), SINR_ROWS};

const ec_noun ec_noun_sinr = {
    "ec.sinr, ec.sum_rate: options", "ec.sum_rate(H, { snr_db = 20, normalize = \"mean\" })",
    "SINR of several transmitters, the columns of H, at equal power. combining = \"none\": as many "
    "users with an antenna each and no precoding, |h_kk|^2 / (sum |h_kj|^2 + 1 / SNR) over all j "
    "but k. combining = \"mmse\": one receiver with all the rows, 1 / [(I + SNR H^H H)^-1]_kk - 1, "
    "or "
    "\"zero_forcing\", SNR / [(H^H H)^-1]_kk, with at least as many rows as columns. The "
    "sum rate is the sum of log2(1 + SINR).",
    EC_KEYS(sinr_keys)};

/* ---- methods of links ------------------------------------------------------------------------- */

static const ec_noun link_capacity = {
    "link:capacity", "link:capacity{ snr_db = 20 }, link:capacity{ normalize = \"none\" }",
    "ec.capacity of the link's H, bit/s/Hz: a number for each frequency and receiver.",
    EC_KEYS(link_capacity_keys)};

static const ec_noun link_singular_values = {
    "link:singular_values", "link:singular_values()",
    "Singular values of the link's H, largest first, along the last axis.", EC_KEYS(singular_keys)};

static const ec_noun link_condition_number = {
    "link:condition_number", "link:condition_number()",
    "Largest over smallest singular value of the link's H; a singular matrix has none, and the "
    "design fails.",
    EC_KEYS(singular_keys)};

static const ec_noun link_condition_db = {"link:condition_db", "link:condition_db()",
                                          "The condition number of the link's H in dB, 20 log10.",
                                          EC_KEYS(singular_keys)};

static const ec_noun link_effective_rank = {
    "link:effective_rank", "link:effective_rank()",
    "exp of the entropy of s / sum s over the singular values s of the link's H.",
    EC_KEYS(singular_keys)};

static const ec_noun link_degrees_of_freedom = {"link:degrees_of_freedom",
                                                "link:degrees_of_freedom()",
                                                "(sum s^2)^2 / sum s^4 over the singular values s "
                                                "of the link's H: so many equal channels spread "
                                                "the power as much.",
                                                NULL, 0};

static const ec_noun link_sinr = {
    "link:sinr", "link:sinr{ snr_db = 20, combining = \"mmse\" }",
    "ec.sinr of the link's H, a power ratio for each transmitting antenna: each is one of several "
    "transmitters.",
    EC_KEYS(link_sinr_keys)};

static const ec_noun link_sum_rate = {
    "link:sum_rate", "link:sum_rate{ normalize = \"none\", combining = \"zero_forcing\" }",
    "Sum of log2(1 + SINR) over the transmitting antennas of the link, bit/s/Hz (see link:sinr).",
    EC_KEYS(link_sinr_keys)};

/* ---- calls -------------------------------------------------------------------------------------- */

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

typedef ec_expr evaluate(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                         const ec_matrix_config *config);

static ec_expr capacity(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                        const ec_matrix_config *config)
{
    return ec_matrix_capacity(graph, h, keys->snr_db, config);
}

static ec_expr singular_values(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                               const ec_matrix_config *config)
{
    (void)keys;
    return ec_matrix_singular_values(graph, h, config);
}

static ec_expr condition_number(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                                const ec_matrix_config *config)
{
    (void)keys;
    return ec_matrix_condition(graph, h, config);
}

static ec_expr condition_db(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                            const ec_matrix_config *config)
{
    (void)keys;
    ec_expr log = ec_graph_unary(graph, EC_OP_LOG10, ec_matrix_condition(graph, h, config));
    return ec_graph_binary(graph, EC_OP_MUL, log, ec_graph_number(graph, 20));
}

static ec_expr effective_rank(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                              const ec_matrix_config *config)
{
    (void)keys;
    return ec_matrix_effective_rank(graph, h, config);
}

static ec_expr degrees_of_freedom(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                                  const ec_matrix_config *config)
{
    (void)keys;
    (void)config;
    return ec_matrix_degrees_of_freedom(graph, h);
}

static ec_expr sinr(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                    const ec_matrix_config *config)
{
    return ec_matrix_sinr(graph, h, keys->snr_db, config->normalize,
                          (ec_matrix_combining)keys->combining);
}

static ec_expr sum_rate(ec_graph *graph, ec_expr h, const matrix_keys *keys,
                        const ec_matrix_config *config)
{
    return ec_matrix_sum_rate(graph, h, keys->snr_db, config->normalize,
                              (ec_matrix_combining)keys->combining);
}

enum {
    CAPACITY,
    SINGULAR_VALUES,
    CONDITION_NUMBER,
    CONDITION_DB,
    EFFECTIVE_RANK,
    DEGREES,
    SINR,
    SUM_RATE
};

static const struct {
    const char *name; /* of the module */
    const ec_noun *noun;
    evaluate *value;
    bool snr;
} functions[] = {{"ec.capacity", &ec_noun_capacity, capacity, true},
                 {"ec.singular_values", &ec_noun_singular_values, singular_values, false},
                 {"ec.condition_number", &ec_noun_singular_values, condition_number, false},
                 {"ec.condition_db", &ec_noun_singular_values, condition_db, false},
                 {"ec.effective_rank", &ec_noun_singular_values, effective_rank, false},
                 {"ec.degrees_of_freedom", NULL, degrees_of_freedom, false},
                 {"ec.sinr", &ec_noun_sinr, sinr, true},
                 {"ec.sum_rate", &ec_noun_sinr, sum_rate, true}};

const ec_noun *const ec_lua_link_functions[] = {
    &link_capacity,     &link_singular_values, &link_condition_number,
    &link_condition_db, &link_effective_rank,  &link_degrees_of_freedom,
    &link_sinr,         &link_sum_rate,        NULL};

/* H with columns times the root of their transmitter's power over the mean one. */
static ec_expr weighed(lua_State *L, const char *what, ec_expr h, const ec_lua_snr *snr)
{
    const ec_node *node = ec_lua_expr_node(L, h);
    double *root = lua_newuserdatauv(L, (size_t)node->elements * sizeof *root, 0);
    for (int32_t i = 0; i < node->elements; i++)
        root[i] = sqrt(snr->share[i % snr->n_tx] * snr->n_tx);
    ec_graph *graph = graph_of(L);
    ec_expr by = ec_graph_constant(graph, node->rank, node->shape, root);
    h = by < 0 ? by : ec_graph_binary(graph, EC_OP_MUL, h, by);
    if (h < 0)
        ec_lua_fail_core(L, what);
    return h;
}

/* The SNR that no key gives: of the link's budget, for H as it is, which comes back with the power of
 * each transmitter. Capacity takes the power of all of them, SINR that of each. */
static ec_expr take_budget(lua_State *L, int i, const char *what, const ec_lua_snr *snr,
                           matrix_keys *keys, ec_expr h)
{
    if (isnan(snr->db))
        ec_lua_fail(L,
                    "%s: key 'snr_db' is missing, and there is no link budget for normalize = "
                    "\"none\" to take it from: ec.mimo lacks %s",
                    what, snr->lacks);
    if (keys->normalize != EC_MATRIX_NONE)
        ec_lua_fail(L,
                    "%s: key 'snr_db' is missing; with normalize = \"none\" it is that of the link "
                    "budget",
                    what);
    bool mean = snr->share && i != CAPACITY;
    bool shared = i == CAPACITY && keys->power == EC_MATRIX_WATER_FILLING;
    keys->snr_db = ec_graph_number(graph_of(L), snr->db - (mean ? 10 * log10(snr->n_tx) : 0));
    return snr->share && !shared ? weighed(L, what, h, snr) : h;
}

/* Function i of the matrix at index 1 with the keys at 2. noun: of the call, or NULL, without keys. */
static int call(lua_State *L, int i, const char *what, const ec_noun *noun, const ec_lua_snr *snr)
{
    const double ln10 = 2.302585092994045684;
    ec_graph *graph = graph_of(L);
    ec_matrix_config config;
    matrix_keys keys = {.snr_db = -1};
    bool svd = false;
    if (lua_isnone(L, 1))
        ec_lua_fail(L, "%s: the matrix is missing", what);
    ec_expr h = ec_lua_expr_get(L, 1, what);
    if (noun && noun->keys) {
        ec_noun named = *noun; /* a noun of several functions */
        named.name = what;
        svd = ec_lua_keys_given(&named, ec_lua_keys_parse(L, 2, &named, &keys, NULL), "svd");
    } else if (!lua_isnoneornil(L, 2)) {
        ec_lua_fail(L, "%s: takes no options", what);
    }
    ec_lua_mark_line(L);
    if (svd && i == CAPACITY && keys.power == EC_MATRIX_EQUAL)
        ec_lua_warn_idle(L, what, "svd", "equal powers need no singular values");
    ec_matrix_config_default(&config);
    config.normalize = (ec_matrix_normalize)keys.normalize;
    config.power = (ec_matrix_power)keys.power;
    config.svd = (ec_svd_method)keys.svd;
    config.single = keys.precision == 1;
    if (functions[i].snr && keys.snr_db < 0)
        h = take_budget(L, i, what, snr, &keys, h);
    if (functions[i].snr) {
        ec_expr db = keys.snr_db;
        keys.snr_db = ec_graph_unary(
            graph, EC_OP_EXP,
            ec_graph_binary(graph, EC_OP_MUL, db, ec_graph_number(graph, ln10 / 10)));
    }
    ec_expr value = functions[i].value(graph, h, &keys, &config);
    if (value < 0)
        ec_lua_fail_core(L, what);
    return ec_lua_expr_push(L, value);
}

int ec_lua_link_function(lua_State *L, int i, const ec_lua_snr *snr)
{
    return call(L, i, ec_lua_link_functions[i]->name, ec_lua_link_functions[i], snr);
}

/* snr_db is a required key here. */
static int call_module(lua_State *L, int i)
{
    return call(L, i, functions[i].name, functions[i].noun, NULL);
}

int ec_lua_capacity(lua_State *L)
{
    return call_module(L, CAPACITY);
}

int ec_lua_singular_values(lua_State *L)
{
    return call_module(L, SINGULAR_VALUES);
}

int ec_lua_condition_number(lua_State *L)
{
    return call_module(L, CONDITION_NUMBER);
}

int ec_lua_condition_db(lua_State *L)
{
    return call_module(L, CONDITION_DB);
}

int ec_lua_effective_rank(lua_State *L)
{
    return call_module(L, EFFECTIVE_RANK);
}

int ec_lua_degrees_of_freedom(lua_State *L)
{
    return call_module(L, DEGREES);
}

int ec_lua_sinr(lua_State *L)
{
    return call_module(L, SINR);
}

int ec_lua_sum_rate(lua_State *L)
{
    return call_module(L, SUM_RATE);
}
