/* Irregular rows shared among threads by their elements: chunks have equal weights, that of a row
 * being its elements and something for the row itself. A row belongs to the chunk it begins in,
 * unless it is longer than a chunk: then each chunk sums its part of it, and the parts are added at
 * the end. */
#ifndef ROWS_OPENMP_H
#define ROWS_OPENMP_H

#include "openmp.h"

/* What a row weighs beside its elements. */
enum { ROW_WEIGHT = 4 };

/* Rows, and what is done with them. */
typedef struct {
    const int64_t *offsets;
    int64_t count;
    /* Writes the sums of the rows from `begin` to `end`. */
    void (*sum_rows)(const void *data, int64_t begin, int64_t end);
    /* The sum of the elements from `begin` to `end`, all of one row. */
    double (*sum_part)(const void *data, int64_t begin, int64_t end);
    const void *data;
    float *out;
} irregular;

/* What a chunk found of long rows: of the one it begins in, and of the one that begins in it. */
typedef struct {
    double head, tail;
} parts_of_rows;

static inline int64_t weight_before(const irregular *rows, int64_t row)
{
    return rows->offsets[row] + ROW_WEIGHT * row;
}

/* The first row that begins at a weight or behind it. */
static inline int64_t first_row(const irregular *rows, int64_t weight)
{
    int64_t low = 0, high = rows->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (weight_before(rows, middle) < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where chunks meet: the first row that begins behind, and how far the row before it is done, which
 * is to its end unless it is long. */
typedef struct {
    int64_t row, element;
} border;

static inline border border_at(const irregular *rows, chunks all, int64_t chunk)
{
    int64_t weight = chunk_begin(all, chunk), row = first_row(rows, weight);
    int64_t end = rows->offsets[row];
    if (row == 0 || chunk == all.count)
        return (border){row, end};
    int64_t begin = rows->offsets[row - 1];
    int64_t reached = weight - ROW_WEIGHT * row;
    if (end - begin <= all.length)
        reached = end;
    reached = reached < begin ? begin : reached;
    return (border){row, reached < end ? reached : end};
}

/* Whether the row before a border goes on behind it. */
static inline int goes_on(const irregular *rows, border at)
{
    return at.element < rows->offsets[at.row];
}

static void sum_chunk(const irregular *rows, chunks all, int64_t chunk, parts_of_rows *parts)
{
    border from = border_at(rows, all, chunk), to = border_at(rows, all, chunk + 1);
    if (goes_on(rows, from)) {
        int64_t end = rows->offsets[from.row];
        parts->head = rows->sum_part(rows->data, from.element, end < to.element ? end : to.element);
    }
    int64_t whole = to.row;
    if (whole > from.row && goes_on(rows, to)) {
        whole--;
        parts->tail = rows->sum_part(rows->data, rows->offsets[whole], to.element);
    }
    rows->sum_rows(rows->data, from.row, whole);
}

/* Writes the sums of all rows; 2 if there is no memory. */
static int sum_irregular(const irregular *rows)
{
    chunks all = cut(weight_before(rows, rows->count), CHEAP / 4, 1);
    if (all.count <= 1) {
        rows->sum_rows(rows->data, 0, rows->count);
        return 0;
    }
    parts_of_rows *parts = calloc((size_t)all.count, sizeof *parts);
    if (parts == NULL)
        return 2;
#pragma omp parallel for schedule(dynamic)
    for (int64_t c = 0; c < all.count; c++)
        sum_chunk(rows, all, c, &parts[c]);
    /* The rows that several chunks share. */
    double sum = 0;
    for (int64_t c = 1; c < all.count; c++) {
        border at = border_at(rows, all, c), before = border_at(rows, all, c - 1);
        if (!goes_on(rows, at))
            continue;
        if (at.row > before.row)
            sum = parts[c - 1].tail;
        sum += parts[c].head;
        rows->out[at.row - 1] = (float)sum;
    }
    free(parts);
    return 0;
}

#endif
