/* de_kernels.cu: differential evolution on CUDA, the same bits as de_kernels.c.
 *
 * Trials and selection: a warp is a strip of 32 members and one quad of genes, so that a member's
 * four genes are one 32-byte sector of its row and the gene rows are written 256 bytes at a time.
 * Per member: 4 D x 8 bytes gathered from the population (from L2 up to some 1e5 members of 30
 * genes), 8 D written. Population-wide steps are one block, since in a generation of a few hundred
 * members the launches count; only the sort of more than 2048 members takes several launches.
 *
 * Islands are the grid's z, or the blocks of what is one block. Their kernels work on args of their
 * own in shared memory and are otherwise the same; those of a single island read the launch's.
 *
 * Sums are trees over neighbours in index order (warp shuffles by xor 1, 2, 4, ... are that tree),
 * keys have a total order, and an atomic maximum does not depend on the order of its callers. */
#include "de_kernels.h"
#include "kernel_cuda.cuh"

enum {
    QUADS = 8,          /* warps of a block in de_trial and de_select */
    THREADS_MAX = 1024, /* of the one-block kernels */
    ONE_BLOCK = 2048 /* largest population that one block sorts: 20 bytes of shared memory each */
};

#define ALL_LANES 0xffffffffu

static uint32_t power_of_two(uint32_t n)
{
    uint32_t power = 32;

    while (power < n)
        power *= 2;
    return power;
}

static dim3 quad_grid(const ec_de_args *a, size_t lanes, dim3 *block)
{
    unsigned quads = a->pitch / 4;

    *block = dim3(32, quads < QUADS ? quads : QUADS);
    return dim3((unsigned)((lanes + 31) / 32), (quads + block->y - 1) / block->y, a->islands);
}

/* Fills the block's args of an island; all threads call it. */
static __device__ void share_island(const ec_de_args *all, uint32_t island, ec_de_args *own)
{
    if (threadIdx.x == 0 && threadIdx.y == 0)
        ec_de_island(all, island, own);
    __syncthreads();
}

/* ---- trials ---- */

static __device__ void load_quad(double x[4], const double *row)
{
    double2 a = ((const double2 *)row)[0], b = ((const double2 *)row)[1];

    x[0] = a.x;
    x[1] = a.y;
    x[2] = b.x;
    x[3] = b.y;
}

static __device__ void store_quad(double *row, const double x[4])
{
    ((double2 *)row)[0] = make_double2(x[0], x[1]);
    ((double2 *)row)[1] = make_double2(x[2], x[3]);
}

static __device__ void start_quad(const ec_de_args *a, uint32_t generation, uint32_t lane,
                                  uint32_t gene, double u[4])
{
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_START);
    const double *given = ec_de_given(a, lane, generation);
    uint32_t out[4];

    for (uint32_t j = 0; j < 4; j++) {
        uint32_t g = gene + j;
        if (j % 2 == 0)
            ec_random_words(&stream, g / 2, lane, out);
        u[j] = given ? given[g] : ec_de_start_gene(a->lower[g], a->upper[g], out, g);
    }
}

static __device__ void oppose_quad(const ec_de_args *a, uint32_t lane, uint32_t gene, double u[4])
{
    double x[4];

    load_quad(x, a->X + (size_t)lane * a->pitch + gene);
    for (uint32_t j = 0; j < 4; j++)
        u[j] = ec_de_opposite(x[j], a->lower[gene + j], a->upper[gene + j]);
}

struct trial_lane {
    uint32_t base, plus, minus, forced, step;
    double f;
    int32_t threshold;
};

static __device__ void mix_quad(const ec_de_args *a, const trial_lane *s, uint32_t generation,
                                uint32_t n, uint32_t lane, uint32_t gene, double u[4])
{
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_CROSS);
    size_t pitch = a->pitch;
    const double *minus_row =
        s->minus < n ? a->X + s->minus * pitch : a->archive + (s->minus - n) * pitch;
    bool pull = ec_de_has_judge(a->method);
    double x[4], base[4], plus[4], minus[4], lo[4], hi[4];
    uint32_t draw[4];

    load_quad(x, a->X + lane * pitch + gene);
    load_quad(base, a->X + s->base * pitch + gene);
    load_quad(plus, a->X + s->plus * pitch + gene);
    load_quad(minus, minus_row + gene);
    load_quad(lo, a->lower + gene);
    load_quad(hi, a->upper + gene);
    ec_random_words(&stream, gene / 4, lane, draw);
    for (int j = 0; j < 4; j++) {
        double v = ec_de_mutant(x[j], base[j], plus[j], minus[j], s->f, pull);
        v = ec_de_bounded(v, x[j], lo[j], hi[j], a->bounds);
        bool forced = gene + j == s->forced;
        u[j] = forced || ec_de_crossed(draw[j], s->threshold) ? v : x[j];
        if (forced && s->step)
            u[j] = ec_de_stepped(u[j], x[j], lo[j], hi[j], s->step);
    }
}

