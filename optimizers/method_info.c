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

static int check_option(const ec_optimizer_def *def, const ec_option_def *option, double value)
{
    if (!(value >= option->min && value <= option->max))
        return ec_fail(EC_ERR_ARGUMENT, "%s: %s = %g, allowed are %g to %g", def->name, option->key,
                       value, option->min, option->max);
    if (option->kind != EC_OPTION_NUMBER && value != floor(value))
        return ec_fail(EC_ERR_ARGUMENT, "%s: %s = %g is not an integer", def->name, option->key,
                       value);
    return EC_OK;
}

static int check_gene(const ec_optimizer_def *def, size_t i, const ec_gene *gene)
{
    if (gene->min <= gene->max && isfinite(gene->min) && isfinite(gene->max))
        return EC_OK;
    return ec_fail(EC_ERR_RANGE,
                   "%s: variable %zu has the bounds %g and %g; both are finite numbers, the first "
                   "not above the second",
                   def->name, i + 1, gene->min, gene->max);
}

int ec_method_check(const ec_optimizer_def *def, const ec_optimizer_info *info, size_t largest)
{
    int status = EC_OK;

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
    for (size_t i = 0; i < def->n_options && info->options && status == EC_OK; i++)
        status = check_option(def, &def->options[i], info->options[i]);
    for (size_t i = 0; i < info->n_genes && status == EC_OK; i++)
        status = check_gene(def, i, &info->genes[i]);
    return status;
}

double ec_method_start(const ec_optimizer_info *info, size_t r, size_t g)
{
    double x = info->start[r * info->n_genes + g];
    double min = info->genes[g].min, max = info->genes[g].max;

    x = isnan(x) ? 0.5 * min + 0.5 * max : x;
    return x < min ? min : x > max ? max : x;
}
