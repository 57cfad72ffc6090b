/* cli_table.h: the commands and flags of the program, in one table each. The parser's flags, `eciton
 * help`, the manual page and the completions of shells (cli_pages.h) come from them. */
#ifndef EC_CLI_TABLE_H
#define EC_CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* What a word on the command line may be, for completions. */
typedef enum ec_cli_kind {
    EC_CLI_NOTHING, /* no word, or one that nothing can be said of */
    EC_CLI_SCRIPT,
    EC_CLI_RUN, /* a folder with a run store */
    EC_CLI_FOLDER,
    EC_CLI_FILE,
    EC_CLI_BACKEND,
    EC_CLI_SETTING, /* NAME=VALUE of the script's ec.arg */
    EC_CLI_TOPIC    /* of eciton help */
} ec_cli_kind;

typedef struct ec_cli_command {
    const char *name, *words; /* "export", "DIR FLAG" */
    const char *brief;        /* for the list of commands */
    const char *text;         /* more, paragraphs apart by an empty line; NULL: brief is all */
    ec_cli_kind kind;         /* of its words */
} ec_cli_command;

typedef struct ec_cli_flag {
    const char *name, *value; /* "--out", "DIR"; NULL: a flag without a value */
    const char *commands;     /* that have it, " run check ", each between spaces */
    const char *help;
    ec_cli_kind kind; /* of its value */
} ec_cli_flag;

/* Ended by a NULL name. */
extern const ec_cli_command ec_cli_commands[];
extern const ec_cli_flag ec_cli_flags[];

bool ec_cli_flag_is_of(const ec_cli_flag *flag, const char *command);

/* Exit statuses in sentences, for the manual page; the environment as pairs of a name and what it does.
 * Ended by NULL. */
extern const char *const ec_cli_statuses[][2];
extern const char *const ec_cli_environment[][2];

void ec_cli_usage(FILE *to);
/* What `eciton help` says of a command; false: it is none. */
bool ec_cli_help(FILE *to, const char *command);
/* Tells how a command that takes no [FLAGS] is called: behind the question what lacks, or with the word that does
 * not belong there (one of them is NULL). Returns EC_EXIT_USAGE. */
int ec_cli_misused(const char *command, const char *question, const char *word);

#endif
