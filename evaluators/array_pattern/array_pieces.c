/* array_pieces.c: the epigraph form of a side-lobe level or a mask excess.
 *
 * A maximum over lobes has kinks where two lobes change places; a minimax polish (minimise t
 * subject to every lobe <= t) needs the lobes apart. At one design all maxima of the score are
 * found on the final grid and refined; each becomes a piece that is followed inside its own bracket
 * as the design moves (ec_metric_pieces), beside the ends of the region, where a pattern that still
 * rises has its maximum. The survey runs on the host, whatever the backend.
 */
#include "array_internal.h"

#include "array_rows.h"

#define EC_PATTERN_ROW(team, args, el, tables, row) ec_row_compute(args, el, tables, row)
#include "array_candidate.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MAX = 192 };

typedef struct survey {
    const ec_pattern_args *args;
    const ec_pattern_metric *metric;
    ec_pattern_work work;
    ec_pattern_piece beam;
    int32_t count, capacity;
    ec_pattern_piece *piece;
    double *score;
} survey;

static int add_piece(survey *sv, const ec_pattern_piece *piece, double score)
{
    if (sv->count == sv->capacity) {
        int32_t capacity = sv->capacity ? 2 * sv->capacity : 64;
        ec_pattern_piece *p = realloc(sv->piece, (size_t)capacity * sizeof *p);
        sv->piece = p ? p : sv->piece;
        double *s = p ? realloc(sv->score, (size_t)capacity * sizeof *s) : NULL;
        sv->score = s ? s : sv->score;
        if (!p || !s)
            return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for its lobes");
        sv->capacity = capacity;
    }
    sv->piece[sv->count] = *piece;
    sv->score[sv->count++] = score;
    return EC_OK;
}

/* ---- cuts ---- */

static double sample_score(const survey *sv, const ec_pattern_line *line, int32_t i)
{
    double p = ec_cut_power(&sv->args->grid, sv->work.row, i), rate;

    return line->sign * (log(p > EC_POWER_MIN ? p : EC_POWER_MIN) -
                         ec_line_limit(line, ec_cut_at(&sv->args->grid, i), &rate));
}

/* Coordinate where the score's descent from sample i in direction `step` ends, inside [from, to].
 * */
static double descend(const survey *sv, const ec_pattern_line *line, int32_t i, int32_t step,
                      double from, double to)
{
    const ec_pattern_grid *grid = &sv->args->grid;

    for (int32_t count = 0; count < grid->na; count++, i += step) {
        int32_t next = i + step;
        if (!grid->circular && (next < 0 || next >= grid->na))
            break;
        if (ec_cut_at(grid, next) < from || ec_cut_at(grid, next) > to)
            return step > 0 ? to : from;
        if (count && sample_score(sv, line, next) > sample_score(sv, line, i))
            break;
    }
    return ec_cut_at(grid, i);
}

