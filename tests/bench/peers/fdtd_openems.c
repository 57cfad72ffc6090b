/* fdtd_openems.c: our cells a second beside those of openEMS (Debian: openems), by turns, as many threads.
 *
 *   fdtd_openems [--threads N] [--isa v1|v3|v4]
 *
 * The patch is that of openEMS' own example Simple_Patch_Antenna on the grid that its script makes, 48 x
 * 48 x 42 cells, without its dumps: with the walls of the example (MUR), with eight absorbing layers
 * inside of the grid, and with metal walls. Ours has as many cells, eight absorbing layers of them or metal
 * walls. A stack of 32 domains of 50 x 50 x 25 stands against openEMS with one of them.
 *
 * A figure is that of the steps alone: the difference of runs of few and many steps, the least of PASSES
 * for each. Cells are those between lines; openEMS itself counts lines, and comes to more. */
#include "bench/bench_fdtd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PASSES = 5, FEW = 256, MANY = 1280, LAYERS = 8, STACK = 32 };

static const int32_t patch_cells[3] = {48, 48, 42}, small_cells[3] = {50, 50, 25};

/* Lines of the example, mm. */
static const char *const patch_lines[3] = {
    "-100,-95.3333,-90.6667,-86,-81.3333,-76.6667,-72,-67.3333,-62.6667,-58,-53.3333,-48.6667,-44,"
    "-39.3333,-34.6667,-30,-27.4136,-24.8272,-20.3303,-17.3324,-15.3338,-12.3359,-9.16793,-6,"
    "-1.38701,3.22599,7.83898,12.3359,15.3338,17.3324,20.3303,24.8272,27.4136,30,34.6667,39.3333,"
    "44,"
    "48.6667,53.3333,58,62.6667,67.3333,72,76.6667,81.3333,86,90.6667,95.3333,100",
    "-100,-95.3333,-90.6667,-86,-81.3333,-76.6667,-72,-67.3333,-62.6667,-58,-53.3333,-48.6667,-44,"
    "-39.3333,-34.6667,-30,-27.1652,-24.3303,-21.3324,-19.3338,-16.3359,-11.839,-7.89266,-3.94633,"
    "0,"
    "3.94633,7.89266,11.839,16.3359,19.3338,21.3324,24.3303,27.1652,30,34.6667,39.3333,44,48.6667,"
    "53.3333,58,62.6667,67.3333,72,76.6667,81.3333,86,90.6667,95.3333,100",
    "-50,-45.2346,-40.4691,-35.7037,-30.9382,-26.1728,-21.4074,-16.6419,-11.8765,-7.53666,-4.64344,"
    "-2.71463,-1.42875,-0.5715,0,0.381,0.762,1.143,1.524,2.0955,2.95275,4.23863,6.16744,9.06066,"
    "13.4005,18.2116,23.0227,27.8337,32.6448,37.4559,42.267,47.0781,51.8892,56.7002,61.5113,66."
    "3224,"
    "71.1335,75.9445,80.7557,85.5667,90.3778,95.1889,100"};

/* Of a processor's time and of the clock's, s. */
typedef struct cost {
    double wall, processor;
} cost;

typedef struct pair {
    const char *name, *walls; /* openEMS' */
    bool small;
    int32_t layers, domains; /* ours */
} pair;

static void fail(const char *what)
{
    fprintf(stderr, "fdtd_openems: %s\n", what);
    exit(1);
}

static void put_box(FILE *f, const char *head, const char *tail, double x0, double y0, double z0,
                    double x1, double y1, double z1)
{
    fprintf(f,
            "%s<Primitives><Box Priority='5'><P1 X='%g' Y='%g' Z='%g'/><P2 X='%g' Y='%g' Z='%g'/>"
            "</Box></Primitives>%s\n",
            head, x0, y0, z0, x1, y1, z1, tail);
}

static void put_lines(FILE *f, const pair *p, int axis)
{
    fprintf(f, "<%cLines>", "XYZ"[axis]);
    for (int i = 0; p->small && i <= small_cells[axis]; i++)
        fprintf(f, "%s%g", i ? "," : "", 0.5 * i);
    fprintf(f, "%s</%cLines>\n", p->small ? "" : patch_lines[axis], "XYZ"[axis]);
}

/* The small one is a microstrip over a board, as that of bench_fdtd. */
static void write_model(const char *path, const pair *p, int steps)
{
    FILE *f = fopen(path, "w");

    if (!f)
        fail("cannot write the model of openEMS");
    fprintf(f,
            "<openEMS><FDTD NumberOfTimesteps='%d' endCriteria='1e-30' f_max='3e9'>\n"
            "<Excitation Type='0' f0='2e9' fc='1e9'/>\n<BoundaryCond",
            steps);
    for (int i = 0; i < 6; i++)
        fprintf(f, " %c%s='%s'", "xyz"[i / 2], i % 2 ? "max" : "min", p->walls);
    fprintf(f, "/></FDTD><ContinuousStructure CoordSystem='0'><Properties>\n");
    const double x = p->small ? 3 : -6, y = p->small ? 3 : 0, h = p->small ? 1 : 1.524;
    if (p->small) {
        put_box(f, "<Metal Name='strip'>", "</Metal>", 2, 2, h, 23, 4, h);
        put_box(f, "<Material Name='board'><Property Epsilon='2'/>", "</Material>", 0, 0, 0, 25, 25,
                h);
    } else {
        put_box(f, "<Metal Name='patch'>", "</Metal>", -16, -20, h, 16, 20, h);
        put_box(f, "<Metal Name='ground'>", "</Metal>", -30, -30, 0, 30, 30, 0);
        put_box(f, "<Material Name='board'><Property Epsilon='3.38' Kappa='4.607e-4'/>",
                "</Material>", -30, -30, 0, 30, 30, h);
    }
    put_box(f, "<LumpedElement Name='r' Direction='2' Caps='1' R='50'>", "</LumpedElement>", x, y,
            0, x, y, h);
    put_box(f, "<Excitation Name='e' Type='0' Excite='0,0,-1'>", "</Excitation>", x, y, 0, x, y, h);
    put_box(f, "<ProbeBox Name='u' Type='0' Weight='-1'>", "</ProbeBox>", x, y, 0, x, y, h);
    put_box(f, "<ProbeBox Name='i' Type='1' Weight='1' NormDir='2'>", "</ProbeBox>", x, y, h / 2, x,
            y, h / 2);
    fprintf(f, "</Properties><RectilinearGrid DeltaUnit='0.001' CoordSystem='0'>\n");
    for (int axis = 0; axis < 3; axis++)
        put_lines(f, p, axis);
    fprintf(f, "</RectilinearGrid></ContinuousStructure></openEMS>\n");
    if (fclose(f))
        fail("cannot write the model of openEMS");
}

