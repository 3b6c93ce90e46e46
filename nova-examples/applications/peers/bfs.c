/* The distance of each node of a graph from one of them, in edges. Limited by the latency of the
 * caches and memory: nodes found are bits that stay in the second-level cache, new ones are
 * appended without a branch, and what the next nodes need is prefetched. Edges lead only one way,
 * so that the nodes not found cannot look for one that was. Threads share the nodes of a level, as
 * bytes. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* How many nodes ahead the places of neighbours, and neighbours, are prefetched. */
    FAR_AHEAD = 32,
    NEAR_AHEAD = 12,
    /* Nodes of a level that are worth more than one thread, and that a thread takes at once; nodes
     * that it may have found before it settles that. */
    WIDE = 1024,
    CHUNK = 256,
    KEPT = 512,
};

typedef struct {
    const int32_t *starts, *neighbours;
    int32_t *levels;
} graph;

/* Prefetches for nodes that come later in the queue, which ends at `end`. Inline, since GCC removes
 * calls of functions that do nothing else. */
static inline __attribute__((always_inline)) void
prefetch_ahead(const graph *g, const int32_t *queue, int64_t k, int64_t end)
{
    if (k + FAR_AHEAD < end) {
        __builtin_prefetch(g->starts + queue[k + FAR_AHEAD]);
        __builtin_prefetch(g->levels + queue[k + FAR_AHEAD], 1);
    }
    if (k + NEAR_AHEAD < end)
        __builtin_prefetch(g->neighbours + g->starts[queue[k + NEAR_AHEAD]]);
}

/* Takes the nodes of one queue one after the other; levels are where its parts end. */
static int search(const graph *g, int64_t n, int32_t source)
{
    /* A node is written behind the last one before it is known whether it is new. */
    int32_t *queue = malloc((size_t)(n + 1) * sizeof *queue);
    uint64_t *found = calloc((size_t)(n / 64 + 1), sizeof *found);
    if (queue == NULL || found == NULL) {
        free(queue), free(found);
        return 2;
    }
    queue[0] = source;
    found[source / 64] |= (uint64_t)1 << source % 64;
    int64_t begin = 0, end = 1;
    for (int32_t level = 0; begin < end; level++) {
        int64_t last = end;
        for (; begin < last; begin++) {
            prefetch_ahead(g, queue, begin, last);
            int32_t u = queue[begin];
            g->levels[u] = level;
            for (int64_t k = g->starts[u]; k < g->starts[u + 1]; k++) {
                uint32_t v = (uint32_t)g->neighbours[k];
                uint64_t word = found[v / 64], bit = (uint64_t)1 << v % 64;
                queue[end] = (int32_t)v;
                end += (word & bit) == 0;
                found[v / 64] = word | bit;
            }
        }
    }
    free(queue), free(found);
    return 0;
}

#ifdef _OPENMP
/* The nodes of a level, and those of the next one, with the number of the latter. Threads that find
 * the same node at the same time both append it, which does no harm: there is room for that. */
typedef struct {
    int32_t *now, *next;
    int64_t count;
    uint8_t *found;
} frontier;

/* What a thread may have found. */
typedef struct {
    int32_t nodes[KEPT];
    int64_t count;
} candidates;

/* Appends those candidates that are still new to the nodes of the next level. */
static void settle(frontier *f, candidates *c)
{
    int64_t count = 0;
    for (int64_t k = 0; k < c->count; k++) {
        int32_t v = c->nodes[k];
        if (__atomic_load_n(f->found + v, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(f->found + v, 1, __ATOMIC_RELAXED);
        c->nodes[count++] = v;
    }
    int64_t at = __atomic_fetch_add(&f->count, count, __ATOMIC_RELAXED);
    memcpy(f->next + at, c->nodes, (size_t)count * sizeof *c->nodes);
    c->count = 0;
}

/* Writes the level of some nodes, and looks for those of the next one. */
static void visit(const graph *g, frontier *f, int64_t begin, int64_t end, int64_t last,
                  int32_t level, candidates *c)
{
    for (int64_t i = begin; i < end; i++) {
        prefetch_ahead(g, f->now, i, last);
        int32_t u = f->now[i];
        __atomic_store_n(g->levels + u, level, __ATOMIC_RELAXED);
        for (int64_t k = g->starts[u], stop = g->starts[u + 1]; k < stop; ) {
            int64_t room = KEPT - c->count, part = stop - k < room ? stop : k + room;
            int64_t count = c->count;
            for (; k < part; k++) {
                int32_t v = g->neighbours[k];
                c->nodes[count] = v;
                count += !__atomic_load_n(f->found + v, __ATOMIC_RELAXED);
            }
            c->count = count;
            if (count == KEPT)
                settle(f, c);
        }
    }
}

static int search_together(const graph *g, int64_t n, int32_t source)
{
    int64_t room = n * omp_get_max_threads();
    int32_t *queues = malloc(2 * (size_t)room * sizeof *queues);
    frontier f = {queues, queues + room, 0, calloc((size_t)n, 1)};
    if (queues == NULL || f.found == NULL) {
        free(queues), free(f.found);
        return 2;
    }
    f.now[0] = source;
    f.found[source] = 1;
    int64_t count = 1;
    for (int32_t level = 0; count > 0; level++) {
#pragma omp parallel if (count >= WIDE)
        {
            candidates c;
            c.count = 0;
#pragma omp for schedule(dynamic) nowait
            for (int64_t i = 0; i < count; i += CHUNK)
                visit(g, &f, i, i + CHUNK < count ? i + CHUNK : count, count, level, &c);
            settle(&f, &c);
        }
        int32_t *now = f.now;
        f.now = f.next, f.next = now;
        count = f.count, f.count = 0;
    }
    free(queues), free(f.found);
    return 0;
}
#endif

int peer_bfs(int64_t *result_len, int32_t **result, int32_t source, int64_t starts_len,
             const int32_t *starts, int64_t neighbours_len, const int32_t *neighbours)
{
    (void)neighbours_len;
    int64_t n = starts_len - 1;
    int own = *result == NULL;
    int code = result_vector(result_len, (void **)result, n, sizeof **result);
    if (code != 0)
        return code;
    memset(*result, -1, (size_t)n * sizeof **result);
    if (source < 0 || source >= n)
        return 0;
    graph g = {starts, neighbours, *result};
#ifdef _OPENMP
    int together = n >= WIDE && omp_get_max_threads() > 1;
    code = together ? search_together(&g, n, source) : search(&g, n, source);
#else
    code = search(&g, n, source);
#endif
    if (code != 0 && own)
        free(*result), *result = NULL;
    return code;
}
