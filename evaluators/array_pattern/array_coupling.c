/* array_coupling.c: weights of an array whose ports are coupled, as expressions of the graph.
 *
 * Ports fed by incident power waves a reflect S a, so the current of port m is
 * (a - S a)_m / sqrt(R_m) (K. Kurokawa, "Power waves and the scattering matrix", IEEE Trans.
 * Microwave Theory Tech. 13, 1965); in units of the first port's sqrt(R) that is the weight of an
 * element whose field follows its current. The incident waves have the phases of the steering, and
 * what the coupling makes of them is given to the array as phases on top of that steering. Complex
 * products are real ones of twice the size:
 *   [Re b; Im b] = [Re a; Im a] - [Re S, -Im S; Im S, Re S] [Re a; Im a].
 * Between the file's frequencies S is linear in Re and Im. */
#include "array_internal.h"

#include <math.h>
#include <stdlib.h>

static const double LIGHT_SPEED = 299792458.0; /* m/s, exact by definition */

/* Adds share times the matrix of frequency k to [2n][2n]. */
static void add_matrix(const ec_touchstone *data, int32_t k, double share, double *to)
{
    size_t n = (size_t)data->n_ports;
    const ec_c128 *s = data->s + (size_t)k * n * n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double root = sqrt(data->reference[0] / data->reference[i]) * share;
            double re = root * s[i * n + j].re, im = root * s[i * n + j].im;
            to[i * 2 * n + j] += re;
            to[i * 2 * n + n + j] -= im;
            to[(n + i) * 2 * n + j] += im;
            to[(n + i) * 2 * n + n + j] += re;
        }
}

void ec_pattern_coupling_row(const ec_touchstone *data, int32_t k, int32_t m, double *re,
                             double *im)
{
    size_t n = (size_t)data->n_ports;
    const ec_c128 *s = data->s + ((size_t)k * n + (size_t)m) * n;
    double root = sqrt(data->reference[0] / data->reference[m]);

    for (size_t l = 0; l < n; l++) {
        re[l] = root * ((l == (size_t)m ? 1.0 : 0.0) - s[l].re);
        im[l] = -root * s[l].im;
    }
}

int32_t ec_pattern_coupling_segment(const ec_touchstone *data, double f)
{
    int32_t k = 0;

    while (k + 2 < data->n_frequencies && data->frequency[k + 1] <= f)
        k++;
    return k;
}

/* share of matrix k at frequency f, where first .. last are those in use. */
static ec_expr share_of(ec_graph *graph, const ec_touchstone *data, ec_expr f, int32_t k,
                        int32_t first, int32_t last)
{
    const double *at = data->frequency;
    ec_expr zero = ec_graph_number(graph, 0.0), one = ec_graph_number(graph, 1.0), up = one,
            down = one;

    if (k > first)
        up =
            ec_graph_binary(graph, EC_OP_DIV,
                            ec_graph_binary(graph, EC_OP_SUB, f, ec_graph_number(graph, at[k - 1])),
                            ec_graph_number(graph, at[k] - at[k - 1]));
    if (k < last)
        down =
            ec_graph_binary(graph, EC_OP_DIV,
                            ec_graph_binary(graph, EC_OP_SUB, ec_graph_number(graph, at[k + 1]), f),
                            ec_graph_number(graph, at[k + 1] - at[k]));
    ec_expr clamped[3] = {ec_graph_binary(graph, EC_OP_MIN, up, down), zero, one};
    return ec_graph_op(graph, EC_OP_CLAMP, 3, clamped, 0, NULL);
}

/* S a, S at the frequency f, whose range lies inside the file's. */
static ec_expr scattered(ec_graph *graph, const ec_touchstone *data, ec_expr f, ec_expr a)
{
    size_t n = (size_t)data->n_ports, size = 4 * n * n;
    ec_interval range = ec_graph_node(graph, f)->range;
    int32_t first = ec_pattern_coupling_segment(data, range.lo);
    int32_t last = ec_pattern_coupling_segment(data, range.hi);
    double *matrix = calloc(size, sizeof *matrix);
    ec_expr sum = EC_ERR_MEMORY;

    last += data->n_frequencies > 1;
    if (!matrix)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for the coupling of %d ports",
                       data->n_ports);
    if (range.lo == range.hi) {
        double step = last > first ? data->frequency[last] - data->frequency[first] : 1.0;
        double share = last > first ? (range.lo - data->frequency[first]) / step : 0.0;
        add_matrix(data, first, 1.0 - share, matrix);
        if (last > first)
            add_matrix(data, last, share, matrix);
        sum = ec_graph_matvec(graph, a, (int32_t)(2 * n), matrix);
    }
    for (int32_t k = first; k <= last && range.lo < range.hi; k++) {
        for (size_t i = 0; i < size; i++)
            matrix[i] = 0.0;
        add_matrix(data, k, 1.0, matrix);
        ec_expr part = ec_graph_binary(graph, EC_OP_MUL, share_of(graph, data, f, k, first, last),
                                       ec_graph_matvec(graph, a, (int32_t)(2 * n), matrix));
        sum = k == first ? part : ec_graph_binary(graph, EC_OP_ADD, sum, part);
    }
    free(matrix);
    return sum;
}

