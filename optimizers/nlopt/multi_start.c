/* multi_start.c: see multi_start.h. */
#include "multi_start.h"
#include "optimizers/method_info.h"

#include "../../core/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PURPOSE_START = 0x4d53 }; /* Philox purpose of starts */
static const double apart = 1e-3;
enum { FEW_A_VARIABLE = 10 }; /* evaluations of a search that has not come far */

/* ---- create ---- */

static void list_moving(ec_multi_start *m, const ec_optimizer_info *info)
{
    for (size_t i = 0; i < info->n_genes; i++) {
        m->base[i] = info->genes[i].min;
        if (info->genes[i].min < info->genes[i].max) {
            m->gene[m->n] = (uint32_t)i;
            m->low[m->n] = info->genes[i].min;
            m->high[m->n] = info->genes[i].max;
            m->range[m->n++] = info->genes[i].max - info->genes[i].min;
        }
    }
}

/* Start designs in the box; what is no number starts in the middle. */
static void list_starts(ec_multi_start *m, const ec_optimizer_info *info)
{
    m->n_start = info->start ? info->n_start : 0;
    for (size_t r = 0; r < m->n_start; r++)
        for (size_t i = 0; i < m->n; i++) {
            double y = (info->start[r * info->n_genes + m->gene[i]] - m->low[i]) / m->range[i];
            m->start[r * m->n + i] = isnan(y) ? 0.5 : fmin(fmax(y, 0), 1);
        }
}

int ec_multi_start_create(ec_multi_start *m, const ec_optimizer_def *def, ec_backend *backend,
                          const ec_optimizer_info *info, size_t population)
{
    size_t genes = info->n_genes, rows = info->start ? info->n_start : 0;

    memset(m, 0, sizeof *m);
    int status = ec_method_check(def, info, SIZE_MAX);
    if (status == EC_OK)
        status = ec_host_population_create(&m->designs, backend, info, population);
    if (status != EC_OK)
        return status;
    m->gene = (uint32_t *)malloc(sizeof *m->gene * genes);
    m->low = (double *)malloc(sizeof(double) * genes);
    m->high = (double *)malloc(sizeof(double) * genes);
    m->range = (double *)malloc(sizeof(double) * genes);
    m->base = (double *)malloc(sizeof(double) * genes);
    m->start = (double *)malloc(sizeof(double) * (rows * genes + 1));
    m->elite = (double *)malloc(sizeof(double) * EC_MULTI_START_ELITE * genes);
    m->y = (double *)calloc(m->designs.ld * genes, sizeof(double));
    if (!m->gene || !m->low || !m->high || !m->range || !m->base || !m->start || !m->elite || !m->y)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu variables", def->name, genes);
    list_moving(m, info);
    list_starts(m, info);
    m->n_limits = info->n_limits;
    m->seed = info->seed;
    m->island = info->island;
    m->worst = -INFINITY;
    m->best = INFINITY;
    return EC_OK;
}

void ec_multi_start_release(ec_multi_start *m)
{
    ec_host_population_release(&m->designs);
    free(m->gene);
    free(m->low);
    free(m->high);
    free(m->range);
    free(m->base);
    free(m->start);
    free(m->elite);
    free(m->y);
    memset(m, 0, sizeof *m);
}

void ec_multi_start_say_integers(const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    bool integers = false;

    for (size_t i = 0; i < info->n_genes; i++)
        integers = integers || (info->genes[i].integral && info->genes[i].min < info->genes[i].max);
    if (integers)
        ec_log_write(info->log, EC_LOG_WARNING,
                     "%s moves along gradients: integer, binary and choice variables stay where a "
                     "search starts",
                     def->name);
}

