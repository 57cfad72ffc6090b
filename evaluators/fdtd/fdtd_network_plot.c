/* fdtd_network_plot.c: S-parameters in dB over frequency, by gnuplot. */
#include "fdtd_network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../core/output_file.h"
#include "../../core/output_internal.h"

enum { MOST_CURVES = 12 };

/* Whole tens about all levels, at most 60 dB of them. */
static void range_of(const ec_fdtd_network *d, double *low, double *high)
{
    const size_t all = (size_t)d->s.n_frequencies * (size_t)d->s.n_ports * (size_t)d->s.n_ports;
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < all; i++) {
        const double level = 20 * log10(hypot(d->s.s[i].re, d->s.s[i].im));
        if (isfinite(level)) {
            least = fmin(least, level);
            most = fmax(most, level);
        }
    }
    *high = isfinite(most) ? 10 * ceil(most / 10 - 0.01) + 0.0 : 0;
    *low = isfinite(least) ? fmax(10 * floor(least / 10), *high - 60) : *high - 60;
    if (!(*low < *high))
        *low = *high - 10;
}

/* Curves of ports i >= j: a structure without magnets has the same the other way round. */
static void write_curves(const ec_fdtd_network *d, const char *csv, FILE *to)
{
    const int32_t n = d->s.n_ports;
    char word[600], title[300];
    int curves = 0;

    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n && curves < MOST_CURVES; i++, curves++) {
            if (i == j)
                snprintf(title, sizeof title, "S%s%d%s%d  %.100s", n > 9 ? "_" : "", (int)i + 1,
                         n > 9 ? "_" : "", (int)j + 1, d->name[i]);
            else
                snprintf(title, sizeof title, "S%s%d%s%d  %.100s to %.100s", n > 9 ? "_" : "",
                         (int)i + 1, n > 9 ? "_" : "", (int)j + 1, d->name[j], d->name[i]);
            ec_output_gnuplot_word(title, word, sizeof word);
            fprintf(to, "%s%s using ($1/1e9):%d every ::1 with lines linewidth 1.5 title %s",
                    curves ? ", \\\n     " : "plot ", curves ? "''" : csv,
                    2 + 4 * (int)(j * n + i) + 2, word);
        }
    fprintf(to, "\n");
}

int ec_fdtd_network_plot(const ec_fdtd_network *d, const char *path, ec_log *log)
{
    const char *slash = strrchr(path, '/');
    char name[420], folder[4400], script[4900], csv[900];
    ec_output_file file;
    double low, high;

    if (d->s.n_frequencies < 2)
        return EC_OK;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(script, sizeof script, "%.400s", slash ? slash + 1 : path);
    ec_output_gnuplot_word(script, csv, sizeof csv);
    char *ending = strrchr(script, '.');
    snprintf(name, sizeof name, "%.*s_db", ending ? (int)(ending - script) : 400, script);
    snprintf(script, sizeof script, "%s/%s.gp", *folder ? folder : "/", name);
    int status = ec_output_file_open(script, &file);
    if (status < 0)
        return status;
    range_of(d, &low, &high);
    fprintf(file.stream,
            "# gnuplot %s.gp\n"
            "set terminal pngcairo noenhanced size 1000,600 font 'Sans,11'\n"
            "set output '%s.png'\n"
            "set datafile separator ','\n"
            "set key outside right top\nset grid\n"
            "set xlabel 'frequency (GHz)'\nset ylabel 'dB'\n"
            "set xrange [%.10g:%.10g]\nset yrange [%g:%g]\n",
            name, name, 1e-9 * d->s.frequency[0], 1e-9 * d->s.frequency[d->s.n_frequencies - 1],
            low, high);
    write_curves(d, csv, file.stream);
    status = ec_output_file_close(&file);
    if (status == EC_OK)
        ec_output_draw(*folder ? folder : "/", name, log);
    return status;
}
