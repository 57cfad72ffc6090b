/* fdtd_ports.c: ports, elements and probes as edges of a grid. */
#include "fdtd_ports_internal.h"

#include "fdtd_line_plan_internal.h"
#include "fdtd_port_mode_internal.h"

#include <stdlib.h>
#include <string.h>

/* Edges side by side between two ends, which share a current by the areas of their dual faces, so that its
 * density is the same in all of them: columns of nodes [lo, hi] across the axis, edges [lo, hi) along
 * it. */
typedef struct strip {
    int lo[3], hi[3], axis;
    double direction; /* +1: from the low to the high end */
    double length;    /* m */
} strip;

enum { PATHS = 4 };

/* A port on the grid. */
typedef struct layout {
    int32_t n_strips; /* in parallel: one, or a coaxial port's paths */
    strip strip[PATHS];
    double area; /* of the dual faces of all columns, m^2: a column's share is its part of it */
    int plane;   /* a line's: node of the measuring plane */
    int lo[3], hi[3]; /* a line's: nodes of its conductor across it */
} layout;

/* An edge that a port loads or drives. Ports may not both load it, where the second load would replace
 * the first, and may not both have it between `from` and `to`. Sources alone may meet there, as those of lines
 * side by side do: one port is driven at a time. */
typedef struct taken {
    int64_t edge;
    int32_t port;
    bool loads, own;
} taken;

typedef struct work {
    const ec_fdtd_setup *setup;
    const ec_fdtd_config *config;
    const double *values;
    ec_fdtd_build *b;
    bool write;               /* else things are counted */
    ec_fdtd_port_mode **mode; /* [port], of those whose cross-section is driven; else NULL */
    int32_t loads, branches, e_terms, h_terms, sources, edges;
    taken *taken;
    ec_fdtd_structure structure; /* on the host */
    ec_fdtd_raster_args raster;
} work;

static double value_of(ec_fdtd_number n, const double *values)
{
    return ec_fdtd_number_of(n, values);
}

static const char *name_of(const ec_fdtd_port *p)
{
    return p->name ? p->name : "";
}

/* ---- the grid ----------------------------------------------------------------------------------- */

/* Nearest node of an axis, checked: a line must be there, as near as lines are. */
static int node_of(const work *w, int axis, double x, int *node)
{
    const double *line = w->b->line[axis];
    const int n = w->setup->shape.n[axis], at = ec_fdtd_nearest_line(n, line, x);
    const double cell = at < n ? line[at + 1] - line[at] : line[n] - line[n - 1];

    if (!(fabs(line[at] - x) <= fmax(ec_fdtd_line_reach(w->setup->lines, axis), 1e-4 * cell)))
        return ec_fail(EC_ERR_RANGE, "no grid line at %c = %.9g mm: the nearest is at %.9g mm",
                       "xyz"[axis], 1e3 * x, 1e3 * line[at]);
    *node = at;
    return EC_OK;
}

static double dual(const work *w, int axis, int node)
{
    return ec_fdtd_dual(&w->setup->shape, w->b->line[axis], axis, node);
}

static double cell_of(const work *w, int axis, int cell)
{
    return w->b->line[axis][cell + 1] - w->b->line[axis][cell];
}

/* The edge's material; false: it is in a conductor, on the surface of one with losses too. */
static bool medium_of(const work *w, int c, const int *place, double *eps, double *sigma)
{
    const double tolerance = 1e-6 * (w->b->line[c][place[c] + 1] - w->b->line[c][place[c]]);
    double area;

    return ec_fdtd_edge(&w->raster, &w->structure, c, place, eps, sigma, &area, NULL) &&
           ec_fdtd_open_edge(&w->raster, &w->structure, c, place, tolerance) > 0;
}

/* Whether an edge conducts better than it polarises at the highest frequency. */
static bool conducts(const work *w, int c, const int *place)
{
    const double top = 2 * EC_PI * w->config->frequency[w->config->n_frequencies - 1];
    double eps, sigma;

    if (place[c] < 0 || place[c] >= w->setup->shape.n[c])
        return false;
    return !medium_of(w, c, place, &eps, &sigma) || sigma > top * eps;
}

/* Whether an edge at a node conducts, other than those along `axis`. */
static bool node_conducts(const work *w, int axis, const int *node, bool along)
{
    for (int c = 0; c < 3; c++)
        for (int side = 0; side < 2; side++) {
            int place[3] = {node[0], node[1], node[2]};
            place[c] -= side;
            if ((c != axis || along) && conducts(w, c, place))
                return true;
        }
    return false;
}

/* Whether any edge at a node conducts, so that it has the potential of a conductor. */
static bool node_touches(const work *w, const int *node)
{
    return node_conducts(w, -1, node, false);
}

/* ---- layouts ------------------------------------------------------------------------------------ */

