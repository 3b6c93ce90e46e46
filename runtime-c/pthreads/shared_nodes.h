/* Nodes that the threads of a region append to tables that they share. The nodes of such a table never
 * move: addresses for the largest table are reserved at once, and get memory when they are needed. A
 * thread takes runs of places by one atomic addition each, and appends to its own run as one thread does
 * that has the table alone. Other threads know no node of it before the region ends. */
#ifndef NOVA_SHARED_NODES_H
#define NOVA_SHARED_NODES_H

#include "../common/nodes.h"
#include "../common/reclaim.h"
#include "region.h"
#include <sys/mman.h>

/* The places in the first run of a thread. Each run has twice as many as the one before, up to a limit. */
#ifndef NOVA_FIRST_RUN
#define NOVA_FIRST_RUN 32
#endif
#ifndef NOVA_LONGEST_RUN
#define NOVA_LONGEST_RUN 8192
#endif

/* The largest number of bytes for whose addresses a table may ask. */
#define NOVA_SPACE_LARGEST ((size_t)1 << (sizeof(void *) > 4 ? 42 : 28))

/* Addresses get memory in multiples of this many bytes, which is a multiple of the size of a page. */
#define NOVA_SPACE_STEP ((size_t)1 << 16)

/* A space of at least this many bytes asks for large pages, whose first accesses take far less time. */
#define NOVA_LARGE_PAGES_FROM ((size_t)4 << 20)

/* The addresses of the nodes of a table. */
typedef struct nova_node_space {
    void *nodes;
    size_t size;                   /* the bytes of a node */
    size_t bytes;                  /* the addresses that are reserved */
    struct nova_node_space *other; /* the next space of the call */
    char nodes_apart[NOVA_APART];
    NOVA_ATOMIC(size_t) next; /* while threads share the table, the first place that none has taken */
    char next_apart[NOVA_APART];
    NOVA_ATOMIC(size_t) usable; /* the places that have memory */
    nova_shared locked;         /* 1 while a thread makes more of them usable */
} nova_node_space;

/* The nodes that one thread appends to a table. */
typedef struct nova_appender {
    nova_node_space *space; /* null before the first node */
    int64_t count;          /* the place of the next node */
    int64_t room;           /* the end of the run in which it lies */
    int64_t shift;          /* added to `count`, it gives the number of nodes that the thread has appended */
    bool is_shared;         /* others append to the table; if not, all places are those of one run */
    int64_t pinned;         /* nodes at earlier places may have links from nodes of other threads */
    nova_place_run *runs;   /* the runs of the thread, */
    int64_t run_count;      /* their number, */
    int64_t current;        /* and the one in which the next node lies */
    nova_block *runs_block;
} nova_appender;

/* The number of nodes that a thread has appended. The thread that has a table alone counts all nodes. */
static inline int64_t nova_appended(const nova_appender *own)
{
    return own->count + own->shift;
}

/* Reserves addresses that nobody may access yet; null if there are none. */
static void *nova_reserve_addresses(size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
    flags |= MAP_NORESERVE;
#endif
    void *found = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    return found == MAP_FAILED ? NULL : found;
}

/* Frees the spaces of a call. */
static void nova_free_spaces(nova_context *context)
{
    nova_node_space *space = (nova_node_space *)context->spaces;
    for (; space != NULL; space = space->other)
        munmap(space->nodes, space->bytes);
    context->spaces = NULL;
}

/* Makes a space for the nodes of a table. If there are fewer addresses than the largest table needs, it
 * leaves half of what there is to others. */
static nova_node_space *nova_make_space(nova_context *context, size_t size, const char *place)
{
    nova_block *block;
    nova_node_space *space =
        (nova_node_space *)nova_allocate(context, &block, 1, sizeof(nova_node_space), place);
    uint64_t most = (uint64_t)NOVA_MOST_NODES;
    size_t bytes = most < NOVA_SPACE_LARGEST / size ? (size_t)most * size : NOVA_SPACE_LARGEST;
    bytes = (bytes + NOVA_SPACE_STEP - 1) / NOVA_SPACE_STEP * NOVA_SPACE_STEP;
    void *nodes = nova_reserve_addresses(bytes);
    if (nodes == NULL) {
        while (nodes == NULL && bytes >= 4 * NOVA_SPACE_STEP) {
            bytes = bytes / 2 / NOVA_SPACE_STEP * NOVA_SPACE_STEP;
            nodes = nova_reserve_addresses(bytes);
        }
        if (nodes == NULL)
            nova_fail_memory(context, place);
        munmap(nodes, bytes);
        bytes = bytes / 2 / NOVA_SPACE_STEP * NOVA_SPACE_STEP;
        nodes = nova_reserve_addresses(bytes);
        if (nodes == NULL)
            nova_fail_memory(context, place);
    }
    space->nodes = nodes;
    space->size = size;
    space->bytes = bytes;
    NOVA_STORE(&space->next, 0, NOVA_RELAXED);
    NOVA_STORE(&space->usable, 0, NOVA_RELAXED);
    NOVA_STORE(&space->locked, 0, NOVA_RELAXED);
    space->other = (nova_node_space *)context->spaces;
    context->spaces = space;
    context->free_spaces = nova_free_spaces;
    return space;
}