void ec_multi_start_say_ends(const ec_multi_start *m, const ec_optimizer_def *def, ec_log *log,
                             const char *noun, uint64_t started, size_t n, const uint64_t *ends,
                             const char *const *texts)
{
    char text[512] = "";
    size_t used = 0;
    uint64_t ended = 0;

    for (size_t i = 0; i < n && used < sizeof text; i++) {
        ended += ends[i];
        if (ends[i] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", %" PRIu64 " %s", ends[i],
                                     texts[i]);
    }
    if (started > ended && used < sizeof text)
        snprintf(text + used, sizeof text - used, ", %" PRIu64 " not finished", started - ended);
    if (started > 0)
        ec_log_write(log, EC_LOG_INFO, "%s: %" PRIu64 " %s: %s", def->name, started, noun,
                     text + 2);
    /* a shared budget that is too small for all of them may do for one */
    const uint64_t all = m->designs.stats.evaluations;
    if (started > 1 && ended == 0 && all > 0 && all / started < FEW_A_VARIABLE * m->n)
        ec_log_write(log, EC_LOG_INFO,
                     "%s: %" PRIu64 " evaluations are few for %" PRIu64
                     " %s side by side: with population = 1 one has them all",
                     def->name, all, started, noun);
}

void ec_multi_start_say_slopes(const ec_multi_start *m, const ec_optimizer_def *def, ec_log *log)
{
    if (m->bad_slopes > 0)
        ec_log_write(log, EC_LOG_WARNING,
                     "%s: slopes of %" PRIu64 " designs were no finite numbers and count as 0",
                     def->name, m->bad_slopes);
}

/* ---- designs ---- */

void ec_multi_start_point(const ec_multi_start *m, uint64_t number, double *y)
{
    if (number < m->n_start) {
        memcpy(y, m->start + number * m->n, sizeof *y * m->n);
        return;
    }
    ec_random_stream stream =
        ec_random_make(m->seed, (uint32_t)(number >> 32), PURPOSE_START, m->island);
    uint32_t words[4];
    for (size_t i = 0; i < m->n; i++) {
        if (i % 4 == 0)
            ec_random_words(&stream, (uint32_t)(i / 4), (uint32_t)number, words);
        y[i] = ec_uniform(words[i % 4]);
    }
}

/* Gene i of those that move at y: never outside its bounds by rounding. */
static double gene_at(const ec_multi_start *m, size_t i, double y)
{
    double x = m->low[i] + m->range[i] * y;

    return x < m->low[i] ? m->low[i] : x > m->high[i] ? m->high[i] : x;
}

void ec_multi_start_set(ec_multi_start *m, size_t c, const double *y)
{
    ec_host_population *p = &m->designs;

    for (size_t g = 0; g < p->genes; g++)
        p->X[g * p->ld + c] = m->base[g];
    for (size_t i = 0; i < m->n; i++) {
        p->X[m->gene[i] * p->ld + c] = gene_at(m, i, y[i]);
        m->y[i * p->ld + c] = y[i];
    }
}

/* ---- the best designs ---- */

static bool precedes(double violation_a, double cost_a, double violation_b, double cost_b)
{
    return violation_a != violation_b ? violation_a < violation_b : cost_a < cost_b;
}

/* Place of an elite design near candidate c, or n_elite. */
static size_t near(const ec_multi_start *m, size_t c)
{
    const double *y = m->y + c;
    size_t ld = m->designs.ld;

    for (size_t k = 0; k < m->n_elite; k++) {
        const double *row = m->elite + m->order[k] * m->n;
        size_t i = 0;
        while (i < m->n && fabs(row[i] - y[i * ld]) <= apart)
            i++;
        if (i == m->n)
            return k;
    }
    return m->n_elite;
}

static void add_elite(ec_multi_start *m, size_t c, double violation, double cost)
{
    uint32_t place = m->n_elite < EC_MULTI_START_ELITE ? (uint32_t)m->n_elite
                                                       : m->order[EC_MULTI_START_ELITE - 1];
    size_t at = m->n_elite < EC_MULTI_START_ELITE ? m->n_elite : EC_MULTI_START_ELITE - 1;

    if (m->n_elite == EC_MULTI_START_ELITE &&
        !precedes(violation, cost, m->elite_violation[place], m->elite_cost[place]))
        return;
    size_t same = near(m, c);
    if (same < m->n_elite) {
        place = m->order[same];
        at = same;
        if (!precedes(violation, cost, m->elite_violation[place], m->elite_cost[place]))
            return;
    } else if (m->n_elite < EC_MULTI_START_ELITE) {
        m->n_elite++;
    }
    for (; at > 0; at--) {
        uint32_t before = m->order[at - 1];
        if (!precedes(violation, cost, m->elite_violation[before], m->elite_cost[before]))
            break;
        m->order[at] = before;
    }
    m->order[at] = place;
    m->elite_violation[place] = violation;
    m->elite_cost[place] = cost;
    for (size_t i = 0; i < m->n; i++)
        m->elite[place * m->n + i] = m->y[i * m->designs.ld + c];
}

