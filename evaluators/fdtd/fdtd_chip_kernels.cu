/* fdtd_chip_kernels.cu: steps of domains that fit into the shared memory of a GPU's multiprocessors.
 *
 * A domain is cut along y into slabs of a few lines of nodes (all x and z), a block a slab; a team of blocks
 * holds a domain's fields for all steps of the call, then takes its next domain. All blocks of all teams
 * are resident at once. A step of a block:
 *   H of all its lines, the last one first: it needs Ex, Ez of the line behind it, the next block's
 *     first, and its own Hx, Hz are what that block waits for,
 *   E of all its lines, the first one first: it needs Hx, Hz of the line before, and its Ex, Ez are
 *     what the block before waits for,
 *   sources and branches, then what probes see.
 * Lines go from block to block through memory; a warp that has written its part adds one to the block's
 * count of that side, a warp that needs a line waits for all its parts. A block that overwrites a line has
 * by then waited for what its reader wrote after reading, so one buffer a side is enough.
 *
 * Positions (k, fours of x) of a line are consecutive, 32 of them a warp. Elements, their order of operations and so
 * their bits are those of fdtd_kernels.cu; coefficients' indices stay in registers, absorbing terms in
 * memory. */
#include "fdtd_kernels.h"
#include "fdtd_quads.cuh"

/* 20 warps: five on each of a multiprocessor's four parts, with 96 registers a thread. */
enum { WARP = 32, MOST_WARPS = 20, REDUCE = 256 };

/* A source, a branch, a term of this block: where its element is in the block's fields. */
typedef struct chip_source {
    int32_t at;
    float b;
    double scale;
} chip_source;

typedef struct chip_branch {
    int32_t at, of; /* of the domain's branches */
    double b;
    double state[EC_FDTD_BRANCH_STATE];
} chip_branch;

typedef struct chip_term {
    int32_t at, of; /* of the domain's terms, those of H first */
} chip_term;

/* A thread's four of a line: x from 4 quad, z k; p: k rows of quads and quad, or beyond the line's
 * positions. line: the first one of its block's that it has, behind the last: none. */
typedef struct place {
    int line, quad, k, p;
    int slab_x, slab_z; /* in the absorbing terms, -1: in none */
} place;

/* The same in three registers, for all steps. */
typedef struct packed {
    int line;
    int at;    /* 65536 k + quad */
    int slabs; /* 65536 (slab_z + 1) + slab_x + 1 */
} packed;

/* The same number, but the compiler does not know that: what a step computes from it does not wait for the next step
 * in a register, of which there are too few (with 350 bytes a thread in local memory instead, domains with absorbing
 * layers took 1.6 times as long). */
static __device__ __forceinline__ int anew(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* Shared memory of a block, before the inverse spacings and the fields. */
typedef struct __align__(16) chip_room
{
    ec_fdtd_domain now; /* the one at work */
    float2 pair[EC_FDTD_PAIRS];
    chip_source source[EC_FDTD_CHIP_SOURCES];
    chip_branch branch[EC_FDTD_CHIP_BRANCHES];
    chip_term term[EC_FDTD_CHIP_TERMS];
    uint16_t domain[EC_FDTD_CHIP_DOMAINS];
    int32_t n_domains, n_sources, n_branches, n_terms;
}
chip_room;

static_assert(sizeof(ec_fdtd_domain) % sizeof(uint64_t) == 0, "copied by eight bytes");

extern __shared__ float4 chip_memory[];

static __device__ __forceinline__ chip_room *room_of()
{
    return (chip_room *)chip_memory;
}

/* Tables of an axis, behind the room: of E, then H inverse spacings and both numbers of the absorbing terms, of all
 * x, of the slab's y, of all z. */
enum { INVERSE, ABSORB_B, ABSORB_C, TABLES };

static __host__ __device__ __forceinline__ int in_tables(const ec_fdtd_shape &s, int lines,
                                                         int axis)
{
    return (axis > 0 ? (s.nodes[0] + 3) / 4 * 4 : 0) + (axis > 1 ? (lines + 3) / 4 * 4 : 0) +
           (axis > 2 ? (s.nodes[2] + 3) / 4 * 4 : 0);
}

/* What is the same for all threads of a block. */
typedef struct slab {
    int table;     /* floats of a side's table */
    int field;     /* floats before the fields [6][lines][positions] fours */
    int component; /* floats from one to the next */
    int line;      /* the same, of lines */
    int quads;     /* a row */
    int positions; /* a line */
    int parts;     /* warps a line */
    int first, n;  /* lines it has */
    float h;       /* H's coefficient where nothing is magnetic */
} slab;

static __device__ __forceinline__ float *table_of(const ec_fdtd_shape &s, const slab &b, int lines,
                                                  int side, int which, int axis)
{
    return (float *)(chip_memory + sizeof(chip_room) / sizeof *chip_memory) +
           (side * TABLES + which) * b.table + in_tables(s, lines, axis);
}

static __device__ __forceinline__ float *field_of(const slab &b, int at)
{
    return (float *)chip_memory + b.field + at;
}

/* A count of another block. What was written before it counted is read past the first cache (load4_far),
 * by instructions behind this one: so nothing in that cache needs to go, as an acquiring load has it. */
static __device__ uint32_t count_of(const uint32_t *from)
{
    uint32_t x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
    return x;
}

/* All lanes. */
static __device__ void wait_for(const uint32_t *count, uint32_t wanted)
{
    while (count_of(count) < wanted)
        ;
    __syncwarp();
}

static __device__ void count_up(uint32_t *count)
{
    __syncwarp();
    if (threadIdx.x % WARP == 0)
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(count), "r"(1u) : "memory");
}