/* The warp of the first quad draws for its strip what the others need too. */
static __device__ void draw_lane(const ec_de_args *a, uint32_t generation, uint32_t n,
                                 uint32_t lane, trial_lane *shared)
{
    ec_de_strip s;

    ec_de_draw_indices(a, lane, generation, n, &s);
    ec_de_draw_parameters(a, lane, generation, &s);
    shared->base = s.base[0];
    shared->plus = s.plus[0];
    shared->minus = s.minus[0];
    shared->forced = s.forced[0];
    shared->step = s.step[0];
    shared->f = s.f[0];
    shared->threshold = s.threshold[0];
    if (blockIdx.y == 0) {
        a->trial_f[lane] = s.f[0];
        a->trial_cr[lane] = s.cr[0];
    }
}

/* What the first quad's warp stores for the take of a drawn or opposite population. */
static __device__ void keep_parameters(const ec_de_args *a, uint32_t generation, uint32_t lane)
{
    int current = ec_de_current(a, generation);
    bool own = a->method == EC_DE_JDE && !ec_de_starts(a, generation);

    a->trial_f[lane] = own ? a->f[current][lane] : a->F;
    a->trial_cr[lane] = own ? a->cr[current][lane] : a->CR;
}

static __device__ void trial_block(const ec_de_args *a, trial_lane *strip)
{
    uint32_t lane = blockIdx.x * 32 + threadIdx.x;
    uint32_t gene = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    uint32_t generation = a->control->stats.generation, n = a->control->n;
    bool starts = ec_de_starts(a, generation), opposes = ec_de_opposes(a, generation);
    bool mixing = !starts && !opposes && !ec_de_group_turn(a, generation);

    if (threadIdx.y == 0 && mixing)
        draw_lane(a, generation, n, lane, &strip[threadIdx.x]);
    if (threadIdx.y == 0 && (starts || opposes) && blockIdx.y == 0)
        keep_parameters(a, generation, lane);
    __syncthreads();
    /* behind an island's last member lie the candidates of the next one */
    if (gene >= a->genes || (a->islands > 1 && lane >= n))
        return;
    double u[4];
    if (mixing)
        mix_quad(a, &strip[threadIdx.x], generation, n, lane, gene, u);
    else if (starts)
        start_quad(a, generation, lane, gene, u);
    else if (opposes)
        oppose_quad(a, lane, gene, u);
    else
        load_quad(u, a->X + (size_t)lane * a->pitch + gene);
    for (uint32_t j = 0; j < 4 && gene + j < a->genes; j++)
        a->U[(size_t)(gene + j) * a->ld + lane] = u[j];
}

__global__ void __launch_bounds__(32 * QUADS) de_trial_global(const __grid_constant__ ec_de_args a)
{
    __shared__ trial_lane strip[32];

    if (!ec_de_stopped(&a))
        trial_block(&a, strip);
}

__global__ void __launch_bounds__(32 * QUADS)
    de_trial_islands(const __grid_constant__ ec_de_args all)
{
    __shared__ trial_lane strip[32];
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.z, &a);
    trial_block(&a, strip);
}

