/* fdtd.h: a structure on a Yee grid as expressions: its dimensions and materials in, S-parameters out.
 *
 * A model is a list of objects, ports and walls whose numbers may be expressions of the design
 * variables. Each candidate is a domain: grid lines are laid for it alone (fdtd_lines.h; the
 * number of cells is the same for all), edges take their materials (fdtd_raster.h), and one domain
 * a driven port is run in a stack with all others (fdtd_stack.h). A candidate's results depend on the
 * model and its own numbers alone, never on its neighbours in the stack.
 *
 * E lies on edges, H on faces; time factor e^(+jwt). Port voltage is that of `to` against `from`,
 * port current flows into the structure at `to`. Waves of a port of resistance R: a, b =
 * (V +- R I) / (2 sqrt R), S_ij = b_i / a_j with port j driven and the others closed by their R (Kurokawa
 * 1965). The current of a lumped port is that of its resistance and source alone: the capacitance of the
 * cells that it lies in belongs to the structure.
 *
 * K. S. Yee, IEEE Trans. Antennas Propag. 14, 1966; A. Taflove and S. C. Hagness, Computational
 * Electrodynamics, 3rd ed., 2005. */
#ifndef EC_FDTD_H
#define EC_FDTD_H

#include "../../core/evaluator.h"

EC_C_BEGIN

/* A number of the model: the value of a real scalar expression, or a constant where expr < 0. */
typedef struct ec_fdtd_number {
    double value;
    ec_expr expr;
} ec_fdtd_number;

enum { EC_FDTD_FREE_SPACE = -1, EC_FDTD_PEC = -2 }; /* materials that need no entry */

typedef enum ec_fdtd_pole_kind {
    EC_FDTD_DEBYE,  /* d / (1 + jw tau) */
    EC_FDTD_DRUDE,  /* -wp^2 / (w^2 - jw gamma) */
    EC_FDTD_LORENTZ /* d w0^2 / (w0^2 + 2jw gamma - w^2) */
} ec_fdtd_pole_kind;

/* A term of the relative permittivity. */
typedef struct ec_fdtd_pole {
    ec_fdtd_pole_kind kind;
    ec_fdtd_number strength;  /* d; of Drude wp in rad/s */
    ec_fdtd_number time;      /* Debye: tau, s */
    ec_fdtd_number resonance; /* Lorentz: w0, rad/s */
    ec_fdtd_number damping;   /* Drude, Lorentz: gamma, rad/s */
} ec_fdtd_pole;

typedef struct ec_fdtd_material {
    const char *name;
    ec_fdtd_number eps_r, mu_r;           /* at high frequencies */
    ec_fdtd_number conductivity;          /* S/m */
    ec_fdtd_number magnetic_conductivity; /* ohm/m */
    /* Turned into a conductivity at loss_frequency, Hz. */
    ec_fdtd_number loss_tangent;
    double loss_frequency;
    int32_t n_poles;
    const ec_fdtd_pole *poles;
    /* A good conductor, thicker than some skin depths: what is made of it is a conductor whose surface has
     * the impedance (1 + j) sqrt(w mu_0 / (2 conductivity)) over the band; of its figures only the
     * conductivity is read. A plate's currents flow on one of its sides, or in equal parts on both. */
    bool metal, both_sides;
} ec_fdtd_material;

typedef enum ec_fdtd_kind {
    EC_FDTD_BOX,      /* at, size[3] */
    EC_FDTD_PLATE,    /* at, size[3], which is 0 along `axis`; ohms: its surface resistance */
    EC_FDTD_CYLINDER, /* at (middle), radius, inner_radius, length, along `axis` */
    EC_FDTD_SPHERE,   /* at, radius, inner_radius */
    EC_FDTD_POLYGON,  /* points in the two axes after `axis`, in their cyclic order, relative to
                         at, whose `axis` element is its foot; thickness `length`, which may be 0 */
    EC_FDTD_WIRE      /* from at to `to`, along one axis of the grid; radius (0: the grid's own) */
} ec_fdtd_kind;

