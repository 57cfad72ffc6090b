/* material_law.h: a material's figures as a law of frequency that kernels evaluate, for frequencies that
 * differ from design to design. The same law as ec_material_permittivity's, to rounding.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_MATERIAL_LAW_H
#define EC_MATERIAL_LAW_H

#include "../../core/detmath.h"
#include "fresnel.h"
#include "material.h"

enum { EC_MATERIAL_ROWS_MAX = 4 };

/* eps_r = a f^b, sigma = c f^d, f in GHz, from so many GHz to so many. */
typedef struct ec_material_row {
    double a, b, c, d, from, to;
} ec_material_row;

typedef struct ec_material_law {
    int32_t kind, rows; /* EC_MATERIAL_PEC has none */
    ec_material_row row[EC_MATERIAL_ROWS_MAX];
    double loss_tangent, thickness; /* m */
} ec_material_law;

/* A material as the face of a part at a frequency in Hz: by the row that covers it or is nearest. */
EC_FN ec_fresnel_face ec_material_law_face(const ec_material_law *m, double frequency)
{
    const double vacuum_permittivity = 8.8541878128e-12; /* F/m, CODATA 2018 */
    ec_fresnel_face face;
    double ghz = 1e-9 * frequency, best = (double)INFINITY;
    int32_t row = 0;

    face.kind = m->kind == EC_MATERIAL_PEC ? EC_FACE_PEC
                : m->thickness > 0         ? EC_FACE_SLAB
                                           : EC_FACE_HALF_SPACE;
    face.thickness = m->thickness * frequency / EC_LIGHT_SPEED;
    face.permittivity.re = face.permittivity.im = 0;
    if (m->kind == EC_MATERIAL_PEC)
        return face;
    for (int32_t i = 0; i < m->rows; i++) {
        const ec_material_row *r = &m->row[i];
        double beyond = ghz < r->from ? r->from / ghz : ghz > r->to ? ghz / r->to : 1;
        if (beyond < best) {
            best = beyond;
            row = i;
        }
    }
    const ec_material_row *r = &m->row[row];
    double eps_r = r->b == 0 ? r->a : r->a * ec_det_pow(ghz, r->b);
    double conductivity = r->d == 0 ? r->c : r->c * ec_det_pow(ghz, r->d);
    face.permittivity.re = eps_r;
    face.permittivity.im =
        -eps_r * m->loss_tangent - conductivity / (2 * EC_PI * frequency * vacuum_permittivity);
    return face;
}

EC_C_BEGIN

EC_API void ec_material_law_of(const ec_material *material, ec_material_law *law);

EC_C_END

#endif
