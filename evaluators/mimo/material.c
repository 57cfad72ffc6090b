#include "material.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "../../core/status.h"
#include "material_law.h"

/* ITU-R P.2040-3, table 3. A class with several rows has them next to each other. */
typedef struct itu_row {
    const char *name;
    double a, b, c, d;
    double from, to; /* GHz */
} itu_row;

static const itu_row table[] = {
    {"vacuum", 1, 0, 0, 0, 0.001, 100},
    {"concrete", 5.24, 0, 0.0462, 0.7822, 1, 100},
    {"brick", 3.91, 0, 0.0238, 0.16, 1, 40},
    {"plasterboard", 2.73, 0, 0.0085, 0.9395, 1, 100},
    {"wood", 1.99, 0, 0.0047, 1.0718, 0.001, 100},
    {"glass", 6.31, 0, 0.0036, 1.3394, 0.1, 100},
    {"glass", 5.79, 0, 0.0004, 1.658, 220, 450},
    {"ceiling_board", 1.48, 0, 0.0011, 1.0750, 1, 100},
    {"ceiling_board", 1.52, 0, 0.0029, 1.029, 220, 450},
    {"chipboard", 2.58, 0, 0.0217, 0.78, 1, 100},
    {"plywood", 2.71, 0, 0.33, 0, 1, 40},
    {"marble", 7.074, 0, 0.0055, 0.9262, 1, 60},
    {"floorboard", 3.66, 0, 0.0044, 1.3515, 50, 100},
    {"metal", 1, 0, 1e7, 0, 1, 100},
    {"very_dry_ground", 3, 0, 0.00015, 2.52, 1, 10},
    {"medium_dry_ground", 15, -0.1, 0.035, 1.63, 1, 10},
    {"wet_ground", 30, -0.4, 0.15, 1.30, 1, 10},
};
enum { ROWS = sizeof table / sizeof *table };

/* How far beyond its rows a class may be carried on, as a factor of frequency. */
static const double REACH = 2;

static const double VACUUM_PERMITTIVITY = 8.8541878128e-12; /* F/m, CODATA 2018 */

/* ---- names ----------------------------------------------------------------------------------- */

void ec_material_rename(ec_material *material, const char *name)
{
    size_t n = strlen(name);
    if (n >= EC_MATERIAL_NAME)
        n = EC_MATERIAL_NAME - 1;
    memcpy(material->name, name, n);
    material->name[n] = 0;
}

/* Lower case, blanks and hyphens as underscores, without "itu_". */
static void plain_name(const char *name, char *plain)
{
    size_t n = 0;
    for (; name[n] && n < EC_MATERIAL_NAME - 1; n++)
        plain[n] = name[n] == '-' || name[n] == ' ' ? '_' : (char)tolower((unsigned char)name[n]);
    plain[n] = 0;
    if (strncmp(plain, "itu_", 4) == 0)
        memmove(plain, plain + 4, n - 3);
}

static bool begins_class(int row)
{
    return row == 0 || strcmp(table[row].name, table[row - 1].name) != 0;
}

const char *ec_material_itu_name(int32_t itu)
{
    for (int row = 0; row < ROWS; row++)
        if (begins_class(row) && itu-- == 0)
            return table[row].name;
    return NULL;
}

bool ec_material_itu_range(int32_t itu, int32_t row, double range[2])
{
    const char *name = ec_material_itu_name(itu);
    for (int i = 0; name && i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0 && row-- == 0) {
            range[0] = table[i].from * 1e9;
            range[1] = table[i].to * 1e9;
            return true;
        }
    return false;
}

static int unknown(const char *name)
{
    char names[ROWS * 24] = "";
    const char *known;
    for (int32_t i = 0; (known = ec_material_itu_name(i)); i++) {
        strcat(names, ", itu_");
        strcat(names, known);
    }
    return ec_fail(EC_ERR_ARGUMENT, "unknown material '%s'; known are pec%s, or give eps_r", name,
                   names);
}

void ec_material_pec(const char *name, ec_material *material)
{
    *material = (ec_material){.kind = EC_MATERIAL_PEC};
    ec_material_rename(material, name);
}

int ec_material_by_name(const char *name, ec_material *material)
{
    char plain[EC_MATERIAL_NAME];
    const char *known;
    plain_name(name, plain);
    if (strcmp(plain, "pec") == 0) {
        ec_material_pec(name, material);
        return EC_OK;
    }
    for (int32_t i = 0; (known = ec_material_itu_name(i)); i++)
        if (strcmp(plain, known) == 0) {
            *material = (ec_material){.kind = EC_MATERIAL_ITU, .itu = i};
            ec_material_rename(material, name);
            return EC_OK;
        }
    return unknown(name);
}

