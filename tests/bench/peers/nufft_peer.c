/* nufft_peer.c: our side of a paired timing (nufft_finufft.py): 2-D NUFFTs of type 1, float32, one
 * thread.
 *
 *   nufft_peer MODES POINTS CANDIDATES TOLERANCE IN OUT
 *
 * IN holds x[candidates][points] and y, float64 in turns, then strengths[candidates][points],
 * complex float32. Prints the plan's description and, for each line read from standard input, the
 * processor seconds of one pass over all candidates with a plan made once. Modes go to OUT at the
 * end, complex float32. */
#include "core/backend.h"
#include "nufft.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "nufft_peer: %s\n", ec_error_text());
    exit(1);
}

static void *load(FILE *file, size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory && fread(memory, 1, bytes, file) == bytes)
        return memory;
    fprintf(stderr, "nufft_peer: the input file is too short, or memory is\n");
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: %s MODES POINTS CANDIDATES TOLERANCE IN OUT\n", argv[0]);
        return 2;
    }
    int32_t modes = atoi(argv[1]), points = atoi(argv[2]);
    size_t n = (size_t)atoi(argv[3]), all = n * (size_t)points;
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;
    check(ec_backend_create(&backend_info, &backend));
    ec_nufft_info info = {.type = 1,
                          .dim = 2,
                          .modes = {modes, modes},
                          .points = points,
                          .sign = 1,
                          .tolerance = atof(argv[4])};
    ec_nufft *plan;
    check(ec_nufft_create(backend, &info, &plan));

    FILE *file = fopen(argv[5], "rb");
    if (!file) {
        fprintf(stderr, "nufft_peer: %s cannot be read\n", argv[5]);
        return 1;
    }
    double *x = load(file, all * sizeof *x), *y = load(file, all * sizeof *y);
    ec_c64 *strengths = load(file, all * sizeof *strengths);
    fclose(file);
    size_t total = n * (size_t)modes * (size_t)modes;
    ec_c64 *out = malloc(total * sizeof *out);
    if (!out)
        return 1;
    ec_nufft_batch batch = {.n = n,
                            .vectors = 1,
                            .point = {x, y},
                            .point_stride = (size_t)points,
                            .in = strengths,
                            .out = out};
    char text[200], line[16];
    ec_nufft_describe(plan, text, sizeof text);
    printf("%s, ISA %s\n", text, ec_isa_name(backend->isa));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double start = now();
        check(ec_nufft_run(plan, &batch));
        printf("%.9f\n", now() - start);
        fflush(stdout);
    }
    file = fopen(argv[6], "wb");
    if (!file || fwrite(out, sizeof *out, total, file) != total || fclose(file) != 0) {
        fprintf(stderr, "nufft_peer: %s cannot be written\n", argv[6]);
        return 1;
    }
    free(x);
    free(y);
    free(strengths);
    free(out);
    ec_nufft_destroy(&plan);
    ec_backend_destroy(&backend);
    return 0;
}
