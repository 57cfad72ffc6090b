/* method_options.h: options of a method by key, for tests that create optimizers. */
#ifndef EC_METHOD_OPTIONS_H
#define EC_METHOD_OPTIONS_H

#include "optimizer.h"

#include <string.h>

enum { EC_METHOD_OPTIONS_MAX = 64 };

/* A list ends with a NULL key. */
typedef struct ec_method_setting {
    const char *key;
    double value;
} ec_method_setting;

/* Defaults, then the settings (NULL: none); false when the method lacks one of the keys. */
static inline bool ec_method_options(const ec_optimizer_def *def, const ec_method_setting *settings,
                                     double options[EC_METHOD_OPTIONS_MAX])
{
    for (size_t i = 0; i < def->n_options; i++)
        options[i] = def->options[i].initial;
    for (; settings && settings->key; settings++) {
        size_t i = 0;
        while (i < def->n_options && strcmp(def->options[i].key, settings->key) != 0)
            i++;
        if (i == def->n_options)
            return false;
        options[i] = settings->value;
    }
    return true;
}

#endif
