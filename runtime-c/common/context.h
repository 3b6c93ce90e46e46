/* The state of one call of a generated function: the destination of errors, and every block of memory
 * of the call, so that an error can free them all. */
#ifndef NOVA_CONTEXT_H
#define NOVA_CONTEXT_H

#include "platform.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a message, the final 0 included. */
#define NOVA_MESSAGE_SIZE 512

/* A counted block of memory. The header is apart from the data, so that the data of a result can go to
 * the caller, who frees it with free(). A null pointer to a block stands for memory that the caller
 * owns. */
typedef struct nova_block {
    void *data;              /* null when this header is not in use */
    size_t bytes;            /* the size of data */
    int64_t references;      /* 0 frees the data */
    bool given;              /* the data goes to the caller when the call succeeds */
    struct nova_block *next; /* the next header not in use, or the next temporary */
} nova_block;

/* Headers are allocated many at a time, and live as long as the call. */
#define NOVA_SLAB_SIZE 64
typedef struct nova_slab {
    struct nova_slab *next;
    int used;
    nova_block blocks[NOVA_SLAB_SIZE];
} nova_slab;

/* The small arrays of a result that has many of them, as the rows of a vector of vectors. They need no
 * header: they go to the caller after success, and are freed after an error. */
#define NOVA_ROWS_SIZE 510
typedef struct nova_rows {
    struct nova_rows *next;
    int64_t used;
    void *data[NOVA_ROWS_SIZE];
} nova_rows;

/* Blocks of at least this many bytes become spare when their last reference goes: the next blocks of
 * their size use them. NOVA_SPARES is the largest number of spare blocks. */
#define NOVA_SPARE_FROM 65536
#define NOVA_SPARES 16

/* So many of the smaller blocks become spare too, if they have at most this many bytes. */
#define NOVA_SMALL_SPARES 8
#define NOVA_SMALL_BYTES 4096

/* The elements of the result of a call. They are in the caller's buffer if they may be written there at
 * once. Otherwise their memory goes to the caller, or is copied to the buffer at the end. */
typedef struct nova_result {
    void *buffer;      /* the caller's buffer; null if the result must be made elsewhere */
    int64_t capacity;  /* the number of elements it has room for */
    void *data;        /* the memory of the result; null before it exists */
    nova_block *block; /* its block, if that is not the buffer */
} nova_result;

/* Frees the memory inside values of a foreign function's result. */
typedef void (*nova_discard)(void *values, int64_t count);

/* Defined by a program that has recursive data. */
struct nova_tables;

/* Defined for programs that use a device. */
struct nova_device_session;

typedef struct nova_context {
    jmp_buf escape;             /* the destination of errors */
    int code;                   /* 0, or the code of the error */
    char *message;              /* NOVA_MESSAGE_SIZE bytes for the error's message */
    uintptr_t stack_limit;      /* a frame below this address is one call too deep */
    int regions;                /* the number of enclosing parallel regions, in any thread */
    uint32_t thread;            /* its number in the pool; 0 if it is not of the pool */
    void *region;               /* the innermost; null if one thread does its chunks in order */
    void *slot;                 /* of the innermost one that others may join; null if none */
    nova_block *free_headers;   /* headers to use again */
    int spare_count;            /* the number of spare blocks */
    nova_block *spares[NOVA_SPARES]; /* the oldest first */
    nova_block *small_spares[NOVA_SMALL_SPARES]; /* null, or a block without references */
    int small_spare;            /* the one that is given up next */
    size_t spare_bytes;         /* the bytes of all spare blocks */
    size_t used_bytes;          /* about the bytes of the other large blocks */
    size_t most_bytes;          /* the largest number of bytes that were used at a time */
    nova_block *temporaries;    /* arguments of a foreign function, freed after its call */
    nova_slab *slabs;           /* all headers, the newest slab first */
    nova_slab first_slab;       /* enough for most programs */
    nova_rows *rows;            /* the small arrays of results, the newest first; null if there are none */
    nova_result *result;        /* the result, if it is made in place */
    struct nova_tables *tables; /* the node tables of recursive data */
    const void *sharing;        /* how threads append to them; null if they do not */
    void *spaces;               /* the memory of the tables to which threads append, */
    void (*free_spaces)(struct nova_context *context); /* and what frees it; null if there is none */
    struct nova_device_session *session; /* the state on a device, if the call uses one */
    nova_discard discard;       /* frees values that are not yet the call's after an error; may be null */
    void *discarded;            /* the address of these values */
    int64_t discarded_count;    /* the number of these values */
} nova_context;

#endif
