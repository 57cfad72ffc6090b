/* material.h: what the surfaces of a scene are made of: their complex relative permittivity
 * eps_r - j sigma / (omega eps0) (time factor exp(+jwt)) at a frequency, and, for a sheet that
 * stands for a slab, its thickness.
 *
 * Materials by name are those of ITU-R P.2040-3 (2023), table 3: eps_r = a f^b and
 * sigma = c f^d with f in GHz, each within the frequencies that it was measured at. */
#ifndef EC_MATERIAL_H
#define EC_MATERIAL_H

#include "../../core/base.h"

enum {
    EC_MATERIAL_PEC,      /* perfect conductor: it has no permittivity */
    EC_MATERIAL_ITU,      /* a class of P.2040-3: a, b, c, d from its table */
    EC_MATERIAL_CONSTANT, /* eps_r, conductivity and loss_tangent at every frequency */
};

enum { EC_MATERIAL_NAME = 64 };

typedef struct ec_material {
    char name[EC_MATERIAL_NAME]; /* as the script or the file calls it */
    int32_t kind;
    int32_t itu;         /* EC_MATERIAL_ITU: its class, an index that ec_material_itu gives */
    double eps_r;        /* EC_MATERIAL_CONSTANT: relative permittivity, at least 1 */
    double conductivity; /* S/m, at least 0 */
    double loss_tangent; /* at least 0; adds eps_r * loss_tangent to the loss */
    double thickness;    /* m; above 0 its facets are thin slabs that let waves through, 0: a half
                            space (of which nothing comes back), and nothing gets through */
} ec_material;

EC_C_BEGIN

/* A perfect conductor called name (cut to fit). */
EC_API void ec_material_pec(const char *name, ec_material *material);

/* Gives it another name (cut to fit). */
EC_API void ec_material_rename(ec_material *material, const char *name);

/* A material by its name: "pec", or a class of P.2040-3 with or without "itu_", in any case and
 * with "-" or " " for "_" ("itu_concrete", "Concrete"). EC_ERR_ARGUMENT for another name, with the
 * names there are. material->name is the given name, thickness 0. */
EC_API int ec_material_by_name(const char *name, ec_material *material);

/* Names of the classes, in the order of the table, without "itu_"; NULL past the last. */
EC_API const char *ec_material_itu_name(int32_t itu);

/* The frequencies (Hz) that a class has figures for, its row-th stretch of them; false past the last. */
EC_API bool ec_material_itu_range(int32_t itu, int32_t row, double range[2]);

/* A material of given figures. EC_ERR_ARGUMENT unless eps_r >= 1, conductivity >= 0,
 * loss_tangent >= 0, thickness >= 0, all finite. */
EC_API int ec_material_constant(const char *name, double eps_r, double conductivity,
                                double loss_tangent, double thickness, ec_material *material);

/* Whether a frequency (Hz) is one that the material has figures for: 0 if so; 1 if the nearest
 * figures had to be carried on, by less than a factor of two (worth a warning; ec_error_text has
 * the sentence); EC_ERR_RANGE beyond. */
EC_API int ec_material_check(const ec_material *material, double frequency);

/* Complex relative permittivity (im <= 0) at a frequency (Hz): the table's row that covers it or
 * is nearest to it. EC_ERR_RANGE where ec_material_check says so, EC_ERR_UNSUPPORTED for a
 * perfect conductor; *permittivity is then unchanged. */
EC_API int ec_material_permittivity(const ec_material *material, double frequency,
                                    ec_c128 *permittivity);

EC_C_END

#endif
