/* far_field_internal.h: what the readers of far fields share.
 *
 * A reader collects points, in any order and without counting on what the file declares; a block of
 * points becomes a field on a tensor grid, and a file one or more fields with their frequencies.
 */
#ifndef EC_FAR_FIELD_INTERNAL_H
#define EC_FAR_FIELD_INTERNAL_H

#include "element_files.h"
#include "far_field_text_internal.h"

#define EC_DEGREE (EC_PI / 180.0)

/* ---- points of one block ---- */

typedef struct ec_far_field_point {
    double theta, phi; /* degrees: 0 to 180, any */
    ec_c128 e_theta, e_phi;
    int64_t line;
    bool folded; /* was given with a negative theta */
} ec_far_field_point;

typedef struct ec_far_field_points {
    ec_far_field_point *point;
    size_t n, capacity;
    bool folded; /* some are */
} ec_far_field_points;

/* theta -180 to 180 and phi -720 to 720 degrees, else ERR_FORMAT; components for that theta. */
int ec_far_field_add(const ec_text *text, ec_far_field_points *points, int64_t line, double theta,
                     double phi, ec_c128 e_theta, ec_c128 e_phi);
void ec_far_field_clear(ec_far_field_points *points);

/* ---- fields of a file ---- */

typedef struct ec_far_field_set {
    ec_far_field **field;
    size_t n, capacity;
} ec_far_field_set;

/* The points as a field of the set, whose first point stands in `line`; the points are cleared. */
int ec_far_field_finish(const ec_text *text, int64_t line, double frequency,
                        ec_far_field_points *points, ec_far_field_set *set);

typedef int ec_far_field_reader(ec_text *text, ec_far_field_points *points, ec_far_field_set *set);
ec_far_field_reader ec_far_field_read_ffd, ec_far_field_read_cut, ec_far_field_read_ffe,
    ec_far_field_read_ffs, ec_far_field_read_csv;

/* ---- conversions ---- */

/* Components by Ludwig's third definition (co-polar along x) or circular ones (rhc, lhc) to theta
 * and phi. */
void ec_far_field_from_ludwig3(double phi_deg, ec_c128 co, ec_c128 cross, ec_c128 *e_theta,
                               ec_c128 *e_phi);
void ec_far_field_from_circular(double phi_deg, ec_c128 rhc, ec_c128 lhc, ec_c128 *e_theta,
                                ec_c128 *e_phi);

/* Memory for a field without its values. */
int ec_far_field_new(int32_t n_theta, int32_t n_phi, double frequency, ec_far_field **field);

#endif
