/* fdtd_raster_internal.h: which material an edge of the grid has, for the CPU and for CUDA.
 *
 * An edge is a conductor when its middle lies in one, its surface included. Otherwise its
 * permittivity and conductivity are the means over the dual face, sampled in its four quarters (E
 * is tangential to what the cells' faces separate; K.-P. Hwang and A. C. Cangellaris, IEEE Microw.
 * Wireless Compon. Lett. 11, 2001). A face's permeability is the harmonic mean along its normal, where B
 * is continuous. Of objects that overlap the last one of the list counts, of plates in one plane too: what
 * an air plate covers of an earlier plate is not there (a slot), and the edge between a plate and what
 * is cut from it is the plate's. What has a volume is not cut by what has none.
 *
 * Conformal conductors (S. Dey and R. Mittra, IEEE Microw. Guided Wave Lett. 7, 1997): an edge that is
 * partly in a conductor has the rest as its length, a face the rest as its area, in the flux law's
 * line integral. The field of an edge is then the voltage along the rest over the edge's whole
 * length, so only coefficients change: with q the part outside, permittivity and conductivity become
 * eps / q and sigma / q, permeability and magnetic conductivity of a face mu q and sigma_m q; voltages
 * and the energy stay sums over whole edges. Very small areas are enlarged until the step is stable
 * (ec_fdtd_least_area).
 *
 * Edges of plates: about the edge of a thin plate at x < 0 static fields have the potential Re sqrt(x + jz),
 * so the edges of the grid that leave the plate's edge across it do not have the mean field of their dual
 * face: their flux over their voltage, Im sqrt(x + jz) between the ends of the dual face, is
 * part of what constant fields would have, 0.64 for square cells. With edge_correction their
 * permittivity and conductivity are taken times this part and the permeability of the faces between
 * them along the plate's edge, which have the same geometry, over it: the capacitance and the inductance of
 * a line are then those of its true width, its speed stays (static fields in the update: D. B. Shorthouse and C. J.
 * Railton, IEEE Trans. Microw. Theory Techn. 40, 1992). No part is so small that the step would
 * not be stable (ec_fdtd_rim_part).
 *
 * Conductors with losses are conductors but for the edges on their surface (fdtd_metal_internal.h), which
 * have a current for the width of surface that their dual face has: the halves of that face's two
 * middle lines that are in the metal with free space beside them, of a plate both sides or one.
 *
 * A periodic axis: its last node stands for the first one too.
 *
 * What touches an end of the domain goes on into the absorbing cells beyond it: places there are
 * those of the domain's end. */
#ifndef EC_FDTD_RASTER_INTERNAL_H
#define EC_FDTD_RASTER_INTERNAL_H

#include "fdtd_domain_internal.h"

EC_C_BEGIN

/* Functions that are called from several places and take long: on the CPU they are there once, which compilers need
 * minutes less for. */
#ifdef __CUDACC__
#define EC_FDTD_CALL EC_FN
#else
#define EC_FDTD_CALL static __attribute__((noinline, unused))
#endif

enum {
    EC_FDTD_SOLID_BOX, /* plates and wires too: boxes without an extent along one or two axes */
    EC_FDTD_SOLID_CYLINDER,
    EC_FDTD_SOLID_SPHERE,
    EC_FDTD_SOLID_POLYGON
};

/* S: sheets that conduct no worse have fields at their edges as metal has: their resistance is far below
 * that of a wave, 377 ohm, and below the reactance of a cell's inductance. */
#define EC_FDTD_METAL_SHEET 1.0

/* An object with a candidate's numbers. */
typedef struct ec_fdtd_solid {
    int32_t kind, axis;
    int32_t material; /* of the structure's table; EC_FDTD_PEC, EC_FDTD_FREE_SPACE */
    int32_t first_point, n_points;
    double lo[3], hi[3];  /* m, its extent */
    double radius, inner; /* m */
    double sheet;         /* S, of a conducting sheet; 0: it is none */
    int32_t metal;        /* of a conductor: the medium of its surface, -1: it is perfect */
    int32_t both_sides;   /* of a plate of metal: its currents flow on both of them */
} ec_fdtd_solid;

typedef struct ec_fdtd_medium {
    double eps_r, mu_r, sigma, sigma_m; /* S/m, ohm/m; sigma with what poles add to it */
    int32_t index;                      /* of the structure's table, -1 for none */
} ec_fdtd_medium;

/* A conductance and a capacitance in an edge, S m and F m: current over field. */
typedef struct ec_fdtd_load {
    int32_t c, i, j, k;
    double g, cap;
} ec_fdtd_load;

