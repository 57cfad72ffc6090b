/* pareto.c: see pareto.h. */
#include "pareto.h"

#include "detmath.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD = 64,          /* designs of a word of a bit set */
    PREFIXES_MAX = 512, /* beginnings of an objective's order that are kept as bit sets */
    BLOCK = 16 * WORD,  /* designs whose ranks are looked for side by side */
    PARALLEL_MIN = 2000 /* below so many designs one thread is faster */
};

static const uint32_t no_place = UINT32_MAX;

typedef struct entry {
    uint64_t key;
    uint32_t design;
} entry;

/* Those members of a front whose places are in one word. */
typedef struct members {
    uint64_t bits;
    uint32_t word;
    int32_t older; /* the next smaller word's, -1: none */
} members;

struct ec_pareto {
    size_t capacity;
    int32_t n_costs;
    int threads;
    entry *entries, *spare;
    uint32_t *order; /* [n_costs] designs from small to large in cost k, equal ones by cost k + 1 */
    uint32_t *place; /* of a design in the lexicographic order of those that are no copies */
    /* by place, for the costs 1, 2, ...: own place in that cost's order, and how many in it are not
     * above this one */
    uint32_t *own, *until;
    uint64_t *prefix; /* bit sets over places: the first j * spacing of a cost's order */
    int32_t *front;   /* by place */
    int32_t *newest;  /* of a front: the last of its members' words */
    members *members;
    int32_t n_fronts, n_members;
    double *ends; /* 4 a front: values of the last two designs, and the front's range */
};

/* ---- memory ---- */

/* Sizes of the bit sets for n designs. */
typedef struct sets {
    size_t words, spacing, count; /* of a set; designs between two sets; sets of a cost */
} sets;

static sets sets_of(size_t n)
{
    sets s;

    s.words = (n + WORD - 1) / WORD;
    s.spacing = WORD * ((s.words + PREFIXES_MAX - 1) / PREFIXES_MAX);
    s.count = s.spacing ? (n + s.spacing - 1) / s.spacing : 0;
    return s;
}

int ec_pareto_create(size_t capacity, int32_t n_costs, int threads, ec_pareto **pareto)
{
    ec_pareto *p = (ec_pareto *)calloc(1, sizeof *p);
    size_t n = capacity + 1, costs = (size_t)n_costs;
    sets s = sets_of(n);

    if (!p)
        return ec_fail(EC_ERR_MEMORY, "no memory for the order of %zu designs", capacity);
    p->capacity = capacity;
    p->n_costs = n_costs;
    p->threads = threads;
    p->entries = (entry *)malloc(n * sizeof *p->entries);
    p->spare = (entry *)malloc(n * sizeof *p->spare);
    p->order = (uint32_t *)malloc(costs * n * sizeof *p->order);
    p->place = (uint32_t *)malloc(n * sizeof *p->place);
    p->own = (uint32_t *)malloc(costs * n * sizeof *p->own);
    p->until = (uint32_t *)malloc(costs * n * sizeof *p->until);
    p->prefix = (uint64_t *)malloc(costs * s.count * s.words * sizeof *p->prefix);
    p->front = (int32_t *)malloc(n * sizeof *p->front);
    p->newest = (int32_t *)malloc(n * sizeof *p->newest);
    p->members = (members *)malloc(n * sizeof *p->members);
    p->ends = (double *)malloc(4 * n * sizeof *p->ends);
    if (!p->entries || !p->spare || !p->order || !p->place || !p->own || !p->until || !p->prefix ||
        !p->front || !p->newest || !p->members || !p->ends) {
        ec_pareto_destroy(&p);
        return ec_fail(EC_ERR_MEMORY, "no memory for the order of %zu designs", capacity);
    }
    *pareto = p;
    return EC_OK;
}

void ec_pareto_destroy(ec_pareto **handle)
{
    ec_pareto *p = handle ? *handle : NULL;

    if (!p)
        return;
    free(p->entries);
    free(p->spare);
    free(p->order);
    free(p->place);
    free(p->own);
    free(p->until);
    free(p->prefix);
    free(p->front);
    free(p->newest);
    free(p->members);
    free(p->ends);
    free(p);
    *handle = NULL;
}

