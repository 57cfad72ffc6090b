#include "cli_table.h"

#include <string.h>

#include "cli_options.h"

enum { WIDTH = 100 };

const ec_cli_command ec_cli_commands[] = {
    {"run", "SCRIPT [FLAGS]", "run a design script", NULL, EC_CLI_SCRIPT},
    {"resume", "DIR [FLAGS]",
     "go on with the run whose --out was DIR, from its last checkpoint; of one that is finished, "
     "print the result",
     "Goes on with the run whose --out was DIR, from the last states of its searches in "
     "DIR/run.db, "
     "with the script, --set, --seed and backend that it was begun with; --backend may name "
     "another number of the same devices. The result has the bits of a run that was never "
     "interrupted. Of a run that is finished it prints the result.\n"
     "\n"
     "States are written every second (--checkpoint SECONDS of eciton run; 0: never) and at the "
     "end of each search. It refuses, and says why, when the script or a file that it reads has "
     "changed, and on another backend or by another version; with --force it goes on all the same, "
     "where the state fits (variables, method and settings are the same): the result is then not "
     "that of one run. --fresh of eciton run gives up the states and begins anew. Searches with "
     "report = false, and those in functions of ec.host, are done again; sweeps go on by their "
     "tables.",
     EC_CLI_RUN},
    {"check", "SCRIPT [FLAGS]",
     "build the script's graph, print variables, shapes, memory and time, stop", NULL,
     EC_CLI_SCRIPT},
    {"runs", "[DIR]", "list the runs in DIR and below it",
     "Lists the runs in DIR and the folders below it: where, when, how they ended, the script, and "
     "the winner's first objective.",
     EC_CLI_FOLDER},
    {"show", "DIR", "what the run in DIR has found, also while it goes on",
     "What the run in DIR has found, also while it goes on: how it was started, and of each search "
     "the end of the history, the winner's objectives, constraints, recorded quantities and "
     "variables, and the designs that the store keeps. DIR/run.db is a SQLite database that other "
     "programs can read: docs/run_store.md has its tables.",
     EC_CLI_RUN},
    {"export", "DIR --csv|--json|--touchstone|--ffd [--to PATH]",
     "write what the run in DIR holds as --csv or --json, or copy its --touchstone or --ffd files",
     "Writes what the run in DIR holds for other programs, into the folder PATH (DIR/export when "
     "it "
     "is absent). --csv: search_1_history.csv and search_1_designs.csv of each search and NAME.csv "
     "of each sweep, with a column for each element of a list; --json: all of it in run.json. "
     "--touchstone and --ffd: copies of the S-parameters and of the far fields that the run wrote "
     "into DIR, its winner's and what the script saved, under their names, or as the one file PATH "
     "(filter.s2p, patch.ffd).",
     EC_CLI_RUN},
    {"compare", "DIR DIR ...", "runs side by side",
     "Runs side by side: how they were started, and of each search its method, budget, end and "
     "winner. Lines that differ begin with a star.",
     EC_CLI_RUN},
    {"report", "DIR [--output FILE]", "write the run in DIR as one HTML page",
     "Writes the run in DIR as one HTML page, DIR/report.html when FILE is absent, which opens "
     "without a network: convergence, winners, designs, fronts, sweeps, the tables among the files "
     "of --out as plots, and the script. Of a run that goes on it shows what there is.",
     EC_CLI_RUN},
    {"watch", "DIR [--port N]", "serve that page to a browser while the run in DIR goes on",
     "Serves the page of eciton report to browsers of this machine, at http://127.0.0.1:N/, while "
     "the "
     "run in DIR goes on or after it, until Ctrl-C. The page brings itself up to date. It can only "
     "be "
     "read, nothing else is served, and requests under another Host than localhost are refused; "
     "who "
     "can log in to the machine can read it too. eciton run --watch does the same for its own run. "
     "From another machine: ssh -L 8642:127.0.0.1:8642 NAME, then http://localhost:8642/.",
     EC_CLI_RUN},
    {"info", "", "version, backends, devices, libraries", NULL, EC_CLI_NOTHING},
    {"help", "[NOUN]",
     "what scripts can say (--markdown: the whole reference; --luals, --man, --bash and --zsh: "
     "annotations for editors, the manual page, completions of shells)",
     NULL, EC_CLI_TOPIC},
    {NULL, NULL, NULL, NULL, EC_CLI_NOTHING}};

