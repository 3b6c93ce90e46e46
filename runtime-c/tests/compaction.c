/* Tests of compaction: every length, with flags of several densities, as one element after the other, to another
 * array and in place. Nothing is written beyond as many elements as there are flags. */
#include "../common/compaction.h"
#include "test.h"

#define MOST 200
#define BEYOND UINT32_C(0x5ea1ed)

static uint32_t state = 1;

static uint32_t draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void check(int64_t count, uint32_t density)
{
    uint32_t small[MOST], packed_small[MOST];
    double large[MOST], packed_large[MOST];
    uint8_t kept[MOST];
    int64_t taken = 0;
    for (int64_t k = 0; k < MOST; k++) {
        small[k] = draw();
        large[k] = (double)draw();
        packed_small[k] = BEYOND;
        packed_large[k] = (double)BEYOND;
        kept[k] = draw() % 16 < density;
        taken += k < count && kept[k];
    }
    CHECK(nova_compact_32(packed_small, small, kept, count) == taken);
    CHECK(nova_compact_64(packed_large, large, kept, count) == taken);
    for (int64_t k = 0, at = 0; k < count; k++)
        if (kept[k]) {
            CHECK(packed_small[at] == small[k]);
            CHECK(packed_large[at++] == large[k]);
        }
    for (int64_t k = count; k < MOST; k++) {
        CHECK(packed_small[k] == BEYOND);
        CHECK(packed_large[k] == (double)BEYOND);
    }
    CHECK(nova_compact_32(small, small, kept, count) == taken);
    CHECK(nova_compact_64(large, large, kept, count) == taken);
    for (int64_t k = 0; k < taken; k++) {
        CHECK(small[k] == packed_small[k]);
        CHECK(large[k] == packed_large[k]);
    }
}

int main(void)
{
    for (int64_t count = 0; count <= MOST; count++)
        for (uint32_t density = 0; density <= 16; density += 4)
            check(count, density);
    return 0;
}
