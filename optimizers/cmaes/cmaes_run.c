/* cmaes_run.c: see cmaes_run.h. */
#include "cmaes_run.h"

#include <stdlib.h>
#include <string.h>

/* Designs, or rows of a matrix, that are worked on together: they stay in the cache. */
enum { BLOCK = 8 };
/* Work below this many multiplications is not worth a second thread. */
static const double parallel_from = 2e5;
/* A run that changes less than this share of its distance to a better one is given up. */
static const double worse_share = 1e-3;
/* Largest standard deviation of a coordinate, unless the first one is larger. That of a uniform
 * distribution is 0.29. */
static const double widest_step = 0.3;
/* Width of the quadratic part at each bound, in box widths: Hansen's 0.05 for a bound at 0. */
static const double edge = 0.05;

const char *ec_cmaes_end_name(int end)
{
    static const char *const names[] = {"goes on",    "tolerance", "worse",      "step",
                                        "condition",  "flat",      "stagnation", "diverged",
                                        "all failed", "long"};

    return (unsigned)end < sizeof names / sizeof *names ? names[end] : "unknown";
}

/* ---- coordinates ---- */

/* Into [0, 1]: the preimage [-edge, 1 + edge] is mirrored to both sides without end; within it
 * the slope falls to 0 towards its ends. */
static double into_box(double x)
{
    double length = 1.0 + 2.0 * edge;
    double u = x + edge;

    u -= 2.0 * length * ec_det_floor(u / (2.0 * length));
    u = u > length ? 2.0 * length - u : u;
    double left = length - u;
    if (u < 2.0 * edge)
        return u * u / (4.0 * edge);
    if (left < 2.0 * edge)
        return 1.0 - left * left / (4.0 * edge);
    return u - edge;
}

double ec_cmaes_to_gene(const ec_cmaes_space *space, uint32_t i, double coordinate)
{
    double share = space->cells[i] ? coordinate : into_box(coordinate);

    share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    double gene = space->lower[i] + share * space->range[i];
    double upper = space->lower[i] + space->range[i];
    return gene < upper ? gene : upper;
}

double ec_cmaes_to_coordinate(const ec_cmaes_space *space, uint32_t i, double gene)
{
    double share = (gene - space->lower[i]) / space->range[i];

    if (space->cells[i])
        return share;
    if (share < edge)
        return 2.0 * ec_det_sqrt(edge * share) - edge;
    if (share > 1.0 - edge)
        return 1.0 + edge - 2.0 * ec_det_sqrt(edge * (1.0 - share));
    return share;
}

/* ---- weights and rates ---- */

static void set_negative_weights(ec_cmaes_rules *rules, double n)
{
    double sum = 0, square = 0;

    for (uint32_t i = rules->mu; i < rules->lambda; i++) {
        sum += rules->weight[i];
        square += rules->weight[i] * rules->weight[i];
    }
    if (sum == 0)
        return;
    double mu_eff = sum * sum / square;
    double most = 1.0 + rules->c_1 / rules->c_mu;
    double by_mu_eff = 1.0 + 2.0 * mu_eff / (rules->mu_eff + 2.0);
    double definite = (1.0 - rules->c_1 - rules->c_mu) / (n * rules->c_mu);
    most = by_mu_eff < most ? by_mu_eff : most;
    most = definite < most ? definite : most;
    for (uint32_t i = rules->mu; i < rules->lambda; i++)
        rules->weight[i] *= most / -sum;
}

void ec_cmaes_rules_set(ec_cmaes_rules *rules, uint32_t genes, uint32_t lambda, bool active)
{
    double n = genes > 0 ? genes : 1, sum = 0, square = 0;
    double middle = ec_det_log((lambda + 1.0) / 2.0);

    rules->lambda = lambda;
    rules->mu = lambda / 2;
    for (uint32_t i = 0; i < lambda; i++) {
        rules->weight[i] = middle - ec_det_log(i + 1.0);
        if (i < rules->mu) {
            sum += rules->weight[i];
            square += rules->weight[i] * rules->weight[i];
        } else if (!active || rules->weight[i] > 0) {
            rules->weight[i] = 0;
        }
    }
    for (uint32_t i = 0; i < rules->mu; i++)
        rules->weight[i] /= sum;
    double mu_eff = sum * sum / square;
    rules->mu_eff = mu_eff;
    rules->c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
    rules->c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
    double wide = ec_det_sqrt((mu_eff - 1.0 > 0 ? mu_eff - 1.0 : 0) / (n + 1.0)) - 1.0;
    rules->damping = 1.0 + 2.0 * (wide > 0 ? wide : 0) + rules->c_sigma;
    rules->c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
    rules->c_mu = 2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0) * (n + 2.0) + mu_eff);
    if (rules->c_mu > 1.0 - rules->c_1)
        rules->c_mu = 1.0 - rules->c_1;
    rules->expected_norm = ec_det_sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
    double gap = 1.0 / (10.0 * n * (rules->c_1 + rules->c_mu));
    rules->gap = gap > 1.0 ? (uint32_t)gap : 1;
    set_negative_weights(rules, n);
}

