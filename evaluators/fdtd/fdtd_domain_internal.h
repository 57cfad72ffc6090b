/* fdtd_domain_internal.h: how the fields of a domain lie in memory, for the CPU and for CUDA.
 *
 * A component is [z][y][x] with x fastest: element (i, j, k) at (k * rows + j) * pitch + i, for every
 * node 0 <= i <= n[0] and so on; Ex(i, j, k) is that of the edge from node i to i + 1, Hx(i, j, k) that of
 * the face between the nodes j, j + 1 and k, k + 1 (K. S. Yee, 1966). What does not exist (Ex at i =
 * n[0], Hx at j = n[1]) is an element that stays 0: edges there have coefficients 0, and the inverse
 * spacing behind the last node is 0. There is a plane of zeros before the first and one behind the
 * last plane. So one rule holds for all elements and no wall needs a branch: an electric wall has coefficients 0
 * on its edges, a magnetic one reads H = 0 beyond it over half a cell. Along a periodic axis the last node
 * is the one that is updated: H of the cell behind it is a copy of that of the first cell, and E of
 * the first node, once the last one has it, a copy of that. Sources and probes are at the last node.
 *
 * Update of step s (times in units of dt): H(s - 1/2) -> H(s + 1/2) from E(s), then E(s) -> E(s + 1);
 * with c1, c2 the axes after c in cyclic order, ' the differences to the neighbour
 *   H_c = a H_c + b (E_c2' along c1 / d1 - E_c1' along c2 / d2),   b < 0
 *   E_c = a E_c + b (H_c2' along c1 / d1 - H_c1' along c2 / d2)
 * then the absorbing layers' terms along c1 and c2 (convolutional: J. A. Roden and S. D. Gedney,
 * Microw. Opt. Technol. Lett. 27, 2000), then sources, then branches. */
#ifndef EC_FDTD_DOMAIN_INTERNAL_H
#define EC_FDTD_DOMAIN_INTERNAL_H

#include "fdtd_branch_internal.h"
#include "fdtd_incidence_internal.h"

EC_C_BEGIN

#define EC_FDTD_MU0  1.25663706212e-6 /* H/m, CODATA 2018 */
#define EC_FDTD_EPS0 (1 / (EC_FDTD_MU0 * EC_LIGHT_SPEED * EC_LIGHT_SPEED))
#define EC_FDTD_ETA0 (EC_FDTD_MU0 * EC_LIGHT_SPEED)

/* Elements of a row that are taken at once: rows are multiples of LANES. */
enum { EC_FDTD_LANES = 8, EC_FDTD_QUAD = 4 }; /* CPU, CUDA */

/* How the CPU knows the coefficients of a side: H outside of magnetic materials has one for all, else they are
 * in a and b, or lanes in a row share the distinct ones of all. */
enum { EC_FDTD_PLAIN, EC_FDTD_OWN, EC_FDTD_BLOCKS };
enum { EC_FDTD_BLOCK = 6 * EC_FDTD_LANES }; /* reals: a of x, y, z, then b */

enum { EC_FDTD_EX, EC_FDTD_EY, EC_FDTD_EZ, EC_FDTD_HX, EC_FDTD_HY, EC_FDTD_HZ };

/* The same for all domains of a call. */
typedef struct ec_fdtd_shape {
    int32_t n[3];
    int32_t pitch, rows;  /* elements a row, rows a plane */
    int64_t plane;        /* elements */
    int64_t field;        /* elements from one component to the next */
    int32_t layers[3][2]; /* absorbing cells at the low and the high end of each axis */
    int32_t slab[3];      /* nodes along an axis that have absorbing terms, 0 for none */
    /* Along x these are [0, along[0]) and [along[1], pitch): whole lanes or quads, which lie as rows
     * do; the terms of nodes outside of the layers have the coefficients 0. */
    int32_t along[2];
    int64_t memory[3];   /* elements of one absorbing term of an axis */
    int32_t periodic[3]; /* the last node of the axis is its first */
    /* Nodes whose fields may differ from 0: n where the last one lies in an electric wall, else n + 1. */
    int32_t nodes[3];
} ec_fdtd_shape;

/* One value of E that is driven by a current density: E += b[edge] * (scale * wave[step]). Sorted by
 * plane of z. */
typedef struct ec_fdtd_source {
    int64_t index; /* of E, from the field's first element */
    int64_t edge;  /* of its coefficients */
    int32_t k;     /* its plane */
    double scale;
} ec_fdtd_source;

