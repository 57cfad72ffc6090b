/* backends.h: cases that run on every backend present: one function a case, one array a file.
 *
 * A case gets a fresh view of one backend (each CPU instruction level counts as one) and returns 0
 * when it holds. To add a file, define an array ended by {NULL, NULL} and list it in
 * backends_main.c. "backends_test math/philox" runs one case, "--backend cpu|cuda" one kind.
 */
#ifndef EC_BACKENDS_TEST_H
#define EC_BACKENDS_TEST_H

#include "core/backend.h"

typedef struct ec_case {
    const char *name; /* "group/case"; the words to filter by */
    int (*run)(ec_backend *backend);
} ec_case;

extern const ec_case ec_cases_ops[];
extern const ec_case ec_cases_math[];
extern const ec_case ec_cases_graph[];
extern const ec_case ec_cases_de[];
extern const ec_case ec_cases_aco[];
extern const ec_case ec_cases_solve[];
extern const ec_case ec_cases_array_pattern[];
extern const ec_case ec_cases_nufft[];
extern const ec_case ec_cases_element[];
extern const ec_case ec_cases_array_weights[];
extern const ec_case ec_cases_bvh[];
extern const ec_case ec_cases_wavefront[];
extern const ec_case ec_cases_paths[];
extern const ec_case ec_cases_small_matrix[];
extern const ec_case ec_cases_matrix[];
extern const ec_case ec_cases_mimo[];
extern const ec_case ec_cases_mimo_shared[];
extern const ec_case ec_cases_fdtd[];
extern const ec_case ec_cases_workers[];

/* Leaves a case with a message when the condition does not hold. */
#define EC_CHECK(condition, ...)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ec_case_message(__FILE__, __LINE__, #condition, __VA_ARGS__);                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* Leaves a case when a library call fails. */
#define EC_CHECK_CALL(call)                                                                        \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            ec_case_message(__FILE__, __LINE__, #call, "%s", ec_error_text());                     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

void ec_case_message(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Memory on the backend between two bands of known bytes. The content starts as 0xA5 bytes. */
typedef struct ec_guarded {
    void *base;
    void *data; /* 256-byte aligned */
    size_t bytes;
} ec_guarded;

int ec_guarded_create(ec_backend *backend, size_t bytes, ec_guarded *memory);
/* 0 when both bands are untouched; prints where they are not. */
int ec_guarded_check(ec_backend *backend, const ec_guarded *memory, const char *what);
void ec_guarded_release(ec_backend *backend, ec_guarded *memory);

/* 0 when NaNs are in the same places and max |got - want| <= limit * max |want|; prints the worst
 * place otherwise. */
int ec_compare_f64(const char *what, const double *got, const double *want, size_t n, double limit);
int ec_compare_f32(const char *what, const float *got, const float *want, size_t n, double limit);

#endif
