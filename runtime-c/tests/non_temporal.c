/* Tests of non-temporal stores: every element arrives, and nothing else is written, wherever the memory
 * begins. */
#define NOVA_NON_TEMPORAL_BYTES 1
#include "../common/non_temporal.h"
#include "test.h"

enum { ROOM = 4096, STRIP = 3 };

/* Copies count structures of `size` bytes to `offset` in strips of width, as generated code does. */
static void check(size_t offset, int64_t count, size_t size, int64_t width)
{
    static unsigned char from[ROOM], to[ROOM + 2 * NOVA_LINE];
    for (size_t k = 0; k < sizeof from; k++)
        from[k] = (unsigned char)(k % 251 + 1);
    memset(to, 0, sizeof to);
    unsigned char *start = to + offset;
    int64_t shift = nova_plan_non_temporal(start, count, count, size, width);
    int64_t strips = shift >= 0 ? (count + shift + width - 1) / width : 0;
    int64_t done = 0;
    for (int64_t strip = 0; strip < strips; strip++) {
        int64_t begin = strip * width - shift, end = begin + width;
        begin = begin < 0 ? 0 : begin;
        end = end > count ? count : end;
        CHECK(begin == done);
        CHECK(begin == 0 || (uintptr_t)(start + (size_t)begin * size) % NOVA_LINE == 0);
        nova_non_temporal_store(start + (size_t)begin * size, from + (size_t)begin * size, end - begin, size);
        done = end;
    }
    nova_store_fence();
    CHECK(shift < width && (shift < 0 || done == count));
    size_t bytes = (size_t)done * size;
    CHECK(memcmp(start, from, bytes) == 0);
    for (size_t k = 0; k < sizeof to; k++)
        CHECK((k >= offset && k < offset + bytes) || to[k] == 0);
}

int main(void)
{
    static const size_t sizes[] = {1, 2, 4, 8, 12, 16, 20, 24, 40};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t size = sizes[s];
        int64_t width = NOVA_LINE;
        while (width % 2 == 0 && (size_t)(width / 2) * size % NOVA_LINE == 0)
            width /= 2;
        for (size_t offset = 0; offset < NOVA_LINE; offset++)
            for (int64_t count = 0; (size_t)count * size < ROOM - NOVA_LINE;
                 count += count < 20 ? 1 : 31)
                check(offset, count, size, STRIP * width);
    }
    /* If no structure begins at a line, non-temporal stores are not used. */
    static unsigned char to[2 * NOVA_LINE];
    unsigned char *line = to + (NOVA_LINE - (uintptr_t)to % NOVA_LINE);
    CHECK(nova_plan_non_temporal(line + 4, 4, 4, 16, 32) == -1);
    CHECK(nova_plan_non_temporal(line, 0, 4, 16, 32) == -1);
    CHECK(nova_plan_non_temporal(line, -1, 4, 16, 32) == -1);
    return 0;
}
