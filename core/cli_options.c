#include "cli_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ec_cli_usage(FILE *to)
{
    fputs(
        "usage: eciton COMMAND\n"
        "\n"
        "  run SCRIPT [FLAGS]    run a design script\n"
        "  resume DIR [FLAGS]    go on with the run whose --out was DIR, from its last checkpoint; "
        "of "
        "one that\n"
        "                        is finished, print the result (flags: --backend, "
        "--threads,\n"
        "                        --json, --quiet, --force)\n"
        "  check SCRIPT [FLAGS]  build the script's graph, print variables, shapes, memory and "
        "time, stop\n"
        "  runs [DIR]            list the runs in DIR and below it\n"
        "  show DIR              what the run in DIR has found, also while it goes on\n"
        "  export DIR FLAG       write what the run in DIR holds as --csv or --json, or copy its "
        "--touchstone\n"
        "                        or --ffd files\n"
        "  compare DIR DIR ...   runs side by side\n"
        "  info                  version, backends, devices, libraries\n"
        "  help [NOUN]           what scripts can say (--markdown: the whole reference)\n"
        "\n"
        "flags of run and check:\n"
        "  --backend NAME     cpu, cuda, cuda:N or auto (default: CUDA where there is a device); "
        "several\n"
        "                     GPUs share the work: cuda:0,cuda:1 or cuda:all\n"
        "  --threads N        CPU threads (default: all)\n"
        "  --out DIR          folder for the run store run.db, best.csv, history.csv, patterns "
        "and files of\n"
        "                     the script\n"
        "  --checkpoint SECONDS  time between two states of a search in DIR/run.db (default: 1, "
        "rarer where\n"
        "                     they take more than 2 % of the time; 0: none)\n"
        "  --fresh            give up what DIR holds, an unfinished run or one of another script, "
        "and begin anew\n"
        "  --data DIR         folder whose files the script may read, besides its own\n"
        "  --seed N           seed of every job, in place of the script's\n"
        "  --set NAME=VALUE   value of ec.arg(NAME, ...); may be repeated\n"
        "  --quick            small budgets: shows whether the script runs to its end\n"
        "  --json             print one JSON object as the last line; print of scripts goes to "
        "stderr\n"
        "  --quiet            no progress and no notes\n"
        "  --view FILE        of check: what the models of ec.fdtd hold at the start values, as "
        ".vtm for\n"
        "                     ParaView with three cuts beside it, or as .png, the cuts alone\n"
        "  --trust            no sandbox: io, os, debug, any file, no limits (for your own "
        "scripts)\n",
        to);
}

bool ec_cli_help(FILE *to, const char *command)
{
    static const char *const others[] = {"run", "check", "info", "help"};
    bool known = false;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        known = known || strcmp(command, others[i]) == 0;
    if (known)
        ec_cli_usage(to);
    if (strcmp(command, "resume") != 0)
        return known;
    fputs("eciton resume DIR [--backend NAME] [--threads N] [--json] [--quiet] [--force]\n"
          "\n"
          "Goes on with the run whose --out was DIR, from the last states of its searches in "
          "DIR/run.db,\n"
          "with the script, --set, --seed and backend that it was begun with; --backend may name "
          "another\n"
          "number of the same devices. The result has the bits of a run that was never "
          "interrupted. Of a run that is finished it prints the result.\n"
          "\n"
          "States are written every second (--checkpoint SECONDS of eciton run; 0: never) and at "
          "the end of\n"
          "each search. It refuses, and says why, when the script or a file that it reads has "
          "changed, and on\n"
          "another backend or by another version; with --force it goes on all the same, where the "
          "state fits\n"
          "(variables, method and settings are the same): the result is then not that of one run. "
          "--fresh of\n"
          "eciton run gives up the states and begins anew.\n"
          "Searches with report = false, and those in functions of ec.host, are done again; sweeps "
          "go on by\n"
          "their tables.\n",
          to);
    return true;
}

int ec_cli_usage_error(const char *format, const char *word, const char *more)
{
    fprintf(stderr, "eciton: ");
    fprintf(stderr, format, word, more); /* every format takes both */
    fprintf(stderr, "\n");
    return EC_EXIT_USAGE;
}

static bool parse_whole(const char *text, uint64_t largest, uint64_t *value)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long v = strtoull(text, &end, 10);
    *value = v;
    return errno == 0 && *end == 0 && v <= largest;
}

static int take_set(ec_cli_options *o, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return ec_cli_usage_error("--set wants NAME=VALUE, got '%s'%s", text, "");
    *equals = 0;
    o->sets[o->n_sets++] = (ec_lua_set){text, equals + 1, false};
    return EC_EXIT_OK;
}