/* All maxima of [from, to], and its ends where they bound the region. */
static int survey_stretch(survey *sv, double from, double to, bool hard_from, bool hard_to,
                          const ec_pattern_line *line)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    ec_pattern_piece piece;
    double score, s[3];

    if (!(from <= to))
        return EC_OK;
    memset(&piece, 0, sizeof piece);
    piece.line = *line;
    int32_t first = ec_cut_above(grid, from) - 1, last = ec_cut_below(grid, to) + 1;
    if (!grid->circular) {
        first = first < 1 ? 1 : first;
        last = last > grid->na - 2 ? grid->na - 2 : last;
    }
    for (int32_t i = first; i <= last; i++) {
        double here = sample_score(sv, line, i);
        if (!(here >= sample_score(sv, line, i - 1) && here > sample_score(sv, line, i + 1)))
            continue;
        double t0 = ec_cut_at(grid, i - 1), t2 = ec_cut_at(grid, i + 1);
        double a = ec_cut_refine(sv->args, &sv->work.el, line, t0, t2, ec_cut_at(grid, i), &score);
        if (a < from || a > to)
            continue;
        double lo = descend(sv, line, i, -1, from, to), hi = descend(sv, line, i, 1, from, to);
        lo = lo < a ? lo : t0;
        hi = hi > a ? hi : t2;
        piece.a = a;
        piece.lo[0] = lo - 0.25 * (a - lo);
        piece.hi[0] = hi + 0.25 * (hi - a);
        piece.lo[0] = piece.lo[0] < from && hard_from ? from : piece.lo[0];
        piece.hi[0] = piece.hi[0] > to && hard_to ? to : piece.hi[0];
        piece.curve = EC_CURVE_NONE;
        int status = add_piece(sv, &piece, score);
        if (status < 0)
            return status;
    }
    for (int end = 0; end < 2; end++) {
        if (!(end ? hard_to : hard_from))
            continue;
        piece.a = piece.lo[0] = piece.hi[0] = end ? to : from;
        piece.curve = EC_CURVE_FIXED;
        ec_cut_exact(sv->args, &sv->work.el, piece.a, s);
        ec_line_score(line, piece.a, s);
        int status = add_piece(sv, &piece, s[0]);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

static int survey_cut(survey *sv)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    bool sll = sv->metric->kind == EC_METRIC_SLL;
    ec_cut_beam beam;

    if (sll || sv->metric->relative) {
        if (ec_cut_find_beam(sv->args, &sv->work.el, sv->work.row, sv->metric, true, &beam))
            return ec_fail(EC_ERR_UNSUPPORTED, "array: the design has no main beam to refer to");
        sv->beam.a = beam.peak;
        sv->beam.lo[0] = beam.left == beam.left ? beam.left
                         : grid->circular       ? beam.peak - 0.5
                                                : grid->lo;
        sv->beam.hi[0] = beam.right == beam.right ? beam.right
                         : grid->circular         ? beam.peak + 0.5
                                                  : grid->hi;
        sv->beam.line = none;
        sv->beam.curve = EC_CURVE_NONE;
    }
    if (!sll) {
        for (int32_t k = 0; k < sv->metric->n; k++) {
            const ec_pattern_line *line = &sv->metric->lines[k];
            double from = line->from, to = line->to;
            if (!grid->circular) {
                from = from > grid->lo ? from : grid->lo;
                to = to < grid->hi ? to : grid->hi;
            }
            int status = survey_stretch(sv, from, to, true, true, line);
            if (status < 0)
                return status;
        }
        return EC_OK;
    }
    bool hard = beam.excluded;
    /* of a pattern with P(-d) = P(d) one half is enough */
    bool twins = sv->args->product.mirrored && beam.left == -beam.right && grid->lo == -grid->hi;
    if (grid->circular)
        return beam.left == beam.left && beam.right == beam.right
                   ? survey_stretch(sv, beam.right, beam.left + grid->period, hard, hard, &none)
                   : EC_OK;
    int status = EC_OK;
    if (!twins && beam.left == beam.left && beam.left > grid->lo)
        status = survey_stretch(sv, grid->lo, beam.left, true, hard, &none);
    if (status >= 0 && beam.right == beam.right && beam.right < grid->hi)
        status = survey_stretch(sv, beam.right, grid->hi, hard, true, &none);
    return status;
}

/* ---- surfaces ---- */

typedef struct curve_of {
    const ec_surface_beam *beam;
    const ec_pattern_line *line;
    int32_t curve;
    double radius;
} curve_of;

/* Score on a curve at angle tau; EC_NO_SCORE outside the grid and, for side lobes, in the beam. */
static double curve_score(const survey *sv, const curve_of *on, double tau, double *a, double *b)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    ec_direction d;
    double rate;

    if (!ec_surface_curve(grid, on->beam, on->curve, on->radius, tau, a, b, &d))
        return EC_NO_SCORE;
    if (on->line->to < 0.0 && on->curve == EC_CURVE_RIM &&
        (on->beam->excluded ? ec_surface_measure(grid, on->beam, *a, *b, d) < 1.0
                            : ec_surface_near_flood(grid, on->beam->flooded, *a, *b)))
        return EC_NO_SCORE;
    return on->line->sign * (ec_surface_log(sv->args, &sv->work.el, d) -
                             ec_line_limit(on->line, ec_surface_distance(on->beam, d), &rate));
}

/* All maxima on a curve that bounds the region: a piece stays where its maximum was, which is right
 * to first order. */
