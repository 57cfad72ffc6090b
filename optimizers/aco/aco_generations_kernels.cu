/* aco_generations_kernels.cu: whole generations of the ant colony in one launch, to the bits of
 * aco_kernels.cu with the evaluation and the stop rules between.
 *
 * A block is a colony; its ants, pheromones and values of the evaluation stay in shared memory. What
 * binds a generation is latency, so a block's warps do different things at a time: while a team
 * evaluates, other workers draw the random words of the next generation, and the last warp, the manager,
 * meets the other colonies, has the statistics and the stop rules of the generation before done (by the
 * manager of the block that came last) and learns whether to go on. So a generation is drawn and
 * evaluated before it is known whether there is one; it is dropped when there is none, and only `take`
 * changes anything.
 *
 * With several colonies all blocks have to run at once for that (a cooperative launch); when there are
 * too many, each generation is a launch. */
#include "aco_device.cuh"
#include "graph_block.cuh"

/* Warp MANAGER comes after the workers. Tables of up to RATIOS ratios are copied. */
enum { MANAGER = EC_ACO_WORKERS / 32, RATIOS = 256 };

/* Barriers. That of the block is met from different places, which 0 is not meant for. */
enum { BARRIER_BLOCK = 4, BARRIER_WORKERS = 1, BARRIER_TEAM = 2, BARRIER_TAKE = 3 };

/* Where a colony's things are in shared memory; u is w * ants + ant. */
struct colony_layout {
    ec_block_layout program;
    uint32_t random;           /* uint4 [4 blocks][words * ants]: Philox words of the next draw */
    uint32_t gene;             /* double [genes][ants] */
    uint32_t one, zero, level; /* the pheromones */
    uint32_t cost, violation, status; /* of the last taken generation */
    uint32_t weight;                  /* double [ants] (proportional) */
    uint32_t kind;                    /* ec_aco_gene [genes] */
    uint32_t ratio;                   /* double [2^ratio_bits]; 0: stays where it is */
    uint32_t word[2];                 /* uint32_t [u], by parity of their generation */
    uint32_t since[2];                /* uint32_t [words] */
    uint32_t differ;                  /* uint32_t [words] */
    uint32_t bytes;
};

/* Random words can be drawn ahead when there are threads that do not evaluate. */
static inline __host__ __device__ bool draws_ahead(const ec_aco_generations_args &g)
{
    return g.team < EC_ACO_WORKERS;
}

static colony_layout lay_out(const ec_aco_generations_args &g)
{
    const ec_aco_args &a = g.aco;
    const size_t units = (size_t)a.words * a.ants;
    const bool proportional = a.rule == EC_ACO_PROPORTIONAL;
    const size_t ratios = a.ratio_bits && 1u << a.ratio_bits <= RATIOS ? 1u << a.ratio_bits : 0;
    colony_layout m;

    m.program = ec_block_lay_out(g.program, a.ants, g.team);
    uint32_t at = m.program.bytes;
    m.random = ec_block_take(&at, draws_ahead(g) ? 4 * units : 0, sizeof(uint4));
    m.gene = ec_block_take(&at, (size_t)a.genes * a.ants, sizeof(double));
    m.one = ec_block_take(&at, a.pitch, sizeof(double));
    m.zero = ec_block_take(&at, proportional ? a.pitch : 0, sizeof(double));
    m.level = ec_block_take(&at, a.pitch, sizeof(uint16_t));
    m.cost = ec_block_take(&at, a.ants, sizeof(double));
    m.violation = ec_block_take(&at, a.ants, sizeof(double));
    m.status = ec_block_take(&at, a.ants, sizeof(uint8_t));
    m.weight = ec_block_take(&at, proportional ? a.ants : 0, sizeof(double));
    m.kind = ec_block_take(&at, a.genes, sizeof(ec_aco_gene));
    m.ratio = ratios ? ec_block_take(&at, ratios, sizeof(double)) : 0;
    for (int k = 0; k < 2; k++) {
        m.word[k] = ec_block_take(&at, units, sizeof(uint32_t));
        m.since[k] = ec_block_take(&at, a.words, sizeof(uint32_t));
    }
    m.differ = ec_block_take(&at, a.words, sizeof(uint32_t));
    m.bytes = at;
    return m;
}

