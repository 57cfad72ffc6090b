/* backends_main.c: runs the cases of all files linked in, on every backend present. */
#include "backends.h"

#include "wall_clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case file that was not linked leaves its array at NULL. */
#pragma weak ec_cases_ops
#pragma weak ec_cases_math
#pragma weak ec_cases_graph
#pragma weak ec_cases_de
#pragma weak ec_cases_aco
#pragma weak ec_cases_solve
#pragma weak ec_cases_array_pattern
#pragma weak ec_cases_nufft
#pragma weak ec_cases_element
#pragma weak ec_cases_array_weights
#pragma weak ec_cases_bvh
#pragma weak ec_cases_wavefront
#pragma weak ec_cases_paths
#pragma weak ec_cases_small_matrix
#pragma weak ec_cases_matrix
#pragma weak ec_cases_mimo
#pragma weak ec_cases_mimo_shared
#pragma weak ec_cases_fdtd
#pragma weak ec_cases_workers

enum { GUARD_BYTES = 256, GUARD_BYTE = 0x5C, EMPTY_BYTE = 0xA5, SKIPPED = 77 };

void ec_case_message(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list arguments;

    printf("  %s:%d: %s: ", file, line, condition);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

int ec_guarded_create(ec_backend *backend, size_t bytes, ec_guarded *memory)
{
    size_t padded = ec_round_up(bytes, GUARD_BYTES);
    void *base;

    int status = backend->ops->alloc(backend, padded + 2 * GUARD_BYTES, &base);
    if (status < 0)
        return status;
    memory->base = base;
    memory->data = (char *)base + GUARD_BYTES;
    memory->bytes = bytes;
    status = backend->ops->fill(backend, base, GUARD_BYTE, padded + 2 * GUARD_BYTES);
    if (status >= 0)
        status = backend->ops->fill(backend, memory->data, EMPTY_BYTE, bytes);
    return status;
}

static int check_band(ec_backend *backend, const char *band, size_t bytes, const char *what,
                      const char *where)
{
    unsigned char words[2 * GUARD_BYTES];

    if (backend->ops->download(backend, words, band, bytes) < 0) {
        printf("  %s: %s\n", what, ec_error_text());
        return 1;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (words[i] == GUARD_BYTE)
            continue;
        printf("  %s: byte %zu %s it was overwritten\n", what, i, where);
        return 1;
    }
    return 0;
}

int ec_guarded_check(ec_backend *backend, const ec_guarded *memory, const char *what)
{
    size_t padded = ec_round_up(memory->bytes, GUARD_BYTES);
    size_t rest = padded - memory->bytes;

    if (check_band(backend, (const char *)memory->base, GUARD_BYTES, what, "before"))
        return 1;
    return check_band(backend, (const char *)memory->data + memory->bytes, rest + GUARD_BYTES, what,
                      "behind");
}

void ec_guarded_release(ec_backend *backend, ec_guarded *memory)
{
    backend->ops->release(backend, memory->base);
    memset(memory, 0, sizeof *memory);
}

static int compare(const char *what, const double *got_d, const double *want_d, const float *got_f,
                   const float *want_f, size_t n, double limit)
{
    double largest = 0, worst = 0, worst_got = 0, worst_want = 0;
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        double got = got_d ? got_d[i] : (double)got_f[i];
        double want = want_d ? want_d[i] : (double)want_f[i];
        if (isnan(got) != isnan(want)) {
            printf("  %s[%zu] = %g, expected %g\n", what, i, got, want);
            return 1;
        }
        if (isnan(want) || got == want) {
            if (isfinite(want))
                largest = fmax(largest, fabs(want));
            continue;
        }
        largest = fmax(largest, fabs(want));
        double error = fabs(got - want);
        if (error > worst) {
            worst = error;
            worst_got = got;
            worst_want = want;
            at = i;
        }
    }
    if (worst <= limit * largest)
        return 0;
    printf("  %s[%zu] = %.17g, expected %.17g: error %.3g of the largest, allowed %.3g\n", what, at,
           worst_got, worst_want, worst / largest, limit);
    return 1;
}

int ec_compare_f64(const char *what, const double *got, const double *want, size_t n, double limit)
{
    return compare(what, got, want, NULL, NULL, n, limit);
}

int ec_compare_f32(const char *what, const float *got, const float *want, size_t n, double limit)
{
    return compare(what, NULL, NULL, got, want, n, limit);
}

/* ---- which cases, on which backends ---- */

