/* What the programs with OpenBLAS share: the library, loaded when it is first needed, so that they
 * compile without it, and told how many threads it may use (THREADS, else one). */
#ifndef PEER_OPENBLAS_H
#define PEER_OPENBLAS_H

#include "peer.h"
#include <dlfcn.h>

#ifndef THREADS
#define THREADS 1
#endif

/* The enumerations of the C interface of BLAS that are used here. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111 };

enum {
    /* The error where the library is missing. */
    NO_LIBRARY = 3,
    /* The lengths of the interface are those of int: longer vectors are done in parts. */
    LONGEST = 1 << 30,
};

/* One of the library's functions, null where there is none. */
static void *openblas(const char *name)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == NULL)
        return NULL;
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    if (set_threads != NULL)
        set_threads(THREADS);
    return dlsym(library, name);
}

/* How many of the n elements from i on are done together. */
static inline int part_of(int64_t n, int64_t i)
{
    return n - i < LONGEST ? (int)(n - i) : LONGEST;
}

#endif
