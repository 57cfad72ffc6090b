#include "output_map.h"

#include "output.h"
#include "output_file.h"
#include "output_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS_MAX = 9, PLACE_COLUMNS = 4 };

/* How the places lie. */
typedef struct layout {
    int line;                 /* the only axis that places differ in; -1: there are more */
    int axis[2], across;      /* drawn, and that which panels differ in */
    int32_t planes;           /* 0: one panel of all places */
    double plane[PANELS_MAX]; /* where they are */
    double tolerance;         /* of one plane */
    bool lattice;
    double step[2]; /* width of a cell */
    double low[2], high[2];
} layout;

static const char axis_name[] = "xyz";

static int map_check(const ec_output_map *map)
{
    if (map->n < 1 || map->n_values < 1)
        return ec_fail(EC_ERR_ARGUMENT, "map '%s': there is no %s", map->name,
                       map->n < 1 ? "place" : "value");
    for (int32_t i = -1; i < map->n_values; i++) {
        const char *name = i < 0 ? map->name : map->value[i];
        if (!*name || strpbrk(name, "/'\"\\,\n"))
            return ec_fail(EC_ERR_ARGUMENT, "map: '%s' is no name for a file", name);
    }
    return EC_OK;
}

/* ---- how the places lie ---------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The different values of a coordinate, ascending, equal within a tolerance; malloc'ed. */
static double *values_of(const ec_output_map *map, int axis, double tolerance, int32_t *n)
{
    double *list = malloc((size_t)map->n * sizeof *list);
    int32_t kept = 0;

    for (int32_t i = 0; list && i < map->n; i++)
        list[i] = map->at[i][axis];
    if (list)
        qsort(list, (size_t)map->n, sizeof *list, ascending);
    for (int32_t i = 0; list && i < map->n; i++)
        if (kept == 0 || list[i] - list[kept - 1] > tolerance)
            list[kept++] = list[i];
    *n = kept;
    return list;
}

/* The step that all differences are multiples of; 0: there is none. One value: NAN. */
static double step_of(const double *list, int32_t n)
{
    double step = INFINITY;

    if (n == 1)
        return NAN;
    for (int32_t i = 1; i < n; i++)
        step = fmin(step, list[i] - list[i - 1]);
    for (int32_t i = 1; i < n; i++) {
        double steps = (list[i] - list[0]) / step;
        if (fabs(steps - nearbyint(steps)) > 1e-3)
            return 0;
    }
    return step;
}

static int lay_out(const ec_output_map *map, layout *l)
{
    double low[3], high[3], size = 0;
    bool flat[3];
    int32_t n[3];

    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = map->at[0][k];
        for (int32_t i = 1; i < map->n; i++) {
            low[k] = fmin(low[k], map->at[i][k]);
            high[k] = fmax(high[k], map->at[i][k]);
        }
        size = fmax(size, fmax(fabs(low[k]), fabs(high[k])));
    }
    l->tolerance = 1e-7 * size;
    for (int k = 0; k < 3; k++)
        flat[k] = high[k] - low[k] <= l->tolerance;
    l->line = flat[0] + flat[1] + flat[2] == 2 ? (!flat[0] ? 0 : !flat[1] ? 1 : 2) : -1;
    l->across = flat[2] || !(flat[0] || flat[1]) ? 2 : flat[1] ? 1 : 0;
    l->axis[0] = l->across == 0 ? 1 : 0;
    l->axis[1] = l->across == 2 ? 1 : 2;
    for (int k = 0; k < 3; k++) {
        double *list = values_of(map, k, l->tolerance, &n[k]);
        if (!list)
            return ec_fail(EC_ERR_MEMORY, "map '%s': no memory", map->name);
        for (int i = 0; i < 2; i++)
            if (l->axis[i] == k)
                l->step[i] = step_of(list, n[k]);
        if (k == l->across) {
            l->planes = n[k] <= PANELS_MAX ? n[k] : 0;
            memcpy(l->plane, list, (size_t)l->planes * sizeof *list);
        }
        free(list);
    }
    for (int i = 0; i < 2; i++)
        if (isnan(l->step[i]))
            l->step[i] = isnan(l->step[1 - i]) ? 1 : l->step[1 - i];
    l->lattice = l->planes > 0 && l->step[0] > 0 && l->step[1] > 0;
    double cells = l->planes;
    for (int i = 0; i < 2; i++) {
        int k = l->axis[i];
        double margin = l->lattice ? 0.5 * l->step[i] : 0.03 * size;
        l->low[i] = low[k] - margin;
        l->high[i] = high[k] + margin;
        cells *= l->lattice ? (l->high[i] - l->low[i]) / l->step[i] : 1;
    }
    l->lattice = l->lattice && cells < 4.0 * map->n; /* else many are missing */
    return EC_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(const char *folder, const char *name, const char *ending, ec_output_file *file)
{
    char path[4400];

    snprintf(path, sizeof path, "%s/%.400s%s", folder, name, ending);
    return ec_output_file_open(path, file);
}

