/* far_field_writers.c: far fields as .ffd and .cut, elements as CSV. */
#include "far_field_internal.h"

#include "output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text and files -------------------------------------------------------------------------- */

/* A text that grows, in the "C" locale of this thread while it is open. */
typedef struct sink {
    FILE *stream;
    char *bytes;
    size_t size;
    locale_t plain, before;
} sink;

static int sink_open(sink *to)
{
    *to = (sink){.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    to->stream = to->plain == (locale_t)0 ? NULL : open_memstream(&to->bytes, &to->size);
    if (!to->stream) {
        if (to->plain != (locale_t)0)
            freelocale(to->plain);
        return ec_fail(EC_ERR_MEMORY, "no memory for the text of a file");
    }
    to->before = uselocale(to->plain);
    return EC_OK;
}

/* Writes what was collected to path when all went well. */
static int sink_close(sink *from, const char *path)
{
    bool failed = ferror(from->stream) != 0;
    char folder[PATH_MAX];
    int status;

    failed = fclose(from->stream) != 0 || failed;
    uselocale(from->before);
    freelocale(from->plain);
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (failed || !from->bytes)
        status = ec_fail(EC_ERR_MEMORY, "no memory for the text of '%s'", path);
    else if (n >= sizeof folder || !*file)
        status = ec_fail(EC_ERR_ARGUMENT, "'%s' is not a name of a file", path);
    else {
        snprintf(folder, sizeof folder, "%.*s", (int)n, path);
        status = ec_output_write(slash ? (n ? folder : "/") : ".", file, from->bytes, from->size);
    }
    free(from->bytes);
    return status;
}

/* ---- angles ---------------------------------------------------------------------------------- */

/* The shortest number of degrees that gives these radians back. */
static double degrees_of(double radians)
{
    double best = radians / EC_DEGREE;

    for (int digits = 1; digits <= 17; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*g", digits, radians / EC_DEGREE);
        double value = strtod(text, NULL);
        if (value * EC_DEGREE == radians)
            return value;
    }
    return best;
}

static int check_even(const char *format, const char *name, const double *angle, int32_t n)
{
    double step = n > 1 ? (angle[n - 1] - angle[0]) / (n - 1) : 0;

    for (int32_t i = 0; i < n; i++)
        if (!(fabs(angle[i] - (angle[0] + i * step)) <= 1e-9 * step * n))
            return ec_fail(EC_ERR_UNSUPPORTED,
                           "a %s file has even steps, but %s[%d] is %.10g and not %.10g degrees",
                           format, name, (int)i, angle[i] / EC_DEGREE,
                           (angle[0] + i * step) / EC_DEGREE);
    return EC_OK;
}

/* ---- far fields ------------------------------------------------------------------------------ */

static void write_components(FILE *to, ec_c128 a, ec_c128 b)
{
    fprintf(to, "%.17g %.17g %.17g %.17g\n", a.re, a.im, b.re, b.im);
}

static void write_sweep(FILE *to, const double *angle, int32_t n)
{
    fprintf(to, "%.17g %.17g %d\n", degrees_of(angle[0]), degrees_of(angle[n - 1]), (int)n);
}

int ec_far_field_write_ffd(const ec_far_field *field, const char *path)
{
    return ec_far_field_write_ffds(1, field, path);
}

int ec_far_field_write_ffds(int32_t n_frequencies, const ec_far_field *field, const char *path)
{
    size_t n = (size_t)field->n_theta * (size_t)field->n_phi;
    sink to;
    int status = check_even(".ffd", "theta", field->theta, field->n_theta);

    if (status == EC_OK)
        status = check_even(".ffd", "phi", field->phi, field->n_phi);
    if (status == EC_OK)
        status = sink_open(&to);
    if (status != EC_OK)
        return status;
    write_sweep(to.stream, field->theta, field->n_theta);
    write_sweep(to.stream, field->phi, field->n_phi);
    if (field->frequency > 0)
        fprintf(to.stream, "Frequencies %d\n", (int)n_frequencies);
    for (int32_t f = 0; f < n_frequencies; f++) {
        if (field[f].frequency > 0)
            fprintf(to.stream, "Frequency %.17g\n", field[f].frequency);
        for (size_t i = 0; i < n; i++)
            write_components(to.stream, field[f].e_theta[i], field[f].e_phi[i]);
    }
    return sink_close(&to, path);
}

int ec_far_field_write_cut(const ec_far_field *field, const char *note, const char *path)
{
    int32_t n = field->n_theta, n_phi = field->n_phi;
    sink to;
    int status = check_even(".cut", "theta", field->theta, n);

    if (status == EC_OK)
        status = sink_open(&to);
    if (status != EC_OK)
        return status;
    double first = degrees_of(field->theta[0]);
    double step = (degrees_of(field->theta[n - 1]) - first) / (n - 1);
    for (int32_t k = 0; k < n_phi; k++) {
        double phi = degrees_of(field->phi[k]);
        fprintf(to.stream, "Field data in cuts, phi %.10g deg, %s\n", phi,
                note ? note : "E_theta and E_phi");
        fprintf(to.stream, "%.17g %.17g %d %.17g 1 1 2\n", first, step, (int)n, phi);
        for (int32_t i = 0; i < n; i++) {
            size_t at = (size_t)i * (size_t)n_phi + (size_t)k;
            write_components(to.stream, field->e_theta[at], field->e_phi[at]);
        }
    }
    return sink_close(&to, path);
}

/* ---- elements -------------------------------------------------------------------------------- */

static double or_else(const double *list, size_t i, double value)
{
    return list ? list[i] : value;
}

static int check_list(const ec_element_list *list)
{
    const struct {
        const char *name;
        const double *v;
        size_t width;
    } columns[] = {{"x", list->x, 1},         {"y", list->y, 1},
                   {"z", list->z, 1},         {"amplitude", list->amplitude, 1},
                   {"phase", list->phase, 1}, {"normal", list->normal, 3}};

    if (list->n < 1)
        return ec_fail(EC_ERR_SHAPE, "element list: %d elements, at least 1 is needed",
                       (int)list->n);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (size_t i = 0; columns[c].v && i < (size_t)list->n * columns[c].width; i++)
            if (!isfinite(columns[c].v[i]))
                return ec_fail(EC_ERR_RANGE, "element list: %s of element %zu is %g",
                               columns[c].name, i / columns[c].width, columns[c].v[i]);
    return EC_OK;
}

int ec_element_list_write(const ec_element_list *list, const char *path)
{
    sink to;
    int status = check_list(list);

    if (status == EC_OK)
        status = sink_open(&to);
    if (status != EC_OK)
        return status;
    fprintf(to.stream, "x,y,z,amplitude,phase_deg%s\n", list->normal ? ",nx,ny,nz" : "");
    for (size_t i = 0; i < (size_t)list->n; i++) {
        fprintf(to.stream, "%.17g,%.17g,%.17g,%.17g,%.17g", or_else(list->x, i, 0),
                or_else(list->y, i, 0), or_else(list->z, i, 0), or_else(list->amplitude, i, 1),
                or_else(list->phase, i, 0) / EC_DEGREE);
        for (size_t k = 0; k < 3 && list->normal; k++)
            fprintf(to.stream, ",%.17g", list->normal[3 * i + k]);
        fputc('\n', to.stream);
    }
    return sink_close(&to, path);
}
