/* Compaction: the elements of an array whose flag is 1, and not 0, are stored one after the other, in their
 * order. The destination has room for all elements. It may be the array itself, since what is overwritten
 * behind the survivors was read before.
 *
 * AVX-512 compresses a vector, and AVX2 permutes it. The vector is stored whole, since stores that compress are
 * slow. */
#ifndef NOVA_COMPACTION_H
#define NOVA_COMPACTION_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__AVX2__) && defined(__BMI2__) && !defined(NOVA_ON_DEVICE)
# include <immintrin.h>
# define NOVA_COMPACTS_VECTORS 1

/* Sixteen flags as bits. */
static inline uint32_t nova_flags_16(const uint8_t *kept)
{
    __m128i flags = _mm_loadu_si128((const __m128i *)(const void *)kept);
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(flags, 7));
}

# if !defined(__AVX512F__)
/* The numbers of the lanes of 32 bits of which eight flags are set, a byte each, the lowest one first. */
static inline uint64_t nova_lanes_32(uint32_t set)
{
    uint64_t bytes = _pdep_u64(set, UINT64_C(0x0101010101010101)) * 0xff;
    return _pext_u64(UINT64_C(0x0706050403020100), bytes);
}

/* The same for elements of two lanes and four flags. */
static const uint64_t nova_lanes_64[16] = {
    0x0,
    0x0100,
    0x0302,
    0x03020100,
    0x0504,
    0x05040100,
    0x05040302,
    0x050403020100,
    0x0706,
    0x07060100,
    0x07060302,
    0x070603020100,
    0x07060504,
    0x070605040100,
    0x070605040302,
    0x0706050403020100,
};

/* Stores the lanes of 32 bits that are taken one after the other, and something behind them. */
static inline void nova_store_lanes(void *to, const void *from, uint64_t numbers)
{
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)numbers));
    __m256i elements = _mm256_loadu_si256((const __m256i *)from);
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(elements, lanes));
}
# endif
#endif

/* The numbers of the flags that are set. Returns how many these are. */
static inline int64_t nova_kept_places(int64_t *to, const uint8_t *kept, int64_t count)
{
    int64_t taken = 0, k = 0;
#if defined(NOVA_COMPACTS_VECTORS)
    for (; k + 64 <= count; k += 64) {
        uint64_t set = 0;
        for (int part = 0; part < 64; part += 16)
            set |= (uint64_t)nova_flags_16(kept + k + part) << part;
        for (; set != 0; set &= set - 1)
            to[taken++] = k + __builtin_ctzll(set);
    }
#endif
    for (; k < count; k++) {
        to[taken] = k;
        taken += kept[k];
    }
    return taken;
}

/* Elements of 32 bits. Returns how many are kept. */
static inline int64_t nova_compact_32(void *to, const void *from, const uint8_t *kept, int64_t count)
{
    unsigned char *out = (unsigned char *)to;
    const unsigned char *in = (const unsigned char *)from;
    int64_t taken = 0, k = 0;
#if defined(NOVA_COMPACTS_VECTORS)
    for (; k + 16 <= count; k += 16) {
        uint32_t mask = nova_flags_16(kept + k);
# if defined(__AVX512F__)
        __m512i elements = _mm512_loadu_si512(in + k * 4);
        _mm512_storeu_si512(out + taken * 4, _mm512_maskz_compress_epi32((__mmask16)mask, elements));
# else
        int64_t half = taken + __builtin_popcount(mask & 0xff);
        nova_store_lanes(out + taken * 4, in + k * 4, nova_lanes_32(mask));
        nova_store_lanes(out + half * 4, in + k * 4 + 32, nova_lanes_32(mask >> 8));
# endif
        taken += __builtin_popcount(mask);
    }
#endif
    for (; k < count; k++) {
        uint32_t element;
        memcpy(&element, in + k * 4, sizeof element);
        memcpy(out + taken * 4, &element, sizeof element);
        taken += kept[k];
    }
    return taken;
}

/* Elements of 64 bits. Returns how many are kept. */
static inline int64_t nova_compact_64(void *to, const void *from, const uint8_t *kept, int64_t count)
{
    unsigned char *out = (unsigned char *)to;
    const unsigned char *in = (const unsigned char *)from;
    int64_t taken = 0, k = 0;
#if defined(NOVA_COMPACTS_VECTORS)
    for (; k + 16 <= count; k += 16) {
        uint32_t mask = nova_flags_16(kept + k);
# if defined(__AVX512F__)
        for (int half = 0; half < 16; half += 8, mask >>= 8) {
            __m512i elements = _mm512_loadu_si512(in + (k + half) * 8);
            __mmask8 set = (__mmask8)mask;
            _mm512_storeu_si512(out + taken * 8, _mm512_maskz_compress_epi64(set, elements));
            taken += __builtin_popcount(mask & 0xff);
        }
# else
        for (int part = 0; part < 16; part += 4, mask >>= 4) {
            uint64_t lanes = nova_lanes_64[mask & 0xf];
            nova_store_lanes(out + taken * 8, in + (k + part) * 8, lanes);
            taken += __builtin_popcount(mask & 0xf);
        }
# endif
    }
#endif
    for (; k < count; k++) {
        uint64_t element;
        memcpy(&element, in + k * 8, sizeof element);
        memcpy(out + taken * 8, &element, sizeof element);
        taken += kept[k];
    }
    return taken;
}

#endif
