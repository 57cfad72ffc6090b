/* path_sequences.c: lists of sequences of interactions. */
#include "path_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int grow(void **memory, size_t *capacity, size_t wanted, size_t bytes)
{
    if (wanted <= *capacity)
        return EC_OK;
    size_t more = *capacity ? 2 * *capacity : 256;
    if (more < wanted)
        more = wanted;
    void *larger = realloc(*memory, more * bytes);
    if (!larger)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu sequences of interactions", more);
    *memory = larger;
    *capacity = more;
    return EC_OK;
}

int ec_path_builder_add(ec_path_builder *b, int32_t depth, const uint32_t *step)
{
    int status = grow((void **)&b->first, &b->capacity, b->n + 2, sizeof *b->first);

    if (status == EC_OK)
        status = grow((void **)&b->step, &b->steps_capacity, b->n_steps + (size_t)depth + 1,
                      sizeof *b->step);
    if (status != EC_OK)
        return status;
    if (depth > 0)
        memcpy(b->step + b->n_steps, step, (size_t)depth * sizeof *step);
    b->first[b->n++] = b->n_steps;
    b->n_steps += (size_t)depth;
    b->first[b->n] = b->n_steps;
    return EC_OK;
}

void ec_path_builder_free(ec_path_builder *b)
{
    free(b->first);
    free(b->step);
    memset(b, 0, sizeof *b);
}

int ec_path_builder_finish(ec_path_builder *b, int32_t depth, bool discovered, bool nodes_cut,
                           ec_path_sequences **sequences)
{
    ec_path_sequences *s = calloc(1, sizeof *s);

    if (!s)
        return ec_fail(EC_ERR_MEMORY, "no memory for sequences of interactions");
    *s = (ec_path_sequences){b->n, b->first, b->step, depth, discovered, nodes_cut};
    memset(b, 0, sizeof *b);
    *sequences = s;
    return EC_OK;
}

void ec_path_sequences_destroy(ec_path_sequences **sequences)
{
    if (!sequences || !*sequences)
        return;
    free((*sequences)->first);
    free((*sequences)->step);
    free(*sequences);
    *sequences = NULL;
}

void ec_path_sequences_describe(const ec_path_plan *plan, const ec_path_sequences *s, char *text,
                                size_t size)
{
    int32_t depth = plan->options.depth;
    int n = snprintf(text, size, "%zu sequences of up to %d interactions%s", s->n, (int)s->depth,
                     s->discovered ? ", met by rays" : "");

    if (s->depth < depth && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n,
                      "; depth %d and what is deeper, to %d, is cut: it has more than the limit of "
                      "%zu sequences, or of %.3g tests, allows",
                      (int)s->depth + 1, (int)depth, plan->options.sequences_max,
                      plan->options.tests_max);
    if (s->nodes_cut && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "; those with more than %d wedges and curved surfaces are cut", EC_PATH_NODES_MAX);
}
