/* output.h: what a run leaves behind: the JSON line, the table for reading, and the files of
 * --out.
 *
 * Numbers are written with 17 digits (the same double comes back), a NaN or an infinity as null in
 * JSON and as "nan" or "inf" in CSV. Objectives keep the sign that the script gave them. Indices
 * of choices count from 0 here, elements in best.csv from 1. A file is written beside its place
 * and renamed, so that a reader never sees half of it.
 */
#ifndef EC_OUTPUT_H
#define EC_OUTPUT_H

#include "solve.h"

EC_C_BEGIN

/* One JSON object on one line, malloc'ed: name, backend, device, seed, stop, generations,
 * evaluations, failed, seconds, best { status, objectives, search, constraints, violation,
 * variables, recorded }, and message says what ended the search. best.status is "feasible", "infeasible", "failed" or "none"; a
 * constraint's value is how far its worst element lies beyond its limit (<= 0: met); variables and
 * recorded quantities are lists. With several objectives also front { reference, hypervolume, best
 * (which member, from 0), objectives, search, constraints, variables, recorded }: a list each over
 * the members, of lists where the value is one. */
EC_API int ec_output_json(const ec_job *job, const ec_result *result, char **text);
/* The same for people, several lines, malloc'ed. */
EC_API int ec_output_table(const ec_job *job, const ec_result *result, char **text);

/* A pattern on a cut (axis[1] NULL) or on a tensor grid, the last axis fastest. */
typedef struct ec_output_pattern {
    const char *name;  /* of the files, without ending: "pattern" */
    const char *table; /* of the .csv; NULL: the same */
    const char *title;
    const char *axis[2]; /* column names: "u", "theta_deg" */
    int32_t n[2];        /* n[1] = 0 on a cut */
    const double *at[2];
    const char *value;   /* column name: "level_db" */
    const double *level; /* NaN: not part of the pattern */
    double floor;        /* lowest level of the plot; NAN: 60 below the highest */
    bool plain;          /* no levels in dB: the plot reaches from floor to top */
    double top;
    /* of a cut: limits of a mask, columns max_db and min_db and lines of the plot; NaN: none in that
     * direction; both NULL: no mask */
    const double *max_db, *min_db;
} ec_output_pattern;

/* Creates the folder (and those above it) where it is missing; an error says why it cannot be
 * written. */
EC_API int ec_output_folder(const char *folder);
/* A name as a field of a CSV file (RFC 4180), malloc'ed; NULL: no memory. */
EC_API char *ec_output_csv_field(const char *name);
/* Writes folder/file in one step (output_file.h). */
EC_API int ec_output_write(const char *folder, const char *file, const char *bytes, size_t size);
/* best.csv (name,index,value,kind) and history.csv. */
EC_API int ec_output_best(const ec_job *job, const ec_result *result, const char *folder);
EC_API int ec_output_history(const ec_result *result, const char *folder);
/* failures.csv: generation, reason and the variables of designs that failed, a row each; without any
 * there is no such file. */
EC_API int ec_output_failures(const ec_job *job, const ec_result *result, const char *folder);
/* folder/file: a row a member of the front: objectives, those of the search, constraints, variables,
 * recorded; elements of lists as name[1], name[2] ... */
EC_API int ec_output_front(const ec_job *job, const ec_result *result, const char *folder,
                           const char *file);
/* NAME.csv (or the table's name) and NAME.gp, and NAME.png by gnuplot; `plotted` (may be NULL) says whether there is a
 * plot, the log says why not. */
EC_API int ec_output_plot(const ec_output_pattern *pattern, const char *folder, bool *plotted,
                          ec_log *log);
/* Everything of the above: front.csv with several objectives, and with two front.gp and front.png. */
EC_API int ec_output_all(const ec_job *job, const ec_result *result, const char *folder,
                         int32_t n_patterns, const ec_output_pattern *patterns, ec_log *log);

EC_C_END
#endif
