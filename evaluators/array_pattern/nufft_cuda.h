/* nufft_cuda.h: a batch of NUFFTs on a GPU, shared by nufft_cuda.c and nufft_kernels.cu.
 *
 * A set is one vector of one candidate: set q is vector q % vectors of candidate q / vectors. Sets
 * pass through staging buffers of a fixed number of fine grids, which one batched FFT transforms
 * whole, so that a set's bits do not depend on how many there are. In one dimension the grid has one
 * row.
 */
#ifndef EC_NUFFT_CUDA_H
#define EC_NUFFT_CUDA_H

#include "nufft.h"

EC_C_BEGIN

enum {
    EC_NUFFT_TILE_CELLS = 4096, /* of the grid, held in shared memory by a block */
    EC_NUFFT_TILE_SIDE = 64
};

typedef enum ec_nufft_stage {
    EC_NUFFT_PLACE,  /* type 3: middles; points and targets as cells and offsets, sorted by bins */
    EC_NUFFT_SPREAD, /* strengths (type 1 and 3) or modes (type 2) onto the fine grids */
    EC_NUFFT_FINISH, /* fine grids to modes (type 1), points or targets */
    EC_NUFFT_SUM     /* direct sums, instead of the last two */
} ec_nufft_stage;

/* Points in a grid; a candidate's buffers lie one after another. */
typedef struct ec_nufft_side {
    int32_t n;       /* points of a candidate */
    int32_t width;   /* of their window, cells */
    bool periodic;   /* cells wrap around; else the points lie within the grid */
    bool centred;    /* the middle is taken off first (type 3) */
    double scale[2]; /* a coordinate's turns, or cells where the grid is not periodic */
    int32_t fine[2]; /* cells, outer first */
    int32_t tile[2]; /* cells of a tile */
    int32_t bin[2];  /* cells of a bin */
    int32_t bins[2]; /* 0: the points stay in the order given */
    int32_t *record; /* [n][4]: outer and inner cell, which point, unused */
    void *offset;    /* [n][2] real: outer and inner 2 s - 1 */
    int32_t *start;  /* [bins + 1] */
    int32_t *bad;    /* [1] EC_CANDIDATE_* */
    double *middle;  /* [2] */
    size_t stride;   /* from candidate to candidate in the buffers: 1, or 0 if they share points */
} ec_nufft_side;

typedef struct ec_nufft_cuda_args {
    ec_nufft_args plan, inner; /* inner: type 3, the type 2 from the grid to the targets */
    ec_nufft_batch batch;
    ec_nufft_stage stage;
    ec_nufft_side side[2];        /* points; targets of type 3 */
    int32_t fine[2];              /* of the grids that are transformed */
    bool wide;                    /* sums of 64 bits, else of 32 */
    size_t first, count;          /* sets */
    size_t candidate, candidates; /* that these belong to */
    void *grid;                   /* [staged][fine], complex */
} ec_nufft_cuda_args;

typedef struct ec_nufft_cuda ec_nufft_cuda;

/* Buffers and the FFT for a plan's batches. The plan's tables must outlive it. */
int ec_nufft_cuda_create(ec_backend *backend, const ec_nufft_args *plan, double tolerance,
                         ec_nufft_cuda **cuda);
void ec_nufft_cuda_destroy(ec_nufft_cuda **cuda);
/* Enqueues the batch. */
int ec_nufft_cuda_run(ec_nufft_cuda *cuda, const ec_nufft_batch *batch);

EC_C_END
#endif