static __device__ four load4_far(const float4 *from)
{
    const float4 q = __ldcg(from);
    return four{{q.x, q.y, q.z, q.w}};
}

static __device__ void store4_far(float4 *to, const four &q)
{
    __stcg(to, make_float4(q.v[0], q.v[1], q.v[2], q.v[3]));
}

/* Where an element of the domain is in the block's fields, -1: in another one's, or where fields are 0. */
static __device__ int32_t place_in(const ec_fdtd_shape &s, const slab &b, int64_t index)
{
    const int c = (int)(index / s.field);
    const int64_t in = index - c * s.field - s.plane;
    const int k = (int)(in / s.plane), rest = (int)(in - k * s.plane);
    const int j = rest / s.pitch, i = rest - j * s.pitch, l = j - b.first;

    return l < 0 || l >= b.n || k >= s.nodes[2] || i >= 4 * b.quads
               ? -1
               : c * b.component + l * b.line + 4 * k * b.quads + i;
}

/* The domains of this block's team, in their order: every n_teams-th of those that have steps to do. */
static __device__ void choose_domains(const ec_fdtd_steps_args &args, int team)
{
    chip_room *room = room_of();
    const int lane = (int)threadIdx.x % WARP, teams = args.chip.teams;

    if (threadIdx.x < WARP) {
        int gone = 0;
        for (int base = 0; base < args.n; base += WARP) {
            const int i = base + lane;
            const bool busy = i < args.n && args.domain[i].steps > args.first;
            const unsigned all = __ballot_sync(0xffffffffu, busy);
            const int rank = gone + __popc(all & ((1u << lane) - 1));
            if (busy && rank % teams == team)
                room->domain[rank / teams] = (uint16_t)i;
            gone += __popc(all);
        }
        if (lane == 0)
            room->n_domains = gone > team ? (gone - team + teams - 1) / teams : 0;
    }
    __syncthreads();
}

/* The domain itself and its tables. */
static __device__ void take_domain(const ec_fdtd_shape &s, const slab &b, int lines,
                                   const ec_fdtd_domain *domain)
{
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
    ec_fdtd_domain *d = &room_of()->now;

    for (int i = thread; i < (int)(sizeof *domain / sizeof(uint64_t)); i += threads)
        ((uint64_t *)d)[i] = ((const uint64_t *)domain)[i];
    __syncthreads();
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++) {
            const float *from[TABLES] = {(const float *)(side ? d->id_h : d->id_e)[axis],
                                         (const float *)(side ? d->bh : d->be)[axis],
                                         (const float *)(side ? d->ch : d->ce)[axis]};
            const int n = axis == 0 ? 4 * b.quads : axis == 1 ? b.n : s.nodes[2];
            for (int which = 0; which < TABLES; which++)
                for (int i = thread; i < n; i += threads)
                    table_of(s, b, lines, side, which, axis)[i] =
                        from[which][axis == 1 ? b.first + i : i];
        }
}

