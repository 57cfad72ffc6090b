/* optimizer.h: what an optimizer is: propose a population, take its scores.
 *
 * Genes are float64, one row a gene: X is [genes] over the candidates (array.h layout), on the
 * backend of worker 0, inside their bounds. Integer, binary and choice variables are decoded from
 * genes by the graph; the optimizer sees `integral` as a hint only. Group genes (shared by a group
 * of candidates) are the rows [0, group_genes) of the separate array XG over groups.
 *
 * Order of candidates, from better to worse: key (class, violation, cost, index), where class is
 * 0 feasible (status 0, violation 0), 1 infeasible (status 0, violation > 0), 2 failed (status not
 * 0, or a cost or violation that is not finite). Within class 0 violation is 0, in class 2 only the
 * index counts. A failed parent is always replaced by a trial that is no worse; NaN never wins.
 *
 * propose and take enqueue work on the backend; they do not wait. For the same costs they give the
 * same bits on every backend (Philox and detmath.h; kernels without contraction).
 */
#ifndef EC_OPTIMIZER_H
#define EC_OPTIMIZER_H

#include "evaluator.h"

EC_C_BEGIN

typedef struct ec_optimizer ec_optimizer;
typedef struct ec_optimizer_def ec_optimizer_def;

/* One option that a script may give to job:solve for this method. */
typedef enum ec_option_kind {
    EC_OPTION_NUMBER,
    EC_OPTION_INTEGER,
    EC_OPTION_WORD,
    EC_OPTION_FLAG
} ec_option_kind;
typedef struct ec_option_def {
    const char *key;
    ec_option_kind kind;
    double initial;    /* default; words: index into words; NaN: depends on what else is given */
    double min, max;   /* allowed, both included */
    const char *words; /* "a|b|c" for EC_OPTION_WORD */
    const char *help;  /* one line */
} ec_option_def;

/* An option that has an effect only with some values of another one of the method. */
typedef struct ec_option_link {
    const char *key, *with;
    double min, max;  /* of `with` */
    const char *text; /* "islands above 1" */
} ec_option_link;

/* Methods that are listed together: one section of the reference, one word in a list of methods. */
typedef struct ec_optimizer_family {
    const char *name;              /* "nlopt": a topic of `eciton help` */
    const char *title;             /* "NLopt methods" */
    const char *help;              /* what is common to them */
    const char *members;           /* in a list of methods: "nlopt_..." */
    const char *without_gradients; /* the same of those that need none */
} ec_optimizer_family;

/* What a method needs of the solve loop, or gives it. */
enum {
    /* Its state lies in host memory: propose uploads, take waits for the scores
     * (optimizers/host_population.h); the loop reads the stop flag after each generation. */
    EC_OPTIMIZER_ON_HOST = 1,
    EC_OPTIMIZER_FRONT = 2,    /* takes several objectives; elite gives the best front first */
    EC_OPTIMIZER_GRADIENT = 4, /* needs the gradient of the cost: a graph without one is refused */
    EC_OPTIMIZER_LIMITS = 8,   /* wants each limit of the constraints by itself */
    /* Its way depends on the costs themselves, not only on their order and differences: with a
     * constant added to every cost it proposes other designs. */
    EC_OPTIMIZER_ABSOLUTE = 16,
    /* A library in it reads memory that it has not set: two runs may differ in their bits. */
    EC_OPTIMIZER_UNREPEATABLE = 32,
    EC_OPTIMIZER_APART =
        64 /* its designs never become equal: the stop rule `spread` is not for it */
};

typedef struct ec_gene {
    double min, max; /* min <= max; equal bounds fix the gene */
    bool integral;   /* decoded to an integer by the graph */
    /* Binary genes of one set (neighbours with the same number above 0) are decoded together: the
     * `ones` largest are 1. 0: decoded alone. */
    uint32_t set, ones;
} ec_gene;

typedef struct ec_optimizer_info {
    const ec_gene *genes;
    size_t n_genes; /* of a candidate, without the group genes */
    const ec_gene *group_genes;
    size_t n_group_genes; /* 0: no groups */
    size_t population;    /* 0: the method's default (L-SHADE 18 D) */
    size_t groups;        /* number of groups when n_group_genes > 0 */
    uint64_t seed;
    uint32_t island;    /* Philox stream of an independent population */
    size_t evaluations; /* budget, 0: none named (then L-SHADE does not shrink) */
    size_t generations; /* budget, 0: none named */
    const double
        *start; /* n_start designs of n_genes (row a design), or NULL; clamped to the bounds */
    size_t n_start;
    const double *options;         /* one value an entry of def->options, in order */
    size_t n_objectives;           /* 0 counts as 1; more only with EC_OPTIMIZER_FRONT */
    size_t n_limits;               /* with EC_OPTIMIZER_LIMITS: rows of ec_scores.limit */
    const bool *equal;             /* of each limit: it has to be 0, rather than <= 0 */
    const ec_interrupt *interrupt; /* for a propose that may take long; may be NULL */
    ec_log *log;
} ec_optimizer_info;

/* Scores of a generation: f64 rows on the backend, row k of candidate c at k * ld + c. */
typedef struct ec_scores {
    const double *cost;      /* [objectives], to be minimised */
    const double *violation; /* sum of the scaled excesses; NULL: no constraints */
    const uint8_t *status;   /* one byte a candidate, 0: it did not fail */
    size_t ld;
    /* NULL unless the method's flags ask for them */
    const double *cost_gradient;  /* [genes]; NULL in a generation that did not want it */
    const double *limit;          /* [limits], scaled; <= 0 (or 0) is met, tolerance counted */
    const double *limit_gradient; /* [limits][genes]; NULL in a generation that did not want it */
} ec_scores;

