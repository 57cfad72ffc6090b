/* cli_page.h: what the page of `eciton report` is made of: JSON, written as it is read, for the script of
 * the page (core/report/, whose page.js says how it is drawn).
 *
 *   cli_page.c         the command, the template, JSON's numbers and texts
 *   cli_watch.c        the page of a run that goes on, to a browser
 *   cli_page_store.c   the run store: run, searches, sweeps
 *   cli_page_table.c   tables of designs and rows of it
 *   cli_page_files.c   tables and S-parameters among the files of --out
 *   cli_page_scene.c   triangles of scenes among them
 *
 * Winners and histories are written with 17 digits, what is only drawn with 7. Numbers that are not finite
 * are null. Tables are thinned to what is left of `room`; each says how many rows it has and how many
 * are here.
 */
#ifndef EC_CLI_PAGE_H
#define EC_CLI_PAGE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "run_store.h"

typedef struct ec_page {
    FILE *to;
    ec_store *store;
    const char *folder; /* of --out */
    size_t room;        /* numbers that may still be written for plots (ec_page_measure) */
    bool live;          /* made again and again: fewer designs and rows, for time */
} ec_page;

enum { EC_PAGE_EXACT = 17, EC_PAGE_DRAWN = 7 }; /* digits */

/* What the page of the run in the folder shows, malloc'ed and with an ending zero, which size does not
 * count; of a run that goes on what there is. live: see ec_page; else a warning on stderr tells
 * of damage. A status. */
int ec_page_data(const char *folder, bool live, char **json, size_t *size);
/* Whether two of them show the same: all but when they were made. */
bool ec_page_is_same(const char *json, const char *other);
/* The page with these data. live: one that asks whoever served it for newer data, see cli_watch.h. A
 * status; that the stream took it all is the caller's to see. */
int ec_page_put(FILE *to, const char *json, bool live);

/* A text in quotes, NULL as null. It is harmless within <script>, and bytes that are no UTF-8 are
 * replaced. */
void ec_page_text(FILE *to, const char *text);
void ec_page_number(FILE *to, double value, int digits);
/* [a,b,...] of every step-th number. */
void ec_page_list(FILE *to, const double *values, size_t n, size_t step, int digits);

/* Sets page->room by what has been written of the data, so that the page stays below 8 MB. */
void ec_page_measure(ec_page *page);

/* "run": {...}, "searches": [...], "sweeps": [...]; a status. */
int ec_page_store(ec_page *page);
/* Calls put for each file that `is` takes, by their names, of the folder and then of those of further searches
 * in it (search_2, ...). name: as in "search_2/pattern.csv". Ends at the first status that is not
 * EC_OK. */
int ec_page_each_file(ec_page *page, int (*is)(const struct dirent *entry),
                      int (*put)(ec_page *page, void *user, const char *name), void *user);
/* "files": [...]: every table (.csv) in these folders but those that the store has too, and of S-parameters in
 * Touchstone files (.sNp) those that are no table beside it; a status. */
int ec_page_files(ec_page *page);
/* "scenes": [...]: the triangles of each scene*.vtk in these folders; a status. */
int ec_page_scenes(ec_page *page);

#endif