/* A colony's pheromones. */
static __device__ __forceinline__ ec_aco_trail trail_in(const colony_layout &m)
{
    ec_aco_trail trail;

    trail.one = ec_block_at<double>(m.one);
    trail.zero = ec_block_at<double>(m.zero);
    trail.level = ec_block_at<uint16_t>(m.level);
    return trail;
}

struct shared_generation {
    ec_aco_colony colony[2]; /* as it is before generations of this parity */
    uint32_t failed, feasible;
    uint32_t stopped;
    ec_optimizer_stats stats; /* a single colony's */
    ec_stop_state rules;
};

static __device__ __forceinline__ void sync_workers()
{
    asm volatile("bar.sync %0, %1;" ::"r"((int)BARRIER_WORKERS), "r"((int)EC_ACO_WORKERS)
                 : "memory");
}

/* All threads of the block, from different places of the program. */
static __device__ __forceinline__ void sync_block()
{
    asm volatile("bar.sync %0, %1;" ::"r"((int)BARRIER_BLOCK), "r"((int)EC_ACO_THREADS) : "memory");
}

/* ---- drawing and decoding: workers ---- */

/* By threads rank, rank + size, ... */
static __device__ __noinline__ void draw_random(ec_random_stream stream, uint32_t first,
                                                uint32_t ants, uint32_t units, uint32_t random,
                                                uint32_t rank, uint32_t size)
{
    uint4 *to = ec_block_at<uint4>(random);

    for (uint32_t u = rank; u < units; u += size) {
        uint32_t w = u / ants, c = first + u - w * ants;
#pragma unroll
        for (uint32_t b = 0; b < 4; b++) {
            uint32_t out[4];
            ec_random_words(&stream, 4 * w + b, c, out);
            to[b * units + u] = make_uint4(out[0], out[1], out[2], out[3]);
        }
    }
}

static __device__ __forceinline__ uint32_t read_word(const ec_aco_args *a, const colony_layout &m,
                                                     uint32_t w, uint32_t u)
{
    const uint4 *level = (const uint4 *)(ec_block_at<uint16_t>(m.level) + 32 * w);
    const uint4 *random = ec_block_at<uint4>(m.random);
    const uint32_t units = a->words * a->ants;
    uint32_t word = 0;

#pragma unroll 1
    for (uint32_t b = 0; b < 4; b++) {
        const uint4 from = random[b * units + u];
        const uint32_t out[4] = {from.x, from.y, from.z, from.w};
        word |= eight_bits(out, level[b]) << (8 * b);
    }
    return word & word_mask(a, w);
}

static __device__ __forceinline__ void draw_ants(const ec_aco_args *a, const colony_layout &m,
                                                 const ec_block_program &p, bool ahead,
                                                 uint32_t first, uint32_t generation)
{
    uint32_t *word = ec_block_at<uint32_t>(m.word[generation & 1u]);
    const ec_aco_gene *gene = ec_block_at<ec_aco_gene>(m.kind);
    double *x = ec_block_at<double>(m.gene);

    for (uint32_t u = threadIdx.x; u < a->words * a->ants; u += EC_ACO_WORKERS) {
        uint32_t w = ec_block_row(p, u), c = first + u - w * a->ants;
        if (generation == 0 && c < a->n_start)
            word[u] = a->start[(size_t)c * a->words + w];
        else if (ahead)
            word[u] = read_word(a, m, w, u);
        else
            word[u] = draw_word(ec_aco_stream(a, generation, EC_ACO_DRAW_BIT), w, c,
                                ec_block_at<uint16_t>(m.level) + 32 * w) &
                      word_mask(a, w);
    }
    sync_workers();
    if (a->sets > 0) {
        for (uint32_t i = threadIdx.x; i < a->ants; i += EC_ACO_WORKERS)
            for (uint32_t s = 0; s < a->sets; s++)
                repair_set(a, &a->set[s], first + i, generation, word + i, a->ants);
        sync_workers();
    }
    const double *ratio = m.ratio ? ec_block_at<double>(m.ratio) : a->ratio;
    for (uint32_t u = threadIdx.x; u < a->genes * a->ants; u += EC_ACO_WORKERS) {
        uint32_t k = ec_block_row(p, u), i = u - k * a->ants;
        x[u] = decode_gene(&gene[k], word + i, a->ants, ratio);
    }
    sync_workers();
}

