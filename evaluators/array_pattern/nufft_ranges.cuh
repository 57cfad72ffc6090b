/* nufft_ranges.cuh: points sorted by bins of a grid, and those that can reach a tile of it. */
#ifndef EC_NUFFT_RANGES_CUH
#define EC_NUFFT_RANGES_CUH

#include "../../core/base.h"

#include <cuda_runtime.h>

enum { EC_RANGES_MAX = 32 };

/* Exclusive sums of count[0 .. n) in place by a block of THREADS; count[n] is the total. */
template <int THREADS> static __device__ void block_scan(int32_t *count, int32_t n, int32_t *slot)
{
    int32_t share = (n + THREADS - 1) / THREADS, from = (int32_t)threadIdx.x * share;
    int32_t to = from + share < n ? from + share : n, sum = 0;

    __syncthreads();
    for (int32_t k = from; k < to; k++)
        sum += count[k];
    slot[threadIdx.x] = sum;
    __syncthreads();
    for (int32_t step = 1; step < THREADS; step *= 2) {
        int32_t before = (int32_t)threadIdx.x >= step ? slot[threadIdx.x - step] : 0;
        __syncthreads();
        slot[threadIdx.x] += before;
        __syncthreads();
    }
    int32_t at = slot[threadIdx.x] - sum;
    for (int32_t k = from; k < to; k++) {
        int32_t here = count[k];
        count[k] = at;
        at += here;
    }
    if (threadIdx.x == THREADS - 1)
        count[n] = at;
    __syncthreads();
}

/* Stretches of the sorted points that can reach a tile, with the shift of their cells. */
typedef struct ec_ranges {
    int32_t count, total;
    int32_t first[EC_RANGES_MAX], before[EC_RANGES_MAX + 1];
    int32_t shift_a[EC_RANGES_MAX], shift_b[EC_RANGES_MAX];
} ec_ranges;

/* Bins, `bin` cells each, of the points whose first cell reaches cells [from, from + size): part 0
 * plainly, part 1 across the end of the period. false: there is no such part. */
static __device__ bool ranges_part(int part, int32_t from, int32_t size, int32_t fine,
                                   int32_t width, int32_t bin, int32_t *low, int32_t *high,
                                   int32_t *shift)
{
    int32_t first = from - width + 1;

    if (part == 0) {
        *low = (first > 0 ? first : 0) / bin;
        *high = (from + size - 1) / bin;
        *shift = -from;
        return true;
    }
    if (first >= 0)
        return false;
    *low = (fine + first > 0 ? fine + first : 0) / bin;
    *high = (fine - 1) / bin;
    *shift = -from - fine;
    return true;
}

/* start: [bins[0]][bins[1]] first points of the bins, and their number. width: cells of a window
 * along each axis. By one thread. */
static __device__ void ranges_find(const int32_t *start, const int32_t fine[2],
                                   const int32_t width[2], const int32_t bin[2],
                                   const int32_t bins[2], const int32_t from[2],
                                   const int32_t size[2], ec_ranges *ranges)
{
    int32_t n = 0, total = 0;

    for (int pa = 0; pa < 2; pa++) {
        int32_t low_a, high_a, shift_a;
        if (!ranges_part(pa, from[0], size[0], fine[0], width[0], bin[0], &low_a, &high_a,
                         &shift_a))
            continue;
        for (int32_t row = low_a; row <= high_a; row++) {
            for (int pb = 0; pb < 2; pb++) {
                int32_t low_b, high_b, shift_b;
                if (!ranges_part(pb, from[1], size[1], fine[1], width[1], bin[1], &low_b, &high_b,
                                 &shift_b))
                    continue;
                int32_t first = start[row * bins[1] + low_b];
                int32_t end = start[row * bins[1] + high_b + 1];
                if (first == end)
                    continue;
                ranges->first[n] = first;
                ranges->before[n] = total;
                ranges->shift_a[n] = shift_a;
                ranges->shift_b[n] = shift_b;
                total += end - first;
                n++;
            }
        }
    }
    ranges->before[n] = total;
    ranges->count = n;
    ranges->total = total;
}

/* Where point k of the ranges lies among the sorted ones; *range only grows with k. */
static __device__ __forceinline__ int32_t ranges_at(const ec_ranges *ranges, int32_t k,
                                                    int32_t *range)
{
    while (k >= ranges->before[*range + 1])
        (*range)++;
    return ranges->first[*range] + k - ranges->before[*range];
}

#endif
