/* Tests of reclaiming, on random tables whose nodes hold links and arrays of links: exactly the nodes that
 * are reached stay, they have the same neighbours as before, and arrays are released with their nodes. The
 * nodes of a table follow each other, or lie in runs of places between those of other threads. */
#include "../common/call.h"
#include "../common/reclaim.h"
#include "test.h"

enum { TABLES = 3, MOST = 200, LINKS = 2, ARRAYS = 6, LENGTH = 8 };

/* A node. Its links and the links of its array lead to the table after its own. */
typedef struct node {
    int id, count;
    nova_link links[LINKS];
    int64_t *array;
    int64_t length;
    nova_block *block;
} node;

/* The nodes that a node had at first, by their numbers. */
typedef struct known {
    bool is_live;
    int neighbours[LINKS + LENGTH];
    int count;
} known;

static int used;
static node nodes[TABLES][MOST];
static int64_t counts[TABLES], firsts[TABLES];
static bool others[TABLES][MOST]; /* the places of other threads */
static nova_place_run runs[TABLES][MOST];
static int64_t run_counts[TABLES];
static known all[TABLES * MOST];
static uint64_t state = 1;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

/* A random node of a table, before a limit. */
static int64_t node_below(int64_t table, int64_t limit)
{
    int64_t found = below(limit);
    while (others[table][found])
        found = below(limit);
    return found;
}

/* Gives places to other threads, whose nodes hold no arrays, and the rest of the places to runs. The
 * loop's first node may be the first of its run. */
static void divide(int64_t table)
{
    int64_t count = counts[table], runs_from = below(firsts[table] + 1), before = below(5), made = 0;
    bool divided = below(2) == 0;
    nova_place_run *own = runs[table];
    for (int64_t i = 0; i < MOST; i++)
        others[table][i] = divided && i > firsts[table] && i + 1 < count && below(4) == 0;
    for (int64_t i = runs_from; i < count; i++) {
        if (others[table][i])
            continue;
        if (made == 0 || own[made - 1].end < i) {
            nova_place_run run = {i, i, before};
            own[made++] = run;
        }
        own[made - 1].end = i + 1;
        before++;
    }
    run_counts[table] = 0;
    if (divided && made > 0) {
        /* The run of the next node may have more places. */
        own[made - 1].end += below(3);
        run_counts[table] = made;
    }
}

static int64_t target_of(int64_t table)
{
    return (table + 1) % used;
}

static void see(nova_context *context, nova_reclaim *reclaim, int64_t table, int64_t link)
{
    node *own = &nodes[table][link];
    for (int k = 0; k < own->count; k++)
        own->links[k] =
            (nova_link)nova_see_link(context, reclaim, target_of(table), own->links[k]);
    nova_see_links(context, reclaim, target_of(table), own->array, own->length);
}

static void drop(nova_context *context, int64_t table, int64_t link)
{
    nova_release(context, nodes[table][link].block);
}

/* Writes the numbers of the nodes to which a node links. Returns how many there are. */
static int neighbours(int64_t table, const node *own, int *found)
{
    int count = 0;
    const node *others = nodes[target_of(table)];
    for (int k = 0; k < own->count; k++)
        found[count++] = others[own->links[k]].id;
    for (int64_t k = 0; k < own->length; k++)
        found[count++] = others[own->array[k]].id;
    return count;
}

/* Notes that a node, and all that it reaches, must stay. */
static void reach(int64_t table, int64_t link)
{
    const node *own = &nodes[table][link];
    if (all[own->id].is_live)
        return;
    all[own->id].is_live = true;
    for (int k = 0; k < own->count; k++)
        reach(target_of(table), own->links[k]);
    for (int64_t k = 0; k < own->length; k++)
        reach(target_of(table), own->array[k]);
}

/* Fills the tables. Old nodes link to old ones only, through arrays too. Young ones link to any earlier node,
 * and in one table also to later ones. */
