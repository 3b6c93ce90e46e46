/* Detection of races while a program runs in order: the last accesses to each location, and tests
 * whether others may happen at the same time. A program whose accesses are traced runs its parallel
 * loops one iteration after the other. The order of iterations in this run does not matter, only which
 * iteration made an access. */
#ifndef NOVA_RACES_H
#define NOVA_RACES_H

#include "blocks.h"

/* Kinds of parallel loops: loops of their own, loops over work-groups, and loops that the threads of a
 * work-group share if they are inside of one. */
#define NOVA_RACE_LOOP 0
#define NOVA_RACE_GROUPS 1
#define NOVA_RACE_THREADS 2

/* Kinds that only the tracer has: code that all threads of a group run, and a loop that they share. */
#define NOVA_RACE_GROUP 3
#define NOVA_RACE_SHARED 4

/* The iteration that stands for all threads of a group. */
#define NOVA_RACE_ALL (-1)

/* The bytes of a page; the locations of a page are found together. */
#define NOVA_RACE_PAGE 512

/* The largest number of parallel loops that may enclose an operation of unknown cost if it is to become
 * one. */
#define NOVA_RACE_DEEPEST 16

/* The origin of an access to a location: an iteration of a team. A phase is four times the number of
 * barriers before it, plus 0 before the ordered region of the iteration, 1 in it, 2 after it. */
typedef struct nova_race_mark {
    const char *what;  /* the array, and the place of the access */
    int64_t iteration;
    uint32_t team;     /* 0: none */
    uint32_t phase;
} nova_race_mark;

/* An execution of a parallel loop; inside of a work-group, the work of its threads between two
 * barriers. It belongs to an iteration of the enclosing team. */
typedef struct nova_race_team {
    const char *place;        /* of the loop */
    nova_race_mark enclosing; /* of team 0 if there is none */
    uint32_t depth;           /* the number of enclosing loops, including itself */
} nova_race_team;

/* The accesses to a location. Two readers that may run at the same time are enough: a writer differs
 * from one of them. */
typedef struct nova_race_cell {
    nova_race_mark writer;
    nova_race_mark readers[2];
    uint32_t own; /* the loop over groups whose threads each have their own location; 0 if none */
    int contends; /* the kind of write, if others may do the same at the same time */
} nova_race_cell;

typedef struct nova_race_page {
    uintptr_t number;  /* its address divided by its size; 0 for a free entry */
    size_t grain;      /* bytes of a location: 1, 2, 4 or 8 */
    nova_block *cells;
} nova_race_page;

/* An enclosing parallel loop of the current code. */
typedef struct nova_race_frame {
    nova_race_mark now; /* the current origin of accesses */
    int64_t barriers;   /* the number in an iteration; -1 before the first one has ended */
    int kind;
} nova_race_frame;

typedef struct nova_races {
    nova_context *context;
    size_t depth;          /* the number of frames */
    nova_block *frames;
    uint32_t base;         /* the first team inside the outermost enclosing loop */
    uint32_t next;         /* the next team */
    nova_block *teams;     /* from base on */
    nova_block *pages;     /* a table of hashes, its size a power of two */
    size_t page_count;
    nova_race_page *last;  /* the page found last */
} nova_races;

/* The trace belongs to the current call of this thread. Its memory is memory of the call, and is freed
 * with it. */
static NOVA_THREAD_LOCAL nova_races nova_race_state;

/* Starts the trace of a call. */
static void nova_race_begin(nova_context *context)
{
    nova_races *races = &nova_race_state;
    memset(races, 0, sizeof *races);
    races->context = context;
    races->base = 1;
    races->next = 1;
}

static nova_race_frame *nova_race_top(nova_races *races)
{
    return (nova_race_frame *)races->frames->data + (races->depth - 1);
}

static const nova_race_team *nova_race_team_of(const nova_races *races, uint32_t team)
{
    return (const nova_race_team *)races->teams->data + (team - races->base);
}

static uint32_t nova_race_depth(const nova_races *races, uint32_t team)
{
    return team == 0 ? 0 : nova_race_team_of(races, team)->depth;
}