static int write_table(const ec_output_map *map, const char *folder)
{
    ec_output_file file;
    int status = open_file(folder, map->name, ".csv", &file);

    if (status < 0)
        return status;
    fprintf(file.stream, "%s,x,y,z", map->place);
    for (int32_t k = 0; k < map->n_values; k++)
        fprintf(file.stream, ",%s", map->value[k]);
    fprintf(file.stream, "\n");
    for (int32_t i = 0; i < map->n; i++) {
        fprintf(file.stream, "%d,%.17g,%.17g,%.17g", (int)i + 1, map->at[i][0], map->at[i][1],
                map->at[i][2]);
        for (int32_t k = 0; k < map->n_values; k++)
            fprintf(file.stream, ",%.17g", ec_printable(map->values[k][i]));
        fprintf(file.stream, "\n");
    }
    return ec_output_file_close(&file);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* Of the colours: decibels in steps of 5, at most 100 of them. */
static void range_of(const ec_output_map *map, int32_t k, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int32_t i = 0; i < map->n; i++)
        if (isfinite(map->values[k][i])) {
            *low = fmin(*low, map->values[k][i]);
            *high = fmax(*high, map->values[k][i]);
        }
    if (*low > *high) {
        *low = 0;
        *high = 1;
    }
    if (ends_in(map->value[k], "_db") || ends_in(map->value[k], "_dbm")) {
        *high = 5 * ceil(*high / 5) + 0.0;
        *low = fmax(5 * floor(*low / 5), *high - 100) + 0.0;
    }
    if (!(*low < *high))
        *high = *low + 1;
}

/* Which rows belong to a panel, as a condition of gnuplot. */
static void write_rows(const layout *l, int32_t panel, int32_t k, FILE *to)
{
    fprintf(to, "(abs($%d) < 1e300", (int)(PLACE_COLUMNS + 1 + k));
    if (l->planes > 1)
        fprintf(to, " && abs($%d - (%.17g)) <= %.3g", 2 + l->across, l->plane[panel], l->tolerance);
    fprintf(to, " ? $%d : NaN):%d", 2 + l->axis[0], 2 + l->axis[1]);
}

static void write_panel(const ec_output_map *map, const layout *l, int32_t panel, int32_t k,
                        FILE *to)
{
    fprintf(to, "plot '%.400s.csv' using ", map->name);
    write_rows(l, panel, k, to);
    int column = (int)(PLACE_COLUMNS + 1 + k);
    if (l->lattice)
        fprintf(to,
                ":(%.10g):(%.10g):%d every ::1 with boxxyerror fillstyle solid noborder linecolor "
                "palette",
                0.505 * l->step[0], 0.505 * l->step[1], column); /* no gaps between cells */
    else
        fprintf(to, ":%d every ::1 with points pointtype 7 pointsize 1.4 linecolor palette",
                column);
    if (map->n_marks > 0)
        fprintf(to,
                ", \\\n     $marks using %d:%d with points pointtype 8 pointsize 1.6 linewidth 2 "
                "linecolor rgb '#c03030'",
                1 + l->axis[0], 1 + l->axis[1]);
    fprintf(to, "\n");
}

static void write_head(const char *name, int width, int height, FILE *to)
{
    fprintf(to,
            "# gnuplot %.400s.gp\n"
            "set terminal pngcairo noenhanced size %d,%d font 'Sans,11'\n"
            "set output '%.400s.png'\n"
            "set datafile separator ','\n"
            "set key off\n",
            name, width, height, name);
}

static void value_label(const char *value, char *text, size_t size)
{
    char label[600];
    ec_output_axis_label(value, label, sizeof label);
    ec_output_gnuplot_word(label, text, size);
}