/* ---- take: a warp a word ---- */

static __device__ __noinline__ void deposit_all(const ec_aco_args *a, const colony_layout &m,
                                                uint32_t w, const uint32_t *row)
{
    const ec_aco_trail trail = trail_in(m);
    const double *weight = ec_block_at<double>(m.weight);
    const uint32_t lane = threadIdx.x % 32, at = 32 * w + lane;
    double one = 0.0, zero = 0.0, keep = 1.0 - a->evaporation;

    for (uint32_t i = 0; i < a->ants; i++) {
        bool bit = row[i] >> lane & 1u;
        one += bit ? weight[i] : 0.0;
        zero += bit ? 0.0 : weight[i];
    }
    ec_aco_set_bit(a, &trail, at, keep * trail.one[at] + one, keep * trail.zero[at] + zero);
}

/* A float64 number, no NaN, as an integer of the same order. */
static __device__ __forceinline__ uint64_t order_key(double x)
{
    uint64_t bits = (uint64_t)__double_as_longlong(x);

    return bits ^ (bits >> 63 ? ~0ull : 1ull << 63);
}

/* The index of the smallest key (the first half counts first) of a warp's lanes, the smaller one of
 * equals; lanes without a key have the largest one. */
static __device__ __forceinline__ uint32_t warp_first(const uint64_t key[2], uint32_t index)
{
    bool alive = true;

#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        uint64_t half = k < 2 ? key[0] : key[1];
        uint32_t word = alive ? (uint32_t)(k % 2 ? half : half >> 32) : ALL_LANES;
        const uint32_t least = __reduce_min_sync(ALL_LANES, word); /* by all lanes */
        alive = alive && word == least;
    }
    const uint32_t first = alive ? index : ALL_LANES;
    return __reduce_min_sync(ALL_LANES, first);
}

/* Each warp that has a word judges all ants by itself, to the same result. */
static __device__ __forceinline__ void take_generation(const ec_aco_args *a, const colony_layout &m,
                                                       const double *cost, const double *violation,
                                                       uint32_t j, uint32_t generation,
                                                       shared_generation *s)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, now = generation & 1u;
    const uint32_t first = j * a->ants, *word = ec_block_at<uint32_t>(m.word[now]);
    const uint32_t warps = a->words < MANAGER ? a->words : MANAGER;
    uint32_t failed = 0, feasible = 0, ant = ALL_LANES;
    uint64_t key[2] = {~0ull, ~0ull};

    if (warp >= warps)
        return;
    ec_aco_colony colony = s->colony[now];