/* Gives memory to the first `bytes` bytes of a space, and to half as many as had memory before if that is
 * possible. Returns false if there is no memory. */
static bool nova_enlarge_space(nova_node_space *space, size_t bytes)
{
    size_t before = NOVA_LOAD(&space->usable, NOVA_RELAXED) * space->size;
    size_t more = before + before / 2;
    for (size_t wanted = more > bytes ? more : bytes;; wanted = bytes) {
        size_t rounded = wanted + (NOVA_SPACE_STEP - 1);
        rounded = wanted > space->bytes - (NOVA_SPACE_STEP - 1)
                      ? space->bytes
                      : rounded / NOVA_SPACE_STEP * NOVA_SPACE_STEP;
        if (mprotect(space->nodes, rounded, PROT_READ | PROT_WRITE) == 0) {
#if defined(MADV_HUGEPAGE)
            if (before < NOVA_LARGE_PAGES_FROM && rounded >= NOVA_LARGE_PAGES_FROM)
                (void)madvise(space->nodes, space->bytes, MADV_HUGEPAGE);
#endif
            NOVA_STORE(&space->usable, rounded / space->size, NOVA_RELEASE);
            return true;
        }
        if (wanted == bytes)
            return false;
    }
}

/* Makes the places before `end` usable. */
static void nova_use_places(nova_context *context, nova_node_space *space, int64_t end,
                            const char *place)
{
    if (NOVA_LOAD(&space->usable, NOVA_ACQUIRE) >= (size_t)end)
        return;
    if ((uint64_t)end > space->bytes / space->size)
        nova_fail_memory(context, place);
    while (NOVA_SWAP(&space->locked, 1, NOVA_ACQUIRE) != 0)
        sched_yield();
    bool is_usable = NOVA_LOAD(&space->usable, NOVA_RELAXED) >= (size_t)end ||
                     nova_enlarge_space(space, (size_t)end * space->size);
    NOVA_STORE(&space->locked, 0, NOVA_RELEASE);
    if (!is_usable)
        nova_fail_memory(context, place);
}

/* Makes room for more nodes of a table that this thread has alone. */
static void nova_widen_run(nova_context *context, nova_appender *own, int64_t more, size_t size,
                           const char *place)
{
    nova_check_node_count(context, own->count, more, place);
    if (own->space == NULL)
        own->space = nova_make_space(context, size, place);
    nova_use_places(context, own->space, own->count + more, place);
    size_t usable = NOVA_LOAD(&own->space->usable, NOVA_RELAXED);
    own->room = usable < (size_t)NOVA_MOST_NODES ? (int64_t)usable : NOVA_MOST_NODES;
}

/* Makes a run of the thread its current one; the next node is to lie at a place in it. */
static void nova_enter_run(nova_appender *own, int64_t run, int64_t count)
{
    own->current = run;
    own->count = count;
    own->room = own->runs[run].end;
    own->shift = own->runs[run].before - own->runs[run].start;
}

/* Takes another run of a table that threads share. */
static void nova_take_run(nova_context *context, nova_appender *own, const char *place)
{
    int64_t last = own->run_count - 1, length = NOVA_FIRST_RUN;
    if (last >= 0) {
        length = 2 * (own->runs[last].end - own->runs[last].start);
        length = length < NOVA_LONGEST_RUN ? length : NOVA_LONGEST_RUN;
    }
    /* Another thread may have used these places before it gave them back. */
    int64_t start = (int64_t)NOVA_ADD(&own->space->next, (size_t)length, NOVA_ACQUIRE);
    nova_check_node_count(context, start, 1, place);
    int64_t end = length < NOVA_MOST_NODES - start ? start + length : NOVA_MOST_NODES;
    nova_use_places(context, own->space, end, place);
    if (last >= 0 && own->runs[last].end == start) {
        own->runs[last].end = end;
    } else {
        own->runs = (nova_place_run *)nova_reserve(context, &own->runs_block, own->run_count,
                                             own->run_count + 1, sizeof(nova_place_run), place);
        nova_place_run run = {start, end, last < 0 ? 0 : nova_appended(own)};
        own->runs[++last] = run;
        own->run_count++;
    }
    nova_enter_run(own, last, start);
}

