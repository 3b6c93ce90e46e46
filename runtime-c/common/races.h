/* Races, found while a program runs in order: who touched each location last, and whether somebody
 * else may do it at the same time. A program whose accesses are traced does its parallel loops one
 * iteration after the other; what is asked is not when an iteration ran, but which one it was. */
#ifndef NOVA_RACES_H
#define NOVA_RACES_H

#include "blocks.h"

/* Kinds of parallel loops: those of their own, those over work-groups, those that the threads of a
 * work-group share where they are inside of one. */
#define NOVA_RACE_LOOP 0
#define NOVA_RACE_GROUPS 1
#define NOVA_RACE_THREADS 2

/* Kinds that only the tracer has: what all threads of a group do, and a loop that they share. */
#define NOVA_RACE_GROUP 3
#define NOVA_RACE_SHARED 4

/* The iteration that stands for all threads of a group. */
#define NOVA_RACE_ALL (-1)

/* Bytes whose locations are found together. */
#define NOVA_RACE_PAGE 512

/* So many parallel loops may be around an operation of unknown cost that becomes one. */
#define NOVA_RACE_DEEPEST 16

/* Who touched a location: an iteration of a team. A phase is four times the number of barriers before
 * it, and 0 before the turn of the iteration, 1 in it, 2 behind it. */
typedef struct nova_race_mark {
    const char *what;  /* the array, and where the program touches it */
    int64_t iteration;
    uint32_t team;     /* 0: nobody */
    uint32_t phase;
} nova_race_mark;

/* An execution of a parallel loop; inside of a work-group, what its threads do between two barriers.
 * Each stands in an iteration of the one around it. */
typedef struct nova_race_team {
    const char *place;     /* of the loop */
    nova_race_mark around; /* of team 0 if there is none */
    uint32_t depth;        /* how many are around, itself included */
} nova_race_team;

/* What is known of a location. Two readers that may run at the same time are enough: whoever writes
 * is not both of them. */
typedef struct nova_race_cell {
    nova_race_mark writer;
    nova_race_mark readers[2];
    uint32_t own; /* the loop over groups each of whose threads has this for itself; 0 if none */
    int contends; /* how the writer did it, where others may do so at the same time */
} nova_race_cell;

typedef struct nova_race_page {
    uintptr_t number;  /* its address divided by its size; 0 if there is none here */
    size_t grain;      /* bytes of a location: 1, 2, 4 or 8 */
    nova_block *cells;
} nova_race_page;

/* A parallel loop around what runs. */
typedef struct nova_race_frame {
    nova_race_mark now; /* who runs */
    int64_t barriers;   /* how many an iteration has; -1 before the first one has ended */
    int kind;
} nova_race_frame;

typedef struct nova_races {
    nova_context *context;
    size_t depth;          /* how many frames there are */
    nova_block *frames;
    uint32_t base;         /* the first team inside the outermost loop around */
    uint32_t next;         /* the next team */
    nova_block *teams;     /* from base on */
    nova_block *pages;     /* a table of hashes, its size a power of two */
    size_t page_count;
    nova_race_page *last;  /* the page found last */
} nova_races;

/* What is traced is the call of this thread. Its memory is that of the call, and ends with it. */
static NOVA_THREAD_LOCAL nova_races nova_race_state;

