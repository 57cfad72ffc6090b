/* fdtd_build_internal.h: a candidate's domain before it goes to the backend: lines, inverse spacings and
 * absorbing coefficients, objects, loads, sources and probes. */
#ifndef EC_FDTD_BUILD_INTERNAL_H
#define EC_FDTD_BUILD_INTERNAL_H

#include "fdtd_lines_internal.h"
#include "fdtd_poles_internal.h"
#include "fdtd_raster_internal.h"

EC_C_BEGIN

/* Probes of a port: its voltage, known at s + 1 in units of dt after step s, and its current, at s +
 * 1/2. */
enum { EC_FDTD_VOLTAGE, EC_FDTD_THROUGH, EC_FDTD_PORT_PROBES };
/* Further probes of a port of a line, behind those of all ports: see fdtd_waves_internal.h. */
enum { EC_FDTD_V_BEHIND, EC_FDTD_V_AHEAD, EC_FDTD_I_AHEAD, EC_FDTD_LINE_PROBES };

static inline bool ec_fdtd_is_line(ec_fdtd_port_kind kind)
{
    return kind == EC_FDTD_MICROSTRIP || kind == EC_FDTD_COAX;
}

/* The first further probe of a port of a line; of port n_ports: the number of probes. */
static inline int32_t ec_fdtd_line_probe(const ec_fdtd_config *c, int32_t port)
{
    int32_t probe = c->n_ports * EC_FDTD_PORT_PROBES;
    for (int32_t p = 0; p < port; p++)
        probe += ec_fdtd_is_line(c->ports[p].kind) ? EC_FDTD_LINE_PROBES : 0;
    return probe;
}

/* When a probe's sample of step s is: (s + this) dt. */
static inline double ec_fdtd_probe_offset(const ec_fdtd_config *c, int32_t probe)
{
    const int32_t further = probe - c->n_ports * EC_FDTD_PORT_PROBES;
    const bool current = further < 0 ? probe % EC_FDTD_PORT_PROBES == EC_FDTD_THROUGH
                                     : further % EC_FDTD_LINE_PROBES == EC_FDTD_I_AHEAD;
    return current ? 0.5 : 1;
}

/* Where a port of a line is measured, m along it. */
typedef struct ec_fdtd_run {
    double at;            /* from its start to the plane, on a grid line */
    double behind, ahead; /* cells before and after the plane */
} ec_fdtd_run;

/* What is the same for all candidates of a call. */
typedef struct ec_fdtd_setup {
    const ec_fdtd_model *model;
    const ec_fdtd_line_plan *lines;
    ec_fdtd_shape shape;
    bool magnetic; /* there are magnetic materials */
    int32_t n_probes;
    double pulse_centre, pulse_width; /* Hz: the spectrum is 20 dB down at centre +- width */
    ec_fdtd_pulse_kind pulse;
} ec_fdtd_setup;

typedef struct ec_fdtd_build {
    double *line[3]; /* [n + 1], m */
    double end[3][2];
    double
        moved; /* m, the farthest that an edge of an object went to its line: of which, along what */
    int32_t moved_owner;
    int moved_axis;
    double dt;                 /* s */
    double *id_e[3], *id_h[3]; /* as in ec_fdtd_domain */
    double *be[3], *ce[3], *bh[3], *ch[3];
    int32_t n_solids, n_media, n_points, n_loads;
    ec_fdtd_solid *solid;
    ec_fdtd_medium *medium;
    double *point; /* pairs */
    ec_fdtd_load *load;
    int32_t n_e_terms, n_h_terms;
    ec_fdtd_term *e_term, *h_term;
    int32_t n_branches;
    ec_fdtd_branch *branch;
    ec_fdtd_run *run;   /* [port], of ports of lines */
    int32_t *n_sources; /* [port] with this port driven */
    ec_fdtd_source **source;
    int64_t n_wave;
    double *wave;
    int32_t n_dispersive, n_parts, n_poles;
    ec_fdtd_dispersive *dispersive; /* [n_dispersive + 1] */
    ec_fdtd_pole_part *part;
    double *pole; /* [n_poles][EC_FDTD_POLE_NUMBERS] */
} ec_fdtd_build;

/* The pulse at a time from its beginning, s; the sources' wave is that at half steps. */
double ec_fdtd_pulse_at(const ec_fdtd_setup *setup, double t);
/* The highest frequency of the pulse, Hz: beyond it the spectrum is 80 dB down. */
double ec_fdtd_pulse_end(const ec_fdtd_setup *setup);
/* The arguments of the raster with the build's own lists; args point to structure. */
void ec_fdtd_raster_of(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                       ec_fdtd_structure *structure, ec_fdtd_raster_args *args);
/* Poles of all media; adds what they need to the media's conductivity. After lines and objects. EC_ERR_RANGE names material and pole. */
int ec_fdtd_poles_lay(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build *build);
/* The list of those edges. EC_STOPPED: interrupted. */
int ec_fdtd_poles_edges(const ec_fdtd_setup *setup, const ec_interrupt *interrupt,
                        ec_fdtd_build *build);

/* Lays the absorbing terms along x in whole `lanes`. */
void ec_fdtd_shape_along(ec_fdtd_shape *shape, int32_t lanes);
/* Fills setup from a model and its line plan, which it borrows. */
void ec_fdtd_setup_init(const ec_fdtd_model *model, const ec_fdtd_line_plan *lines,
                        ec_fdtd_setup *setup);
/* That of a call of ec_fdtd_call, borrowed. */
const ec_fdtd_setup *ec_fdtd_setup_of(const ec_call *call, ec_fidelity fidelity);
/* The config's objects in the order of a build's solids: later ones count. [n_objects], malloc'ed; NULL
 * without memory. */
const ec_fdtd_object **ec_fdtd_objects_in_order(const ec_fdtd_config *config);
/* Magnitude of the pulse's spectrum over its peak. */
double ec_fdtd_pulse_level(const ec_fdtd_setup *setup, double frequency);
/* values: the candidate's numbers. A candidate that cannot be built is an error with a sentence. */
int ec_fdtd_build_create(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build);
/* The same, which an interrupt (or NULL) ends: EC_STOPPED. */
int ec_fdtd_build_create_unless(const ec_fdtd_setup *setup, const double *values,
                                const ec_interrupt *interrupt, ec_fdtd_build **build);
/* The same without the work that grows with the number of cells: no list of dispersive edges. */
int ec_fdtd_build_outline(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build);
void ec_fdtd_build_destroy(const ec_fdtd_setup *setup, ec_fdtd_build **build);

EC_C_END
#endif