/* A candidate's, on the backend. */
typedef struct ec_fdtd_structure {
    const double *line[3];      /* [n + 1], m */
    double end[3][2];           /* of the domain, without absorbing cells */
    const ec_fdtd_solid *solid; /* the last one counts */
    int32_t n_solids;
    const double *point; /* of polygons: pairs */
    const ec_fdtd_medium *medium;
    int32_t n_media;
    const ec_fdtd_load *load;
    int32_t n_loads;
    double dt;
    void *a, *b, *ha, *hb; /* as in ec_fdtd_domain; ha NULL without magnetic materials */
} ec_fdtd_structure;

typedef struct ec_fdtd_raster_args {
    ec_fdtd_shape shape;
    const ec_fdtd_structure *structure; /* [n] */
    int64_t first;                      /* element of a component that lane 0 is */
    int32_t magnetic_wall[3][2];
    int32_t averaging;
    bool conformal, edge_correction;
    bool double_precision;
} ec_fdtd_raster_args;

/* Whether a point lies in a solid that is `margin` larger on all sides (smaller if below 0). */
EC_FN bool ec_fdtd_contains(const ec_fdtd_solid *s, const double *point, const double *p,
                            double margin)
{
    for (int c = 0; c < 3; c++)
        if (p[c] < s->lo[c] - margin || p[c] > s->hi[c] + margin)
            return false;
    if (s->kind == EC_FDTD_SOLID_BOX)
        return true;
    const int u = (s->axis + 1) % 3, v = (s->axis + 2) % 3;
    if (s->kind == EC_FDTD_SOLID_POLYGON) {
        bool inside = false;
        double nearest = INFINITY;
        const double *q = point + 2 * s->first_point;
        for (int i = 0, j = s->n_points - 1; i < s->n_points; j = i++) {
            const double ax = q[2 * j] - p[u], ay = q[2 * j + 1] - p[v];
            const double bx = q[2 * i] - p[u], by = q[2 * i + 1] - p[v];
            const double ex = bx - ax, ey = by - ay, length = ex * ex + ey * ey;
            double t = length > 0 ? -(ax * ex + ay * ey) / length : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            const double dx = ax + t * ex, dy = ay + t * ey, d = dx * dx + dy * dy;
            nearest = d < nearest ? d : nearest;
            if ((ay > 0) != (by > 0) && ax + ay / (ay - by) * ex > 0)
                inside = !inside;
        }
        return margin >= 0 ? inside || nearest <= margin * margin
                           : inside && nearest >= margin * margin;
    }
    double r2 = 0;
    for (int c = 0; c < 3; c++)
        if (s->kind == EC_FDTD_SOLID_SPHERE || c != s->axis) {
            const double d = p[c] - 0.5 * (s->lo[c] + s->hi[c]);
            r2 += d * d;
        }
    const double outer = s->radius + margin, inner = s->inner - margin;
    return outer >= 0 && r2 <= outer * outer &&
           (s->inner <= 0 || inner <= 0 || r2 >= inner * inner);
}

/* The axis across a solid without a thickness; -1: it has one, or is a wire. */
EC_FN int ec_fdtd_flat_axis(const ec_fdtd_solid *s)
{
    int flat = -1;

    for (int c = 0; c < 3; c++)
        if (s->lo[c] == s->hi[c]) {
            if (flat >= 0)
                return -1;
            flat = c;
        }
    return flat;
}

/* Whether later plates of another material leave nothing of plate i at a point of it: neither at the point
 * nor, where that is on an edge of one, next to it. */
EC_FDTD_CALL bool ec_fdtd_is_cut(const ec_fdtd_structure *s, int i, const double *p,
                                 double tolerance)
{
    const int axis = ec_fdtd_flat_axis(s->solid + i);
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    bool near = false;

    for (int k = i + 1; k < s->n_solids && axis >= 0 && !near; k++)
        near = s->solid[k].material == -1 && ec_fdtd_flat_axis(s->solid + k) == axis &&
               ec_fdtd_contains(s->solid + k, s->point, p, tolerance);
    if (!near)
        return false;
    for (int corner = 0; corner < 4; corner++) {
        double q[3] = {p[0], p[1], p[2]};
        q[u] += (corner & 1 ? 4 : -4) * tolerance;
        q[v] += (corner & 2 ? 4 : -4) * tolerance;
        for (int t = 1; t < 3; t++) { /* what ends with the domain goes on beyond it */
            const int c = (axis + t) % 3;
            const double low = s->end[c][0] + 4 * tolerance, high = s->end[c][1] - 4 * tolerance;
            q[c] = q[c] < low ? low : q[c] > high ? high : q[c];
        }
        bool there = ec_fdtd_contains(s->solid + i, s->point, q, tolerance);
        for (int k = i + 1; k < s->n_solids && there; k++)
            there = s->solid[k].material != -1 || ec_fdtd_flat_axis(s->solid + k) != axis ||
                    !ec_fdtd_contains(s->solid + k, s->point, q, tolerance);
        if (there)
            return false;
    }
    return true;
}