#define SEARCHES   " run check "
#define BACKEND_OF " run check resume "
#define WATCHED    " run resume "

const ec_cli_flag ec_cli_flags[] = {
    {"--backend", "NAME", BACKEND_OF,
     "cpu, cuda, cuda:N or auto (default: CUDA where there is a device); several GPUs share the "
     "work: cuda:0,cuda:1 or cuda:all",
     EC_CLI_BACKEND},
    {"--threads", "N", BACKEND_OF, "CPU threads (default: all)", EC_CLI_NOTHING},
    {"--out", "DIR", SEARCHES,
     "folder for the run store run.db, best.csv, history.csv, patterns and files of the script",
     EC_CLI_FOLDER},
    {"--checkpoint", "SECONDS", SEARCHES,
     "time between two states of a search in DIR/run.db (default: 1, rarer where they take more "
     "than 2 % of the time; 0: none)",
     EC_CLI_NOTHING},
    {"--fresh", NULL, SEARCHES,
     "give up what DIR holds, an unfinished run or one of another script, and begin anew",
     EC_CLI_NOTHING},
    {"--data", "DIR", SEARCHES, "folder whose files the script may read, besides its own",
     EC_CLI_FOLDER},
    {"--seed", "N", SEARCHES, "seed of every job, in place of the script's", EC_CLI_NOTHING},
    {"--set", "NAME=VALUE", SEARCHES, "value of ec.arg(NAME, ...); may be repeated",
     EC_CLI_SETTING},
    {"--quick", NULL, SEARCHES, "small budgets: shows whether the script runs to its end",
     EC_CLI_NOTHING},
    {"--json", NULL, BACKEND_OF,
     "print one JSON object as the last line; print of scripts goes to stderr", EC_CLI_NOTHING},
    {"--watch", NULL, WATCHED,
     "serve the growing report of --out to a browser of this machine; its address is printed",
     EC_CLI_NOTHING},
    {"--port", "N", WATCHED "watch ",
     "port of the page that is watched (default: the first free one from 8642; 0: any)",
     EC_CLI_NOTHING},
    {"--quiet", NULL, BACKEND_OF, "no progress and no notes", EC_CLI_NOTHING},
    {"--view", "FILE", " check ",
     "of check: what the models of ec.fdtd hold at the start values, as .vtm for ParaView with "
     "three cuts beside it, or as .png, the cuts alone",
     EC_CLI_FILE},
    {"--trust", NULL, SEARCHES,
     "no sandbox: io, os, debug, any file, no limits (for your own scripts)", EC_CLI_NOTHING},
    {"--force", NULL, " resume ",
     "of resume: go on although the script, a file, the backend or the version has changed",
     EC_CLI_NOTHING},
    {"--csv", NULL, " export ", "history, designs and rows of sweeps as tables", EC_CLI_NOTHING},
    {"--json", NULL, " export ", "the same as one file run.json", EC_CLI_NOTHING},
    {"--touchstone", NULL, " export ", "the S-parameters that the run wrote", EC_CLI_NOTHING},
    {"--ffd", NULL, " export ", "the far fields that the run wrote", EC_CLI_NOTHING},
    {"--to", "PATH", " export ", "where to write: a folder, or the one file", EC_CLI_FILE},
    {"--output", "FILE", " report ", "where to write the page", EC_CLI_FILE},
    {"--markdown", NULL, " help ", "the whole reference of scripts as Markdown", EC_CLI_NOTHING},
    {"--luals", NULL, " help ", "annotations of the module for the Lua language server",
     EC_CLI_NOTHING},
    {"--man", NULL, " help ", "the manual page", EC_CLI_NOTHING},
    {"--bash", NULL, " help ", "completions of bash", EC_CLI_NOTHING},
    {"--zsh", NULL, " help ", "completions of zsh", EC_CLI_NOTHING},
    {NULL, NULL, NULL, NULL, EC_CLI_NOTHING}};

const char *const ec_cli_statuses[][2] = {
    {"0", "Done, also when a signal ended a search and the best design so far was reported."},
    {"1", "An error, or a search without a design that could be scored."},
    {"2", "Wrong usage."},
    {"128 + signal", "A signal came before there was a result."},
    {NULL, NULL}};