extern "C" int ec_cuda_de_trial(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_de_args *a = (const ec_de_args *)args;
    dim3 block, grid = quad_grid(a, lanes, &block);

    (void)ny;
    if (a->islands > 1)
        de_trial_islands<<<grid, block, 0, (cudaStream_t)stream>>>(*a);
    else
        de_trial_global<<<grid, block, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

EC_KERNEL_CUDA(de_group_trial, ec_de_args, ec_de_group_trial_body)
EC_KERNEL_CUDA(de_group_judge, ec_de_args, ec_de_group_judge_body)

/* ---- selection ---- */

static __device__ void fetch_trial(const ec_de_args *a, size_t lane, uint32_t gene, double x[4])
{
    for (uint32_t j = 0; j < 4; j++)
        x[j] = gene + j < a->genes ? a->U[(size_t)(gene + j) * a->ld + lane] : 0.0;
}

/* One quad of the next population's row; see move_member in de_kernels.c. */
static __device__ void move_quad(const ec_de_args *a, uint32_t c, uint32_t gene,
                                 uint32_t generation, uint32_t n_next, double x[4])
{
    double *row = a->X + (size_t)c * a->pitch + gene;
    uint32_t slot = a->slot[c];

    load_quad(x, row);
    if (slot != EC_DE_NO_SLOT && a->owner[slot] == ec_de_stamp(generation, c))
        store_quad(a->archive + (size_t)slot * a->pitch + gene, x);
    if (c >= n_next)
        return;
    uint32_t from = a->source[c];
    if (a->accept[from])
        fetch_trial(a, from, gene, x);
    else if (from != c)
        load_quad(x, a->X + (size_t)from * a->pitch + gene);
    else
        return;
    store_quad(row, x);
}

static __device__ void select_quad(const ec_de_args *a, uint32_t c, uint32_t gene,
                                   uint32_t generation, ec_de_score trial, double x[4])
{
    int current = ec_de_current(a, generation), next = 1 - current;
    ec_de_score parent = ec_de_member_score(a, current, c);
    bool accept = ec_de_accepts(a, c, generation, parent, trial);
    double *row = a->X + (size_t)c * a->pitch + gene;

    if (gene == 0) {
        ec_de_store(a, c, next, accept ? trial : parent);
        if (a->method == EC_DE_JDE) {
            a->f[next][c] = accept ? a->trial_f[c] : a->f[current][c];
            a->cr[next][c] = accept ? a->trial_cr[c] : a->cr[current][c];
        }
    }
    if (accept) {
        fetch_trial(a, c, gene, x);
        store_quad(row, x);
    } else {
        load_quad(x, row);
    }
}

/* Smallest and largest value of the quad's genes over the warp's members that stay. */
static __device__ void strip_range(const ec_de_args *a, uint32_t gene, bool stays,
                                   const double x[4])
{
    size_t at = (size_t)blockIdx.x * a->pitch + gene;

    for (int j = 0; j < 4; j++) {
        double low = stays ? x[j] : (double)INFINITY, high = stays ? x[j] : -(double)INFINITY;
        for (int offset = 16; offset > 0; offset /= 2) {
            double l = __shfl_xor_sync(ALL_LANES, low, offset);
            double h = __shfl_xor_sync(ALL_LANES, high, offset);
            low = l < low ? l : low;
            high = h > high ? h : high;
        }
        if (threadIdx.x == 0) {
            a->strip_low[at + j] = low;
            a->strip_high[at + j] = high;
        }
    }
}

struct ranked {
    ec_de_score score;
    uint32_t index;
};

static __device__ ranked better_of(ranked x, ranked y)
{
    bool second =
        ec_de_better(y.score, x.score) || (!ec_de_better(x.score, y.score) && y.index < x.index);

    return second ? y : x;
}

static __device__ ranked warp_best(ranked r)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        ranked other = r;
        other.score.violation = __shfl_xor_sync(ALL_LANES, r.score.violation, offset);
        other.score.cost = __shfl_xor_sync(ALL_LANES, r.score.cost, offset);
        other.index = __shfl_xor_sync(ALL_LANES, r.index, offset);
        r = better_of(r, other);
    }
    return r;
}

static __device__ void strip_scores(const ec_de_args *a, uint32_t c, bool stays, bool failed,
                                    int next)
{
    ranked r = {{(double)INFINITY, (double)INFINITY, 1}, c};

    if (stays)
        r.score = ec_de_member_score(a, next, c);
    uint32_t feasible = __popc(__ballot_sync(ALL_LANES, stays && r.score.violation == 0.0));
    uint32_t failures = __popc(__ballot_sync(ALL_LANES, failed));
    r = warp_best(r);
    if (threadIdx.x == 0) {
        a->strip_best[blockIdx.x] = r.index;
        a->strip_feasible[blockIdx.x] = feasible;
        a->strip_failed[blockIdx.x] = failures;
    }
}

static __device__ void select_block(const ec_de_args *a)
{
    uint32_t c = blockIdx.x * 32 + threadIdx.x;
    uint32_t gene = 4 * (blockIdx.y * blockDim.y + threadIdx.y);

    if (gene >= a->pitch)
        return;
    uint32_t generation = a->control->stats.generation, n = a->control->n;
    bool judged = ec_de_has_judge(a->method), failed = false;
    uint32_t n_next = judged ? a->control->n_next : n;
    double x[4] = {0, 0, 0, 0};
    if (c < n) {
        ec_de_score trial = ec_de_trial_score(a, c);
        failed = c < a->limit && trial.status != 0;
        if (judged)
            move_quad(a, c, gene, generation, n_next, x);
        else
            select_quad(a, c, gene, generation, trial, x);
    }
    strip_range(a, gene, c < n_next, x);
    if (gene == 0)
        strip_scores(a, c, c < n_next, failed, judged ? 0 : 1 - ec_de_current(a, generation));
}

__global__ void __launch_bounds__(32 * QUADS) de_select_global(const __grid_constant__ ec_de_args a)
{
    if (!ec_de_stopped(&a))
        select_block(&a);
}

__global__ void __launch_bounds__(32 * QUADS)
    de_select_islands(const __grid_constant__ ec_de_args all)
{
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.z, &a);
    select_block(&a);
}