/* The last solid that has the point, -1 for none. Conductors have their surface, other solids have not. */
EC_FDTD_CALL int ec_fdtd_top(const ec_fdtd_structure *s, const double *p, double tolerance)
{
    for (int i = s->n_solids - 1; i >= 0; i--) {
        const ec_fdtd_solid *solid = s->solid + i;
        if (solid->sheet > 0)
            continue;
        if (ec_fdtd_contains(solid, s->point, p, solid->material == -2 ? tolerance : -tolerance) &&
            !(solid->material == -2 && ec_fdtd_is_cut(s, i, p, tolerance)))
            return i;
    }
    return -1;
}

EC_FN double ec_fdtd_clamped(const ec_fdtd_structure *s, int axis, double x)
{
    return x < s->end[axis][0] ? s->end[axis][0] : x > s->end[axis][1] ? s->end[axis][1] : x;
}

/* Medium at a point in a cell, false in a conductor. */
EC_FDTD_CALL bool ec_fdtd_medium_at(const ec_fdtd_structure *s, const double *p, double tolerance,
                                    ec_fdtd_medium *medium)
{
    double q[3];
    for (int c = 0; c < 3; c++) { /* just within the domain, so that what ends there has it */
        const double lo = s->end[c][0] + 4 * tolerance, hi = s->end[c][1] - 4 * tolerance;
        q[c] = p[c] < lo ? lo : p[c] > hi ? hi : p[c];
    }
    const int top = ec_fdtd_top(s, q, tolerance);
    medium->eps_r = medium->mu_r = 1;
    medium->sigma = medium->sigma_m = 0;
    medium->index = -1;
    if (top >= 0 && s->solid[top].material == -2)
        return false;
    if (top >= 0 && s->solid[top].material >= 0)
        *medium = s->medium[s->solid[top].material];
    return true;
}

/* ---- conformal conductors ----------------------------------------------------------------------- */

EC_FDTD_CALL bool ec_fdtd_is_conductor(const ec_fdtd_structure *s, const double *p,
                                       double tolerance)
{
    double q[3];
    for (int c = 0; c < 3; c++)
        q[c] = ec_fdtd_clamped(s, c, p[c]);
    const int top = ec_fdtd_top(s, q, tolerance);
    return top >= 0 && s->solid[top].material == -2;
}

/* Whether any conductor's extent meets the box from p by d (>= 0), sheets that are almost metal too. */
EC_FN bool ec_fdtd_may_conduct(const ec_fdtd_structure *s, const double *p, const double *d,
                               double tolerance)
{
    for (int i = 0; i < s->n_solids; i++) {
        const ec_fdtd_solid *o = s->solid + i;
        bool apart = o->material != -2 && !(o->sheet >= EC_FDTD_METAL_SHEET);
        for (int c = 0; c < 3; c++)
            apart = apart || ec_fdtd_clamped(s, c, p[c] + d[c]) < o->lo[c] - tolerance ||
                    ec_fdtd_clamped(s, c, p[c]) > o->hi[c] + tolerance;
        if (!apart)
            return true;
    }
    return false;
}

enum { EC_FDTD_CUTS = 8 }; /* samples of an edge and lines of a face */

/* The part of the line from p along `axis` by `length` that no conductor has: its parts between samples
 * halved until the surface is known to 1e-6 of it. */
EC_FDTD_CALL double ec_fdtd_open_line(const ec_fdtd_structure *s, const double *p, int axis,
                                      double length, double tolerance)
{
    double q[3] = {p[0], p[1], p[2]}, open = 0;
    double extent[3] = {0, 0, 0};

    extent[axis] = length;
    if (!ec_fdtd_may_conduct(s, p, extent, tolerance))
        return 1;
    bool before = ec_fdtd_is_conductor(s, q, tolerance);

    for (int i = 1; i <= EC_FDTD_CUTS; i++) {
        q[axis] = p[axis] + length * i / EC_FDTD_CUTS;
        const bool now = ec_fdtd_is_conductor(s, q, tolerance);
        double lo = i - 1, hi = i;
        for (int turn = 0; turn < 17 && now != before; turn++) {
            const double middle = 0.5 * (lo + hi);
            q[axis] = p[axis] + length * middle / EC_FDTD_CUTS;
            if (ec_fdtd_is_conductor(s, q, tolerance) == before)
                lo = middle;
            else
                hi = middle;
        }
        open += now && before ? 0 : !now && !before ? 1 : before ? i - hi : lo - (i - 1);
        before = now;
    }
    open /= EC_FDTD_CUTS;
    return open < 1e-4 ? 0 : open > 1 - 1e-4 ? 1 : open;
}