/* A new team in an iteration of another one. */
static uint32_t nova_race_new_team(nova_races *races, const char *place, nova_race_mark enclosing)
{
    int64_t used = races->next - races->base;
    if (races->next + 1 == 0)
        nova_fail_memory(races->context, place);
    nova_race_team *teams = (nova_race_team *)nova_reserve(races->context, &races->teams, used,
                                                           used + 1, sizeof *teams, place);
    teams[used].place = place;
    teams[used].enclosing = enclosing;
    teams[used].depth = nova_race_depth(races, enclosing.team) + 1;
    return races->next++;
}

/* Adds a frame whose iterations are those of a team. */
static void nova_race_push(nova_races *races, uint32_t team, int64_t iteration, int kind)
{
    int64_t used = (int64_t)races->depth;
    nova_race_frame *frames = (nova_race_frame *)nova_reserve(
        races->context, &races->frames, used, used + 1, sizeof *frames, NULL);
    nova_race_mark now = {NULL, iteration, team, 0};
    frames[used].now = now;
    frames[used].barriers = -1;
    frames[used].kind = kind;
    races->depth++;
}

/* Enters a parallel loop of this kind. */
static void nova_race_enter(const char *place, int kind)
{
    nova_races *races = &nova_race_state;
    nova_race_mark enclosing = {NULL, 0, 0, 0};
    if (races->depth == 0) {
        /* Earlier accesses are over. */
        races->base = races->next;
    } else {
        const nova_race_frame *top = nova_race_top(races);
        enclosing = top->now;
        if (kind == NOVA_RACE_THREADS && top->kind == NOVA_RACE_GROUP) {
            nova_race_push(races, enclosing.team, 0, NOVA_RACE_SHARED);
            return;
        }
    }
    nova_race_push(races, nova_race_new_team(races, place, enclosing), 0, kind);
}

/* Ends an iteration. Checks that it has passed as many barriers as the others. */
static void nova_race_met(nova_races *races)
{
    nova_race_frame *top = nova_race_top(races);
    int64_t barriers = top->now.phase / 4;
    if (top->barriers >= 0 && top->barriers != barriers)
        nova_fail(races->context, NOVA_ERROR_DEVICE,
                  "%s: race: iterations of this parallel loop do not reach the same barriers",
                  nova_race_team_of(races, top->now.team)->place);
    top->barriers = barriers;
    top->now.phase = 0;
}

/* Starts an iteration. */
static void nova_race_next(int64_t iteration)
{
    nova_races *races = &nova_race_state;
    if (nova_race_top(races)->kind == NOVA_RACE_GROUP)
        races->depth--;
    nova_race_frame *top = nova_race_top(races);
    if (iteration > 0)
        nova_race_met(races);
    top->now.iteration = iteration;
    if (top->kind == NOVA_RACE_GROUPS) {
        const char *place = nova_race_team_of(races, top->now.team)->place;
        uint32_t team = nova_race_new_team(races, place, top->now);
        nova_race_push(races, team, NOVA_RACE_ALL, NOVA_RACE_GROUP);
    }
}

/* Leaves a parallel loop. */
static void nova_race_leave(void)
{
    nova_races *races = &nova_race_state;
    if (nova_race_top(races)->kind == NOVA_RACE_GROUP)
        races->depth--;
    nova_race_met(races);
    races->depth--;
}

/* A barrier of all iterations of the innermost loop of this kind. */
static void nova_race_barrier(int kind)
{
    nova_races *races = &nova_race_state;
    for (size_t k = races->depth; k > 0; k--) {
        nova_race_frame *frame = (nova_race_frame *)races->frames->data + (k - 1);
        if (kind == NOVA_RACE_THREADS && frame->kind == NOVA_RACE_GROUP) {
            const nova_race_team *team = nova_race_team_of(races, frame->now.team);
            frame->now.team = nova_race_new_team(races, team->place, team->enclosing);
            return;
        }
        if (frame->kind == kind || (kind == NOVA_RACE_THREADS && frame->kind == NOVA_RACE_SHARED)) {
            frame->now.phase += 4;
            return;
        }
    }
}

