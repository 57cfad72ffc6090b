/* sweep_table.h: the rows of sweeps in the run store (run_store.h), and a CSV file of them.
 *
 * Each batch is a transaction, so a run that is killed leaves whole rows, and several processes may
 * write a sweep together: each takes the others' rows before its next batch. Rows are only taken
 * from the sweep of that name if columns, fidelity, version and the fingerprint of each quantity
 * (graph_fingerprint.h) are the same. NAME.csv is written when the table is closed: a header with
 * the columns' names, then a row a design: values with 17 digits, and last its candidate status (0:
 * good).
 */
#ifndef EC_SWEEP_TABLE_H
#define EC_SWEEP_TABLE_H

#include "run_store.h"
#include "sweep.h"

EC_C_BEGIN

typedef struct ec_sweep_table ec_sweep_table;

typedef struct ec_sweep_table_info {
    ec_store *store;    /* has to outlive the table */
    const char *name;   /* of the sweep */
    const char *folder; /* of NAME.csv; NULL: none is written */
    uint64_t script;    /* stands for evaluators that cannot tell their configuration */
    bool fresh;         /* rows that are there are dropped, whatever they are */
    double share;       /* as in ec_sweep_store, for those who write the sweep together */
    ec_log *log;
} ec_sweep_table_info;

/* Texts are copied. */
EC_API int ec_sweep_table_create(const ec_sweep_table_info *info, ec_sweep_table **table);
/* The store of ec_sweep_info, valid as long as the table. */
EC_API const ec_sweep_store *ec_sweep_table_store(const ec_sweep_table *table);
/* Writes the CSV file. The status of what could not be written. */
EC_API int ec_sweep_table_destroy(ec_sweep_table **table);

EC_C_END
#endif
