/* The scores of the best alignments of a sequence with each beginning of another. Limited by
 * arithmetic on vectors of bytes: what is computed is how much a score is above the least one that
 * its neighbour allows, which is small and never negative, so that a vector has 64 cells of an
 * anti-diagonal. The scores of a strip of rows come from profiles, one for each letter, and are
 * turned to anti-diagonals sixteen columns at a time. Threads take strips, each behind the one
 * above. */
#include "../../benchmarks/peers/peer.h"

#if defined(__AVX512BW__)
enum { LETTERS = 64 };
typedef __m512i bytes;
#elif defined(__AVX2__)
enum { LETTERS = 32 };
typedef __m256i bytes;
#endif

/* The alignment: its lengths, what a gap costs, and for each letter the scores with all letters of
 * b, more than two gaps and at least 0. */
typedef struct {
    int64_t n, m;
    const uint8_t *a, *b;
    const int32_t *scores;
    int64_t letters;
    int32_t gap;
    /* Of the letters that a has. */
    uint8_t *profiles[256];
} alignment;

/* All rows one after the other, for scores of any size: the last row, as the differences between
 * neighbours, and a gap. */
static int rows_of_numbers(const alignment *al, int32_t *last)
{
    memset(last, 0, (size_t)al->m * sizeof *last);
    for (int64_t i = 0; i < al->n; i++) {
        const int32_t *scores = al->scores + al->a[i] * al->letters;
        int32_t across = 0;
        for (int64_t j = 0; j < al->m; j++) {
            int32_t down = last[j], best = scores[al->b[j]] + 2 * al->gap;
            best = best > across ? best : across;
            best = best > down ? best : down;
            last[j] = best - across;
            across = best - down;
        }
    }
    return 0;
}

#ifdef __AVX2__
enum {
    /* Zeros before a row of bytes and behind it. */
    MARGIN = 2 * LETTERS,
    /* Steps of a strip until it says how far it is. */
    STEPS = 256,
};

/* The vector one letter on, with a letter of the row above, the last one of the sixteen from
 * `above` on, before it. */
static inline bytes shifted(bytes v, const uint8_t *above)
{
    __m128i letters = _mm_loadu_si128((const __m128i *)above);
#ifdef __AVX512BW__
    return _mm512_alignr_epi8(v, _mm512_alignr_epi32(v, _mm512_broadcast_i32x4(letters), 12), 15);
#else
    __m256i before = _mm256_permute2x128_si256(_mm256_broadcastsi128_si256(letters), v, 0x20);
    return _mm256_alignr_epi8(v, before, 15);
#endif
}

static inline bytes larger(bytes a, bytes b)
{
#ifdef __AVX512BW__
    return _mm512_max_epu8(a, b);
#else
    return _mm256_max_epu8(a, b);
#endif
}

static inline bytes difference(bytes a, bytes b)
{
#ifdef __AVX512BW__
    return _mm512_sub_epi8(a, b);
#else
    return _mm256_sub_epi8(a, b);
#endif
}

static inline void put(uint8_t *to, bytes v)
{
    memcpy(to, &v, sizeof v);
}

/* Sixteen columns of every sixteenth row, from k on. */
static inline bytes rows_from(const uint8_t *const *rows, int64_t column, int k)
{
#ifdef __AVX512BW__
    bytes v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(rows[k] + column)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[k + 16] + column)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[k + 32] + column)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[k + 48] + column)), 3);
#else
    bytes v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(rows[k] + column)));
    return _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(rows[k + 16] + column)), 1);
#endif
}

/* The low halves of each sixteen bytes of a and b in turn, and the high ones. */
static inline void interleave(bytes *to, bytes a, bytes b)
{
#ifdef __AVX512BW__
    to[0] = _mm512_unpacklo_epi8(a, b);
    to[1] = _mm512_unpackhi_epi8(a, b);
#else
    to[0] = _mm256_unpacklo_epi8(a, b);
    to[1] = _mm256_unpackhi_epi8(a, b);
#endif
}

/* The letters of all rows in each of sixteen columns: four rounds of interleaving transpose sixteen
 * rows of sixteen. */
static inline void columns_from(bytes *columns, const uint8_t *const *rows, int64_t column)
{
    bytes other[16];
#pragma GCC unroll 16
    for (int k = 0; k < 16; k++)
        columns[k] = rows_from(rows, column, k);
#pragma GCC unroll 2
    for (int round = 0; round < 2; round++) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            interleave(other + 2 * k, columns[k], columns[k + 8]);
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            interleave(columns + 2 * k, other[k], other[k + 8]);
    }
}

/* The state of a strip: for each row how much its score is above the least one that the score to
 * its left allows, and how much that is above the least one that the score above allows. */
typedef struct {
    bytes across, down;
} front;

/* Sixteen steps of a strip along its anti-diagonals, of which so many rows exist. */
static inline front sixteen_steps(front f, const uint8_t *const *rows, int64_t step,
                                  const uint8_t *above, uint8_t *below, int64_t exist)
{
    bytes scores[16];
    uint8_t downs[16][LETTERS];
    columns_from(scores, rows, step);
#pragma GCC unroll 16
    for (int k = 0; k < 16; k++) {
        bytes from_above = shifted(f.down, above + step + k - 15);
        bytes best = larger(larger(scores[k], f.across), from_above);
        f.down = difference(best, f.across);
        f.across = difference(best, from_above);
        put(downs[k], f.down);
    }
    for (int k = 0; k < 16; k++)
        below[step + k - (exist - 1)] = downs[k][exist - 1];
    return f;
}

/* Waits until a strip has finished so many columns. */
static inline void wait_for(const int64_t *finished, int64_t columns)
{
    while (__atomic_load_n(finished, __ATOMIC_ACQUIRE) < columns)
        _mm_pause();
}