/* What of a domain's lists lies in this block. */
static __device__ void choose_parts(const ec_fdtd_shape &s, const slab &b)
{
    chip_room *room = room_of();
    const ec_fdtd_domain *d = &room->now;
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x;

    if (thread == 0)
        room->n_sources = room->n_branches = room->n_terms = 0;
    if (d->index)
        for (int i = thread; i < EC_FDTD_PAIRS; i += threads)
            room->pair[i] = ((const float2 *)d->pair)[i];
    __syncthreads();
    for (int i = thread; i < d->n_sources; i += threads) {
        const int32_t at = place_in(s, b, d->source[i].index);
        if (at >= 0)
            room->source[atomicAdd(&room->n_sources, 1)] =
                chip_source{at, edge_b<float>(d, d->source[i].edge), d->source[i].scale};
    }
    for (int i = thread; i < d->n_branches; i += threads) {
        const int32_t at = place_in(s, b, d->branch[i].index);
        if (at < 0)
            continue;
        chip_branch *q = room->branch + atomicAdd(&room->n_branches, 1);
        q->at = at;
        q->of = i;
        q->b = (double)edge_b<float>(d, d->branch[i].edge);
        for (int t = 0; t < EC_FDTD_BRANCH_STATE; t++)
            q->state[t] = d->branch_state[(int64_t)i * EC_FDTD_BRANCH_STATE + t];
    }
    for (int i = thread; i < d->n_h_terms + d->n_e_terms; i += threads) {
        const int32_t at = place_in(
            s, b, i < d->n_h_terms ? d->h_term[i].index : d->e_term[i - d->n_h_terms].index);
        if (at >= 0)
            room->term[atomicAdd(&room->n_terms, 1)] = chip_term{at, i};
    }
    __syncthreads();
}

/* An element four's neighbour along x, ahead or behind: of the lane beside, or from shared memory; 0 where the row
 * ends. All lanes. */
static __device__ __forceinline__ float next_x(const float *at, const four &q, bool ends)
{
    const float x = __shfl_down_sync(0xffffffffu, q.v[0], 1);
    return ends ? 0 : threadIdx.x % WARP == WARP - 1 ? at[4] : x;
}

static __device__ __forceinline__ float last_x(const float *at, const four &q, bool ends)
{
    const float x = __shfl_up_sync(0xffffffffu, q.v[3], 1);
    return ends ? 0 : threadIdx.x % WARP == 0 ? at[-1] : x;
}

static __device__ __forceinline__ four slope(const four &u1, const four &u0, float id)
{
    return slope(u1, u0, all4(id));
}

static __device__ __forceinline__ place unpack(const slab &b, const packed &there)
{
    const int at = anew(there.at), slabs = anew(there.slabs), quad = at & 65535, k = at >> 16;
    return place{there.line, quad, k, k * b.quads + quad, (slabs & 65535) - 1, (slabs >> 16) - 1};
}

/* What a side reads, of the other one: fours at the place, at its neighbours along z, y and x, and inverse spacings. */
typedef struct reads {
    four x, y, z;
    four xk, yk;
    four xj, zj;
    four yi, zi;
    four ix;
    float iy, iz;
} reads;

/* The differences of component t, as update() of fdtd_kernels.cu has them; ahead: H's. */
static __device__ __forceinline__ void curl(const reads &r, int t, bool ahead, four *u, four *v)
{
    const four &a = t == 0 ? r.zj : t == 1 ? r.xk : r.yi, &a0 = t == 0 ? r.z : t == 1 ? r.x : r.y;
    const four &c = t == 0 ? r.yk : t == 1 ? r.zi : r.xj, &c0 = t == 0 ? r.y : t == 1 ? r.z : r.x;

    *u = t == 2 ? slope(ahead ? a : a0, ahead ? a0 : a, r.ix)
                : slope(ahead ? a : a0, ahead ? a0 : a, t == 0 ? r.iy : r.iz);
    *v = t == 1 ? slope(ahead ? c : c0, ahead ? c0 : c, r.ix)
                : slope(ahead ? c : c0, ahead ? c0 : c, t == 0 ? r.iz : r.iy);
}