static int ends_of(const work *w, const ec_fdtd_port *port, int from[3], int to[3])
{
    for (int axis = 0; axis < 3; axis++) {
        int status = node_of(w, axis, value_of(port->from[axis], w->values), from + axis);
        if (status >= 0)
            status = node_of(w, axis, value_of(port->to[axis], w->values), to + axis);
        if (status < 0)
            return ec_fail(status, "port '%s': %s", name_of(port), ec_error_text());
    }
    if (from[port->axis] == to[port->axis])
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': its ends are on one grid line along %c: it needs a length",
                       name_of(port), "xyz"[port->axis]);
    return EC_OK;
}

static void strip_between(const work *w, int axis, const int *from, const int *to, strip *s)
{
    *s = (strip){.axis = axis, .direction = from[axis] > to[axis] ? -1 : 1};
    for (int c = 0; c < 3; c++) {
        s->lo[c] = from[c] < to[c] ? from[c] : to[c];
        s->hi[c] = from[c] < to[c] ? to[c] : from[c];
        if (c == axis || !w->setup->shape.periodic[c] || s->lo[c] > 0)
            continue;
        /* The last node stands for the first one: alone, or all around. */
        s->lo[c] = s->hi[c] == 0 ? w->setup->shape.n[c] : 1;
        s->hi[c] = s->hi[c] == 0 ? w->setup->shape.n[c] : s->hi[c];
    }
    s->length = w->b->line[axis][s->hi[axis]] - w->b->line[axis][s->lo[axis]];
}

/* Of the dual face of an edge. */
static double area_of(const work *w, int axis, const int *at)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return dual(w, u, at[u]) * dual(w, v, at[v]);
}

/* Of all columns. */
static double strip_area(const work *w, const strip *s)
{
    const int u = (s->axis + 1) % 3, v = (s->axis + 2) % 3;
    int at[3] = {s->lo[0], s->lo[1], s->lo[2]};
    double sum = 0;

    for (at[v] = s->lo[v]; at[v] <= s->hi[v]; at[v]++)
        for (at[u] = s->lo[u]; at[u] <= s->hi[u]; at[u]++)
            sum += area_of(w, s->axis, at);
    return sum;
}

/* The measuring plane, and whether the lines around it are apart from the start and in the domain. */
static int plane_of(const work *w, const ec_fdtd_port *port, int start, layout *l)
{
    const int axis = port->line_axis, n = w->setup->shape.n[axis], sign = port->line_sign;
    const double *x = w->b->line[axis], plane = value_of(port->plane, w->values);
    const int32_t *layers = w->setup->shape.layers[axis];

    l->plane = ec_fdtd_nearest_line(n, x, x[start] + sign * plane);
    if (sign * (l->plane - start) < 2)
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': its line is measured %s from its start, which is less than two "
                       "cells (%s)",
                       name_of(port), ec_fdtd_length_of(plane).text,
                       ec_fdtd_length_of(start + 2 * sign >= 0 && start + 2 * sign <= n
                                             ? fabs(x[start + 2 * sign] - x[start])
                                             : NAN)
                           .text);
    if (l->plane - 1 < layers[0] || l->plane + 1 > n - layers[1])
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': its measuring plane %s from its start is not in "
                       "the domain",
                       name_of(port), ec_fdtd_length_of(plane).text);
    return EC_OK;
}

/* Grows the conductor's rectangle at the measuring plane until no edge along the line around it conducts. */
static int conductor_of(const work *w, const ec_fdtd_port *port, layout *l)
{
    const int axis = port->line_axis;
    bool grown = true, any = false;
    int place[3];

    l->lo[axis] = l->hi[axis] = place[axis] = l->plane;
    while (grown) {
        grown = false;
        for (int t = 1; t < 3; t++)
            for (int side = 0; side < 2; side++) {
                const int across = (axis + t) % 3, other = 3 - axis - across;
                const int next = side ? l->hi[across] + 1 : l->lo[across] - 1;
                bool found = false;
                if (next < 0 || next > w->setup->shape.n[across])
                    continue;
                place[across] = next;
                for (place[other] = l->lo[other]; place[other] <= l->hi[other]; place[other]++)
                    found = found || conducts(w, axis, place);
                if (found && (next == 0 || next == w->setup->shape.n[across]))
                    return ec_fail(EC_ERR_RANGE,
                                   "port '%s': the conductor at `to` reaches the wall of the "
                                   "domain: a line needs a conductor of its own; are `from` (the "
                                   "ground) and `to` (the strip) swapped, or is `axis` another?",
                                   name_of(port));
                if (found)
                    *(side ? l->hi + across : l->lo + across) = next;
                grown = grown || found;
            }
    }
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (place[u] = l->lo[u]; place[u] <= l->hi[u]; place[u]++)
        for (place[v] = l->lo[v]; place[v] <= l->hi[v]; place[v]++)
            any = any || conducts(w, axis, place);
    if (!any)
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': there is no conductor along %c at `to` where the line is "
                       "measured",
                       name_of(port), "xyz"[axis]);
    return EC_OK;
}

