/* cli_store.h: the commands that look at run stores: runs, show, export, compare, report, watch. Each takes the arguments
 * behind its name and returns the exit status. */
#ifndef EC_CLI_STORE_H
#define EC_CLI_STORE_H

#include "run_store.h"

/* Says on stderr what of a store is damaged, before it is shown all the same. */
void ec_cli_warn_damage(ec_store *store);
int ec_cli_runs(int argc, char **argv);
int ec_cli_show(int argc, char **argv);
int ec_cli_export(int argc, char **argv);        /* cli_export.c */
int ec_cli_compare(int argc, char **argv);       /* cli_compare.c */
int ec_cli_page(int argc, char **argv);          /* cli_page.c: report */
int ec_cli_watch_command(int argc, char **argv); /* cli_watch.c: until a signal */

#endif