/* Begins to trace a call. */
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
static uint32_t nova_race_new_team(nova_races *races, const char *place, nova_race_mark around)
{
    int64_t used = races->next - races->base;
    if (races->next + 1 == 0)
        nova_fail_memory(races->context, place);
    nova_race_team *teams = (nova_race_team *)nova_reserve(races->context, &races->teams, used,
                                                           used + 1, sizeof *teams, place);
    teams[used].place = place;
    teams[used].around = around;
    teams[used].depth = nova_race_depth(races, around.team) + 1;
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

/* Begins a parallel loop of this kind. */
static void nova_race_enter(const char *place, int kind)
{
    nova_races *races = &nova_race_state;
    nova_race_mark around = {NULL, 0, 0, 0};
    if (races->depth == 0) {
        /* What was touched before is over. */
        races->base = races->next;
    } else {
        const nova_race_frame *top = nova_race_top(races);
        around = top->now;
        if (kind == NOVA_RACE_THREADS && top->kind == NOVA_RACE_GROUP) {
            nova_race_push(races, around.team, 0, NOVA_RACE_SHARED);
            return;
        }
    }
    nova_race_push(races, nova_race_new_team(races, place, around), 0, kind);
}

/* An iteration has ended: it has met the others at all their barriers. */
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

/* Begins an iteration. */
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

/* Ends a parallel loop. */
static void nova_race_leave(void)
{
    nova_races *races = &nova_race_state;
    if (nova_race_top(races)->kind == NOVA_RACE_GROUP)
        races->depth--;
    nova_race_met(races);
    races->depth--;
}

/* All iterations of the innermost loop of this kind wait for each other. */
static void nova_race_barrier(int kind)
{
    nova_races *races = &nova_race_state;
    for (size_t k = races->depth; k > 0; k--) {
        nova_race_frame *frame = (nova_race_frame *)races->frames->data + (k - 1);
        if (kind == NOVA_RACE_THREADS && frame->kind == NOVA_RACE_GROUP) {
            const nova_race_team *team = nova_race_team_of(races, frame->now.team);
            frame->now.team = nova_race_new_team(races, team->place, team->around);
            return;
        }
        if (frame->kind == kind || (kind == NOVA_RACE_THREADS && frame->kind == NOVA_RACE_SHARED)) {
            frame->now.phase += 4;
            return;
        }
    }
}

/* The turn of an iteration begins, or ends; the threads of a work-group meet there. */
static void nova_race_turn(bool ends)
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

/* An iteration leaves the function, which would leave other iterations undone. */
static void nova_race_return(void)
{
    nova_races *races = &nova_race_state;
    nova_fail(races->context, NOVA_ERROR_DEVICE,
              "%s: race: an iteration of this parallel loop leaves the function",
              nova_race_team_of(races, nova_race_top(races)->now.team)->place);
}

/* Whether an operation of unknown cost becomes a parallel loop. */
static bool nova_race_may_split(void)
{
    return nova_race_state.depth < NOVA_RACE_DEEPEST;
}

/* Whether two accesses of one run may be made at the same time; both then become those of iterations
 * of one team, the innermost around them. */
static bool nova_race_parallel(const nova_races *races, nova_race_mark *a, nova_race_mark *b)
{
    while (a->team != b->team) {
        uint32_t depth_a = nova_race_depth(races, a->team);
        uint32_t depth_b = nova_race_depth(races, b->team);
        if (depth_a >= depth_b)
            *a = nova_race_team_of(races, a->team)->around;
        if (depth_b >= depth_a)
            *b = nova_race_team_of(races, b->team)->around;
    }
    if (a->team == 0 || a->iteration == b->iteration || a->phase / 4 != b->phase / 4)
        return false;
    /* What comes before the end of a turn comes before later turns, and what is behind them. */
    const nova_race_mark *first = a->iteration < b->iteration ? a : b;
    const nova_race_mark *second = first == a ? b : a;
    return first->phase % 4 > 1 || second->phase % 4 < 1;
}

/* Who an iteration is, for people. */
static void nova_race_name(char *name, size_t size, int64_t iteration)
{
    if (iteration == NOVA_RACE_ALL)
        snprintf(name, size, "every thread");
    else
        snprintf(name, size, "iteration %lld", (long long)iteration);
}

/* Ends the call if an access, made before, and this one race. */
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
    if (by_all && cell->own != 0 && cell->own == team->around.team)
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

/* Whether an access was made before all that can still run at the same time as this one. */
static bool nova_race_is_over(const nova_races *races, const nova_race_mark *before,
                              const nova_race_mark *now)
{
    nova_race_mark a = *before;
    nova_race_mark b = *now;
    return before->team < races->base || !nova_race_parallel(races, &a, &b);
}

/* Compares an access of a location with those before it, and keeps it. Writes that contend in the same
 * way do not race. */
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

/* Where a page is in a table of so many, or would be. */
static nova_race_page *nova_race_slot(nova_race_page *pages, size_t capacity, uintptr_t number)
{
    size_t k = (size_t)((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (capacity - 1);
    while (pages[k].number != 0 && pages[k].number != number)
        k = (k + 1) & (capacity - 1);
    return &pages[k];
}

/* The page of this number; null if none of its locations has been touched. */
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

/* Cells of locations of so many bytes. */
static nova_block *nova_race_cells(nova_races *races, size_t grain)
{
    nova_block *block;
    int64_t count = (int64_t)(NOVA_RACE_PAGE / grain);
    void *cells =
        nova_allocate(races->context, &block, count, sizeof(nova_race_cell), NULL);
    memset(cells, 0, (size_t)count * sizeof(nova_race_cell));
    return block;
}

/* Divides the locations of a page into smaller ones, which have been touched as they were. */
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

/* The page of a location at an address, whose locations are of so many bytes at most. */
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

/* An access of an element. */
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

/* An element that is read; gives its address. */
static inline void *nova_race_read(const void *address, size_t size, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, false, 0, what);
    return (void *)(uintptr_t)address;
}

/* An element that is written; gives its address. */
static inline void *nova_race_write(void *address, size_t size, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, true, 0, what);
    return address;
}

/* Ways in which several iterations write an element: one of their values stays, or the greatest. */
#define NOVA_RACE_ANY 1
#define NOVA_RACE_GREATEST 2

/* An element that is written in such a way; gives its address. */
static inline void *nova_race_contend(void *address, size_t size, int contends, const char *what)
{
    if (nova_race_state.depth != 0)
        nova_race_touch(address, size, true, contends, what);
    return address;
}

/* Elements that are read, each a number of bytes behind the one before. */
static void nova_race_reads(const void *address, int64_t count, size_t size, size_t stride,
                            const char *what)
{
    const unsigned char *bytes = (const unsigned char *)address;
    if (nova_race_state.depth == 0)
        return;
    for (int64_t k = 0; k < count; k++)
        nova_race_touch(bytes + (size_t)k * stride, size, false, 0, what);
}

/* Elements that are written, one behind the other. */
static void nova_race_writes(const void *address, int64_t count, size_t size, const char *what)
{
    const unsigned char *bytes = (const unsigned char *)address;
    if (nova_race_state.depth == 0)
        return;
    for (int64_t k = 0; k < count; k++)
        nova_race_touch(bytes + (size_t)k * size, size, true, 0, what);
}

/* Memory that is new, or becomes something else: nobody has touched it. */
static void nova_race_new(void *address, int64_t count, size_t size)
{
    nova_races *races = &nova_race_state;
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + (count > 0 ? (size_t)count * size : 0);
    if (races->depth == 0)
        return;
    while (begin < end) {
        uintptr_t behind = (begin / NOVA_RACE_PAGE + 1) * NOVA_RACE_PAGE;
        uintptr_t until = end < behind ? end : behind;
        if (nova_race_find(races, begin / NOVA_RACE_PAGE) != NULL) {
            size_t grain = nova_race_grain(begin, until);
            nova_race_page *page = nova_race_page_at(races, begin, grain);
            memset(nova_race_cell_at(page, begin), 0,
                   (until - begin) / page->grain * sizeof(nova_race_cell));
        }
        begin = until;
    }
}

/* A new variable or local array. What all threads of a group do there each of them does in its own. */
static void nova_race_local(void *address, int64_t count, size_t size)
{
    nova_races *races = &nova_race_state;
    nova_race_new(address, count, size);
    if (races->depth == 0 || nova_race_top(races)->kind != NOVA_RACE_GROUP)
        return;
    uint32_t groups = nova_race_team_of(races, nova_race_top(races)->now.team)->around.team;
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