static void fill(nova_context *context, nova_block **blocks, int64_t (*lengths)[2])
{
    used = 1 + (int)below(TABLES);
    int id = 0;
    for (int t = 0; t < used; t++) {
        counts[t] = 1 + below(MOST);
        firsts[t] = 1 + below(counts[t]);
        divide(t);
    }
    for (int a = 0; a < ARRAYS; a++) {
        int64_t table = below(used), length = 1 + below(LENGTH);
        int64_t *links =
            (int64_t *)nova_allocate(context, &blocks[a], length, sizeof(int64_t), NULL);
        bool old = a % 2 == 0;
        for (int64_t k = 0; k < length; k++)
            links[k] = node_below(target_of(table),
                                  old ? firsts[target_of(table)] : counts[target_of(table)]);
        lengths[a][0] = table;
        lengths[a][1] = length;
    }
    for (int t = 0; t < used; t++)
        for (int64_t i = 0; i < counts[t]; i++) {
            node *own = &nodes[t][i];
            bool old = i < firsts[t];
            int64_t to = target_of(t), limit = old ? firsts[to] : counts[to];
            own->id = id++;
            own->count = (int)below(LINKS + 1) * (int)below(2);
            for (int k = 0; k < own->count; k++)
                own->links[k] = (nova_link)node_below(to, limit);
            int a = (int)below(ARRAYS);
            own->array = NULL;
            own->length = 0;
            own->block = NULL;
            if (!others[t][i] && lengths[a][0] == t && (a % 2 == 0 || !old) && below(3) == 0) {
                int64_t start = below(lengths[a][1]);
                own->array = (int64_t *)blocks[a]->data + start;
                own->length = 1 + below(lengths[a][1] - start);
                own->block = blocks[a];
                nova_retain(own->block);
            }
        }
    for (int t = 0; t < used; t++)
        for (int64_t i = 0; i < counts[t]; i++) {
            known *own = &all[nodes[t][i].id];
            own->is_live = false;
            own->count = neighbours(t, &nodes[t][i], own->neighbours);
        }
}

/* Checks the nodes of a table. Returns the number of those that stay of the loop. */
static int64_t check_nodes(int64_t table)
{
    int64_t live = 0, last = -1;
    for (int64_t i = 0; i < counts[table]; i++) {
        if (others[table][i])
            continue;
        const node *own = &nodes[table][i];
        int found[LINKS + LENGTH];
        int count = neighbours(table, own, found);
        CHECK(count == all[own->id].count);
        CHECK(memcmp(found, all[own->id].neighbours, (size_t)count * sizeof(int)) == 0);
        CHECK(i < firsts[table] || all[own->id].is_live);
        CHECK(last < 0 || own->id > nodes[table][last].id);
        live += i >= firsts[table];
        last = i;
    }
    return live;
}

static void body(nova_context *context, void *argument)
{
    (void)argument;
    nova_block *blocks[ARRAYS];
    int64_t lengths[ARRAYS][2];
    fill(context, blocks, lengths);
    nova_target roots[3];
    int root_ids[3], root_count = (int)below(4), live = 0;
    for (int k = 0; k < root_count; k++) {
        roots[k].table = below(used);
        roots[k].link = node_below(roots[k].table, counts[roots[k].table]);
        root_ids[k] = nodes[roots[k].table][roots[k].link].id;
        reach(roots[k].table, roots[k].link);
    }
    nova_young young[TABLES];
    int64_t made[TABLES] = {0};
    for (int t = 0; t < used; t++) {
        young[t].nodes = (char *)nodes[t];
        young[t].size = sizeof(node);
        young[t].total = &counts[t];
        young[t].first = firsts[t];
        young[t].runs = runs[t];
        young[t].run_count = run_counts[t];
        for (int64_t i = firsts[t]; i < counts[t]; i++) {
            live += !others[t][i] && all[nodes[t][i].id].is_live;
            made[t] += !others[t][i];
        }
    }
    nova_reclaim_nodes(context, young, used, roots, root_count, see, drop, NULL);
    for (int k = 0; k < root_count; k++)
        CHECK(nodes[roots[k].table][roots[k].link].id == root_ids[k]);
    int64_t references[ARRAYS] = {0};
    for (int t = 0; t < used; t++) {
        int64_t stay = check_nodes(t);
        live -= (int)stay;
        CHECK(young[t].stay == stay && young[t].made == made[t]);
        CHECK(nova_next_reclaim(&young[t]) >= NOVA_FIRST_RECLAIM);
        for (int64_t i = 0; i < counts[t]; i++)
            for (int a = 0; a < ARRAYS; a++)
                references[a] += !others[t][i] && nodes[t][i].block == blocks[a];
    }
    CHECK(live == 0);
    for (int a = 0; a < ARRAYS; a++)
        CHECK(blocks[a]->references == 1 + references[a]);
}

int main(void)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    for (int test = 0; test < 3000; test++)
        CHECK(nova_call(body, NULL, message) == 0);
    return 0;
}