#pragma unroll 1
    for (uint32_t i = lane; i - lane < a->ants; i += 32) {
        uint8_t status = EC_ACO_EMPTY;
        if (i < a->ants) {
            status = 0;
            ec_aco_score score = ec_aco_clean(cost[i], violation ? violation[i] : 0.0, &status);
            uint64_t k0 = order_key(score.violation), k1 = order_key(score.cost);
            bool before = (k0 < key[0]) | ((k0 == key[0]) & (k1 < key[1]));
            key[0] = before ? k0 : key[0];
            key[1] = before ? k1 : key[1];
            ant = before || i == lane ? i : ant;
            feasible += score.violation == 0.0;
            if (warp == 0) {
                ec_block_at<double>(m.cost)[i] = score.cost;
                ec_block_at<double>(m.violation)[i] = score.violation;
                ec_block_at<uint8_t>(m.status)[i] = status;
            }
        }
        failed += status != 0 && status != EC_ACO_EMPTY;
    }
    failed = __reduce_add_sync(ALL_LANES, failed);
    feasible = __reduce_add_sync(ALL_LANES, feasible);
    ant = warp_first(key, ant);
    uint8_t status = 0;
    const ec_aco_score best_score =
        ec_aco_clean(cost[ant], violation ? violation[ant] : 0.0, &status);
    if (a->rule == EC_ACO_PROPORTIONAL) {
        for (uint32_t i = threadIdx.x; i < a->ants; i += 32 * warps) {
            uint8_t status = 0;
            ec_aco_score score = ec_aco_clean(cost[i], violation ? violation[i] : 0.0, &status);
            ec_block_at<double>(m.weight)[i] = ec_aco_weight(a, score, feasible > 0);
        }
        asm volatile("bar.sync %0, %1;" ::"r"((int)BARRIER_TAKE), "r"(32 * warps) : "memory");
    }
    const ec_aco_decision d = ec_aco_decide(a, j, &colony, generation, first + ant, best_score);
    const ec_aco_trail trail = trail_in(m);
    const uint32_t *since = ec_block_at<uint32_t>(m.since[now]);
    for (uint32_t w = warp; w < a->words; w += warps) {
        const uint32_t *row = word + w * a->ants, at = 32 * w + lane;
        uint32_t ant_word = row[d.ant - first];
        uint32_t since_word = d.from_ant ? ant_word : since[w];
        uint32_t any = 0, none = 0;
        if (d.from_other)
            since_word = ec_aco_since_word(a, j, generation, &d, w);
        if (lane == 0) {
            ec_block_at<uint32_t>(m.since[1 - now])[w] = since_word;
            ec_aco_keep_word(a, j, generation, &d, w, since_word);
        }
        for (uint32_t i = lane; i < a->ants; i += 32) {
            any |= row[i];
            none |= ~row[i];
        }
        any = __reduce_or_sync(ALL_LANES, any);
        none = __reduce_or_sync(ALL_LANES, none);
        if (lane == 0 && a->colonies == 1) {
            ec_block_at<uint32_t>(m.differ)[w] = any & none;
        } else if (lane == 0) {
            atomicOr(&a->differ[2 * now * a->words + w], any);
            atomicOr(&a->differ[(2 * now + 1) * a->words + w], none);
        }
        if (d.restart)
            ec_aco_begin_bit(a, &trail, at);
        else if (a->rule == EC_ACO_PROPORTIONAL)
            deposit_all(a, m, w, row);
        else
            ec_aco_deposit_best(a, &trail, at, &d, ant_word, since_word, lane);
    }
    if (threadIdx.x == 0) {
        s->colony[1 - now] = colony;
        a->colony[j] = colony;
        s->failed = failed;
        s->feasible = feasible;
    }
}

/* ---- the manager ---- */

/* The best score, its index and the restarts of all colonies; the lanes of a warp. */
static __device__ place best_colony(const ec_aco_args *a, uint32_t *restarts)
{
    place best = place_none();
    uint32_t starts = 0;

    for (uint32_t j = threadIdx.x % 32; j < a->colonies; j += 32) {
        const ec_aco_colony *colony = &a->colony[j];
        place p;
        p.score.violation = __ldcg(&colony->best.violation);
        p.score.cost = __ldcg(&colony->best.cost);
        p.index = j;
        starts += __ldcg(&colony->starts);
        best = place_before(p, best) ? p : best;
    }
    *restarts = __reduce_add_sync(ALL_LANES, starts);
    return warp_best(best);
}

/* Largest spread of a gene where the bits m.differ differ; the lanes of a warp. */
static __device__ double widest_gene(const ec_aco_args *a, const colony_layout &m)
{
    double widest = 0.0;

    for (uint32_t k = threadIdx.x % 32; k < a->genes; k += 32) {
        const ec_aco_gene *gene = ec_block_at<ec_aco_gene>(m.kind) + k;
        const uint32_t *low = ec_block_at<uint32_t>(m.differ) + gene->first / 32;
        double spread = ec_aco_gene_spread(gene, gene->kind == EC_ACO_FIXED ? 0 : low[0],
                                           ec_aco_spans(gene) ? low[1] : 0);
        widest = spread > widest ? spread : widest;
    }
    for (int step = 16; step > 0; step /= 2) {
        double other = __shfl_xor_sync(ALL_LANES, widest, step);
        widest = other > widest ? other : widest;
    }
    return widest;
}