/* psi_of() by 32 bits: what fits on a chip has fewer elements. */
static __device__ __forceinline__ float *chip_psi(const ec_fdtd_shape &s, int side, int axis, int t,
                                                  int i, int j, int k, int slab)
{
    const int x = (int)s.memory[0], y = (int)s.memory[1], z = (int)s.memory[2];
    const int first = 2 * side * (x + y + z) + (axis == 0   ? t * x
                                                : axis == 1 ? 2 * x + t * y
                                                            : 2 * (x + y) + t * z);
    const int in = axis == 0   ? (k * s.rows + j) * s.slab[0] + slab
                   : axis == 1 ? (k * s.slab[1] + slab) * s.pitch + i
                               : (slab * s.rows + j) * s.pitch + i;
    float *psi = (float *)room_of()->now.psi + (first + in);
    __builtin_assume(__isGlobal(psi));
    return psi;
}

/* The terms of component t along both other axes. */
static __device__ __forceinline__ void absorb(const ec_fdtd_shape &s, const slab &b, int lines,
                                              int side, int t, int l, const place &w,
                                              const four &cb, const four &u, const four &v, four *f)
{
    const int j = b.first + l;

#pragma unroll
    for (int other = 1; other < 3; other++) {
        const int axis = (t + other) % 3, in = axis == 0 ? 4 * w.quad : axis == 1 ? l : w.k;
        const int slab = axis == 0   ? w.slab_x
                         : axis == 2 ? w.slab_z
                         : s.slab[1] ? ec_fdtd_slab(&s, 1, j)
                                     : -1;
        if (slab < 0)
            continue;
        const float *pb = table_of(s, b, lines, side, ABSORB_B, axis) + in;
        const float *pc = table_of(s, b, lines, side, ABSORB_C, axis) + in;
        absorb4(chip_psi(s, side, axis, 2 - other, 4 * w.quad, j, w.k, slab),
                axis == 0 ? load4(pb) : all4(*pb), axis == 0 ? load4(pc) : all4(*pc),
                other == 1 ? 1 : -1, cb, other == 1 ? u : v, f);
    }
}

/* H (side 1) or E at a place of line l. index: of the pairs of E. beside: on entry, x and z of the line
 * that comes before it in this pass, if `carried`, else of `beyond` (see chip_steps), or zeros;
 * then those of this one. publish: where x and z that it becomes go, or NULL. */