/* ---- linear algebra ---- */

/* Everything that grows with n^2 is this loop, which becomes SIMD without changing a sum's order. */
static void add_scaled(double *restrict to, const double *restrict from, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

/* Rows first .. last-1 of C are final but for each other's share: makes them rows of the factor. */
static bool factor_panel(double *C, size_t n, size_t first, size_t last)
{
    for (size_t k = first; k < last; k++) {
        double pivot = C[k * n + k];
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        double root = ec_det_sqrt(pivot), inverse = 1.0 / root;
        C[k * n + k] = root;
        for (size_t j = k + 1; j < n; j++)
            C[k * n + j] *= inverse;
        for (size_t i = k + 1; i < last; i++)
            add_scaled(C + i * n + i, C + k * n + i, -C[k * n + i], n - i);
    }
    return true;
}

bool ec_cmaes_factor(double *C, uint32_t size, int threads)
{
    size_t n = size;

    for (size_t first = 0; first < n; first += BLOCK) {
        size_t last = first + BLOCK < n ? first + BLOCK : n;
        if (!factor_panel(C, n, first, last))
            return false;
        bool parallel = threads > 1 && (double)(n - last) * (double)(n - last) * 4 > parallel_from;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) if (parallel)
        for (size_t i = last; i < n; i++)
            for (size_t k = first; k < last; k++)
                add_scaled(C + i * n + i, C + k * n + i, -C[k * n + i], n - i);
    }
    return true;
}

void ec_cmaes_solve(const double *U, uint32_t n, double *y, double *z)
{
    for (size_t k = 0; k < n; k++) {
        z[k] = y[k] / U[k * n + k];
        add_scaled(y + k + 1, U + k * n + k + 1, -z[k], n - k - 1);
    }
}

/* ---- integral genes ---- */

/* Probability that a standard normal number is below x, to 1e-7 (Abramowitz and Stegun, "Handbook of
 * Mathematical Functions", 26.2.17). */