static int survey_curve(survey *sv, const ec_surface_beam *beam, int32_t curve, double radius,
                        const ec_pattern_line *line)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    const double golden = 0.3819660112501051;
    int32_t count = 4 * (grid->na > grid->nb ? grid->na : grid->nb);
    double step = EC_TURN / count, score[3], a, b;
    curve_of on = {beam, line, curve, radius};
    ec_pattern_piece piece = {.line = *line, .curve = EC_CURVE_FIXED};
    int status = EC_OK;

    score[1] = curve_score(sv, &on, -step, &a, &b);
    score[2] = curve_score(sv, &on, 0.0, &a, &b);
    for (int32_t k = 0; k < count && status >= 0; k++) {
        score[0] = score[1];
        score[1] = score[2];
        score[2] = curve_score(sv, &on, (k + 1) * step, &a, &b);
        if (score[1] == EC_NO_SCORE || score[1] < score[0] || score[1] < score[2])
            continue;
        double lo = (k - 1) * step, hi = (k + 1) * step;
        for (int round = 0; round < 30; round++) {
            double t1 = lo + golden * (hi - lo), t2 = hi - golden * (hi - lo);
            if (curve_score(sv, &on, t1, &a, &b) > curve_score(sv, &on, t2, &a, &b))
                hi = t2;
            else
                lo = t1;
        }
        double top = curve_score(sv, &on, 0.5 * (lo + hi), &a, &b);
        double middle = top < score[1] ? k * step : 0.5 * (lo + hi), twin_a, twin_b;
        top = curve_score(sv, &on, middle, &a, &b);
        /* of a pattern with P(-d) = P(d) half of the rim is enough */
        if (sv->args->product.mirrored && curve == EC_CURVE_RIM && b < 0.0 &&
            curve_score(sv, &on, middle + EC_PI, &twin_a, &twin_b) != EC_NO_SCORE)
            continue;
        piece.a = piece.lo[0] = piece.hi[0] = a;
        piece.b = piece.lo[1] = piece.hi[1] = b;
        status = add_piece(sv, &piece, top);
    }
    return status;
}

/* True when a piece has this maximum: several samples about a crest lead to it. */
static bool is_known(const survey *sv, int32_t from, double a, double b, double wa, double wb)
{
    const double same = 1e-5; /* of the box */

    for (int32_t k = from; k < sv->count; k++)
        if (fabs(sv->piece[k].a - a) < same * wa && fabs(sv->piece[k].b - b) < same * wb)
            return true;
    return false;
}

static int survey_line(survey *sv, const ec_surface_beam *beam, const ec_pattern_line *line)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    const ec_pattern_elements *el = &sv->work.el;
    ec_pattern_piece piece;
    int32_t from = sv->count;
    int status = EC_OK;

    memset(&piece, 0, sizeof piece);
    piece.line = *line;
    for (int32_t i = 0; i < grid->points && status >= 0; i++) {
        double a, b, lo[2], hi[2];
        int32_t twin = grid->points - 1 - i; /* of a pattern with P(-d) = P(d) */
        if (sv->args->product.mirrored && twin < i && ec_surface_in_region(grid, beam, line, twin))
            continue;
        if (sv->work.row[i] < 0.0f || !ec_surface_in_region(grid, beam, line, i) ||
            !(line->limit[0] == line->limit[1]
                  ? ec_surface_is_peak(grid, sv->work.row, i) ||
                        ec_surface_is_crest(grid, sv->work.row, i)
                  : ec_surface_tops(grid, sv->work.row, beam, line, i)))
            continue;
        ec_surface_box(grid, i, lo, hi);
        ec_surface_coordinates(grid, i, &a, &b);
        double wa = hi[0] - lo[0], wb = hi[1] - lo[1];
        double score = ec_surface_refine(sv->args, el, beam, line, lo, hi, &a, &b);
        if (!ec_surface_point_in_region(grid, beam, line, a, b) || is_known(sv, from, a, b, wa, wb))
            continue;
        piece.a = a;
        piece.b = b;
        piece.lo[0] = fmax(a - 2.0 * wa, grid->a[0]);
        piece.hi[0] = fmin(a + 2.0 * wa, grid->a[grid->na - 1]);
        piece.lo[1] = b - 2.0 * wb;
        piece.hi[1] = b + 2.0 * wb;
        if (!grid->circular) {
            piece.lo[1] = fmax(piece.lo[1], grid->b[0]);
            piece.hi[1] = fmin(piece.hi[1], grid->b[grid->nb - 1]);
        }
        piece.curve = EC_CURVE_NONE;
        status = add_piece(sv, &piece, score);
    }
    bool side = line->to < 0.0;
    for (int curve = 0; curve < 3 && status >= 0; curve++) {
        double radius = curve == 1 ? line->from : curve == 2 ? line->to : 0.0;
        if (side ? (curve == 1 && !beam->excluded) || curve == 2 ||
                       (curve == 0 && grid->kind != EC_ARRAY_GRID_UV)
                 : curve == 0 || radius <= 0.0 || radius >= 2.0)
            continue;
        status = survey_curve(sv, beam, curve == 0 ? EC_CURVE_RIM : EC_CURVE_EDGE,
                              side ? 0.0 : radius, line);
    }
    return status;
}

