/* mimo_antennas.c: antennas of an end, alike or each its own. */
#include "mimo_antennas_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_given(const double v[3])
{
    return v[0] != 0 || v[1] != 0 || v[2] != 0;
}

static bool is_same(const ec_mimo_antenna *a, const ec_mimo_antenna *b)
{
    return a->kind == b->kind && a->table == b->table && a->q == b->q &&
           memcmp(a->axis, b->axis, sizeof a->axis) == 0 && memcmp(a->up, b->up, sizeof a->up) == 0;
}

static int frame_of(const char *name, int32_t i, const ec_mimo_antenna *from,
                    ec_element_frame *frame)
{
    if (!is_given(from->up))
        return ec_element_frame_of(from->axis, 0, frame);
    if (ec_element_frame_along(from->axis, from->up, frame))
        return EC_OK;
    return ec_fail(EC_ERR_ARGUMENT,
                   "%s: antenna %d has up = (%.6g, %.6g, %.6g) along its axis (%.6g, %.6g, %.6g), "
                   "or one of them has no length; they have to be two directions",
                   name, (int)i + 1, from->up[0], from->up[1], from->up[2], from->axis[0],
                   from->axis[1], from->axis[2]);
}

/* like: made of the same table, whose gain is known then; or NULL. */
static int antenna_of(const char *name, int32_t i, const ec_mimo_antenna *from,
                      const ec_antenna *like, ec_antenna *antenna)
{
    bool has_frame = from->kind == EC_ELEMENT_KIND_COSQ ||
                     from->kind == EC_ELEMENT_KIND_HEMISPHERIC ||
                     from->kind == EC_ELEMENT_KIND_TABLE;
    ec_element_frame frame;

    if (!has_frame && is_given(from->up))
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s: antenna %d is the same all around its axis; it has no up", name,
                       (int)i + 1);
    if (!has_frame)
        return ec_antenna_init(from->kind, from->q, from->axis, NULL, antenna);
    int status = frame_of(name, i, from, &frame);
    if (status < 0)
        return status;
    if (from->kind != EC_ELEMENT_KIND_TABLE)
        return ec_antenna_init(from->kind, from->q, NULL, &frame, antenna);
    if (!from->table || from->table->kind != EC_ELEMENT_KIND_TABLE)
        return ec_fail(EC_ERR_ARGUMENT, "%s: antenna %d has no table", name, (int)i + 1);
    if (!like)
        return ec_antenna_init_table(from->table, &frame, antenna);
    *antenna = *like;
    antenna->frame = frame;
    return EC_OK;
}

int ec_mimo_antennas_create(const char *name, const ec_mimo_end *end, ec_mimo_antennas *antennas)
{
    const ec_mimo_antenna *each = end->each ? end->each : &end->antenna;
    int32_t count = end->each ? end->count : 1;
    int32_t *which = malloc((size_t)count * sizeof *which);
    int32_t *first = malloc((size_t)count * sizeof *first); /* of each different one */
    int32_t n = 0;

    *antennas = (ec_mimo_antennas){0};
    for (int32_t i = 0; i < count && which && first; i++) {
        which[i] = 0;
        while (which[i] < n && !is_same(&each[first[which[i]]], &each[i]))
            which[i]++;
        if (which[i] == n)
            first[n++] = i;
    }
    ec_antenna *made = which && first ? malloc((size_t)n * sizeof *made) : NULL;
    int status = made ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for antennas of %s", name);
    for (int32_t k = 0; k < n && status >= 0; k++) {
        const ec_mimo_antenna *from = &each[first[k]];
        int32_t j = from->kind == EC_ELEMENT_KIND_TABLE ? 0 : k;
        while (j < k && each[first[j]].table != from->table)
            j++;
        status = antenna_of(name, first[k], from, j < k ? &made[j] : NULL, &made[k]);
    }
    free(first);
    if (status < 0) {
        free(made);
        free(which);
        return status;
    }
    if (n == 1) {
        free(which);
        which = NULL;
    }
    *antennas = (ec_mimo_antennas){.n = n, .antenna = made, .which = which};
    return EC_OK;
}

void ec_mimo_antennas_free(ec_mimo_antennas *antennas)
{
    free(antennas->antenna);
    free(antennas->which);
    *antennas = (ec_mimo_antennas){0};
}

const ec_antenna *ec_mimo_antennas_get(const ec_mimo_antennas *antennas, int32_t i)
{
    return &antennas->antenna[antennas->which ? antennas->which[i] : 0];
}

void ec_mimo_antennas_hash(const ec_mimo_antennas *antennas, int32_t count, ec_hash *hash)
{
    for (int32_t i = 0; i < antennas->n; i++) {
        const ec_antenna *a = &antennas->antenna[i];
        ec_hash_bytes(hash, &a->pattern.kind, sizeof a->pattern.kind);
        ec_hash_bytes(hash, &a->frame, sizeof a->frame);
        if (a->pattern.kind == EC_ELEMENT_KIND_TABLE) {
            ec_hash_bytes(hash, &a->pattern.grid, sizeof a->pattern.grid);
            ec_hash_bytes(hash, a->pattern.node_f64,
                          ec_element_table_length(&a->pattern) * sizeof *a->pattern.node_f64);
        } else {
            ec_hash_bytes(hash, &a->pattern.q, sizeof a->pattern.q);
            ec_hash_bytes(hash, a->pattern.axis, sizeof a->pattern.axis);
        }
    }
    if (antennas->which)
        ec_hash_bytes(hash, antennas->which, (size_t)count * sizeof *antennas->which);
}
