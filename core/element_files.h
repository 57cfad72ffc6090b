/* element_files.h: far fields of elements, scattering matrices and element tables in files.
 *
 * A far field is a table of the complex components E_theta and E_phi over a tensor grid of theta
 * and phi, any part of the sphere: two thetas at least, one phi at least (one phi: both components
 * are the same for every phi). Amplitudes are as the file has them; time factor exp(+jwt), as all
 * these programs write it. Angles are degrees in files and radians in memory.
 *
 * Formats, as their makers document them:
 *   .ffd  HFSS: theta start, stop, count; phi start, stop, count; perhaps "Frequencies n", then for
 *         each "Frequency f"; lines of Re and Im of E_theta, E_phi, theta outer, phi inner loop.
 *   .cut  TICRA GRASP: for each cut a line of text; V_INI V_INC V_NUM C ICOMP ICUT NCOMP; V_NUM
 *         lines of Re and Im of two components. ICUT 1: V is theta and C phi; 2: V is phi and C
 *         theta. ICOMP 1: E_theta and E_phi; 2: E_rhc and E_lhc = (E_co +- j E_cx) / sqrt 2;
 *         3: E_co and E_cx by Ludwig's third definition. NCOMP 2 (far fields).
 *   .ffe  FEKO: '#' lines with Frequency, Coordinate System (Spherical), numbers of samples and the
 *         names of the columns; "Theta", "Phi", "Re(Etheta)", "Im(Etheta)", "Re(Ephi)" and
 *         "Im(Ephi)" are read wherever they stand; '##' and '**' lines are passed over.
 *   .ffs  CST farfield source, version 3: sections headed by '//'; axes not rotated.
 *   .csv  A line of names, then numbers; '#' starts a comment. theta_deg is needed, phi_deg may be
 *         absent (one phi, 0). Each component: e_theta_re and e_theta_im, or e_theta_db
 *         (20 log10 |E_theta|) and e_theta_phase_deg; e_phi_... alike. An imaginary part or a
 *         phase that is absent is 0, so is a component, but not both. Other columns are passed over.
 * In .cut, .ffe, .ffs and .csv the directions may come in any order but must fill a grid. A
 * negative theta is the direction (-theta, phi + 180 deg), where E_theta and E_phi change their
 * signs and E_co, E_cx, E_rhc, E_lhc do not; of a direction given twice that way the one with theta
 * >= 0 counts. The grid of .ffd is folded likewise.
 *
 * A file that is malformed, truncated or not a regular file is refused with a sentence that names
 * the file, the line, what was found and what was expected; NaN and infinities are refused; memory
 * is bounded by the size of the file (at most 512 MiB are read). Numbers are read and written with
 * a decimal point in every locale. Files are written beside their place and renamed.
 */
#ifndef EC_ELEMENT_FILES_H
#define EC_ELEMENT_FILES_H

#include "status.h"

EC_C_BEGIN

/* ---- far fields ------------------------------------------------------------------------------ */

typedef struct ec_far_field {
    int32_t n_theta, n_phi;   /* >= 2, >= 1 */
    double *theta;            /* [n_theta] rad, ascending, 0 to pi */
    double *phi;              /* [n_phi] rad, ascending, at most 2 pi from first to last */
    ec_c128 *e_theta, *e_phi; /* [n_theta][n_phi], finite */
    double frequency;         /* Hz; 0: unknown */
} ec_far_field;

/* Copies what it is given after checking it as the comments above say; e_phi may be NULL (zero).
 * The largest angle of phi is 4 pi, the largest amplitude 1e100. */
EC_API int ec_far_field_create(int32_t n_theta, const double *theta, int32_t n_phi,
                               const double *phi, const ec_c128 *e_theta, const ec_c128 *e_phi,
                               double frequency, ec_far_field **field);
EC_API void ec_far_field_destroy(ec_far_field **field);

typedef enum ec_far_field_format {
    EC_FAR_FIELD_AUTO, /* by the ending of the name */
    EC_FAR_FIELD_FFD,
    EC_FAR_FIELD_CUT,
    EC_FAR_FIELD_FFE,
    EC_FAR_FIELD_FFS,
    EC_FAR_FIELD_CSV
} ec_far_field_format;