/* Statistics and stop rules of a generation that all colonies are done with; true: it was the last. */
static __device__ bool finish(const ec_aco_generations_args &g, const colony_layout &m,
                              uint32_t generation, shared_generation *s)
{
    const ec_aco_args *a = &g.aco;
    const bool alone = a->colonies == 1;
    const uint32_t lane = threadIdx.x % 32, now = generation & 1u;
    ec_aco_meeting *meeting = a->meeting;
    ec_optimizer_stats stats = alone ? s->stats : a->control->stats;
    ec_stop_state state = alone ? s->rules : *g.rules.state;
    uint32_t failed = s->failed, feasible = s->feasible, restarts = 0;
    int32_t flag = 0;
    ec_aco_score best;

    if (alone) {
        best = s->colony[1 - now].best;
        restarts = s->colony[1 - now].starts;
    } else {
        failed = __ldcg(&meeting->failed);
        feasible = __ldcg(&meeting->feasible);
        for (uint32_t w = lane; w < a->words; w += 32) {
            uint32_t *differ = a->differ + 2 * now * a->words + w;
            ec_block_at<uint32_t>(m.differ)[w] = __ldcg(differ) & __ldcg(differ + a->words);
            differ[0] = differ[a->words] = 0;
        }
        best = best_colony(a, &restarts).score;
        __syncwarp();
    }
    double spread = widest_gene(a, m);
    ec_aco_finish_stats(a, &stats, best, failed, feasible, restarts, spread);
    ec_stop_rules_args rules = g.rules;
    rules.stats = &stats;
    rules.state = &state;
    rules.flag = &flag;
    __syncwarp();
    ec_stop_rules_body(&rules, 0, 0);
    if (lane > 0)
        return flag != 0;
    a->control->stats = stats;
    *g.rules.state = state;
    if (flag)
        *g.rules.flag = flag;
    if (alone) {
        s->stats = stats;
        s->rules = state;
    } else {
        meeting->arrived = meeting->failed = meeting->feasible = 0;
    }
    return flag != 0;
}

/* Reports a generation that has been taken; with `waits` comes back when all colonies have: true when
 * it was the last. The lanes of the manager. */
static __device__ bool meet(const ec_aco_generations_args &g, const colony_layout &m,
                            uint32_t generation, bool waits, shared_generation *s)
{
    const ec_aco_args *a = &g.aco;
    ec_aco_meeting *meeting = a->meeting;
    const uint64_t verdict = 2 * ((uint64_t)generation + 1);
    uint32_t before = 0;

    if (a->colonies == 1)
        return finish(g, m, generation, s);
    if (threadIdx.x % 32 == 0) {
        if (s->failed)
            atomicAdd(&meeting->failed, s->failed);
        if (s->feasible)
            atomicAdd(&meeting->feasible, s->feasible);
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                     : "=r"(before)
                     : "l"(&meeting->arrived)
                     : "memory");
    }
    before = __shfl_sync(ALL_LANES, before, 0);
    if (before == a->colonies - 1) {
        bool last = finish(g, m, generation, s);
        if (threadIdx.x % 32 == 0)
            asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(&meeting->verdict),
                         "l"(verdict + last)
                         : "memory");
        return last;
    }
    uint64_t seen = 0;
    while (waits && seen >> 1 != verdict >> 1)
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(seen)
                     : "l"(&meeting->verdict)
                     : "memory");
    return seen & 1u;
}

static __device__ void manage(const ec_aco_generations_args &g, const colony_layout &m,
                              uint32_t generation, shared_generation *s)
{
    for (uint32_t i = 0; i < g.count; i++) {
        bool stopped = i > 0 && meet(g, m, generation + i - 1, true, s);
        if (threadIdx.x % 32 == 0)
            s->stopped = stopped;
        sync_block(); /* evaluated */
        if (stopped)
            return;
        sync_block(); /* taken */
    }
    meet(g, m, generation + g.count - 1, false, s);
}