/* Paths from the middle, `to`, to the outer conductor. */
static int coax_paths(const work *w, const ec_fdtd_port *port, const int *from, const int *to,
                      layout *l)
{
    for (int t = 0; t < 4; t++) {
        const int axis = (port->line_axis + 1 + t / 2) % 3, step = t % 2 ? -1 : 1;
        const int n = w->setup->shape.n[axis];
        int inner[3] = {to[0], to[1], to[2]}, outer[3], place[3] = {to[0], to[1], to[2]};
        place[port->line_axis] = l->plane;
        while (place[axis] >= 0 && place[axis] <= n && node_touches(w, place))
            place[axis] += step;
        inner[axis] = place[axis] - step;
        while (place[axis] >= 0 && place[axis] <= n && !node_touches(w, place))
            place[axis] += step;
        const bool asked = axis == port->axis && (from[axis] > to[axis]) == (step > 0);
        if (asked && step * (place[axis] - from[axis]) > 0)
            return ec_fail(EC_ERR_RANGE,
                           "port '%s': there is no outer conductor between its middle, `to`, and "
                           "`from`",
                           name_of(port));
        if (place[axis] < 0 || place[axis] > n)
            continue;
        memcpy(outer, inner, sizeof outer);
        outer[axis] = place[axis];
        strip_between(w, axis, outer, inner, l->strip + l->n_strips++);
    }
    return EC_OK;
}

/* Whether another port is driven, so that waves out of this one are those of a port that its own
 * resistance closes. */
static bool another_drives(const work *w, int32_t p)
{
    for (int32_t i = 0; i < w->config->n_ports; i++) {
        const ec_fdtd_port *port = w->config->ports + i;
        if (i != p && port->driven && (port->kind == EC_FDTD_LUMPED || ec_fdtd_is_line(port->kind)))
            return true;
    }
    return false;
}

/* ERR_RANGE: a line with a resistance goes on behind its port: what is there is beside the resistance, which
 * then does not close the line. Alone a port only measures its own waves, which are those of the
 * line ahead whatever is behind. */
static int check_behind(const work *w, int32_t p, const int *from, const int *to)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const int axis = port->line_axis, across = 3 - axis - port->axis;
    const bool coax = port->kind == EC_FDTD_COAX;
    int place[3] = {to[0], to[1], to[2]};

    if (!isfinite(value_of(port->ohms, w->values)) || !another_drives(w, p))
        return EC_OK;
    place[axis] = from[axis] - (port->line_sign > 0);
    const int lo = coax || from[across] > to[across] ? to[across] : from[across];
    const int hi = coax || from[across] < to[across] ? to[across] : from[across];
    for (place[across] = lo; place[across] <= hi; place[across]++)
        if (conducts(w, axis, place))
            return ec_fail(EC_ERR_RANGE,
                           "port '%s': its line goes on behind it, at %c = %s, where its ohms "
                           "should close it: let the conductor at `to` end at the port, or leave "
                           "ohms out and let the line go on into an absorbing wall",
                           name_of(port), "xyz"[axis],
                           ec_fdtd_length_of(0.5 * (w->b->line[axis][place[axis]] +
                                                    w->b->line[axis][place[axis] + 1]))
                               .text);
    return EC_OK;
}

/* Whether another port or element than p ends at a node. */
static bool another_ends(const work *w, int32_t p, const int *node)
{
    for (int32_t i = 0; i < w->config->n_ports; i++) {
        const ec_fdtd_port *port = w->config->ports + i;
        int from[3], to[3];
        strip s;
        if (i == p || (port->kind != EC_FDTD_LUMPED && port->kind != EC_FDTD_ELEMENT) ||
            ends_of(w, port, from, to) < 0)
            continue;
        strip_between(w, port->axis, from, to, &s);
        bool ends = node[s.axis] == s.lo[s.axis] || node[s.axis] == s.hi[s.axis];
        for (int c = 0; c < 3; c++)
            ends = ends && node[c] >= s.lo[c] && node[c] <= s.hi[c];
        if (ends)
            return true;
    }
    return false;
}

/* ERR_RANGE: a line without a resistance does not go on into an absorbing wall behind its port: waves
 * come back from its end, so nothing closes the port for the others. Where another port or element ends
 * at its end that closes it. */
static int check_wall_behind(const work *w, int32_t p, const int *from, const int *to)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const int axis = port->line_axis, across = 3 - axis - port->axis, side = port->line_sign < 0;
    const int n = w->setup->shape.n[axis], layers = w->setup->shape.layers[axis][side];
    const int wall = side ? n - layers : layers, step = side ? 1 : -1;
    const bool coax = port->kind == EC_FDTD_COAX;
    const int lo = coax || from[across] > to[across] ? to[across] : from[across];
    const int hi = coax || from[across] < to[across] ? to[across] : from[across];
    int place[3] = {to[0], to[1], to[2]};

    if (isfinite(value_of(port->ohms, w->values)) || !another_drives(w, p))
        return EC_OK;
    if (layers == 0)
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': the wall behind it, at the %s end of %c, absorbs nothing: what "
                       "comes back along the line rings between them; make that wall pml, or give "
                       "ohms and let the conductor at `to` end at the port",
                       name_of(port), side ? "high" : "low", "xyz"[axis]);
    for (int node = from[axis]; side ? node <= wall : node >= wall; node += step) {
        bool goes_on = false;
        place[axis] = node - !side;
        for (place[across] = lo; place[across] <= hi; place[across]++)
            goes_on = goes_on || conducts(w, axis, place);
        if (goes_on)
            continue;
        place[axis] = node;
        for (place[across] = lo; place[across] <= hi; place[across]++)
            if (another_ends(w, p, place))
                return EC_OK;
        return ec_fail(EC_ERR_RANGE,
                       "port '%s': its line ends behind it at %c = %s, before the absorbing "
                       "wall at %s: what comes back from there rings; let the conductor at "
                       "`to` go on to the end of the domain, or end at the port and give ohms",
                       name_of(port), "xyz"[axis], ec_fdtd_length_of(w->b->line[axis][node]).text,
                       ec_fdtd_length_of(w->b->line[axis][wall]).text);
    }
    return EC_OK;
}