template <bool pml, bool plain>
static __device__ __forceinline__ void
do_line(const ec_fdtd_shape &s, const slab &b, int lines, int side, int l, const packed &there,
        const uint32_t *index, bool carried, const float4 *beyond, float4 *publish,
        four (&beside)[2])
{
    const place w = unpack(b, there);
    const four zero = all4(0);
    const bool is_there = w.p < b.positions;
    const ec_fdtd_domain *d = &room_of()->now;
    const float *from = field_of(b, (side ? 0 : 3 * b.component) + l * b.line +
                                        4 * (is_there ? w.p : b.positions - 1));
    const bool ends = side ? w.k + 1 >= s.nodes[2] : w.k == 0;
    const int over = (side ? 4 : -4) * b.quads, other = side ? l + 1 : l - 1;
    reads r;

    r.x = load4(from);
    r.y = load4(from + b.component);
    r.z = load4(from + 2 * b.component);
    r.xk = ends ? zero : load4(from + over);
    r.yk = ends ? zero : load4(from + b.component + over);
    r.xj = r.zj = zero;
    if (carried) {
        r.xj = beside[0];
        r.zj = beside[1];
    } else if (beyond) {
        if (is_there) {
            r.xj = load4_far(beyond + w.p);
            r.zj = load4_far(beyond + b.positions + w.p);
        }
    } else if (other >= 0 && other < b.n) {
        r.xj = load4(from + (other - l) * b.line);
        r.zj = load4(from + 2 * b.component + (other - l) * b.line);
    }
    beside[0] = r.x;
    beside[1] = r.z;
    const bool row_ends = !is_there || w.quad == (side ? b.quads - 1 : 0);
    if (side) {
        r.yi = four{{r.y.v[1], r.y.v[2], r.y.v[3], next_x(from + b.component, r.y, row_ends)}};
        r.zi = four{{r.z.v[1], r.z.v[2], r.z.v[3], next_x(from + 2 * b.component, r.z, row_ends)}};
    } else {
        r.yi = four{{last_x(from + b.component, r.y, row_ends), r.y.v[0], r.y.v[1], r.y.v[2]}};
        r.zi = four{{last_x(from + 2 * b.component, r.z, row_ends), r.z.v[0], r.z.v[1], r.z.v[2]}};
    }
    if (!is_there)
        return;
    r.ix = load4(table_of(s, b, lines, side, INVERSE, 0) + 4 * w.quad);
    r.iy = table_of(s, b, lines, side, INVERSE, 1)[l];
    r.iz = table_of(s, b, lines, side, INVERSE, 2)[w.k];
    float *to = field_of(b, (side ? 3 * b.component : 0) + l * b.line + 4 * w.p);
    const int64_t component = s.plane * (s.n[2] + 1);
    const int64_t at = plain ? 0 : ec_fdtd_at(&s, 4 * w.quad, b.first + l, w.k);
#pragma unroll
    for (int t = 0; t < 3; t++) {
        four u, v, ca = all4(1), cb = all4(b.h);
        if (!side && (plain || d->index)) {
#pragma unroll
            for (int m = 0; m < 4; m++) {
                const float2 ab = room_of()->pair[index[t] >> (8 * m) & 255];
                ca.v[m] = ab.x;
                cb.v[m] = ab.y;
            }
        } else if (!plain && (!side || d->hb)) {
            ca = load4((const float *)(side ? d->ha : d->a) + t * component + at);
            cb = load4((const float *)(side ? d->hb : d->b) + t * component + at);
        }
        curl(r, t, side, &u, &v);
        four f = advance4(ca, cb, u, v, load4(to + t * b.component));
        if (pml)
            absorb(s, b, lines, side, t, l, w, cb, u, v, &f);
        store4(to + t * b.component, f);
        if (publish && t != 1)
            store4_far(publish + (t ? b.positions : 0) + w.p, f);
    }
}

/* Takes the slab's fields from memory, or brings them back. */
static __device__ void move_fields(const ec_fdtd_shape &s, const slab &b, bool back)
{
    const int line = b.n * b.positions;

    for (int e = (int)threadIdx.x; e < 6 * line; e += (int)blockDim.x) {
        const int c = e / line, l = (e - c * line) / b.positions,
                  p = e - c * line - l * b.positions;
        const int k = p / b.quads;
        float *there = (float *)room_of()->now.field + c * s.field + (k + 1) * s.plane +
                       (int64_t)(b.first + l) * s.pitch + 4 * (p - k * b.quads);
        float *here = field_of(b, c * b.component + l * b.line + 4 * p);
        if (back)
            store4(there, load4(here));
        else
            store4(here, load4(there));
    }
}

/* Sources, then branches, then what the terms see: between barriers, by blocks that have some. */
static __device__ void do_parts(const slab &b, double wave, bool driven, float *seen)
{
    chip_room *room = room_of();
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x;

    if (driven && room->n_sources > 0) {
        for (int i = thread; i < room->n_sources; i += threads) {
            const chip_source q = room->source[i];
            float *f = field_of(b, q.at);
            *f = *f + q.b * (float)(q.scale * wave);
        }
        __syncthreads();
    }
    if (room->n_branches > 0) {
        for (int i = thread; i < room->n_branches; i += threads) {
            chip_branch *q = room->branch + i;
            float *f = field_of(b, q->at);
            *f = (float)ec_fdtd_branch_step(room->now.branch + q->of, q->state, (double)*f, q->b);
        }
        __syncthreads();
    }
    for (int i = thread; i < room->n_terms; i += threads)
        seen[room->term[i].of] = *field_of(b, room->term[i].at);
}

/* Lines that blocks show each other: Hx, Hz of the last one of a block, then Ex, Ez of its first. */
static __device__ __forceinline__ float4 *halo_of(const ec_fdtd_steps_args &args, const slab &b,
                                                  int block, int side)
{
    return (float4 *)args.chip.halo + (int64_t)(block * 4 + (side ? 0 : 2)) * b.positions;
}

static __device__ __forceinline__ uint32_t *flag_of(const ec_fdtd_steps_args &args, int block,
                                                    int side)
{
    return args.chip.flag + 2 * block + side;
}

