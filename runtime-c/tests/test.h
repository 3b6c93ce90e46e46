/* Definitions that the tests of the runtime share. */
#ifndef NOVA_TEST_H
#define NOVA_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test with a message unless the condition holds. */
#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

#endif
