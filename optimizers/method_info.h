/* method_info.h: reading and checking what a method was asked for (ec_optimizer_info). */
#ifndef EC_METHOD_INFO_H
#define EC_METHOD_INFO_H

#include "optimizer.h"

EC_C_BEGIN

/* Value of the option `key`; NaN when the method has none of that name. */
double ec_method_option(const ec_optimizer_def *def, const ec_optimizer_info *info,
                        const char *key);
/* Options within their ranges; one whose default is NaN (automatic) may be NaN. */
int ec_method_check_options(const ec_optimizer_def *def, const ec_optimizer_info *info);
/* Bounds finite and in order; kind: "variable". */
int ec_method_check_genes(const ec_optimizer_def *def, const char *kind, const ec_gene *genes,
                          size_t count);
/* For methods without group variables: both of the above, a variable to search over, and a population (where one was named) from def->min_population to `largest`. */
int ec_method_check(const ec_optimizer_def *def, const ec_optimizer_info *info, size_t largest);
/* Gene g of start design r within its bounds; what is no number starts in the middle. */
double ec_method_start(const ec_optimizer_info *info, size_t r, size_t g);

EC_C_END
#endif
