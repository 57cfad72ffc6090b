/* array_pattern_winner.c: the best design's array as tables; see the header. */
#include "array_pattern_winner.h"

#include "array_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const grid_names[] = {"u cut",   "u-v grid",       "theta cut",
                                         "phi cut", "theta-phi grid", "list of directions"};

static ec_graph *graph_of(const ec_array_winner *winner)
{
    return ec_job_graph(winner->job);
}

/* Elements with a vector field, and normals that mean something. */
static bool has_vectors(const ec_array_config *config)
{
    return config->each || config->element.kind != EC_ELEMENT_KIND_ISOTROPIC;
}

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "array: no memory for the table of its best design");
}

static int evaluate(const ec_array_winner *winner, ec_expr e, double **value, int32_t *length)
{
    return e < 0 ? e
                 : ec_result_value(winner->job, winner->result, winner->backend, e, value, length,
                                   NULL);
}

/* A real number of the best design. */
static int evaluate_number(const ec_array_winner *winner, ec_expr e, double *number)
{
    double *value = NULL;
    int32_t length = 0;
    int status = evaluate(winner, e, &value, &length);

    if (status < 0)
        return status;
    *number = value[0];
    free(value);
    return EC_OK;
}

/* The same elements with another grid or polarization. */
static int other_call(const ec_array_winner *winner, const ec_array_config *config, ec_call **call)
{
    const ec_expr *e = winner->call->in;
    ec_array_inputs in = {e[EC_PATTERN_X],         e[EC_PATTERN_Y],     e[EC_PATTERN_Z],
                          e[EC_PATTERN_AMPLITUDE], e[EC_PATTERN_PHASE], e[EC_PATTERN_WAVELENGTH],
                          e[EC_PATTERN_U0],        e[EC_PATTERN_V0],    e[EC_PATTERN_W0]};

    return ec_array_call(graph_of(winner), config, &in, call);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* One input of the call for each of n elements. */
static int read_input(const ec_array_winner *winner, int input, int32_t n, double *to)
{
    ec_expr e = winner->call->in[input];
    int32_t length = 0;
    double *value = NULL;
    int status = evaluate(winner, e, &value, &length);

    if (status < 0)
        return status;
    bool each = ec_graph_node(graph_of(winner), e)->elements > 1;
    for (int32_t m = 0; m < n; m++)
        to[m] = value[each ? m : 0];
    free(value);
    return EC_OK;
}

/* The phase that element m is fed with, within half a turn. */
static double feed_phase(const double *const in[EC_PATTERN_INPUTS], int32_t m)
{
    double path = in[EC_PATTERN_U0][0] * in[EC_PATTERN_X][m] +
                  in[EC_PATTERN_V0][0] * in[EC_PATTERN_Y][m] +
                  in[EC_PATTERN_W0][0] * in[EC_PATTERN_Z][m];

    return remainder(in[EC_PATTERN_PHASE][m] - 2 * EC_PI * path / in[EC_PATTERN_WAVELENGTH][0],
                     2 * EC_PI);
}

int ec_array_winner_write_elements(const ec_array_winner *winner, const char *path)
{
    const ec_array_config *config = ec_array_call_config(winner->call);
    size_t n = (size_t)config->elements;
    double *in[EC_PATTERN_INPUTS], *block = malloc((EC_PATTERN_INPUTS + 3) * n * sizeof *block);
    int status = block ? EC_OK : no_memory();

    for (int i = 0; i < EC_PATTERN_INPUTS && status == EC_OK; i++) {
        in[i] = block + (size_t)i * n;
        status = read_input(winner, i, config->elements, in[i]);
    }
    if (status == EC_OK) {
        double *phase = in[EC_PATTERN_PHASE], *normal = block + EC_PATTERN_INPUTS * n;
        for (int32_t m = 0; m < config->elements; m++) {
            phase[m] = feed_phase((const double *const *)in, m);
            const ec_element_frame *frame = config->frames ? &config->frames[m] : &config->frame;
            memcpy(normal + 3 * m, frame->z, sizeof frame->z);
        }
        ec_element_list list = {config->elements,
                                in[EC_PATTERN_X],
                                in[EC_PATTERN_Y],
                                in[EC_PATTERN_Z],
                                in[EC_PATTERN_AMPLITUDE],
                                phase,
                                has_vectors(config) ? normal : NULL};
        status = ec_element_list_write(&list, path);
    }
    free(block);
    return status;
}

/* ---- two calls -------------------------------------------------------------------------------- */

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return a == b || (a && b && memcmp(a, b, size) == 0);
}