/* Of a face across c: the part of its area that no conductor has. Lines along the next axis. */
EC_FDTD_CALL double ec_fdtd_open_face(const ec_fdtd_structure *s, const int *place, int c,
                                      double tolerance)
{
    const int u = (c + 1) % 3, v = (c + 2) % 3;
    const double *x = s->line[u], *y = s->line[v];
    double p[3], open = 0;

    p[c] = s->line[c][place[c]];
    p[u] = x[place[u]];
    for (int i = 0; i < EC_FDTD_CUTS; i++) {
        p[v] = y[place[v]] + (y[place[v] + 1] - y[place[v]]) * (i + 0.5) / EC_FDTD_CUTS;
        open += ec_fdtd_open_line(s, p, u, x[place[u] + 1] - x[place[u]], tolerance);
    }
    return open / EC_FDTD_CUTS;
}

/* The least part of its area that a face across c may have, with parts open[u, v][low, high] of
 * its edges: the row of curl curl that belongs to the face (S. Gershgorin's bound on its largest
 * eigenvalue, all materials at least free space) stays within what dt allows. */
EC_FN double ec_fdtd_least_area(const ec_fdtd_shape *shape, const ec_fdtd_structure *s, int c,
                                const int *place, double open[2][2])
{
    const double speed = 0.5 * EC_LIGHT_SPEED * s->dt;
    double sum = 0;

    for (int t = 0; t < 2; t++) { /* edges along axis c + 1 + t lie at both ends of the other */
        const int other = (c + 2 - t) % 3, i = place[other];
        const double d = s->line[other][i + 1] - s->line[other][i];
        const double across = 2 / ec_fdtd_dual(shape, s->line[c], c, place[c]);
        for (int side = 0; side < 2; side++)
            sum += open[t][side] / d *
                   (across + 2 / ec_fdtd_dual(shape, s->line[other], other, i + side));
    }
    return speed * speed * sum;
}

/* Part of the area of a face across c that counts, 0 for one in a conductor. */
EC_FDTD_CALL double ec_fdtd_face_part(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s,
                                      int c, const int *place, double tolerance)
{
    double open[2][2], least = 1, most = 0, p[3], extent[3];

    for (int i = 0; i < 3; i++) {
        p[i] = s->line[i][place[i]];
        extent[i] = i == c ? 0 : s->line[i][place[i] + 1] - p[i];
    }
    if (!ec_fdtd_may_conduct(s, p, extent, tolerance))
        return 1;
    for (int t = 0; t < 2; t++) {
        const int along = (c + 1 + t) % 3, other = (c + 2 - t) % 3;
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < 3; i++)
                p[i] = s->line[i][place[i]];
            p[other] = s->line[other][place[other] + side];
            open[t][side] = ec_fdtd_open_line(
                s, p, along, s->line[along][place[along] + 1] - s->line[along][place[along]],
                tolerance);
            least = open[t][side] < least ? open[t][side] : least;
            most = open[t][side] > most ? open[t][side] : most;
        }
    }
    if (least == 1 || most == 0)
        return least;
    const double part = ec_fdtd_open_face(s, place, c, tolerance);
    const double enough = ec_fdtd_least_area(&a->shape, s, c, place, open);
    return part < enough ? (enough < 1 ? enough : 1) : part;
}

/* ---- edges and faces ---------------------------------------------------------------------------- */

/* The part of an edge that no conductor has: without conformal conductors all or nothing, as its
 * middle has it. At a node that stands for both ends of a periodic axis both places count. */
EC_FDTD_CALL double ec_fdtd_open_edge(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s,
                                      int c, const int *place, double tolerance)
{
    const int u = (c + 1) % 3, v = (c + 2) % 3;
    const double length = s->line[c][place[c] + 1] - s->line[c][place[c]];
    double least = 1;

    for (int image = 0; image < 4; image++) {
        double p[3];
        bool there = true;
        for (int t = 0; t < 2; t++) {
            const int axis = t ? v : u, first = image >> t & 1;
            there =
                there && (!first || (a->shape.periodic[axis] && place[axis] == a->shape.n[axis]));
            p[axis] = s->line[axis][first ? 0 : place[axis]];
        }
        if (!there)
            continue;
        p[c] = s->line[c][place[c]];
        if (a->conformal) {
            const double open = ec_fdtd_open_line(s, p, c, length, tolerance);
            least = open < least ? open : least;
        } else {
            p[c] += 0.5 * length;
            if (ec_fdtd_is_conductor(s, p, tolerance))
                least = 0;
        }
    }
    return least;
}

/* ---- edges of plates ---------------------------------------------------------------------------- */