static int layout_of(const work *w, int32_t p, layout *l)
{
    const ec_fdtd_port *port = w->config->ports + p;
    int from[3], to[3], status = ends_of(w, port, from, to);

    *l = (layout){0};
    if (status < 0)
        return status;
    if (ec_fdtd_is_line(port->kind)) {
        const int axis = port->line_axis;
        if (from[axis] != to[axis])
            return ec_fail(EC_ERR_RANGE,
                           "port '%s': `from` and `to` must have the same %c, along which its "
                           "line runs",
                           name_of(port), "xyz"[axis]);
        if ((status = plane_of(w, port, from[axis], l)) < 0 ||
            (status = check_behind(w, p, from, to)) < 0 ||
            (status = check_wall_behind(w, p, from, to)) < 0)
            return status;
        for (int c = 0; c < 3; c++) {
            const bool coax = port->kind == EC_FDTD_COAX || c == port->axis;
            l->lo[c] = coax || to[c] < from[c] ? to[c] : from[c];
            l->hi[c] = coax || to[c] > from[c] ? to[c] : from[c];
        }
        if ((status = conductor_of(w, port, l)) < 0)
            return status;
        if (port->kind == EC_FDTD_MICROSTRIP && from[port->axis] >= l->lo[port->axis] &&
            from[port->axis] <= l->hi[port->axis])
            return ec_fail(EC_ERR_RANGE,
                           "port '%s': the conductors at `from` and `to` hang together where the "
                           "line is measured",
                           name_of(port));
    }
    if (port->kind == EC_FDTD_COAX) {
        if ((status = coax_paths(w, port, from, to, l)) < 0)
            return status;
    } else {
        l->n_strips = 1;
        strip_between(w, port->axis, from, to, l->strip);
    }
    for (int32_t i = 0; i < l->n_strips; i++)
        l->area += strip_area(w, l->strip + i);
    return EC_OK;
}

/* ---- checks ------------------------------------------------------------------------------------- */

/* A column of a port: its ends at conductors, none of its edges in one, none in an absorbing wall. */
static int check_column(const work *w, int32_t p, const strip *s, const int *foot)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const int axis = s->axis;
    int at[3] = {foot[0], foot[1], foot[2]};
    const char *kind = port->kind == EC_FDTD_ELEMENT ? "element" : "port";

    for (int c = 0; c < 3; c++)
        if (s->lo[c] < w->setup->shape.layers[c][0] ||
            s->hi[c] > w->setup->shape.n[c] - w->setup->shape.layers[c][1])
            return ec_fail(EC_ERR_RANGE, "%s '%s' lies in an absorbing wall", kind, name_of(port));
    for (at[axis] = s->lo[axis]; at[axis] < s->hi[axis]; at[axis]++) {
        double eps, sigma;
        if (!medium_of(w, axis, at, &eps, &sigma))
            return ec_fail(EC_ERR_RANGE, "%s '%s' lies in metal at (%.6g, %.6g, %.6g) mm", kind,
                           name_of(port), 1e3 * w->b->line[0][at[0]], 1e3 * w->b->line[1][at[1]],
                           1e3 * w->b->line[2][at[2]]);
    }
    /* All along a periodic axis its ends are one. */
    const bool closed = w->setup->shape.periodic[axis] && s->lo[axis] == 0 &&
                        s->hi[axis] == w->setup->shape.n[axis];
    if (port->kind == EC_FDTD_CURRENT || closed)
        return EC_OK;
    for (int end = 0; end < 2; end++) {
        at[axis] = end ? s->hi[axis] : s->lo[axis];
        /* Past the end the axis' own edge counts, towards the port it is the port's. */
        int past[3] = {at[0], at[1], at[2]};
        past[axis] -= !end;
        if (!node_conducts(w, axis, at, false) && !conducts(w, axis, past) &&
            !another_ends(w, p, at))
            return ec_fail(EC_ERR_RANGE,
                           "%s '%s' bridges no two conductors: there is none at its end (%.6g, "
                           "%.6g, %.6g) mm",
                           kind, name_of(port), 1e3 * w->b->line[0][at[0]],
                           1e3 * w->b->line[1][at[1]], 1e3 * w->b->line[2][at[2]]);
    }
    return EC_OK;
}

