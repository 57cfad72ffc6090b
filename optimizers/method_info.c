/* method_info.c: see method_info.h. */
#include "method_info.h"

#include <string.h>

double ec_method_option(const ec_optimizer_def *def, const ec_optimizer_info *info, const char *key)
{
    for (size_t i = 0; i < def->n_options; i++)
        if (strcmp(def->options[i].key, key) == 0)
            return info->options ? info->options[i] : def->options[i].initial;
    return NAN;
}

int ec_method_check_options(const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    for (size_t i = 0; i < def->n_options && info->options; i++) {
        const ec_option_def *o = &def->options[i];
        double value = info->options[i];

        if (isnan(value) && isnan(o->initial))
            continue;
        if (!(value >= o->min && value <= o->max))
            return ec_fail(EC_ERR_ARGUMENT, "%s: %s = %g, allowed are %g to %g", def->name, o->key,
                           value, o->min, o->max);
        if (o->kind != EC_OPTION_NUMBER && value != floor(value))
            return ec_fail(EC_ERR_ARGUMENT, "%s: %s = %g is not an integer", def->name, o->key,
                           value);
    }
    return EC_OK;
}

int ec_method_check_genes(const ec_optimizer_def *def, const char *kind, const ec_gene *genes,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(genes[i].min <= genes[i].max) || !isfinite(genes[i].min) || !isfinite(genes[i].max))
            return ec_fail(EC_ERR_RANGE,
                           "%s: %s %zu has the bounds %g and %g; both are finite numbers, the "
                           "first not above the second",
                           def->name, kind, i + 1, genes[i].min, genes[i].max);
    return EC_OK;
}

int ec_method_check(const ec_optimizer_def *def, const ec_optimizer_info *info, size_t largest)
{
    if (info->n_group_genes > 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "method '%s' does not evolve group variables; use 'rand1bin'", def->name);
    if (info->n_genes == 0)
        return ec_fail(EC_ERR_ARGUMENT, "%s: there is no variable to search over", def->name);
    if (info->population > 0 && info->population < def->min_population)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too small for %s; the smallest allowed is %zu",
                       info->population, def->name, def->min_population);
    if (info->population > largest)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too large for %s; at most %zu are allowed",
                       info->population, def->name, largest);
    int status = ec_method_check_options(def, info);
    return status < 0 ? status : ec_method_check_genes(def, "variable", info->genes, info->n_genes);
}

double ec_method_start(const ec_optimizer_info *info, size_t r, size_t g)
{
    double x = info->start[r * info->n_genes + g];
    double min = info->genes[g].min, max = info->genes[g].max;

    x = isnan(x) ? 0.5 * min + 0.5 * max : x;
    return x < min ? min : x > max ? max : x;
}
