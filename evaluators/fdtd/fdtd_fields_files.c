/* fdtd_fields_files.c: fields of planes and patterns as VTK, CSV, .ffd, .cut and plots. */
#include "../../core/output.h"
#include "../../core/output_file.h"
#include "../../core/output_internal.h"
#include "fdtd_domain_internal.h"
#include "fdtd_fields.h"
#include "fdtd_line_plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a path of a file with an ending of four letters into its folder and its name without the ending. */
static int cut_path(const char *path, char folder[4400], char name[420])
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const size_t n = strlen(file), before = slash ? (size_t)(slash - path) : 1;

    if (n < 5 || n - 4 >= 420 || before >= 4400)
        return ec_fail(EC_ERR_ARGUMENT, "'%s' is not a name of a file", path);
    memcpy(folder, slash ? path : ".", before);
    folder[before] = 0;
    if (before == 0)
        strcpy(folder, "/");
    memcpy(name, file, n - 4);
    name[n - 4] = 0;
    return EC_OK;
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

/* ---- planes ---------------------------------------------------------------------------------- */

static size_t faces_of(const ec_fdtd_plane *p)
{
    return (size_t)p->n[0] * (size_t)p->n[1];
}

/* The three components at a face of a frequency. */
static const ec_c128 *value_at(const ec_fdtd_plane *p, int magnetic, int32_t f, size_t face)
{
    return (magnetic ? p->h : p->e) + 3 * ((size_t)f * faces_of(p) + face);
}

static double magnitude(const ec_c128 *v)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += v[c].re * v[c].re + v[c].im * v[c].im;
    return sqrt(sum);
}

/* 1/2 Re (E x H*) along c. */
static double power_along(const ec_c128 *e, const ec_c128 *h, int c)
{
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    return 0.5 * (e[a].re * h[b].re + e[a].im * h[b].im - e[b].re * h[a].re - e[b].im * h[a].im);
}

static double middle(const double *line, int32_t i)
{
    return 0.5 * (line[i] + line[i + 1]);
}

static void write_array(const ec_fdtd_plane *p, int32_t f, const char *name, int components,
                        void (*value)(const ec_c128 *e, const ec_c128 *h, double *to), FILE *to)
{
    char suffix[16] = "";
    if (f > 0)
        snprintf(suffix, sizeof suffix, "_%d", (int)f + 1);
    fprintf(to,
            "<DataArray type=\"Float64\" Name=\"%s%s\" NumberOfComponents=\"%d\" "
            "format=\"ascii\">\n",
            name, suffix, components);
    for (size_t face = 0; face < faces_of(p); face++) {
        double x[3];
        value(value_at(p, 0, f, face), value_at(p, 1, f, face), x);
        for (int c = 0; c < components; c++)
            fprintf(to, c ? " %.9g" : "%.9g", ec_printable(x[c]));
        fputc('\n', to);
    }
    fprintf(to, "</DataArray>\n");
}

static void e_re(const ec_c128 *e, const ec_c128 *h, double *to)
{
    (void)h;
    for (int c = 0; c < 3; c++)
        to[c] = e[c].re;
}

static void e_im(const ec_c128 *e, const ec_c128 *h, double *to)
{
    (void)h;
    for (int c = 0; c < 3; c++)
        to[c] = e[c].im;
}

static void h_re(const ec_c128 *e, const ec_c128 *h, double *to)
{
    e_re(h, e, to);
}

static void h_im(const ec_c128 *e, const ec_c128 *h, double *to)
{
    e_im(h, e, to);
}

static void e_abs(const ec_c128 *e, const ec_c128 *h, double *to)
{
    (void)h;
    to[0] = magnitude(e);
}

static void h_abs(const ec_c128 *e, const ec_c128 *h, double *to)
{
    e_abs(h, e, to);
}

static void power(const ec_c128 *e, const ec_c128 *h, double *to)
{
    for (int c = 0; c < 3; c++)
        to[c] = power_along(e, h, c);
}

