/* The state of one call of a generated function: where an error leads, and every block of memory
 * that the call holds, so that an error can free them all. */
#ifndef NOVA_CONTEXT_H
#define NOVA_CONTEXT_H

#include "platform.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a message, the final 0 included. */
#define NOVA_MESSAGE_SIZE 512

/* A counted block of memory. The header lies apart from the data, so that the data of a result can
 * be given to the caller, who frees it with free(). A null pointer to a block stands for memory
 * that the caller owns. */
typedef struct nova_block {
    void *data;              /* null when this header is not in use */
    size_t bytes;            /* the size of data */
    int64_t references;      /* 0 frees the data */
    bool given;              /* the data goes to the caller when the call succeeds */
    struct nova_block *next; /* the next header not in use, or the next temporary */
} nova_block;

/* Headers are made many at a time and live as long as the call. */
#define NOVA_SLAB_SIZE 64
typedef struct nova_slab {
    struct nova_slab *next;
    int used;
    nova_block blocks[NOVA_SLAB_SIZE];
} nova_slab;

/* Blocks of at least this many bytes are kept for the next blocks of their size when their last
 * reference goes, so many of them at most. */
#define NOVA_SPARE_FROM 65536
#define NOVA_SPARES 4

/* The elements of the result of a call: in the caller's buffer, where they may be written there at
 * once, else in memory that becomes the caller's or is copied to the buffer at the end. */
typedef struct nova_result {
    void *buffer;      /* the caller's buffer; null if the result must be made elsewhere */
    int64_t capacity;  /* how many elements it has room for */
    void *data;        /* where the result is made; null before */
    nova_block *block; /* its block, if that is not the buffer */
} nova_result;

/* Frees what values of a foreign function's result hold. */
typedef void (*nova_discard)(void *values, int64_t count);

/* Defined by a program that has recursive data. */
struct nova_tables;

/* Defined for programs that use a device. */
struct nova_device_session;

typedef struct nova_context {
    jmp_buf escape;             /* where an error leads */
    int code;                   /* 0, or the error's code */
    char *message;              /* NOVA_MESSAGE_SIZE bytes for the error's message */
    uintptr_t stack_limit;      /* a frame below this address is one call too deep */
    int regions;                /* how many parallel regions are around, whoever began them */
    void *region;               /* the innermost; null if one thread does its chunks in order */
    void *slot;                 /* of the innermost of them that others may join; null if none */
    nova_block *free_headers;   /* headers to use again */
    int spare_count;            /* how many blocks are spare */
    nova_block *spares[NOVA_SPARES];
    nova_block *temporaries;    /* arguments of a foreign function, freed after its call */
    nova_slab *slabs;           /* all headers, the newest slab first */
    nova_slab first_slab;       /* enough for most programs */
    nova_result *result;        /* the result, if it is made in place */
    struct nova_tables *tables; /* the node tables of recursive data */
    struct nova_device_session *session; /* what the call has on a device, if it uses one */
    nova_discard discard;       /* on an error frees what is not the call's yet, if not null */
    void *discarded;            /* where that is */
    int64_t discarded_count;    /* how many values there are */
} nova_context;

#endif