static double normal_below(double x)
{
    double a = fabs(x), t = 1.0 / (1.0 + 0.2316419 * a);
    double sum = t * (0.319381530 + t * (-0.356563782 +
                                         t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    double tail = sum * 0.3989422804014327 * ec_det_exp(-0.5 * a * a);

    return x < 0 ? tail : 1.0 - tail;
}

/* A mean in an inner cell: both neighbours keep the probability `least`. */
static void keep_inner(ec_cmaes_run *run, uint32_t i, double low, double up, double deviation,
                       double least)
{
    double p_low = normal_below((low - run->mean[i]) / deviation);
    double p_up = normal_below((run->mean[i] - up) / deviation);

    if (p_low >= least && p_up >= least)
        return;
    double middle = 1.0 - p_low - p_up;
    double low_kept = p_low > least ? p_low : least, up_kept = p_up > least ? p_up : least;
    double whole = low_kept + up_kept + middle;
    double excess = (1.0 - whole) / (whole - 3.0 * least);
    double z_low = -ec_normal(low_kept + excess * (low_kept - least));
    double z_up = -ec_normal(up_kept + excess * (up_kept - least));
    double wanted = (up - low) / (z_low + z_up);
    run->mean[i] = low + wanted * z_low;
    run->scale[i] *= wanted / deviation;
}

/* Each integral gene leaves the cell of its mean with a probability of 1/(n lambda) at least. */
static void keep_margin(ec_cmaes_run *run)
{
    const ec_cmaes_space *space = run->space;
    size_t n = space->n;
    double margin = 1.0 / ((double)n * run->numbers.lambda);
    double reach = -ec_normal(margin);

    for (uint32_t i = 0; i < n && space->integral > 0; i++) {
        double cells = space->cells[i], mean = run->mean[i];
        double deviation = run->numbers.sigma * run->scale[i] * ec_det_sqrt(run->C[i * n + i]);
        if (cells == 0)
            continue;
        double cell = ec_det_floor(mean * cells);
        cell = cell < 0 ? 0 : cell > cells - 1 ? cells - 1 : cell;
        double low = cell / cells, up = (cell + 1) / cells;
        if (cell == 0 && up - mean > deviation * reach)
            run->mean[i] = up - deviation * reach;
        else if (cell == cells - 1 && cell > 0 && mean - low > deviation * reach)
            run->mean[i] = low + deviation * reach;
        else if (cell > 0 && cell < cells - 1)
            keep_inner(run, i, low, up, deviation, 0.5 * margin);
    }
}

/* ---- a run's beginning ---- */

void ec_cmaes_run_resume(ec_cmaes_run *run)
{
    ec_cmaes_rules_set(&run->rules, run->space->n, run->numbers.lambda, run->active);
}

void ec_cmaes_run_begin(ec_cmaes_run *run, uint32_t lambda, double sigma, const double *mean,
                        uint64_t evaluations_max)
{
    size_t n = run->space->n;

    memset(&run->numbers, 0, sizeof run->numbers);
    run->numbers.lambda = lambda;
    run->numbers.sigma = run->numbers.sigma_start = sigma;
    run->numbers.evaluations_max = evaluations_max;
    memset(run->C, 0, n * n * sizeof(double));
    memset(run->factor, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        run->mean[i] = mean[i];
        run->C[i * n + i] = run->factor[i * n + i] = run->scale[i] = 1;
        run->path_sigma[i] = run->path_c[i] = 0;
    }
    ec_cmaes_run_resume(run);
    keep_margin(run);
}

/* ---- sampling ---- */

/* Standard normal numbers of one design. */
static void draw(const ec_cmaes_run *run, const ec_random_stream *stream, uint32_t c)
{
    size_t n = run->space->n;
    double *z = run->Z + c * n, sum = 0;

    for (size_t j = 0; j < n; j += 2) {
        uint32_t words[4];
        ec_random_words(stream, (uint32_t)(j / 2), c, words);
        z[j] = ec_uniform_52_open(words[0], words[1]);
        if (j + 1 < n)
            z[j + 1] = ec_uniform_52_open(words[2], words[3]);
    }
    for (size_t j = 0; j < n; j++)
        z[j] = ec_normal(z[j]);
    for (size_t j = 0; j < n; j++)
        sum += z[j] * z[j];
    run->norm2[c] = sum;
}

/* Y and the genes of designs first .. last-1. */
static void sample_block(const ec_cmaes_run *run, const ec_random_stream *stream, uint32_t first,
                         uint32_t last, double *X, size_t ld)
{
    const ec_cmaes_space *space = run->space;
    size_t n = space->n;

    for (uint32_t c = first; c < last; c++)
        draw(run, stream, c);
    memset(run->Y + first * n, 0, (last - first) * n * sizeof(double));
    for (size_t k = 0; k < n; k++)
        for (uint32_t c = first; c < last; c++)
            add_scaled(run->Y + c * n + k, run->factor + k * n + k, run->Z[c * n + k], n - k);
    for (uint32_t i = 0; i < n; i++) {
        double step = run->numbers.sigma * run->scale[i];
        for (uint32_t c = first; c < last; c++)
            X[space->gene[i] * ld + c] =
                ec_cmaes_to_gene(space, i, run->mean[i] + step * run->Y[c * n + i]);
    }
}

void ec_cmaes_run_sample(ec_cmaes_run *run, const ec_random_stream *stream, double *X, size_t ld)
{
    uint32_t lambda = run->numbers.lambda, blocks = (lambda + BLOCK - 1) / BLOCK;
    double n = run->space->n;
    bool parallel = run->threads > 1 && lambda * (n * n / 2 + 50 * n) > parallel_from;

#pragma omp parallel for schedule(dynamic) num_threads(run->threads) if (parallel)
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t from = b * BLOCK, to = from + BLOCK;
        sample_block(run, stream, from, to < lambda ? to : lambda, X, ld);
    }
}

void ec_cmaes_run_inject(ec_cmaes_run *run, uint32_t c, const double *coordinate)
{
    size_t n = run->space->n;
    double *y = run->Y + c * n, sum = 0;
    double longest = ec_det_sqrt((double)n) + 2.0 * (double)n / ((double)n + 2.0);

    for (size_t i = 0; i < n; i++) {
        y[i] = (coordinate[i] - run->mean[i]) / (run->numbers.sigma * run->scale[i]);
        sum += y[i] * y[i];
    }
    double norm = ec_det_sqrt(sum);
    for (size_t i = 0; i < n && norm > longest; i++)
        y[i] *= longest / norm;
    run->norm2[c] = norm > longest ? longest * longest : sum;
}

/* ---- learning ---- */

/* Sum of the good designs' steps by their weights. A failed design counts as the mean itself, which
 * shortens the step. */
static void find_step(ec_cmaes_run *run, const ec_cmaes_outcome *outcome)
{
    size_t n = run->space->n;
    uint32_t used = run->rules.mu < outcome->good ? run->rules.mu : outcome->good;

    memset(run->mean_step, 0, n * sizeof(double));
    for (uint32_t r = 0; r < used; r++)
        add_scaled(run->mean_step, run->Y + outcome->rank[r] * n, run->rules.weight[r], n);
    double *scratch = run->Z; /* drawn again for the next generation */
    memcpy(scratch, run->mean_step, n * sizeof(double));
    ec_cmaes_solve(run->factor, (uint32_t)n, scratch, run->z_step);
}

/* The paths; true when that of sigma is no longer than usual, so that C may follow its path. */
static bool update_paths(ec_cmaes_run *run)
{
    const ec_cmaes_rules *rules = &run->rules;
    size_t n = run->space->n;
    double keep = 1.0 - rules->c_sigma, keep_c = 1.0 - rules->c_c, sum = 0;
    double gain = ec_det_sqrt(rules->c_sigma * (2.0 - rules->c_sigma) * rules->mu_eff);

    for (size_t i = 0; i < n; i++) {
        run->path_sigma[i] = keep * run->path_sigma[i] + gain * run->z_step[i];
        sum += run->path_sigma[i] * run->path_sigma[i];
    }
    double norm = ec_det_sqrt(sum);
    double generations = run->numbers.generation + 1.0;
    double settled = 1.0 - ec_det_exp(2.0 * generations * ec_det_log(keep));
    bool usual =
        norm < (1.4 + 2.0 / ((double)n + 1.0)) * rules->expected_norm * ec_det_sqrt(settled);
    double gain_c = usual ? ec_det_sqrt(rules->c_c * (2.0 - rules->c_c) * rules->mu_eff) : 0.0;
    for (size_t i = 0; i < n; i++)
        run->path_c[i] = keep_c * run->path_c[i] + gain_c * run->mean_step[i];
    double change = rules->c_sigma / rules->damping * (norm / rules->expected_norm - 1.0);
    double sigma = run->numbers.sigma * ec_det_exp(change < 1.0 ? change : 1.0);
    run->numbers.sigma = sigma > 1e-100 ? sigma : 1e-100;
    return usual;
}

/* Rows first .. last-1 of C. */
static void update_rows(ec_cmaes_run *run, const ec_cmaes_outcome *outcome, size_t first,
                        size_t last, double keep)
{
    const ec_cmaes_rules *rules = &run->rules;
    size_t n = run->space->n;

    for (size_t i = first; i < last; i++) {
        double *row = run->C + i * n;
        for (size_t j = i; j < n; j++)
            row[j] *= keep;
        add_scaled(row + i, run->path_c + i, rules->c_1 * run->path_c[i], n - i);
    }
    for (uint32_t r = 0; r < rules->lambda; r++) {
        uint32_t c = outcome->rank[r];
        const double *y = run->Y + c * n;
        double weight = rules->weight[r];
        if (weight < 0)
            weight *= run->norm2[c] > 0 ? (double)n / run->norm2[c] : 0.0;
        else if (weight == 0 || r >= outcome->good)
            continue;
        for (size_t i = first; i < last; i++)
            add_scaled(run->C + i * n + i, y + i, rules->c_mu * weight * y[i], n - i);
    }
}

static void update_covariance(ec_cmaes_run *run, const ec_cmaes_outcome *outcome, bool usual)
{
    const ec_cmaes_rules *rules = &run->rules;
    size_t n = run->space->n, blocks = (n + BLOCK - 1) / BLOCK;
    double sum = 0;

    for (uint32_t r = 0; r < rules->lambda; r++)
        sum += rules->weight[r] < 0 || r < outcome->good ? rules->weight[r] : 0.0;
    double keep = 1.0 - rules->c_1 - rules->c_mu * sum;
    if (!usual)
        keep += rules->c_1 * rules->c_c * (2.0 - rules->c_c);
    bool parallel = run->threads > 1 && 0.5 * rules->lambda * (double)(n * n) > parallel_from;
#pragma omp parallel for schedule(dynamic) num_threads(run->threads) if (parallel)
    for (size_t b = 0; b < blocks; b++)
        update_rows(run, outcome, b * BLOCK, b * BLOCK + BLOCK < n ? b * BLOCK + BLOCK : n, keep);
}

/* A new factor when it is due; false when C has none or is too oblong. */
static bool update_factor(ec_cmaes_run *run)
{
    size_t n = run->space->n;
    double least = INFINITY, most = 0;

    if (run->numbers.generation - run->numbers.factored < run->rules.gap)
        return true;
    run->numbers.factored = run->numbers.generation;
    memcpy(run->factor, run->C, n * n * sizeof(double));
    if (!ec_cmaes_factor(run->factor, (uint32_t)n, run->threads))
        return false;
    for (size_t i = 0; i < n; i++) {
        double root = run->factor[i * n + i];
        least = root < least ? root : least;
        most = root > most ? root : most;
    }
    return most < 1e7 * least; /* squares: 1e14, the limit of the condition number */
}

/* A step much wider than the box is drawn from all of it whatever its width, so nothing would bring
 * it back but chance. */
static void limit_steps(ec_cmaes_run *run)
{
    size_t n = run->space->n;
    double first = run->numbers.sigma_start, widest = first > widest_step ? first : widest_step;

    for (size_t i = 0; i < n; i++) {
        double step = run->numbers.sigma * ec_det_sqrt(run->C[i * n + i]);
        if (run->space->cells[i] || step <= widest)
            continue;
        double shrink = widest / step;
        run->path_c[i] *= shrink;
        for (size_t k = 0; k <= i; k++) {
            run->C[k * n + i] *= shrink;
            run->factor[k * n + i] *= shrink;
        }
        for (size_t k = i; k < n; k++)
            run->C[i * n + k] *= shrink;
    }
}

/* ---- stop rules of a run ---- */

static void remember(ec_cmaes_run *run, const ec_cmaes_outcome *outcome)
{
    ec_cmaes_numbers *s = &run->numbers;

    /* costs and violations are not compared with each other */
    if (s->history > 0 && outcome->best_class != s->history_class)
        s->history = 0;
    s->history_class = outcome->best_class;
    uint32_t at = s->history++ % EC_CMAES_HISTORY;
    bool alike = outcome->median_class == outcome->best_class;
    run->best_cost[at] = outcome->best;
    run->median_cost[at] = alike ? outcome->median : INFINITY;
    run->equal[at] = outcome->equal;
}

static double remembered(const ec_cmaes_run *run, const double *values, uint32_t ago)
{
    return values[(run->numbers.history - 1 - ago) % EC_CMAES_HISTORY];
}

/* A run whose best costs no longer differ, or differ little in comparison with what it would have to
 * gain to be of use. */
static ec_cmaes_end look_at_costs(const ec_cmaes_run *run, double known)
{
    double n = run->space->n;
    uint32_t window = 10 + (uint32_t)ec_det_ceil(30.0 * n / run->rules.lambda);
    double least = INFINITY, most = -INFINITY;

    window = window < EC_CMAES_HISTORY ? window : EC_CMAES_HISTORY;
    if (run->numbers.history < window)
        return EC_CMAES_GOES_ON;
    for (uint32_t ago = 0; ago < window; ago++) {
        double value = remembered(run, run->best_cost, ago);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (most - least <= run->tolerance)
        return EC_CMAES_TOLERANCE;
    return most - least < worse_share * (least - known) ? EC_CMAES_WORSE : EC_CMAES_GOES_ON;
}

/* Equal costs are the rule where genes are integral, and no sign of an end. */
static bool is_flat(const ec_cmaes_run *run)
{
    uint32_t n = run->space->n, count = 0;

    if (run->space->integral > 0 || run->numbers.history < n)
        return false;
    for (uint32_t ago = 0; ago < n; ago++)
        count += run->equal[(run->numbers.history - 1 - ago) % EC_CMAES_HISTORY];
    return 3 * count > n;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of `count` values, the newest of them `ago` generations back. */
static double median_of(const ec_cmaes_run *run, const double *values, uint32_t ago, uint32_t count)
{
    double sorted[EC_CMAES_HISTORY];

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = remembered(run, values, ago + i);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    return sorted[count / 2];
}

static bool is_no_better(const ec_cmaes_run *run, const double *values, uint32_t window)
{
    uint32_t part = window * 3 / 10;

    return median_of(run, values, 0, part) >= median_of(run, values, window - part, part);
}

static bool is_stagnant(const ec_cmaes_run *run)
{
    double n = run->space->n;
    uint32_t window = 120 + (uint32_t)(30.0 * n / run->rules.lambda);
    uint32_t share = run->numbers.generation / 5;

    window = share > window ? share : window;
    window = window < EC_CMAES_HISTORY ? window : EC_CMAES_HISTORY;
    /* looked at now and then, as the sorting takes longer than a generation of few genes */
    if (run->numbers.history < window || run->numbers.generation % 20 != 0)
        return false;
    return is_no_better(run, run->best_cost, window) && is_no_better(run, run->median_cost, window);
}

/* A step far wider than the box, or of a real gene one too small to change its mean; or all steps of
 * real genes below 1e-12 of the first ones. */
static ec_cmaes_end look_at_steps(const ec_cmaes_run *run)
{
    const ec_cmaes_space *space = run->space;
    size_t n = space->n;
    double sigma = run->numbers.sigma, least = 1e-12 * run->numbers.sigma_start;
    bool small = space->integral < n;

    for (size_t i = 0; i < n; i++) {
        double step = sigma * ec_det_sqrt(run->C[i * n + i]);
        if (!(step < 1e3))
            return EC_CMAES_DIVERGED;
        if (space->cells[i])
            continue;
        if (run->mean[i] + 0.2 * step == run->mean[i])
            return EC_CMAES_STEP;
        small = small && step < least && sigma * fabs(run->path_c[i]) < least;
    }
    return small ? EC_CMAES_STEP : EC_CMAES_GOES_ON;
}

static ec_cmaes_end find_end(const ec_cmaes_run *run, double known)
{
    double n = run->space->n;
    double longest = 100.0 + 50.0 * (n + 3.0) * (n + 3.0) / ec_det_sqrt(run->rules.lambda);
    uint64_t evaluations = run->numbers.evaluations_max;

    ec_cmaes_end end = look_at_costs(run, known);
    if (end)
        return end;
    if (is_flat(run))
        return EC_CMAES_FLAT;
    if (is_stagnant(run))
        return EC_CMAES_STAGNATION;
    if (run->numbers.generation >= longest ||
        (evaluations && run->numbers.evaluations >= evaluations))
        return EC_CMAES_LONG;
    return look_at_steps(run);
}

void ec_cmaes_run_learn(ec_cmaes_run *run, const ec_cmaes_outcome *outcome)
{
    ec_cmaes_numbers *s = &run->numbers;
    size_t n = run->space->n;

    s->evaluations += run->rules.lambda;
    s->all_failed = outcome->good == 0 ? s->all_failed + 1 : 0;
    if (outcome->good == 0) {
        s->generation++;
        s->factored++; /* C is as old as before */
        s->end = s->all_failed >= 10 ? EC_CMAES_FAILED : EC_CMAES_GOES_ON;
        return;
    }
    find_step(run, outcome);
    for (size_t i = 0; i < n; i++)
        run->mean[i] += s->sigma * run->scale[i] * run->mean_step[i];
    bool usual = update_paths(run);
    update_covariance(run, outcome, usual);
    s->generation++;
    remember(run, outcome);
    bool definite = update_factor(run);
    limit_steps(run);
    keep_margin(run);
    s->end = definite ? find_end(run, outcome->known) : EC_CMAES_CONDITION;
}
