/* lua_mimo_metrics.c: metrics of the paths of a link: K factor, delays, angular spreads. */
#include "evaluators/mimo/mimo.h"
#include "lua_expr.h"
#include "lua_mimo.h"

typedef struct spread_keys {
    int at, plane;
} spread_keys;

static const ec_key spread_table[] = {
    {"at", EC_KEY_WORD, EC_KEY_REQUIRED, 0, 0, 0, NULL, "tx|rx",
     "of departure from the transmitter, or of arrival at the receiver", offsetof(spread_keys, at)},
    {"plane", EC_KEY_WORD, 0, 0, 0, 0, NULL, "azimuth|elevation",
     "azimuth: about z, a vertical path has 0; elevation: from the plane of x and y",
     offsetof(spread_keys, plane)}};

const ec_noun ec_noun_angular_spread = {
    "link:angular_spread_deg", "link:angular_spread_deg{ at = \"rx\", plane = \"azimuth\" }",
    "RMS angular spread of each pair's paths in degrees, sqrt(-2 ln |sum p e^(j angle)| / sum p) "
    "over "
    "their powers p (3GPP TR 38.901, annex A.1). 0 without paths, up to 491 where directions "
    "cancel.",
    EC_KEYS(spread_table)};

static ec_expr value_of(lua_State *L, const char *what, ec_call *call, ec_mimo_output output)
{
    ec_expr e = ec_mimo_value(ec_lua_host_of(L)->graph, call, output);
    if (e < 0)
        ec_lua_fail_core(L, what);
    return e;
}

static int push_value(lua_State *L, const char *what, ec_mimo_output output)
{
    return ec_lua_expr_push(L, value_of(L, what, ec_lua_mimo_call(L, what, false), output));
}

int ec_lua_link_k_factor_db(lua_State *L)
{
    return push_value(L, "link:k_factor_db", EC_MIMO_K_FACTOR_DB);
}

int ec_lua_link_mean_delay(lua_State *L)
{
    return push_value(L, "link:mean_delay", EC_MIMO_MEAN_DELAY);
}

int ec_lua_link_delay_spread(lua_State *L)
{
    return push_value(L, "link:delay_spread", EC_MIMO_DELAY_SPREAD);
}

int ec_lua_link_angular_spread_deg(lua_State *L)
{
    const char *what = ec_noun_angular_spread.name;
    ec_graph *graph = ec_lua_host_of(L)->graph;
    spread_keys k;
    ec_call *call = ec_lua_mimo_call(L, what, true);
    ec_lua_keys_parse(L, 2, &ec_noun_angular_spread, &k, NULL);
    ec_mimo_output output = (ec_mimo_output)(EC_MIMO_TX_AZIMUTH_SPREAD + 2 * k.at + k.plane);
    ec_expr radians = value_of(L, what, call, output);
    ec_expr degrees =
        ec_graph_binary(graph, EC_OP_MUL, radians, ec_graph_number(graph, 180 / EC_PI));
    if (degrees < 0)
        ec_lua_fail_core(L, what);
    return ec_lua_expr_push(L, degrees);
}