struct ec_graph_args;
struct ec_stop_rules_args;

/* What a method needs for whole generations in one launch: the evaluation as steps of a graph
 * (ec_executor_program; region X is the method's to fill), where it leaves the scores (status NULL:
 * 0) and the stop rules, which the launch applies after each generation. */
typedef struct ec_generation_info {
    const struct ec_graph_args *program;
    ec_scores scores;
    const struct ec_stop_rules_args *rules;
} ec_generation_info;

struct ec_optimizer_def {
    const char *name; /* the method's word: "lshade", "rand1bin", ... */
    const char *help; /* one line with the source */
    const ec_option_def *options;
    size_t n_options;
    const ec_option_link *links;
    size_t n_links;
    uint32_t flags;                    /* EC_OPTIMIZER_* */
    size_t min_population;             /* smallest population that the mutation allows */
    const ec_optimizer_family *family; /* NULL: it stands for itself */
    /* Whether this build has the method; NULL: every build has. */
    bool (*is_built)(const ec_optimizer_def *def);
    /* flags that depend on the options (NULL: defaults); NULL: def->flags */
    uint32_t (*needs)(const ec_optimizer_def *def, const double *options);
    /* ERR_ARGUMENT with a sentence when a value does not fit. */
    int (*create)(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                  ec_optimizer **optimizer);
    void (*destroy)(ec_optimizer **optimizer);
    /* Largest population of any generation (for buffers). */
    size_t (*max_population)(const ec_optimizer *optimizer);
    /* Points *X (and *XG, *group_map: i32 over candidates, when there are groups) at this
     * generation's n designs: buffers owned by the optimizer, valid until take. n = 0: the method
     * has nothing left to try. EC_STOPPED: the interrupt ended it. */
    int (*propose)(ec_optimizer *optimizer, ec_array *X, ec_array *XG, const int32_t **group_map,
                   size_t *n);
    /* Scores of the proposed designs. n is what propose said, or fewer when a budget cuts the last
     * generation: the designs behind it count as not evaluated. */
    int (*take)(ec_optimizer *optimizer, const ec_scores *scores, size_t n);
    /* Best k designs the optimizer holds, best first (without X in any order), host memory: X row a design (n_genes, then
     * n_group_genes), cost row a design (n_objectives); any pointer may be NULL. *found <= k. Waits
     * for the backend. */
    int (*elite)(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                 uint8_t *status, size_t *found);
    /* Where the statistics of the last take lie: on the backend, written by take. */
    const struct ec_optimizer_stats *(*stats)(const ec_optimizer *optimizer);
    /* Device flag that turns propose and take (and everything that the solve loop enqueues) into
     * no-ops: i32 on the backend, owned by the solve loop, non-zero means stopped. Call before the
     * first propose. */
    void (*set_stop_flag)(ec_optimizer *optimizer, const int32_t *stop);
    /* Whole state as a blob in host memory (malloc'ed), and back. */
    int (*save)(ec_optimizer *optimizer, void **blob, size_t *bytes);
    int (*load)(ec_optimizer *optimizer, const void *blob, size_t bytes);
    /* True when the next propose + take enqueue the same fixed launches as the last ones, so that
     * a captured generation may be replayed. NULL: never. */
    bool (*capturable)(const ec_optimizer *optimizer);
    /* Call once for each replay of a captured propose + take: keeps the host's view (population,
     * evaluations) in step with the device and returns that generation's n. NULL with capturable. */
    size_t (*replayed)(ec_optimizer *optimizer);
    /* Whether the method runs whole generations of this problem by itself, on this backend and
     * faster than through propose and take; a copy of *info is kept. NULL: never. */
    bool (*fuse)(ec_optimizer *optimizer, const ec_generation_info *info);
    /* After fuse: enqueues `count` generations, evaluation and stop rules included; nothing happens
     * in those behind a set stop flag. The same bits as propose, evaluation and take. */
    int (*generations)(ec_optimizer *optimizer, size_t count);
    /* With EC_OPTIMIZER_GRADIENT or _LIMITS: whether the generation that propose just gave wants
     * gradients, or values only, which cost less. NULL: it always does. */
    bool (*wants_gradient)(const ec_optimizer *optimizer);
};

/* Statistics after a take, plain data on the backend. */
typedef struct ec_optimizer_stats {
    double best_cost, best_violation; /* of the best design so far; the first objective's best */
    double spread;        /* max over genes of (max - min over the population) / (bound range) */
    uint64_t evaluations; /* designs scored so far */
    uint64_t failed;      /* of those, class 2 */
    uint32_t generation;  /* takes so far */
    uint32_t best_class;
    uint32_t population; /* current size */
    uint32_t feasible;   /* class 0 in the population */
    uint32_t restarts;   /* populations that were drawn anew */
    uint32_t reserved;
} ec_optimizer_stats;

/* The head of every optimizer's struct. */
struct ec_optimizer {
    const ec_optimizer_def *def;
    ec_backend *backend;
};

/* All methods, ended by NULL (optimizers/optimizer_table.c). */
EC_API const ec_optimizer_def *const *ec_optimizer_table(void);
EC_API const ec_optimizer_def *ec_optimizer_find(const char *name);
/* "lshade, rand1bin, ...": names of the methods that have all the flags `with` and none of
 * `without`, a family as one word; cut to size. */
EC_API void ec_optimizer_names(uint32_t with, uint32_t without, char *text, size_t size);

EC_C_END
#endif
