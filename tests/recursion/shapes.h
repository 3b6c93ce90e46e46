/* Trees of many shapes as tables of C, numbered in preorder. A tree of n leaves has n - 1 inner nodes. */
#ifndef SHAPES_H
#define SHAPES_H

#include "recursion.h"
#include "tree_sum.h"

/* A tree by its children, where node i is a leaf if `left` has -1 for it. */
struct shape {
    int64_t nodes, root;
    int64_t *left, *right;
};

static inline struct shape new_shape(int64_t leaves)
{
    int64_t nodes = 2 * leaves - 1;
    struct shape shape = {nodes, 0, get(nodes, 8), get(nodes, 8)};
    for (int64_t i = 0; i < nodes; i++)
        shape.left[i] = shape.right[i] = -1;
    return shape;
}

/* A path of inner nodes that goes to the right; or to the right and to the left in turn. */
static inline struct shape path(int64_t leaves, int turns)
{
    struct shape shape = new_shape(leaves);
    for (int64_t i = 0; i < leaves - 1; i++) {
        int64_t leaf = i + leaves - 1, next = i == leaves - 2 ? 2 * leaves - 2 : i + 1;
        int swap = turns && i % 2 == 1;
        shape.left[i] = swap ? next : leaf;
        shape.right[i] = swap ? leaf : next;
    }
    return shape;
}

static inline struct shape caterpillar(int64_t leaves)
{
    return path(leaves, 0);
}

static inline struct shape zigzag(int64_t leaves)
{
    return path(leaves, 1);
}

/* All leaves on two levels. */
static inline struct shape balanced(int64_t leaves)
{
    struct shape shape = new_shape(leaves);
    for (int64_t i = 0; i < leaves - 1; i++) {
        shape.left[i] = 2 * i + 1;
        shape.right[i] = 2 * i + 2;
    }
    return shape;
}

/* A path of k inner nodes with a balanced tree of k leaves at each of them and at the end, for the least
 * k that gives so many leaves. */
static inline struct shape comb(int64_t leaves)
{
    int64_t k = 1;
    while (k * (k + 1) < leaves)
        k++;
    struct shape shape = new_shape(k * (k + 1));
    int64_t size = 2 * k - 1;
    for (int64_t i = 0; i < k; i++) {
        shape.left[i] = k + i * size;
        shape.right[i] = i == k - 1 ? k + k * size : i + 1;
    }
    for (int64_t tooth = 0; tooth <= k; tooth++)
        for (int64_t j = 0; j < k - 1; j++) {
            int64_t base = k + tooth * size;
            shape.left[base + j] = base + 2 * j + 1;
            shape.right[base + j] = base + 2 * j + 2;
        }
    return shape;
}

/* A tree drawn evenly among all, by Remy's algorithm. Node i is a leaf if it is even. */
static inline struct shape random_tree(int64_t leaves)
{
    struct shape shape = new_shape(leaves);
    uint64_t state = 1234567;
    for (int64_t k = 1; k < leaves; k++) {
        /* The link to some node becomes one to a new inner node, with that node and a new leaf. */
        int64_t inner = 2 * k - 1, leaf = 2 * k;
        uint64_t drawn = draw(&state) % (uint64_t)(4 * k - 2);
        /* Link 0 is the root; links i and i + 1 are those of inner node i. */
        int64_t link = (int64_t)(drawn / 2);
        int64_t *slot = link == 0 ? &shape.root
                        : link % 2 == 1 ? &shape.left[link] : &shape.right[link - 1];
        shape.left[inner] = drawn % 2 ? leaf : *slot;
        shape.right[inner] = drawn % 2 ? *slot : leaf;
        *slot = inner;
    }
    return shape;
}

/* The largest Fibonacci tree of at most so many leaves: the children of number k are those of numbers
 * k - 1 and k - 2. */
static inline int64_t grow_fibonacci(struct shape *shape, int64_t *used, int k)
{
    int64_t at = (*used)++;
    if (k >= 2) {
        int64_t left = grow_fibonacci(shape, used, k - 1);
        shape->left[at] = left;
        shape->right[at] = grow_fibonacci(shape, used, k - 2);
    }
    return at;
}

static inline struct shape fibonacci(int64_t leaves)
{
    int64_t a = 1, b = 2, used = 0;
    int k = 1;
    for (; b <= leaves; k++) {
        int64_t sum = a + b;
        a = b;
        b = sum;
    }
    struct shape shape = new_shape(a);
    grow_fibonacci(&shape, &used, k);
    return shape;
}

static inline struct shape shape_of(struct setting setting, int64_t leaves)
{
    static const struct {
        const char *name;
        struct shape (*make)(int64_t leaves);
    } shapes[] = {{"caterpillar", caterpillar}, {"zigzag", zigzag}, {"balanced", balanced},
                  {"comb", comb},               {"random", random_tree}, {"Fibonacci", fibonacci}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (is(setting, shapes[k].name))
            return shapes[k].make(leaves);
    fail("usage", "no such shape");
}

/* The table of a shape in preorder, whose values are the numbers of its nodes. */
static inline nova_data_Tree_int table_of(struct shape shape)
{
    nova_data_Tree_int tree = {.root = 0, .len = shape.nodes, .nodes = get(shape.nodes, sizeof *tree.nodes)};
    /* Nodes that wait for a number, each with the node whose right child it is, or -1. */
    int64_t (*stack)[2] = get(shape.nodes + 1, sizeof *stack);
    int64_t used = 0, number = 0;
    stack[used][0] = shape.root;
    stack[used++][1] = -1;
    while (used > 0) {
        int64_t node = stack[--used][0], parent = stack[used][1], at = number++;
        if (parent >= 0)
            tree.nodes[parent].u.Node.e2 = at;
        if (shape.left[node] < 0) {
            tree.nodes[at].tag = NOVA_Tree_Leaf;
            tree.nodes[at].u.Leaf = (int32_t)at;
            continue;
        }
        tree.nodes[at].tag = NOVA_Tree_Node;
        tree.nodes[at].u.Node.e0 = (int32_t)at;
        tree.nodes[at].u.Node.e1 = at + 1;
        stack[used][0] = shape.right[node];
        stack[used++][1] = at;
        stack[used][0] = shape.left[node];
        stack[used++][1] = -1;
    }
    if (number != shape.nodes)
        fail("shapes", "a shape has other nodes than it says");
    free(stack);
    free(shape.left);
    free(shape.right);
    return tree;
}

#endif
