#include "lua_library.h"

#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_values.h"
#include "random.h"

/* ---- rows of the tables ---------------------------------------------------------------------- */

enum { REQUIRED = EC_KEY_REQUIRED, MOST_ELEMENTS = 1000000 };

#define WHOLE(key, flags, initial, min, max, help)                                                 \
    {                                                                                              \
        key, EC_KEY_INTEGER, flags, initial, min, max, NULL, NULL, help, 0                         \
    }
#define COUNT(key, help) WHOLE(key, REQUIRED, NAN, 1, MOST_ELEMENTS, help)
#define SEED             WHOLE("seed", 0, 1, 0, INFINITY, "seed of the random numbers")
#define NUMBER(key, flags, initial, min, max, unit, help)                                          \
    {                                                                                              \
        key, EC_KEY_NUMBER, flags, initial, min, max, unit, NULL, help, 0                          \
    }
#define LIST(key, flags, min, max, help)                                                           \
    {                                                                                              \
        key, EC_KEY_LIST, flags, NAN, min, max, NULL, NULL, help, 0                                \
    }
#define WORD(key, words, help)                                                                     \
    {                                                                                              \
        key, EC_KEY_WORD, 0, 0, 0, 0, NULL, words, help, 0                                         \
    }
/* a number or an expression */
#define SINGLE(key, flags, initial, min, max, unit, help)                                          \
    {                                                                                              \
        key, EC_KEY_QUANTITY, (flags) | EC_KEY_SINGLE, initial, min, max, unit, NULL, help, 0      \
    }
#define LENGTH(key, flags, help) SINGLE(key, (flags) | EC_KEY_ABOVE, NAN, 0, INFINITY, "m", help)
/* a number, a list or an expression */
#define VALUES(key, flags, initial, min, unit, help)                                               \
    {                                                                                              \
        key, EC_KEY_QUANTITY, flags, initial, min, INFINITY, unit, NULL, help, 0                   \
    }

/* ---- ec.geometry ----------------------------------------------------------------------------- */

static const ec_key line[] = {COUNT("count", "number of elements"),
                              LENGTH("spacing", REQUIRED, "distance of neighbours"),
                              WORD("axis", "x|y|z", "direction of the line")};
static const ec_key rectangle[] = {COUNT("count_x", "columns"), COUNT("count_y", "rows"),
                                   LENGTH("spacing_x", REQUIRED, "distance of neighbours along x"),
                                   LENGTH("spacing_y", REQUIRED, "distance of neighbours along y")};
static const ec_key triangle[] = {
    COUNT("count_x", "elements in a row"), COUNT("count_y", "rows"),
    LENGTH("spacing", REQUIRED, "distance of neighbours in a row, along x"),
    LENGTH("row_spacing", 0, "distance of the rows (default: sqrt(3)/2 spacing, equilateral)")};
static const ec_key ring[] = {
    COUNT("count", "number of elements"), LENGTH("radius", REQUIRED, "of the ring"),
    SINGLE("start_deg", 0, 0, -INFINITY, INFINITY, "deg", "angle of the first element, from x")};
static const ec_key rings[] = {
    VALUES("radii", REQUIRED, NAN, 0, "m", "radius of each ring; 0 is an element in the middle"),
    LIST("counts", 0, 1, MOST_ELEMENTS, "number of elements of each ring"),
    NUMBER("spacing", EC_KEY_ABOVE, NAN, 0, INFINITY, "m",
           "instead of counts, for radii in numbers: smallest distance along a ring")};
static const ec_key spiral[] = {
    COUNT("count", "number of elements"), LENGTH("radius", REQUIRED, "of the aperture"),
    SINGLE("angle_deg", 0, 137.50776405003785, -INFINITY, INFINITY, "deg",
           "turn from one element to the next (default: the golden angle)")};