/* Begins or ends the ordered region of an iteration; the threads of a work-group synchronise there. */
static void nova_race_ordered(bool ends)
{
    nova_races *races = &nova_race_state;
    if (races->depth == 0)
        return;
    nova_race_frame *top = nova_race_top(races);
    nova_race_frame *shared = top->kind == NOVA_RACE_GROUP ? top - 1 : top;
    shared->now.phase = shared->now.phase / 4 * 4 + (ends ? 2 : 1);
    if (shared != top) {
        const char *place = nova_race_team_of(races, top->now.team)->place;
        top->now.team = nova_race_new_team(races, place, shared->now);
    }
}

/* Fails since an iteration leaves the function, which would leave other iterations undone. */
static void nova_race_return(void)
{
    nova_races *races = &nova_race_state;
    nova_fail(races->context, NOVA_ERROR_DEVICE,
              "%s: race: an iteration of this parallel loop leaves the function",
              nova_race_team_of(races, nova_race_top(races)->now.team)->place);
}

/* True if an operation of unknown cost becomes a parallel loop. */
static bool nova_race_may_split(void)
{
    return nova_race_state.depth < NOVA_RACE_DEEPEST;
}

/* True if two accesses of one run may happen at the same time. Replaces both by the iterations that
 * contain them, of the innermost team that encloses both. */
static bool nova_race_parallel(const nova_races *races, nova_race_mark *a, nova_race_mark *b)
{
    while (a->team != b->team) {
        uint32_t depth_a = nova_race_depth(races, a->team);
        uint32_t depth_b = nova_race_depth(races, b->team);
        if (depth_a >= depth_b)
            *a = nova_race_team_of(races, a->team)->enclosing;
        if (depth_b >= depth_a)
            *b = nova_race_team_of(races, b->team)->enclosing;
    }
    if (a->team == 0 || a->iteration == b->iteration || a->phase / 4 != b->phase / 4)
        return false;
    /* Code before the end of an ordered region precedes the ordered regions of later iterations, and
     * the code after them. */
    const nova_race_mark *first = a->iteration < b->iteration ? a : b;
    const nova_race_mark *second = first == a ? b : a;
    return first->phase % 4 > 1 || second->phase % 4 < 1;
}

/* Writes the name of an iteration for messages. */
static void nova_race_name(char *name, size_t size, int64_t iteration)
{
    if (iteration == NOVA_RACE_ALL)
        snprintf(name, size, "every thread");
    else
        snprintf(name, size, "iteration %lld", (long long)iteration);
}

/* Ends the call if an earlier access and this one race. */
static void nova_race_compare(const nova_races *races, const nova_race_cell *cell,
                              const nova_race_mark *before, bool wrote, const nova_race_mark *now,
                              bool writes)
{
    enum { LONGEST = 32 };
    nova_race_mark a = *before;
    nova_race_mark b = *now;
    if (before->team < races->base || !nova_race_parallel(races, &a, &b))
        return;
    const nova_race_team *team = nova_race_team_of(races, a.team);
    bool by_all = a.iteration == NOVA_RACE_ALL || b.iteration == NOVA_RACE_ALL;
    if (by_all && cell->own != 0 && cell->own == team->enclosing.team)
        return;
    char name_a[LONGEST];
    char name_b[LONGEST];
    nova_race_name(name_a, sizeof name_a, a.iteration);
    nova_race_name(name_b, sizeof name_b, b.iteration);
    nova_fail(races->context, NOVA_ERROR_DEVICE,
              "%s: race: iterations of this parallel loop touch one element: %s %s %s, %s %s %s",
              team->place, name_a, wrote ? "writes" : "reads", before->what, name_b,
              writes ? "writes" : "reads", now->what);
}

/* True if an earlier access precedes everything that can still run at the same time as this one. */
static bool nova_race_is_over(const nova_races *races, const nova_race_mark *before,
                              const nova_race_mark *now)
{
    nova_race_mark a = *before;
    nova_race_mark b = *now;
    return before->team < races->base || !nova_race_parallel(races, &a, &b);
}

/* Compares an access to a location with the earlier ones, and records it. Writes that contend in the
 * same way do not race. */
