/* The dot product of each pair of three-dimensional vectors. Limited by bandwidth: 24 bytes are
 * read and four written for five operations. The products are made in the order of memory, and only
 * they are taken apart into components; the result is streamed. Where pages are
 * taken in turn, four of the result are written at once. */
#include "peer.h"

typedef struct {
    float x, y, z;
} triple;

/* Element 3 j + c of three vectors, for c = 0, 1, 2. */
static inline lanes component(lanes p, lanes q, lanes r, lanes_int first, lanes_int second)
{
    return __builtin_shuffle(__builtin_shuffle(p, q, first), r, second);
}

static inline lanes sums_of_triples(lanes p, lanes q, lanes r)
{
    lanes x = component(
        p, q, r, (lanes_int){0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0},
        (lanes_int){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29});
    lanes y = component(
        p, q, r, (lanes_int){1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0},
        (lanes_int){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30});
    lanes z = component(
        p, q, r, (lanes_int){2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0},
        (lanes_int){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31});
    return x + y + z;
}

/* Writes the products of sixteen pairs. */
static inline void multiply_sixteen(float *out, const triple *A, const triple *B)
{
    const float *a = &A->x, *b = &B->x;
    lanes p[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        prefetch(a + 16 * k, AHEAD_OF_FOUR);
        prefetch(b + 16 * k, AHEAD_OF_FOUR);
        p[k] = load(a + 16 * k) * load(b + 16 * k);
    }
    stream(out, sums_of_triples(p[0], p[1], p[2]));
}

/* Writes the products of n pairs. */
static void multiply_pairs(float *out, const triple *A, const triple *B, int64_t n)
{
    int64_t i = 0;
    for (; i < n && ((uintptr_t)(out + i) & 63) != 0; i++)
        out[i] = A[i].x * B[i].x + A[i].y * B[i].y + A[i].z * B[i].z;
    for (; IN_TURN && i + BLOCK <= n; i += BLOCK)
        for (int64_t j = i; j < i + PAGE; j += LANES)
            for (int64_t at = j; at < j + BLOCK; at += PAGE)
                multiply_sixteen(out + at, A + at, B + at);
    for (; i + LANES <= n; i += LANES)
        multiply_sixteen(out + i, A + i, B + i);
    for (; i < n; i++)
        out[i] = A[i].x * B[i].x + A[i].y * B[i].y + A[i].z * B[i].z;
    stream_end();
}

int peer_dot3(int64_t *result_len, float **result, int64_t A_len, const triple *A, int64_t B_len,
              const triple *B)
{
    (void)B_len;
    int code = result_vector(result_len, (void **)result, A_len, sizeof **result);
    if (code != 0)
        return code;
    multiply_pairs(*result, A, B, A_len);
    return 0;
}