typedef struct selection {
    const char *backend; /* "cpu", "cuda" or NULL: all */
    char **words;        /* a case runs when its name contains one of them, or there are none */
    int n_words;
    int passed, failed;
} selection;

static bool is_selected(const selection *chosen, const char *name)
{
    for (int i = 0; i < chosen->n_words; i++)
        if (strstr(name, chosen->words[i]))
            return true;
    return chosen->n_words == 0;
}

static void run_cases(selection *chosen, ec_backend *backend, const char *label)
{
    const ec_case *const lists[] = {
        ec_cases_ops,           ec_cases_math,          ec_cases_graph,  ec_cases_de,
        ec_cases_solve,         ec_cases_array_pattern, ec_cases_nufft,  ec_cases_element,
        ec_cases_array_weights, ec_cases_aco,           ec_cases_bvh,    ec_cases_wavefront,
        ec_cases_paths,         ec_cases_small_matrix,  ec_cases_matrix, ec_cases_mimo,
        ec_cases_mimo_shared,   ec_cases_fdtd,          ec_cases_workers};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const ec_case *one = lists[i]; one && one->name; one++) {
            if (!is_selected(chosen, one->name))
                continue;
            double begun = ec_wall_seconds();
            int failed = one->run(backend) != 0;
            if (backend->ops->sync(backend) < 0) {
                printf("  %s\n", ec_error_text());
                failed = 1;
            }
            printf("%s %s %s (%.1f s)\n", failed ? "FAILED" : "ok", label, one->name,
                   ec_wall_seconds() - begun);
            fflush(stdout);
            chosen->failed += failed;
            chosen->passed += !failed;
        }
    }
}

static void run_on(selection *chosen, const char *name, const char *isa, const char *label)
{
    ec_backend_info info = {name, 0, isa, NULL};
    ec_backend *backend;

    if (ec_backend_create(&info, &backend) < 0) {
        printf("FAILED %s: %s\n", label, ec_error_text());
        chosen->failed++;
        return;
    }
    printf("# %s: %s\n", label, backend->device);
    run_cases(chosen, backend, label);
    ec_backend_destroy(&backend);
}

/* Every level that this processor and this build have; with ECITON_TEST_LEVELS=best the highest, for builds in
 * which the cases take minutes. */
static void run_on_cpu(selection *chosen)
{
    char label[32];
    int best = ec_isa_detect();

    const char *levels = getenv("ECITON_TEST_LEVELS");
    const bool one = levels && strcmp(levels, "best") == 0;
    for (int isa = one ? best : EC_ISA_V1; isa <= best; isa++) {
        snprintf(label, sizeof label, "cpu:%s", ec_isa_name(isa));
        run_on(chosen, "cpu", ec_isa_name(isa), label);
    }
}

static int run_on_cuda(selection *chosen)
{
    const char *require = getenv("ECITON_REQUIRE_CUDA");

    if (ec_backend_cuda_count() > 0) {
        run_on(chosen, "cuda", NULL, "cuda");
        return 0;
    }
    printf("skipped: no CUDA device\n");
    if (require && strcmp(require, "1") == 0) {
        printf("FAILED cuda: ECITON_REQUIRE_CUDA=1\n");
        chosen->failed++;
        return 0;
    }
    return chosen->backend ? SKIPPED : 0;
}

int main(int argc, char **argv)
{
    selection chosen = {NULL, argv + 1, argc - 1, 0, 0};
    int code = 0;

    if (chosen.n_words >= 2 && strcmp(chosen.words[0], "--backend") == 0) {
        chosen.backend = chosen.words[1];
        chosen.words += 2;
        chosen.n_words -= 2;
        if (strcmp(chosen.backend, "cpu") != 0 && strcmp(chosen.backend, "cuda") != 0) {
            printf("--backend %s: allowed are cpu and cuda\n", chosen.backend);
            return 2;
        }
    }
    if (!chosen.backend || strcmp(chosen.backend, "cpu") == 0)
        run_on_cpu(&chosen);
    if (!chosen.backend || strcmp(chosen.backend, "cuda") == 0)
        code = run_on_cuda(&chosen);
    if (code == SKIPPED && chosen.failed == 0)
        return SKIPPED;
    printf("%d passed, %d failed\n", chosen.passed, chosen.failed);
    if (chosen.passed + chosen.failed == 0) {
        printf("no case has this name\n");
        return 2;
    }
    return chosen.failed ? 1 : 0;
}