static int check_values(const work *w, int32_t p)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const double ohms = value_of(port->ohms, w->values),
                 henries = value_of(port->henries, w->values);
    const double farads = value_of(port->farads, w->values);
    const bool element = port->kind == EC_FDTD_ELEMENT;

    if (port->kind == EC_FDTD_CURRENT || port->kind == EC_FDTD_PROBE)
        return EC_OK;
    if (!(ohms > 0) && !(element && port->series && ohms == 0))
        return ec_fail(EC_ERR_RANGE, "port '%s': ohms is %g: it must be above 0", name_of(port),
                       ohms);
    if (port->kind == EC_FDTD_LUMPED && !isfinite(ohms))
        return ec_fail(EC_ERR_RANGE, "port '%s': ohms is %g: it must be finite", name_of(port),
                       ohms);
    if (!element)
        return EC_OK;
    if (!(henries >= 0) || !isfinite(henries) || !(farads >= 0) || !isfinite(farads))
        return ec_fail(EC_ERR_RANGE,
                       "element '%s': %g H, %g F: they must be finite and not below 0 (0: none)",
                       name_of(port), henries, farads);
    if (henries == 0 && farads == 0 && (!isfinite(ohms) || ohms == 0))
        return ec_fail(EC_ERR_RANGE,
                       "element '%s' has neither a resistance nor an inductance nor a capacitance",
                       name_of(port));
    return EC_OK;
}

static int by_edge(const void *a, const void *b)
{
    const taken *x = a, *y = b;
    return x->edge != y->edge ? (x->edge < y->edge ? -1 : 1) : x->port - y->port;
}

static int check_overlaps(const work *w)
{
    qsort(w->taken, (size_t)w->edges, sizeof *w->taken, by_edge);
    for (int32_t i = 0, first = 0; i < w->edges; i++) {
        const taken *a = w->taken + i;
        first = a->edge == w->taken[first].edge ? first : i;
        for (int32_t k = first; k < i; k++) {
            const taken *b = w->taken + k;
            if ((a->loads && b->loads) || (a->own && b->own))
                return ec_fail(
                    EC_ERR_RANGE, "ports '%s' and '%s' overlap: they share edges of the grid",
                    name_of(w->config->ports + b->port), name_of(w->config->ports + a->port));
        }
    }
    return EC_OK;
}

/* ---- what ports are ----------------------------------------------------------------------------- */

static int64_t element_of(const work *w, int c, const int *at)
{
    return c * w->setup->shape.plane * (w->setup->shape.n[2] + 1) +
           ec_fdtd_at(&w->setup->shape, at[0], at[1], at[2]);
}

/* Of E (c 0 to 2) and H (3 to 5), from the field's first element. */
static int64_t index_of(const work *w, int c, const int *at)
{
    return c * w->setup->shape.field + w->setup->shape.plane +
           ec_fdtd_at(&w->setup->shape, at[0], at[1], at[2]);
}

static void e_term(work *w, int32_t probe, int c, const int *at, double weight)
{
    if (w->write)
        w->b->e_term[w->e_terms] = (ec_fdtd_term){index_of(w, c, at), at[2], probe, weight};
    w->e_terms++;
}

/* Voltage of a strip's end against its start, with the share of this strip. Of the columns the middle one
 * or two count, or all of them. */
static void voltage(work *w, int32_t probe, const strip *s, bool middle, double share)
{
    int lo[3], hi[3], at[3];

    for (int c = 0; c < 3; c++) {
        lo[c] = middle && c != s->axis ? (s->lo[c] + s->hi[c]) / 2 : s->lo[c];
        hi[c] = middle && c != s->axis ? (s->lo[c] + s->hi[c] + 1) / 2 : s->hi[c];
    }
    const strip used = {.lo = {lo[0], lo[1], lo[2]}, .hi = {hi[0], hi[1], hi[2]}, .axis = s->axis};
    const double each = share / strip_area(w, &used);
    for (at[2] = lo[2]; at[2] <= hi[2] - (s->axis == 2); at[2]++)
        for (at[1] = lo[1]; at[1] <= hi[1] - (s->axis == 1); at[1]++)
            for (at[0] = lo[0]; at[0] <= hi[0] - (s->axis == 0); at[0]++)
                e_term(w, probe, s->axis, at,
                       -s->direction * each * area_of(w, s->axis, at) *
                           cell_of(w, s->axis, at[s->axis]));
}

/* Current along +axis through the edges of cell `cell` from the nodes lo to hi: the integral of H around
 * them, where nothing is beyond the domain's ends. */
static void current(work *w, int32_t probe, int axis, int cell, const int *lo, const int *hi,
                    double sign)
{
    for (int t = 0; t < 2; t++) {
        const int along = (axis + (t ? 1 : 2)) % 3, across = (axis + (t ? 2 : 1)) % 3;
        for (int side = 0; side < 2; side++) {
            int at[3];
            at[axis] = cell;
            at[across] = side ? hi[across] : lo[across] - 1;
            if (at[across] < 0)
                continue;
            for (at[along] = lo[along]; at[along] <= hi[along]; at[along]++) {
                const double weight = (side == !t ? 1 : -1) * sign * dual(w, along, at[along]);
                if (w->write)
                    w->b->h_term[w->h_terms] =
                        (ec_fdtd_term){index_of(w, 3 + along, at), at[2], probe, weight};
                w->h_terms++;
            }
        }
    }
}