static int write_vtr(const ec_fdtd_plane *p, const char *path)
{
    static const struct {
        const char *name;
        int components;
        void (*value)(const ec_c128 *e, const ec_c128 *h, double *to);
    } data[] = {{"e_abs", 1, e_abs}, {"h_abs", 1, h_abs}, {"e_re", 3, e_re},  {"e_im", 3, e_im},
                {"h_re", 3, h_re},   {"h_im", 3, h_im},   {"power", 3, power}};
    ec_output_file file;
    int32_t n[3];
    int status = ec_output_file_open(path, &file);

    if (status < 0)
        return status;
    FILE *to = file.stream;
    n[p->axis] = 0;
    n[p->u] = p->n[0];
    n[p->v] = p->n[1];
    fprintf(to,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"RectilinearGrid\" version=\"0.1\">\n"
            "<RectilinearGrid WholeExtent=\"0 %d 0 %d 0 %d\">\n<FieldData>\n"
            "<DataArray type=\"Float64\" Name=\"frequency_hz\" NumberOfTuples=\"%d\" "
            "format=\"ascii\">\n",
            n[0], n[1], n[2], (int)p->n_frequencies);
    for (int32_t f = 0; f < p->n_frequencies; f++)
        fprintf(to, "%.17g\n", p->frequency[f]);
    fprintf(to, "</DataArray>\n</FieldData>\n<Piece Extent=\"0 %d 0 %d 0 %d\">\n<Coordinates>\n",
            n[0], n[1], n[2]);
    for (int c = 0; c < 3; c++) {
        const double *line = c == p->axis ? &p->at : p->line[c == p->v];
        fprintf(to, "<DataArray type=\"Float64\" Name=\"%c\" format=\"ascii\">\n", "xyz"[c]);
        for (int32_t i = 0; i <= n[c]; i++)
            fprintf(to, "%.17g\n", line[i]);
        fprintf(to, "</DataArray>\n");
    }
    fprintf(to, "</Coordinates>\n<CellData Scalars=\"e_abs\">\n");
    for (int32_t f = 0; f < p->n_frequencies; f++)
        for (size_t k = 0; k < sizeof data / sizeof *data; k++)
            write_array(p, f, data[k].name, data[k].components, data[k].value, to);
    fprintf(to, "</CellData>\n</Piece>\n</RectilinearGrid>\n</VTKFile>\n");
    return ec_output_file_close(&file);
}

static int write_table(const ec_fdtd_plane *p, const char *path)
{
    ec_output_file file;
    int status = ec_output_file_open(path, &file);

    if (status < 0)
        return status;
    fprintf(file.stream, "frequency_hz,x,y,z");
    for (int magnetic = 0; magnetic < 2; magnetic++)
        for (int c = 0; c < 3; c++)
            fprintf(file.stream, ",%c%c_re,%c%c_im", "eh"[magnetic], "xyz"[c], "eh"[magnetic],
                    "xyz"[c]);
    fprintf(file.stream, "\n");
    for (int32_t f = 0; f < p->n_frequencies; f++)
        for (size_t face = 0; face < faces_of(p); face++) {
            double at[3];
            at[p->axis] = p->at;
            at[p->u] = middle(p->line[0], (int32_t)(face % (size_t)p->n[0]));
            at[p->v] = middle(p->line[1], (int32_t)(face / (size_t)p->n[0]));
            fprintf(file.stream, "%.17g,%.17g,%.17g,%.17g", p->frequency[f], at[0], at[1], at[2]);
            for (int magnetic = 0; magnetic < 2; magnetic++)
                for (int c = 0; c < 3; c++) {
                    const ec_c128 x = value_at(p, magnetic, f, face)[c];
                    fprintf(file.stream, ",%.9g,%.9g", ec_printable(x.re), ec_printable(x.im));
                }
            fprintf(file.stream, "\n");
        }
    return ec_output_file_close(&file);
}

static double decibels(double x)
{
    return 20 * log10(fmax(x, 1e-300));
}

