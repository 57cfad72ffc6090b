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

enum { WARP = 32, MOST_WARPS = 24, MOST_TURNS = 4, REDUCE = 256 };

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

/* A thread's four at one of its turns: line o of its block, counted from the one that comes first, x from
 * 4 quad, z k; p: k rows of quads and quad, or beyond the line's positions. */
typedef struct place {
    int o, quad, k, p;
} place;

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

/* Floats for an axis' inverse spacings. */
static __host__ __device__ int room_of_axis(const ec_fdtd_shape &s, int lines, int axis)
{
    return ((axis == 0 ? s.pitch : axis == 1 ? lines : s.n[2] + 1) + 3) / 4 * 4;
}

/* What a thread knows of its block's slab. */
typedef struct slab {
    const ec_fdtd_domain *d;
    /* [E, H] inverse spacings of x, of the slab's y, of z, each by whole fours */
    float *id[2][3];
    float *field;  /* [6][lines][positions] fours */
    int component; /* floats from one to the next */
    int line;      /* the same, of lines */
    int quads;     /* a row */
    int positions; /* a line */
    int parts;     /* warps a line */
    int first, n;  /* lines it has */
    int lane;
} slab;

static __device__ uint32_t acquire(const uint32_t *from)
{
    uint32_t x;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
    return x;
}

/* All lanes: what the others wrote before they counted is there then. */
static __device__ void wait_for(const uint32_t *count, uint32_t wanted, int lane)
{
    if (lane == 0)
        while (acquire(count) < wanted)
            ;
    __syncwarp();
}

