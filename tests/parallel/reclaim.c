/* Calls programs whose loops make recursive data anew in each iteration. The results are those of the
 * interpreter of the language. With LIMITED the process has too little memory for all nodes that the loops
 * make, and more than enough for those that they need at once. With NOVA_MOST_NODES there are few links. */
#define _XOPEN_SOURCE 700
#include "reclaim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef LIMITED
#include <sys/resource.h>
#endif

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void check_small(void)
{
    int32_t number;
    CHECK(reversals(&number, 1000, 21) == 0 && number == -541234676);
    CHECK(reversals(&number, 0, 3) == 0 && number == 0);
    nova_tuple2_int_int two;
    CHECK(inserted(&two, 3000) == 0 && two.e0 == 3000 && two.e1 == 377);
    int32_t lengths[5] = {0, 1, 2, 70, 300}, *results = NULL;
    int32_t expected[5] = {0, 1, 63, 814241309, -1779975062};
    int64_t count;
    CHECK(sums(&count, &results, 5, lengths) == 0 && count == 5);
    for (int k = 0; k < 5; k++)
        CHECK(results[k] == expected[k]);
    free(results);
    CHECK(roses(&number, 60) == 0 && number == -4444);
    nova_tuple3_int_int_int three;
    CHECK(mutual(&three, 3000) == 0);
    CHECK(three.e0 == 96198 && three.e1 == 3032 && three.e2 == 3000);
    CHECK(nested(&number, 9, 40) == 0 && number == -163100712);
}

#ifdef LIMITED
static void check_limited(void)
{
    struct rlimit limit = {100 << 20, 100 << 20};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    int32_t number;
    /* 240 MB of nodes. */
    CHECK(reversals(&number, 1000, 20000) == 0 && number == 262015092);
    nova_tuple3_int_int_int three;
    /* 144 MB of nodes. */
    CHECK(mutual(&three, 3000000) == 0);
    CHECK(three.e0 == 96000198 && three.e1 == 3000032 && three.e2 == 3000000);
    enum { VECTORS = 20000 };
    static int32_t lengths[VECTORS];
    for (int k = 0; k < VECTORS; k++)
        lengths[k] = 1000;
    int32_t *results = NULL;
    int64_t count;
    /* 480 MB of nodes. */
    CHECK(sums(&count, &results, VECTORS, lengths) == 0 && count == VECTORS);
    CHECK(results[0] == results[VECTORS - 1]);
    free(results);
    CHECK(roses(&number, 1000) == 0 && number == -1953064);
}
#endif

#ifdef NOVA_MOST_NODES
/* Links have room for few nodes: loops that need no more at once have results, and others an error. */
static void check_few_nodes(void)
{
    int32_t number;
    CHECK(reversals(&number, 1000, 21) == 0 && number == -541234676);
    CHECK(reversals(&number, 8000, 1) == 2);
    CHECK(strstr(reversals_error(), "more than 6000 nodes of one type (-DNOVA_WIDE_LINKS") != NULL);
}
#endif

int main(void)
{
#ifdef NOVA_MOST_NODES
    check_few_nodes();
    return 0;
#endif
    check_small();
#ifdef LIMITED
    check_limited();
#endif
    return 0;
}
