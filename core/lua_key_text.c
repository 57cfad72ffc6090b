#include "lua_key_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ec_lua_key_kind(const ec_key *key)
{
    switch (key->kind) {
    case EC_KEY_NUMBER:
        return "number";
    case EC_KEY_INTEGER:
        return "whole number";
    case EC_KEY_FLAG:
        return "true or false";
    case EC_KEY_WORD:
        return "word";
    case EC_KEY_STRING:
        return "text";
    case EC_KEY_LIST:
        return "number or list";
    case EC_KEY_EXPR:
        return "number, list or expression";
    case EC_KEY_QUANTITY:
        return key->flags & EC_KEY_SINGLE ? "number or expression" : "number, list or expression";
    default:
        return "value";
    }
}

void ec_lua_key_type(const ec_key *key, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", ec_lua_key_kind(key));
    if (key->unit && n < size)
        n += (size_t)snprintf(text + n, size - n, ", %s", key->unit);
    if (key->words && n < size)
        n += (size_t)snprintf(text + n, size - n, ": %s", key->words);
    bool bounded = key->kind == EC_KEY_NUMBER || key->kind == EC_KEY_INTEGER ||
                   key->kind == EC_KEY_LIST || key->kind == EC_KEY_QUANTITY;
    if (!bounded || n >= size)
        return;
    if (isfinite(key->min) && isfinite(key->max) && key->max < 1e4)
        snprintf(text + n, size - n, ", %s%g to %g", key->flags & EC_KEY_ABOVE ? "above " : "",
                 key->min, key->max);
    else if (isfinite(key->min) && key->min > -1e6)
        snprintf(text + n, size - n, ", %s %g", key->flags & EC_KEY_ABOVE ? "above" : "at least",
                 key->min);
}

void ec_lua_key_default(const ec_key *key, char *text, size_t size)
{
    text[0] = 0;
    if (key->flags & EC_KEY_REQUIRED)
        snprintf(text, size, "required");
    else if (key->kind == EC_KEY_FLAG)
        snprintf(text, size, "%s", key->initial == 1 ? "true" : "false");
    else if (key->kind == EC_KEY_WORD && !isnan(key->initial))
        snprintf(text, size, "%.*s", (int)strcspn(key->words, "|"), key->words);
    else if ((key->kind == EC_KEY_NUMBER || key->kind == EC_KEY_INTEGER ||
              key->kind == EC_KEY_EXPR || key->kind == EC_KEY_QUANTITY) &&
             !isnan(key->initial) && fabs(key->initial) < 1e100 &&
             !(key->initial == 0 && (key->min > 0 || key->flags & EC_KEY_ABOVE)))
        snprintf(text, size, "%g", key->initial);
}

void ec_lua_option_texts(const ec_option_def *o, char *type, char *initial, size_t size)
{
    switch (o->kind) {
    case EC_OPTION_WORD: {
        snprintf(type, size, "word: %s", o->words);
        const char *word = o->words;
        for (int i = 0; i < (int)o->initial; i++)
            word += strcspn(word, "|") + 1;
        snprintf(initial, size, "%.*s", (int)strcspn(word, "|"), word);
        return;
    }
    case EC_OPTION_FLAG:
        snprintf(type, size, "true or false");
        snprintf(initial, size, "%s", o->initial == 1 ? "true" : "false");
        return;
    default:
        snprintf(type, size, "%s, %g to %g",
                 o->kind == EC_OPTION_INTEGER ? "whole number" : "number", o->min, o->max);
        if (isnan(o->initial)) /* the help says what it is */
            snprintf(initial, size, "automatic");
        else
            snprintf(initial, size, "%g", o->initial);
    }
}
