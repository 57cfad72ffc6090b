/* sweep_table.h: the rows of sweeps in a CSV file, and what they were computed from beside it.
 *
 *   NAME.csv   a header with the columns' names, then one row a design: values with 17 digits (the
 *              same double comes back), and last its candidate status (0: good)
 *   NAME.json  version, fidelity, and a fingerprint of each quantity (graph_fingerprint.h)
 *
 * Rows are appended in whole writes, so a run that is killed leaves whole rows and at most one torn
 * one at the end, which is cut off when the table is opened again. Rows are only taken from a table
 * of the same columns, fingerprints, fidelity and version. One process writes a table at a time.
 */
#ifndef EC_SWEEP_TABLE_H
#define EC_SWEEP_TABLE_H

#include "sweep.h"

EC_C_BEGIN

typedef struct ec_sweep_table ec_sweep_table;

typedef struct ec_sweep_table_info {
    const char *folder, *name; /* of the files, without ending */
    uint64_t script;           /* stands for evaluators that cannot tell their configuration */
    bool fresh;                /* rows that are there are dropped, whatever they are */
    ec_log *log;
} ec_sweep_table_info;

/* Files are opened when the store is loaded. Texts are copied. */
EC_API int ec_sweep_table_create(const ec_sweep_table_info *info, ec_sweep_table **table);
/* The store of ec_sweep_info, valid as long as the table. */
EC_API const ec_sweep_store *ec_sweep_table_store(const ec_sweep_table *table);
/* Closes the files. The status of what could not be written. */
EC_API int ec_sweep_table_destroy(ec_sweep_table **table);

EC_C_END
#endif