int ec_multi_start_elite(const ec_multi_start *m, size_t k, double *X, double *cost,
                         double *violation, uint8_t *status, size_t *found)
{
    const ec_host_population *p = &m->designs;
    size_t n = 0;

    for (; n < m->n_elite && n < k; n++) {
        uint32_t place = m->order[n];
        if (cost)
            cost[n] = m->elite_cost[place];
        if (violation)
            violation[n] = m->elite_violation[place];
        if (status)
            status[n] = 0;
        if (!X)
            continue;
        memcpy(X + n * p->genes, m->base, sizeof(double) * p->genes);
        for (size_t i = 0; i < m->n; i++)
            X[n * p->genes + m->gene[i]] = gene_at(m, i, m->elite[place * m->n + i]);
    }
    for (size_t c = 0; m->n_elite == 0 && c < m->taken && n < k; c++) {
        if (ec_host_population_class(p, c) < 2)
            continue;
        if (cost)
            cost[n] = p->cost[c];
        if (violation)
            violation[n] = p->violation ? p->violation[c] : 0;
        if (status)
            status[n] = p->status[c] ? p->status[c] : EC_CANDIDATE_NOT_FINITE;
        for (size_t g = 0; X && g < p->genes; g++)
            X[n * p->genes + g] = p->X[g * p->ld + c];
        n++;
    }
    *found = n;
    return EC_OK;
}

/* ---- scores ---- */

static double spread_of(const ec_multi_start *m, size_t n)
{
    double spread = 0;

    if (n < 2) /* one search alone has not come together */
        return 1;
    for (size_t i = 0; i < m->n; i++) {
        const double *row = m->y + i * m->designs.ld;
        double low = row[0], high = row[0];
        for (size_t c = 1; c < n; c++) {
            low = fmin(low, row[c]);
            high = fmax(high, row[c]);
        }
        spread = fmax(spread, high - low);
    }
    return spread;
}

int ec_multi_start_fetch(ec_multi_start *m, const ec_scores *scores, size_t n, bool *stopped)
{
    ec_host_population *p = &m->designs;
    ec_optimizer_stats *stats = &p->stats;

    m->taken = 0;
    int status = ec_host_population_fetch(p, scores, n, stopped);
    if (status != EC_OK || *stopped)
        return status;
    m->taken = n;
    stats->feasible = 0;
    for (size_t c = 0; c < n; c++) {
        int class = ec_host_population_class(p, c);
        stats->failed += class == 2;
        stats->feasible += class == 0;
        if (class == 2)
            continue;
        m->worst = fmax(m->worst, p->cost[c]);
        m->best = fmin(m->best, p->cost[c]);
        add_elite(m, c, class == 1 ? p->violation[c] : 0, p->cost[c]);
    }
    stats->evaluations += n;
    stats->generation++;
    stats->population = (uint32_t)n;
    stats->spread = spread_of(m, n);
    if (m->n_elite > 0) {
        stats->best_cost = m->elite_cost[m->order[0]];
        stats->best_violation = m->elite_violation[m->order[0]];
        stats->best_class = stats->best_violation > 0 ? 1 : 0;
    }
    return ec_host_population_stats(p);
}

bool ec_multi_start_failed(const ec_multi_start *m, size_t c)
{
    return ec_host_population_class(&m->designs, c) == 2;
}

double ec_multi_start_cost(const ec_multi_start *m, size_t c)
{
    if (!ec_multi_start_failed(m, c))
        return m->designs.cost[c];
    if (!(m->worst > -INFINITY)) /* nothing but failures so far */
        return 1;
    double above = m->worst - m->best;
    return m->worst + (above > 0 && isfinite(above) ? above : fabs(m->worst) + 1);
}