/* The slab's first line of E for the block before. */
static __device__ void publish_e(const ec_fdtd_steps_args &args, const slab &b)
{
    float4 *to = halo_of(args, b, (int)blockIdx.x, 0);
    const int lane = (int)threadIdx.x % WARP;

    for (int part = (int)threadIdx.x / WARP; part < b.parts; part += (int)blockDim.x / WARP) {
        const int p = part * WARP + lane;
        if (p < b.positions) {
            store4_far(to + p, load4(field_of(b, 4 * p)));
            store4_far(to + b.positions + p, load4(field_of(b, 2 * b.component + 4 * p)));
        }
        count_up(flag_of(args, (int)blockIdx.x, 0));
    }
}

/* The warps of a block are groups with `share` of its lines each; a warp has `each` parts of these, all lines of
 * one part after another, so that it has what it needs of the line before at hand. plain: all domains have
 * indices of pairs and nothing magnetic. */
template <bool pml, bool plain, int each, int share>
static __global__ void __launch_bounds__(WARP *MOST_WARPS, 1)
    chip_steps(const __grid_constant__ ec_fdtd_steps_args args)
{
    const ec_fdtd_shape &s = args.shape;
    const ec_fdtd_chip &chip = args.chip;
    chip_room *room = room_of();
    const ec_fdtd_domain *d = &room->now;
    const int me = (int)blockIdx.x, team = me / chip.blocks, block = me - team * chip.blocks;
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    packed where[each];
    slab b;

    b.table = in_tables(s, chip.lines, 3);
    b.field = (int)(sizeof *room / sizeof(float)) + 2 * TABLES * b.table;
    b.quads = (s.nodes[0] + 3) / 4;
    b.positions = b.quads * s.nodes[2];
    b.parts = (b.positions + WARP - 1) / WARP;
    b.line = 4 * b.positions;
    b.component = chip.lines * b.line;
    b.first = block * chip.lines;
    b.n = s.nodes[1] - b.first < chip.lines ? s.nodes[1] - b.first : chip.lines;
    const int across = chip.warps / chip.groups, group = warp / across;
#pragma unroll
    for (int e = 0; e < each; e++) {
        const int part = warp - group * across + e * across, p = part * WARP + lane;
        const int quad = p % b.quads, k = p / b.quads;
        const int slab_x = s.slab[0] ? ec_fdtd_slab(&s, 0, 4 * quad) : -1;
        const int slab_z = s.slab[2] ? ec_fdtd_slab(&s, 2, k) : -1;
        where[e].line = part < b.parts ? group * share : chip.lines;
        where[e].at = k << 16 | quad;
        where[e].slabs = (slab_z + 1) << 16 | (slab_x + 1);
    }
    const bool has_last = block > 0, has_next = block + 1 < chip.blocks;
    uint32_t e_count = 0, h_count = 0; /* what the neighbours' flags come to */

    choose_domains(args, team);
    for (int m = 0; m < room->n_domains; m++) {
        uint32_t index[each][share][3];
        take_domain(s, b, chip.lines, args.domain + room->domain[m]);
        b.h = (float)d->h;
        choose_parts(s, b);
        move_fields(s, b, false);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int t = 0; t < share; t++)
                for (int c = 0; c < 3 && d->index; c++) {
                    const place w = unpack(b, where[e]);
                    if (w.line + t < b.n && w.p < b.positions)
                        index[e][t][c] = *(const uint32_t *)(d->index + c * s.plane * (s.n[2] + 1) +
                                                             ec_fdtd_at(&s, 4 * w.quad,
                                                                        b.first + w.line + t, w.k));
                }
        const int end = args.first + args.count < d->steps ? args.first + args.count : d->steps;
        const bool has_parts = room->n_sources + room->n_branches + room->n_terms > 0;
        four beside[2];
        __syncthreads();
        publish_e(args, b);
        e_count += (uint32_t)b.parts;
        for (int step = args.first; step < end; step++) {
            const bool driven = d->step + step < d->n_wave;
            const double wave = driven && has_parts ? d->wave[d->step + step] : 0;
#pragma unroll
            for (int e = 0; e < each; e++) {
                bool carried = false;
#pragma unroll
                for (int t = share - 1; t >= 0; t--) {
                    const int l = where[e].line + t;
                    const bool edge = l == b.n - 1 && has_next;
                    if (l >= b.n)
                        continue;
                    if (edge)
                        wait_for(flag_of(args, me + 1, 0), e_count);
                    do_line<pml, plain>(s, b, chip.lines, 1, l, where[e], NULL, carried,
                                        edge ? halo_of(args, b, me + 1, 0) : NULL,
                                        edge ? halo_of(args, b, me, 1) : NULL, beside);
                    if (edge)
                        count_up(flag_of(args, me, 1));
                    carried = true;
                }
            }
            e_count += (uint32_t)b.parts;
            h_count += (uint32_t)b.parts;
            __syncthreads();
#pragma unroll
            for (int e = 0; e < each; e++)
#pragma unroll
                for (int t = 0; t < share; t++) {
                    const int l = where[e].line + t;
                    const bool edge = l == 0 && has_last, shows = edge && !has_parts;
                    if (l >= b.n)
                        continue;
                    if (edge)
                        wait_for(flag_of(args, me - 1, 1), h_count);
                    do_line<pml, plain>(s, b, chip.lines, 0, l, where[e], index[e][t], t > 0,
                                        edge ? halo_of(args, b, me - 1, 1) : NULL,
                                        shows ? halo_of(args, b, me, 0) : NULL, beside);
                    if (shows)
                        count_up(flag_of(args, me, 0));
                }
            __syncthreads();
            if (!has_parts)
                continue;
            do_parts(b, wave, driven, d->seen + (int64_t)step * (d->n_h_terms + d->n_e_terms));
            if (has_last)
                publish_e(args, b);
            __syncthreads();
        }
        move_fields(s, b, true);
        for (int i = (int)threadIdx.x; i < room->n_branches; i += (int)blockDim.x)
            for (int t = 0; t < EC_FDTD_BRANCH_STATE; t++)
                d->branch_state[(int64_t)room->branch[i].of * EC_FDTD_BRANCH_STATE + t] =
                    room->branch[i].state[t];
        __syncthreads();
    }
}