/* ---- a colony ---- */

/* Returns the last generation that counts. */
template <bool LEAN>
static __device__ __forceinline__ uint32_t work(const ec_aco_generations_args &g,
                                                const colony_layout &m, const ec_block_program &p,
                                                uint32_t generation, shared_generation *s)
{
    const ec_aco_args *a = &g.aco;
    const uint32_t j = blockIdx.x, first = j * a->ants, rank = threadIdx.x;
    const ec_block_team team = {rank, g.team, BARRIER_TEAM};
    const uint32_t units = a->words * a->ants, results = m.program.population;
    const double *cost = ec_block_at<double>(results + (uint32_t)g.cost * a->ants);
    const double *violation =
        g.violation < 0 ? NULL : ec_block_at<double>(results + (uint32_t)g.violation * a->ants);
    const bool ahead = draws_ahead(g);

    if (ahead) {
        draw_random(ec_aco_stream(a, generation, EC_ACO_DRAW_BIT), first, a->ants, units, m.random,
                    rank, EC_ACO_WORKERS);
        sync_workers();
    }
    for (uint32_t i = 0; i < g.count; i++, generation++) {
        draw_ants(a, m, p, ahead, first, generation);
        if (rank < g.team)
            ec_block_run<LEAN>(p, team);
        else
            draw_random(ec_aco_stream(a, generation + 1, EC_ACO_DRAW_BIT), first, a->ants, units,
                        m.random, rank - g.team, EC_ACO_WORKERS - g.team);
        sync_block(); /* evaluated */
        if (s->stopped)
            break;
        take_generation(a, m, cost, violation, j, generation, s);
        sync_block(); /* taken */
    }
    return generation - 1;
}

/* What a launch begins with and what it leaves behind. */
static __device__ void load_colony(const ec_aco_generations_args &g, const colony_layout &m,
                                   shared_generation *s)
{
    const ec_aco_args *a = &g.aco;
    const uint32_t j = blockIdx.x;
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    const uint32_t generation = a->control->stats.generation;

    const ec_aco_trail own = trail_in(m);

    for (uint32_t b = threadIdx.x; b < a->pitch; b += EC_ACO_THREADS) {
        own.one[b] = trail.one[b];
        own.level[b] = trail.level[b];
        if (a->rule == EC_ACO_PROPORTIONAL)
            own.zero[b] = trail.zero[b];
    }
    for (uint32_t w = threadIdx.x; w < a->words; w += EC_ACO_THREADS)
        for (int k = 0; k < 2; k++)
            ec_block_at<uint32_t>(m.since[k])[w] = a->since[k][(size_t)j * a->words + w];
    if (threadIdx.x == 0) {
        s->colony[generation & 1u] = a->colony[j];
        s->stats = a->control->stats;
        s->rules = *g.rules.state;
        s->stopped = a->stop && *a->stop;
    }
}

static __device__ void store_colony(const ec_aco_args *a, const colony_layout &m,
                                    uint32_t generation)
{
    const uint32_t j = blockIdx.x, first = j * a->ants;
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    const ec_aco_trail own = trail_in(m);
    const uint32_t *word = ec_block_at<uint32_t>(m.word[generation & 1u]);
    uint32_t *bits = a->bits[generation & 1u] + first;

    for (uint32_t b = threadIdx.x; b < a->pitch; b += EC_ACO_THREADS) {
        trail.one[b] = own.one[b];
        trail.level[b] = own.level[b];
        if (a->rule == EC_ACO_PROPORTIONAL)
            trail.zero[b] = own.zero[b];
    }
    for (uint32_t u = threadIdx.x; u < a->words * a->ants; u += EC_ACO_THREADS)
        bits[(size_t)(u / a->ants) * a->ld + u % a->ants] = word[u];
    for (uint32_t i = threadIdx.x; i < a->ants; i += EC_ACO_THREADS) {
        a->cost[first + i] = ec_block_at<double>(m.cost)[i];
        a->violation[first + i] = ec_block_at<double>(m.violation)[i];
        a->status[first + i] = ec_block_at<uint8_t>(m.status)[i];
    }
}

