/* optimizer_table.c: every method that a script may name, the default first. A new method is an
 * entry here and a folder beside this file. */
#include "optimizer.h"

#include "nlopt/nlopt_list.h"

#include <stdio.h>
#include <string.h>

extern const ec_optimizer_def ec_de_lshade, ec_de_rand1bin, ec_de_best1bin, ec_de_jde,
    ec_de_current_to_pbest, ec_cmaes_method, ec_acor_method, ec_nsga2_method, ec_aco_binary,
    ec_lbfgs_method;

#define DECLARE(id, word, options, traits, help) extern const ec_optimizer_def ec_nlopt_##id;
#define ENTRY(id, word, options, traits, help)   &ec_nlopt_##id,
EC_NLOPT_LIST(DECLARE)

static const ec_optimizer_def *const table[] = {
    &ec_de_lshade,           &ec_de_rand1bin,  &ec_de_best1bin,           &ec_de_jde,
    &ec_de_current_to_pbest, &ec_cmaes_method, &ec_acor_method,           &ec_aco_binary,
    &ec_nsga2_method,        &ec_lbfgs_method, EC_NLOPT_LIST(ENTRY) NULL,
};

const ec_optimizer_def *const *ec_optimizer_table(void)
{
    return table;
}

const ec_optimizer_def *ec_optimizer_find(const char *name)
{
    if (name && strcmp(name, "de") == 0)
        return &ec_de_lshade;
    for (const ec_optimizer_def *const *def = table; *def; def++)
        if (name && strcmp((*def)->name, name) == 0)
            return *def;
    return NULL;
}

void ec_optimizer_names(uint32_t with, uint32_t without, char *text, size_t size)
{
    const ec_optimizer_family *last = NULL;
    size_t used = 0;

    text[0] = '\0';
    for (const ec_optimizer_def *const *def = table; *def && used < size; def++) {
        const ec_optimizer_family *family = (*def)->family;
        bool named = family && family == last;
        if (((*def)->flags & with) != with || (*def)->flags & without || named)
            continue;
        last = family;
        const char *name = !family                           ? (*def)->name
                           : without & EC_OPTIMIZER_GRADIENT ? family->without_gradients
                                                             : family->members;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
    }
}