static double processor_of(int who)
{
    struct rusage use;
    getrusage(who, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cost theirs(const char *folder, const pair *p, int threads, int steps)
{
    char path[256], command[512];

    snprintf(path, sizeof path, "%s/model.xml", folder);
    write_model(path, p, steps);
    snprintf(command, sizeof command,
             "cd '%s' && openEMS model.xml --engine=multithreaded --numThreads=%d >log 2>&1",
             folder, threads);
    const double wall = clock_now(), processor = processor_of(RUSAGE_CHILDREN);
    if (system(command) != 0)
        fail("openEMS failed");
    return (cost){clock_now() - wall, processor_of(RUSAGE_CHILDREN) - processor};
}

static cost ours(bench_fdtd *f)
{
    const double wall = clock_now(), processor = processor_of(RUSAGE_SELF);

    bench_fdtd_run(f);
    return (cost){clock_now() - wall, processor_of(RUSAGE_SELF) - processor};
}

static void keep_least(cost *least, cost one)
{
    least->wall = fmin(least->wall, one.wall);
    least->processor = fmin(least->processor, one.processor);
}

/* Mcells/s by the clock of the steps between few and many. */
static double rate(double cells, double few, double many)
{
    return 1e-6 * cells * (MANY - FEW) / (many - few);
}

static void run_pair(ec_backend *be, const char *folder, int threads, const pair *p)
{
    static const int steps[2] = {FEW, MANY};
    const int32_t *n = p->small ? small_cells : patch_cells;
    const double cells = (double)n[0] * n[1] * n[2];
    const cost worst = {INFINITY, INFINITY};
    cost least[2][2] = {{worst, worst}, {worst, worst}}; /* [ours, theirs][few, many] */
    bench_fdtd *f[2];

    for (int k = 0; k < 2; k++) {
        const bench_fdtd_case what = {
            .n = {n[0], n[1], n[2]}, .layers = p->layers, .domains = p->domains, .steps = steps[k]};
        f[k] = bench_fdtd_create(be, &what);
    }
    for (int pass = 0; pass < PASSES; pass++)
        for (int k = 0; k < 2; k++) {
            keep_least(&least[0][k], ours(f[k]));
            keep_least(&least[1][k], theirs(folder, p, threads, steps[k]));
        }
    for (int k = 0; k < 2; k++)
        bench_fdtd_destroy(&f[k]);
    const double stack = cells * p->domains;
    const double wall[2] = {rate(stack, least[0][0].wall, least[0][1].wall),
                            rate(cells, least[1][0].wall, least[1][1].wall)};
    const double processor[2] = {rate(stack, least[0][0].processor, least[0][1].processor),
                                 rate(cells, least[1][0].processor, least[1][1].processor)};
    printf("%-38s %8.1f %8.1f %6.2f    %8.1f %8.1f %6.2f\n", p->name, wall[0], wall[1],
           wall[0] / wall[1], processor[0], processor[1], processor[0] / processor[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const pair pairs[] = {{"patch, 8 absorbing layers and MUR", "MUR", false, LAYERS, 1},
                                 {"patch, 8 absorbing layers each", "PML_8", false, LAYERS, 1},
                                 {"patch, metal walls each", "PEC", false, 0, 1},
                                 {"32 of 50x50x25 and one, metal walls", "PEC", true, 0, STACK}};
    static const char *const files[] = {"model.xml", "log", "u", "i", "et", "ht"};
    ec_backend_info info = {.name = "cpu", .threads = 2};
    ec_backend *be = NULL;
    char folder[] = "/tmp/fdtd_openems.XXXXXX", path[256];

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0)
            info.threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--isa") == 0)
            info.isa = argv[i + 1];
        else
            fail("usage: fdtd_openems [--threads N] [--isa L]");
    }
    if (system("command -v openEMS >/dev/null") != 0) {
        printf("skipped: no openEMS (Debian: openems)\n");
        return 0;
    }
    if (ec_backend_create(&info, &be) < 0)
        fail(ec_error_text());
    if (!mkdtemp(folder))
        fail("no folder for openEMS to work in");
    printf("%s, ISA %s, %d thread(s)\n", be->device, ec_isa_name(be->isa), info.threads);
    printf("%-38s %26s    %26s\n", "Mcells/s", "by the clock", "by processor time");
    printf("%-38s %8s %8s %6s    %8s %8s %6s\n", "", "ours", "openEMS", "ratio", "ours", "openEMS",
           "ratio");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        run_pair(be, folder, info.threads, pairs + i);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    ec_backend_destroy(&be);
    return 0;
}