/* ---- sorting ---- */

/* Unsigned integers in the order of the numbers; -0 and 0 are the same. */
static uint64_t key_of(double x)
{
    uint64_t bits = ec_det_bits(x + 0.0);

    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Sorts p->entries by key; equal ones keep their order. A byte that is the same in all is skipped. */
static void sort_entries(ec_pareto *p, size_t n)
{
    size_t count[8][256];

    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 8; b++)
            count[b][p->entries[i].key >> 8 * b & 255]++;
    for (int b = 0; b < 8; b++) {
        size_t at = 0;
        if (n == 0 || count[b][p->entries[0].key >> 8 * b & 255] == n)
            continue;
        for (int v = 0; v < 256; v++) {
            size_t of_value = count[b][v];
            count[b][v] = at;
            at += of_value;
        }
        for (size_t i = 0; i < n; i++)
            p->spare[count[b][p->entries[i].key >> 8 * b & 255]++] = p->entries[i];
        entry *sorted = p->spare;
        p->spare = p->entries;
        p->entries = sorted;
    }
}

/* 0 feasible, 1 infeasible, 2 failed. */
static int class_of(const ec_pareto *p, const ec_pareto_scores *s, size_t i)
{
    if ((s->status && s->status[i]) || (s->violation && !isfinite(s->violation[i])))
        return 2;
    for (int32_t k = 0; k < p->n_costs; k++)
        if (!isfinite(s->cost[(size_t)k * s->ld + i]))
            return 2;
    return s->violation && s->violation[i] > 0 ? 1 : 0;
}

static bool same_costs(const ec_pareto *p, const ec_pareto_scores *s, size_t a, size_t b)
{
    for (int32_t k = 0; k < p->n_costs; k++)
        if (s->cost[(size_t)k * s->ld + a] != s->cost[(size_t)k * s->ld + b])
            return false;
    return true;
}

/* Puts the entries (feasible designs in the order of their indices) into the orders of the costs, and
 * returns how many there are without the copies. */
static size_t sort_costs(ec_pareto *p, const ec_pareto_scores *s, size_t n)
{
    size_t unique = 0;

    for (int32_t k = p->n_costs - 1; k >= 0; k--) {
        uint32_t *order = p->order + (size_t)k * p->capacity;
        const double *cost = s->cost + (size_t)k * s->ld;
        for (size_t i = 0; i < n; i++)
            p->entries[i].key = key_of(cost[p->entries[i].design]);
        sort_entries(p, n);
        for (size_t i = 0; i < n; i++)
            order[i] = p->entries[i].design;
    }
    for (size_t i = 0; i < n; i++) {
        bool copy = i > 0 && same_costs(p, s, p->order[i - 1], p->order[i]);
        p->place[p->order[i]] = copy ? no_place : (uint32_t)unique;
        unique += copy ? 0 : 1;
    }
    return unique;
}

/* ---- fronts ---- */

/* own, until and the bit sets of cost k. */
static void place_cost(ec_pareto *p, const ec_pareto_scores *s, size_t k, size_t n, size_t unique)
{
    const uint32_t *order = p->order + k * p->capacity;
    const double *cost = s->cost + k * s->ld;
    uint32_t *own = p->own + k * p->capacity, *until = p->until + k * p->capacity;
    sets size = sets_of(unique);
    uint64_t *set = p->prefix + k * size.count * size.words;
    size_t j = 0;

    memset(set, 0, size.words * sizeof *set);
    for (size_t i = 0; i < n; i++) {
        uint32_t place = p->place[order[i]];
        if (place == no_place)
            continue;
        if (j > 0 && j % size.spacing == 0) {
            memcpy(set + size.words, set, size.words * sizeof *set);
            set += size.words;
        }
        set[place / WORD] |= (uint64_t)1 << place % WORD;
        own[place] = (uint32_t)j++;
    }
    uint32_t end = (uint32_t)unique;
    double value = NAN;
    for (size_t i = n; i-- > 0;) {
        uint32_t place = p->place[order[i]];
        if (place == no_place)
            continue;
        if (cost[order[i]] != value)
            end = own[place] + 1;
        value = cost[order[i]];
        until[place] = end;
    }
}