extern "C" int ec_cuda_de_select(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_de_args *a = (const ec_de_args *)args;
    dim3 block, grid = quad_grid(a, lanes, &block);

    (void)ny;
    if (a->islands > 1)
        de_select_islands<<<grid, block, 0, (cudaStream_t)stream>>>(*a);
    else
        de_select_global<<<grid, block, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- steps of one block ---- */

/* Four sums, each a tree over neighbours; done together so that their shuffles overlap. Every thread
 * gets them. */
static __device__ void block_sum4(double value[4], double (*scratch)[32])
{
    uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;

    for (int offset = 1; offset < 32; offset *= 2)
#pragma unroll
        for (int i = 0; i < 4; i++)
            value[i] += __shfl_xor_sync(ALL_LANES, value[i], offset);
    __syncthreads();
    if (lane == 0)
#pragma unroll
        for (int i = 0; i < 4; i++)
            scratch[i][warp] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
        value[i] = lane < warps ? scratch[i][lane] : 0.0;
    for (int offset = 1; offset < 32; offset *= 2)
#pragma unroll
        for (int i = 0; i < 4; i++)
            value[i] += __shfl_xor_sync(ALL_LANES, value[i], offset);
}

static __device__ double block_max(double value, double *scratch)
{
    uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;

    for (int offset = 1; offset < 32; offset *= 2) {
        double other = __shfl_xor_sync(ALL_LANES, value, offset);
        value = other > value ? other : value;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        scratch[warp] = value;
    __syncthreads();
    for (uint32_t w = 0; w < warps; w++)
        value = scratch[w] > value ? scratch[w] : value;
    return value;
}

/* How many threads before this one have the flag; *total: how many of the block. */
static __device__ uint32_t block_rank(bool flag, uint32_t *total, uint32_t *scratch)
{
    uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    uint32_t votes = __ballot_sync(ALL_LANES, flag);
    uint32_t rank = __popc(votes & ((1u << (threadIdx.x % 32)) - 1));

    __syncthreads();
    if (threadIdx.x % 32 == 0)
        scratch[warp] = __popc(votes);
    __syncthreads();
    *total = 0;
    for (uint32_t w = 0; w < warps; w++) {
        rank += w < warp ? scratch[w] : 0;
        *total += scratch[w];
    }
    return rank;
}

struct block_scratch {
    double number[32], four[4][32];
    uint32_t count[32];
};

/* See accept_trials in de_kernels.c. */
static __device__ uint32_t accept_trials(const ec_de_args *a, uint32_t generation, uint32_t n,
                                         double *largest_gain, block_scratch *scratch)
{
    uint32_t successes = 0, size = ec_de_archive_size(a, n), used = a->control->archive;
    double largest = 0.0;

    for (uint32_t tile = 0; tile < n; tile += blockDim.x) {
        uint32_t c = tile + threadIdx.x, total;
        bool success = false;
        double gain = 0.0;

        if (c < n) {
            ec_de_score parent = ec_de_member_score(a, 0, c), trial = ec_de_trial_score(a, c);
            bool accept = ec_de_accepts(a, c, generation, parent, trial);
            success = accept && ec_de_succeeds(a, generation, parent, trial);
            gain = success ? ec_de_gain(parent, trial) : 0.0;
            a->accept[c] = accept;
            a->source[c] = c;
            a->gain[c] = gain;
            if (accept)
                ec_de_store(a, c, 0, trial);
        }
        largest = gain > largest ? gain : largest;
        uint32_t rank = block_rank(success, &total, scratch->count);
        if (c < n) {
            uint32_t slot = EC_DE_NO_SLOT;
            if (success)
                slot = ec_de_archive_slot(a, c, generation, successes + rank, used, size);
            a->slot[c] = slot;
            if (slot != EC_DE_NO_SLOT)
                atomicMax((unsigned long long *)&a->owner[slot],
                          (unsigned long long)ec_de_stamp(generation, c));
        }
        successes += total;
    }
    *largest_gain = block_max(largest, scratch->number);
    return successes;
}

/* See learn in de_kernels.c. A tile's sum is a whole subtree; the tiles' sums make the rest. */
static __device__ void learn_sums(const ec_de_args *a, uint32_t n, double largest_gain,
                                  double sum[4], block_scratch *scratch)
{
    uint32_t tiles = (n + blockDim.x - 1) / blockDim.x;

    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint32_t c = tile * blockDim.x + threadIdx.x;
        double w = 0.0, f = 0.0, cr = 0.0;

        if (c < n && a->gain[c] > 0.0) {
            w = a->method == EC_DE_PBEST ? 1.0 : a->gain[c] / largest_gain;
            f = a->trial_f[c];
            cr = a->trial_cr[c];
        }
        double wf = w * f, wcr = w * cr;
        sum[0] = wf * f;
        sum[1] = wf;
        sum[2] = wcr * cr;
        sum[3] = wcr;
        block_sum4(sum, scratch->four);
        if (tiles > 1 && threadIdx.x == 0)
            for (int i = 0; i < 4; i++)
                a->tree[(size_t)i * a->n_max + tile] = sum[i];
    }
    if (tiles == 1)
        return;
    __syncthreads();
    for (int i = 0; i < 4; i++)
        sum[i] = threadIdx.x < tiles ? a->tree[(size_t)i * a->n_max + threadIdx.x] : 0.0;
    block_sum4(sum, scratch->four);
}

static __device__ uint32_t next_population(const ec_de_args *a)
{
    const ec_de_control *control = a->control;
    uint32_t n = control->n;
    uint32_t n_next = ec_de_schedule(a, control->stats.evaluations + ec_de_evaluated(a, n),
                                     (uint64_t)control->stats.generation + 1);

    return n_next < n ? n_next : n;
}

/* Acceptance, history and archive; leaves n_next in the control block. */
static __device__ void judge_trials(const ec_de_args *a, block_scratch *scratch)
{
    ec_de_control *control = a->control;
    uint32_t n = control->n, n_next = next_population(a), used = control->archive;
    double largest_gain, sum[4];

    uint32_t successes = accept_trials(a, control->stats.generation, n, &largest_gain, scratch);
    learn_sums(a, n, largest_gain, sum, scratch);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    ec_de_learn(a, control, sum, successes);
    uint32_t size = ec_de_archive_size(a, n), size_next = ec_de_archive_size(a, n_next);
    used = used + successes < size ? used + successes : size;
    control->archive = used < size_next ? used : size_next;
    control->n_next = n_next;
}

/* Appends the places in [first, end) whose member stays (or leaves) to list. */
static __device__ uint32_t collect(const uint32_t *rank, uint32_t first, uint32_t end,
                                   uint32_t n_next, bool stays, uint32_t *list,
                                   block_scratch *scratch)
{
    uint32_t count = 0, total;

    for (uint32_t tile = first; tile < end; tile += blockDim.x) {
        uint32_t c = tile + threadIdx.x;
        bool flag = c < end && (rank[c] < n_next) == stays;
        uint32_t at = block_rank(flag, &total, scratch->count);
        if (flag)
            list[count + at] = c;
        count += total;
    }
    return count;
}

/* Writes `order` from the sorted members and fills the holes of those that leave; see shrink in
 * de_kernels.c. */
static __device__ void place_members(const ec_de_args *a, const uint32_t *sorted, uint32_t n,
                                     uint32_t n_next, block_scratch *scratch)
{
    uint32_t *rank = a->list, *holes = (uint32_t *)a->tree, *movers = holes + a->n_max;

    for (uint32_t r = threadIdx.x; r < n; r += blockDim.x) {
        a->order[r] = sorted[r];
        rank[sorted[r]] = r;
    }
    if (n_next == n)
        return;
    __syncthreads();
    uint32_t count = collect(rank, 0, n_next, n_next, false, holes, scratch);
    collect(rank, n_next, n, n_next, true, movers, scratch);
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < count; k += blockDim.x) {
        uint32_t hole = holes[k], mover = movers[k];
        a->source[hole] = mover;
        a->order[rank[mover]] = hole;
        ec_de_store(a, hole, 0, ec_de_member_score(a, 0, mover));
    }
}