/* Boxes of faces with |E| and |H| in dB, which overlap a little so that there are no seams. */
static void write_block(const ec_fdtd_plane *p, int32_t f, FILE *to)
{
    fprintf(to, "$f%d << EOD\n", (int)f);
    for (int32_t j = 0; j < p->n[1]; j++)
        for (int32_t i = 0; i < p->n[0]; i++) {
            const size_t face = (size_t)j * (size_t)p->n[0] + (size_t)i;
            const double *u = p->line[0] + i, *v = p->line[1] + j;
            const double du = 0.01 * (u[1] - u[0]), dv = 0.01 * (v[1] - v[0]);
            fprintf(to, "%.9g %.9g %.9g %.9g %.9g %.9g %.6g %.6g\n", middle(p->line[0], i),
                    middle(p->line[1], j), u[0] - du, u[1] + du, v[0] - dv, v[1] + dv,
                    ec_printable(decibels(magnitude(value_at(p, 0, f, face)))),
                    ec_printable(decibels(magnitude(value_at(p, 1, f, face)))));
        }
    fprintf(to, "EOD\n");
}

/* The upper end of the colours, in steps of 5 dB. */
static double highest(const ec_fdtd_plane *p, int magnetic, int32_t f)
{
    double most = 0;
    for (size_t face = 0; face < faces_of(p); face++)
        most = fmax(most, magnitude(value_at(p, magnetic, f, face)));
    return 5 * ceil(decibels(most) / 5);
}

static int write_plot(const ec_fdtd_plane *p, const char *path, ec_log *log)
{
    static const char *const labels[2] = {"|E| (dB over 1 V/m)", "|H| (dB over 1 A/m)"};
    char folder[4400], name[420], script[4900];
    ec_output_file file;
    int status = cut_path(path, folder, name);

    if (status < 0)
        return status;
    snprintf(script, sizeof script, "%s/%s.gp", folder, name);
    if ((status = ec_output_file_open(script, &file)) < 0)
        return status;
    fprintf(file.stream, "# gnuplot %s.gp\n", name);
    for (int32_t f = 0; f < p->n_frequencies; f++)
        write_block(p, f, file.stream);
    fprintf(file.stream,
            "set terminal pngcairo noenhanced size 1500,%d font 'Sans,10'\nset output '%s.png'\n"
            "unset key\nset multiplot layout %d,2\nset size ratio -1\n"
            "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nset xlabel '%c (m)'\n"
            "set ylabel '%c (m)'\nset palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', "
            "3 '#5ec962', 4 '#fde725')\n",
            600 * (int)p->n_frequencies, name, (int)p->n_frequencies, p->line[0][0],
            p->line[0][p->n[0]], p->line[1][0], p->line[1][p->n[1]], "xyz"[p->u], "xyz"[p->v]);
    for (int32_t f = 0; f < p->n_frequencies; f++)
        for (int magnetic = 0; magnetic < 2; magnetic++)
            fprintf(file.stream,
                    "set title '%s, %c = %s, %.6g GHz'\nset cbrange [%g:%g]\nplot $f%d using "
                    "1:2:3:4:5:6:%d with "
                    "boxxyerror fillstyle solid noborder linecolor palette\n",
                    labels[magnetic], "xyz"[p->axis], ec_fdtd_length_of(p->at).text,
                    1e-9 * p->frequency[f], highest(p, magnetic, f) - 60, highest(p, magnetic, f),
                    (int)f, 7 + magnetic);
    fprintf(file.stream, "unset multiplot\n");
    status = ec_output_file_close(&file);
    if (status == EC_OK)
        ec_output_draw(folder, name, log);
    return status;
}

int ec_fdtd_plane_write(const ec_fdtd_plane *plane, const char *path, ec_log *log)
{
    if (ends_in(path, ".vtr"))
        return write_vtr(plane, path);
    if (ends_in(path, ".csv"))
        return write_table(plane, path);
    if (ends_in(path, ".png"))
        return write_plot(plane, path, log);
    return ec_fail(EC_ERR_ARGUMENT, "'%s': fields of a plane are written as .vtr, .csv or .png",
                   path);
}

static const double degree = EC_PI / 180;

/* ---- patterns -------------------------------------------------------------------------------- */