static void nova_race_touch_cell(const nova_races *races, nova_race_cell *cell,
                                 const nova_race_mark *now, bool writes, int contends)
{
    static const nova_race_mark nobody = {NULL, 0, 0, 0};
    if (contends == 0 || contends != cell->contends)
        nova_race_compare(races, cell, &cell->writer, true, now, writes);
    if (writes) {
        cell->contends = contends;
        nova_race_compare(races, cell, &cell->readers[0], false, now, true);
        nova_race_compare(races, cell, &cell->readers[1], false, now, true);
        cell->writer = *now;
        cell->readers[0] = nobody;
        cell->readers[1] = nobody;
    } else if (nova_race_is_over(races, &cell->readers[0], now)) {
        cell->readers[0] = *now;
    } else if (nova_race_is_over(races, &cell->readers[1], now)) {
        cell->readers[1] = *now;
    }
}

/* The entry of a page in a table of this capacity, or the free entry for it. */
static nova_race_page *nova_race_slot(nova_race_page *pages, size_t capacity, uintptr_t number)
{
    size_t k = (size_t)((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (capacity - 1);
    while (pages[k].number != 0 && pages[k].number != number)
        k = (k + 1) & (capacity - 1);
    return &pages[k];
}

/* The page of this number; null if none of its locations has been accessed. */
static nova_race_page *nova_race_find(nova_races *races, uintptr_t number)
{
    if (races->last != NULL && races->last->number == number)
        return races->last;
    if (races->pages == NULL)
        return NULL;
    size_t capacity = races->pages->bytes / sizeof(nova_race_page);
    nova_race_page *page =
        nova_race_slot((nova_race_page *)races->pages->data, capacity, number);
    if (page->number == 0)
        return NULL;
    races->last = page;
    return page;
}

/* Makes room for one more page. */
static void nova_race_grow(nova_races *races)
{
    enum { FIRST = 64 };
    size_t capacity = races->pages == NULL ? 0 : races->pages->bytes / sizeof(nova_race_page);
    if (2 * (races->page_count + 1) <= capacity)
        return;
    nova_block *grown;
    size_t larger = capacity == 0 ? (size_t)FIRST : 2 * capacity;
    nova_race_page *pages = (nova_race_page *)nova_allocate(
        races->context, &grown, (int64_t)larger, sizeof *pages, NULL);
    memset(pages, 0, larger * sizeof *pages);
    for (size_t k = 0; k < capacity; k++) {
        const nova_race_page *page = (const nova_race_page *)races->pages->data + k;
        if (page->number != 0)
            *nova_race_slot(pages, larger, page->number) = *page;
    }
    nova_release(races->context, races->pages);
    races->pages = grown;
    races->last = NULL;
}

/* The cells of a page, for locations of grain bytes. */
static nova_block *nova_race_cells(nova_races *races, size_t grain)
{
    nova_block *block;
    int64_t count = (int64_t)(NOVA_RACE_PAGE / grain);
    void *cells =
        nova_allocate(races->context, &block, count, sizeof(nova_race_cell), NULL);
    memset(cells, 0, (size_t)count * sizeof(nova_race_cell));
    return block;
}

/* Splits the locations of a page into smaller ones with the same accesses. */
static void nova_race_refine(nova_races *races, nova_race_page *page, size_t grain)
{
    nova_block *block = nova_race_cells(races, grain);
    nova_race_cell *cells = (nova_race_cell *)block->data;
    for (size_t k = 0; k < NOVA_RACE_PAGE / grain; k++)
        cells[k] = ((const nova_race_cell *)page->cells->data)[k * grain / page->grain];
    nova_release(races->context, page->cells);
    page->cells = block;
    page->grain = grain;
}

/* The largest size of locations, at most 8, of which some end at each of two addresses. */
static size_t nova_race_grain(uintptr_t begin, uintptr_t end)
{
    uintptr_t both = begin | end | 8;
    return (size_t)(both & (~both + 1));
}

/* The page of a location at an address, with locations of at most grain bytes. */
static nova_race_page *nova_race_page_at(nova_races *races, uintptr_t address, size_t grain)
{
    uintptr_t number = address / NOVA_RACE_PAGE;
    nova_race_page *page = nova_race_find(races, number);
    if (page == NULL) {
        nova_race_grow(races);
        size_t capacity = races->pages->bytes / sizeof *page;
        nova_block *cells = nova_race_cells(races, grain);
        page = nova_race_slot((nova_race_page *)races->pages->data, capacity, number);
        page->number = number;
        page->grain = grain;
        page->cells = cells;
        races->page_count++;
        races->last = page;
    } else if (page->grain > grain) {
        nova_race_refine(races, page, grain);
    }
    return page;
}

static nova_race_cell *nova_race_cell_at(nova_race_page *page, uintptr_t address)
{
    return (nova_race_cell *)page->cells->data + address % NOVA_RACE_PAGE / page->grain;
}

/* Records an access to an element. */
static void nova_race_touch(const void *address, size_t size, bool writes, int contends,
                            const char *what)
{
    nova_races *races = &nova_race_state;
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + size;
    size_t grain = nova_race_grain(begin, end);
    nova_race_mark now = nova_race_top(races)->now;
    now.what = what;
    while (begin < end) {
        nova_race_page *page = nova_race_page_at(races, begin, grain);
        nova_race_touch_cell(races, nova_race_cell_at(page, begin), &now, writes, contends);
        begin += page->grain;
    }
}

/* Records a read of an element. Returns its address. */
static inline void *nova_race_read(const void *address, size_t size, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, false, 0, what);
    return (void *)(uintptr_t)address;
}

/* Records a write of an element. Returns its address. */
static inline void *nova_race_write(void *address, size_t size, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, true, 0, what);
    return address;
}

