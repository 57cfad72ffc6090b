/* method_state.h: the saved state of a method: a head, by which the state of something else is told
 * and refused, then the state byte for byte. The head has the method, the version of its layout, the
 * seed, and the figures that the layout and the course of the search depend on.
 */
#ifndef EC_METHOD_STATE_H
#define EC_METHOD_STATE_H

#include "optimizer.h"

EC_C_BEGIN

enum { EC_METHOD_FIGURES_MAX = 16 };

typedef struct ec_method_figure {
    const char *name; /* "variables": as messages say it */
    double value;
} ec_method_figure;

/* What has to agree before a state fits. */
typedef struct ec_method_state {
    const ec_optimizer_def *def;
    uint32_t version; /* of the method's layout */
    uint32_t island;
    uint64_t seed;
    uint64_t content; /* hash of tables that have to agree; 0: there are none */
    size_t bytes;     /* of the state; 0: any number, the method checks it */
    size_t n;
    ec_method_figure figure[EC_METHOD_FIGURES_MAX];
} ec_method_state;

/* The same figures in the same order for each version of a method, EC_METHOD_FIGURES_MAX at most. */
void ec_method_state_add(ec_method_state *state, const char *name, double value);
/* Head and `size` bytes `from` the backend's memory (NULL: from the host's) as a malloc'ed blob. */
int ec_method_state_save(const ec_method_state *state, ec_backend *backend, const void *from,
                         size_t size, void **blob, size_t *bytes);
/* ERR_FORMAT with the reason when the blob does not fit; else points at its `size` bytes of state. */
int ec_method_state_open(const ec_method_state *state, const void *blob, size_t bytes,
                         const char **at, size_t *size);

EC_C_END
#endif