/* Loads an edge of a strip with its part of a port. */
static void load(work *w, const ec_fdtd_port *port, double total, const strip *s, const int *at)
{
    const bool element = port->kind == EC_FDTD_ELEMENT;
    const double dt = w->b->dt, length = cell_of(w, s->axis, at[s->axis]);
    const double area = area_of(w, s->axis, at);
    const double part = total / area * length / s->length; /* of an impedance */
    const double ohms = value_of(port->ohms, w->values) * part;
    const double henries = element ? value_of(port->henries, w->values) * part : 0;
    const double farads = element ? value_of(port->farads, w->values) / part : 0;
    const bool series = element && port->series, branch = series || henries > 0;
    double g = series || !isfinite(ohms) ? 0 : 1 / ohms;

    if (branch) {
        ec_fdtd_branch q = {.index = index_of(w, s->axis, at),
                            .edge = element_of(w, s->axis, at),
                            .k = at[2],
                            .lead = 2 * henries / dt,
                            .stiff = series && farads > 0 ? 1 / farads : 0,
                            .length = length,
                            .area = area,
                            .dt = dt};
        q.admittance = 1 / (q.lead + (series && isfinite(ohms) ? ohms : 0) + 0.5 * dt * q.stiff);
        g += q.admittance;
        if (w->write)
            w->b->branch[w->branches] = q;
        w->branches++;
    }
    if (w->write)
        w->b->load[w->loads] = (ec_fdtd_load){s->axis, at[0], at[1], at[2], g, series ? 0 : farads};
    w->loads++;
}

static void source(work *w, int32_t p, int c, const int *at, double density)
{
    if (w->write)
        w->b->source[p][w->sources] =
            (ec_fdtd_source){index_of(w, c, at), element_of(w, c, at), at[2], density};
    w->sources++;
}

static void take(work *w, int32_t p, int c, const int *at, bool loads, bool own)
{
    if (w->write)
        w->taken[w->edges] = (taken){element_of(w, c, at), p, loads, own};
    w->edges++;
}

/* ERR_UNSUPPORTED: an inductance or a series element in a dispersive medium, whose currents and its own
 * would each have to know the other's. */
static int check_medium(const work *w, const ec_fdtd_port *port, int axis, const int *at)
{
    const bool branch =
        port->kind == EC_FDTD_ELEMENT && (port->series || value_of(port->henries, w->values) > 0);
    double eps, sigma, area;
    bool dispersive = false;

    for (int32_t i = 0; i < w->config->n_materials; i++)
        dispersive = dispersive || w->config->materials[i].n_poles > 0;
    if (!branch || !dispersive)
        return EC_OK;
    double *share = calloc((size_t)w->structure.n_media + 1, sizeof *share);
    if (!share)
        return ec_fail(EC_ERR_MEMORY, "no memory for an element");
    dispersive = false;
    if (ec_fdtd_edge(&w->raster, &w->structure, axis, at, &eps, &sigma, &area, share))
        for (int32_t i = 0; i < w->config->n_materials; i++)
            dispersive = dispersive || (share[i] > 0 && w->config->materials[i].n_poles > 0);
    free(share);
    return dispersive ? ec_fail(EC_ERR_UNSUPPORTED,
                                "element '%s': inductances and elements in series cannot lie in a "
                                "material with poles",
                                name_of(port))
                      : EC_OK;
}

/* Loads and drives the edges of a port. */
static int edges(work *w, int32_t p, const layout *l, const strip *s)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const double ohms = value_of(port->ohms, w->values);
    const int c = s->axis;
    /* The source's current through the resistance, or the current itself: a density that flows
     * along the port, against E. */
    const bool resists = port->kind != EC_FDTD_CURRENT && isfinite(ohms);
    const double density = (resists ? 1 / ohms : 1) / l->area;
    int at[3], status;

    for (at[2] = s->lo[2]; at[2] <= s->hi[2] - (c == 2); at[2]++)
        for (at[1] = s->lo[1]; at[1] <= s->hi[1] - (c == 1); at[1]++)
            for (at[0] = s->lo[0]; at[0] <= s->hi[0] - (c == 0); at[0]++) {
                if (!w->write && at[c] == s->lo[c] && (status = check_column(w, p, s, at)) < 0)
                    return status;
                if (!w->write && (status = check_medium(w, port, c, at)) < 0)
                    return status;
                const bool loads =
                    port->kind == EC_FDTD_LUMPED || port->kind == EC_FDTD_ELEMENT || resists;
                take(w, p, c, at, loads, true);
                if (loads)
                    load(w, port, l->area, s, at);
                if (port->kind != EC_FDTD_ELEMENT)
                    source(w, p, c, at, -s->direction * density);
            }
    return EC_OK;
}

