/* lua_keys.h: one static table for each constructor and method that takes a table of keys.
 *
 * The table says each key's kind, default, range, unit, allowed words and one line of help. It
 * drives the parser, its messages ("unknown key 'boundry' (did you mean 'boundary'?)"), `eciton
 * help` and the reference page. Values are written into a plain C struct at the key's offset;
 * memory they point to belongs to Lua and lives as long as what the parser leaves on the stack.
 */
#ifndef EC_LUA_KEYS_H
#define EC_LUA_KEYS_H

#include "lua_host.h"

typedef enum ec_key_kind {
    EC_KEY_NUMBER,  /* double, finite */
    EC_KEY_INTEGER, /* int64_t; 2e5 is one, 24.5 is not */
    EC_KEY_FLAG,    /* bool */
    EC_KEY_WORD,    /* int: which of words */
    EC_KEY_STRING,  /* const char * */
    EC_KEY_LIST,    /* ec_lua_list: numbers; a single number is a list of one */
    EC_KEY_EXPR,    /* ec_expr: a number, a list or an expression */
    /* int: stack index of a number, of a plain table of numbers, or of a real expression, 0 when
     * absent: what library functions compute with. min and max hold for an expression's range. */
    EC_KEY_QUANTITY,
    EC_KEY_ANY /* int: the value's stack index, 0 when absent */
} ec_key_kind;

enum {
    EC_KEY_REQUIRED = 1,
    EC_KEY_ABOVE = 2, /* min itself is not allowed */
    EC_KEY_SINGLE = 4 /* of a quantity: no list */
};

typedef struct ec_lua_list {
    const double *v;
    int32_t n;
    bool scalar; /* the script gave a plain number */
} ec_lua_list;

typedef struct ec_key {
    const char *key;
    ec_key_kind kind;
    int flags;
    double initial;  /* default; NAN: none (numbers NAN, integers -1, expressions -1) */
    double min, max; /* of numbers, integers, and each element of a list or a quantity */
    const char *unit;
    const char *words; /* "a|b|c" */
    const char *help;
    size_t offset;
} ec_key;

typedef struct ec_noun {
    const char *name;  /* "ec.array", "job:solve" */
    const char *usage; /* an example, or how it is called */
    const char *help;
    const ec_key *keys; /* NULL: takes no table */
    int n_keys;
} ec_noun;

#define EC_KEYS(table) table, (int)(sizeof table / sizeof *table)

/* A key that is not in the noun's table: true when it was taken. The value is on top of the stack.
 * names (n of them) join the "did you mean" of the noun's own keys. */
typedef struct ec_key_extra {
    bool (*take)(lua_State *L, void *user, const char *key);
    void *user;
    const char *const *names;
    int n_names;
} ec_key_extra;

/* Reads the table at index (nil or none: every key is absent) into `to`; returns a bit for each
 * key that was given. Leaves values on the stack. extra may be NULL. */
uint64_t ec_lua_keys_parse(lua_State *L, int index, const ec_noun *noun, void *to,
                           const ec_key_extra *extra);
bool ec_lua_keys_given(const ec_noun *noun, uint64_t given, const char *key);

/* Warns that a key does nothing beside the values of others, each of which may be changed alone. */
void ec_lua_warn_idle(lua_State *L, const char *what, const char *key, const char *why);

/* The value at index as a list of numbers; pushes the userdata that holds them. what: "ec.array:
 * key 'u'". */
void ec_lua_list_get(lua_State *L, int index, const char *what, ec_lua_list *list);
/* Pushes the numbers as a plain table. */
void ec_lua_list_push(lua_State *L, const ec_lua_list *list);
/* Which of words ("a|b|c") the text at index is. */
int ec_lua_word_get(lua_State *L, int index, const char *what, const char *words);
/* Pushes a copy of the table at index and returns its own. Finalizers of the script run where Lua
 * allocates an object, and could change a table between two looks at it; the copy is made without
 * such a place, and nobody else has it. */
int ec_lua_table_copy(lua_State *L, int index);
/* Pushes a table of the noun's keys as the table at index has them; lists are copied. */
void ec_lua_keys_copy(lua_State *L, int index, const ec_noun *noun);
/* Of the table at index: pushes one of its keys and one of its list, whose length is returned. */
int32_t ec_lua_table_split(lua_State *L, int index, const char *what);
/* Length of the table at index when it is a proper list (keys 1 .. n, no holes); an error
 * otherwise. */
int32_t ec_lua_list_length(lua_State *L, int index, const char *what);

/* Whether {x, y, z} has a length; a very long or short one becomes 1 long, for its square would leave the
 * range of numbers. */
bool ec_lua_is_direction(double v[3]);

/* The i-th noun of all, NULL behind the last one (lua_help.c). */
const ec_noun *ec_lua_noun(int i);

#endif
