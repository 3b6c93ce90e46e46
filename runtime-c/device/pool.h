/* What programs for any device keep: memory on it that is given back, for what comes next, and the
 * queues of calls that have ended; and what a call has there. */
#ifndef NOVA_POOL_H
#define NOVA_POOL_H

#include "../common/errors.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Threads of a block (OpenCL's word: work-group), and blocks of a kernel at most. So many blocks are to
 * have room on a multiprocessor of CUDA, whose registers are 64 for each of 1024 threads; compilers that
 * are told nothing take half of these, and have fewer loads under way. */
#ifndef NOVA_BLOCK_SIZE
#define NOVA_BLOCK_SIZE 256
#endif
#ifndef NOVA_LEAST_BLOCKS
#define NOVA_LEAST_BLOCKS (NOVA_BLOCK_SIZE < 1024 ? 1024 / NOVA_BLOCK_SIZE : 1)
#endif
#ifndef NOVA_MAX_BLOCKS
#define NOVA_MAX_BLOCKS 65536
#endif

/* So many pieces of memory are kept at most, and so many queues. */
#define NOVA_KEPT 64
#define NOVA_KEPT_QUEUES 16

typedef struct nova_piece_of_memory {
    nova_device_memory memory;
    size_t bytes;
} nova_piece_of_memory;

typedef struct nova_kept {
    nova_piece_of_memory pieces[NOVA_KEPT];
    int count;
} nova_kept;

/* Takes a piece of exactly this many bytes; null if none is kept. */
static nova_device_memory nova_take_kept(nova_kept *kept, size_t bytes)
{
    for (int k = kept->count - 1; k >= 0; k--) {
        if (kept->pieces[k].bytes == bytes) {
            nova_device_memory memory = kept->pieces[k].memory;
            kept->pieces[k] = kept->pieces[--kept->count];
            return memory;
        }
    }
    return NULL;
}

/* Keeps a piece; false if there is no room for one more. */
static bool nova_keep_piece(nova_kept *kept, nova_device_memory memory, size_t bytes)
{
    if (kept->count == NOVA_KEPT)
        return false;
    kept->pieces[kept->count].memory = memory;
    kept->pieces[kept->count++].bytes = bytes;
    return true;
}

/* Releases all pieces. */
static void nova_release_kept(nova_kept *kept)
{
    while (kept->count > 0)
        nova_release_memory(kept->pieces[--kept->count].memory);
}

/* What no call of a program uses. The lock also guards the device that the pool belongs to. */
typedef struct nova_pool_of_device {
    pthread_mutex_t lock;
    nova_queue queues[NOVA_KEPT_QUEUES];
    int queue_count;
    nova_kept kept;
    bool asked;                   /* whether the user has been asked for a profile, */
    struct nova_profile *profile; /* and it, if he wants one (device/profile.h) */
} nova_pool_of_device;

/* A pool without anything. */
#define NOVA_EMPTY_POOL {PTHREAD_MUTEX_INITIALIZER, {NULL}, 0, {{{NULL, 0}}, 0}, false, NULL}

/* What a call has on a device. */
typedef struct nova_device_session {
    struct nova_device *device;
    nova_queue queue;
    bool lent;                   /* the queue is the caller's, and results go to the device */
    int previous;                /* CUDA: the device that the host's thread used before */
    nova_kept kept;              /* memory given back, which kernels before may still use */
    struct nova_mirror *mirrors; /* arrays of the call, as a tree over their addresses */
    uint64_t random;             /* for the shape of that tree */
    nova_device_memory failure;  /* what a kernel writes that fails */
    bool may_have_failed;        /* whether kernels that may have run since that was looked at */
    nova_device_memory heap;     /* the memory of threads of kernels, */
    size_t heap_bytes;
    int64_t slice;               /* and what each has of it */
    struct nova_profile *profile; /* what the call takes times for; null: none are taken */
    struct nova_noted *noted;     /* operations that have not been added to it yet, */
    int noted_count;              /* and how many */
} nova_session;

/* Takes a queue that no call uses; null if there is none. The lock is held. */
static nova_queue nova_take_queue(nova_pool_of_device *pool)
{
    return pool->queue_count > 0 ? pool->queues[--pool->queue_count] : NULL;
}

/* Gives the memory and the queue of a call back, whose kernels have ended; null, or the queue if
 * there is no room for one more. One that the caller has lent stays the caller's. */
static nova_queue nova_give_back(nova_pool_of_device *pool, nova_session *session)
{
    nova_queue left = session->lent ? NULL : session->queue;
    pthread_mutex_lock(&pool->lock);
    while (session->kept.count > 0
           && nova_keep_piece(&pool->kept, session->kept.pieces[session->kept.count - 1].memory,
                              session->kept.pieces[session->kept.count - 1].bytes))
        session->kept.count--;
    if (left != NULL && pool->queue_count < NOVA_KEPT_QUEUES) {
        pool->queues[pool->queue_count++] = left;
        left = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    nova_release_kept(&session->kept);
    return left;
}

/* Whether a device is one that the user asks for: its number among all, or a part of its name. */
static bool nova_is_wanted(const char *name, unsigned number, const char *wanted)
{
    char *end;
    unsigned long asked = strtoul(wanted, &end, 10);
    if (end != wanted && *end == '\0')
        return asked == number;
    return strstr(name, wanted) != NULL;
}

/* What the user asks for; null if he does not. */
static const char *nova_wanted_device(void)
{
    const char *wanted = getenv("NOVA_DEVICE");
    return wanted == NULL || *wanted == '\0' ? NULL : wanted;
}

/* Memory of at least this many bytes: sizes are rounded up to eighths of powers of two, so that what
 * one call gives back fits another. */
static size_t nova_rounded(size_t bytes)
{
    size_t unit = 256;
    while (unit < bytes / 8)
        unit *= 2;
    return (bytes + unit - 1) / unit * unit;
}

#endif
