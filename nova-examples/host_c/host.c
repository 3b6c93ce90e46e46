/* A host application in C: two NOVA programs linked in, every kind of argument and result. */
#include "statistics.h"
#include "words.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stops with the message unless a call went well. */
static void expect_success(int code, const char *message)
{
    if (code == 0)
        return;
    fprintf(stderr, "host: %s\n", message);
    exit(1);
}

/* Rows of different lengths are one array and the offsets of the rows in it: here 3, 0 and 2. */
static const float rows[] = {1.5f, 2.5f, 5.0f, 10.0f, 20.0f};
static const int64_t offsets[] = {0, 3, 3, 5};

static void nested_vectors(void)
{
    /* A result pointer that is NULL is allocated by the function and freed by us. */
    int64_t count, *longer_offsets = NULL;
    float *longer = NULL;
    expect_success(longer_rows(&count, &longer_offsets, &longer, 3, offsets, rows, 0),
                   longer_rows_error());
    for (int64_t r = 0; r < count; r++) {
        printf("row of %d:", (int)(longer_offsets[r + 1] - longer_offsets[r]));
        for (int64_t k = longer_offsets[r]; k < longer_offsets[r + 1]; k++)
            printf(" %g", longer[k]);
        printf("\n");
    }

    /* One that is not is filled, and must be large enough. */
    const int64_t two_rows[] = {0, 3, 5};
    float means[2], *means_pointer = means;
    int64_t room = 1;
    int code = row_means(&room, &means_pointer, 2, two_rows, rows);
    printf("a buffer of 1: error %d, %d are needed\n", code, (int)room);
    room = 2;
    expect_success(row_means(&room, &means_pointer, 2, two_rows, rows), row_means_error());
    printf("means: %g %g\n", means[0], means[1]);
    free(longer_offsets);
    free(longer);
}

static void arrays_and_tuples(void)
{
    const float matrix[] = {1, 2, 3, 4, 5, 6};
    float *columns = NULL;
    int64_t height, width;
    expect_success(turned(&height, &width, &columns, 2, 3, matrix), turned_error());
    printf("%d x %d:", (int)height, (int)width);
    for (int64_t k = 0; k < height * width; k++)
        printf(" %g", columns[k]);
    printf("\n");
    free(columns);

    const nova_tuple2_float_float points[] = {{1, 2}, {3, 4}};
    nova_tuple2_float_float *swapped = NULL;
    int64_t count;
    expect_success(mirrored(&count, &swapped, 2, points), mirrored_error());
    printf("mirrored: (%g, %g) (%g, %g)\n", swapped[0].e0, swapped[0].e1, swapped[1].e0,
           swapped[1].e1);
    free(swapped);
}

static void sums_and_trees(void)
{
    const char *text = "It was the best of times, it was the worst of times";
    nova_sum_Most most;
    expect_success(most_frequent(&most, (int64_t)strlen(text), (const uint8_t *)text),
                   most_frequent_error());
    if (most.tag == NOVA_Most_Letter)
        printf("most frequent: %c, %d times\n", most.u.Letter.e0, most.u.Letter.e1);

    /* A recursive value is a table of nodes that name each other by index. */
    const int32_t numbers[] = {5, 2, 8, 1, 9};
    nova_data_Tree tree;
    expect_success(grow(&tree, 5, numbers), grow_error());
    printf("the tree's root: %d\n", tree.nodes[tree.root].u.Node.e1);
    int64_t count;
    int32_t *sorted = NULL;
    expect_success(in_order(&count, &sorted, tree), in_order_error());
    for (int64_t k = 0; k < count; k++)
        printf("%s%d", k > 0 ? " " : "in order: ", sorted[k]);
    printf("\n");
    free(sorted);
    nova_data_Tree_free(&tree);
}

static void errors(void)
{
    float value = 0.0f;
    int code = element(&value, 3, offsets, rows, 0, 7);
    printf("error %d: %s\n", code, element_error());
    code = element(&value, -1, offsets, rows, 0, 0);
    printf("error %d: %s\n", code, element_error());
    expect_success(element(&value, 3, offsets, rows, 2, 1), element_error());
    printf("and on: %g\n", value);
}

/* Functions may be called from any number of threads; each has its own last error. */
static void *thread(void *argument)
{
    int failures = 0;
    for (int round = 0; round < 200; round++) {
        float value;
        failures += element(&value, 3, offsets, rows, 0, round) != 0;
        int32_t numbers[] = {round, 3, 1, 2};
        nova_data_Tree tree;
        expect_success(grow(&tree, 4, numbers), grow_error());
        nova_data_Tree_free(&tree);
    }
    *(int *)argument = failures;
    return NULL;
}

static void threads(void)
{
    pthread_t workers[4];
    int failures[4], total = 0;
    for (int k = 0; k < 4; k++)
        expect_success(pthread_create(&workers[k], NULL, thread, &failures[k]), "no thread");
    for (int k = 0; k < 4; k++) {
        pthread_join(workers[k], NULL);
        total += failures[k];
    }
    printf("4 threads, %d errors of 800 calls\n", total);
}

int main(void)
{
    nested_vectors();
    arrays_and_tuples();
    sums_and_trees();
    errors();
    threads();
    return 0;
}
