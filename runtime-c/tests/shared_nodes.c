/* Tests of nodes that threads append to shared tables: regions in regions, loops in threads and in the
 * caller that reclaim nodes, and memory that runs out. Every list is compared with the numbers that were
 * put into it. */
#define NOVA_FIRST_RECLAIM 16
#define NOVA_FIRST_RUN 4
#define NOVA_LONGEST_RUN 64
#include "pool_test.h"
#include <sys/mman.h>

static void *try_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
static int try_mprotect(void *at, size_t bytes, int protection);
static int try_munmap(void *at, size_t bytes);
#define mmap try_mmap
#define mprotect try_mprotect
#define munmap try_munmap
#include "../pthreads/shared_nodes.h"
#undef mmap
#undef mprotect
#undef munmap

/* The largest number of bytes of addresses, and of memory, that there is. */
static size_t most_addresses = SIZE_MAX;
static NOVA_ATOMIC(size_t) most_memory;
static int64_t mapped; /* the addresses that are in use */

static void *try_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (bytes > most_addresses)
        return MAP_FAILED;
    void *found = mmap(at, bytes, protection, flags, file, offset);
    if (found != MAP_FAILED)
        mapped += (int64_t)bytes;
    return found;
}

static int try_mprotect(void *at, size_t bytes, int protection)
{
    return bytes > NOVA_LOAD(&most_memory, NOVA_RELAXED) ? -1 : mprotect(at, bytes, protection);
}

static int try_munmap(void *at, size_t bytes)
{
    mapped -= (int64_t)bytes;
    return munmap(at, bytes);
}

/* A node of a list. */
typedef struct node {
    int64_t number;
    nova_link next; /* -1 at the end */
} node;

typedef struct node_table {
    node *nodes;
    nova_appender own;
} node_table;

struct nova_tables {
    node_table lists;
};

static void each_table(nova_context *context, nova_see_appender *see)
{
    node_table *table = &context->tables->lists;
    table->nodes = (node *)see(context, &table->own, sizeof(node));
}

static const nova_sharing sharing = {sizeof(struct nova_tables), each_table, nova_begin_sharing,
                                     nova_enter_tables, nova_leave_tables, nova_end_sharing};

static int64_t append(nova_context *context, int64_t number, int64_t next)
{
    node_table *table = &context->tables->lists;
    int64_t link = table->own.count;
    if (link == table->own.room) {
        table->nodes = (node *)nova_append_more(context, &table->own, 1, sizeof(node), "place");
        link = table->own.count;
    }
    table->own.count = link + 1;
    table->nodes[link].number = number;
    table->nodes[link].next = (nova_link)next;
    return link;
}

static void see_links(nova_context *context, nova_reclaim *reclaim, int64_t table, int64_t link)
{
    node *own = &context->tables->lists.nodes[link];
    if (own->next >= 0)
        own->next = (nova_link)nova_see_link(context, reclaim, table, own->next);
}

/* Keeps the nodes that a link reaches, and those before the place `first`. Returns the link. */
static int64_t reclaim(nova_context *context, int64_t first, int64_t *limit, int64_t link)
{
    node_table *table = &context->tables->lists;
    nova_young young;
    nova_target root = {0, link};
    young.nodes = (char *)table->nodes;
    young.size = sizeof(node);
    young.total = &table->own.count;
    young.first = first;
    young.run_count = 0;
    nova_take_places(&young, &table->own);
    nova_reclaim_nodes(context, &young, 1, &root, link >= 0, see_links, NULL, NULL);
    nova_find_run(&table->own);
    *limit = nova_appended(&table->own) + nova_next_reclaim(&young);
    return root.link;
}

/* The work of a chunk. */
typedef struct work {
    uint64_t seed;
    int64_t depth; /* the regions inside */
    int64_t *heads; /* the lists of the chunks */
    int64_t base;   /* the list before which they put their nodes */
    bool drops;     /* they drop everything at the end, as they give no list away */
} work;

static int64_t random_below(uint64_t *state, int64_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(*state >> 33) % limit;
}

/* The list of a chunk has a number of nodes in front of those of its base. Their numbers are those of
 * the chunk and of their order. */
static int64_t length_of(uint64_t seed, int64_t chunk)
{
    uint64_t state = seed + (uint64_t)chunk;
    random_below(&state, 2);
    return random_below(&state, 150);
}

static void do_chunk(nova_context *context, int64_t chunk, void *environment);

/* Runs a region whose chunks make lists in front of a list, and checks these. Returns the list. */
static int64_t run_inside(nova_context *context, const work *outer, uint64_t seed, int64_t list)
{
    enum { CHUNKS = 5 };
    int64_t heads[CHUNKS];
    work inner = {seed, outer->depth - 1, heads, list, false};
    nova_parallel(context, CHUNKS, do_chunk, &inner);
    node *nodes = context->tables->lists.nodes;
    for (int64_t k = 0; k < CHUNKS; k++)
        for (int64_t at = heads[k], left = length_of(seed, k); left > 0; left--) {
            CHECK(nodes[at].number == (int64_t)seed + 1000 * k + left - 1);
            at = nodes[at].next;
            CHECK(left > 1 || at == list);
        }
    return list;
}

