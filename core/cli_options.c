#include "cli_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli_table.h"
#include "cli_watch.h"

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
    } else if (strcmp(flag, "--port") == 0) {
        o->port_given = true;
        return ec_cli_watch_port(value, &o->port);
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

/* run, check and resume share the parser, which says whose a flag is afterwards. */
static bool is_flag_here(const ec_cli_flag *flag)
{
    return ec_cli_flag_is_of(flag, "run") || ec_cli_flag_is_of(flag, "check") ||
           ec_cli_flag_is_of(flag, "resume");
}

static int unknown_flag(const char *word)
{
    enum { MOST = 64 };
    const char *all[MOST];
    int n = 0;

    for (const ec_cli_flag *f = ec_cli_flags; f->name && n < MOST; f++)
        if (is_flag_here(f))
            all[n++] = f->name;
    const char *near = ec_lua_nearest(word, all, n);
    return near ? ec_cli_usage_error("unknown flag '%s' (did you mean '%s'?)", word, near)
                : ec_cli_usage_error("unknown flag '%s'; eciton --help lists them%s", word, "");
}

int ec_cli_options_parse(int argc, char **argv, ec_cli_options *o)
{
    const struct {
        const char *flag;
        bool *to;
    } plain[] = {{"--quick", &o->quick}, {"--json", &o->json},   {"--quiet", &o->quiet},
                 {"--trust", &o->trust}, {"--fresh", &o->fresh}, {"--force", &o->force},
                 {"--watch", &o->watch}};
    o->port = EC_WATCH_FREE_PORT;
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
        for (const ec_cli_flag *f = ec_cli_flags; !known && f->name; f++) {
            size_t n = strlen(f->name);
            if (!f->value || !is_flag_here(f) || strncmp(word, f->name, n) != 0 ||
                (word[n] != 0 && word[n] != '='))
                continue;
            known = true;
            char *value = word[n] == '=' ? word + n + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (!value)
                return ec_cli_usage_error("%s needs a value%s", f->name, "");
            int status = take_value(o, f->name, value);
            if (status != EC_EXIT_OK)
                return status;
        }
        if (!known)
            return unknown_flag(word);
    }
    if (o->view && !o->check)
        return ec_cli_usage_error("--view is a flag of eciton check%s%s", "", "");
    if (o->check && (o->watch || o->port_given))
        return ec_cli_usage_error("%s is a flag of eciton run%s", o->watch ? "--watch" : "--port",
                                  "");
    if (o->port_given && !o->watch)
        return ec_cli_usage_error("--port is the port of --watch%s%s", "", "");
    if (!o->script)
        return ec_cli_usage_error("which script? eciton %s SCRIPT%s", o->check ? "check" : "run",
                                  "");
    return EC_EXIT_OK;
}

void ec_cli_options_release(ec_cli_options *options)
{
    free(options->sets);
    options->sets = NULL;
}
