/* de_methods.c: the methods of differential evolution with their options. Sources: see de.h. */
#include "de.h"

#define BOUNDS                                                                                     \
    {                                                                                              \
        "bounds", EC_OPTION_WORD, EC_DE_HALFWAY, 0, 2, "halfway|reflect|clamp",                    \
            "a gene that leaves its bounds: half-way between parent and bound, reflected, or on "  \
            "the bound"                                                                            \
    }

/* clang-format off */
/* Of all methods; see de.h. */
#define POPULATIONS                                                                                \
    {"islands", EC_OPTION_INTEGER, 1, 1, 4096, NULL,                                               \
     "populations that evolve side by side, each of `population` designs"},                        \
    {"migrate", EC_OPTION_INTEGER, 20, 0, 4e9, NULL,                                               \
     "generations between migrations: an island's best design replaces the worst one of the next " \
     "island when it is better than that one's best; 0: never"},                                   \
    {"restart", EC_OPTION_INTEGER, 0, 0, 4e9, NULL,                                                \
     "generations without a better design after which a population is drawn anew; its best "       \
     "design is kept; 0: never"},                                                                  \
    {"restart_spread", EC_OPTION_NUMBER, 0, 0, 1, NULL,                                            \
     "a population is also drawn anew when every variable's spread is below this share of its "    \
     "range; 0: never"},                                                                           \
    {"opposition", EC_OPTION_FLAG, 0, 0, 1, NULL,                                                  \
     "the second generation tries the opposite point of each design of the first one, and the "    \
     "better of the two stays (Rahnamayan et al. 2008)"}
/* clang-format on */

static const ec_option_def rand1bin_options[] = {
    {"F", EC_OPTION_NUMBER, 0.5, 0, 2, NULL, "factor of the difference vector"},
    {"CR", EC_OPTION_NUMBER, 0.9, 0, 1, NULL, "probability that a gene is crossed over"},
    BOUNDS,
    POPULATIONS,
};

/* With F = 0.5 all members collapse onto the best one long before it is an optimum. */
static const ec_option_def best1bin_options[] = {
    {"F", EC_OPTION_NUMBER, 0.7, 0, 2, NULL, "factor of the difference vector"},
    {"CR", EC_OPTION_NUMBER, 0.9, 0, 1, NULL, "probability that a gene is crossed over"},
    BOUNDS,
    POPULATIONS,
};

static const ec_option_def jde_options[] = {
    {"F", EC_OPTION_NUMBER, 0.5, 0, 2, NULL, "first factor of the difference vector"},
    {"CR", EC_OPTION_NUMBER, 0.9, 0, 1, NULL, "first probability of crossover"},
    {"tau_F", EC_OPTION_NUMBER, 0.1, 0, 1, NULL, "probability that a trial draws a new F"},
    {"tau_CR", EC_OPTION_NUMBER, 0.1, 0, 1, NULL, "probability that a trial draws a new CR"},
    BOUNDS,
    POPULATIONS,
};

static const ec_option_def pbest_options[] = {
    {"p", EC_OPTION_NUMBER, 0.05, 0, 1, NULL, "share of the population that counts as best"},
    {"archive", EC_OPTION_NUMBER, 1.0, 0, 10, NULL, "size of the archive over the population"},
    {"adapt", EC_OPTION_FLAG, 1, 0, 1, NULL, "learn F and CR from successes; else they stay fixed"},
    {"c", EC_OPTION_NUMBER, 0.1, 0, 1, NULL, "rate at which the means of F and CR are learnt"},
    {"F", EC_OPTION_NUMBER, 0.5, 0, 2, NULL, "factor of the difference vectors without adapt"},
    {"CR", EC_OPTION_NUMBER, 0.9, 0, 1, NULL, "probability of crossover without adapt"},
    BOUNDS,
    POPULATIONS,
};

static const ec_option_def lshade_options[] = {
    {"p", EC_OPTION_NUMBER, 0.11, 0, 1, NULL, "share of the population that counts as best"},
    {"archive", EC_OPTION_NUMBER, 2.6, 0, 10, NULL, "size of the archive over the population"},
    {"memory", EC_OPTION_INTEGER, 6, 1, EC_DE_MEMORY_MAX, NULL, "slots of the success history"},
    {"population_min", EC_OPTION_INTEGER, 4, 4, EC_DE_POPULATION_MAX, NULL,
     "population at the end of the budget"},
    BOUNDS,
    POPULATIONS,
};

static const ec_option_link links[] = {
    {"migrate", "islands", 2, INFINITY, "islands above 1"},
    /* only current_to_pbest has these */
    {"c", "adapt", 1, 1, "adapt = true"},
    {"F", "adapt", 0, 0, "adapt = false"},
    {"CR", "adapt", 0, 0, "adapt = false"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* clang-format off */
#define METHOD(id, word, text, table, smallest, linked)                                            \
    const ec_optimizer_def id = {                                                                  \
        .name = word, .help = text, .options = table, .n_options = COUNT(table),                   \
        .links = links, .n_links = linked, .min_population = smallest,                             \
        .create = ec_de_create, .destroy = ec_de_destroy,                                          \
        .max_population = ec_de_max_population, .propose = ec_de_propose, .take = ec_de_take,      \
        .elite = ec_de_elite, .stats = ec_de_stats, .set_stop_flag = ec_de_set_stop_flag,          \
        .save = ec_de_save, .load = ec_de_load, .capturable = ec_de_capturable,                    \
        .replayed = ec_de_replayed}
/* clang-format on */

METHOD(ec_de_lshade, "lshade",
       "L-SHADE: differential evolution that learns F and CR and shrinks its population over the "
       "budget (Tanabe and Fukunaga 2014)",
       lshade_options, 4, 1);
METHOD(ec_de_rand1bin, "rand1bin",
       "differential evolution rand/1/bin (Storn and Price 1997); evolves groups too",
       rand1bin_options, 4, 1);
METHOD(ec_de_best1bin, "best1bin", "differential evolution best/1/bin (Storn and Price 1997)",
       best1bin_options, 3, 1);
METHOD(ec_de_jde, "jde",
       "jDE: rand/1/bin whose members carry their own F and CR (Brest et al. 2006)", jde_options, 4,
       1);
METHOD(ec_de_current_to_pbest, "current_to_pbest",
       "JADE: current-to-pbest/1/bin with an archive, F and CR learnt (Zhang and Sanderson 2009)",
       pbest_options, 3, COUNT(links));