static int survey_surface(survey *sv)
{
    const ec_pattern_grid *grid = &sv->args->grid;
    ec_pattern_line side = {0.0, -1.0, {0.0, 0.0}, 1};
    ec_team alone = {0, 1, NULL};
    bool sll = sv->metric->kind == EC_METRIC_SLL;
    ec_surface_beam beam;
    int status = EC_OK;

    if (ec_surface_find_beam(&alone, sv->args, &sv->work.el, sv->work.row, sv->metric, sll,
                             sv->work.flooded, sv->work.queue, &beam))
        return ec_fail(EC_ERR_UNSUPPORTED, "array: the design has no main beam to refer to");
    if (beam.sample >= 0) {
        double lo[2], hi[2];
        ec_surface_box(grid, beam.sample, lo, hi);
        for (int k = 0; k < 2; k++) {
            sv->beam.lo[k] = lo[k] - 0.5 * (hi[k] - lo[k]);
            sv->beam.hi[k] = hi[k] + 0.5 * (hi[k] - lo[k]);
        }
        sv->beam.lo[0] = fmax(sv->beam.lo[0], grid->a[0]);
        sv->beam.hi[0] = fmin(sv->beam.hi[0], grid->a[grid->na - 1]);
    }
    sv->beam.a = beam.peak_a;
    sv->beam.b = beam.peak_b;
    sv->beam.curve = beam.sample >= 0 ? EC_CURVE_NONE : EC_CURVE_FIXED;
    sv->beam.line = side;
    if (sll)
        return survey_line(sv, &beam, &side);
    for (int32_t k = 0; k < sv->metric->n && status >= 0; k++)
        if (sv->metric->lines[k].sign < 0)
            status = ec_fail(EC_ERR_UNSUPPORTED,
                             "excess_db: a lower limit over a surface has no pieces");
        else
            status = survey_line(sv, &beam, &sv->metric->lines[k]);
    return status;
}

/* ---- the output ---- */

/* The highest pieces first, at most PIECES_MAX; equal scores keep their order. */
static void sort_pieces(survey *sv)
{
    for (int32_t i = 1; i < sv->count; i++) {
        ec_pattern_piece piece = sv->piece[i];
        double score = sv->score[i];
        int32_t k = i;
        for (; k > 0 && sv->score[k - 1] < score; k--) {
            sv->piece[k] = sv->piece[k - 1];
            sv->score[k] = sv->score[k - 1];
        }
        sv->piece[k] = piece;
        sv->score[k] = score;
    }
    sv->count = sv->count < PIECES_MAX ? sv->count : PIECES_MAX;
}

static ec_expr add_pieces(ec_graph *graph, ec_call *call, const ec_pattern_spec *from,
                          const survey *sv)
{
    ec_pattern_spec *spec = calloc(1, sizeof *spec);

    if (spec)
        spec->pieces = malloc(((size_t)sv->count + 1) * sizeof *spec->pieces);
    if (!spec || !spec->pieces) {
        free(spec);
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for its lobes");
    }
    spec->kind = EC_METRIC_PIECES;
    spec->relative = from->relative;
    spec->beam = from->beam;
    spec->n = sv->count;
    spec->pieces[0] = sv->beam;
    memcpy(spec->pieces + 1, sv->piece, (size_t)sv->count * sizeof *sv->piece);
    ec_call_output output = {.name = from->kind == EC_METRIC_SLL ? "side_lobes_db" : "excesses_db",
                             .spec = spec,
                             .rank = 1,
                             .shape = {sv->count},
                             .dtype = EC_F64,
                             .range = {-1000.0, 1000.0}};
    return ec_graph_call_output(graph, call, &output);
}

/* Plans the one output for one design on a CPU backend. */
static int plan_survey(ec_backend *backend, const ec_graph *graph, const ec_call *call,
                       int32_t output, ec_evaluator **evaluator)
{
    ec_array in[EC_PATTERN_INPUTS];
    ec_interval range[EC_PATTERN_INPUTS];
    bool *wanted = calloc((size_t)call->n_out, sizeof *wanted);

    if (!wanted)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    wanted[output] = true;
    for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++) {
        const ec_node *node = ec_graph_node(graph, call->in[i]);
        ec_array_describe(&in[i], EC_F64, 0, node->rank, node->shape, 1, 1);
        range[i] = node->range;
    }
    ec_log silent = {EC_LOG_ERROR, NULL, NULL};
    ec_plan_info info = {.call = call,
                         .mode = EC_MODE_RUN,
                         .fidelity = EC_FINAL,
                         .n_in = EC_PATTERN_INPUTS,
                         .in = in,
                         .range = range,
                         .n_out = call->n_out,
                         .wanted = wanted,
                         .max_candidates = 1,
                         .log = &silent};
    int status = ec_pattern_plan(backend, &info, evaluator);
    free(wanted);
    return status;
}