/* Whether a member of a front in the words from `first` on dominates the design at place i. */
static bool is_dominated(const ec_pareto *p, const uint64_t *const *set, size_t i, int32_t front,
                         size_t first)
{
    for (int32_t e = p->newest[front]; e >= 0 && p->members[e].word >= first;
         e = p->members[e].older) {
        uint64_t bits = p->members[e].bits;
        for (int32_t k = 1; k < p->n_costs; k++)
            bits &= set[k][p->members[e].word];
        for (; bits; bits &= bits - 1) {
            size_t q = (size_t)p->members[e].word * WORD + (size_t)__builtin_ctzll(bits);
            bool dominates = true;
            /* the sets end at a multiple of their spacing */
            for (size_t k = 1; k < (size_t)p->n_costs && dominates; k++)
                dominates = p->own[k * p->capacity + q] < p->until[k * p->capacity + i];
            if (dominates)
                return true;
        }
    }
    return false;
}

/* The first front from `low` on without a member in the words from `first` on that dominates the
 * design at place i: whom a front dominates, those before it do too. */
static int32_t find_front(const ec_pareto *p, const sets *size, size_t i, int32_t low, size_t first)
{
    const uint64_t *set[EC_OBJECTIVES_MAX];
    int32_t high = p->n_fronts;

    for (size_t k = 1; k < (size_t)p->n_costs; k++) {
        size_t until = p->until[k * p->capacity + i];
        set[k] = p->prefix + (k * size->count + (until - 1) / size->spacing) * size->words;
    }
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (is_dominated(p, set, i, middle, first))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void join_front(ec_pareto *p, size_t i, int32_t front)
{
    uint32_t word = (uint32_t)(i / WORD);

    if (front == p->n_fronts)
        p->newest[p->n_fronts++] = -1;
    int32_t newest = p->newest[front];
    if (newest < 0 || p->members[newest].word != word) {
        p->members[p->n_members] = (members){0, word, newest};
        p->newest[front] = newest = p->n_members++;
    }
    p->members[newest].bits |= (uint64_t)1 << i % WORD;
    p->front[i] = front;
}

/* Fronts of the designs at the places 0 .. unique - 1. Whoever dominates a design lies before it;
 * blocks before it are finished, so a block's designs can be compared with them side by side. */
static void find_fronts(ec_pareto *p, size_t unique)
{
    sets size = sets_of(unique);

    p->n_fronts = p->n_members = 0;
    for (size_t first = 0; first < unique; first += BLOCK) {
        size_t end = first + BLOCK < unique ? first + BLOCK : unique;
#pragma omp parallel for schedule(dynamic, 64)                                                     \
    num_threads(p->threads) if (p->threads > 1 && first >= PARALLEL_MIN)
        for (size_t i = first; i < end; i++)
            p->front[i] = find_front(p, &size, i, 0, 0);
        for (size_t i = first; i < end; i++)
            join_front(p, i, find_front(p, &size, i, p->front[i], first / WORD));
    }
}

/* The same for one or two costs: of those before it a front's smallest second cost decides. */
static void sweep_fronts(ec_pareto *p, const ec_pareto_scores *s, size_t n)
{
    double *least = p->ends;

    p->n_fronts = 0;
    for (size_t i = 0; i < n; i++) {
        size_t design = p->order[i];
        double second = p->n_costs > 1 ? s->cost[s->ld + design] : 0;
        int32_t low = 0, high = p->n_fronts;
        if (p->place[design] == no_place)
            continue;
        while (low < high) {
            int32_t middle = low + (high - low) / 2;
            if (least[middle] <= second)
                low = middle + 1;
            else
                high = middle;
        }
        p->n_fronts += low == p->n_fronts ? 1 : 0;
        least[low] = second;
        p->front[p->place[design]] = low;
    }
}

/* Ranks of the infeasible and failed designs from `rank` on. */
static void rank_others(ec_pareto *p, const ec_pareto_scores *s, size_t n, uint32_t first,
                        uint32_t *rank)
{
    size_t infeasible = 0;

    for (size_t i = 0; i < n; i++)
        if (class_of(p, s, i) == 1) {
            p->entries[infeasible].key = key_of(s->violation[i]);
            p->entries[infeasible++].design = (uint32_t)i;
        }
    sort_entries(p, infeasible);
    for (size_t i = 0; i < infeasible; i++) {
        first += i > 0 && p->entries[i].key != p->entries[i - 1].key ? 1 : 0;
        rank[p->entries[i].design] = first;
    }
    first += infeasible > 0 ? 1 : 0;
    for (size_t i = 0; i < n; i++)
        if (class_of(p, s, i) == 2)
            rank[i] = first;
}

/* ---- crowding ---- */

/* Adds what cost k contributes; visits the designs in the order of the cost and remembers of each
 * front the last two. */
static void add_crowding(ec_pareto *p, const ec_pareto_scores *s, size_t k, size_t n,
                         uint32_t fronts, const uint32_t *rank, double *crowding)
{
    const uint32_t *order = p->order + k * p->capacity;
    const double *cost = s->cost + k * s->ld;
    uint32_t *last = p->own; /* free by now */
    double *least = p->ends, *most = p->ends + p->capacity;
    double *before = p->ends + 2 * p->capacity;

    for (uint32_t f = 0; f < fronts; f++)
        last[f] = no_place;
    for (size_t i = 0; i < n; i++) {
        uint32_t f = rank[order[i]];
        if (p->place[order[i]] == no_place)
            continue;
        least[f] = last[f] == no_place ? cost[order[i]] : least[f];
        most[f] = cost[order[i]];
        last[f] = order[i];
    }
    for (uint32_t f = 0; f < fronts; f++)
        last[f] = no_place;
    for (size_t i = 0; i < n; i++) {
        uint32_t design = order[i], f = rank[design];
        if (p->place[design] == no_place || !(least[f] < most[f]))
            continue;
        /* halves: a difference of finite costs may be infinite */
        if (last[f] == no_place)
            crowding[design] = INFINITY;
        else if (crowding[last[f]] < INFINITY)
            crowding[last[f]] +=
                (0.5 * cost[design] - 0.5 * before[f]) / (0.5 * most[f] - 0.5 * least[f]);
        before[f] = last[f] == no_place ? cost[design] : cost[last[f]];
        last[f] = design;
    }
    for (uint32_t f = 0; f < fronts; f++)
        if (last[f] != no_place)
            crowding[last[f]] = INFINITY;
}

/* ---- entries ---- */

void ec_pareto_rank(ec_pareto *p, const ec_pareto_scores *s, size_t n, uint32_t *rank,
                    double *crowding)
{
    size_t feasible = 0;

    for (size_t i = 0; i < n; i++)
        if (class_of(p, s, i) == 0)
            p->entries[feasible++].design = (uint32_t)i;
    size_t unique = sort_costs(p, s, feasible);
    for (size_t k = 1; k < (size_t)p->n_costs && p->n_costs > 2 && unique > 0; k++)
        place_cost(p, s, k, feasible, unique);
    if (p->n_costs > 2)
        find_fronts(p, unique);
    else
        sweep_fronts(p, s, feasible);
    uint32_t fronts = (uint32_t)p->n_fronts;
    for (size_t i = 0; i < feasible; i++) {
        uint32_t design = p->order[i], place = p->place[design];
        rank[design] = place == no_place ? fronts : (uint32_t)p->front[place];
    }
    rank_others(p, s, n, fronts + (unique < feasible ? 1 : 0), rank);
    if (!crowding)
        return;
    memset(crowding, 0, n * sizeof *crowding);
    for (size_t k = 0; k < (size_t)p->n_costs; k++)
        add_crowding(p, s, k, feasible, fronts, rank, crowding);
}

void ec_pareto_order(ec_pareto *p, const uint32_t *rank, const double *crowding, size_t n,
                     uint32_t *order)
{
    for (size_t i = 0; i < n; i++) {
        p->entries[i].key = ~key_of(crowding[i]);
        p->entries[i].design = (uint32_t)i;
    }
    sort_entries(p, n);
    for (size_t i = 0; i < n; i++)
        p->entries[i].key = rank[p->entries[i].design];
    sort_entries(p, n);
    for (size_t i = 0; i < n; i++)
        order[i] = p->entries[i].design;
}