template <bool LEAN>
__global__ void __launch_bounds__(EC_ACO_THREADS, 1)
    generations_global(const __grid_constant__ ec_aco_generations_args g,
                       const __grid_constant__ colony_layout m)
{
    __shared__ shared_generation s;
    __shared__ ec_block_program program;
    __shared__ uint32_t last;
    const ec_aco_args *a = &g.aco;

    ec_block_prepare(&program, g.program, m.program, blockIdx.x * a->ants, a->ants, g.team,
                     ec_block_at<double>(m.gene));
    for (uint32_t k = threadIdx.x; k < a->genes; k += EC_ACO_THREADS)
        ec_block_at<ec_aco_gene>(m.kind)[k] = a->gene[k];
    for (uint32_t k = threadIdx.x; m.ratio && k < 1u << a->ratio_bits; k += EC_ACO_THREADS)
        ec_block_at<double>(m.ratio)[k] = a->ratio[k];
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize(); /* a launch may begin while the one before it ends */
#endif
    load_colony(g, m, &s);
    __syncthreads();
    if (s.stopped)
        return;
    const uint32_t generation = a->control->stats.generation;
    if (threadIdx.x / 32 == MANAGER) {
        manage(g, m, generation, &s);
    } else {
        uint32_t done = work<LEAN>(g, m, program, generation, &s);
        if (threadIdx.x == 0)
            last = done;
    }
    sync_block();
    store_colony(a, m, last);
}

/* ---- launches ---- */

typedef void (*generations_kernel)(ec_aco_generations_args, colony_layout);

/* Asks for shared memory, once for all problems: a launch must not take from another's. Colonies that
 * can run at once in *at_once. */
static cudaError_t find_room(generations_kernel kernel, size_t bytes, uint32_t *at_once)
{
    cudaFuncAttributes attributes;
    int device = 0, limit = 0, processors = 0, blocks = 0;

    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    limit -= (int)attributes.sharedSizeBytes;
    if (bytes > (size_t)limit)
        return cudaErrorInvalidValue;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limit);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, EC_ACO_THREADS, bytes);
    *at_once = (uint32_t)(blocks * processors);
    return error;
}

static cudaError_t launch(generations_kernel kernel, const ec_aco_generations_args *g,
                          const colony_layout &m, bool together, cudaStream_t stream)
{
    cudaLaunchAttribute attribute[1];
    cudaLaunchConfig_t config = {};

    attribute[0].id = together ? cudaLaunchAttributeCooperative
                               : cudaLaunchAttributeProgrammaticStreamSerialization;
    if (together)
        attribute[0].val.cooperative = 1;
    else
        attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(g->aco.colonies);
    config.blockDim = dim3(EC_ACO_THREADS);
    config.dynamicSmemBytes = m.bytes;
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = g->aco.colonies > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, *g, m);
}

/* Without generations it only asks for the shared memory that launches need. */
extern "C" int ec_cuda_aco_generations(void *stream, const void *args, size_t lanes, size_t ny)
{
    ec_aco_generations_args g = *(const ec_aco_generations_args *)args;
    const generations_kernel kernel =
        g.program.extent.lean ? generations_global<true> : generations_global<false>;
    const colony_layout m = lay_out(g);
    uint32_t at_once = 0;

    (void)lanes;
    (void)ny;
    cudaError_t error = find_room(kernel, m.bytes, &at_once);
    if (error != cudaSuccess || g.count == 0)
        return (int)error;
    const bool together = g.aco.colonies > 1 && g.aco.colonies <= at_once;
    const uint32_t launches = g.aco.colonies == 1 || together ? 1 : g.count;
    if (together) /* no verdict of an earlier launch may be taken for one of this */
        error = cudaMemsetAsync(g.aco.meeting, 0, sizeof *g.aco.meeting, (cudaStream_t)stream);
    g.count /= launches;
    for (uint32_t i = 0; i < launches && error == cudaSuccess; i++)
        error = launch(kernel, &g, m, together, (cudaStream_t)stream);
    return (int)error;
}