/* The static field in a line's cross-section, from its measuring plane. */
static int find_mode(work *w, int32_t p, const layout *l)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const int axis = port->line_axis, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const int32_t *n = w->setup->shape.n;
    int place[3], status = ec_fdtd_port_mode_create(n[u] + 1, n[v] + 1, w->mode + p);

    if (status < 0)
        return status;
    ec_fdtd_port_mode *m = w->mode[p];
    place[axis] = l->plane;
    for (place[v] = 0; place[v] <= n[v]; place[v]++)
        for (place[u] = 0; place[u] <= n[u]; place[u]++) {
            const int at = place[v] * (n[u] + 1) + place[u];
            /* An edge may stand out of the conductor by one node. */
            const bool inner = place[u] >= l->lo[u] - 1 && place[u] <= l->hi[u] + 1 &&
                               place[v] >= l->lo[v] - 1 && place[v] <= l->hi[v] + 1;
            m->fixed[at] = !node_touches(w, place) ? 0 : inner ? 2 : 1;
            for (int t = 0; t < 2; t++) {
                const int c = t ? v : u;
                double eps, sigma, area;
                if (place[c] < n[c] && !conducts(w, c, place) &&
                    ec_fdtd_edge(&w->raster, &w->structure, c, place, &eps, &sigma, &area, NULL))
                    m->weight[t][at] =
                        eps * dual(w, t ? u : v, place[t ? u : v]) / cell_of(w, c, place[c]);
            }
        }
    status = ec_fdtd_port_mode_solve(m);
    return status < 0 ? ec_fail(status, "port '%s': %s", name_of(port), ec_error_text()) : EC_OK;
}

/* Drives a line's cross-section at its start, and loads it if it has a resistance. */
static int mode_edges(work *w, int32_t p, const layout *l)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const double ohms = value_of(port->ohms, w->values);
    const int axis = port->line_axis, start = l->strip[0].lo[axis];
    const int32_t *n = w->setup->shape.n;
    int status = w->mode[p] ? EC_OK : find_mode(w, p, l);

    for (int t = 0; t < 2 && status >= 0; t++) {
        const int u = (axis + 1) % 3, v = (axis + 2) % 3, c = t ? v : u;
        const ec_fdtd_port_mode *m = w->mode[p];
        int at[3];
        at[axis] = start;
        for (at[v] = 0; at[v] <= n[v] - t; at[v]++)
            for (at[u] = 0; at[u] <= n[u] - !t; at[u]++) {
                const int node = at[v] * (n[u] + 1) + at[u], next = node + (t ? n[u] + 1 : 1);
                const double weight = m->weight[t][node];
                const double step = m->potential[next] - m->potential[node];
                if (weight <= 0 || (m->potential[node] <= 0 && m->potential[next] <= 0))
                    continue;
                strip s;
                int end[3] = {at[0], at[1], at[2]};
                end[c]++;
                strip_between(w, c, at, end, &s);
                bool absorbed = false;
                for (int k = 0; k < 3; k++)
                    absorbed = absorbed || s.lo[k] < w->setup->shape.layers[k][0] ||
                               s.hi[k] > n[k] - w->setup->shape.layers[k][1];
                if (absorbed)
                    continue;
                bool own = c == l->strip[0].axis;
                for (int k = 0; k < 3; k++)
                    own = own && s.lo[k] >= l->strip[0].lo[k] && s.hi[k] <= l->strip[0].hi[k];
                take(w, p, c, at, isfinite(ohms), own);
                if (isfinite(ohms)) {
                    if (w->write)
                        w->b->load[w->loads] =
                            (ec_fdtd_load){c, at[0], at[1], at[2], weight / (m->sum * ohms), 0};
                    w->loads++;
                }
                if (step != 0)
                    source(w, p, c, at,
                           -weight * step / m->sum / (isfinite(ohms) ? ohms : 1) /
                               area_of(w, c, at));
            }
    }
    return status;
}

/* Probes of a port of a line. */
static void line_probes(work *w, int32_t p, const layout *l)
{
    const ec_fdtd_port *port = w->config->ports + p;
    const int axis = port->line_axis, sign = port->line_sign;
    const int32_t own = p * EC_FDTD_PORT_PROBES, further = ec_fdtd_line_probe(w->config, p);
    const int32_t probe[3] = {further + EC_FDTD_V_BEHIND, own + EC_FDTD_VOLTAGE,
                              further + EC_FDTD_V_AHEAD};
    const double *x = w->b->line[axis];

    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < l->n_strips; i++) {
            strip s = l->strip[i];
            s.lo[axis] = s.hi[axis] = l->plane + sign * (k - 1);
            voltage(w, probe[k], &s, true, strip_area(w, l->strip + i) / l->area);
        }
    const int ahead = sign > 0 ? l->plane : l->plane - 1;
    current(w, own + EC_FDTD_THROUGH, axis, ahead - sign, l->lo, l->hi, sign);
    current(w, further + EC_FDTD_I_AHEAD, axis, ahead, l->lo, l->hi, sign);
    w->b->run[p] = (ec_fdtd_run){fabs(x[l->plane] - x[l->strip[0].lo[axis]]),
                                 cell_of(w, axis, ahead - sign), cell_of(w, axis, ahead)};
}