static size_t directions_of(const ec_fdtd_pattern *p)
{
    return (size_t)p->n_theta * (size_t)p->n_phi;
}

/* 4 pi U over a power; 0 there: NaN. */
static double in_dbi(const ec_fdtd_pattern *p, size_t at, double over)
{
    const ec_c128 t = p->e_theta[at], f = p->e_phi[at];
    const double all = t.re * t.re + t.im * t.im + f.re * f.re + f.im * f.im;
    return over > 0 ? 10 * log10(4 * EC_PI * all / (2 * EC_FDTD_ETA0) / over) : NAN;
}

/* The field at a frequency, borrowed. */
static ec_far_field field_of(const ec_fdtd_pattern *p, int32_t f)
{
    return (ec_far_field){.n_theta = p->n_theta,
                          .n_phi = p->n_phi,
                          .theta = p->theta,
                          .phi = p->phi,
                          .e_theta = p->e_theta + (size_t)f * directions_of(p),
                          .e_phi = p->e_phi + (size_t)f * directions_of(p),
                          .frequency = p->frequency[f]};
}

/* For HFSS, whose fields are amplitudes for 1 W that the port is offered: 2 pi |r E|^2 / eta is the realized
 * gain. Fields of what offers no power stay those of a unit drive. */
static int write_hfss(const ec_fdtd_pattern *p, const char *path)
{
    const size_t n = directions_of(p), all = (size_t)p->n_frequencies * n;
    ec_c128 *e = malloc(2 * all * sizeof *e);
    ec_far_field *field = malloc((size_t)p->n_frequencies * sizeof *field);
    int status = e && field ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for far fields");

    for (int32_t f = 0; f < p->n_frequencies && status >= 0; f++) {
        const double scale = p->offered[f] > 0 ? 1 / sqrt(p->offered[f]) : 1;
        const size_t first = (size_t)f * n;
        for (size_t i = first; i < first + n; i++) {
            e[i] = (ec_c128){scale * p->e_theta[i].re, scale * p->e_theta[i].im};
            e[all + i] = (ec_c128){scale * p->e_phi[i].re, scale * p->e_phi[i].im};
        }
        field[f] = field_of(p, f);
        field[f].e_theta = e + first;
        field[f].e_phi = e + all + first;
    }
    if (status >= 0)
        status = ec_far_field_write_ffds(p->n_frequencies, field, path);
    free(e);
    free(field);
    return status;
}

/* More than goes in comes out of a run that has not decayed, or of a coarse grid. */
static const double most_efficiency = 1.02;

void ec_fdtd_pattern_say(const ec_fdtd_pattern *p, const char *name, ec_log *log)
{
    for (int32_t f = 0; f < p->n_frequencies; f++) {
        const size_t n = directions_of(p), first = (size_t)f * n;
        size_t best = 0;
        char text[120] = "";
        for (size_t i = 1; i < n; i++)
            if (in_dbi(p, first + i, p->radiated[f]) > in_dbi(p, first + best, p->radiated[f]))
                best = i;
        const double efficiency = p->radiated[f] / p->accepted[f];
        if (p->accepted[f] > 0)
            snprintf(text, sizeof text, ", gain %.2f dBi, efficiency %.4f",
                     in_dbi(p, first + best, p->accepted[f]), efficiency);
        ec_log_write(log, EC_LOG_INFO,
                     "%s: %.6g GHz: directivity %.2f dBi at theta %.4g, phi %.4g%s", name,
                     1e-9 * p->frequency[f], in_dbi(p, first + best, p->radiated[f]),
                     p->theta[best / (size_t)p->n_phi] / degree,
                     p->phi[best % (size_t)p->n_phi] / degree, text);
        if (p->accepted[f] > 0 && efficiency > most_efficiency)
            ec_log_write(
                log, EC_LOG_WARNING,
                "%s: %.6g GHz: %.4g times as much is radiated as the port takes: a higher "
                "decay_db or more max_steps let the fields decay, a finer grid is more exact",
                name, 1e-9 * p->frequency[f], efficiency);
    }
}