typedef struct ec_fdtd_object {
    ec_fdtd_kind kind;
    const char *name; /* for messages and views */
    int32_t material; /* index, EC_FDTD_FREE_SPACE or EC_FDTD_PEC */
    double priority;  /* where objects overlap the higher one counts, of equal ones the later */
    int axis;         /* 0 x, 1 y, 2 z */
    ec_fdtd_number at[3], to[3], size[3];
    ec_fdtd_number radius, inner_radius, length;
    ec_fdtd_number ohms; /* of a plate of material EC_FDTD_FREE_SPACE: a thin conducting sheet */
    int32_t n_points;
    const ec_fdtd_number (*points)[2];
} ec_fdtd_object;

typedef enum ec_fdtd_port_kind {
    EC_FDTD_LUMPED,     /* a source with a resistance in series, on the edges from..to */
    EC_FDTD_ELEMENT,    /* R, L, C without a source; no row of S */
    EC_FDTD_CURRENT,    /* a current source, which loads nothing; no row of S */
    EC_FDTD_PROBE,      /* a voltage along from..to and the current there, the mean of the integrals
                           of H about all its edges; no row of S */
    EC_FDTD_MICROSTRIP, /* of a line along line_axis: from the ground to the strip, over its width */
    EC_FDTD_COAX        /* of a line along line_axis: from the outer conductor to the middle of the
                           inner one */
} ec_fdtd_port_kind;

typedef struct ec_fdtd_port {
    ec_fdtd_port_kind kind;
    const char *name;
    ec_fdtd_number from[3], to[3]; /* m; they differ along `axis`, and across it where the port is
                                      a strip of edges side by side */
    int axis;
    ec_fdtd_number ohms;    /* a port's own R; of an element: INFINITY for none */
    ec_fdtd_number henries; /* of an element: 0 for none */
    ec_fdtd_number farads;  /* of an element: 0 for none */
    bool series;            /* of an element: in series, else side by side */
    bool driven;            /* S_ij with j this port may be asked for */
    /* Ports of a line: it runs along line_axis from `from`, towards +1 or -1. There it is driven, and
     * closed by `ohms`, to which its waves refer; with ohms INFINITY nothing closes it, the line
     * should go on behind into an absorbing wall, and waves refer to its own impedance. They are
     * taken about `plane` from there, at least two cells and best some heights of the line, and
     * brought to the plane exactly `plane` + `shift` from the start. Where ohms differ from the line's
     * impedance that plane is best the start (shift = -plane), as only there ohms close it. */
    int line_axis, line_sign;
    ec_fdtd_number plane, shift;
} ec_fdtd_port;

/* A port in a magnetic wall has half the current of the whole structure at the same voltage: its ohms
 * are to be twice those of the whole. Periodic walls are both walls of an axis, without a phase between
 * them; what is at one is at the other too. */
typedef enum ec_fdtd_wall {
    EC_FDTD_WALL_PEC,
    EC_FDTD_WALL_PMC,
    EC_FDTD_WALL_PML,
    EC_FDTD_WALL_PERIODIC
} ec_fdtd_wall;

/* A plane wave that comes in, inside of a box around all objects only: what is outside is
 * scattered. Along an axis of the grid it is the grid's own. */
typedef struct ec_fdtd_incident_wave {
    bool on; /* its domains are asked for by EC_FDTD_WAVE in the place of a driven port */
    ec_fdtd_number theta, phi;   /* rad, from where it comes */
    ec_fdtd_number polarization; /* rad: E is along theta at 0, along phi at pi / 2 */
} ec_fdtd_incident_wave;

