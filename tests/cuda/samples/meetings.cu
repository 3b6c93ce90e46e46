/* Barriers, shuffles, votes and atomic operations, against what CUDA's programming guide says of
 * them; and functions of scalars. Runs on a GPU as well. */
#include "sample.h"

enum { THREADS = 96 };

struct lane_results {
    int shfl, up, down, exchanged, narrow, narrow_up, narrow_down, narrow_exchanged;
    unsigned ballot;
    int any, all, half;
    long long wide;
    double real;
};

static __global__ void lanes(lane_results *results)
{
    const unsigned all = 0xffffffff;
    int own = (int)threadIdx.x, lane = own % 32;
    lane_results &r = results[own];
    r.shfl = __shfl_sync(all, own, 37);
    r.up = __shfl_up_sync(all, own, 3);
    r.down = __shfl_down_sync(all, own, 3);
    r.exchanged = __shfl_xor_sync(all, own, 5);
    r.narrow = __shfl_sync(all, own, 9, 8);
    r.narrow_up = __shfl_up_sync(all, own, 2, 8);
    r.narrow_down = __shfl_down_sync(all, own, 2, 8);
    r.narrow_exchanged = __shfl_xor_sync(all, own, 8, 8);
    r.ballot = __ballot_sync(all, own % 3 == 0);
    r.any = __any_sync(all, own == 40);
    r.all = __all_sync(all, own >= 32);
    r.half = lane < 16 ? __shfl_sync(0x0000ffff, own, 3) : __shfl_sync(0xffff0000, own, 20);
    r.wide = __shfl_down_sync(all, (long long)own << 40, 1);
    r.real = __shfl_up_sync(all, 0.5 * own, 1);
}

static void check_lanes()
{
    lane_results *device = on_device<lane_results>(THREADS);
    DO(nova_put_launch(lanes, 1, THREADS, 0, 0, device));
    std::vector<lane_results> all = to_host(device, THREADS);
    for (int own = 0; own < THREADS; own++) {
        const lane_results &r = all[own];
        int lane = own % 32, warp = own - lane;
        CHECK(r.shfl == warp + 5);
        CHECK(r.up == (lane < 3 ? own : own - 3));
        CHECK(r.down == (lane > 28 ? own : own + 3));
        CHECK(r.exchanged == (own ^ 5));
        CHECK(r.narrow == warp + lane / 8 * 8 + 1);
        CHECK(r.narrow_up == (lane % 8 < 2 ? own : own - 2));
        CHECK(r.narrow_down == (lane % 8 > 5 ? own : own + 2));
        CHECK(r.narrow_exchanged == ((lane ^ 8) < lane / 8 * 8 + 8 ? (own ^ 8) : own));
        for (int i = 0; i < 32; i++)
            CHECK((r.ballot >> i & 1) == ((warp + i) % 3 == 0));
        CHECK((r.any != 0) == (warp == 32) && (r.all != 0) == (warp >= 32));
        CHECK(r.half == warp + (lane < 16 ? 3 : 20));
        CHECK(r.wide == (long long)(lane == 31 ? own : own + 1) << 40);
        CHECK(r.real == 0.5 * (lane == 0 ? own : own - 1));
    }
    DO(cudaFree(device));
}

/* Threads that end no longer count, neither at barriers nor in warps. */
static __global__ void survivors(int *counts)
{
    int own = (int)threadIdx.x;
    if (own % 2 == 1)
        return;
    counts[own] = __syncthreads_count(own < 40);
    counts[own + 1] = __syncthreads_and(own < 94) + 2 * __syncthreads_or(own == 94) +
                      4 * __popc(__ballot_sync(0xffffffff, 1));
}

static void check_survivors()
{
    int *counts = on_device<int>(THREADS);
    DO(nova_put_launch(survivors, 1, THREADS, 0, 0, counts));
    std::vector<int> all = to_host(counts, THREADS);
    for (int i = 0; i < THREADS; i += 2)
        CHECK(all[i] == 20 && all[i + 1] == 2 + 4 * 16);
    DO(cudaFree(counts));
}

struct atomics {
    int sum, difference, least, greatest, both, either, odd, swapped;
    unsigned count, wrapped;
    unsigned long long wide;
    long long least_wide;
    float real;
    double precise;
};

static __global__ void update(atomics *a)
{
    int own = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&a->sum, own);
    atomicSub(&a->difference, 1);
    atomicMin(&a->least, -own);
    atomicMax(&a->greatest, own);
    atomicAnd(&a->both, ~(1 << own % 8));
    atomicOr(&a->either, 1 << own % 8);
    atomicXor(&a->odd, 1 << own % 7);
    atomicExch(&a->swapped, own);
    atomicAdd(&a->count, 1u);
    atomicInc(&a->wrapped, 6u);
    atomicAdd(&a->wide, 1ull << 33);
    atomicMin(&a->least_wide, -((long long)own << 33));
    atomicAdd(&a->real, 0.5f);
    atomicAdd(&a->precise, 0.25);
}