/* Whether an edge along t is in a thin sheet that is almost metal. */
EC_FDTD_CALL bool ec_fdtd_is_in_sheet(const ec_fdtd_structure *s, int t, const int *place,
                                      double tolerance)
{
    double p[3];

    for (int c = 0; c < 3; c++)
        p[c] = ec_fdtd_clamped(s, c,
                               c == t ? 0.5 * (s->line[c][place[c]] + s->line[c][place[c] + 1])
                                      : s->line[c][place[c]]);
    for (int i = 0; i < s->n_solids; i++)
        if (s->solid[i].sheet >= EC_FDTD_METAL_SHEET && s->solid[i].axis != t &&
            ec_fdtd_contains(s->solid + i, s->point, p, tolerance) &&
            !ec_fdtd_is_cut(s, i, p, tolerance))
            return true;
    return false;
}

/* Whether an edge along t is in metal, an electric wall's too. */
EC_FDTD_CALL bool ec_fdtd_is_metal(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s, int t,
                                   const int *place, double tolerance)
{
    for (int k = 1; k < 3; k++) {
        const int axis = (t + k) % 3, at = place[axis];
        if (!a->shape.periodic[axis] && ((at == 0 && !a->magnetic_wall[axis][0]) ||
                                         (at == a->shape.n[axis] && !a->magnetic_wall[axis][1])))
            return true;
    }
    return ec_fdtd_open_edge(a, s, t, place, tolerance) <= 0 ||
           ec_fdtd_is_in_sheet(s, t, place, tolerance);
}

/* Whether an edge along t is of a plate's edge: of its four neighbours one is in metal too, which is where
 * the plate is: towards side 0 or 1 of *axis. */
EC_FDTD_CALL bool ec_fdtd_is_rim(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s, int t,
                                 const int *place, double tolerance, int *axis, int *side)
{
    int count = 0;

    if (place[t] < 0 || place[t] >= a->shape.n[t])
        return false;
    for (int k = 1; k < 3; k++) {
        const int w = (t + k) % 3;
        if (place[w] < 1 || place[w] >= a->shape.n[w])
            return false;
    }
    if (!ec_fdtd_is_metal(a, s, t, place, tolerance))
        return false;
    for (int k = 2; k < 6 && count < 2; k++) {
        int next[3] = {place[0], place[1], place[2]};
        next[(t + k / 2) % 3] += k % 2 ? 1 : -1;
        if (!ec_fdtd_is_metal(a, s, t, next, tolerance))
            continue;
        *axis = (t + k / 2) % 3;
        *side = k % 2;
        count++;
    }
    return count == 1;
}

/* Im sqrt(x + jz). */
EC_FN double ec_fdtd_rim_flux(double x, double z)
{
    return sqrt(0.5 * (sqrt(x * x + z * z) - x));
}

/* Of the constant field's flux over voltage what the edge along c at `place` has, whose end `end` (0, 1)
 * is on a plate's edge along t; the plate comes from side `side` of `axis`. At least so much that
 * the edge's row of curl curl (S. Gershgorin's bound) stays within what dt allows, with the faces along
 * t corrected too and all materials at least free space. */
EC_FDTD_CALL double ec_fdtd_rim_part(const ec_fdtd_structure *s, int t, int c, const int *place,
                                     int end, int axis, int side)
{
    const int w = 3 - c - t;
    const double *x = s->line[w] + place[w];
    const double length = s->line[c][place[c] + 1] - s->line[c][place[c]];
    const double low = x[0] - x[-1], high = x[1] - x[0], across = 0.5 * (low + high);
    const double along = s->line[t][place[t] + 1] - s->line[t][place[t]];
    const double rate = 2 / (EC_LIGHT_SPEED * s->dt);
    const double most = rate * rate - 4 / along * (1 / length + 1 / along);
    const double least = (4 / length + 2 / low + 2 / high) / across;
    double part = 1;

    if (axis == c && side == end)
        part = (ec_fdtd_rim_flux(0.5 * length, 0.5 * low) +
                ec_fdtd_rim_flux(0.5 * length, 0.5 * high)) /
               sqrt(length) * length / across;
    else if (axis == w)
        part = (ec_fdtd_rim_flux(-0.5 * (side ? high : low), 0.5 * length) -
                ec_fdtd_rim_flux(0.5 * (side ? low : high), 0.5 * length)) /
               sqrt(0.5 * length) * length / across;
    if (!(part * most >= least))
        part = least / most;
    return part > 0 && part < 1 ? part : 1;
}

/* Whether any conductor's extent is within a cell of the edge or face at `place`. */
EC_FN bool ec_fdtd_near_metal(const ec_fdtd_shape *shape, const ec_fdtd_structure *s,
                              const int *place, double tolerance)
{
    double p[3], extent[3];

    for (int i = 0; i < 3; i++) {
        const int lo = place[i] > 1 ? place[i] - 1 : 0;
        const int hi = place[i] + 2 < shape->n[i] ? place[i] + 2 : shape->n[i];
        p[i] = s->line[i][lo];
        extent[i] = s->line[i][hi] - p[i];
    }
    return ec_fdtd_may_conduct(s, p, extent, tolerance);
}

