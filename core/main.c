/* The program eciton: run, resume, check, runs, show, export, compare, report, watch, info, help. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_options.h"
#include "cli_pages.h"
#include "cli_store.h"
#include "cli_table.h"
#include "lua_help.h"
#include "lua_meta.h"

static bool asks_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int command_resume(int argc, char **argv)
{
    if (!asks_help(argc, argv))
        return ec_cli_resume(argc, argv);
    ec_cli_help(stdout, "resume");
    return EC_EXIT_OK;
}

/* The commands that look at run stores. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} store_commands[] = {{"runs", ec_cli_runs},     {"show", ec_cli_show},
                      {"export", ec_cli_export}, {"compare", ec_cli_compare},
                      {"report", ec_cli_page},   {"watch", ec_cli_watch_command}};

/* False: it is none of them. */
static bool command_store(const char *command, int argc, char **argv, int *status)
{
    for (size_t i = 0; i < sizeof store_commands / sizeof *store_commands; i++) {
        if (strcmp(command, store_commands[i].name) != 0)
            continue;
        *status = EC_EXIT_OK;
        if (asks_help(argc, argv))
            ec_cli_help(stdout, command);
        else
            *status = store_commands[i].run(argc, argv);
        return true;
    }
    return false;
}

static int command_run(int argc, char **argv, bool check)
{
    ec_cli_options options = {.check = check};
    if (asks_help(argc, argv)) {
        ec_cli_usage(stdout);
        return EC_EXIT_OK;
    }
    int status = ec_cli_options_parse(argc, argv, &options);
    if (status == EC_EXIT_OK && options.force)
        status =
            ec_cli_usage_error("--force is a flag of eciton resume%s; --fresh gives up what DIR "
                               "holds%s",
                               "", "");
    if (status == EC_EXIT_OK)
        status = ec_cli_run(&options);
    ec_cli_options_release(&options);
    return status;
}

/* Flags of `eciton help`: files of the source tree that are written by them. */
static const struct {
    const char *flag;
    void (*write)(FILE *to);
} pages[] = {{"--markdown", ec_lua_help_markdown},
             {"--luals", ec_lua_meta},
             {"--man", ec_cli_man},
             {"--bash", ec_cli_bash},
             {"--zsh", ec_cli_zsh}};

static int command_help(int argc, char **argv)
{
    if (argc == 0) {
        ec_cli_usage(stdout);
        printf("\n");
        ec_lua_help_list(stdout);
        return EC_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(argv[0], pages[i].flag) == 0) {
            pages[i].write(stdout);
            return EC_EXIT_OK;
        }
    if (ec_cli_help(stdout, argv[0]) || ec_lua_help_topic(stdout, argv[0]))
        return EC_EXIT_OK;
    char near[240];
    ec_lua_help_near(argv[0], near, sizeof near);
    fprintf(stderr,
            near[0] ? "eciton: no help on '%s'; near it: %s\n\n" : "eciton: no help on '%s'%s\n\n",
            argv[0], near);
    ec_lua_help_list(stderr);
    return EC_EXIT_USAGE;
}

/* OpenMP threads that spin for long at the end of a parallel region take the cores from whatever
 * else runs there: on a busy machine a search took five times as long. The runtime reads its
 * environment when it is loaded, so the program starts itself once more with a short spin (some ten
 * microseconds, enough for the next generation to begin). A user's own setting is kept. */
static void shorten_spin(char **argv)
{
#ifdef _OPENMP
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("GOMP_SPINCOUNT", "20000", 0) == 0)
        execv("/proc/self/exe", argv); /* returns only where that is not possible: go on */
#else
    (void)argv;
#endif
}

/* A closed standard stream would be the number of the next file that is opened. Writing to a closed
 * stdout stays an error. */
static void hold_streams(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int i = 0; i < 3; i++)
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", modes[i]);
}

static int run_command(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "run") == 0 || strcmp(command, "check") == 0)
        return command_run(argc - 2, argv + 2, command[0] == 'c');
    if (strcmp(command, "resume") == 0)
        return command_resume(argc - 2, argv + 2);
    int status;
    if (command_store(command, argc - 2, argv + 2, &status))
        return status;
    if (strcmp(command, "info") == 0)
        return ec_cli_info();
    if (strcmp(command, "help") == 0)
        return command_help(argc - 2, argv + 2);
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0)
        return command_help(0, NULL);
    if (strcmp(command, "--version") == 0) {
        printf("eciton %s\n", EC_VERSION);
        return EC_EXIT_OK;
    }
    if (command[0])
        fprintf(stderr, "eciton: unknown command '%s'\n", command);
    ec_cli_usage(stderr);
    return EC_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    hold_streams();
    shorten_spin(argv);
    int status = run_command(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "eciton: the output cannot be written\n");
    return status == EC_EXIT_OK ? EC_EXIT_ERROR : status;
}
