/* flip_moves.c: see flip_moves.h. */
#include "flip_moves.h"

#include <stdlib.h>

bool ec_flip_moves(const ec_variable *variable)
{
    return variable->n_genes > 0 && variable->kind != EC_VARIABLE_REAL &&
           variable->kind != EC_VARIABLE_SPACED;
}

int ec_flip_space_create(ec_flip_space *space, const ec_job *job)
{
    space->n_variables = 0;
    space->n_values = 0;
    space->n_genes = (size_t)job->n_genes + (size_t)job->n_group_genes;
    space->variables =
        (ec_flip_variable *)malloc(sizeof *space->variables * ((size_t)job->n_variables + 1));
    if (!space->variables)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        if (!ec_flip_moves(variable))
            continue;
        ec_flip_variable *to = &space->variables[space->n_variables++];
        to->entry = job->variables[v];
        to->value = space->n_values;
        to->gene = (size_t)variable->first_gene + (variable->group ? (size_t)job->n_genes : 0);
        space->n_values += (size_t)variable->n_genes;
    }
    return EC_OK;
}

void ec_flip_space_release(ec_flip_space *space)
{
    free(space->variables);
    space->variables = NULL;
}

/* ---- counting ---- */

static int32_t ones_of(const double *values, int32_t n)
{
    int32_t ones = 0;

    for (int32_t i = 0; i < n; i++)
        ones += values[i] == 1;
    return ones;
}

static uint64_t count_integer(const ec_job_entry *entry, const double *values, int32_t i)
{
    double lo = entry->value_min[i], hi = entry->value_max[i];
    uint64_t count = 0;

    for (double step = 1; step <= hi - lo; step *= 2)
        count += (values[i] + step <= hi) + (values[i] - step >= lo);
    return count;
}

static uint64_t count_variable(const ec_job_entry *entry, const double *values, bool swaps)
{
    int32_t n = entry->variable.n_genes, ones;
    uint64_t count = 0;

    switch (entry->variable.kind) {
    case EC_VARIABLE_BINARY:
        ones = ones_of(values, n);
        count = entry->sum < 0 ? (uint64_t)n : 0; /* find_binary expects them first */
        return swaps || entry->sum >= 0 ? count + (uint64_t)ones * (uint64_t)(n - ones) : count;
    case EC_VARIABLE_INTEGER:
        for (int32_t i = 0; i < n; i++)
            count += count_integer(entry, values, i);
        return count;
    default:
        return (uint64_t)n * (uint64_t)(entry->n_from - 1);
    }
}

uint64_t ec_flip_count(const ec_flip_space *space, const double *values, bool swaps,
                       uint64_t *count)
{
    uint64_t total = 0;

    for (int32_t v = 0; v < space->n_variables; v++) {
        const ec_flip_variable *variable = &space->variables[v];
        count[v] = count_variable(variable->entry, values + variable->value, swaps);
        total += count[v];
    }
    return total;
}

/* ---- one neighbour ---- */

/* The k-th element (from 0) that is `what`. */
static int32_t find_bit(const double *values, double what, int32_t k)
{
    int32_t i = 0;

    for (;; i++)
        if (values[i] == what && k-- == 0)
            return i;
}

static void find_binary(const ec_job_entry *entry, const double *values, uint64_t k,
                        ec_flip_move *move)
{
    int32_t n = entry->variable.n_genes;
    uint64_t single = entry->sum < 0 ? (uint64_t)n : 0;

    if (k < single) {
        move->element[0] = (int32_t)k;
        move->value[0] = 1 - values[k];
        return;
    }
    uint64_t zeros = (uint64_t)(n - ones_of(values, n));
    move->n = 2;
    move->element[0] = find_bit(values, 1, (int32_t)((k - single) / zeros));
    move->element[1] = find_bit(values, 0, (int32_t)((k - single) % zeros));
    move->value[0] = 0;
    move->value[1] = 1;
}

static void find_integer(const ec_job_entry *entry, const double *values, uint64_t k,
                         ec_flip_move *move)
{
    int32_t i = 0;

    for (uint64_t count; k >= (count = count_integer(entry, values, i)); i++)
        k -= count;
    move->element[0] = i;
    for (double step = 1;; step *= 2)
        for (int sign = 1; sign >= -1; sign -= 2) {
            double value = values[i] + sign * step;
            if (value < entry->value_min[i] || value > entry->value_max[i] || k-- > 0)
                continue;
            move->value[0] = value;
            return;
        }
}

static void find_choice(const ec_job_entry *entry, const double *values, uint64_t k,
                        ec_flip_move *move)
{
    uint64_t others = (uint64_t)entry->n_from - 1;
    int32_t i = (int32_t)(k / others), n = entry->variable.n_genes;
    double item = (double)(k % others) + 1;

    item += item >= values[i];
    move->element[0] = i;
    move->value[0] = item;
    for (int32_t j = 0; entry->distinct && j < n; j++)
        if (values[j] == item) {
            move->n = 2;
            move->element[1] = j;
            move->value[1] = values[i];
        }
}

ec_flip_move ec_flip_find(const ec_flip_space *space, const double *values, const uint64_t *count,
                          uint64_t k)
{
    ec_flip_move move = {.variable = 0, .n = 1};

    while (k >= count[move.variable])
        k -= count[move.variable++];
    const ec_flip_variable *variable = &space->variables[move.variable];
    values += variable->value;
    switch (variable->entry->variable.kind) {
    case EC_VARIABLE_BINARY:
        find_binary(variable->entry, values, k, &move);
        break;
    case EC_VARIABLE_INTEGER:
        find_integer(variable->entry, values, k, &move);
        break;
    default:
        find_choice(variable->entry, values, k, &move);
    }
    return move;
}

/* ---- values and genes ---- */

void ec_flip_apply(const ec_flip_space *space, const ec_flip_move *move, double *values,
                   double *genes)
{
    const ec_flip_variable *variable = &space->variables[move->variable];

    for (int32_t i = 0; i < move->n; i++)
        values[variable->value + (size_t)move->element[i]] = move->value[i];
    ec_job_encode_discrete(variable->entry, values + variable->value, genes + variable->gene);
}

void ec_flip_encode(const ec_flip_space *space, const double *values, double *genes)
{
    for (int32_t v = 0; v < space->n_variables; v++) {
        const ec_flip_variable *variable = &space->variables[v];
        ec_job_encode_discrete(variable->entry, values + variable->value, genes + variable->gene);
    }
}