/* Slopes over the genes from row `from` on, turned into slopes over y. */
static void read_slopes(ec_multi_start *m, size_t c, const double *from, double *slopes)
{
    bool bad = false;

    for (size_t i = 0; i < m->n; i++) {
        double slope = from[m->gene[i] * m->designs.ld + c] * m->range[i];
        bad = bad || !isfinite(slope);
        slopes[i] = isfinite(slope) ? slope : 0;
    }
    m->bad_slopes += bad ? 1 : 0;
}

void ec_multi_start_gradient(ec_multi_start *m, size_t c, double *gradient)
{
    if (ec_multi_start_failed(m, c))
        memset(gradient, 0, sizeof *gradient * m->n);
    else
        read_slopes(m, c, m->designs.cost_gradient, gradient);
}

double ec_multi_start_limit(const ec_multi_start *m, size_t c, size_t k)
{
    double value = m->designs.limit[k * m->designs.ld + c];

    return ec_multi_start_failed(m, c) || !isfinite(value) ? 1 : value;
}

void ec_multi_start_limit_gradient(ec_multi_start *m, size_t c, size_t k, double *gradient)
{
    const ec_host_population *p = &m->designs;

    if (ec_multi_start_failed(m, c))
        memset(gradient, 0, sizeof *gradient * m->n);
    else
        read_slopes(m, c, p->limit_gradient + k * p->genes * p->ld, gradient);
}

/* ---- save and load ---- */

typedef struct saved {
    ec_optimizer_stats stats;
    uint64_t n, n_elite, bad_slopes;
    double worst, best;
    uint32_t order[EC_MULTI_START_ELITE];
    double cost[EC_MULTI_START_ELITE], violation[EC_MULTI_START_ELITE];
} saved;

size_t ec_multi_start_bytes(const ec_multi_start *m)
{
    return sizeof(saved) + sizeof(double) * EC_MULTI_START_ELITE * m->n;
}

void ec_multi_start_write(const ec_multi_start *m, void *to)
{
    saved s;

    memset(&s, 0, sizeof s);
    s.stats = m->designs.stats;
    s.n = m->n;
    s.n_elite = m->n_elite;
    s.bad_slopes = m->bad_slopes;
    s.worst = m->worst;
    s.best = m->best;
    memcpy(s.order, m->order, sizeof s.order);
    memcpy(s.cost, m->elite_cost, sizeof s.cost);
    memcpy(s.violation, m->elite_violation, sizeof s.violation);
    memcpy(to, &s, sizeof s);
    memset((char *)to + sizeof s, 0, sizeof(double) * EC_MULTI_START_ELITE * m->n);
    memcpy((char *)to + sizeof s, m->elite, sizeof(double) * m->n_elite * m->n);
}

int ec_multi_start_read(ec_multi_start *m, const void *from, size_t bytes)
{
    saved s;

    if (bytes < ec_multi_start_bytes(m))
        return ec_fail(EC_ERR_FORMAT, "the stored search is cut off");
    memcpy(&s, from, sizeof s);
    bool fits = s.n == m->n && s.n_elite <= EC_MULTI_START_ELITE;
    for (size_t k = 0; fits && k < s.n_elite; k++)
        fits = s.order[k] < EC_MULTI_START_ELITE;
    if (!fits)
        return ec_fail(EC_ERR_FORMAT, "the stored search is of %llu variables, this one has %zu",
                       (unsigned long long)s.n, m->n);
    m->designs.stats = s.stats;
    m->n_elite = (size_t)s.n_elite;
    m->bad_slopes = s.bad_slopes;
    m->worst = s.worst;
    m->best = s.best;
    memcpy(m->order, s.order, sizeof s.order);
    memcpy(m->elite_cost, s.cost, sizeof s.cost);
    memcpy(m->elite_violation, s.violation, sizeof s.violation);
    memcpy(m->elite, (const char *)from + sizeof s, sizeof(double) * m->n_elite * m->n);
    return ec_host_population_stats(&m->designs);
}
