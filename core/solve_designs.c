/* solve_designs.c: the order of designs, and lists of the best. */
#include "solve_internal.h"

#include <stdlib.h>
#include <string.h>

int ec_score_class(const ec_score *s)
{
    if (s->status || !isfinite(s->cost) || !isfinite(s->violation))
        return 2;
    return s->violation > 0 ? 1 : 0;
}

bool ec_score_better(const ec_score *a, const ec_score *b)
{
    int class_a = ec_score_class(a), class_b = ec_score_class(b);

    if (class_a != class_b)
        return class_a < class_b;
    if (class_a == 1 && a->violation != b->violation)
        return a->violation < b->violation;
    return class_a < 2 && a->cost < b->cost;
}

int ec_design_list_create(ec_design_list *list, size_t capacity, size_t width, double apart)
{
    memset(list, 0, sizeof *list);
    list->genes = (double *)malloc(sizeof(double) * (capacity + 1) * (width ? width : 1));
    list->scores = (ec_score *)malloc(sizeof(ec_score) * (capacity + 1));
    list->capacity = capacity;
    list->width = width;
    list->apart = apart;
    return list->genes && list->scores ? EC_OK
                                       : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");
}

void ec_design_list_release(ec_design_list *list)
{
    free(list->genes);
    free(list->scores);
    memset(list, 0, sizeof *list);
}

static bool same_design(const ec_solve_run *run, const ec_design_list *list, const double *a,
                        const double *b)
{
    for (size_t i = 0; i < list->width; i++) {
        double range = run->max[i] - run->min[i];
        if (fabs(a[i] - b[i]) > list->apart * range)
            return false;
    }
    return true;
}

void ec_design_list_add(const ec_solve_run *run, ec_design_list *list, const double *genes,
                        const ec_score *s)
{
    size_t width = list->width, place = list->n;

    /* One that is better and as good as the same design keeps this one out ... */
    for (size_t i = 0; i < list->n; i++)
        if (!ec_score_better(s, &list->scores[i]) &&
            same_design(run, list, genes, list->genes + i * width))
            return;
    /* ... and this one replaces those that are worse and the same. */
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (same_design(run, list, genes, list->genes + i * width))
            continue;
        memmove(list->genes + kept * width, list->genes + i * width, width * sizeof(double));
        list->scores[kept++] = list->scores[i];
    }
    list->n = kept;
    for (place = list->n; place > 0 && ec_score_better(s, &list->scores[place - 1]); place--) {
    }
    if (place == list->capacity)
        return;
    size_t behind = list->n - place;
    memmove(list->genes + (place + 1) * width, list->genes + place * width,
            behind * width * sizeof(double));
    memmove(list->scores + place + 1, list->scores + place, behind * sizeof *list->scores);
    memcpy(list->genes + place * width, genes, width * sizeof(double));
    list->scores[place] = *s;
    list->n = list->n < list->capacity ? list->n + 1 : list->capacity;
}

int ec_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void ec_design_sort_spaced(const ec_job *job, double *genes)
{
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        size_t at = (size_t)variable->first_gene + (variable->group ? (size_t)job->n_genes : 0);
        if (variable->kind == EC_VARIABLE_SPACED && variable->n_genes > 1)
            qsort(genes + at, (size_t)variable->n_genes, sizeof *genes, ec_compare_doubles);
    }
}