static bool same_pattern(const ec_element_pattern *a, const ec_element_pattern *b)
{
    bool table = a->kind == EC_ELEMENT_KIND_TABLE;

    if (a->kind != b->kind || a->q != b->q || !same_bytes(a->axis, b->axis, sizeof a->axis))
        return false;
    return !table ||
           (ec_element_table_length(a) == ec_element_table_length(b) &&
            same_bytes(&a->grid, &b->grid, sizeof a->grid) &&
            same_bytes(a->node_f64, b->node_f64, ec_element_table_length(a) * sizeof *a->node_f64));
}

bool ec_array_winner_same_field(const ec_call *one, const ec_call *other)
{
    const ec_array_config *a = ec_array_call_config(one), *b = ec_array_call_config(other);
    size_t n = (size_t)a->elements, step = sizeof(double);

    bool same = a->elements == b->elements && a->kind == b->kind && a->na == b->na &&
                a->nb == b->nb && a->fixed == b->fixed &&
                same_bytes(one->in, other->in, EC_PATTERN_INPUTS * sizeof *one->in);
    same = same && same_bytes(a->a, b->a, (size_t)a->na * step) &&
           same_bytes(a->b, b->b, (size_t)a->nb * step) &&
           same_bytes(&a->frame, &b->frame, sizeof a->frame) &&
           same_bytes(a->frames, b->frames, n * sizeof *a->frames) && !a->each == !b->each;
    if (same && !a->each)
        return same_pattern(&a->element, &b->element);
    for (size_t m = 0; m < n && same; m++)
        same = same_pattern(&a->each[m], &b->each[m]);
    return same;
}

/* ---- far field ------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Makes the grid of a theta cut one of half cuts, theta >= 0. theta has room for all of the cut's,
 * phi for two. */
static void halve_cut(ec_array_config *grid, double *theta, double phi[2])
{
    static const double same = 1e-9;
    int32_t n = 0;

    for (int32_t i = 0; i < grid->na; i++)
        theta[i] = fabs(grid->a[i]);
    qsort(theta, (size_t)grid->na, sizeof *theta, compare_doubles);
    for (int32_t i = 0; i < grid->na; i++)
        if (n == 0 || theta[i] - theta[n - 1] > same)
            theta[n++] = theta[i];
    phi[0] = grid->fixed > 2 * EC_PI ? grid->fixed - 2 * EC_PI : grid->fixed;
    phi[1] = phi[0] + EC_PI;
    grid->kind = EC_ARRAY_GRID_THETA_PHI;
    grid->a = theta;
    grid->na = n;
    grid->b = phi;
    grid->nb = 2;
}

/* The same of a u cut through v = 0: half as many directions, even in theta, up to its largest |u|. */
static void halve_line(ec_array_config *grid, double *theta, double phi[2])
{
    double most = fmax(fabs(grid->a[0]), fabs(grid->a[grid->na - 1]));
    int32_t n = (grid->na + 2) / 2;

    for (int32_t i = 0; i < n; i++)
        theta[i] = asin(fmin(most, 1.0)) * ((double)i / (n - 1));
    phi[0] = 0;
    phi[1] = EC_PI;
    grid->kind = EC_ARRAY_GRID_THETA_PHI;
    grid->a = theta;
    grid->na = n;
    grid->b = phi;
    grid->nb = 2;
}

/* Complex patterns on one grid, [n][parts]: real and imaginary parts, one after the other. */
static int read_parts(const ec_array_winner *winner, ec_array_config *grid, int32_t n,
                      const ec_array_polarization *part, double **value)
{
    ec_graph *graph = graph_of(winner);
    ec_expr list[4];
    int32_t length = 0;

    for (int32_t i = 0; i < n; i++) {
        ec_call *call = NULL;
        grid->polarization = part[i];
        int status = other_call(winner, grid, &call);
        if (status < 0)
            return status;
        ec_expr pattern = ec_array_pattern(graph, call);
        if (pattern < 0)
            return pattern;
        list[2 * i] = ec_graph_unary(graph, EC_OP_RE, pattern);
        list[2 * i + 1] = ec_graph_unary(graph, EC_OP_IM, pattern);
    }
    return evaluate(winner, ec_graph_op(graph, EC_OP_CONCAT, 2 * n, list, 0, NULL), value, &length);
}