static const ec_key cylinder[] = {
    COUNT("columns", "elements along the arc"),
    COUNT("rows", "elements along the axis"),
    LENGTH("radius", REQUIRED, "of the cylinder"),
    LENGTH("spacing", REQUIRED, "distance of the rows"),
    NUMBER("arc_deg", EC_KEY_ABOVE, 360, 0, 360, "deg",
           "angle that the columns share, each in the middle of an equal part"),
    WORD("axis", "y|z",
         "of the cylinder; y: the middle of the arc is at the origin and faces z; z: the axis is "
         "the z axis, the middle of the arc faces x")};
static const ec_key sphere_cap[] = {COUNT("count", "number of elements"),
                                    LENGTH("radius", REQUIRED, "of the sphere"),
                                    NUMBER("half_angle_deg", REQUIRED | EC_KEY_ABOVE, NAN, 0, 180,
                                           "deg", "from the cap's axis to its edge")};
static const ec_key paraboloid[] = {
    NUMBER("diameter", REQUIRED | EC_KEY_ABOVE, NAN, 0, INFINITY, "m", "of the aperture"),
    SINGLE("f_over_d", REQUIRED | EC_KEY_ABOVE, NAN, 0, INFINITY, NULL,
           "focal length over diameter"),
    NUMBER("spacing", EC_KEY_ABOVE, NAN, 0, INFINITY, "m",
           "of the square lattice in the aperture plane"),
    WHOLE("count", 0, NAN, 1, MOST_ELEMENTS,
          "instead of spacing: number of elements, which sets the spacing"),
    NUMBER("jitter", 0, 0, 0, 0.5, NULL,
           "each element is moved in the aperture plane by up to this share of the spacing along x "
           "and y"),
    SEED};
static const ec_key facets[] = {
    COUNT("facets", "planar facets, each a chord of the profile"),
    COUNT("columns", "elements across all facets, along x"),
    COUNT("rows", "elements along y"),
    LENGTH("spacing", REQUIRED, "distance of the rows"),
    WORD("profile", "parabola|arc",
         "in the x-z plane; parabola: width and f_over_d, facets of equal width in x; arc: radius "
         "and arc_deg, facets of equal angle"),
    LENGTH("width", 0, "of the parabola's aperture"),
    SINGLE("f_over_d", EC_KEY_ABOVE, NAN, 0, INFINITY, NULL, "focal length over width"),
    LENGTH("radius", 0, "of the arc"),
    NUMBER("arc_deg", EC_KEY_ABOVE, NAN, 0, 180, "deg", "angle of the arc")};
static const ec_key csv[] = {
    {"file", EC_KEY_STRING, REQUIRED, NAN, 0, 0, NULL, NULL,
     "columns x, y, z, nx, ny, nz by name, or in this order when the first row has no words; y, z "
     "and the normals may be missing",
     0},
    NUMBER("unit", EC_KEY_ABOVE, 1, 0, INFINITY, "m", "of the file's positions, as ec.mm")};
#define POINTS                                                                                     \
    VALUES("x", REQUIRED, NAN, -INFINITY, "m", "x of each element"),                               \
        VALUES("y", 0, 0, -INFINITY, "m", "y of each element, or of all"),                         \
        VALUES("z", 0, 0, -INFINITY, "m", "z of each element, or of all"),                         \
        VALUES("nx", 0, NAN, -INFINITY, NULL, "x of each normal, of any length above 0"),          \
        VALUES("ny", 0, NAN, -INFINITY, NULL, "y of each normal"),                                 \
        VALUES("nz", 0, NAN, -INFINITY, NULL, "z of each normal")
static const ec_key points[] = {POINTS};
static const ec_key quantiles[] = {
    COUNT("count", "number of elements"),
    LENGTH("aperture", REQUIRED, "length of the line"),
    LIST("density", REQUIRED, 0, INFINITY,
         "density in equal parts of the aperture from one end to the other, as many as are given"),
    {"ends", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "the outer elements are at the ends of the aperture; false: in the middle of their share", 0}};

/* ---- ec.steering ----------------------------------------------------------------------------- */

