/* Functions of channel matrices: ec.capacity, ec.singular_values and what follows from them. Each is
 * a method of expressions too. */
#include <math.h>

#include "evaluators/matrix/matrix.h"
#include "lua_expr.h"

typedef struct matrix_keys {
    ec_expr snr_db;
    int power, normalize, svd, precision, combining;
} matrix_keys;

#define ROW(key, kind, flags, unit, words, help, field)                                            \
    {                                                                                              \
        key, kind, flags, kind == EC_KEY_EXPR ? NAN : 0, 0, 0, unit, words, help,                  \
            offsetof(matrix_keys, field)                                                           \
    }
#define SNR_ROW(help) ROW("snr_db", EC_KEY_EXPR, EC_KEY_REQUIRED, "dB", NULL, help, snr_db)
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

static const ec_key capacity_keys[] = {
    SNR_ROW("signal over noise power of all transmitters together (see normalize)"),
    ROW("power", EC_KEY_WORD, 0, NULL, "equal|water_filling",
        "equal power at all transmitting antennas, or the best shares of the singular values",
        power),
    NORMALIZE_ROW, SVD_ROWS};

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

static const ec_key sinr_keys[] = {
    SNR_ROW("signal over noise power of each transmitter (see normalize)"), NORMALIZE_ROW,
    ROW("combining", EC_KEY_WORD, 0, NULL, "none|mmse|zero_forcing",
        "none: row k of H is user k's own antenna, served by transmitter k; mmse: all rows are "
        "antennas of one receiver, which separates the transmitters by linear combining; "
        "zero_forcing: so that nothing of the other transmitters is left",
        combining)};

const ec_noun ec_noun_sinr = {
    "ec.sinr, ec.sum_rate: options", "ec.sum_rate(H, { snr_db = 20, normalize = \"mean\" })",
    "SINR of several transmitters, the columns of H, at equal power. combining = \"none\": as many "
    "users with an antenna each and no precoding, |h_kk|^2 / (sum |h_kj|^2 + 1 / SNR) over all j "
    "but k. combining = \"mmse\": one receiver with all the rows, 1 / [(I + SNR H^H H)^-1]_kk - 1, "
    "or "
    "\"zero_forcing\", SNR / [(H^H H)^-1]_kk, with at least as many rows as columns. The "
    "sum rate is the sum of log2(1 + SINR).",
    EC_KEYS(sinr_keys)};

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

/* Parses the options; H and the SNR as a power ratio are expressions then. */
static ec_expr read(lua_State *L, const char *what, const ec_noun *noun, matrix_keys *keys,
                    ec_matrix_config *config)
{
    const double ln10 = 2.302585092994045684;
    if (lua_isnone(L, 1))
        ec_lua_fail(L, "%s: the matrix is missing", what);
    ec_expr h = ec_lua_expr_get(L, 1, what);
    *keys = (matrix_keys){.snr_db = -1};
    ec_lua_keys_parse(L, 2, noun, keys, NULL);
    ec_lua_mark_line(L);
    ec_matrix_config_default(config);
    config->normalize = (ec_matrix_normalize)keys->normalize;
    config->power = (ec_matrix_power)keys->power;
    config->svd = (ec_svd_method)keys->svd;
    config->single = keys->precision == 1;
    if (keys->snr_db >= 0) {
        ec_graph *graph = graph_of(L);
        ec_expr nepers =
            ec_graph_binary(graph, EC_OP_MUL, keys->snr_db, ec_graph_number(graph, ln10 / 10));
        keys->snr_db = ec_graph_unary(graph, EC_OP_EXP, nepers);
        if (keys->snr_db < 0)
            ec_lua_fail_core(L, what);
    }
    return h;
}

static int push(lua_State *L, const char *what, ec_expr e)
{
    if (e < 0)
        ec_lua_fail_core(L, what);
    return ec_lua_expr_push(L, e);
}

int ec_lua_capacity(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.capacity", &ec_noun_capacity, &keys, &config);
    return push(L, "ec.capacity", ec_matrix_capacity(graph_of(L), h, keys.snr_db, &config));
}

int ec_lua_singular_values(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.singular_values", &ec_noun_singular_values, &keys, &config);
    return push(L, "ec.singular_values", ec_matrix_singular_values(graph_of(L), h, &config));
}

int ec_lua_condition_number(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.condition_number", &ec_noun_singular_values, &keys, &config);
    return push(L, "ec.condition_number", ec_matrix_condition(graph_of(L), h, &config));
}

int ec_lua_condition_db(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_graph *graph = graph_of(L);
    ec_expr h = read(L, "ec.condition_db", &ec_noun_singular_values, &keys, &config);
    ec_expr log = ec_graph_unary(graph, EC_OP_LOG10, ec_matrix_condition(graph, h, &config));
    return push(L, "ec.condition_db",
                ec_graph_binary(graph, EC_OP_MUL, log, ec_graph_number(graph, 20)));
}

int ec_lua_effective_rank(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.effective_rank", &ec_noun_singular_values, &keys, &config);
    return push(L, "ec.effective_rank", ec_matrix_effective_rank(graph_of(L), h, &config));
}

int ec_lua_degrees_of_freedom(lua_State *L)
{
    if (lua_isnone(L, 1))
        ec_lua_fail(L, "ec.degrees_of_freedom: the matrix is missing");
    ec_expr h = ec_lua_expr_get(L, 1, "ec.degrees_of_freedom");
    ec_lua_mark_line(L);
    return push(L, "ec.degrees_of_freedom", ec_matrix_degrees_of_freedom(graph_of(L), h));
}

int ec_lua_sinr(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.sinr", &ec_noun_sinr, &keys, &config);
    return push(L, "ec.sinr",
                ec_matrix_sinr(graph_of(L), h, keys.snr_db, config.normalize,
                               (ec_matrix_combining)keys.combining));
}

int ec_lua_sum_rate(lua_State *L)
{
    matrix_keys keys;
    ec_matrix_config config;
    ec_expr h = read(L, "ec.sum_rate", &ec_noun_sinr, &keys, &config);
    return push(L, "ec.sum_rate",
                ec_matrix_sum_rate(graph_of(L), h, keys.snr_db, config.normalize,
                                   (ec_matrix_combining)keys.combining));
}