typedef enum ec_fdtd_pulse_kind {
    /* Modulated; where the band begins below a fifth of its end Gaussian, or differentiated where a
     * source without a resistance would leave a charge. */
    EC_FDTD_PULSE_AUTO,
    EC_FDTD_GAUSSIAN,       /* e^(-(t - t0)^2 / T^2): has a mean */
    EC_FDTD_DIFFERENTIATED, /* its derivative */
    EC_FDTD_MODULATED       /* times a sine at `centre` */
} ec_fdtd_pulse_kind;

typedef struct ec_fdtd_grid {
    /* Automatic lines: largest cell from cells a wavelength in each material at the highest
     * frequency, lines on the edges of objects, neighbours' ratio at most `growth`. */
    double cells_per_wavelength, growth;
    double largest, smallest; /* m, limits of cells; NAN: none */
    int32_t least_cells;      /* across each object's thickness */
    double cell[3];           /* > 0: uniform lines of this size along the axis from its low end */
    bool snap;                /* uniform lines: objects' edges go to the nearest line */
    bool conformal; /* conductors cut edges and faces at their true surface; halves the time step */
    /* Static fields about the edges of thin plates instead of constant ones: lines have the impedance of
     * their width with a few cells across it; takes 0.7 of the time step. Not with conformal. */
    bool edge_correction;
    int averaging; /* samples a quadrant and axis of an edge's permittivity, 1 to 8 */
    /* Air between objects and absorbing walls, m; NAN: a quarter wavelength at the middle of the
     * band, between the lowest frequency above 0 and the highest. */
    double air;
    ec_fdtd_number
        domain[2][3]; /* low and high corner without absorbing layers; NAN: by the objects */
} ec_fdtd_grid;

/* What may be finer at final fidelity, where the designs that a search ends with are run again; all
 * else, the domain and the air among it, is as in the search. Nothing may be coarser than there. */
typedef struct ec_fdtd_final {
    bool on;           /* false: it is the same */
    ec_fdtd_grid grid; /* without air and domain, which are those of the config's grid */
    int32_t layers;
    int64_t max_steps;
    double decay_db;
    bool double_precision;
} ec_fdtd_final;

typedef struct ec_fdtd_config {
    int32_t n_objects, n_materials, n_ports;
    const ec_fdtd_object *objects;
    const ec_fdtd_material *materials;
    const ec_fdtd_port *ports;
    int32_t n_frequencies;
    const double *frequency; /* Hz, ascending */
    ec_fdtd_grid grid;
    ec_fdtd_wall wall[3][2]; /* [axis][low, high] */
    int32_t layers;          /* of absorbing walls */
    /* At depth x of 0 to 1: sigma = pml_sigma x^pml_order in parts of the optimum, kappa = 1 +
     * (pml_kappa - 1) x^pml_order, alpha = pml_alpha (1 - x)^pml_alpha_order in S/m. */
    double pml_order, pml_kappa, pml_alpha, pml_alpha_order, pml_sigma;
    ec_fdtd_pulse_kind pulse;
    double pulse_centre, pulse_width; /* Hz; NAN: from the frequencies */
    double courant;                   /* of the stability limit, below 1 */
    int64_t max_steps;
    double
        decay_db; /* a domain ends when its energy is this far below its peak; INFINITY: at max_steps */
    bool double_precision;
    bool
        off_chip; /* fields stay in memory where a GPU could keep them on the chip: the same bits */
    ec_fdtd_incident_wave wave;
    ec_fdtd_final final; /* ec_fdtd_final_default fills it from the rest */
} ec_fdtd_config;

/* No objects; PML walls, 8 layers; 20 cells a wavelength, growth 1.4; 40 dB; float32. */
EC_API void ec_fdtd_config_default(ec_fdtd_config *config);
/* config->final: on, with everything as in the config now. */
EC_API void ec_fdtd_final_default(ec_fdtd_config *config);