/* A strip of rows from i on: from the row above to the last row. The strip above says in `before`
 * how many columns it has finished, this one in `finished`. */
static void strip(const alignment *al, int64_t i, const uint8_t *above, uint8_t *below,
                  const int64_t *before, int64_t *finished)
{
    const uint8_t *rows[LETTERS];
    int64_t exist = al->n - i < LETTERS ? al->n - i : LETTERS, steps = al->m + exist - 1;
    for (int64_t r = 0; r < LETTERS; r++)
        rows[r] = al->profiles[al->a[r < exist ? i + r : i]] - r;
    front f;
    memset(&f, 0, sizeof f);
    for (int64_t begin = 0; begin < steps; begin += STEPS) {
        int64_t end = begin + STEPS < steps ? begin + STEPS : steps;
        wait_for(before, end < al->m ? end : al->m);
        for (int64_t step = begin; step < end; step += 16)
            f = sixteen_steps(f, rows, step, above, below, exist);
        int64_t columns = end == steps ? al->m : end - (exist - 1);
        __atomic_store_n(finished, columns, __ATOMIC_RELEASE);
    }
}

/* Fills in a profile. */
static void fill_profile(const alignment *al, uint8_t *profile, int64_t letter)
{
    uint8_t table[256] = {0};
    for (int64_t b = 0; b < al->letters; b++) {
        int64_t score = al->scores[letter * al->letters + b] + 2 * (int64_t)al->gap;
        table[b] = (uint8_t)(score > 0 ? score < 255 ? score : 255 : 0);
    }
    memset(profile - MARGIN, 0, MARGIN);
    for (int64_t j = 0; j < al->m; j++)
        profile[j] = table[al->b[j]];
    memset(profile + al->m, 0, MARGIN);
}

/* The largest score of a letter of a with one of b, more than two gaps. */
static int64_t largest(const alignment *al, const char *letters_of_a, const char *letters_of_b)
{
    int64_t most = 0;
    for (int64_t a = 0; a < 256; a++)
        for (int64_t b = 0; b < 256 && letters_of_a[a]; b++)
            if (letters_of_b[b]) {
                int64_t score = al->scores[a * al->letters + b] + 2 * (int64_t)al->gap;
                most = score > most ? score : most;
            }
    return most;
}

/* All rows in bytes, if scores are small enough; 2 where memory is short. */
static int rows_of_bytes(alignment *al, int32_t *last)
{
    char letters_of_a[256] = {0}, letters_of_b[256] = {0};
    for (int64_t i = 0; i < al->n; i++)
        letters_of_a[al->a[i]] = 1;
    for (int64_t j = 0; j < al->m; j++)
        letters_of_b[al->b[j]] = 1;
    if (largest(al, letters_of_a, letters_of_b) > 255)
        return rows_of_numbers(al, last);
    int64_t stride = al->m + 2 * MARGIN, strips = (al->n + LETTERS - 1) / LETTERS, profiles = 0;
    for (int letter = 0; letter < 256; letter++)
        profiles += letters_of_a[letter];
    /* What strips have finished, each on a line of its own; two rows; profiles. */
    size_t marks = (size_t)(strips + 1) * 64;
    size_t bytes = marks + (size_t)((profiles + 2) * stride);
    char *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (memory == NULL)
        return 2;
    int64_t *finished = (int64_t *)memory;
    uint8_t *first = (uint8_t *)memory + marks + MARGIN, *rows[2] = {first, first + stride};
    memset(memory, 0, marks + 2 * (size_t)stride);
    finished[0] = al->m;
    uint8_t *next = rows[1] + stride;
    for (int letter = 0; letter < 256; letter++)
        if (letters_of_a[letter]) {
            al->profiles[letter] = next;
            next += stride;
        }
#pragma omp parallel if (strips > 1 && al->m > STEPS)
    {
#pragma omp for schedule(dynamic)
        for (int letter = 0; letter < 256; letter++)
            if (letters_of_a[letter])
                fill_profile(al, al->profiles[letter], letter);
        /* In order, so that a strip waits for those that are taken. */
#pragma omp for schedule(static, 1)
        for (int64_t s = 0; s < strips; s++)
            strip(al, s * LETTERS, rows[s % 2], rows[(s + 1) % 2], finished + 8 * s,
                  finished + 8 * (s + 1));
    }
    for (int64_t j = 0; j < al->m; j++)
        last[j] = rows[strips % 2][j];
    free(memory);
    return 0;
}
#endif

int peer_needleman_wunsch(int64_t *result_len, int32_t **result, int32_t gap, int64_t scores_dim0,
                          int64_t scores_dim1, const int32_t *scores, int64_t a_len,
                          const uint8_t *a, int64_t b_len, const uint8_t *b)
{
    (void)scores_dim0;
    int32_t *given = *result;
    int code = result_vector(result_len, (void **)result, b_len + 1, sizeof **result);
    if (code != 0)
        return code;
    alignment al = {.n = a_len, .m = b_len, .a = a, .b = b, .scores = scores,
                    .letters = scores_dim1, .gap = gap};
#ifdef __AVX2__
    code = rows_of_bytes(&al, *result + 1);
#else
    code = rows_of_numbers(&al, *result + 1);
#endif
    if (code != 0) {
        if (given == NULL) {
            free(*result);
            *result = NULL;
        }
        return code;
    }
    int32_t score = (int32_t)(-(uint32_t)gap * (uint32_t)a_len);
    for (int64_t j = 0; j <= b_len; j++) {
        score = j == 0 ? score : score + (*result)[j] - gap;
        (*result)[j] = score;
    }
    return 0;
}