int ec_material_constant(const char *name, double eps_r, double conductivity, double loss_tangent,
                         double thickness, ec_material *material)
{
    static const char *const names[] = {"eps_r", "conductivity", "loss_tangent", "thickness"};
    const double value[] = {eps_r, conductivity, loss_tangent, thickness};
    for (int i = 0; i < 4; i++) {
        double least = i == 0 ? 1 : 0;
        if (!(value[i] >= least && isfinite(value[i])))
            return ec_fail(EC_ERR_ARGUMENT, "material '%s': %s is %g; it must be at least %g", name,
                           names[i], value[i], least);
    }
    *material = (ec_material){.kind = EC_MATERIAL_CONSTANT,
                              .eps_r = eps_r,
                              .conductivity = conductivity,
                              .loss_tangent = loss_tangent,
                              .thickness = thickness};
    ec_material_rename(material, name);
    return EC_OK;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The factor by which a frequency (GHz) lies outside a row: 1 inside. */
static double beyond(const itu_row *row, double ghz)
{
    return ghz < row->from ? row->from / ghz : ghz > row->to ? ghz / row->to : 1;
}

static const itu_row *nearest_row(const ec_material *material, double ghz)
{
    const char *name = ec_material_itu_name(material->itu);
    const itu_row *best = NULL;
    for (int row = 0; row < ROWS; row++)
        if (strcmp(table[row].name, name) == 0 &&
            (!best || beyond(&table[row], ghz) < beyond(best, ghz)))
            best = &table[row];
    return best;
}

int ec_material_check(const ec_material *material, double frequency)
{
    if (!(frequency > 0 && isfinite(frequency)))
        return ec_fail(EC_ERR_RANGE, "material '%s': a frequency of %g Hz", material->name,
                       frequency);
    if (material->kind != EC_MATERIAL_ITU)
        return EC_OK;
    const itu_row *row = nearest_row(material, frequency * 1e-9);
    double factor = beyond(row, frequency * 1e-9);
    if (factor == 1)
        return EC_OK;
    return ec_fail(factor < REACH ? 1 : EC_ERR_RANGE,
                   "material '%s': ITU-R P.2040 has figures from %g to %g GHz, not for %g GHz%s",
                   material->name, row->from, row->to, frequency * 1e-9,
                   factor < REACH ? "; they are carried on"
                                  : "; give eps_r and conductivity instead");
}

int ec_material_permittivity(const ec_material *material, double frequency, ec_c128 *permittivity)
{
    if (material->kind == EC_MATERIAL_PEC)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "material '%s' is a perfect conductor: it has no "
                       "permittivity",
                       material->name);
    int rc = ec_material_check(material, frequency);
    if (rc < 0)
        return rc;
    double eps_r = material->eps_r, conductivity = material->conductivity;
    if (material->kind == EC_MATERIAL_ITU) {
        const itu_row *row = nearest_row(material, frequency * 1e-9);
        eps_r = row->a * pow(frequency * 1e-9, row->b);
        conductivity = row->c * pow(frequency * 1e-9, row->d);
    }
    permittivity->re = eps_r;
    permittivity->im = -eps_r * material->loss_tangent -
                       conductivity / (2 * EC_PI * frequency * VACUUM_PERMITTIVITY);
    return EC_OK;
}

void ec_material_law_of(const ec_material *material, ec_material_law *law)
{
    memset(law, 0, sizeof *law);
    law->kind = material->kind;
    law->loss_tangent = material->loss_tangent;
    law->thickness = material->thickness;
    if (material->kind == EC_MATERIAL_CONSTANT)
        law->row[law->rows++] = (ec_material_row){
            .a = material->eps_r, .c = material->conductivity, .to = (double)INFINITY};
    if (material->kind != EC_MATERIAL_ITU)
        return;
    const char *name = ec_material_itu_name(material->itu);
    for (int row = 0; row < ROWS && law->rows < EC_MATERIAL_ROWS_MAX; row++) {
        const itu_row *r = &table[row];
        if (strcmp(r->name, name) == 0)
            law->row[law->rows++] = (ec_material_row){r->a, r->b, r->c, r->d, r->from, r->to};
    }
}
