/* Tests of compaction: every length, with flags of several densities, as one element after the other. */
#include "../common/compaction.h"
#include "test.h"

static uint32_t state = 1;

static uint32_t draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void check(int64_t count, uint32_t density)
{
    uint32_t small[200], expected_small[200];
    double large[200], expected_large[200];
    uint8_t kept[200];
    int64_t taken = 0;
    for (int64_t k = 0; k < 200; k++) {
        small[k] = draw();
        large[k] = (double)draw();
        kept[k] = draw() % 16 < density;
        expected_small[k] = small[k], expected_large[k] = large[k];
    }
    for (int64_t k = 0; k < count; k++)
        if (kept[k]) {
            expected_small[taken] = small[k];
            expected_large[taken++] = large[k];
        }
    CHECK(nova_compact_32(small, kept, count) == taken);
    CHECK(nova_compact_64(large, kept, count) == taken);
    for (int64_t k = 0; k < 200; k++)
        if (k < taken || k >= count) {
            CHECK(small[k] == expected_small[k]);
            CHECK(large[k] == expected_large[k]);
        }
}

int main(void)
{
    for (int64_t count = 0; count <= 200; count++)
        for (uint32_t density = 0; density <= 16; density += 4)
            check(count, density);
    return 0;
}