/* What depends on frequency is NaN where the pulse has less than -60 dB of its spectrum's peak. */
typedef enum ec_fdtd_output {
    EC_FDTD_S,         /* S_ij, [frequency], c128; i receives, j is driven */
    EC_FDTD_IMPEDANCE, /* V / I of port j with it driven, [frequency], c128 */
    EC_FDTD_STEPS,     /* steps that the domain with port j driven took */
    EC_FDTD_BALANCE,   /* sum over i of |S_ij|^2, [frequency]: at most 1 for what is passive */
    EC_FDTD_CELLS,     /* cells of the domain */
    EC_FDTD_MODES,     /* frequencies of the highest `count` peaks of port i's voltage, ascending,
                          with port j driven: [count]; NaN behind the last */
    EC_FDTD_LINE_IMPEDANCE, /* of the line of port i with port j driven, ohm, [frequency], c128 */
    EC_FDTD_GAMMA,          /* its propagation constant, 1/m, [frequency], c128 */
    EC_FDTD_FAR,            /* ec_fdtd_far_value */
    EC_FDTD_DECAY, /* energy at the end of the domain with port j driven below the highest, dB */
    EC_FDTD_Q      /* quality factors of the same modes: [count] */
} ec_fdtd_output;

enum { EC_FDTD_WAVE = -1 }; /* j of what the plane wave drives */

typedef struct ec_fdtd_what {
    ec_fdtd_output output;
    int32_t i, j; /* ports, from 0 */
    int32_t count;
    double from, to; /* Hz, of modes */
} ec_fdtd_what;

/* Records a call; all that config points to is copied. Errors name what is wrong with a sentence. */
EC_API int ec_fdtd_call(ec_graph *graph, const ec_fdtd_config *config, ec_call **call);
EC_API ec_expr ec_fdtd_value(ec_graph *graph, ec_call *call, const ec_fdtd_what *what);

/* Far fields at one of the frequencies, by the fields on a box between the objects and the absorbing walls.
 * Electric and magnetic walls give images. Power is that of j. */
typedef enum ec_fdtd_far_quantity {
    /* r e^(jkr) E along theta and phi, [direction], c128, r from the origin: for a wave of 1 sqrt(W)
     * into port j (of 1/2 |a|^2), for 1 A of a current source, for 1 V/m of the plane wave */
    EC_FDTD_FAR_E_THETA,
    EC_FDTD_FAR_E_PHI,
    /* 4 pi U over the power that is radiated, that port j takes, that it is offered: [direction] */
    EC_FDTD_FAR_DIRECTIVITY,
    EC_FDTD_FAR_GAIN,
    EC_FDTD_FAR_REALIZED_GAIN,
    EC_FDTD_FAR_RCS, /* 4 pi |r E|^2 of what the plane wave of 1 V/m leaves, m^2, [direction] */
    EC_FDTD_FAR_EFFICIENCY /* radiated power over what port j takes */
} ec_fdtd_far_quantity;

typedef struct ec_fdtd_far {
    ec_fdtd_far_quantity quantity;
    int32_t j;         /* driven port or EC_FDTD_WAVE */
    int32_t frequency; /* of the config's, from 0 */
    /* Directions; 0 for the efficiency, and for what the plane wave leaves: back to where it comes
     * from, one value. */
    int32_t n;
    const double (*direction)[2]; /* theta, phi, rad; copied */
    /* An electric or magnetic wall across this axis is a plane of symmetry: power counts on both of its
     * sides. Otherwise it is a ground without end: there is nothing behind it, directions there give
     * 0. */
    bool symmetry[3];
} ec_fdtd_far;

EC_API ec_expr ec_fdtd_far_value(ec_graph *graph, ec_call *call, const ec_fdtd_far *far);
/* Cells, spacing, time step and steps in a few lines, for the middle of all ranges; where final
 * fidelity has a grid of its own those of both. */
enum { EC_FDTD_DESCRIPTION = 4096 }; /* size of text that is enough */
EC_API void ec_fdtd_describe(const ec_call *call, char *text, size_t size);

EC_API extern const ec_evaluator_def ec_evaluator_fdtd;

EC_C_END
#endif