typedef enum ec_far_field_select {
    EC_FAR_FIELD_INTERPOLATE, /* Re and Im linear between the two nearest frequencies of the file */
    EC_FAR_FIELD_NEAREST
} ec_far_field_select;

typedef struct ec_far_field_info {
    ec_far_field_format format;
    /* Which field of a file that has several (.ffd, .ffe, .ffs). 0: the file's only one, several
     * are an error. INTERPOLATE refuses a frequency outside those of the file (1e-9 is allowed
     * for); a file that states no frequency is taken as it is. */
    double frequency;
    ec_far_field_select select;
} ec_far_field_info;

EC_API void ec_far_field_info_default(ec_far_field_info *info);
/* info may be NULL: the defaults. */
EC_API int ec_far_field_read(const char *path, const ec_far_field_info *info, ec_far_field **field);
/* The same from memory; name stands in messages and, for AUTO, has the ending. */
EC_API int ec_far_field_parse(const char *name, const char *text, size_t size,
                              const ec_far_field_info *info, ec_far_field **field);

/* Both need even thetas, .ffd even phis too (to 1e-9 of the range; ERR_UNSUPPORTED otherwise). What
 * is written is read back: components bit by bit, angles to a few units in the last place.
 * .cut has ICOMP 1, one cut a phi, and no place for the frequency; note (NULL: "E_theta and E_phi")
 * ends the line of text of each cut. */
EC_API int ec_far_field_write_ffd(const ec_far_field *field, const char *path);
/* The same of n frequencies, all with the directions of the first. */
EC_API int ec_far_field_write_ffds(int32_t n, const ec_far_field *field, const char *path);
EC_API int ec_far_field_write_cut(const ec_far_field *field, const char *note, const char *path);

/* ---- scattering matrices --------------------------------------------------------------------- */

/* Touchstone 1 (.sNp) and 2 ("[Version] 2.0", single-ended). Only S-parameters are read. */
typedef struct ec_touchstone {
    int32_t n_ports, n_frequencies; /* >= 1 */
    double *frequency;              /* [n_frequencies] Hz, ascending, >= 0 */
    ec_c128 *s;                     /* [n_frequencies][n_ports][n_ports], row i, column j: S_ij */
    double *reference;              /* [n_ports] ohm, > 0 */
} ec_touchstone;

/* The number of ports is that of the ending (.s2p) or of "[Number of Ports]"; both have to agree.
 * The order of a two-port is S11 S21 S12 S22 in version 1. Noise data are passed over. Y, Z, G, H
 * and mixed-mode parameters are refused (ERR_UNSUPPORTED). */
EC_API int ec_touchstone_read(const char *path, ec_touchstone **data);
EC_API int ec_touchstone_parse(const char *name, const char *text, size_t size,
                               ec_touchstone **data);
EC_API void ec_touchstone_destroy(ec_touchstone **data);
/* Real and imaginary parts in Hz, bit by bit what is read back; version 2 where the references differ by
 * more than 1e-6.
 * The ending of the name has to be that of the number of ports (ERR_ARGUMENT). note: a line of
 * text at the head, or NULL. */
EC_API int ec_touchstone_write(const ec_touchstone *data, const char *note, const char *path);

/* ---- element tables -------------------------------------------------------------------------- */

/* NULL: x, y, z and phase are 0, amplitude is 1, the normals are not known. */
typedef struct ec_element_list {
    int32_t n;               /* >= 1 */
    const double *x, *y, *z; /* m */
    const double *amplitude;
    const double *phase;  /* rad */
    const double *normal; /* [n][3] */
} ec_element_list;

/* CSV with the columns x, y, z, amplitude, phase_deg and, where normals are known, nx, ny, nz; 17
 * digits. ec.geometry.csv reads it. */
EC_API int ec_element_list_write(const ec_element_list *list, const char *path);

EC_C_END
#endif