static int port(work *w, int32_t p)
{
    const ec_fdtd_port *port = w->config->ports + p;
    layout l;
    int status = w->write ? EC_OK : check_values(w, p);

    if (status < 0 || (status = layout_of(w, p, &l)) < 0)
        return status;
    w->sources = 0;
    const bool line = ec_fdtd_is_line(port->kind);
    for (int32_t i = 0; i < l.n_strips && line && !w->write; i++) {
        const strip *s = l.strip + i;
        if ((status = check_column(w, p, s, s->lo)) < 0)
            return status;
    }
    if (port->kind == EC_FDTD_COAX || (line && isinf(value_of(port->ohms, w->values)))) {
        if ((status = mode_edges(w, p, &l)) < 0)
            return status;
    } else if (port->kind != EC_FDTD_PROBE) {
        if ((status = edges(w, p, &l, l.strip)) < 0)
            return status;
    }
    if (!w->write && w->sources) {
        w->b->source[p] = calloc((size_t)w->sources, sizeof *w->b->source[p]);
        if (!w->b->source[p])
            return ec_fail(EC_ERR_MEMORY, "no memory for a port's sources");
    }
    w->b->n_sources[p] = w->sources;
    if (line) {
        line_probes(w, p, &l);
    } else if (port->kind != EC_FDTD_ELEMENT) {
        const strip *s = l.strip;
        voltage(w, p * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE, s, false, 1);
        /* What a port's own source and resistance carry is known. */
        for (int i = s->lo[s->axis]; i < s->hi[s->axis] && port->kind == EC_FDTD_PROBE; i++)
            current(w, p * EC_FDTD_PORT_PROBES + EC_FDTD_THROUGH, s->axis, i, s->lo, s->hi,
                    s->direction * cell_of(w, s->axis, i) / s->length);
    }
    return EC_OK;
}

static int all(work *w, bool write)
{
    w->write = write;
    w->loads = w->branches = w->e_terms = w->h_terms = w->edges = 0;
    for (int32_t p = 0; p < w->config->n_ports; p++) {
        const int status = port(w, p);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

static int by_plane(const void *a, const void *b)
{
    const ec_fdtd_term *x = a, *y = b;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return x->probe != y->probe ? (x->probe < y->probe ? -1 : 1)
                                : (x->index < y->index ? -1 : x->index > y->index);
}

static int branch_by_plane(const void *a, const void *b)
{
    const ec_fdtd_branch *x = a, *y = b;
    return x->k != y->k ? x->k - y->k : x->index < y->index ? -1 : x->index > y->index;
}

static int source_by_plane(const void *a, const void *b)
{
    const ec_fdtd_source *x = a, *y = b;
    return x->k != y->k ? x->k - y->k : x->index < y->index ? -1 : x->index > y->index;
}

int ec_fdtd_ports_build(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &setup->model->config;
    work w = {.setup = setup, .config = c, .values = values, .b = b};
    int status;

    ec_fdtd_raster_of(setup, b, &w.structure, &w.raster);
    w.mode = calloc((size_t)c->n_ports + 1, sizeof *w.mode);
    if (!w.mode)
        return ec_fail(EC_ERR_MEMORY, "no memory for ports");
    if ((status = all(&w, false)) < 0)
        goto end;
    b->load = calloc((size_t)w.loads + 1, sizeof *b->load);
    b->branch = calloc((size_t)w.branches + 1, sizeof *b->branch);
    b->e_term = calloc((size_t)w.e_terms + 1, sizeof *b->e_term);
    b->h_term = calloc((size_t)w.h_terms + 1, sizeof *b->h_term);
    w.taken = calloc((size_t)w.edges + 1, sizeof *w.taken);
    if (!b->load || !b->branch || !b->e_term || !b->h_term || !w.taken) {
        status = ec_fail(EC_ERR_MEMORY, "no memory for ports");
        goto end;
    }
    if ((status = all(&w, true)) < 0 || (status = check_overlaps(&w)) < 0)
        goto end;
    b->n_loads = w.loads;
    b->n_branches = w.branches;
    b->n_e_terms = w.e_terms;
    b->n_h_terms = w.h_terms;
    qsort(b->branch, (size_t)b->n_branches, sizeof *b->branch, branch_by_plane);
    qsort(b->e_term, (size_t)b->n_e_terms, sizeof *b->e_term, by_plane);
    qsort(b->h_term, (size_t)b->n_h_terms, sizeof *b->h_term, by_plane);
    for (int32_t p = 0; p < c->n_ports; p++)
        if (b->n_sources[p])
            qsort(b->source[p], (size_t)b->n_sources[p], sizeof *b->source[p], source_by_plane);
end:
    for (int32_t p = 0; p < c->n_ports; p++)
        ec_fdtd_port_mode_destroy(w.mode + p);
    free(w.mode);
    free(w.taken);
    return status;
}
