/* cli_options.h: the command line of the program. Exit statuses: 0 done (also when a signal
 * ended a search and the best so far was reported), 1 an error, or a search without a design that
 * could be scored, 2 wrong usage, 128 + signal when a signal came before there was a result. */
#ifndef EC_CLI_OPTIONS_H
#define EC_CLI_OPTIONS_H

#include "lua_host.h"

enum { EC_EXIT_OK = 0, EC_EXIT_ERROR = 1, EC_EXIT_USAGE = 2 };

typedef struct ec_cli_options {
    const char *script, *backend, *out, *data;
    const char *view; /* of check: the file of --view, or NULL */
    const char *isa;  /* of a run that is resumed, or NULL */
    int threads;
    double checkpoint_seconds; /* between two; 0: at the default pace; < 0: no checkpoints */
    bool resume;
    uint64_t seed;
    bool seed_given, quick, json, quiet, trust, check, fresh, force, watch;
    int port; /* of --watch, 0 any; EC_WATCH_FREE_PORT */
    bool port_given;
    ec_lua_set *sets; /* malloc'ed; the names are cut out of the arguments */
    int n_sets;
} ec_cli_options;

/* Prints the sentence, in which each %s is one of the words, and returns EC_EXIT_USAGE. */
int ec_cli_usage_error(const char *format, const char *word, const char *more);
/* Arguments behind `run` or `check`; prints what is wrong and returns EC_EXIT_USAGE. */
int ec_cli_options_parse(int argc, char **argv, ec_cli_options *options);
void ec_cli_options_release(ec_cli_options *options);

/* The commands: return the exit status. */
int ec_cli_run(const ec_cli_options *options);
int ec_cli_resume(int argc, char **argv); /* arguments behind `resume` */
int ec_cli_info(void);

#endif
