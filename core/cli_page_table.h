/* cli_page_table.h: tables of designs and of sweeps' rows on the page of a report, as columns of numbers that are
 * thinned to the room that they have. Part of cli_page_store.c's work. */
#ifndef EC_CLI_PAGE_TABLE_H
#define EC_CLI_PAGE_TABLE_H

#include "cli_page.h"

typedef struct ec_page_quantity {
    char *kind, *column;
    int32_t length; /* 0: a number */
    int place;      /* of its column in the rows of a query; -1: not there */
} ec_page_quantity;

typedef struct ec_page_quantities {
    ec_page_quantity *list;
    int n;
} ec_page_quantities;

/* The places of the quantities' columns among these names, of those that have none yet. */
void ec_page_find_places(ec_page_quantities *q, int n, const char *const *names);
/* A number, NaN of what is none. */
double ec_page_cell_number(const ec_store_cell *cell);
/* For ec_store_query: the first number of a row to the double that user points to. */
int ec_page_take_number(void *user, int n, const char *const *names, const ec_store_cell *cells);
/* One row of so many, for `rows` rows of `width` numbers to fit. */
size_t ec_page_stride(double rows, size_t width, size_t room);
/* ,"designs":{...} or ,"rows":{...} (which is `name`) of a search or sweep in `room` numbers at most; of
 * designs those of the end come before those of the search. A status. */
int ec_page_put_table(ec_page *page, const char *name, int64_t number, ec_page_quantities *q,
                      size_t room);

#endif
