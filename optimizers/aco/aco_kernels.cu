/* aco_kernels.cu: the ant colony on CUDA, the same bits as aco_kernels.c.
 *
 * Ants: a block is a strip of 32 ants; a thread draws a word of 32 bits (four Philox blocks), which
 * is most of the work, then an ant's sets, then a gene. Take: a block is a colony, a warp one of its
 * words (lanes over ants for the statistics, over bits for the pheromones); the block that comes last
 * adds up the colonies. Sums over ants run in their order, and what blocks and warps reduce (minimum by
 * a total order, or, and, integer sums) does not depend on an order. */
#include "aco_device.cuh"

enum { ANTS_THREADS = 256, TAKE_THREADS = 512, WARPS_MAX = 32 };

/* ---- ants ---- */

__global__ void __launch_bounds__(ANTS_THREADS) ants_global(const __grid_constant__ ec_aco_args a)
{
    if (ec_aco_stopped(&a))
        return;
    const uint32_t first = blockIdx.x * 32, count = a.n - first < 32 ? a.n - first : 32;
    const uint32_t generation = a.control->stats.generation;
    const ec_random_stream stream = ec_aco_stream(&a, generation, EC_ACO_DRAW_BIT);
    uint32_t *bits = a.bits[generation & 1u];

    for (uint32_t u = threadIdx.x; u < a.words * count; u += blockDim.x) {
        uint32_t w = u / count, c = first + u % count, colony = c / a.ants;
        bits[(size_t)w * a.ld + c] =
            generation == 0 && c < a.n_start
                ? a.start[(size_t)c * a.words + w]
                : draw_word(stream, w, c, a.level + (size_t)colony * a.pitch + 32 * w) &
                      word_mask(&a, w);
    }
    __syncthreads();
    if (a.sets > 0) {
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
            for (uint32_t s = 0; s < a.sets; s++)
                repair_set(&a, &a.set[s], first + i, generation, bits + first + i, a.ld);
        __syncthreads();
    }
    for (uint32_t u = threadIdx.x; u < a.genes * count; u += blockDim.x) {
        uint32_t g = u / count, c = first + u % count;
        a.U[(size_t)g * a.ld + c] = decode_gene(&a.gene[g], bits + c, a.ld, a.ratio);
    }
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

static __device__ void compare_word(const ec_aco_args *a, uint32_t j, uint32_t w,
                                    const uint32_t *row)
{
    uint32_t first = j * a->ants, lane = threadIdx.x % 32, any = 0, all = ~0u;
    uint32_t count = a->limit < first ? 0 : a->limit - first < a->ants ? a->limit - first : a->ants;

    for (uint32_t i = lane; i < count; i += 32) {
        uint32_t word = row[i];
        any |= word;
        all &= word;
    }
    warp_compare(&any, &all);
    if (lane == 0) {
        a->any[(size_t)j * a->words + w] = any;
        a->all[(size_t)j * a->words + w] = all;
    }
}

static __device__ void deposit_all(const ec_aco_args *a, uint32_t j, uint32_t w,
                                   const uint32_t *row)
{
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    uint32_t lane = threadIdx.x % 32, at = 32 * w + lane;
    double one = 0.0, zero = 0.0, keep = 1.0 - a->evaporation;

    for (uint32_t i = 0; i < a->ants; i++) {
        bool bit = row[i] >> lane & 1u;
        double weight = a->weight[j * a->ants + i];
        one += bit ? weight : 0.0;
        zero += bit ? 0.0 : weight;
    }
    ec_aco_set_bit(a, &trail, at, keep * trail.one[at] + one, keep * trail.zero[at] + zero);
}

static __device__ void take_colony(const ec_aco_args *a, uint32_t j, uint32_t generation,
                                   shared_take *s)
{
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    const uint32_t *bits = a->bits[generation & 1u] + (size_t)j * a->ants;
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
        const uint32_t *row = bits + (size_t)w * a->ld;
        uint32_t ant_word = row[d.ant - j * a->ants];
        uint32_t since_word = d.from_ant ? ant_word : ec_aco_since_word(a, j, generation, &d, w);

        compare_word(a, j, w, row);
        if (lane == 0)
            ec_aco_keep_word(a, j, generation, &d, w, since_word);
        if (d.restart)
            ec_aco_begin_bit(a, &trail, 32 * w + lane);
        else if (a->rule == EC_ACO_PROPORTIONAL)
            deposit_all(a, j, w, row);
        else
            ec_aco_deposit_best(a, &trail, 32 * w + lane, &d, ant_word, since_word, lane);
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

static __device__ void finish(const ec_aco_args *a, shared_take *s)
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
}

__global__ void __launch_bounds__(TAKE_THREADS) take_global(const __grid_constant__ ec_aco_args a)
{
    __shared__ shared_take s;

    if (ec_aco_stopped(&a))
        return;
    take_colony(&a, blockIdx.x, a.control->stats.generation, &s);
    if (last_to_arrive(&a, &s))
        finish(&a, &s);
}

extern "C" int ec_cuda_aco_take(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_aco_args *a = (const ec_aco_args *)args;

    (void)lanes;
    (void)ny;
    take_global<<<a->colonies, TAKE_THREADS, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}