/* Makes room for more nodes of this thread: one if others append to the table. Returns the nodes of the
 * table. */
static void *nova_append_more(nova_context *context, nova_appender *own, int64_t more, size_t size,
                              const char *place)
{
    if (!own->is_shared)
        nova_widen_run(context, own, more, size, place);
    else if (own->current + 1 < own->run_count)
        nova_enter_run(own, own->current + 1, own->runs[own->current + 1].start);
    else
        nova_take_run(context, own, place);
    return own->space->nodes;
}

/* Says in which places the nodes lie that a loop of this thread has made since it noted the place of the
 * next one, which the field `first` gives. */
static void nova_take_places(nova_young *young, const nova_appender *own)
{
    if (!own->is_shared)
        return;
    int64_t first = young->first > own->pinned ? young->first : own->pinned, k = 0;
    while (k <= own->current && own->runs[k].end <= first)
        k++;
    if (k > own->current) {
        young->first = own->count;
        return;
    }
    young->first = first > own->runs[k].start ? first : own->runs[k].start;
    young->runs = own->runs + k;
    young->run_count = own->current + 1 - k;
}

/* Finds the run of the next node, after nodes have been reclaimed. */
static void nova_find_run(nova_appender *own)
{
    int64_t run = 0;
    if (!own->is_shared || own->run_count == 0)
        return;
    while (own->count < own->runs[run].start || own->count > own->runs[run].end)
        run++;
    nova_enter_run(own, run, own->count);
}

/* Lets threads share a table. */
static void *nova_begin_appender(nova_context *context, void *appender, size_t size)
{
    nova_appender *own = (nova_appender *)appender;
    if (own->space == NULL)
        own->space = nova_make_space(context, size, NULL);
    if (!own->is_shared)
        NOVA_STORE(&own->space->next, (size_t)own->count, NOVA_RELAXED);
    return own->space->nodes;
}

/* Gives a thread no places at first, in its copy of the tables of the region's caller. */
static void *nova_enter_appender(nova_context *context, void *appender, size_t size)
{
    nova_appender *own = (nova_appender *)appender;
    nova_appender none = {own->space, 0, 0, 0, true, 0, NULL, 0, -1, NULL};
    (void)context;
    (void)size;
    *own = none;
    return own->space->nodes;
}

/* Gives the places back that a thread has not used, if no thread has taken later ones. */
static void *nova_leave_appender(nova_context *context, void *appender, size_t size)
{
    nova_appender *own = (nova_appender *)appender;
    (void)context;
    (void)size;
    if (own->run_count > 0 && own->current + 1 == own->run_count) {
        size_t end = (size_t)own->room;
        (void)NOVA_SWAP_IF(&own->space->next, &end, (size_t)own->count);
    }
    return own->space->nodes;
}

/* Takes over what the threads of a region have appended. */
static void *nova_end_appender(nova_context *context, void *appender, size_t size)
{
    nova_appender *own = (nova_appender *)appender;
    (void)context;
    (void)size;
    if (own->is_shared) {
        own->pinned = own->count;
    } else {
        size_t next = NOVA_LOAD(&own->space->next, NOVA_RELAXED);
        size_t usable = NOVA_LOAD(&own->space->usable, NOVA_RELAXED);
        size_t most = (size_t)NOVA_MOST_NODES;
        own->count = (int64_t)(next < most ? next : most);
        own->room = (int64_t)(usable < most ? usable : most);
    }
    return own->space->nodes;
}

/* The caller of a region lets threads share its tables. */
static void nova_begin_sharing(nova_context *caller)
{
    ((const nova_sharing *)caller->sharing)->each(caller, nova_begin_appender);
}

/* A thread of a region gets tables. */
static void nova_enter_tables(nova_context *thread, const nova_context *caller)
{
    const nova_sharing *sharing = (const nova_sharing *)caller->sharing;
    nova_block *block;
    void *tables = nova_allocate(thread, &block, 1, sharing->size, NULL);
    memcpy(tables, caller->tables, sharing->size);
    thread->tables = (struct nova_tables *)tables;
    thread->sharing = sharing;
    sharing->each(thread, nova_enter_appender);
}

/* A thread leaves a region. */
static void nova_leave_tables(nova_context *thread)
{
    ((const nova_sharing *)thread->sharing)->each(thread, nova_leave_appender);
}

/* The region has ended. */
static void nova_end_sharing(nova_context *caller)
{
    ((const nova_sharing *)caller->sharing)->each(caller, nova_end_appender);
}

#endif