int ec_pattern_check_coupling(const char *noun, const ec_touchstone *data, int32_t elements,
                              ec_interval f)
{
    const double *at = data->frequency, slack = 1e-9;
    double lo = at[0], hi = at[data->n_frequencies - 1];

    if (data->n_ports != elements)
        return ec_fail(EC_ERR_SHAPE, "%s: the coupling has %d ports, the array has %d elements",
                       noun, data->n_ports, elements);
    if (!(f.lo >= lo * (1.0 - slack) && f.hi <= hi * (1.0 + slack)))
        return ec_fail(EC_ERR_RANGE,
                       "%s: the coupling's file has %.10g to %.10g Hz, the array's frequency is "
                       "%.10g to %.10g Hz (wavelengths are metres here)",
                       noun, lo, hi, f.lo, f.hi);
    return EC_OK;
}

/* An input, a list of one as its number; a missing one is `absent`. */
static ec_expr given(ec_graph *graph, ec_expr e, double absent)
{
    const ec_node *node = e >= 0 ? ec_graph_node(graph, e) : NULL;

    if (e < 0)
        return ec_graph_number(graph, absent);
    return node && node->rank == 1 && node->elements == 1 ? ec_graph_slice(graph, e, 0, 0) : e;
}

int ec_array_couple(ec_graph *graph, const ec_touchstone *data, int32_t elements,
                    ec_array_inputs *in)
{
    size_t n = (size_t)elements;

    if (!ec_graph_node(graph, in->wavelength))
        return ec_fail(EC_ERR_ARGUMENT, "array: wavelength is missing");
    if (in->w0 < 0 && (in->u0 >= 0 || in->v0 >= 0))
        return ec_fail(EC_ERR_ARGUMENT, "array: coupling needs all three cosines of the steering");
    ec_expr wavelength = given(graph, in->wavelength, 1);
    ec_expr f = ec_graph_binary(graph, EC_OP_DIV, ec_graph_number(graph, LIGHT_SPEED), wavelength);
    int status =
        f < 0 ? f
              : ec_pattern_check_coupling("array", data, elements, ec_graph_node(graph, f)->range);
    if (status < 0)
        return status;
    double *list = malloc(2 * n * sizeof *list);
    if (!list)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for the coupling of %d ports", elements);
    for (size_t i = 0; i < 2 * n; i++)
        list[i] = i < n ? 1.0 : sqrt(data->reference[0] / data->reference[i - n]);
    ec_expr ones = ec_graph_constant(graph, 1, &elements, list);
    ec_expr roots = ec_graph_constant(graph, 1, &elements, list + n);
    free(list);
    /* radians that the steering takes off */
    const ec_expr place[3] = {given(graph, in->x, 0), given(graph, in->y, 0),
                              given(graph, in->z, 0)};
    const ec_expr steer[3] = {given(graph, in->u0, 0), given(graph, in->v0, 0),
                              given(graph, in->w0, 1)};
    ec_expr turn = ec_graph_number(graph, 0.0);
    for (int k = 0; k < 3; k++)
        turn = ec_graph_binary(graph, EC_OP_ADD, turn,
                               ec_graph_binary(graph, EC_OP_MUL, place[k], steer[k]));
    turn = ec_graph_binary(graph, EC_OP_DIV, turn, wavelength);
    turn = ec_graph_binary(graph, EC_OP_MUL, turn, ec_graph_number(graph, 2.0 * EC_PI));
    ec_expr angle = ec_graph_binary(graph, EC_OP_SUB, given(graph, in->phase, 0), turn);
    ec_expr size = ec_graph_binary(graph, EC_OP_MUL, ones, given(graph, in->amplitude, 1));
    ec_expr part[2];
    for (int k = 0; k < 2; k++)
        part[k] = ec_graph_binary(graph, EC_OP_MUL, size,
                                  ec_graph_unary(graph, k ? EC_OP_SIN : EC_OP_COS, angle));
    ec_expr back = scattered(graph, data, f, ec_graph_op(graph, EC_OP_CONCAT, 2, part, 0, NULL));
    if (back < 0)
        return back;
    for (int k = 0; k < 2; k++)
        part[k] =
            ec_graph_binary(graph, EC_OP_SUB, ec_graph_binary(graph, EC_OP_MUL, part[k], roots),
                            ec_graph_slice(graph, back, k * elements, elements));
    ec_expr current = ec_graph_binary(graph, EC_OP_COMPLEX, part[0], part[1]);
    in->amplitude = ec_graph_unary(graph, EC_OP_ABS, current);
    in->phase = ec_graph_binary(graph, EC_OP_ADD, ec_graph_unary(graph, EC_OP_ARG, current), turn);
    return in->phase < 0 ? in->phase : in->amplitude < 0 ? in->amplitude : EC_OK;
}