/* ec_fdtd_rim_part of the edge along c at `place`: where a plate's edge ends, the mean along it; the smallest
 * of several. */
EC_FDTD_CALL double ec_fdtd_edge_part(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s,
                                      int c, const int *place, double tolerance)
{
    double least = 1;

    if (!ec_fdtd_near_metal(&a->shape, s, place, tolerance))
        return 1;
    for (int k = 0; k < 4; k++) {
        const int end = k % 2, t = (c + 1 + k / 2) % 3, n = a->shape.n[t];
        double sum = 0;
        int cells = 0;
        for (int back = 0; back < 2; back++) {
            int at[3] = {place[0], place[1], place[2]}, axis, side;
            at[t] -= back;
            if (at[t] == n && a->shape.periodic[t])
                at[t] = 0;
            if (at[t] < 0 || at[t] >= n)
                continue;
            cells++;
            int from[3] = {at[0], at[1], at[2]};
            at[c] += end;
            sum += ec_fdtd_is_rim(a, s, t, at, tolerance, &axis, &side)
                       ? ec_fdtd_rim_part(s, t, c, from, end, axis, side)
                       : 1;
        }
        least = cells && sum / cells < least ? sum / cells : least;
    }
    return least;
}

/* The same of the face across c at `place`, whose permeability it divides. */
EC_FDTD_CALL double ec_fdtd_face_rim_part(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s,
                                          int c, const int *place, double tolerance)
{
    double least = 1;

    if (place[c] < 1 || place[c] >= a->shape.n[c] ||
        !ec_fdtd_near_metal(&a->shape, s, place, tolerance))
        return 1;
    for (int k = 0; k < 4; k++) {
        const int end = k % 2, t = (c + 1 + k / 2) % 3, w = 3 - c - t;
        int at[3] = {place[0], place[1], place[2]}, axis, side;
        at[w] += end;
        if (!ec_fdtd_is_rim(a, s, t, at, tolerance, &axis, &side))
            continue;
        const double part = ec_fdtd_rim_part(s, t, w, place, end, axis, side);
        least = part < least ? part : least;
    }
    return least;
}

/* How much of the surface of metals with losses the dual face of the edge along c at p has, from half[u, v][low,
 * high] away: m across the edge. *metal: the medium of that surface. 0: the edge is in a perfect
 * conductor, or within. */
EC_FDTD_CALL double ec_fdtd_surface_width(const ec_fdtd_structure *s, int c, const double *p,
                                          double half[2][2], double tolerance, int *metal)
{
    const int top = ec_fdtd_top(s, p, tolerance);
    double width = 0;

    *metal = top >= 0 ? s->solid[top].metal : -1;
    if (*metal < 0)
        return 0;
    for (int k = 0; k < 4; k++) { /* towards u, v, low and high */
        const int t = k / 2, axis = (c + 1 + t) % 3, across = (c + 2 - t) % 3;
        const double d = half[t][k % 2];
        double q[3] = {p[0], p[1], p[2]};
        int open = 0;
        q[axis] = ec_fdtd_clamped(s, axis, p[axis] + (k % 2 ? 0.5 : -0.5) * d);
        const int there = d > 0 ? ec_fdtd_top(s, q, tolerance) : -1;
        if (there < 0 || s->solid[there].metal != *metal)
            continue;
        for (int side = 0; side < 2; side++) {
            q[across] = p[across] + (side ? 0.5 : -0.5) * half[1 - t][side];
            if (half[1 - t][side] > 0 && !ec_fdtd_is_conductor(s, q, tolerance))
                open++;
        }
        width += open == 2 && !s->solid[there].both_sides ? d : open * d;
    }
    return width;
}

/* Permittivity (F/m) and conductivity (S/m) of edge (i, j, k) along c; false: a conductor, or it does
 * not exist. area: of its dual face, m^2. share: NULL, or [n_media], 0 before: the parts of the dual
 * face that each medium has, over the part of the edge that is no conductor. */
