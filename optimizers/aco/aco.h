/* aco.h: the binary ant colony, what its files share. Two rules:
 *   max_min       Stuetzle and Hoos, Future Generation Computer Systems 16 (2000), 889-914, in the
 *                 hyper-cube framework of Blum and Dorigo, IEEE Trans. SMC B 34 (2004), 1161-1172:
 *                 only the best deposit, probabilities stay within [1/n, 1 - 1/n] for n bits, a
 *                 colony that stagnates starts again. It sees ranks only: costs plus a constant give
 *                 the same designs;
 *   proportional  Kilic and others (ACES Journal 2010, section IV.B): two pheromones a bit,
 *                 p0 = tau0 / (tau0 + tau1), every ant deposits 1 / cost on its bits.
 *
 * A design is a string of bits: a binary gene is one bit, an integer or a choice of m values the
 * ceil(log2 m) bits of a code whose value number is floor(code m / 2^bits), so that every code is
 * valid and a value has one or two codes; a real gene is min + code / (2^bits - 1) (max - min). Codes
 * are plain binary, the first bit counts 1. Fixed genes have no bits. Binary genes of a set with k
 * ones (ec_gene.set) are drawn like others, and then ones (or zeros) too many are turned, each
 * as likely as the other.
 *
 * Invariants. Candidate c is ant c mod ants of colony c / ants; its bits are the column c of the words
 * bits[generation & 1] (rows of ld words, bit i in word i / 32), what `elite` reads the last ants
 * from. A generation is propose = aco_ants and take = aco_take: always the same launches. A stored
 * violation is 0 for a feasible design, infinite (as is its cost) for a failed one: the order of
 * candidates is then (violation, cost, index). A colony reads its neighbour's best at [generation & 1]
 * and writes its own at the other one. Where the evaluation is a small graph program, CUDA runs whole
 * generations in one launch instead (aco_generations), to the same bits.
 */
#ifndef EC_ACO_H
#define EC_ACO_H

#include "graph_kernels.h"
#include "kernel.h"
#include "optimizer.h"
#include "solve_kernels.h"

EC_C_BEGIN

enum {
    EC_ACO_ANTS = 40, /* of a colony by default: the paper's */
    EC_ACO_CANDIDATES_MAX = 1 << 20,
    EC_ACO_BITS_MAX = 1 << 22,
    EC_ACO_EMPTY = 0xff /* status of an ant that has not been evaluated */
};

typedef enum ec_aco_rule { EC_ACO_MAX_MIN, EC_ACO_PROPORTIONAL } ec_aco_rule;
typedef enum ec_aco_kind {
    EC_ACO_FIXED,
    EC_ACO_BINARY, /* 0.25 or 0.75 */
    EC_ACO_CELLS,  /* the middle of one of `cells` cells of width 1 */
    EC_ACO_REAL
} ec_aco_kind;

typedef struct ec_aco_gene {
    double min, max;
    uint64_t cells;
    uint32_t first, bits; /* of its code */
    uint32_t kind, reserved;
} ec_aco_gene;

/* Bits first .. first + count - 1, of which `ones` are 1. */
typedef struct ec_aco_set {
    uint32_t first, count, ones;
    uint32_t block; /* first Philox block of its draws */
} ec_aco_set;

typedef struct ec_aco_score {
    double violation, cost;
} ec_aco_score;

/* What a colony knows besides its pheromones. */
typedef struct ec_aco_colony {
    ec_aco_score best;     /* of all its generations */
    ec_aco_score since[2]; /* since its last start */
    uint32_t improved;     /* generation in which `since` last became better */
    uint32_t starts;       /* how often it has started again */
} ec_aco_colony;

/* A colony's part of the statistics. */
typedef struct ec_aco_tally {
    uint32_t failed, feasible;
} ec_aco_tally;

typedef struct ec_aco_control {
    ec_optimizer_stats stats;
} ec_aco_control;

/* CUDA: where the colonies of a launch of aco_generations meet. All 0 before the first one. */
typedef struct ec_aco_meeting {
    uint32_t arrived;          /* colonies that are done with the generation */
    uint32_t failed, feasible; /* of its ants, summed up */
    uint32_t reserved;
    uint64_t verdict; /* 2 (generation + 1), and 1 more when it was the last */
} ec_aco_meeting;

/* What every kernel gets. Pointers are to the backend's memory. */
typedef struct ec_aco_args {
    ec_aco_control *control;
    const int32_t *stop; /* may be NULL */

    /* state */
    ec_aco_colony *colony;
    double *one;        /* colonies x pitch: probability of a 1, or its pheromone (proportional) */
    double *zero;       /* the pheromone of a 0 (proportional) */
    uint16_t *level;    /* colonies x pitch: a bit is 1 when 16 random bits are below its level */
    uint32_t *best;     /* colonies x words: the bits of colony.best */
    uint32_t *since[2]; /* of colony.since */
    double *cost;       /* of the last generation's ants */
    double *violation;
    uint8_t *status;
    uint32_t *bits[2]; /* words x ld */

    /* work */
    double *U; /* [genes] over candidates, leading dimension ld */
    ec_aco_tally *tally;
    uint32_t *any, *all; /* colonies x words: bits that are 1 in any and in all of its ants */
    double *weight;      /* of an ant's deposit (proportional) */
    uint32_t *arrived;   /* CUDA: colonies that are done with a take */
    ec_aco_meeting *meeting;
    uint32_t *differ; /* CUDA, [2 parities][2][words]: bits that are 1, that are 0 in any ant */

    /* constants */
    const ec_aco_gene *gene;
    const ec_aco_set *set;
    const uint32_t *start; /* n_start x words */
    const double *ratio;   /* CUDA: code / (2^bits - 1) of real genes with few bits, or NULL */

    /* scores of the ants, from the caller */
    const double *trial_cost, *trial_violation;
    const uint8_t *trial_status; /* NULL: 0 */
    uint32_t limit;              /* candidates from this one on were not evaluated */

    uint64_t seed;
    uint32_t island;
    uint32_t genes, n_bits, words, pitch, sets;
    uint32_t colonies, ants, n, ld, n_start, ratio_bits;
    uint32_t rule, exchange, restart; /* 0: never */
    double evaporation, elite, deposit, floor, low;
} ec_aco_args;

/* CUDA: `count` whole generations, evaluation and stop rules included; a block is a colony. */
typedef struct ec_aco_generations_args {
    ec_aco_args aco;
    ec_graph_args program;
    ec_stop_rules_args rules;
    uint32_t count;
    uint32_t team; /* threads that evaluate; the others draw random words meanwhile */
    /* where a lane's cost and violation begin among its bytes of EC_REGION_POPULATION; < 0: no
     * violation */
    int64_t cost, violation;
} ec_aco_generations_args;

enum {
    EC_ACO_THREADS = 512, /* of a block of aco_generations: */
    EC_ACO_WORKERS = 480, /* a warp of it manages, and of the workers */
    EC_ACO_TEAM = 320,    /* these evaluate unless a colony has too many ants for them */
    EC_ACO_RATIO_BITS = 12
};

extern const ec_kernel ec_kernel_aco_ants, ec_kernel_aco_take;
extern const ec_optimizer_def ec_aco_binary;

EC_C_END
#endif