static const ec_key phase[] = {
    VALUES("x", 0, 0, -INFINITY, "m", "x of each element, or of all"),
    VALUES("y", 0, 0, -INFINITY, "m", "y of each element, or of all"),
    VALUES("z", 0, 0, -INFINITY, "m", "z of each element, or of all"),
    LENGTH("wavelength", 0, "wavelength; with 1, positions are in wavelengths"),
    SINGLE("frequency", EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", "frequency, instead of wavelength"),
    LENGTH("set_wavelength", 0,
           "phase shifters were set at this wavelength: their phase is that of it, whatever "
           "wavelength the array is used at (default: a true time delay)"),
    SINGLE("set_frequency", EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", "instead of set_wavelength"),
    SINGLE("u", 0, NAN, -1, 1, NULL, "sin(theta) cos(phi) of the beam (default 0)"),
    SINGLE("v", 0, NAN, -1, 1, NULL, "sin(theta) sin(phi) of the beam (default 0)"),
    SINGLE("theta_deg", 0, NAN, -360, 360, "deg", "theta of the beam, instead of u and v"),
    SINGLE("phi_deg", 0, NAN, -360, 720, "deg", "phi of the beam (default 0)"),
    {"total", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "with the phase -k z that ec.array itself adds: what phase shifters behind curved or stepped "
     "elements are set to",
     0}};

/* ---- ec.taper -------------------------------------------------------------------------------- */

static const ec_key uniform[] = {COUNT("count", "number of elements")};
static const ec_key chebyshev[] = {
    WHOLE("count", REQUIRED, NAN, 2, 4000, "number of elements"),
    NUMBER("sll_db", REQUIRED, NAN, -200, -1, "dB", "side-lobe level, below 0")};
static const ec_key taylor[] = {
    WHOLE("count", REQUIRED, NAN, 2, MOST_ELEMENTS, "number of elements"),
    NUMBER("sll_db", REQUIRED, NAN, -200, -1, "dB", "side-lobe level, below 0"),
    WHOLE("nbar", 0, 4, 2, 100, "number of nearly equal side lobes, plus one")};
static const ec_key bayliss[] = {
    WHOLE("count", REQUIRED, NAN, 2, MOST_ELEMENTS, "number of elements"),
    NUMBER("sll_db", REQUIRED, NAN, -40, -15, "dB", "side-lobe level over the difference peaks"),
    WHOLE("nbar", 0, 5, 2, 100, "number of nearly equal side lobes on each side, plus one")};
static const ec_key hamming[] = {
    WHOLE("count", REQUIRED, NAN, 2, MOST_ELEMENTS, "number of elements")};
static const ec_key cosine[] = {
    COUNT("count", "number of elements"),
    NUMBER("pedestal", 0, 0, 0, 1, NULL, "weight at the ends of the aperture"),
    NUMBER("power", 0, 1, 0, 20, NULL, "exponent of the cosine")};

/* ---- ec.basis -------------------------------------------------------------------------------- */

#define POSITIONS                                                                                  \
    WHOLE("count", 0, NAN, 1, MOST_ELEMENTS, "number of values, at even positions from -1 to 1"),  \
        LIST("at", 0, -1, 1, "the positions themselves, instead of count")
#define TERMS        WHOLE("terms", REQUIRED, NAN, 1, 1000, "number of functions: columns")
#define COEFFICIENTS VALUES("coefficients", REQUIRED, NAN, -INFINITY, NULL, "of each function")
#define DEGREE       WHOLE("degree", 0, 3, 0, 20, "of the pieces; 3: cubic")
static const ec_key legendre[] = {COEFFICIENTS, POSITIONS};
static const ec_key legendre_matrix[] = {TERMS, POSITIONS};
static const ec_key bspline[] = {COEFFICIENTS, DEGREE, POSITIONS};
static const ec_key bspline_matrix[] = {TERMS, DEGREE, POSITIONS};

/* ---- ec.errors ------------------------------------------------------------------------------- */

#define SPREAD                                                                                     \
    NUMBER("sigma", 0, NAN, 0, INFINITY, NULL, "standard deviation of a normal distribution"),     \
        NUMBER("limit", 0, NAN, 0, INFINITY, NULL, "instead: even from -limit to limit"), SEED
static const ec_key random_list[] = {COUNT("count", "number of values"), SPREAD};
static const ec_key perturb[] = {VALUES("x", 0, NAN, -INFINITY, "m", "x of each element"),
                                 VALUES("y", 0, NAN, -INFINITY, "m", "y of each element"),
                                 VALUES("z", 0, NAN, -INFINITY, "m", "z of each element"), SPREAD};
static const ec_key failed[] = {
    WHOLE("count", 0, NAN, 1, MOST_ELEMENTS, "number of elements, for amplitudes of 1"),
    VALUES("amplitude", 0, NAN, -INFINITY, NULL, "amplitude of each element, instead of count"),
    LIST("elements", 0, 1, MOST_ELEMENTS, "the elements that fail, counted from 1"),
    WHOLE("random", 0, NAN, 0, MOST_ELEMENTS, "how many elements fail at random, instead"), SEED};
#define BITS WHOLE("bits", REQUIRED, NAN, 1, 24, "2^bits steps")
static const ec_key quantize_phase[] = {
    VALUES("phase", 0, NAN, -INFINITY, "rad", "phase of each element"),
    VALUES("phase_deg", 0, NAN, -INFINITY, "deg", "the same in degrees; so is the result"), BITS};
static const ec_key quantize_amplitude[] = {
    VALUES("amplitude", REQUIRED, NAN, 0, NULL, "amplitude of each element"), BITS,
    NUMBER("max", EC_KEY_ABOVE, 1, 0, INFINITY, NULL, "the highest step; larger ones are cut")};

/* ---- the table ------------------------------------------------------------------------------- */

const ec_noun ec_lua_library[] = {
    {"ec.geometry.line", "ec.geometry.line{ count = 20, spacing = 0.5 }",
     "Evenly spaced elements centred at 0. Like every geometry it has lists x, y, z, the number of "
     "elements n, and extent.x, .y, .z = { from, to }; surfaces have unit normals nx, ny, nz. "
     "Where a key is an expression, so are the positions that depend on it.",
     EC_KEYS(line)},
    {"ec.geometry.rectangle",
     "ec.geometry.rectangle{ count_x = 8, count_y = 8, spacing_x = 0.5, spacing_y = 0.5 }",
     "A centred rectangular lattice in the x-y plane, row by row; the normals are along z.",
     EC_KEYS(rectangle)},
    {"ec.geometry.triangle", "ec.geometry.triangle{ count_x = 8, count_y = 8, spacing = 0.55 }",
     "A centred triangular lattice in the x-y plane: every other row is moved by half a spacing.",
     EC_KEYS(triangle)},
    {"ec.geometry.ring", "ec.geometry.ring{ count = 12, radius = 1 }",
     "Elements on a circle in the x-y plane; the normals are along z.", EC_KEYS(ring)},
    {"ec.geometry.rings", "ec.geometry.rings{ radii = {0, 0.6, 1.2}, spacing = 0.5 }",
     "Concentric rings in the x-y plane, from the first to the last, each begun on the x axis.",
     EC_KEYS(rings)},
    {"ec.geometry.spiral", "ec.geometry.spiral{ count = 64, radius = 4 }",
     "Fermat's spiral: element i at radius sqrt((i - 1/2) / count), turned by i times the angle; "
     "the golden angle gives a sunflower of equal areas.",
     EC_KEYS(spiral)},
    {"ec.geometry.cylinder",
     "ec.geometry.cylinder{ columns = 16, rows = 4, radius = 3, spacing = 0.5, arc_deg = 120 }",
     "Rows and columns on a circular cylinder, with outward normals.", EC_KEYS(cylinder)},
    {"ec.geometry.sphere_cap",
     "ec.geometry.sphere_cap{ count = 200, radius = 5, half_angle_deg = 40 }",
     "Elements of equal areas on a cap of a sphere, turned by the golden angle; the top is at the "
     "origin, the outward normals point to z there.",
     EC_KEYS(sphere_cap)},
    {"ec.geometry.paraboloid",
     "ec.geometry.paraboloid{ diameter = 20, f_over_d = 1, spacing = 0.5 }",
     "Elements on z = (x^2 + y^2) / (4 f), over a square lattice in the aperture circle, with "
     "normals towards the focus side.",
     EC_KEYS(paraboloid)},
    {"ec.geometry.facets",
     "ec.geometry.facets{ facets = 3, columns = 60, rows = 20, spacing = 0.5, width = 30, f_over_d "
     "= 1 }",
     "Planar facets along a parabola z = x^2 / (4 f) or an arc that opens to z, each with its "
     "normal. The columns are shared out evenly; those of a facet are evenly spaced on it.",
     EC_KEYS(facets)},
    {"ec.geometry.csv", "ec.geometry.csv{ file = \"elements.csv\", unit = ec.mm }",
     "Elements of a file below the script's folder or --data.", EC_KEYS(csv)},
    {"ec.geometry.points", "ec.geometry.points{ x = x, y = y, z = z }",
     "A geometry from lists or expressions; normals are scaled to length 1.", EC_KEYS(points)},
    {"ec.geometry.halves", "ec.geometry.halves{ x = x, y = y }",
     "The elements, then their mirror images at -x: an array symmetric about the y-z plane. "
     "Elements at x = 0 would be there twice.",
     EC_KEYS(points)},
    {"ec.geometry.quadrants", "ec.geometry.quadrants{ x = x, y = y }",
     "The elements of one quadrant, then their images at (-x, y), (-x, -y) and (x, -y). Weights "
     "repeat in the same order: ec.concat(a, a, a, a).",
     EC_KEYS(points)},
    {"ec.geometry.quantiles",
     "ec.geometry.quantiles{ count = 60, aperture = 40, density = ec.taper.taylor{ count = 2000, "
     "sll_db = -25 } }",
     "Equal elements along x whose density follows a taper: each has the same share of it.",
     EC_KEYS(quantiles)},
    {"ec.steering.phase",
     "ec.steering.phase{ x = g.x, y = g.y, z = g.z, wavelength = 1, theta_deg = 30, phi_deg = 0 }",
     "The phase of each element in rad that points the beam into a direction: -k (u x + v y + (w - "
     "1) z), to be given to ec.array as phase.",
     EC_KEYS(phase)},
    {"ec.taper.uniform", "ec.taper.uniform{ count = 20 }", "Weights of 1.", EC_KEYS(uniform)},
    {"ec.taper.chebyshev", "ec.taper.chebyshev{ count = 20, sll_db = -30 }",
     "Dolph-Chebyshev weights: every side lobe of a half-wave line at sll_db, the largest "
     "weight 1.",
     EC_KEYS(chebyshev)},
    {"ec.taper.taylor", "ec.taper.taylor{ count = 40, sll_db = -30, nbar = 5 }",
     "Taylor weights: the first side lobes near sll_db, the others falling off, the largest "
     "weight 1.",
     EC_KEYS(taylor)},
    {"ec.taper.bayliss", "ec.taper.bayliss{ count = 40, sll_db = -30, nbar = 6 }",
     "Bayliss weights of a difference pattern: a null at broadside between two equal peaks, the "
     "first side lobes near sll_db, the others falling off. Negative in the first half, the "
     "largest weight 1.",
     EC_KEYS(bayliss)},
    {"ec.taper.hamming", "ec.taper.hamming{ count = 20 }",
     "Hamming weights: 0.08 at the outer elements, 1 in the middle.", EC_KEYS(hamming)},
    {"ec.taper.cosine", "ec.taper.cosine{ count = 20, pedestal = 0.3 }",
     "Cosine on a pedestal, over an aperture of count spacings: pedestal + (1 - pedestal) "
     "cos(pi x / aperture)^power.",
     EC_KEYS(cosine)},
    {"ec.basis.legendre", "ec.basis.legendre{ coefficients = c, count = 100 }",
     "Many values from few: the sum of coefficients[k + 1] P_k(xi), k = 0, 1, ..., with Legendre's "
     "polynomials, at even positions xi from -1 to 1. For positions or phases of elements.",
     EC_KEYS(legendre)},
    {"ec.basis.legendre_matrix", "ec.basis.legendre_matrix{ terms = 5, count = 100 }",
     "The matrix of P_0 .. P_(terms - 1), a row for each position: for ec.matvec.",
     EC_KEYS(legendre_matrix)},
    {"ec.basis.bspline", "ec.basis.bspline{ coefficients = c, count = 100 }",
     "Many values from few: a spline with clamped even knots, which begins at the first "
     "coefficient and ends at the last one; a coefficient acts near its place only.",
     EC_KEYS(bspline)},
    {"ec.basis.bspline_matrix", "ec.basis.bspline_matrix{ terms = 8, count = 100 }",
     "The matrix of the B-splines, a row for each position: for ec.matvec.",
     EC_KEYS(bspline_matrix)},
    {"ec.errors.random", "ec.errors.random{ count = 32, sigma = 0.02, seed = 3 }",
     "A list of random numbers, the same on every machine (Philox4x32-10 with the seed as its "
     "key).",
     EC_KEYS(random_list)},
    {"ec.errors.perturb", "ec.errors.perturb{ x = g.x, y = g.y, sigma = 0.01, seed = 3 }",
     "A table with the given coordinates, each moved at random, independently of the others.",
     EC_KEYS(perturb)},
    {"ec.errors.failed", "ec.errors.failed{ count = 64, random = 3, seed = 2 }",
     "The amplitudes with 0 for elements that fail.", EC_KEYS(failed)},
    {"ec.errors.quantize_phase", "ec.errors.quantize_phase{ phase = p, bits = 4 }",
     "The nearest phases of a shifter with 2^bits steps in a turn.", EC_KEYS(quantize_phase)},
    {"ec.errors.quantize_amplitude", "ec.errors.quantize_amplitude{ amplitude = a, bits = 5 }",
     "The nearest of 2^bits even steps from 0 to max.", EC_KEYS(quantize_amplitude)}};
const int ec_lua_library_count = sizeof ec_lua_library / sizeof *ec_lua_library;

/* ---- services -------------------------------------------------------------------------------- */

typedef union slot {
    double number;
    int64_t whole;
    bool flag;
    int word; /* or a stack index */
    const char *text;
    ec_lua_list list;
} slot;

static void push_word(lua_State *L, const char *words, int which)
{
    for (; which > 0; which--)
        words += strcspn(words, "|") + 1;
    lua_pushlstring(L, words, strcspn(words, "|"));
}

/* Pushes the value of a key, nil when it was not given and has no default. */
static void push_field(lua_State *L, const ec_key *key, const slot *s, bool given)
{
    if (!given && isnan(key->initial)) {
        lua_pushnil(L);
        return;
    }
    switch (key->kind) {
    case EC_KEY_INTEGER:
        lua_pushinteger(L, s->whole);
        return;
    case EC_KEY_NUMBER:
        lua_pushnumber(L, s->number);
        return;
    case EC_KEY_FLAG:
        lua_pushboolean(L, s->flag);
        return;
    case EC_KEY_WORD:
        push_word(L, key->words, s->word);
        return;
    case EC_KEY_STRING:
        lua_pushstring(L, s->text);
        return;
    case EC_KEY_LIST:
        ec_lua_list_push(L, &s->list);
        return;
    default:
        if (given)
            lua_pushvalue(L, s->word);
        else
            lua_pushnumber(L, key->initial);
    }
}

/* parse(name, table): the checked keys as a new table with defaults. */
static int parse(lua_State *L)
{
    enum { MOST = 16 };
    const char *name = luaL_checkstring(L, 1);
    const ec_noun *found = NULL;
    for (int i = 0; i < ec_lua_library_count; i++)
        if (strcmp(ec_lua_library[i].name, name) == 0)
            found = &ec_lua_library[i];
    if (!found || found->n_keys > MOST)
        ec_lua_fail(L, "there is no key table '%s'", name);
    slot fields[MOST];
    ec_key keys[MOST];
    for (int i = 0; i < found->n_keys; i++) {
        keys[i] = found->keys[i];
        keys[i].offset = (size_t)i * sizeof *fields;
    }
    ec_noun noun = *found;
    noun.keys = keys;
    uint64_t given = ec_lua_keys_parse(L, 2, &noun, fields, NULL);
    lua_newtable(L);
    for (int i = 0; i < noun.n_keys; i++) {
        push_field(L, &keys[i], &fields[i], given >> i & 1);
        lua_setfield(L, -2, keys[i].key);
    }
    return 1;
}

/* nearest(word, names): the name that was probably meant, or nil. */
static int nearest(lua_State *L)
{
    enum { MOST = 256 };
    const char *names[MOST], *word = luaL_checkstring(L, 1);
    int n = 0;
    luaL_checktype(L, 2, LUA_TTABLE);
    while (n < MOST && lua_rawgeti(L, 2, n + 1) == LUA_TSTRING) {
        names[n++] = lua_tostring(L, -1); /* the table keeps the text alive */
        lua_pop(L, 1);
    }
    lua_pushstring(L, ec_lua_nearest(word, names, n));
    return 1;
}

static int fail(lua_State *L)
{
    ec_lua_fail(L, "%s", luaL_checkstring(L, 1));
}

/* kind(value): "number", "list" or "expression" (nil for others) and the length, nil for a single
 * number. */
static int kind(lua_State *L)
{
    const ec_lua_expr *expr = luaL_testudata(L, 1, EC_LUA_EXPR);
    const ec_lua_values *values = expr ? NULL : ec_lua_values_test(L, 1);
    lua_settop(L, 1);
    if (expr) {
        const ec_node *node = ec_lua_expr_node(L, expr->expr);
        lua_pushliteral(L, "expression");
        if (node->rank > 0)
            lua_pushinteger(L, node->elements);
    } else if (values || lua_istable(L, 1)) {
        lua_pushliteral(L, "list");
        lua_pushinteger(L, values ? values->length : (lua_Integer)lua_rawlen(L, 1));
    } else if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_pushliteral(L, "number");
    } else {
        lua_pushnil(L);
    }
    lua_settop(L, 3);
    lua_remove(L, 1);
    return 2;
}

/* values(list): the same numbers with arithmetic. */
static int values(lua_State *L)
{
    ec_lua_list list;
    ec_lua_list_get(L, 1, "values", &list);
    return 1;
}

/* random(seed, stream, count, normal): element e is the draw with counter (stream, e, 0, 0),
 * uniform in (0, 1) or standard normal. */
static int random_numbers(lua_State *L)
{
    lua_Integer count = luaL_checkinteger(L, 3);
    uint32_t block = (uint32_t)luaL_checkinteger(L, 2);
    bool normal = lua_toboolean(L, 4);
    ec_random_stream stream = ec_random_make((uint64_t)luaL_checkinteger(L, 1), 0, 0, 0);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        uint32_t words[4];
        ec_random_words(&stream, block, (uint32_t)i, words);
        double u = ec_uniform_52_open(words[0], words[1]);
        lua_pushnumber(L, normal ? ec_normal(u) : u);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

void ec_lua_library_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"parse", parse},   {"nearest", nearest},       {"fail", fail}, {"kind", kind},
        {"values", values}, {"random", random_numbers}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