EC_FDTD_CALL bool ec_fdtd_edge(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s, int c,
                               const int *given, double *eps, double *sigma, double *area,
                               double *share)
{
    int place[3] = {given[0], given[1], given[2]};
    const int u = (c + 1) % 3, v = (c + 2) % 3;
    double p[3], half[2][2], least, sheets = 0;

    if (place[c] >= a->shape.n[c])
        return false;
    least = s->line[c][place[c] + 1] - s->line[c][place[c]];
    for (int t = 0; t < 2; t++) {
        const int axis = t ? v : u, n = a->shape.n[axis];
        const bool periodic = a->shape.periodic[axis];
        const int at = place[axis] = periodic && place[axis] == 0 ? n : place[axis];
        const double *x = s->line[axis];
        if (!periodic &&
            ((at == 0 && !a->magnetic_wall[axis][0]) || (at == n && !a->magnetic_wall[axis][1])))
            return false;
        half[t][0] = at > 0 ? 0.5 * (x[at] - x[at - 1]) : 0;
        half[t][1] = at < n ? 0.5 * (x[at + 1] - x[at]) : periodic ? 0.5 * (x[1] - x[0]) : 0;
        for (int side = 0; side < 2; side++)
            if (half[t][side] > 0 && half[t][side] < least)
                least = half[t][side];
        p[axis] = ec_fdtd_clamped(s, axis, x[at]);
    }
    p[c] = ec_fdtd_clamped(s, c, 0.5 * (s->line[c][place[c]] + s->line[c][place[c] + 1]));
    const double tolerance = 1e-6 * least;
    double open = ec_fdtd_open_edge(a, s, c, place, tolerance), surface = 0;
    int metal = -1;
    if (open <= 0) {
        surface = ec_fdtd_surface_width(s, c, p, half, tolerance, &metal);
        if (!(surface > 0))
            return false;
        open = 1;
    }
    *area = (half[0][0] + half[0][1]) * (half[1][0] + half[1][1]);
    for (int i = 0; i < s->n_solids; i++) { /* sheets that the edge lies in */
        const ec_fdtd_solid *solid = s->solid + i;
        if (solid->sheet <= 0 || solid->axis == c ||
            !ec_fdtd_contains(solid, s->point, p, tolerance) || ec_fdtd_is_cut(s, i, p, tolerance))
            continue;
        const int t = solid->axis == v;
        sheets += solid->sheet / (half[t][0] + half[t][1]);
    }
    double total = 0, sum_eps = 0, sum_sigma = 0;
    const int n = a->averaging, along = n > 1 ? n : 1;
    for (int su = 0; su < 2; su++)
        for (int sv = 0; sv < 2; sv++) {
            const double w = half[0][su] * half[1][sv] / (n * n * along);
            if (w <= 0)
                continue;
            for (int iu = 0; iu < n; iu++)
                for (int iv = 0; iv < n; iv++)
                    for (int ic = 0; ic < along; ic++) {
                        ec_fdtd_medium m;
                        double q[3];
                        const double x0 = s->line[c][place[c]], x1 = s->line[c][place[c] + 1];
                        q[c] = x0 + (x1 - x0) * (ic + 0.5) / along;
                        const bool wrap_u = su && place[u] == a->shape.n[u];
                        const bool wrap_v = sv && place[v] == a->shape.n[v];
                        q[u] = s->line[u][wrap_u ? 0 : place[u]] +
                               (su ? 1 : -1) * half[0][su] * (iu + 0.5) / n;
                        q[v] = s->line[v][wrap_v ? 0 : place[v]] +
                               (sv ? 1 : -1) * half[1][sv] * (iv + 0.5) / n;
                        if (!ec_fdtd_medium_at(s, q, tolerance, &m))
                            continue;
                        total += w;
                        sum_eps += w * m.eps_r;
                        sum_sigma += w * m.sigma;
                        if (share && m.index >= 0)
                            share[m.index] += w / open;
                    }
        }
    const double part =
        a->edge_correction && metal < 0 ? ec_fdtd_edge_part(a, s, c, place, tolerance) : 1;
    for (int i = 0; share && i < s->n_media; i++)
        share[i] *= part / (total > 0 ? total : 1);
    if (metal >= 0) {
        sheets += surface / *area * s->medium[metal].sigma;
        if (share)
            share[metal] += surface / *area;
    }
    *eps = EC_FDTD_EPS0 * part * (total > 0 ? sum_eps / total : 1) / open;
    *sigma = (part * (total > 0 ? sum_sigma / total : 0) + sheets) / open;
    return true;
}