/* Places on a line: a curve, its points in the order of the table. */
static void write_curve(const ec_output_map *map, const layout *l, int32_t k, const char *name,
                        FILE *to)
{
    char text[1024], label[600];
    int column = (int)(PLACE_COLUMNS + 1 + k);
    size_t used;

    snprintf(label, sizeof label, "%.500s", map->title ? map->title : map->name);
    for (int axis = 0; axis < 3; axis++)
        if (axis != l->line) {
            used = strlen(label);
            snprintf(label + used, sizeof label - used, ", %c = %.6g m", axis_name[axis],
                     map->at[0][axis]);
        }
    write_head(name, 900, 500, to);
    ec_output_gnuplot_word(label, text, sizeof text);
    fprintf(to, "set grid\nset title %s\nset xlabel '%c (m)'\n", text, axis_name[l->line]);
    value_label(map->value[k], text, sizeof text);
    fprintf(
        to,
        "set ylabel %s\n"
        "plot '%.400s.csv' using %d:(abs($%d) < 1e300 ? $%d : NaN) every ::1 smooth unique with "
        "linespoints pointtype 7 pointsize 0.8 linewidth 2 linecolor rgb '#21618c'\n",
        text, map->name, 2 + l->line, column, column);
}

static void write_script(const ec_output_map *map, const layout *l, int32_t k, const char *name,
                         FILE *to)
{
    int32_t panels = l->planes > 1 ? l->planes : 1;
    int columns = panels == 1 ? 1 : panels <= 4 ? 2 : 3, rows = (panels + columns - 1) / columns;
    double aspect = (l->high[1] - l->low[1]) / (l->high[0] - l->low[0]), low, high;
    bool to_scale = aspect > 0.25 && aspect < 4; /* else labels lie on each other */
    int width = columns == 1 ? 900 : 650;
    double height = to_scale ? fmin(fmax((width - 210) * aspect + 130, 350), 1000) : 500;
    char text[1024], label[600];

    range_of(map, k, &low, &high);
    write_head(name, width * columns, 40 * (panels > 1) + (int)height * rows, to);
    if (map->n_marks > 0) {
        fprintf(to, "$marks << EOD\n");
        for (int32_t i = 0; i < map->n_marks; i++)
            fprintf(to, "%.10g,%.10g,%.10g\n", map->mark[i][0], map->mark[i][1], map->mark[i][2]);
        fprintf(to, "EOD\n");
    }
    value_label(map->value[k], text, sizeof text);
    fprintf(to,
            "set xlabel '%c (m)'\nset ylabel '%c (m)'\nset cblabel %s offset 1\n"
            "set cbrange [%.10g:%.10g]\nset xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n"
            "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', "
            "3 '#5ec962', 4 '#fde725')\n",
            axis_name[l->axis[0]], axis_name[l->axis[1]], text, low, high, l->low[0], l->high[0],
            l->low[1], l->high[1]);
    if (to_scale)
        fprintf(to, "set size ratio -1\n");
    snprintf(label, sizeof label, "%.500s", map->title ? map->title : map->name);
    if (panels == 1 && l->planes == 1)
        snprintf(label + strlen(label), sizeof label - strlen(label), ", %c = %.6g m",
                 axis_name[l->across], l->plane[0]);
    ec_output_gnuplot_word(label, text, sizeof text);
    if (panels == 1)
        fprintf(to, "set title %s\n", text);
    else
        fprintf(to, "set multiplot layout %d,%d title %s\n", rows, columns, text);
    for (int32_t i = 0; i < panels; i++) {
        if (panels > 1)
            fprintf(to, "set title '%c = %.6g m'\n", axis_name[l->across], l->plane[i]);
        write_panel(map, l, i, k, to);
    }
    if (panels > 1)
        fprintf(to, "unset multiplot\n");
}

int ec_output_map_write(const ec_output_map *map, const char *folder, ec_log *log)
{
    layout l = {.planes = 0};
    int status = map_check(map);

    if (status == EC_OK)
        status = lay_out(map, &l);
    if (status == EC_OK)
        status = write_table(map, folder);
    for (int32_t k = 0; k < map->n_values && status == EC_OK; k++) {
        ec_output_file file;
        char name[600];
        snprintf(name, sizeof name, "%.300s_%.200s", map->name, map->value[k]);
        status = open_file(folder, name, ".gp", &file);
        if (status < 0)
            return status;
        if (l.line >= 0)
            write_curve(map, &l, k, name, file.stream);
        else
            write_script(map, &l, k, name, file.stream);
        status = ec_output_file_close(&file);
        if (status == EC_OK)
            ec_output_draw(folder, name, log);
    }
    return status;
}