static void check_atomics()
{
    const int blocks = 5, n = blocks * THREADS;
    atomics start = atomics(), *device;
    start.both = 0xffff;
    DO(cudaMalloc(&device, sizeof start));
    DO(cudaMemcpy(device, &start, sizeof start, cudaMemcpyHostToDevice));
    DO(nova_put_launch(update, blocks, THREADS, 0, 0, device));
    atomics a = to_host(device, 1)[0];
    CHECK(a.sum == n * (n - 1) / 2 && a.difference == -n);
    CHECK(a.least == 1 - n && a.greatest == n - 1);
    CHECK(a.both == 0xff00 && a.either == 0xff && a.count == (unsigned)n);
    int odd = 0;
    for (int i = 0; i < n; i++)
        odd ^= 1 << i % 7;
    CHECK(a.odd == odd && a.swapped >= 0 && a.swapped < n && a.wrapped == (unsigned)n % 7);
    CHECK(a.wide == (unsigned long long)n << 33);
    CHECK(a.least_wide == (long long)(1 - n) * (1ll << 33));
    CHECK(a.real == 0.5f * (float)n && a.precise == 0.25 * n);
    DO(cudaFree(device));
}

/* Shared memory in CUDA's own notation, of more than one dimension, too. */
static __global__ void transpose(int *x)
{
    __shared__ int tile[8][9];
    __shared__ int offset;
    extern __shared__ int more[];
    int row = (int)threadIdx.y, column = (int)threadIdx.x, place = row * 8 + column;
    if (place == 0)
        offset = (int)blockIdx.x * 64;
    __syncthreads();
    tile[row][column] = x[offset + place];
    more[place] = place;
    __syncthreads();
    x[offset + place] = tile[column][row] + more[63 - place];
}

static void check_transpose()
{
    std::vector<int> x(3 * 64);
    for (int i = 0; i < 3 * 64; i++)
        x[i] = i * 100;
    int *device = to_device(x);
    DO(nova_put_launch(transpose, 3, dim3(8, 8), 64 * sizeof(int), 0, device));
    std::vector<int> made = to_host(device, x.size());
    for (int i = 0; i < 3 * 64; i++)
        CHECK(made[i] == x[i / 64 * 64 + i % 8 * 8 + i / 8 % 8] + 63 - i % 64);
    DO(cudaFree(device));
}

static __global__ void scalars(int *wrong)
{
    *wrong = 0;
    if (__popc(0xf0f0u) != 8 || __popcll(~0ull) != 64 || __clz(1) != 31 || __clz(0) != 32 ||
        __clzll(1ll << 40) != 23 || __ffs(0) != 0 || __ffs(8) != 4 || __brev(1u) != 0x80000000u ||
        __brevll(2ull) != 1ull << 62)
        *wrong |= 1;
    if (__float_as_int(1.0f) != 0x3f800000 || __int_as_float(0x40000000) != 2.0f ||
        __double_as_longlong(1.0) != 0x3ff0000000000000ll ||
        __longlong_as_double(0x4000000000000000ll) != 2.0 || __float_as_uint(-0.0f) != 0x80000000u)
        *wrong |= 2;
    if (__umulhi(~0u, 2u) != 1u || __mulhi(-1, 1) != -1 || __umul64hi(~0ull, 4ull) != 3ull ||
        __mul64hi(-1ll, 1ll) != -1ll || __funnelshift_l(0x80000000u, 1u, 1u) != 3u)
        *wrong |= 4;
    float third = __fdiv_rn(1.0f, 3.0f);
    if (__fadd_rn(1.0f, 2.0f) != 3.0f || __fmaf_rn(third, 3.0f, -1.0f) == 0.0f ||
        __fsub_rn(__fmul_rn(third, 3.0f), 1.0f) != 0.0f || __fsqrt_rn(9.0f) != 3.0f ||
        __dmul_rn(0.5, 4.0) != 2.0 || __ddiv_rn(1.0, 4.0) != 0.25 || rsqrtf(4.0f) != 0.5f)
        *wrong |= 8;
    if (min(-1, 1) != -1 || max(3u, 4u) != 4u || min(1.0f, 2.0f) != 1.0f || max(1.0, 2.0) != 2.0)
        *wrong |= 16;
    if (warpSize != 32 || blockDim.x != 1 || gridDim.x != 1 || blockIdx.x != 0)
        *wrong |= 32;
}

static void check_scalars()
{
    int *wrong = on_device<int>(1);
    DO(nova_put_launch(scalars, 1, 1, 0, 0, wrong));
    int which = to_host(wrong, 1)[0];
    if (which != 0)
        fprintf(stderr, "groups %d\n", which);
    CHECK(which == 0);
    DO(cudaFree(wrong));
}

int main(void)
{
    check_lanes();
    check_survivors();
    check_atomics();
    check_transpose();
    check_scalars();
    return 0;
}