/* Permeability (H/m) and magnetic conductivity (ohm/m) of face (i, j, k) across c; false: none. */
EC_FDTD_CALL bool ec_fdtd_face(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s, int c,
                               const int *place, double *mu, double *sigma)
{
    double q[3], length = 0, inverse = 0, loss = 0, least = INFINITY;

    for (int t = 1; t < 3; t++) {
        const int axis = (c + t) % 3, at = place[axis];
        if (at >= a->shape.n[axis])
            return false;
        const double d = s->line[axis][at + 1] - s->line[axis][at];
        q[axis] = s->line[axis][at] + 0.5 * d;
        least = d < least ? d : least;
    }
    const int at = place[c];
    for (int side = 0; side < 2; side++) {
        ec_fdtd_medium m;
        int cell = side ? at : at - 1;
        if (a->shape.periodic[c])
            cell = cell < 0 ? a->shape.n[c] - 1 : cell == a->shape.n[c] ? 0 : cell;
        if (cell < 0 || cell >= a->shape.n[c])
            continue;
        const double w = 0.5 * (s->line[c][cell + 1] - s->line[c][cell]);
        q[c] = s->line[c][side ? cell : cell + 1] + (side ? 0.5 : -0.5) * w;
        if (!ec_fdtd_medium_at(s, q, 1e-6 * (w < least ? w : least), &m))
            continue;
        length += w;
        inverse += w / m.mu_r;
        loss += w * m.sigma_m;
    }
    const double part = a->conformal ? ec_fdtd_face_part(a, s, c, place, 1e-6 * least)
                        : a->edge_correction
                            ? 1 / ec_fdtd_face_rim_part(a, s, c, place, 1e-6 * least)
                            : 1;
    *mu = EC_FDTD_MU0 * part * (inverse > 0 ? length / inverse : 1);
    *sigma = length > 0 ? part * loss / length : 0;
    return part > 0;
}

EC_FN void ec_fdtd_store(void *to, bool wide, int64_t at, double value)
{
    if (wide)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* a and b of an element of a component. */
EC_FN void ec_fdtd_raster_element(const ec_fdtd_raster_args *a, const ec_fdtd_structure *s, int c,
                                  int64_t e)
{
    const ec_fdtd_shape *shape = &a->shape;
    const int64_t component = shape->plane * (shape->n[2] + 1);
    const int k = (int)(e / shape->plane), j = (int)(e % shape->plane / shape->pitch);
    const int place[3] = {(int)(e % shape->pitch), j, k};
    double eps = 1, sigma = 0, area = 0, fa = 0, fb = 0;
    const bool exists = place[0] <= shape->n[0];

    if (exists && ec_fdtd_edge(a, s, c, place, &eps, &sigma, &area, NULL)) {
        const double loss = sigma * s->dt / (2 * eps);
        fa = (1 - loss) / (1 + loss);
        fb = s->dt / eps / (1 + loss);
    }
    ec_fdtd_store(s->a, a->double_precision, c * component + e, fa);
    ec_fdtd_store(s->b, a->double_precision, c * component + e, fb);
    if (!s->ha)
        return;
    fa = fb = 0;
    if (exists && ec_fdtd_face(a, s, c, place, &eps, &sigma)) {
        const double loss = sigma * s->dt / (2 * eps);
        fa = (1 - loss) / (1 + loss);
        fb = -s->dt / eps / (1 + loss);
    }
    ec_fdtd_store(s->ha, a->double_precision, c * component + e, fa);
    ec_fdtd_store(s->hb, a->double_precision, c * component + e, fb);
}

/* Lanes are elements of a component, y components of structures. */
EC_FN void ec_fdtd_raster(const ec_fdtd_raster_args *a, size_t lane0, size_t y)
{
    const ec_fdtd_shape *shape = &a->shape;
    const int64_t component = shape->plane * (shape->n[2] + 1);

    for (int l = 0; l < EC_LANES; l++)
        if (a->first + (int64_t)(lane0 + l) < component)
            ec_fdtd_raster_element(a, a->structure + y / 3, (int)(y % 3),
                                   a->first + (int64_t)(lane0 + l));
}

/* Loads of ports and elements: lanes are loads, y structures; after the raster. */
EC_FN void ec_fdtd_load_edges(const ec_fdtd_raster_args *a, size_t lane0, size_t y)
{
    const ec_fdtd_structure *s = a->structure + y;
    const int64_t component = a->shape.plane * (a->shape.n[2] + 1);

    for (int l = 0; l < EC_LANES && (int32_t)(lane0 + l) < s->n_loads; l++) {
        const ec_fdtd_load *load = s->load + lane0 + l;
        const int place[3] = {load->i, load->j, load->k};
        double eps, sigma, area;
        if (!ec_fdtd_edge(a, s, load->c, place, &eps, &sigma, &area, NULL))
            continue;
        const double length =
            s->line[load->c][place[load->c] + 1] - s->line[load->c][place[load->c]];
        eps += load->cap * length / area;
        sigma += load->g * length / area;
        const double loss = sigma * s->dt / (2 * eps);
        const int64_t at = load->c * component + ec_fdtd_at(&a->shape, load->i, load->j, load->k);
        ec_fdtd_store(s->a, a->double_precision, at, (1 - loss) / (1 + loss));
        ec_fdtd_store(s->b, a->double_precision, at, s->dt / eps / (1 + loss));
    }
}

EC_C_END
#endif
