/* output_internal.h: what writers of plots share. */
#ifndef EC_OUTPUT_INTERNAL_H
#define EC_OUTPUT_INTERNAL_H

#include "log.h"

/* "path_gain_db" as "path gain (dB)": the label of an axis. */
void ec_output_axis_label(const char *column, char *text, size_t size);
/* Text inside single quotes of gnuplot (noenhanced is set), cut to size. */
void ec_output_gnuplot_word(const char *word, char *text, size_t size);
/* NAME.png by gnuplot from NAME.gp in the folder; returns whether there is one, the log says why
 * not. */
bool ec_output_draw(const char *folder, const char *name, ec_log *log);

#endif