const char *const ec_cli_environment[][2] = {
    {"ECITON_ISA", "Level of instructions of the CPU's kernels, v1, v3 or v4, in place of the best "
                   "that the machine has."},
    {"ECITON_SCRIPT_SECONDS", "How long a script may compute by itself, without --trust."},
    {"OMP_WAIT_POLICY", "Kept when it is set; else threads that wait do so for a short time only."},
    {NULL, NULL}};

bool ec_cli_flag_is_of(const ec_cli_flag *flag, const char *command)
{
    char word[40];

    snprintf(word, sizeof word, " %s ", command);
    return strstr(flag->commands, word) != NULL;
}

/* ---- for the terminal ------------------------------------------------------------------------ */

/* Words from column `at` on in lines of WIDTH, the next ones at column `indent`. An empty line stays. */
static void put_wrapped(FILE *to, const char *text, int at, int indent)
{
    bool begins = true; /* of a line: no space in front */

    while (*text) {
        int n = (int)strcspn(text, " \n");
        if (!begins && at + 1 + n > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            at = indent;
            begins = true;
        }
        at += fprintf(to, "%s%.*s", begins ? "" : " ", n, text);
        text += n;
        begins = strncmp(text, "\n\n", 2) == 0;
        if (begins) {
            fprintf(to, "\n\n%*s", indent, "");
            at = indent;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', to);
}

/* "  --out DIR        help", the help beginning at column `indent`. */
static void put_entry(FILE *to, const char *name, const char *value, const char *help, int indent)
{
    int at = fprintf(to, "  %s%s%s", name, value && value[0] ? " " : "", value ? value : "");

    if (at > indent + 8) {
        fputc('\n', to);
        at = 0;
    }
    at += fprintf(to, "%*s", at + 2 > indent ? 2 : indent - at, "");
    put_wrapped(to, help, at, indent);
}

void ec_cli_usage(FILE *to)
{
    fputs("usage: eciton COMMAND\n\n", to);
    for (const ec_cli_command *c = ec_cli_commands; c->name; c++)
        put_entry(to, c->name, c->words, c->brief, 24);
    fputs("\nflags of run and check, and of resume --backend, --threads, --json, --watch, --port, "
          "--quiet, --force:\n",
          to);
    for (const ec_cli_flag *f = ec_cli_flags; f->name; f++)
        if (ec_cli_flag_is_of(f, "run") || ec_cli_flag_is_of(f, "check"))
            put_entry(to, f->name, f->value, f->help, 21);
}

/* "eciton resume DIR [--backend NAME] ...". */
static void put_synopsis(FILE *to, const ec_cli_command *command)
{
    char text[600];
    const char *flags = strstr(command->words, "[FLAGS]");
    int length = flags ? (int)(flags - command->words) - 1 : (int)strlen(command->words);
    size_t n = (size_t)snprintf(text, sizeof text, "eciton %s %.*s", command->name, length,
                                command->words);

    for (const ec_cli_flag *f = ec_cli_flags; flags && f->name && n < sizeof text; f++)
        if (ec_cli_flag_is_of(f, command->name))
            n += (size_t)snprintf(text + n, sizeof text - n, f->value ? " [%s %s]" : " [%s]",
                                  f->name, f->value);
    put_wrapped(to, text, 0, 0);
}

/* The end of the table, where there is no such command. */
static const ec_cli_command *find_command(const char *name)
{
    const ec_cli_command *c = ec_cli_commands;

    while (c->name && strcmp(c->name, name) != 0)
        c++;
    return c;
}

int ec_cli_misused(const char *command, const char *question, const char *word)
{
    const ec_cli_command *c = find_command(command);
    char text[300];

    snprintf(text, sizeof text, "eciton %s %s", command, c->name ? c->words : "");
    return question ? ec_cli_usage_error("%s %s", question, text)
                    : ec_cli_usage_error("%s, got '%s'", text, word);
}

bool ec_cli_help(FILE *to, const char *command)
{
    const ec_cli_command *c = find_command(command);

    if (!c->name)
        return false;
    if (!c->text) {
        ec_cli_usage(to);
        return true;
    }
    put_synopsis(to, c);
    fputc('\n', to);
    put_wrapped(to, c->text, 0, 0);
    return true;
}
