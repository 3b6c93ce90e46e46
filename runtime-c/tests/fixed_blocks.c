/* Tests of fixed-size blocks: padded copies touch nothing after the last element, and sums and products
 * are those by halves, in registers or not. */
#include "../common/fixed_blocks.h"
#include "test.h"

#define CHECK_COMBINED(name, type, operation)                                 \
    do {                                                                      \
        type found[NOVA_FIXED_BLOCK], wanted[NOVA_FIXED_BLOCK];               \
        for (int k = 0; k < NOVA_FIXED_BLOCK; k++)                            \
            found[k] = wanted[k] = (type)1 + (type)(k * 37 % 64) / (type)100; \
        name(found);                                                          \
        for (int h = NOVA_FIXED_BLOCK / 2; h > 0; h /= 2)                     \
            for (int k = 0; k < h; k++)                                       \
                wanted[k] = wanted[k] operation wanted[k + h];                \
        CHECK(found[0] == wanted[0]);                                         \
    } while (0)

#define CHECK_PARTS(name, rows, type, operation)                              \
    do {                                                                      \
        type found[NOVA_FIXED_BLOCK], wanted[NOVA_FIXED_BLOCK];               \
        for (int k = 0; k < NOVA_FIXED_BLOCK; k++)                            \
            found[k] = wanted[k] = (type)1 + (type)(k * 37 % 64) / (type)100; \
        name(found);                                                          \
        for (int h = NOVA_FIXED_BLOCK / 2; h >= 8; h /= 2)                    \
            for (int k = 0; k < h; k++)                                       \
                wanted[k] = wanted[k] operation wanted[k + h];                \
        for (int k = 0; k < 8; k++)                                           \
            CHECK(found[k] == wanted[k]);                                     \
        for (int k = 0; k < NOVA_FIXED_BLOCK; k++)                            \
            found[k] = wanted[k] = (type)1 + (type)(k * 37 % 64) / (type)100; \
        rows(found);                                                          \
        for (int r = 0; r < 8; r++) {                                         \
            type *row = wanted + 8 * r;                                       \
            for (int h = 4; h > 0; h /= 2)                                    \
                for (int k = 0; k < h; k++)                                   \
                    row[k] = row[k] operation row[k + h];                     \
            CHECK(found[r] == row[0]);                                        \
        }                                                                     \
    } while (0)

#define CHECK_ROW(name, type, identity, operation)                                         \
    do {                                                                                   \
        for (int count = 0; count <= 100; count++) {                                       \
            type *from = (type *)malloc((size_t)(count + (count == 0)) * sizeof(type));    \
            type lanes[16], to[8];                                                         \
            CHECK(from != NULL);                                                           \
            for (int k = 0; k < 16; k++)                                                   \
                lanes[k] = identity;                                                       \
            for (int k = 0; k < count; k++) {                                              \
                from[k] = (type)1 + (type)(k * 37 % 64) / (type)100;                       \
                lanes[k % 16] = lanes[k % 16] operation from[k];                           \
            }                                                                              \
            name(to, from, count);                                                         \
            for (int k = 0; k < 8; k++) {                                                  \
                type both = lanes[k] operation lanes[k + 8];                               \
                CHECK(to[k] == both);                                                      \
            }                                                                              \
            free(from);                                                                    \
        }                                                                                  \
    } while (0)

#define CHECK_COPIED(name, type)                                                        \
    do {                                                                                \
        for (int count = 0; count <= NOVA_FIXED_BLOCK; count++) {                       \
            /* The sanitizer sees what is read behind the end. */                       \
            type *from = (type *)malloc((size_t)(count + (count == 0)) * sizeof(type)); \
            type to[NOVA_FIXED_BLOCK];                                                  \
            CHECK(from != NULL);                                                        \
            for (int k = 0; k < count; k++)                                             \
                from[k] = (type)(k + 1);                                                \
            name(to, from, count, (type)-1);                                            \
            for (int k = 0; k < NOVA_FIXED_BLOCK; k++)                                  \
                CHECK(to[k] == (k < count ? (type)(k + 1) : (type)-1));                 \
            free(from);                                                                 \
        }                                                                               \
    } while (0)

int main(void)
{
    CHECK_COPIED(nova_padded_copy_f32, float);
    CHECK_COPIED(nova_padded_copy_f64, double);
    CHECK_COMBINED(nova_add_tree_f32, float, +);
    CHECK_COMBINED(nova_mul_tree_f32, float, *);
    CHECK_COMBINED(nova_add_tree_f64, double, +);
    CHECK_COMBINED(nova_mul_tree_f64, double, *);
    CHECK_PARTS(nova_add_tree_lanes_f32, nova_add_tree_rows_f32, float, +);
    CHECK_PARTS(nova_mul_tree_lanes_f32, nova_mul_tree_rows_f32, float, *);
    CHECK_PARTS(nova_add_tree_lanes_f64, nova_add_tree_rows_f64, double, +);
    CHECK_PARTS(nova_mul_tree_lanes_f64, nova_mul_tree_rows_f64, double, *);
    CHECK_ROW(nova_add_lanes_f32, float, -0.0f, +);
    CHECK_ROW(nova_mul_lanes_f32, float, 1.0f, *);
    CHECK_ROW(nova_add_lanes_f64, double, -0.0, +);
    CHECK_ROW(nova_mul_lanes_f64, double, 1.0, *);
    return 0;
}