/* Ways in which several iterations write an element: one of their values stays, or the greatest. */
#define NOVA_RACE_ANY 1
#define NOVA_RACE_GREATEST 2

/* Records such a write. Returns the address of the element. */
static inline void *nova_race_contend(void *address, size_t size, int contends, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, true, contends, what);
    return address;
}

/* Records reads of elements, at a stride in bytes. */
static void nova_race_reads(const void *address, int64_t count, size_t size, size_t stride,
                            const char *what)
{
    const unsigned char *bytes = (const unsigned char *)address;
    if (nova_race_state.depth == 0)
        return;
    for (int64_t k = 0; k < count; k++)
        nova_race_touch(bytes + (size_t)k * stride, size, false, 0, what);
}

/* Records writes of consecutive elements. */
static void nova_race_writes(const void *address, int64_t count, size_t size, const char *what)
{
    const unsigned char *bytes = (const unsigned char *)address;
    if (nova_race_state.depth == 0)
        return;
    for (int64_t k = 0; k < count; k++)
        nova_race_touch(bytes + (size_t)k * size, size, true, 0, what);
}

/* Records new or reused memory, which nothing has accessed. */
static void nova_race_new(void *address, int64_t count, size_t size)
{
    nova_races *races = &nova_race_state;
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + (count > 0 ? (size_t)count * size : 0);
    if (races->depth == 0)
        return;
    while (begin < end) {
        uintptr_t page_end = (begin / NOVA_RACE_PAGE + 1) * NOVA_RACE_PAGE;
        uintptr_t until = end < page_end ? end : page_end;
        if (nova_race_find(races, begin / NOVA_RACE_PAGE) != NULL) {
            size_t grain = nova_race_grain(begin, until);
            nova_race_page *page = nova_race_page_at(races, begin, grain);
            memset(nova_race_cell_at(page, begin), 0,
                   (until - begin) / page->grain * sizeof(nova_race_cell));
        }
        begin = until;
    }
}

/* Records a new variable or local array. Code that all threads of a group run accesses a private copy
 * of each thread. */
static void nova_race_local(void *address, int64_t count, size_t size)
{
    nova_races *races = &nova_race_state;
    nova_race_new(address, count, size);
    if (races->depth == 0 || nova_race_top(races)->kind != NOVA_RACE_GROUP)
        return;
    uint32_t groups = nova_race_team_of(races, nova_race_top(races)->now.team)->enclosing.team;
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + (size_t)count * size;
    size_t grain = nova_race_grain(begin, begin + size);
    while (begin < end) {
        nova_race_page *page = nova_race_page_at(races, begin, grain);
        nova_race_cell_at(page, begin)->own = groups;
        begin += page->grain;
    }
}

#endif