static int write_directions(const ec_fdtd_pattern *p, const char *path)
{
    ec_output_file file;
    int status = ec_output_file_open(path, &file);

    if (status < 0)
        return status;
    fprintf(file.stream, "frequency_hz,theta_deg,phi_deg,e_theta_re,e_theta_im,e_phi_re,e_phi_im,"
                         "directivity_dbi,gain_dbi,realized_gain_dbi\n");
    for (size_t at = 0; at < (size_t)p->n_frequencies * directions_of(p); at++) {
        const size_t f = at / directions_of(p), i = at % directions_of(p);
        fprintf(file.stream, "%.17g,%.10g,%.10g,%.17g,%.17g,%.17g,%.17g,%.9g,%.9g,%.9g\n",
                p->frequency[f], p->theta[i / (size_t)p->n_phi] / degree,
                p->phi[i % (size_t)p->n_phi] / degree, ec_printable(p->e_theta[at].re),
                ec_printable(p->e_theta[at].im), ec_printable(p->e_phi[at].re),
                ec_printable(p->e_phi[at].im), ec_printable(in_dbi(p, at, p->radiated[f])),
                ec_printable(in_dbi(p, at, p->accepted[f])),
                ec_printable(in_dbi(p, at, p->offered[f])));
    }
    return ec_output_file_close(&file);
}

/* Directivity over theta and phi, or on one cut. */
static int draw_frequency(const ec_fdtd_pattern *p, int32_t f, const char *folder, const char *name,
                          ec_log *log)
{
    const size_t n = directions_of(p);
    char file[440], table[460], title[80];
    double *level = malloc(n * sizeof *level);
    double *theta = malloc((size_t)p->n_theta * sizeof *theta);
    double *phi = malloc((size_t)p->n_phi * sizeof *phi);
    int status = level && theta && phi ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for a plot");

    snprintf(file, sizeof file, f > 0 ? "%s_%d" : "%s", name, (int)f + 1);
    snprintf(table, sizeof table, "%s_levels", file); /* NAME.csv is that of all fields */
    snprintf(title, sizeof title, "directivity (dBi), %.6g GHz", 1e-9 * p->frequency[f]);
    for (size_t i = 0; i < n && status == EC_OK; i++)
        level[i] = in_dbi(p, (size_t)f * n + i, p->radiated[f]);
    for (int32_t i = 0; i < p->n_theta && status == EC_OK; i++)
        theta[i] = p->theta[i] / degree;
    for (int32_t i = 0; i < p->n_phi && status == EC_OK; i++)
        phi[i] = p->phi[i] / degree;
    const ec_output_pattern plot = {.name = file,
                                    .table = table,
                                    .title = title,
                                    .axis = {"theta_deg", p->n_phi > 1 ? "phi_deg" : NULL},
                                    .n = {p->n_theta, p->n_phi > 1 ? p->n_phi : 0},
                                    .at = {theta, phi},
                                    .value = "level_db",
                                    .level = level,
                                    .floor = NAN};
    if (status == EC_OK)
        status = ec_output_plot(&plot, folder, NULL, log);
    free(level);
    free(theta);
    free(phi);
    return status;
}

int ec_fdtd_pattern_write(const ec_fdtd_pattern *p, const char *path, ec_log *log)
{
    char folder[4400], name[420];

    if (ends_in(path, ".csv"))
        return write_directions(p, path);
    if (ends_in(path, ".ffd"))
        return write_hfss(p, path);
    if (ends_in(path, ".cut")) {
        const ec_far_field one = field_of(p, 0);
        return p->n_frequencies == 1
                   ? ec_far_field_write_cut(&one, NULL, path)
                   : ec_fail(EC_ERR_ARGUMENT, "'%s': a .cut file has one frequency, not %d", path,
                             (int)p->n_frequencies);
    }
    if (!ends_in(path, ".png"))
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a pattern is written as .ffd, .cut, .csv or .png",
                       path);
    int status = cut_path(path, folder, name);
    for (int32_t f = 0; f < p->n_frequencies && status >= 0; f++)
        status = draw_frequency(p, f, folder, name, log);
    return status;
}
