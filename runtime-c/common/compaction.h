/* Compaction: the elements of an array whose flag is 1, and not 0, move to its front and keep their order.
 *
 * AVX-512 moves a vector at a time. A compressed vector is stored whole, since stores that compress are slow.
 * What it overwrites behind the kept elements was read before. */
#ifndef NOVA_COMPACTION_H
#define NOVA_COMPACTION_H

#include "fast_math.h"
#include <stdint.h>
#include <string.h>

/* Elements of 32 bits. Returns how many are kept. */
static inline int64_t nova_compact_32(void *array, const uint8_t *kept, int64_t count)
{
    unsigned char *bytes = (unsigned char *)array;
    int64_t taken = 0, k = 0;
#if defined(NOVA_AVX512) && !defined(NOVA_ON_DEVICE)
    for (; k + 16 <= count; k += 16) {
        __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)(kept + k));
        __m512i flags = _mm512_maskz_cvtepu8_epi32(0xffff, bits);
        __mmask16 mask = _mm512_test_epi32_mask(flags, flags);
        __m512i elements = _mm512_loadu_si512(bytes + k * 4);
        _mm512_storeu_si512(bytes + taken * 4, _mm512_maskz_compress_epi32(mask, elements));
        taken += __builtin_popcount(mask);
    }
#endif
    for (; k < count; k++) {
        uint32_t element;
        memcpy(&element, bytes + k * 4, sizeof element);
        memcpy(bytes + taken * 4, &element, sizeof element);
        taken += kept[k];
    }
    return taken;
}

/* Elements of 64 bits. Returns how many are kept. */
static inline int64_t nova_compact_64(void *array, const uint8_t *kept, int64_t count)
{
    unsigned char *bytes = (unsigned char *)array;
    int64_t taken = 0, k = 0;
#if defined(NOVA_AVX512) && !defined(NOVA_ON_DEVICE)
    for (; k + 8 <= count; k += 8) {
        __m128i bits = _mm_loadl_epi64((const __m128i *)(const void *)(kept + k));
        __m512i flags = _mm512_maskz_cvtepu8_epi64(0xff, bits);
        __mmask8 mask = _mm512_test_epi64_mask(flags, flags);
        __m512i elements = _mm512_loadu_si512(bytes + k * 8);
        _mm512_storeu_si512(bytes + taken * 8, _mm512_maskz_compress_epi64(mask, elements));
        taken += __builtin_popcount(mask);
    }
#endif
    for (; k < count; k++) {
        uint64_t element;
        memcpy(&element, bytes + k * 8, sizeof element);
        memcpy(bytes + taken * 8, &element, sizeof element);
        taken += kept[k];
    }
    return taken;
}

#endif
