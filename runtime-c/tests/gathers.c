/* Tests of gathers: sixteen elements with gaps or at indices are those of a loop, as are rows, and
 * nothing after the last one is read. */
#include "../common/gathers.h"
#include "test.h"

enum { STRIDES = 3, LENGTH = 7 };

/* An array that ends with the last of sixteen elements; the sanitizer detects reads after it. */
#define NEW_ARRAY(type, name, stride)                                                          \
    const size_t name##_count = (size_t)((NOVA_GATHER_WIDTH - 1) * (stride) + 1);              \
    type *name = (type *)malloc(name##_count * sizeof(type));                                  \
    CHECK(name != NULL)

#define CHECK_STRIDES(name, type)                                                              \
    do {                                                                                       \
        for (int stride = 1; stride <= STRIDES; stride++) {                                    \
            NEW_ARRAY(type, from, stride);                                                     \
            type to[NOVA_GATHER_WIDTH];                                                        \
            for (size_t k = 0; k < from_count; k++)                                            \
                from[k] = (type)(k + 1);                                                       \
            name(to, from, stride);                                                            \
            for (int k = 0; k < NOVA_GATHER_WIDTH; k++)                                        \
                CHECK(to[k] == from[k * stride]);                                              \
            free(from);                                                                        \
        }                                                                                      \
    } while (0)

/* Each of sixteen indices is the only one outside; indices between them, which do not count, are
 * outside too. */
#define CHECK_OUTSIDE(name, type, least, most)                                                 \
    do {                                                                                       \
        static const type bad[] = {LENGTH, LENGTH + 1, -1, least, most};                       \
        for (int stride = 1; stride <= STRIDES; stride++) {                                    \
            NEW_ARRAY(type, at, stride);                                                       \
            for (size_t k = 0; k < at_count; k++)                                              \
                at[k] = k % (size_t)stride == 0 ? (type)(k % LENGTH) : (type)-5;               \
            CHECK(!name(at, stride, LENGTH));                                                  \
            CHECK(!name(at, stride, (uint64_t)INT64_MAX));                                     \
            CHECK(name(at, stride, 0));                                                        \
            for (int k = 0; k < NOVA_GATHER_WIDTH; k++) {                                      \
                const type good = at[k * stride];                                              \
                for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {                        \
                    at[k * stride] = bad[b];                                                   \
                    CHECK(name(at, stride, LENGTH));                                           \
                    CHECK(name(at, stride, (uint64_t)INT64_MAX) == (bad[b] < 0 ||              \
                                                                    bad[b] == INT64_MAX));     \
                    CHECK(name(at, stride, (uint64_t)1 << 31) ==                               \
                          ((uint64_t)(int64_t)bad[b] >= (uint64_t)1 << 31));                   \
                }                                                                              \
                at[k * stride] = good;                                                         \
            }                                                                                  \
            free(at);                                                                          \
        }                                                                                      \
    } while (0)

#define CHECK_GATHERED(name, type, index)                                                      \
    do {                                                                                       \
        type *from = (type *)malloc(LENGTH * sizeof(type));                                    \
        CHECK(from != NULL);                                                                   \
        for (int k = 0; k < LENGTH; k++)                                                       \
            from[k] = (type)(100 + k);                                                         \
        for (int stride = 1; stride <= STRIDES; stride++) {                                    \
            NEW_ARRAY(index, at, stride);                                                      \
            type to[NOVA_GATHER_WIDTH];                                                        \
            for (size_t k = 0; k < at_count; k++)                                              \
                at[k] = k % (size_t)stride == 0 ? (index)(k * 5 % LENGTH) : (index)-1;         \
            name(to, from, at, stride);                                                        \
            for (int k = 0; k < NOVA_GATHER_WIDTH; k++)                                        \
                CHECK(to[k] == from[at[k * stride]]);                                          \
            free(at);                                                                          \
        }                                                                                      \
        free(from);                                                                            \
    } while (0)

/* Rows overlap, lie side by side, or have words between them; nothing after the last one is read. */
#define CHECK_ROWS(name, type)                                                                 \
    do {                                                                                       \
        for (int64_t count = 0; count <= 21; count++)                                          \
            for (int64_t stride = 0; stride <= 23; stride += count == 21 ? 1 : 7) {            \
                const size_t words = (size_t)((NOVA_GATHERED_ROWS - 1) * stride + count);      \
                const size_t packed = (size_t)(count * NOVA_GATHERED_ROWS);                    \
                type *from = (type *)malloc(words * sizeof(type) + 1);                         \
                type *to = (type *)malloc(packed * sizeof(type) + 1);                          \
                CHECK(from != NULL && to != NULL);                                             \
                for (size_t k = 0; k < words; k++)                                             \
                    from[k] = (type)(k + 1);                                                   \
                name(to, from, stride, count);                                                 \
                for (int64_t k = 0; k < count; k++)                                            \
                    for (int64_t r = 0; r < NOVA_GATHERED_ROWS; r++)                           \
                        CHECK(to[k * NOVA_GATHERED_ROWS + r] == from[r * stride + k]);         \
                free(to);                                                                      \
                free(from);                                                                    \
            }                                                                                  \
    } while (0)

int main(void)
{
    CHECK_ROWS(nova_gather_rows_4, float);
    CHECK_ROWS(nova_gather_rows_4, uint32_t);
    CHECK_ROWS(nova_gather_rows_8, double);
    CHECK_ROWS(nova_gather_rows_8, int64_t);
    CHECK_STRIDES(nova_gather_strided_4, float);
    CHECK_STRIDES(nova_gather_strided_4, int32_t);
    CHECK_STRIDES(nova_gather_strided_8, double);
    CHECK_STRIDES(nova_gather_strided_8, int64_t);
    CHECK_OUTSIDE(nova_gather_precheck_i32, int32_t, INT32_MIN, INT32_MAX);
    CHECK_OUTSIDE(nova_gather_precheck_i64, int64_t, INT64_MIN, INT64_MAX);
    CHECK_GATHERED(nova_gather_indexed_f32_i32, float, int32_t);
    CHECK_GATHERED(nova_gather_indexed_f32_i64, float, int64_t);
    CHECK_GATHERED(nova_gather_indexed_f64_i32, double, int32_t);
    CHECK_GATHERED(nova_gather_indexed_f64_i64, double, int64_t);
    CHECK_GATHERED(nova_gather_indexed_i32_i32, int32_t, int32_t);
    CHECK_GATHERED(nova_gather_indexed_i32_i64, int32_t, int64_t);
    CHECK_GATHERED(nova_gather_indexed_i64_i32, int64_t, int32_t);
    CHECK_GATHERED(nova_gather_indexed_i64_i64, int64_t, int64_t);
    return 0;
}