/* Makes a list in a loop that reclaims nodes: each iteration makes some that are not kept. */
static void do_chunk(nova_context *context, int64_t chunk, void *environment)
{
    const work *w = (const work *)environment;
    node_table *table = &context->tables->lists;
    uint64_t state = w->seed * 31 + (uint64_t)chunk;
    int64_t start = table->own.count, first = start;
    int64_t limit = nova_appended(&table->own) + NOVA_FIRST_RECLAIM, list = w->base;
    int64_t length = length_of(w->seed, chunk);
    for (int64_t k = 0; k < length; k++) {
        if (nova_appended(&table->own) >= limit)
            list = reclaim(context, first, &limit, list);
        for (int64_t lost = random_below(&state, 4); lost > 0; lost--)
            append(context, -1, list);
        if (w->depth > 0 && random_below(&state, 60) == 0)
            list = run_inside(context, w, w->seed * 7 + (uint64_t)k, list);
        list = append(context, (int64_t)w->seed + 1000 * chunk + k, list);
    }
    if (w->drops)
        reclaim(context, start, &limit, -1);
    else
        w->heads[chunk] = list;
}

/* A call: regions one after the other, in a loop that reclaims nodes and keeps some of the lists. */
typedef struct call {
    uint64_t seed;
    int64_t chunks;
} call;

static void check_list(nova_context *context, uint64_t seed, int64_t chunk, int64_t link)
{
    const node *nodes = context->tables->lists.nodes;
    for (int64_t left = length_of(seed, chunk); left > 0; left--, link = nodes[link].next)
        CHECK(nodes[link].number == (int64_t)seed + 1000 * chunk + left - 1);
    CHECK(link == -1 || nodes[link].number != -1);
}

static void body(nova_context *context, void *argument)
{
    const call *c = (const call *)argument;
    struct nova_tables tables;
    memset(&tables, 0, sizeof tables);
    context->tables = &tables;
    context->sharing = &sharing;
    nova_block *block;
    int64_t *heads = (int64_t *)nova_allocate(context, &block, c->chunks, sizeof(int64_t), NULL);
    int64_t limit = NOVA_FIRST_RECLAIM, kept = -1;
    uint64_t state = c->seed, kept_seed = 0;
    int64_t kept_chunk = 0;
    for (int64_t round = 0; round < 4; round++) {
        if (nova_appended(&tables.lists.own) >= limit)
            kept = reclaim(context, 0, &limit, kept);
        if (kept_seed != 0)
            check_list(context, kept_seed, kept_chunk, kept);
        uint64_t seed = (c->seed * 16 + (uint64_t)round + 1) * 1000000;
        work w = {seed, 2, heads, kept, random_below(&state, 4) == 0};
        nova_parallel(context, c->chunks, do_chunk, &w);
        if (w.drops)
            continue;
        for (int64_t chunk = 0; chunk < c->chunks; chunk++)
            check_list(context, seed, chunk, heads[chunk]);
        kept_seed = seed;
        kept_chunk = random_below(&state, c->chunks);
        kept = heads[kept_chunk];
        append(context, -1, kept);
    }
}

static int run_call(uint64_t seed, int64_t chunks, char *message)
{
    call c = {seed, chunks};
    int code = nova_call(body, &c, message);
    CHECK(mapped == 0);
    return code;
}

int main(int count, char **arguments)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    long calls = count > 1 ? strtol(arguments[1], NULL, 10) : 100;
    NOVA_STORE(&most_memory, SIZE_MAX, NOVA_RELAXED);
    for (int threads = 1; threads <= 4; threads++) {
        use_threads(threads);
        for (long seed = 1; seed <= calls; seed++)
            CHECK(run_call((uint64_t)seed, 1 + seed % 40, message) == 0);
    }
    /* Few addresses are enough for a small table, or a clear error. */
    most_addresses = (size_t)1 << 24;
    CHECK(run_call(1, 30, message) == 0);
    most_addresses = 4 * NOVA_SPACE_STEP - 1;
    CHECK(run_call(1, 30, message) == NOVA_ERROR_MEMORY);
    CHECK(strstr(message, "out of memory") != NULL);
    most_addresses = SIZE_MAX;
    /* Memory runs out in a thread. */
    NOVA_STORE(&most_memory, NOVA_SPACE_STEP, NOVA_RELAXED);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int code = run_call(seed, 200, message);
        CHECK(code == 0 || code == NOVA_ERROR_MEMORY);
    }
    return 0;
}
