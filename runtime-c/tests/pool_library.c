/* A library that stands for a generated program; pool_loader.c loads several. */
#include "pool_test.h"

#if defined(__cplusplus)
extern "C" {
#endif
int library_work(void);
int library_threads(void);
const void *library_pool(void);
#if defined(__cplusplus)
}
#endif

static void mark(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    ((int *)environment)[chunk]++;
}

/* Runs regions; returns 0 if all is well. */
int library_work(void)
{
    int marks[100] = {0};
    char message[NOVA_MESSAGE_SIZE] = "";
    for (int i = 0; i < 10; i++)
        if (run(100, mark, marks, message) != 0)
            return 1;
    for (int i = 0; i < 100; i++)
        if (marks[i] != 10)
            return 2;
    return 0;
}

int library_threads(void)
{
    return nova_count_threads();
}

const void *library_pool(void)
{
    return &NOVA_POOL;
}