/* One summand of a probe: series[probe][step] += weight * field[index]. Sorted by plane, those of H
 * apart from those of E. */
typedef struct ec_fdtd_term {
    int64_t index;
    int32_t k, probe;
    double weight;
} ec_fdtd_term;

/* An edge whose dual face lies in dispersive media, and its poles: see fdtd_poles_internal.h. Sorted by
 * plane. */
typedef struct ec_fdtd_dispersive {
    int64_t edge;  /* of its coefficients */
    int64_t index; /* of E, from the field's first element */
    int32_t k;     /* its plane */
    int32_t first; /* of its parts, which end where those of the next edge begin */
} ec_fdtd_dispersive;

typedef struct ec_fdtd_pole_part {
    double weight; /* share of the dual face over that of the edge, eps_0 / dt */
    int32_t pole;  /* of the table of all media's poles */
} ec_fdtd_pole_part;

/* Where the numbers of a pole are: those of the recurrence, then the weights of p^2 and q^2 in twice
 * the energy. */
enum {
    EC_FDTD_POLE_CP,
    EC_FDTD_POLE_CQ,
    EC_FDTD_POLE_CE,
    EC_FDTD_POLE_KP,
    EC_FDTD_POLE_KQ,
    EC_FDTD_POLE_UP,
    EC_FDTD_POLE_UQ,
    EC_FDTD_POLE_NUMBERS
};

/* A domain. Reals are float or double, as the call has it. */
typedef struct ec_fdtd_domain {
    void *field;       /* [6] components of `field` elements; the first plane of each is behind a
                            plane of zeros */
    const void *a, *b; /* [3] of E, indexed like a component without its plane of zeros */
    /* Where E has few distinct pairs, on CUDA: index of each element, and the pairs; a, b are then
     * NULL. */
    const uint8_t *index;
    const void *pair;
    /* CPU: of E and H, which of the distinct blocks every EC_FDTD_LANES elements have, and these; NULL where
     * they are too many. */
    const uint16_t *block[2];
    const void *blocks[2];
    const void *ha, *hb; /* of H, where there are magnetic materials; else NULL: 1 and */
    double h;            /* -dt / mu_0 */
    double dt;           /* s */
    const void *id_e[3]; /* [n + 1] 1 / (kappa d) at nodes (between the cells' middles) */
    const void *id_h[3]; /* [n + 1] of cells, the last 0 */
    /* Absorbing terms psi = be psi + ce (difference * id), [n + 1] for each axis, at nodes and at cells. */
    const void *be[3], *ce[3], *bh[3], *ch[3];
    void *psi; /* of E: axis x: y, z, axis y: z, x, axis z: x, y; then the same of H */
    const ec_fdtd_source *source;
    int32_t n_sources;
    const double *wave; /* [n_wave], at the times step + 1/2 */
    int64_t n_wave;
    const ec_fdtd_branch *branch; /* after the sources */
    double *branch_state;         /* [n_branches][EC_FDTD_BRANCH_STATE], 0 at first */
    int32_t n_branches;
    ec_fdtd_incidence incidence;
    const ec_fdtd_term *e_term, *h_term;
    int32_t n_e_terms, n_h_terms;
    const ec_fdtd_dispersive *dispersive; /* [n_dispersive + 1] */
    const ec_fdtd_pole_part *part;
    const void *pole;  /* [pole][EC_FDTD_POLE_NUMBERS] reals */
    void *pole_memory; /* reals: [n_dispersive] of E, then [part][2] of currents */
    int32_t n_dispersive;
    double *series; /* [probe][window], set to 0 before; from `step` on */
    int64_t step;   /* that comes next */
    int32_t steps;  /* to do now; 0: none */
    /* Of steps on the chip: what its terms see, [window][n_h_terms + n_e_terms], those of H first. */
    float *seen;
} ec_fdtd_domain;

/* How domains are held on the chip: see fdtd_chip_kernels.cu. */
typedef struct ec_fdtd_chip {
    int32_t lines;  /* of y a block holds; 0: fields stay in memory */
    int32_t blocks; /* a domain */
    int32_t teams;  /* of so many blocks, each at work on a domain */
    int32_t warps;  /* a block */
    int32_t groups; /* of them, */
    int32_t share;  /* for so many lines each */
    int32_t each;   /* parts of a line that a warp has */
    bool plain; /* all domains have indices of pairs and nothing magnetic: chosen by the caller */
    int32_t bytes;  /* of shared memory */
    void *halo;     /* 4 quads of each position of a line, a block */
    uint32_t *flag; /* [2 of each block] */
} ec_fdtd_chip;