static __device__ void count_up(uint32_t *count, int lane)
{
    __syncwarp();
    if (lane == 0)
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

/* Where an element of the domain is in the block's fields, -1: in another one's. */
static __device__ int32_t place_in(const ec_fdtd_shape &s, const slab &b, int64_t index)
{
    const int c = (int)(index / s.field);
    const int64_t in = index - c * s.field - s.plane;
    const int k = (int)(in / s.plane), rest = (int)(in - k * s.plane);
    const int j = rest / s.pitch, l = j - b.first;

    return l < 0 || l >= b.n ? -1
                             : c * b.component + l * b.line + k * s.pitch + (rest - j * s.pitch);
}

/* The domains of this block's team, in their order: every n_teams-th of those that have steps to do. */
static __device__ void choose_domains(const ec_fdtd_steps_args &args, int team, chip_room *room)
{
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

/* The domain itself and its spacings. */
static __device__ void take_domain(const ec_fdtd_shape &s, const slab &b,
                                   const ec_fdtd_domain *domain, chip_room *room)
{
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x;

    for (int i = thread; i < (int)(sizeof *domain / sizeof(uint64_t)); i += threads)
        ((uint64_t *)&room->now)[i] = ((const uint64_t *)domain)[i];
    __syncthreads();
    const ec_fdtd_domain *d = &room->now;
    for (int side = 0; side < 2; side++) {
        const void *const *id = side ? d->id_h : d->id_e;
        for (int i = thread; i < s.pitch; i += threads)
            b.id[side][0][i] = ((const float *)id[0])[i];
        for (int i = thread; i < b.n; i += threads)
            b.id[side][1][i] = ((const float *)id[1])[b.first + i];
        for (int i = thread; i <= s.n[2]; i += threads)
            b.id[side][2][i] = ((const float *)id[2])[i];
    }
}

/* What of a domain's lists lies in this block. */
static __device__ void choose_parts(const ec_fdtd_shape &s, const slab &b, chip_room *room)
{
    const ec_fdtd_domain *d = b.d;
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

/* Of an element four's neighbours along x: the nearer one of the next, or last, lane. */
static __device__ float next_x(const float *at, const four &q, int lane)
{
    const float x = __shfl_down_sync(0xffffffffu, q.v[0], 1);
    return lane == WARP - 1 ? at[4] : x;
}

static __device__ float last_x(const float *at, const four &q, int lane)
{
    const float x = __shfl_up_sync(0xffffffffu, q.v[3], 1);
    return lane == 0 ? at[-1] : x;
}

/* H at a place of line l. `beyond`: Ex, then Ez of the line behind the slab's last one, or NULL for zeros;
 * publish: where Hx, then Hz go, or NULL. */
template <bool pml>
static __device__ __forceinline__ void h_line(const ec_fdtd_shape &s, const slab &b, int l,
                                              const place &w, const float4 *beyond, float4 *publish)
{
    const four zero = all4(0);
    const bool is_there = w.p < b.positions, top = w.k >= s.n[2];
    float *ex = b.field + l * b.line + 4 * (is_there ? w.p : b.positions - 1);
    float *ey = ex + b.component, *ez = ey + b.component, *h = ez + b.component;
    const ec_fdtd_domain *d = b.d;

    const four x0 = load4(ex), y0 = load4(ey), z0 = load4(ez);
    const four x1 = top ? zero : load4(ex + s.pitch), y1 = top ? zero : load4(ey + s.pitch);
    four xj = zero, zj = zero;
    if (l + 1 < b.n) {
        xj = load4(ex + b.line);
        zj = load4(ez + b.line);
    } else if (beyond && is_there) {
        xj = load4_far(beyond + w.p);
        zj = load4_far(beyond + b.positions + w.p);
    }
    const four yi = four{{y0.v[1], y0.v[2], y0.v[3], next_x(ey, y0, b.lane)}};
    const four zi = four{{z0.v[1], z0.v[2], z0.v[3], next_x(ez, z0, b.lane)}};
    if (!is_there)
        return;
    const int j = b.first + l, i = 4 * w.quad;
    const four ix = load4(b.id[1][0] + i), iy = all4(b.id[1][1][l]), dz = all4(b.id[1][2][w.k]);
    const int slab_x = pml && s.slab[0] ? ec_fdtd_slab(&s, 0, i) : -1;
    const int slab_z = pml && s.slab[2] ? ec_fdtd_slab(&s, 2, w.k) : -1;
    const quad q = {d, 0, i, j, 0, 0, pml && s.slab[1] ? ec_fdtd_slab(&s, 1, j) : -1};
    const float *hb = (const float *)d->hb;
    const int64_t component = s.plane * (s.n[2] + 1), at = ec_fdtd_at(&s, i, j, w.k);
    const four u[3] = {slope(zj, z0, iy), slope(x1, x0, dz), slope(yi, y0, ix)};
    const four v[3] = {slope(y1, y0, dz), slope(zi, z0, ix), slope(xj, x0, iy)};
#pragma unroll
    for (int t = 0; t < 3; t++) {
        float *f = h + t * b.component;
        const four ha = hb ? load4((const float *)d->ha + t * component + at) : all4(1);
        const four hw = hb ? load4(hb + t * component + at) : all4((float)d->h);
        const four r = advance4<pml>(s, q, 1, t, w.k, slab_x, slab_z, ha, hw, u[t], v[t], load4(f));
        store4(f, r);
        if (publish && t != 1)
            store4_far(publish + (t ? b.positions : 0) + w.p, r);
    }
}

/* The same of E; index: of its pairs, where there are such. */
template <bool pml>
static __device__ __forceinline__ void
e_line(const ec_fdtd_shape &s, const slab &b, const chip_room *room, int l, const place &w,
       const uint32_t *index, const float4 *beyond, float4 *publish)
{
    const four zero = all4(0);
    const bool is_there = w.p < b.positions, low = w.k == 0;
    float *e = b.field + l * b.line + 4 * (is_there ? w.p : b.positions - 1);
    const float *hx = e + 3 * b.component, *hy = hx + b.component, *hz = hy + b.component;
    const ec_fdtd_domain *d = b.d;

    const four x1 = load4(hx), y1 = load4(hy), z1 = load4(hz);
    const four x0 = low ? zero : load4(hx - s.pitch), y0 = low ? zero : load4(hy - s.pitch);
    four xj = zero, zj = zero;
    if (l > 0) {
        xj = load4(hx - b.line);
        zj = load4(hz - b.line);
    } else if (beyond && is_there) {
        xj = load4_far(beyond + w.p);
        zj = load4_far(beyond + b.positions + w.p);
    }
    const float yl = last_x(hy, y1, b.lane), zl = last_x(hz, z1, b.lane);
    const four yi = four{{w.quad == 0 ? 0 : yl, y1.v[0], y1.v[1], y1.v[2]}};
    const four zi = four{{w.quad == 0 ? 0 : zl, z1.v[0], z1.v[1], z1.v[2]}};
    if (!is_there)
        return;
    const int j = b.first + l, i = 4 * w.quad;
    const four ix = load4(b.id[0][0] + i), iy = all4(b.id[0][1][l]), dz = all4(b.id[0][2][w.k]);
    const int slab_x = pml && s.slab[0] ? ec_fdtd_slab(&s, 0, i) : -1;
    const int slab_z = pml && s.slab[2] ? ec_fdtd_slab(&s, 2, w.k) : -1;
    const quad q = {d, 0, i, j, 0, 0, pml && s.slab[1] ? ec_fdtd_slab(&s, 1, j) : -1};
    const int64_t component = s.plane * (s.n[2] + 1), at = ec_fdtd_at(&s, i, j, w.k);
    const four u[3] = {slope(z1, zj, iy), slope(x1, x0, dz), slope(y1, yi, ix)};
    const four v[3] = {slope(y1, y0, dz), slope(z1, zi, ix), slope(x1, xj, iy)};
#pragma unroll
    for (int t = 0; t < 3; t++) {
        float *f = e + t * b.component;
        four ea, eb;
        if (d->index) {
#pragma unroll
            for (int m = 0; m < 4; m++) {
                const float2 ab = room->pair[index[t] >> (8 * m) & 255];
                ea.v[m] = ab.x;
                eb.v[m] = ab.y;
            }
        } else {
            ea = load4((const float *)d->a + t * component + at);
            eb = load4((const float *)d->b + t * component + at);
        }
        const four r = advance4<pml>(s, q, 0, t, w.k, slab_x, slab_z, ea, eb, u[t], v[t], load4(f));
        store4(f, r);
        if (publish && t != 1)
            store4_far(publish + (t ? b.positions : 0) + w.p, r);
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
        float *there = (float *)b.d->field + c * s.field + (k + 1) * s.plane +
                       (int64_t)(b.first + l) * s.pitch + 4 * (p - k * b.quads);
        float *here = b.field + c * b.component + l * b.line + 4 * p;
        if (back)
            store4(there, load4(here));
        else
            store4(here, load4(there));
    }
}

/* Sources, then branches, then what the terms see: between barriers, by blocks that have some. */
static __device__ void do_parts(const slab &b, chip_room *room, double wave, bool driven,
                                float *seen)
{
    const ec_fdtd_domain *d = b.d;
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x;

    if (driven && room->n_sources > 0) {
        for (int i = thread; i < room->n_sources; i += threads) {
            const chip_source q = room->source[i];
            b.field[q.at] = b.field[q.at] + q.b * (float)(q.scale * wave);
        }
        __syncthreads();
    }
    if (room->n_branches > 0) {
        for (int i = thread; i < room->n_branches; i += threads) {
            chip_branch *q = room->branch + i;
            b.field[q->at] = (float)ec_fdtd_branch_step(d->branch + q->of, q->state,
                                                        (double)b.field[q->at], q->b);
        }
        __syncthreads();
    }
    for (int i = thread; i < room->n_terms; i += threads)
        seen[room->term[i].of] = b.field[room->term[i].at];
}

/* The slab's first line of E for the block before. */
static __device__ void publish_e(const slab &b, float4 *to, uint32_t *flag)
{
    for (int part = (int)threadIdx.x / WARP; part < b.parts; part += (int)blockDim.x / WARP) {
        const int p = part * WARP + b.lane;
        if (p < b.positions) {
            store4_far(to + p, load4(b.field + 4 * p));
            store4_far(to + b.positions + p, load4(b.field + 2 * b.component + 4 * p));
        }
        count_up(flag, b.lane);
    }
}

/* The first of a thread's turns becomes its last: registers cannot be chosen by a loop's counter. */
template <int turns> static __device__ __forceinline__ void turn(uint32_t (&x)[turns])
{
    const uint32_t first = x[0];
#pragma unroll
    for (int r = 0; r + 1 < turns; r++)
        x[r] = x[r + 1];
    x[turns - 1] = first;
}

static __device__ __forceinline__ place unpack(const slab &b, uint32_t packed)
{
    const int quad = (int)(packed & 0xfff), k = (int)(packed >> 12 & 0xfff);

    return place{(int)(packed >> 24), quad, k, k * b.quads + quad};
}

template <bool pml, int turns>
static __global__ void __launch_bounds__(WARP *MOST_WARPS, 1)
    chip_steps(const __grid_constant__ ec_fdtd_steps_args args)
{
    extern __shared__ float4 memory[];
    chip_room *room = (chip_room *)memory;
    const ec_fdtd_shape &s = args.shape;
    const ec_fdtd_chip &chip = args.chip;
    const int team = (int)blockIdx.x / chip.blocks, block = (int)blockIdx.x - team * chip.blocks;
    uint32_t where[turns], index[3][turns];
    slab b;

    b.quads = s.pitch / 4;
    b.positions = b.quads * (s.n[2] + 1);
    b.parts = (b.positions + WARP - 1) / WARP;
    b.line = 4 * b.positions;
    b.component = chip.lines * b.line;
    float *more = (float *)(memory + sizeof(chip_room) / sizeof *memory);
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++) {
            b.id[side][axis] = more;
            more += room_of_axis(s, chip.lines, axis);
        }
    b.field = more;
    b.d = &room->now;
    b.first = block * chip.lines;
    b.n = s.rows - b.first < chip.lines ? s.rows - b.first : chip.lines;
    b.lane = (int)threadIdx.x % WARP;
#pragma unroll
    for (int r = 0; r < turns; r++) {
        const int part = (int)threadIdx.x / WARP + r * ((int)blockDim.x / WARP);
        const int o = part / b.parts, p = (part - o * b.parts) * WARP + b.lane;
        where[r] = (uint32_t)(o << 24 | p / b.quads << 12 | p % b.quads);
    }
    const bool has_last = block > 0, has_next = block + 1 < chip.blocks;
    /* Lines that blocks show each other: Hx, Hz of the last one, then Ex, Ez of the first. */
    float4 *my_h = (float4 *)chip.halo + (int64_t)blockIdx.x * 4 * b.positions;
    float4 *my_e = my_h + 2 * b.positions;
    const float4 *last_h = has_last ? my_h - 4 * b.positions : NULL;
    const float4 *next_e = has_next ? my_e + 4 * b.positions : NULL;
    uint32_t *e_flag = chip.flag + 2 * blockIdx.x, *h_flag = e_flag + 1;
    uint32_t e_count = 0, h_count = 0; /* what the neighbours' flags come to */

    choose_domains(args, team, room);
    for (int m = 0; m < room->n_domains; m++) {
        const ec_fdtd_domain *d = b.d;
        take_domain(s, b, args.domain + room->domain[m], room);
        choose_parts(s, b, room);
        move_fields(s, b, false);
#pragma unroll
        for (int r = 0; r < turns; r++) {
            const place w = unpack(b, where[r]);
            if (d->index && w.o < b.n && w.p < b.positions)
                for (int t = 0; t < 3; t++)
                    index[t][r] =
                        *(const uint32_t *)(d->index + t * s.plane * (s.n[2] + 1) +
                                            ec_fdtd_at(&s, 4 * w.quad, b.first + w.o, w.k));
        }
        const int end = args.first + args.count < d->steps ? args.first + args.count : d->steps;
        const bool has_parts = room->n_sources + room->n_branches + room->n_terms > 0;
        __syncthreads();
        publish_e(b, my_e, e_flag);
        e_count += (uint32_t)b.parts;
        for (int step = args.first; step < end; step++) {
            const bool driven = d->step + step < d->n_wave;
            const double wave = driven && has_parts ? d->wave[d->step + step] : 0;
#pragma unroll 1
            for (int r = 0; r < turns; r++) {
                const place w = unpack(b, where[0]);
                const bool shown = w.o == 0 && has_next;
                turn<turns>(where);
                if (w.o >= b.n)
                    continue;
                if (shown)
                    wait_for(e_flag + 2, e_count, b.lane);
                h_line<pml>(s, b, b.n - 1 - w.o, w, shown ? next_e : NULL, shown ? my_h : NULL);
                if (shown)
                    count_up(h_flag, b.lane);
            }
            e_count += (uint32_t)b.parts;
            h_count += (uint32_t)b.parts;
            __syncthreads();
#pragma unroll 1
            for (int r = 0; r < turns; r++) {
                const place w = unpack(b, where[0]);
                const uint32_t of[3] = {index[0][0], index[1][0], index[2][0]};
                const bool needs = w.o == 0 && has_last, shown = needs && !has_parts;
                turn<turns>(where);
                turn<turns>(index[0]);
                turn<turns>(index[1]);
                turn<turns>(index[2]);
                if (w.o >= b.n)
                    continue;
                if (needs)
                    wait_for(h_flag - 2, h_count, b.lane);
                e_line<pml>(s, b, room, w.o, w, of, needs ? last_h : NULL, shown ? my_e : NULL);
                if (shown)
                    count_up(e_flag, b.lane);
            }
            __syncthreads();
            if (!has_parts)
                continue;
            do_parts(b, room, wave, driven,
                     d->seen + (int64_t)step * (d->n_h_terms + d->n_e_terms));
            if (has_last)
                publish_e(b, my_e, e_flag);
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

static chip_kernel kernel_of(bool pml, int turns)
{
    static const chip_kernel all[2][MOST_TURNS] = {
        {chip_steps<false, 1>, chip_steps<false, 2>, chip_steps<false, 3>, chip_steps<false, 4>},
        {chip_steps<true, 1>, chip_steps<true, 2>, chip_steps<true, 3>, chip_steps<true, 4>}};
    return all[pml][turns - 1];
}

static bool absorbs(const ec_fdtd_shape *s)
{
    return s->slab[0] || s->slab[1] || s->slab[2];
}

/* The number of lines a block for which the domains take the least time: passes of a slab's warps, and what a
 * step costs beside them, by the rounds of the teams. */
extern "C" int ec_cuda_fdtd_chip(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_fdtd_chip_args *a = (const ec_fdtd_chip_args *)args;
    const ec_fdtd_shape *s = &a->shape;
    const int64_t positions = (int64_t)s->pitch / 4 * (s->n[2] + 1);
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
    for (int lines = 1; lines <= s->rows; lines++) {
        int64_t bytes = (int64_t)sizeof(chip_room) + 96 * lines * positions;
        for (int axis = 0; axis < 3; axis++)
            bytes += 2 * (int64_t)sizeof(float) * room_of_axis(*s, lines, axis);
        const int64_t blocks = (s->rows + lines - 1) / lines, work = lines * parts;
        if (bytes > most || work > MOST_WARPS * MOST_TURNS)
            break;
        if (blocks > processors)
            continue;
        const int64_t teams = processors / blocks < a->domains ? processors / blocks : a->domains;
        const int64_t cost = (a->domains + teams - 1) / teams * (work + beside);
        if (cost >= best)
            continue;
        best = cost;
        const int64_t turns = (work + MOST_WARPS - 1) / MOST_WARPS;
        a->chip->lines = lines;
        a->chip->blocks = (int32_t)blocks;
        a->chip->teams = (int32_t)teams;
        a->chip->turns = (int32_t)turns;
        a->chip->warps = (int32_t)((work + turns - 1) / turns);
        a->chip->bytes = (int32_t)bytes;
    }
    *a->halo_bytes = (size_t)(processors * 4 * positions) * sizeof(float4);
    *a->flag_bytes = (size_t)(2 * processors) * sizeof(uint32_t);
    if (a->chip->lines > 0)
        error = cudaFuncSetAttribute((const void *)kernel_of(absorbs(s), a->chip->turns),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, a->chip->bytes);
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
        error = cudaLaunchKernelEx(&how, kernel_of(absorbs(&a->shape), c->turns), *a);
    if (error == cudaSuccess && a->n_probes > 0)
        chip_probes<<<dim3((unsigned)a->n, groups), REDUCE, 0, (cudaStream_t)stream>>>(*a);
    return error != cudaSuccess ? (int)error : (int)cudaPeekAtLastError();
}
