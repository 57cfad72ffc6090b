/* aco_kernels.cu: the ant colony on CUDA, the same bits as aco_kernels.c.
 *
 * Ants: a block is a strip of 32 ants; a thread draws a word of 32 bits (four Philox blocks), which
 * is most of the work, then an ant's sets, then a gene. Take: a block is a colony, a warp one of its
 * words (lanes over ants for the statistics, over bits for the pheromones); the block that comes last
 * adds up the colonies. A launch of aco_generations is all of it, with the evaluation between, for one
 * colony as many generations as the caller wants. Sums over ants run in their order, and what blocks and warps reduce
 * (minimum by a total order, or, and, integer sums) does not depend on an order. */
#include "aco_kernels.h"
#include "graph_block.cuh"
#include "kernel_cuda.cuh"

enum { ANTS_THREADS = 256, TAKE_THREADS = 512, WARPS_MAX = 32 };

#define ALL_LANES 0xffffffffu

/* ---- ants ---- */

/* Eight bits of a candidate. */
static __device__ uint32_t draw_eight(const ec_random_stream *stream, uint32_t block, uint32_t c,
                                      uint4 level)
{
    const uint32_t most[4] = {level.x, level.y, level.z, level.w};
    uint32_t out[4], bits = 0;

    ec_random_words(stream, block, c, out);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        bits |= (uint32_t)((out[i] & 0xffffu) < (most[i] & 0xffffu)) << (2 * i);
        bits |= (uint32_t)((out[i] >> 16) < (most[i] >> 16)) << (2 * i + 1);
    }
    return bits;
}

static __device__ uint32_t draw_word(const ec_aco_args *a, const ec_random_stream *stream,
                                     uint32_t generation, uint32_t w, uint32_t c)
{
    uint32_t colony = c / a->ants, used = a->n_bits - 32 * w, word = 0;
    colony = colony < a->colonies ? colony : a->colonies - 1;
    const uint4 *level = (const uint4 *)(a->level + (size_t)colony * a->pitch + 32 * w);

    if (generation == 0 && c < a->n_start)
        return a->start[(size_t)c * a->words + w];
#pragma unroll
    for (uint32_t b = 0; b < 4; b++)
        word |= draw_eight(stream, 4 * w + b, c, level[b]) << (8 * b);
    return used >= 32 ? word : word & ((1u << used) - 1);
}

/* See repair_set in aco_kernels.c; one thread an ant. */
static __device__ void repair_set(const ec_aco_args *a, const ec_aco_set *set, uint32_t c,
                                  uint32_t generation, uint32_t *bits)
{
    ec_random_stream stream = ec_aco_stream(a, generation, EC_ACO_DRAW_SET);
    uint32_t ones = 0, out[4] = {0, 0, 0, 0};

    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t place = set->first + i;
        ones += bits[(size_t)(place / 32) * a->ld + c] >> (place & 31u) & 1u;
    }
    uint32_t kind = ones > set->ones;
    uint32_t need = kind ? ones - set->ones : set->ones - ones;
    uint32_t left = kind ? ones : set->count - ones;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t place = set->first + i, shift = place & 31u;
        uint32_t *word = bits + (size_t)(place / 32) * a->ld + c;

        if (i % 4 == 0)
            ec_random_words(&stream, set->block + i / 4, c, out);
        uint32_t candidate = (*word >> shift & 1u) == kind;
        uint32_t turn = candidate & (uint32_t)(ec_uniform_below(out[i % 4], left) < need);
        *word ^= turn << shift;
        need -= turn;
        left -= candidate;
    }
}

/* Where the bits and the genes of a block's ants go, besides or instead of the rows of all candidates;
 * columns are ants of the block. */
struct ants_memory {
    uint32_t *words; /* NULL: only a->bits */
    double *genes;   /* NULL: a->U */
};

static __device__ double decode_gene(const ec_aco_args *a, uint32_t g, const uint32_t *column,
                                     uint32_t ld)
{
    const ec_aco_gene *gene = &a->gene[g];
    const uint32_t *low = column + (size_t)(gene->first / 32) * ld;
    uint32_t high = ec_aco_spans(gene) ? low[ld] : 0;

    if (gene->kind == EC_ACO_FIXED)
        return gene->min;
    return ec_aco_value(gene, ec_aco_code(gene, *low, high), a->ratio);
}