/* Probes, from what their terms saw: a warp a step, the sums those of port_pass in fdtd_kernels.cu. */
static __global__ void __launch_bounds__(REDUCE)
    chip_probes(const __grid_constant__ ec_fdtd_steps_args args)
{
    const ec_fdtd_domain *d = args.domain + blockIdx.x;
    const int lane = (int)threadIdx.x % WARP;
    const int step = args.first + (int)(blockIdx.y * REDUCE + threadIdx.x) / WARP;

    if (step >= d->steps || step >= args.first + args.count)
        return;
    const float *seen = d->seen + (int64_t)step * (d->n_h_terms + d->n_e_terms);
    for (int probe = 0; probe < args.n_probes; probe++) {
        double sum = 0;
        for (int side = 0; side < 2; side++) {
            const ec_fdtd_term *term = side ? d->e_term : d->h_term;
            const float *x = side ? seen + d->n_h_terms : seen;
            const int n = side ? d->n_e_terms : d->n_h_terms;
            for (int i = lane; i < n; i += WARP)
                if (term[i].probe == probe)
                    sum += term[i].weight * (double)x[i];
        }
        for (int half = WARP / 2; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, half);
        if (lane == 0)
            d->series[(int64_t)probe * args.window + step] = sum;
    }
}

typedef void (*chip_kernel)(const ec_fdtd_steps_args);

template <bool pml, bool plain> static chip_kernel kernel_of(int each, int share)
{
    switch (10 * each + share) {
    case 11:
        return chip_steps<pml, plain, 1, 1>;
    case 12:
        return chip_steps<pml, plain, 1, 2>;
    case 13:
        return chip_steps<pml, plain, 1, 3>;
    case 14:
        return chip_steps<pml, plain, 1, 4>;
    case 21:
        return chip_steps<pml, plain, 2, 1>;
    case 22:
        return chip_steps<pml, plain, 2, 2>;
    case 31:
        return chip_steps<pml, plain, 3, 1>;
    default:
        return NULL;
    }
}

static bool absorbs(const ec_fdtd_shape &s)
{
    return s.slab[0] || s.slab[1] || s.slab[2];
}