/* ---- sort ---- */

/* Doubles as unsigned numbers of the same order; no NaN and no negative zero comes here. */
static __device__ uint64_t ordered_bits(double x)
{
    uint64_t bits = (uint64_t)__double_as_longlong(x);

    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

static __device__ void member_key(const ec_de_args *a, uint32_t c, uint32_t n, uint64_t *major,
                                  uint64_t *minor, uint32_t *index)
{
    *major = c < n ? ordered_bits(a->violation[0][c]) : ~(uint64_t)0;
    *minor = c < n ? ordered_bits(a->cost[0][c]) : ~(uint64_t)0;
    *index = c;
}

static __device__ void compare_exchange(uint64_t *major, uint64_t *minor, uint32_t *index,
                                        uint32_t x, uint32_t y, bool ascending)
{
    uint64_t m = major[x], o = major[y], p = minor[x], q = minor[y];
    uint32_t i = index[x], j = index[y];
    bool after = m > o || (m == o && (p > q || (p == q && i > j)));

    if (after != ascending)
        return;
    major[x] = o;
    major[y] = m;
    minor[x] = q;
    minor[y] = p;
    index[x] = j;
    index[y] = i;
}

/* Bitonic steps from `stride` down to 1 of the merge of runs of `run`, over `size` shared elements
 * that start at `first` of the whole. Up to a stride of 32 a warp stays within its 64 elements. */
static __device__ void merge_shared(uint64_t *major, uint64_t *minor, uint32_t *index,
                                    uint32_t size, uint32_t first, uint32_t run, uint32_t stride)
{
    for (; stride > 0; stride /= 2) {
        if (stride >= 32)
            __syncthreads();
        else
            __syncwarp();
        for (uint32_t pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
            uint32_t x = 2 * pair - pair % stride;
            compare_exchange(major, minor, index, x, x + stride, ((first + x) & run) == 0);
        }
    }
}

static __device__ void sort_shared(uint64_t *major, uint64_t *minor, uint32_t *index, uint32_t size,
                                   uint32_t first)
{
    __syncthreads();
    for (uint32_t run = 2; run <= size; run *= 2)
        merge_shared(major, minor, index, size, first, run, run / 2);
}

/* Everything for a population of at most ONE_BLOCK; size is a power of two. */
static __device__ void judge_block(const ec_de_args *a, uint32_t size, uint64_t *shared,
                                   block_scratch *scratch)
{
    uint64_t *major = shared, *minor = shared + size;
    uint32_t *index = (uint32_t *)(shared + 2 * size);
    uint32_t n = a->control->n;

    judge_trials(a, scratch);
    __syncthreads();
    uint32_t n_next = a->control->n_next;
    for (uint32_t c = threadIdx.x; c < size; c += blockDim.x)
        member_key(a, c, n, &major[c], &minor[c], &index[c]);
    sort_shared(major, minor, index, size, 0);
    __syncthreads();
    place_members(a, index, n, n_next, scratch);
}

__global__ void __launch_bounds__(THREADS_MAX)
    de_judge_one_block(const __grid_constant__ ec_de_args a, uint32_t size)
{
    extern __shared__ uint64_t shared[];
    __shared__ block_scratch scratch;

    if (!ec_de_stopped(&a))
        judge_block(&a, size, shared, &scratch);
}

__global__ void __launch_bounds__(THREADS_MAX)
    de_judge_islands(const __grid_constant__ ec_de_args all, uint32_t size)
{
    extern __shared__ uint64_t shared[];
    __shared__ block_scratch scratch;
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.x, &a);
    judge_block(&a, size, shared, &scratch);
}