/* Candidates first .. first + count - 1, by one block; ends with a barrier. */
static __device__ void draw_ants(const ec_aco_args *a, uint32_t first, uint32_t count,
                                 uint32_t generation, ants_memory memory)
{
    ec_random_stream stream = ec_aco_stream(a, generation, EC_ACO_DRAW_BIT);
    uint32_t *bits = a->bits[generation & 1u];

    for (uint32_t u = threadIdx.x; u < a->words * count; u += blockDim.x) {
        uint32_t w = u / count, c = first + u % count;
        uint32_t word = draw_word(a, &stream, generation, w, c);
        bits[(size_t)w * a->ld + c] = word;
        if (memory.words)
            memory.words[u] = word;
    }
    __syncthreads();
    if (a->sets > 0) {
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
            for (uint32_t s = 0; s < a->sets; s++)
                repair_set(a, &a->set[s], first + i, generation, bits);
        memory.words = NULL;
        __syncthreads();
    }
    for (uint32_t u = threadIdx.x; u < a->genes * count; u += blockDim.x) {
        uint32_t g = u / count, i = u % count;
        double x = memory.words ? decode_gene(a, g, memory.words + i, count)
                                : decode_gene(a, g, bits + first + i, a->ld);
        if (memory.genes)
            memory.genes[u] = x;
        else
            a->U[(size_t)g * a->ld + first + i] = x;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(ANTS_THREADS) ants_global(const __grid_constant__ ec_aco_args a)
{
    uint32_t first = blockIdx.x * 32;
    ants_memory memory = {NULL, NULL};

    if (ec_aco_stopped(&a))
        return;
    draw_ants(&a, first, a.n - first < 32 ? a.n - first : 32, a.control->stats.generation, memory);
}

extern "C" int ec_cuda_aco_ants(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_aco_args *a = (const ec_aco_args *)args;

    (void)lanes;
    (void)ny;
    ants_global<<<a->ld / 32, ANTS_THREADS, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- the best of a block ---- */

struct place {
    ec_aco_score score;
    uint32_t index;
};

static __device__ bool place_before(const place &x, const place &y)
{
    return ec_aco_better(x.score, y.score) ||
           (!ec_aco_better(y.score, x.score) && x.index < y.index);
}

static __device__ place place_none()
{
    place p;

    p.score = ec_aco_none();
    p.index = 0xffffffffu;
    return p;
}

static __device__ place warp_best(place p)
{
    for (int step = 16; step > 0; step /= 2) {
        place q;
        q.score.violation = __shfl_xor_sync(ALL_LANES, p.score.violation, step);
        q.score.cost = __shfl_xor_sync(ALL_LANES, p.score.cost, step);
        q.index = __shfl_xor_sync(ALL_LANES, p.index, step);
        p = place_before(q, p) ? q : p;
    }
    return p;
}

struct shared_take {
    place warp[WARPS_MAX];
    place best;
    ec_aco_decision decision;
    uint32_t failed, feasible, restarts, last;
    double spread[WARPS_MAX];
};

/* All threads of the block; the result is in s->best after it. */
static __device__ void block_best(shared_take *s, place p)
{
    p = warp_best(p);
    if (threadIdx.x % 32 == 0)
        s->warp[threadIdx.x / 32] = p;
    __syncthreads();
    if (threadIdx.x < 32) {
        p = warp_best(threadIdx.x < blockDim.x / 32 ? s->warp[threadIdx.x] : place_none());
        if (threadIdx.x == 0)
            s->best = p;
    }
    __syncthreads();
}

/* ---- take ---- */

static __device__ void judge_colony(const ec_aco_args *a, uint32_t j, shared_take *s)
{
    uint32_t first = j * a->ants, failed = 0, feasible = 0;
    place best = place_none();

    if (threadIdx.x == 0)
        s->failed = s->feasible = 0;
    __syncthreads();
    for (uint32_t c = first + threadIdx.x; c < first + a->ants; c += blockDim.x) {
        uint8_t status;
        place p;

        p.score = ec_aco_trial(a, c, &status);
        p.index = c;
        a->cost[c] = p.score.cost;
        a->violation[c] = p.score.violation;
        a->status[c] = status;
        failed += status != 0 && status != EC_ACO_EMPTY;
        feasible += p.score.violation == 0.0;
        best = place_before(p, best) ? p : best;
    }
    if (failed)
        atomicAdd(&s->failed, failed);
    if (feasible)
        atomicAdd(&s->feasible, feasible);
    block_best(s, best);
}

/* Or and and over the lanes. */
static __device__ void warp_compare(uint32_t *any, uint32_t *all)
{
    for (int step = 16; step > 0; step /= 2) {
        *any |= __shfl_xor_sync(ALL_LANES, *any, step);
        *all &= __shfl_xor_sync(ALL_LANES, *all, step);
    }
}

/* The bits of a colony's ants: word w of ant i at words[w * ld + i]. */
struct ants_words {
    const uint32_t *words;
    uint32_t ld;
};

static __device__ void compare_word(const ec_aco_args *a, uint32_t j, uint32_t w, ants_words ants)
{
    uint32_t first = j * a->ants, lane = threadIdx.x % 32, any = 0, all = ~0u;
    uint32_t count = a->limit < first ? 0 : a->limit - first < a->ants ? a->limit - first : a->ants;

    for (uint32_t i = lane; i < count; i += 32) {
        uint32_t word = ants.words[(size_t)w * ants.ld + i];
        any |= word;
        all &= word;
    }
    warp_compare(&any, &all);
    if (lane == 0) {
        a->any[(size_t)j * a->words + w] = any;
        a->all[(size_t)j * a->words + w] = all;
    }
}

static __device__ void deposit_all(const ec_aco_args *a, uint32_t j, uint32_t w, ants_words ants)
{
    uint32_t lane = threadIdx.x % 32;
    size_t at = (size_t)j * a->pitch + 32 * w + lane;
    double one = 0.0, zero = 0.0, keep = 1.0 - a->evaporation;

    for (uint32_t i = 0; i < a->ants; i++) {
        bool bit = ants.words[(size_t)w * ants.ld + i] >> lane & 1u;
        double weight = a->weight[j * a->ants + i];
        one += bit ? weight : 0.0;
        zero += bit ? 0.0 : weight;
    }
    ec_aco_set_bit(a, at, keep * a->one[at] + one, keep * a->zero[at] + zero);
}

static __device__ void deposit_best(const ec_aco_args *a, uint32_t j, uint32_t w,
                                    const ec_aco_decision *d, uint32_t ant_word,
                                    uint32_t since_word)
{
    uint32_t lane = threadIdx.x % 32;
    size_t at = (size_t)j * a->pitch + 32 * w + lane;
    double p = ec_aco_max_min(a, a->one[at], d->good, ant_word >> lane & 1u, d->since_good,
                              since_word >> lane & 1u);

    a->one[at] = p;
    a->level[at] = ec_aco_level(p);
}

static __device__ void take_colony(const ec_aco_args *a, uint32_t j, uint32_t generation,
                                   ants_words ants, shared_take *s)
{
    uint32_t lane = threadIdx.x % 32;
    ec_aco_colony colony;

    if (threadIdx.x == 0) /* early, for it takes a while to come */
        colony = a->colony[j];
    judge_colony(a, j, s);
    if (threadIdx.x == 0) {
        a->tally[j].failed = s->failed;
        a->tally[j].feasible = s->feasible;
        s->decision = ec_aco_decide(a, j, &colony, generation, s->best.index, s->best.score);
        a->colony[j] = colony;
    }
    if (a->rule == EC_ACO_PROPORTIONAL)
        for (uint32_t c = j * a->ants + threadIdx.x; c < (j + 1) * a->ants; c += blockDim.x) {
            ec_aco_score score;
            score.violation = a->violation[c];
            score.cost = a->cost[c];
            a->weight[c] = ec_aco_weight(a, score, s->feasible > 0);
        }
    __syncthreads();
    const ec_aco_decision d = s->decision;
    for (uint32_t w = threadIdx.x / 32; w < a->words; w += blockDim.x / 32) {
        uint32_t ant_word = ants.words[(size_t)w * ants.ld + (d.ant - j * a->ants)];
        uint32_t since_word = d.from_ant ? ant_word : ec_aco_since_word(a, j, generation, &d, w);

        compare_word(a, j, w, ants);
        if (lane == 0)
            ec_aco_keep_word(a, j, generation, &d, w, since_word);
        if (d.restart)
            ec_aco_begin_bit(a, (size_t)j * a->pitch + 32 * w + lane);
        else if (a->rule == EC_ACO_PROPORTIONAL)
            deposit_all(a, j, w, ants);
        else
            deposit_best(a, j, w, &d, ant_word, since_word);
    }
}

/* ---- all colonies ---- */

/* Whether this block is the last one that comes here; what the others wrote before can be read then,
 * with __ldcg where it may lie in this one's first cache. */
static __device__ bool last_to_arrive(const ec_aco_args *a, shared_take *s)
{
    if (gridDim.x == 1) {
        __syncthreads();
        return true;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        s->last = atomicAdd(a->arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return s->last != 0;
}

/* The bits that differ among the ants of all colonies, into a->any. */
static __device__ void merge_words(const ec_aco_args *a)
{
    uint32_t lane = threadIdx.x % 32;

    for (uint32_t w = threadIdx.x / 32; w < a->words; w += blockDim.x / 32) {
        uint32_t any = 0, all = ~0u;
        for (uint32_t j = lane; j < a->colonies; j += 32) {
            any |= __ldcg(&a->any[(size_t)j * a->words + w]);
            all &= __ldcg(&a->all[(size_t)j * a->words + w]);
        }
        warp_compare(&any, &all);
        if (lane == 0)
            a->any[w] = any & ~all;
    }
}

/* Largest spread of a gene over the ants of all colonies, after merge_words and a barrier. */
static __device__ double block_spread(const ec_aco_args *a, shared_take *s)
{
    double widest = 0.0;

    for (uint32_t g = threadIdx.x; g < a->genes; g += blockDim.x) {
        const ec_aco_gene *gene = &a->gene[g];
        const uint32_t *low = a->any + gene->first / 32;
        double spread = ec_aco_gene_spread(gene, gene->kind == EC_ACO_FIXED ? 0 : low[0],
                                           ec_aco_spans(gene) ? low[1] : 0);
        widest = spread > widest ? spread : widest;
    }
    for (int step = 16; step > 0; step /= 2) {
        double other = __shfl_xor_sync(ALL_LANES, widest, step);
        widest = other > widest ? other : widest;
    }
    if (threadIdx.x % 32 == 0)
        s->spread[threadIdx.x / 32] = widest;
    __syncthreads();
    for (uint32_t i = 0; i < blockDim.x / 32; i++)
        widest = s->spread[i] > widest ? s->spread[i] : widest;
    return widest;
}

/* Statistics, and the stop rules unless rules is NULL. */
static __device__ void finish(const ec_aco_args *a, const ec_stop_rules_args *rules, shared_take *s)
{
    place best = place_none();
    uint32_t failed = 0, feasible = 0, restarts = 0;
    ec_optimizer_stats stats;

    if (threadIdx.x == 0) {
        s->failed = s->feasible = s->restarts = 0;
        stats = a->control->stats;
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < a->colonies; j += blockDim.x) {
        place p;
        p.score.violation = __ldcg(&a->colony[j].best.violation);
        p.score.cost = __ldcg(&a->colony[j].best.cost);
        p.index = j;
        best = place_before(p, best) ? p : best;
        failed += __ldcg(&a->tally[j].failed);
        feasible += __ldcg(&a->tally[j].feasible);
        restarts += __ldcg(&a->colony[j].starts);
    }
    merge_words(a);
    if (failed)
        atomicAdd(&s->failed, failed);
    if (feasible)
        atomicAdd(&s->feasible, feasible);
    if (restarts)
        atomicAdd(&s->restarts, restarts);
    block_best(s, best);
    double spread = block_spread(a, s);
    if (threadIdx.x > 0)
        return;
    ec_aco_finish_stats(a, &stats, s->best.score, s->failed, s->feasible, s->restarts, spread);
    a->control->stats = stats;
    *a->arrived = 0;
    if (rules) {
        ec_stop_rules_args own = *rules;
        own.stats = &stats;
        ec_stop_rules_body(&own, 0, 0);
    }
}

__global__ void __launch_bounds__(TAKE_THREADS) take_global(const __grid_constant__ ec_aco_args a)
{
    __shared__ shared_take s;

    if (ec_aco_stopped(&a))
        return;
    uint32_t generation = a.control->stats.generation;
    ants_words ants = {a.bits[generation & 1u] + blockIdx.x * a.ants, a.ld};
    take_colony(&a, blockIdx.x, generation, ants, &s);
    if (last_to_arrive(&a, &s))
        finish(&a, NULL, &s);
}

extern "C" int ec_cuda_aco_take(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_aco_args *a = (const ec_aco_args *)args;

    (void)lanes;
    (void)ny;
    take_global<<<a->colonies, TAKE_THREADS, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- whole generations ---- */

/* With several colonies a launch may begin while the one before it ends; this waits for its end. */
static __device__ void wait_for_launch_before()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__global__ void __launch_bounds__(EC_ACO_THREADS, 1)
    generations_global(const __grid_constant__ ec_aco_generations_args g)
{
    extern __shared__ double scratch[];
    __shared__ shared_take s;
    __shared__ ec_graph_args program;
    const ec_aco_args *a = &g.aco;
    const volatile int32_t *stop = a->stop;
    uint32_t first = blockIdx.x * a->ants;
    ants_memory memory;

    memory.genes = scratch + ec_graph_block_shared(g.program, EC_ACO_THREADS);
    memory.words = (uint32_t *)(memory.genes + a->genes * a->ants);
    if (threadIdx.x == 0) {
        program = g.program;
        /* where the column of candidate 0 would be */
        program.region[EC_REGION_X] = (char *)((uintptr_t)memory.genes - first * sizeof(double));
        program.ld_x = (int32_t)a->ants;
    }
    wait_for_launch_before();
    uint32_t generation = a->control->stats.generation;
    for (uint32_t i = 0; i < g.count; i++, generation++) {
        if (stop && *stop)
            return;
        draw_ants(a, first, a->ants, generation, memory);
        ec_graph_block_run(program, first, a->ants, scratch);
        /* what draw_ants left in shared memory, unless it turned bits of sets afterwards */
        ants_words ants = {memory.words, a->ants};
        if (a->sets > 0) {
            ants.words = a->bits[generation & 1u] + first;
            ants.ld = a->ld;
        }
        take_colony(a, blockIdx.x, generation, ants, &s);
        if (last_to_arrive(a, &s))
            finish(a, &g.rules, &s);
        __syncthreads();
    }
}

/* Asks for shared memory, once for all problems: a launch must not take from another's. */
static cudaError_t allow_shared(size_t bytes)
{
    size_t most = (EC_FUSED_REGISTERS + EC_REDUCTIONS) * EC_ACO_THREADS * sizeof(double) +
                  EC_ACO_SHARED_GENES * sizeof(double) + EC_ACO_SHARED_WORDS * sizeof(uint32_t);
    cudaFuncAttributes attributes;
    int device = 0, limit = 0;

    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, generations_global);
    if (error != cudaSuccess)
        return error;
    size_t left = (size_t)limit - attributes.sharedSizeBytes;
    most = most < left ? most : left;
    if (bytes > most)
        return cudaErrorInvalidValue;
    return cudaFuncSetAttribute(generations_global, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)most);
}

/* Without generations it only asks for the shared memory that launches need. */
extern "C" int ec_cuda_aco_generations(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_aco_generations_args *g = (const ec_aco_generations_args *)args;
    const ec_aco_args *a = &g->aco;
    size_t bytes = ec_graph_block_shared(g->program, EC_ACO_THREADS) * sizeof(double) +
                   (size_t)a->ants * (a->genes * sizeof(double) + a->words * sizeof(uint32_t));

    (void)lanes;
    (void)ny;
    if (g->count == 0)
        return (int)allow_shared(bytes);
    cudaLaunchAttribute overlap[1];
    overlap[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap[0].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(a->colonies);
    config.blockDim = dim3(EC_ACO_THREADS);
    config.dynamicSmemBytes = bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = overlap;
    config.numAttrs = a->colonies > 1 ? 1 : 0;
    return (int)cudaLaunchKernelEx(&config, generations_global, *g);
}