static int take_value(ec_cli_options *o, const char *flag, char *value)
{
    /* as far as key 'seed' of ec.job goes */
    static const uint64_t largest_seed = 9000000000000000ull;
    uint64_t n;
    if (!value[0])
        return ec_cli_usage_error("%s needs a value%s", flag, "");
    if (strcmp(flag, "--backend") == 0) {
        if (!ec_backend_is_name(value))
            return ec_cli_usage_error("--backend wants " EC_BACKEND_NAMES ", got '%s'%s", value,
                                      "");
        o->backend = value;
    } else if (strcmp(flag, "--out") == 0) {
        o->out = value;
    } else if (strcmp(flag, "--data") == 0) {
        o->data = value;
    } else if (strcmp(flag, "--checkpoint") == 0) {
        char *end;
        double seconds = strtod(value, &end);
        if (*end || !(seconds >= 0 && seconds <= 1e6))
            return ec_cli_usage_error("--checkpoint wants seconds from 0 (none) to 1e6, got '%s'%s",
                                      value, "");
        o->checkpoint_seconds = seconds > 0 ? seconds : -1;
    } else if (strcmp(flag, "--view") == 0) {
        const char *ending = strrchr(value, '.');
        if (!ending || (strcmp(ending, ".vtm") != 0 && strcmp(ending, ".png") != 0))
            return ec_cli_usage_error("--view wants a file .vtm or .png, got '%s'%s", value, "");
        o->view = value;
    } else if (strcmp(flag, "--set") == 0) {
        return take_set(o, value);
    } else if (strcmp(flag, "--threads") == 0) {
        if (!parse_whole(value, 4096, &n) || n < 1)
            return ec_cli_usage_error("--threads wants a whole number from 1 to 4096, got '%s'%s",
                                      value, "");
        o->threads = (int)n;
    } else {
        if (!parse_whole(value, largest_seed, &o->seed))
            return ec_cli_usage_error("--seed wants a whole number from 0 to 9e15, got '%s'%s",
                                      value, "");
        o->seed_given = true;
    }
    return EC_EXIT_OK;
}

int ec_cli_options_parse(int argc, char **argv, ec_cli_options *o)
{
    static const char *const with_value[] = {"--backend", "--threads", "--out",        "--data",
                                             "--seed",    "--set",     "--checkpoint", "--view"};
    const struct {
        const char *flag;
        bool *to;
    } plain[] = {{"--quick", &o->quick}, {"--json", &o->json},   {"--quiet", &o->quiet},
                 {"--trust", &o->trust}, {"--fresh", &o->fresh}, {"--force", &o->force}};
    o->sets = calloc((size_t)argc + 1, sizeof *o->sets);
    if (!o->sets)
        return ec_cli_usage_error("%s%s", "no memory", "");
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (word[0] != '-' || word[1] == 0) {
            if (o->script)
                return ec_cli_usage_error("one script at a time: '%s' comes after '%s'", word,
                                          o->script);
            o->script = word;
            continue;
        }
        bool known = false;
        for (size_t k = 0; !known && k < sizeof plain / sizeof *plain; k++)
            if (strcmp(word, plain[k].flag) == 0)
                known = *plain[k].to = true;
        for (size_t k = 0; !known && k < sizeof with_value / sizeof *with_value; k++) {
            size_t n = strlen(with_value[k]);
            if (strncmp(word, with_value[k], n) != 0 || (word[n] != 0 && word[n] != '='))
                continue;
            known = true;
            char *value = word[n] == '=' ? word + n + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (!value)
                return ec_cli_usage_error("%s needs a value%s", with_value[k], "");
            int status = take_value(o, with_value[k], value);
            if (status != EC_EXIT_OK)
                return status;
        }
        if (!known) {
            static const char *const all[] = {"--backend", "--threads", "--out",        "--data",
                                              "--seed",    "--set",     "--quick",      "--json",
                                              "--quiet",   "--trust",   "--checkpoint", "--fresh",
                                              "--force",   "--view"};
            const char *near = ec_lua_nearest(word, all, (int)(sizeof all / sizeof *all));
            return near ? ec_cli_usage_error("unknown flag '%s' (did you mean '%s'?)", word, near)
                        : ec_cli_usage_error("unknown flag '%s'; eciton --help lists them%s", word,
                                             "");
        }
    }
    if (o->view && !o->check)
        return ec_cli_usage_error("--view is a flag of eciton check%s%s", "", "");
    if (!o->script)
        return ec_cli_usage_error("which script? eciton run SCRIPT%s%s", "", "");
    return EC_EXIT_OK;
}

void ec_cli_options_release(ec_cli_options *options)
{
    free(options->sets);
    options->sets = NULL;
}