static chip_kernel kernel_of(const ec_fdtd_shape *s, const ec_fdtd_chip *c)
{
    if (absorbs(*s))
        return c->plain ? kernel_of<true, true>(c->each, c->share)
                        : kernel_of<true, false>(c->each, c->share);
    return c->plain ? kernel_of<false, true>(c->each, c->share)
                    : kernel_of<false, false>(c->each, c->share);
}

/* The number of lines a block for which the domains take the least time: passes of a slab's warps, and what a
 * step costs beside them, by the rounds of the teams. */
extern "C" int ec_cuda_fdtd_chip(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_fdtd_chip_args *a = (const ec_fdtd_chip_args *)args;
    const ec_fdtd_shape *s = &a->shape;
    const int64_t positions = (int64_t)((s->nodes[0] + 3) / 4) * s->nodes[2];
    const int64_t parts = (positions + WARP - 1) / WARP;
    const int beside = 24; /* what a step costs, in warps' passes */
    int device = 0, processors = 0, most = 0, can = 0;
    int64_t best = INT64_MAX;

    (void)stream, (void)lanes, (void)ny;
    a->chip->lines = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device);
    if (error != cudaSuccess || !can)
        return (int)error;
    for (int lines = 1; lines <= s->nodes[1]; lines++) {
        const int64_t bytes = (int64_t)sizeof(chip_room) + 96 * lines * positions +
                              2 * TABLES * (int64_t)sizeof(float) * in_tables(*s, (int)lines, 3);
        /* Groups of warps, if a line's parts leave room for several; else several parts a warp. */
        const int64_t blocks = (s->nodes[1] + lines - 1) / lines, work = lines * parts;
        const int64_t each = (parts + MOST_WARPS - 1) / MOST_WARPS;
        const int64_t across = (parts + each - 1) / each;
        const int64_t room = MOST_WARPS / across < lines ? MOST_WARPS / across : lines;
        const int64_t share = (lines + room - 1) / room, groups = (lines + share - 1) / share;
        if (bytes > most)
            break;
        ec_fdtd_chip c = *a->chip;
        c.each = (int32_t)each;
        c.share = (int32_t)share;
        if (blocks > processors || !kernel_of(s, &c))
            continue;
        const int64_t teams = processors / blocks < a->domains ? processors / blocks : a->domains;
        const int64_t cost = (a->domains + teams - 1) / teams * (work + beside);
        if (cost >= best)
            continue;
        best = cost;
        a->chip->lines = lines;
        a->chip->blocks = (int32_t)blocks;
        a->chip->teams = (int32_t)teams;
        a->chip->each = (int32_t)each;
        a->chip->share = (int32_t)share;
        a->chip->groups = (int32_t)groups;
        a->chip->warps = (int32_t)(groups * across);
        a->chip->bytes = (int32_t)bytes;
    }
    *a->halo_bytes = (size_t)(processors * 4 * positions) * sizeof(float4);
    *a->flag_bytes = (size_t)(2 * processors) * sizeof(uint32_t);
    if (a->chip->lines > 0)
        error = cudaFuncSetAttribute((const void *)kernel_of(s, a->chip),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    return (int)error;
}

extern "C" int ec_cuda_fdtd_chip_steps(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_fdtd_steps_args *a = (const ec_fdtd_steps_args *)args;
    const ec_fdtd_chip *c = &a->chip;
    const unsigned groups = (unsigned)((a->count * WARP + REDUCE - 1) / REDUCE);
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t how = {};

    (void)lanes, (void)ny;
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    how.gridDim = dim3((unsigned)(c->teams * c->blocks));
    how.blockDim = dim3((unsigned)(c->warps * WARP));
    how.dynamicSmemBytes = (size_t)c->bytes;
    how.stream = (cudaStream_t)stream;
    how.attrs = &together;
    how.numAttrs = 1;
    cudaError_t error = cudaMemsetAsync(
        c->flag, 0, (size_t)(2 * c->teams * c->blocks) * sizeof *c->flag, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaLaunchKernelEx(&how, kernel_of(&a->shape, c), *a);
    if (error == cudaSuccess && a->n_probes > 0)
        chip_probes<<<dim3((unsigned)a->n, groups), REDUCE, 0, (cudaStream_t)stream>>>(*a);
    return error != cudaSuccess ? (int)error : (int)cudaPeekAtLastError();
}