static int make_field(const ec_array_winner *winner, ec_array_config *grid, ec_far_field **field)
{
    static const ec_array_polarization whole[] = {EC_POLARIZATION_TOTAL},
                                       vector[] = {EC_POLARIZATION_THETA, EC_POLARIZATION_PHI};
    bool scalar = !has_vectors(grid);
    size_t n = (size_t)grid->na * (size_t)grid->nb;
    double wavelength = 0, *value = NULL;
    ec_c128 *e = malloc(2 * n * sizeof *e);

    int status = e ? EC_OK : no_memory();
    if (status == EC_OK)
        status = evaluate_number(winner, winner->call->in[EC_PATTERN_WAVELENGTH], &wavelength);
    if (status == EC_OK)
        status = read_parts(winner, grid, scalar ? 1 : 2, scalar ? whole : vector, &value);
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        e[i] = (ec_c128){value[i], value[n + i]};
        if (!scalar)
            e[n + i] = (ec_c128){value[2 * n + i], value[3 * n + i]};
    }
    if (status == EC_OK)
        status = ec_far_field_create(grid->na, grid->a, grid->nb, grid->b, e, scalar ? NULL : e + n,
                                     EC_LIGHT_SPEED / wavelength, field);
    free(value);
    free(e);
    return status;
}

int ec_array_winner_far_field(const ec_array_winner *winner, ec_far_field **field, bool *scalar)
{
    ec_array_config grid = *ec_array_call_config(winner->call);
    double *theta = NULL, phi[2];

    if (scalar)
        *scalar = !has_vectors(&grid);
    bool line = grid.kind == EC_ARRAY_CUT_U && grid.fixed == 0;
    if (grid.kind != EC_ARRAY_GRID_THETA_PHI && grid.kind != EC_ARRAY_CUT_THETA && !line)
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "far field: the array has a %s%s; a list theta_deg is needed, with phi_deg a "
            "list or a number, or a u cut through v = 0 (another array of the same "
            "elements may have it)",
            grid_names[grid.kind], grid.kind == EC_ARRAY_CUT_U ? " beside v = 0" : "");
    if (grid.kind != EC_ARRAY_GRID_THETA_PHI) {
        theta = malloc((size_t)(grid.na + 1) * sizeof *theta);
        if (!theta)
            return no_memory();
        if (line)
            halve_line(&grid, theta, phi);
        else
            halve_cut(&grid, theta, phi);
    }
    int status = make_field(winner, &grid, field);
    free(theta);
    return status;
}

int ec_array_winner_write_far_field(const ec_array_winner *winner, const char *path)
{
    const char *ending = strrchr(path, '.');
    bool cut = ending && strcasecmp(ending, ".cut") == 0, scalar;
    ec_far_field *field = NULL;

    if (!cut && !(ending && strcasecmp(ending, ".ffd") == 0))
        return ec_fail(EC_ERR_ARGUMENT,
                       "far field: '%s': a name that ends in .ffd or .cut is needed", path);
    int status = ec_array_winner_far_field(winner, &field, &scalar);
    if (status < 0)
        return status;
    status = cut ? ec_far_field_write_cut(
                       field, scalar ? "a scalar pattern as E_theta, E_phi is zero" : NULL, path)
                 : ec_far_field_write_ffd(field, path);
    ec_far_field_destroy(&field);
    return status;
}

/* ---- other directions ------------------------------------------------------------------------ */

int ec_array_winner_power(const ec_array_winner *winner, const ec_array_config *grid,
                          double **power, int32_t *samples)
{
    ec_call *call = NULL;
    int32_t length = 0;

    int status = other_call(winner, grid, &call);
    if (status < 0)
        return status;
    ec_expr pattern = ec_array_pattern(graph_of(winner), call);
    ec_expr squared = pattern < 0 ? pattern : ec_graph_unary(graph_of(winner), EC_OP_ABS2, pattern);
    status = evaluate(winner, squared, power, &length);
    if (status == EC_OK && samples)
        *samples = length / ec_graph_node(graph_of(winner), squared)->elements;
    return status;
}