static int run_survey(survey *sv, ec_pattern_args *args, const ec_graph *graph, const ec_call *call,
                      const double *const *at)
{
    ec_team alone = {0, 1, NULL};

    args->n = args->samples = 1;
    for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++) {
        args->in[i].data = at[i];
        args->in[i].element = ec_graph_node(graph, call->in[i])->elements > 1;
        args->in[i].lane = args->in[i].sample = 0;
    }
    sv->args = args;
    sv->metric = &args->metric[0];
    ec_pattern_lay_out(args, args->workspace, &sv->work);
    if (ec_pattern_gather(&alone, args, 0, 0, &sv->work.el))
        return ec_fail(EC_ERR_UNSUPPORTED, "array: the design has no pattern");
    ec_row_compute(args, &sv->work.el, sv->work.tables, sv->work.row);
    int status = args->grid.topology == EC_PATTERN_CUT ? survey_cut(sv) : survey_surface(sv);
    if (status >= 0 && sv->count == 0)
        status = ec_fail(EC_ERR_UNSUPPORTED, "array: the design has no side lobe to follow");
    return status;
}

/* A null depth is the maximum of the levels at its directions. */
static int level_pieces(ec_graph *graph, ec_call *call, const ec_pattern_spec *from,
                        ec_expr *pieces)
{
    ec_pattern_spec *spec = calloc(1, sizeof *spec);
    size_t bytes = 4 * (size_t)from->n * sizeof *spec->directions;

    if (spec)
        spec->directions = malloc(bytes);
    if (!spec || !spec->directions) {
        free(spec);
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for its levels");
    }
    spec->kind = EC_METRIC_LEVEL;
    spec->relative = from->relative;
    spec->beam = from->beam;
    spec->n = from->n;
    memcpy(spec->directions, from->directions, bytes);
    ec_call_output output = {.name = "level_db",
                             .spec = spec,
                             .rank = 1,
                             .shape = {from->n},
                             .dtype = EC_F64,
                             .range = {-1000.0, 1000.0}};
    *pieces = ec_graph_call_output(graph, call, &output);
    return *pieces < 0 ? *pieces : EC_OK;
}

int ec_pattern_pieces(ec_graph *graph, ec_call *call, int32_t output, const double *const *at,
                      ec_expr *pieces)
{
    const ec_pattern_spec *spec = (const ec_pattern_spec *)call->out[output].spec;
    const ec_array_config *config = ec_array_call_config(call);
    ec_backend_info host = {.name = "cpu", .threads = 1};
    ec_backend *backend = NULL;
    ec_evaluator *evaluator = NULL;
    survey sv;

    if (spec->kind == EC_METRIC_NULL_DEPTH)
        return level_pieces(graph, call, spec, pieces);
    if (spec->kind != EC_METRIC_SLL && spec->kind != EC_METRIC_EXCESS)
        return ec_fail(EC_ERR_UNSUPPORTED, "%s is no maximum over pieces", call->out[output].name);
    if (config->kind == EC_ARRAY_DIRECTIONS)
        return ec_fail(EC_ERR_UNSUPPORTED, "%s: a list of directions has no lobes to follow",
                       call->out[output].name);
    for (int k = 0; k < 3 && isnan(spec->beam.look_a); k++) {
        ec_interval steer = ec_graph_node(graph, call->in[EC_PATTERN_U0 + k])->range;
        if (steer.lo != steer.hi)
            return ec_fail(EC_ERR_UNSUPPORTED, "%s: the look direction varies with the design",
                           call->out[output].name);
    }
    memset(&sv, 0, sizeof sv);
    int status = ec_backend_create(&host, &backend);
    if (status >= 0)
        status = plan_survey(backend, graph, call, output, &evaluator);
    if (status >= 0) {
        ec_pattern_evaluator *ev = (ec_pattern_evaluator *)evaluator;
        status = run_survey(&sv, &ev->batch[0], graph, call, at);
    }
    if (status >= 0) {
        sort_pieces(&sv);
        *pieces = add_pieces(graph, call, spec, &sv);
        status = *pieces < 0 ? *pieces : EC_OK;
    }
    free(sv.piece);
    free(sv.score);
    if (evaluator)
        ec_pattern_destroy(&evaluator);
    ec_backend_destroy(&backend);
    return status;
}
