/* The rank of pages. Limited by random accesses to ranks, which are kept in the second-level cache:
 * links are put into tiles, by what block of pages they lead to and from, in four bytes each, so
 * that a tile reads one block of ranks and adds to another. A round is one pass over the links,
 * which gives the next shares of ranks as well. Threads take blocks that links lead to. */
#include "../../benchmarks/peers/peer.h"
#include "pagerank.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* The bits of a page's number within its block, of those that links lead from, and of those
     * that they lead to: the latter are read and written, and change less often. They have fewer
     * bits where all threads are to have several. */
    FROM_BITS = 14,
    TO_BITS = 17,
    LEAST_BITS = 9,
    /* Blocks that a thread has, if there are pages enough; links that are worth a thread. */
    BLOCKS = 3,
    WORTH = 16384,
};

typedef nova_tuple2_int_int link_of_pages;

/* The blocks that links lead to are rows of tiles, those that they lead from are columns. */
typedef struct {
    int64_t pages, links, rows, columns;
    int bits;
    /* Where the links of each tile begin; pairs of numbers within their blocks. */
    int64_t *starts;
    uint32_t *tiles;
} graph;

static inline int64_t tile_of(const graph *g, link_of_pages l)
{
    return (l.e1 >> g->bits) * g->columns + (l.e0 >> FROM_BITS);
}

/* Puts links into tiles. Each of `parts` parts of the links counts its own first, in `counts`. */
static void make_tiles(const graph *g, const link_of_pages *links, int64_t *counts, int64_t parts)
{
    int64_t tiles = g->rows * g->columns, sum = 0;
    uint32_t low = (1u << g->bits) - 1;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        int64_t *own = counts + p * tiles, end = g->links * (p + 1) / parts;
        memset(own, 0, (size_t)tiles * sizeof *own);
        for (int64_t i = g->links * p / parts; i < end; i++)
            own[tile_of(g, links[i])]++;
    }
    for (int64_t t = 0; t < tiles; t++) {
        g->starts[t] = sum;
        for (int64_t p = 0; p < parts; p++) {
            int64_t count = counts[p * tiles + t];
            counts[p * tiles + t] = sum;
            sum += count;
        }
    }
    g->starts[tiles] = sum;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        int64_t *own = counts + p * tiles, end = g->links * (p + 1) / parts;
        graph copy = *g;
        for (int64_t i = g->links * p / parts; i < end; i++) {
            link_of_pages l = links[i];
            uint32_t from = (uint32_t)l.e0 & ((1u << FROM_BITS) - 1), to = (uint32_t)l.e1 & low;
            copy.tiles[own[tile_of(&copy, l)]++] = from | to << FROM_BITS;
        }
    }
}

/* What a page gives of its rank to each that it links to: one over their number, or 0; and the
 * ranks of those that give nothing. */
typedef struct {
    double *part, *shares, *next_shares, *ranks;
} state;

/* The number of links of each page in a column of tiles, and what that makes of a first rank. */
static double begin_column(const graph *g, const state *s, int64_t column, double rank)
{
    int64_t begin = column << FROM_BITS, end = begin + (1 << FROM_BITS);
    double lost = 0;
    end = end < g->pages ? end : g->pages;
    memset(s->part + begin, 0, (size_t)(end - begin) * sizeof *s->part);
    for (int64_t row = 0; row < g->rows; row++) {
        int64_t tile = row * g->columns + column;
        for (int64_t i = g->starts[tile]; i < g->starts[tile + 1]; i++)
            s->part[begin + (g->tiles[i] & ((1u << FROM_BITS) - 1))]++;
    }
    for (int64_t page = begin; page < end; page++) {
        double links = s->part[page], part = links > 0 ? 1 / links : 0;
        lost += links > 0 ? 0 : rank;
        s->part[page] = part;
        s->shares[page] = rank * part;
    }
    return lost;
}

/* One round for a row of tiles: the ranks of its pages and their next shares. Returns what those
 * that give nothing keep. `lost` is what a page gets of all such ranks, and of a fresh start. */
static double round_of_row(const graph *g, const state *s, int64_t row, double lost)
{
    int64_t begin = row << g->bits, end = begin + ((int64_t)1 << g->bits);
    double keeps = 0, *ranks = s->ranks + begin;
    end = end < g->pages ? end : g->pages;
    memset(ranks, 0, (size_t)(end - begin) * sizeof *ranks);
    for (int64_t column = 0; column < g->columns; column++) {
        int64_t tile = row * g->columns + column;
        const double *shares = s->shares + (column << FROM_BITS);
        for (int64_t i = g->starts[tile]; i < g->starts[tile + 1]; i++) {
            uint32_t link = g->tiles[i];
            ranks[link >> FROM_BITS] += shares[link & ((1u << FROM_BITS) - 1)];
        }
    }
    for (int64_t page = begin; page < end; page++) {
        double rank = lost + 0.85 * s->ranks[page], part = s->part[page];
        s->ranks[page] = rank;
        s->next_shares[page] = rank * part;
        keeps += part > 0 ? 0 : rank;
    }
    return keeps;
}

/* All rounds, one at least. */
static void all_rounds(const graph *g, state s, int32_t rounds)
{
    double n = (double)g->pages, kept = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : kept) if (g->links > WORTH)
    for (int64_t column = 0; column < g->columns; column++)
        kept += begin_column(g, &s, column, 1 / n);
    for (int32_t k = 0; k < rounds; k++) {
        double lost = 0.15 / n + 0.85 * (kept / n);
        kept = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : kept) if (g->links > WORTH)
        for (int64_t row = 0; row < g->rows; row++)
            kept += round_of_row(g, &s, row, lost);
        double *swap = s.shares;
        s.shares = s.next_shares, s.next_shares = swap;
    }
}

/* The bits of the blocks that links lead to. */
static int bits_of_rows(int64_t pages, int64_t threads)
{
    int bits = TO_BITS;
    while (bits > LEAST_BITS && threads > 1 && pages >> bits < BLOCKS * threads)
        bits--;
    return bits;
}

int peer_pagerank(int64_t *result_len, double **result, int32_t rounds, int32_t pages,
                  int64_t links_len, const link_of_pages *links)
{
    int64_t parts = 1;
#ifdef _OPENMP
    parts = links_len / WORTH + 1 < omp_get_max_threads() ? links_len / WORTH + 1
                                                          : omp_get_max_threads();
#endif
    graph g = {.pages = pages, .links = links_len, .bits = bits_of_rows(pages, parts)};
    g.rows = (g.pages + (1 << g.bits) - 1) >> g.bits;
    g.columns = (g.pages + (1 << FROM_BITS) - 1) >> FROM_BITS;
    int64_t tiles = g.rows * g.columns, numbers = (parts + 1) * tiles + 1 + 3 * g.pages;
    int64_t *memory = malloc((size_t)numbers * 8 + (size_t)links_len * sizeof *g.tiles);
    if (memory == NULL)
        return 2;
    int code = result_vector(result_len, (void **)result, pages, sizeof **result);
    if (code == 0 && rounds > 0 && pages > 0) {
        double *part = (double *)(memory + (parts + 1) * tiles + 1);
        g.starts = memory + parts * tiles;
        g.tiles = (uint32_t *)(memory + numbers);
        make_tiles(&g, links, memory, parts);
        all_rounds(&g, (state){part, part + pages, part + 2 * (int64_t)pages, *result}, rounds);
    } else if (code == 0) {
        for (int64_t i = 0; i < pages; i++)
            (*result)[i] = 1.0 / pages;
    }
    free(memory);
    return code;
}