/* The steps of larger populations; the grid's y is the island. */

__global__ void __launch_bounds__(THREADS_MAX)
    de_judge_trials_global(const __grid_constant__ ec_de_args all)
{
    __shared__ block_scratch scratch;
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.y, &a);
    judge_trials(&a, &scratch);
}

__global__ void __launch_bounds__(THREADS_MAX)
    de_judge_place_global(const __grid_constant__ ec_de_args all)
{
    __shared__ block_scratch scratch;
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.y, &a);
    place_members(&a, a.sort_index, a.control->n, a.control->n_next, &scratch);
}

/* Chunks of ONE_BLOCK: sorted whole (run 0, keys made here) or the low strides of one merge. */
__global__ void __launch_bounds__(THREADS_MAX)
    de_judge_sort_chunk(const __grid_constant__ ec_de_args all, uint32_t size, uint32_t run)
{
    __shared__ uint64_t major[ONE_BLOCK], minor[ONE_BLOCK];
    __shared__ uint32_t index[ONE_BLOCK];
    __shared__ ec_de_args a;
    uint32_t first = blockIdx.x * ONE_BLOCK;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.y, &a);
    for (uint32_t i = threadIdx.x; i < ONE_BLOCK; i += blockDim.x) {
        uint32_t c = first + i;
        if (run == 0) {
            member_key(&a, c, a.control->n, &major[i], &minor[i], &index[i]);
        } else {
            major[i] = a.sort_key[c];
            minor[i] = a.sort_key[size + c];
            index[i] = a.sort_index[c];
        }
    }
    if (run == 0)
        sort_shared(major, minor, index, ONE_BLOCK, first);
    else
        merge_shared(major, minor, index, ONE_BLOCK, first, run, ONE_BLOCK / 2);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < ONE_BLOCK; i += blockDim.x) {
        a.sort_key[first + i] = major[i];
        a.sort_key[size + first + i] = minor[i];
        a.sort_index[first + i] = index[i];
    }
}

__global__ void __launch_bounds__(256)
    de_judge_sort_step(const __grid_constant__ ec_de_args a, uint32_t size, uint32_t run,
                       uint32_t stride)
{
    uint32_t pair = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = 2 * pair - pair % stride;
    uint64_t *key = a.sort_key + 2 * (size_t)blockIdx.y * a.sort_size;
    uint32_t *index = a.sort_index + (size_t)blockIdx.y * a.sort_size;

    if (!ec_de_stopped(&a) && pair < size / 2)
        compare_exchange(key, key + size, index, x, x + stride, (x & run) == 0);
}