enum {
    EC_FDTD_CHIP_SOURCES = 256, /* at most, of a domain */
    EC_FDTD_CHIP_BRANCHES = 128,
    EC_FDTD_CHIP_TERMS = 1024,
    EC_FDTD_CHIP_DOMAINS = 1024 /* of a call */
};

typedef struct ec_fdtd_steps_args {
    ec_fdtd_shape shape;
    const ec_fdtd_domain *domain; /* [n], on the backend */
    int32_t n;
    int32_t first, count; /* of the steps to do now: these */
    int32_t window;       /* of series, at least the steps of each */
    int32_t n_probes;
    int32_t n_entries; /* of an incident wave, of a side of any domain at most */
    int32_t threads;   /* of the CPU */
    bool dispersive;   /* domains may have dispersive media: CUDA has a launch for them */
    bool double_precision;
    ec_fdtd_chip chip; /* CUDA only */
} ec_fdtd_steps_args;

/* Whether and how so many domains of a shape, float32, without periodic axes, dispersive media and incident
 * waves, fit on the chip. */
typedef struct ec_fdtd_chip_args {
    ec_fdtd_shape shape;
    int32_t domains;
    ec_fdtd_chip *chip; /* on the host; halo and flag stay as they are */
    size_t *halo_bytes,
        *flag_bytes; /* that it needs at most, for any number of domains; on the host */
} ec_fdtd_chip_args;

/* Of a domain at rest between two steps, with true materials: 1/2 (eps E(s)^2 + mu H(s - 1/2)
 * H(s + 1/2)) over all cells that are not absorbing: what the update conserves. */
typedef struct ec_fdtd_energy_args {
    ec_fdtd_shape shape;
    const ec_fdtd_domain *domain;
    double *energy; /* [n], J */
    double *part;   /* [n][EC_FDTD_ENERGY_PARTS], for CUDA */
    int32_t n, threads;
    bool double_precision;
} ec_fdtd_energy_args;

enum {
    EC_FDTD_ENERGY_PARTS = 128,
    EC_FDTD_PAIRS = 256,       /* that an index can tell apart */
    EC_FDTD_PAIR_PLACES = 1024 /* of the table that they are found by */
};

/* The distinct pairs (a, b) of n edges, float32, and which one each edge has. */
typedef struct ec_fdtd_pairs_args {
    const void *a, *b;
    int64_t n;
    uint64_t *key;   /* [EC_FDTD_PAIR_PLACES], 0 before */
    int32_t *number; /* the same */
    int32_t *count;  /* 0 before; how many there are: above EC_FDTD_PAIRS no index was written */
    float *pair;     /* [EC_FDTD_PAIRS][2] */
    uint8_t *index;  /* [n] */
} ec_fdtd_pairs_args;

EC_FN int64_t ec_fdtd_at(const ec_fdtd_shape *s, int i, int j, int k)
{
    return k * s->plane + (int64_t)j * s->pitch + i;
}

/* Length of the dual edge through a node of an axis with these lines: at the ends of a periodic axis the
 * halves of both. */
EC_FN double ec_fdtd_dual(const ec_fdtd_shape *s, const double *line, int axis, int node)
{
    const int n = s->n[axis];

    if (s->periodic[axis] && (node == 0 || node == n))
        return 0.5 * (line[1] - line[0] + line[n] - line[n - 1]);
    return 0.5 * (line[node < n ? node + 1 : n] - line[node > 0 ? node - 1 : 0]);
}

/* Position of a node in an axis' absorbing terms, -1 outside of the layers. */
EC_FN int ec_fdtd_slab(const ec_fdtd_shape *s, int axis, int i)
{
    if (axis == 0)
        return i < s->along[0] ? i : i >= s->along[1] ? i - s->along[1] + s->along[0] : -1;
    if (i < s->layers[axis][0])
        return i;
    if (s->layers[axis][1] > 0 && i >= s->n[axis] - s->layers[axis][1])
        return i - (s->n[axis] - s->layers[axis][1]) + s->layers[axis][0];
    return -1;
}

EC_C_END
#endif
