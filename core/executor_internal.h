/* executor_internal.h: an executor's plan: values, steps and where everything lies. Built by
 * executor_plan.c, run by executor.c, by several workers with executor_team.c. */
#ifndef EC_EXECUTOR_INTERNAL_H
#define EC_EXECUTOR_INTERNAL_H

#include "executor.h"
#include "graph_internal.h"
#include "graph_kernels.h"

/* How often a value is computed. */
enum { EC_CLASS_CONSTANT, EC_CLASS_GROUP, EC_CLASS_CANDIDATE, EC_CLASS_COUNT };

/* A value: a needed node, or a copy that the plan adds (to spread a group value or to widen one). */
typedef struct ec_value {
    ec_expr node;
    int8_t class;
    int8_t dtype; /* as stored */
    bool sampled;
    bool view; /* slice, reshape, declare: no storage of its own */
    bool elementwise;
    bool stored;
    bool population;   /* must outlive a chunk */
    bool touches_call; /* an evaluator reads or writes it */
    int32_t root;      /* value that holds the data (itself unless a view) */
    int32_t first;     /* flat element of root where it begins */
    int32_t elements;
    int32_t stage, depth;
    int32_t item;      /* program order: the item that computes it */
    int32_t last_item; /* the last item that reads it */
    int32_t segment;   /* segment of its item; -1 when items of several touch it */
    uint8_t region;
    int64_t lane_offset; /* bytes from the region's start, for one lane */
    int64_t ld;          /* chunk: 0, filled when the chunk is known */
} ec_value;

typedef enum ec_item_kind { EC_ITEM_STEP, EC_ITEM_FUSED, EC_ITEM_CALL } ec_item_kind;

/* One thing to do, in program order. */
typedef struct ec_item {
    ec_item_kind kind;
    int8_t class;
    int32_t stage, segment;
    int32_t step; /* STEP, FUSED: index of its ec_step */
    int32_t call; /* CALL: index into calls */
} ec_item;

/* A planned evaluator call. */
typedef struct ec_planned_call {
    ec_call *call;
    ec_evaluator *evaluator;
    int32_t *in;  /* values */
    int32_t *out; /* values, -1: not wanted */
    bool *wanted;
    int32_t n_in, n_out;
    int8_t class;
    int32_t stage;
    ec_array *in_array, *out_array;
    const ec_array **in_pointer;
    ec_array **out_pointer;
} ec_planned_call;

typedef struct ec_team ec_team;

struct ec_executor {
    ec_graph *graph;
    ec_backend *backend;
    ec_log *log;
    ec_fidelity fidelity;
    const int32_t *stop;
    const ec_interrupt *interrupt;
    bool final_samples; /* those of final fidelity */
    int32_t samples;    /* length of the sample axis */
    size_t max_candidates, max_groups, chunk;
    size_t pace; /* candidates between two looks at the interrupt, follows the pace */
    size_t ld_population, ld_group;

    ec_value *value;
    int32_t n_values, cap_values;
    int32_t *of_node; /* node -> value, -1 */
    int32_t n_nodes;  /* of the graph when it was planned; it may grow since */
    ec_item *item;
    int32_t n_items, cap_items;
    ec_step *step;
    int32_t n_steps, cap_steps;
    ec_operand *operand;
    int32_t *operand_value; /* value of each operand, until operands are resolved */
    int32_t n_operands, cap_operands;
    ec_instr *instr;
    int32_t n_instr, cap_instr;
    char *table;
    size_t table_bytes, table_cap;
    ec_planned_call *call;
    int32_t n_calls;
    int32_t n_stages;
    int32_t *output; /* value of each output */
    int32_t n_outputs;
    ec_array *output_array;

    int64_t lane_bytes[EC_REGION_COUNT]; /* size of each region for one lane */
    void *memory[EC_REGION_COUNT];
    void *device_steps, *device_operands, *device_instrs, *device_table;
    uint8_t *group_status, *constant_status_device;
    uint8_t constant_status;
    int32_t status_item; /* the call that writes the status bytes first; -1: they are filled */
    size_t local_bytes;
    size_t call_bytes_per_candidate, call_bytes_fixed;
    ec_team *team; /* NULL on a backend without workers */
};

/* Values, items, steps, programs; after it everything but the chunk and addresses is known. */
int ec_executor_plan(ec_executor *executor, const ec_executor_info *info);
/* Grows an array by one; returns its new element, zeroed, or NULL. */
void *ec_executor_push(void **array, int32_t *count, int32_t *capacity, size_t size);

/* A run on the executor's own backend. */
int ec_executor_run_alone(ec_executor *executor, const ec_array *X, const ec_array *XG,
                          const int32_t *group_map, uint8_t *status, size_t n, size_t groups);

/* executor_team.c. begin comes before the plan: what the evaluators are given takes its place in
 * *info. complete comes behind it, with the info as it was, and makes the other workers' executors. */
int ec_team_begin(ec_executor *executor, ec_executor_info *info);
int ec_team_complete(ec_team *team, const ec_executor_info *info);
void ec_team_destroy(ec_team **team);
int ec_team_run(ec_team *team, const ec_array *X, const ec_array *XG, const int32_t *group_map,
                uint8_t *status, size_t n, size_t groups);
/* Whether runs are those of the first backend alone, now and later. */
bool ec_team_works_alone(const ec_team *team);
int ec_team_size(const ec_team *team);

#endif