extern "C" int ec_cuda_de_judge(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_de_args *a = (const ec_de_args *)args;
    cudaStream_t s = (cudaStream_t)stream;
    uint32_t size = power_of_two(a->bucket), islands = a->islands;

    (void)lanes;
    (void)ny;
    if (size <= ONE_BLOCK) {
        size_t bytes = size * (2 * sizeof(uint64_t) + sizeof(uint32_t));
        uint32_t threads = size < THREADS_MAX ? size : THREADS_MAX;
        if (islands > 1)
            de_judge_islands<<<islands, threads, bytes, s>>>(*a, size);
        else
            de_judge_one_block<<<1, threads, bytes, s>>>(*a, size);
        return (int)cudaPeekAtLastError();
    }
    dim3 chunks(size / ONE_BLOCK, islands), pairs(size / 2 / 256, islands), one(1, islands);
    de_judge_trials_global<<<one, THREADS_MAX, 0, s>>>(*a);
    de_judge_sort_chunk<<<chunks, THREADS_MAX, 0, s>>>(*a, size, 0);
    for (uint32_t run = 2 * ONE_BLOCK; run <= size; run *= 2) {
        for (uint32_t stride = run / 2; stride >= ONE_BLOCK; stride /= 2)
            de_judge_sort_step<<<pairs, 256, 0, s>>>(*a, size, run, stride);
        de_judge_sort_chunk<<<chunks, THREADS_MAX, 0, s>>>(*a, size, run);
    }
    de_judge_place_global<<<one, THREADS_MAX, 0, s>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- statistics ---- */

struct finish_scratch {
    double low[THREADS_MAX], high[THREADS_MAX];
    double number[32];
    ranked best[32];
    uint32_t failed, feasible;
};

/* Spread over rows of lows and highs: a thread has one gene and every `parts`-th row. */
static __device__ double rows_spread(const double *low, const double *high, uint32_t rows,
                                     uint32_t genes, uint32_t pitch, const double *lower,
                                     const double *upper, finish_scratch *scratch)
{
    double spread = 0.0;

    for (uint32_t first = 0; first < genes; first += blockDim.x) {
        uint32_t width = genes - first < blockDim.x ? genes - first : blockDim.x;
        uint32_t parts = blockDim.x / width, part = threadIdx.x / width;
        uint32_t gene = first + threadIdx.x % width;
        double l = INFINITY, h = -INFINITY;

        for (uint32_t r = part; r < rows && part < parts; r += parts) {
            double x = low[(size_t)r * pitch + gene], y = high[(size_t)r * pitch + gene];
            l = x < l ? x : l;
            h = y > h ? y : h;
        }
        __syncthreads();
        scratch->low[threadIdx.x] = l;
        scratch->high[threadIdx.x] = h;
        __syncthreads();
        if (threadIdx.x >= width)
            continue;
        for (uint32_t p = 1; p < parts; p++) {
            double x = scratch->low[p * width + threadIdx.x];
            double y = scratch->high[p * width + threadIdx.x];
            l = x < l ? x : l;
            h = y > h ? y : h;
        }
        double range = upper[gene] - lower[gene];
        double share = range > 0.0 ? (h - l) / range : 0.0;
        spread = share > spread ? share : spread;
    }
    return spread;
}

static __device__ void finish_block(const ec_de_args *a, finish_scratch *scratch)
{
    uint32_t t = threadIdx.x, failed = 0, feasible = 0;
    ec_de_control *control = a->control;
    int next = ec_de_has_judge(a->method) ? 0 : 1 - ec_de_current(a, control->stats.generation);
    ranked best = {ec_de_member_score(a, next, 0), 0};
    uint32_t strips = (control->n + 31) / 32, strips_next = (control->n_next + 31) / 32;

    if (t == 0)
        scratch->failed = scratch->feasible = 0;
    for (uint32_t s = t; s < strips; s += blockDim.x) {
        failed += a->strip_failed[s];
        feasible += a->strip_feasible[s];
        if (s < strips_next) {
            ranked other = {ec_de_member_score(a, next, a->strip_best[s]), a->strip_best[s]};
            best = better_of(best, other);
        }
    }
    double spread = rows_spread(a->strip_low, a->strip_high, strips_next, a->genes, a->pitch,
                                a->lower, a->upper, scratch);
    if (a->groups) {
        double other = rows_spread(a->group_X, a->group_X, a->groups, a->group_genes,
                                   a->group_pitch, a->group_lower, a->group_upper, scratch);
        spread = other > spread ? other : spread;
    }
    spread = block_max(spread, scratch->number);
    best = warp_best(best);
    if (t % 32 == 0)
        scratch->best[t / 32] = best;
    atomicAdd(&scratch->failed, failed);
    atomicAdd(&scratch->feasible, feasible);
    __syncthreads();
    if (t != 0)
        return;
    for (uint32_t w = 1; w < blockDim.x / 32; w++)
        best = better_of(best, scratch->best[w]);
    ec_de_finish_control(a, control, scratch->failed, scratch->feasible, best.index, spread);
}

__global__ void __launch_bounds__(THREADS_MAX)
    de_finish_global(const __grid_constant__ ec_de_args a)
{
    __shared__ finish_scratch scratch;

    if (!ec_de_stopped(&a))
        finish_block(&a, &scratch);
}

__global__ void __launch_bounds__(THREADS_MAX)
    de_finish_islands(const __grid_constant__ ec_de_args all)
{
    __shared__ finish_scratch scratch;
    __shared__ ec_de_args a;

    if (ec_de_stopped(&all))
        return;
    share_island(&all, blockIdx.x, &a);
    finish_block(&a, &scratch);
}

extern "C" int ec_cuda_de_finish(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_de_args *a = (const ec_de_args *)args;
    unsigned threads = a->bucket / 32 * a->pitch <= 4096 ? 256 : THREADS_MAX;

    (void)lanes;
    (void)ny;
    if (a->islands > 1)
        de_finish_islands<<<a->islands, threads, 0, (cudaStream_t)stream>>>(*a);
    else
        de_finish_global<<<1, threads, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- migration: one block an island ---- */

enum { MEET_THREADS = 256 };

struct meet_scratch {
    ec_de_args own, from;
    ranked worst[MEET_THREADS / 32];
    bool moves;
    uint32_t place;
};

/* The member with the worst key. */
static __device__ uint32_t worst_member(const ec_de_args *a, int current, uint32_t n,
                                        meet_scratch *scratch)
{
    ranked worst = {ec_de_member_score(a, current, 0), 0};

    for (uint32_t c = threadIdx.x; c < n; c += blockDim.x) {
        ranked other = {ec_de_member_score(a, current, c), c};
        if (better_of(worst, other).index == worst.index)
            worst = other;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        ranked other = worst;
        other.score.violation = __shfl_xor_sync(ALL_LANES, worst.score.violation, offset);
        other.score.cost = __shfl_xor_sync(ALL_LANES, worst.score.cost, offset);
        other.index = __shfl_xor_sync(ALL_LANES, worst.index, offset);
        if (better_of(worst, other).index == worst.index)
            worst = other;
    }
    if (threadIdx.x % 32 == 0)
        scratch->worst[threadIdx.x / 32] = worst;
    __syncthreads();
    for (uint32_t w = 0; w < blockDim.x / 32; w++)
        if (better_of(worst, scratch->worst[w]).index == worst.index)
            worst = scratch->worst[w];
    return worst.index;
}

/* Where the last member of the order belongs now, by halving; one thread. */
static __device__ uint32_t place_of_last(const ec_de_args *a, uint32_t n)
{
    uint32_t low = 0, high = n - 1, moved = a->order[n - 1];

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ec_de_before(a, 0, moved, a->order[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Moves the last member of the order to `place` and those from there on back, from behind. */
static __device__ void reorder_last(const ec_de_args *a, uint32_t n, uint32_t place)
{
    uint32_t moved = a->order[n - 1];

    __syncthreads();
    for (uint32_t end = n - 1; end > place;) {
        uint32_t count = end - place < blockDim.x ? end - place : blockDim.x, first = end - count;
        uint32_t member = threadIdx.x < count ? a->order[first + threadIdx.x] : 0;
        __syncthreads();
        if (threadIdx.x < count)
            a->order[first + threadIdx.x + 1] = member;
        __syncthreads();
        end = first;
    }
    if (threadIdx.x == 0)
        a->order[place] = moved;
}

__global__ void __launch_bounds__(MEET_THREADS)
    de_meet_global(const __grid_constant__ ec_de_args all)
{
    __shared__ meet_scratch scratch;
    uint32_t island = blockIdx.x;
    const ec_de_args *a = &scratch.own, *from = &scratch.from;

    if (ec_de_stopped(&all))
        return;
    if (threadIdx.x == 0) {
        if (island == 0)
            ec_de_total(&all);
        ec_de_island(&all, island, &scratch.own);
        ec_de_island(&all, ec_de_neighbour(&all, island), &scratch.from);
        scratch.moves = ec_de_immigrates(&all, a, from);
    }
    __syncthreads();
    if (!scratch.moves)
        return;
    uint32_t n = a->control->n;
    bool judged = ec_de_has_judge(a->method);
    uint32_t member =
        judged ? a->order[n - 1]
               : worst_member(a, ec_de_current(a, a->control->stats.generation), n, &scratch);
    __syncthreads();
    if (threadIdx.x == 0) {
        ec_de_immigrate(a, from, member);
        scratch.place = judged ? place_of_last(a, n) : 0;
    }
    __syncthreads();
    if (judged)
        reorder_last(a, n, scratch.place);
}

extern "C" int ec_cuda_de_meet(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_de_args *a = (const ec_de_args *)args;

    (void)lanes;
    (void)ny;
    de_meet_global<<<a->islands, MEET_THREADS, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}