int ec_array_winner_along(const ec_array_winner *winner, int32_t n, const double *a,
                          const double *b, double *power)
{
    ec_array_config grid = *ec_array_call_config(winner->call);
    double *list = malloc(3 * (size_t)n * sizeof *list), *value = NULL, d[3];
    int32_t visible = 0, k = 0;

    if (!list)
        return no_memory();
    for (int32_t i = 0; i < n; i++) {
        bool seen = ec_pattern_direct(&grid, a[i], b[i], d);
        power[i] = seen ? 0.0 : (double)NAN;
        for (int j = 0; j < 3 && seen; j++)
            list[(size_t)j * (size_t)n + (size_t)visible] = d[j];
        visible += seen;
    }
    grid.kind = EC_ARRAY_DIRECTIONS;
    grid.na = visible;
    grid.nb = 1;
    grid.a = list;
    grid.b = list + n;
    grid.c = list + 2 * (size_t)n;
    grid.method = EC_METHOD_AUTO;
    int status = visible ? ec_array_winner_power(winner, &grid, &value, NULL) : EC_OK;
    for (int32_t i = 0; i < n && visible && status == EC_OK; i++)
        if (!isnan(power[i]))
            power[i] = value[k++];
    free(value);
    free(list);
    return status;
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* The level of 0 dB of a mask, as 20 log10 |F|: relative ones have it at the beam's peak. */
static int read_reference(const ec_array_winner *winner, const ec_pattern_spec *spec, bool cut,
                          const double at[2], double *reference)
{
    ec_graph *graph = graph_of(winner);
    const double *b = cut ? NULL : &at[1];

    *reference = 0;
    if (!spec->relative)
        return EC_OK;
    ec_expr level = ec_array_level_db(graph, winner->call, NULL, false, 1, &at[0], b);
    ec_expr over = ec_array_level_db(graph, winner->call, &spec->beam, true, 1, &at[0], b);
    if (level < 0 || over < 0)
        return level < 0 ? level : over;
    return evaluate_number(
        winner, ec_graph_slice(graph, ec_graph_binary(graph, EC_OP_SUB, level, over), 0, 0),
        reference);
}

/* The point in the u-v plane that a surface's mask is measured from. */
static int read_look(const ec_array_winner *winner, const ec_array_beam *beam, double look[3])
{
    const ec_expr *in = winner->call->in;

    if (!isnan(beam->look_a) && !isnan(beam->look_b)) {
        ec_pattern_direct(ec_array_call_config(winner->call), beam->look_a, beam->look_b, look);
        return EC_OK;
    }
    int status = evaluate_number(winner, in[EC_PATTERN_U0], &look[0]);
    return status < 0 ? status : evaluate_number(winner, in[EC_PATTERN_V0], &look[1]);
}

/* Narrows the limits of one direction, t its place on the mask. */
static void narrow(const ec_pattern_spec *spec, double t, double reference, double *max_db,
                   double *min_db)
{
    static const double slack = 1e-9;

    for (int32_t k = 0; k < spec->n; k++) {
        const ec_pattern_line *line = &spec->lines[k];
        if (!(t >= line->from - slack && t <= line->to + slack))
            continue;
        double share = line->to > line->from ? (t - line->from) / (line->to - line->from) : 0;
        double limit = reference + line->limit[0] + share * (line->limit[1] - line->limit[0]);
        if (line->sign > 0)
            *max_db = fmin(*max_db, limit); /* the other one when this is NaN */
        else
            *min_db = fmax(*min_db, limit);
    }
}

int ec_array_winner_mask(const ec_array_winner *winner, ec_expr metric, const double at[2],
                         int32_t n, const double *a, const double *b, double *max_db,
                         double *min_db)
{
    const ec_array_config *config = ec_array_call_config(winner->call);
    const ec_node *node = ec_graph_node(graph_of(winner), metric);
    bool cut = ec_pattern_is_cut(config->kind);
    double reference, look[3] = {0, 0, 1}, d[3];

    if (!node || node->op != EC_OP_CALL_OUTPUT || node->call != winner->call)
        return EC_OK;
    const ec_pattern_spec *spec = (const ec_pattern_spec *)node->call->out[node->output].spec;
    /* other metrics use masks of their own */
    if ((spec->kind != EC_METRIC_EXCESS && spec->kind != EC_METRIC_NORM) ||
        strcmp(node->call->out[node->output].name, "excess_db") != 0)
        return EC_OK;
    int status = read_reference(winner, spec, cut, at, &reference);
    if (status == EC_OK && !cut)
        status = read_look(winner, &spec->beam, look);
    if (status < 0 || isnan(reference))
        return status;
    for (int32_t i = 0; i < n; i++) {
        double t = a[i];
        if (!cut || config->kind == EC_ARRAY_CUT_U) {
            if (!ec_pattern_direct(config, a[i], cut ? config->fixed : b[i], d))
                continue;
            t = cut ? t : hypot(d[0] - look[0], d[1] - look[1]);
        }
        narrow(spec, t, reference, &max_db[i], &min_db[i]);
    }
    return EC_OK;
}
