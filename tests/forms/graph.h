/* A graph with rows of neighbours of varying length, and every third node chosen. */
#ifndef GRAPH_H
#define GRAPH_H

#include "forms.h"

enum { MOST_NEIGHBOURS = 15 };

static int64_t nodes, choices, *offsets;
static int32_t *neighbours, *chosen;

static uint32_t drawn(void)
{
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void make_graph(int64_t size)
{
    nodes = size / (MOST_NEIGHBOURS / 2);
    choices = (nodes + 2) / 3;
    offsets = malloc(((size_t)nodes + 1) * sizeof *offsets);
    offsets[0] = 0;
    for (int64_t i = 0; i < nodes; i++)
        offsets[i + 1] = offsets[i] + (int64_t)(drawn() % MOST_NEIGHBOURS);
    neighbours = malloc((size_t)offsets[nodes] * sizeof *neighbours);
    for (int64_t i = 0; i < offsets[nodes]; i++)
        neighbours[i] = (int32_t)(drawn() % (uint32_t)nodes);
    chosen = malloc((size_t)choices * sizeof *chosen);
    for (int64_t i = 0; i < choices; i++)
        chosen[i] = (int32_t)(i * 3);
}

#endif
