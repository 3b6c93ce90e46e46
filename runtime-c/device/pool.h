/* The pool of a program for any device: memory that has been given back, for later allocations, and the
 * queues of calls that have ended. Also the state of a call on the device. */
#ifndef NOVA_POOL_H
#define NOVA_POOL_H

#include "../common/errors.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The number of threads of a block (OpenCL's word: work-group), and the largest number of blocks of a
 * kernel. NOVA_LEAST_BLOCKS blocks must have room on a multiprocessor of CUDA, which has 64 registers
 * for each of 1024 threads. Without this bound compilers use half of these registers, and have fewer
 * loads in flight. Blocks that wait for each other in an ordered region are NOVA_LEAST_ORDERED_BLOCKS:
 * while one waits, others run. */
#ifndef NOVA_BLOCK_SIZE
#define NOVA_BLOCK_SIZE 256
#endif
#ifndef NOVA_LEAST_BLOCKS
#define NOVA_LEAST_BLOCKS (NOVA_BLOCK_SIZE < 1024 ? 1024 / NOVA_BLOCK_SIZE : 1)
#endif
#ifndef NOVA_LEAST_ORDERED_BLOCKS
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define NOVA_LEAST_ORDERED_BLOCKS NOVA_LEAST_BLOCKS /* Turing runs 1024 threads at a time. */
#else
#define NOVA_LEAST_ORDERED_BLOCKS (NOVA_BLOCK_SIZE < 1024 ? 1536 / NOVA_BLOCK_SIZE : 1)
#endif
#endif
#ifndef NOVA_MAX_BLOCKS
#define NOVA_MAX_BLOCKS 65536
#endif

/* The largest numbers of cached blocks of memory, and of cached queues. */
#define NOVA_CACHED 64
#define NOVA_CACHED_QUEUES 16

typedef struct nova_cached_memory {
    nova_device_memory memory;
    size_t bytes;
} nova_cached_memory;

typedef struct nova_memory_cache {
    nova_cached_memory entries[NOVA_CACHED];
    int count;
} nova_memory_cache;

/* Takes memory of exactly this many bytes from a cache; null if it has none. */
static nova_device_memory nova_take_cached(nova_memory_cache *cache, size_t bytes)
{
    for (int k = cache->count - 1; k >= 0; k--) {
        if (cache->entries[k].bytes == bytes) {
            nova_device_memory memory = cache->entries[k].memory;
            cache->entries[k] = cache->entries[--cache->count];
            return memory;
        }
    }
    return NULL;
}

/* Puts memory into a cache; false if the cache is full. */
static bool nova_cache_memory(nova_memory_cache *cache, nova_device_memory memory, size_t bytes)
{
    if (cache->count == NOVA_CACHED)
        return false;
    cache->entries[cache->count].memory = memory;
    cache->entries[cache->count++].bytes = bytes;
    return true;
}

/* Releases all memory of a cache. */
static void nova_release_cached(nova_memory_cache *cache)
{
    while (cache->count > 0)
        nova_release_memory(cache->entries[--cache->count].memory);
}

/* The memory and queues that no call of a program uses. The lock also guards the device that the pool
 * belongs to. */
typedef struct nova_pool_of_device {
    pthread_mutex_t lock;
    nova_queue queues[NOVA_CACHED_QUEUES];
    int queue_count;
    nova_memory_cache cache;
    bool asked;                   /* NOVA_PROFILE has been read */
    struct nova_profile *profile; /* null if none is wanted (device/profile.h) */
} nova_pool_of_device;

/* An empty pool. */
#define NOVA_EMPTY_POOL {PTHREAD_MUTEX_INITIALIZER, {NULL}, 0, {{{NULL, 0}}, 0}, false, NULL}

/* The state of a call on a device. */
typedef struct nova_device_session {
    struct nova_device *device;
    nova_queue queue;
    bool lent;                             /* the queue is the caller's, and results go to the device */
    int previous;                          /* CUDA: the device that the thread of the host used before */
    nova_memory_cache cache;               /* memory given back, which earlier kernels may still use */
    struct nova_buffer_pair *buffer_pairs; /* arrays of the call, as a tree over their addresses */
    uint64_t random;                       /* for the shape of that tree */
    nova_device_memory failure;            /* the record of the first failure of a kernel */
    bool may_have_failed;                  /* kernels that may fail have run since that was last read */
    nova_device_memory heap;               /* the memory of the threads of kernels, */
    size_t heap_bytes;
    int64_t slice;                         /* and the bytes of it for each thread */
    struct nova_profile *profile;          /* the profile to which the call adds; null if none */
    struct nova_noted *noted;              /* operations that have not been added to it yet, */
    int noted_count;                       /* and their number */
} nova_session;

/* Takes a queue that no call uses; null if there is none. The lock is held. */
static nova_queue nova_take_queue(nova_pool_of_device *pool)
{
    return pool->queue_count > 0 ? pool->queues[--pool->queue_count] : NULL;
}

/* Gives the memory and the queue of a call back, after its kernels have ended. Returns the queue if
 * there is no room for it, else null. A queue that the caller has lent stays the caller's. */
static nova_queue nova_give_back(nova_pool_of_device *pool, nova_session *session)
{
    nova_queue left = session->lent ? NULL : session->queue;
    pthread_mutex_lock(&pool->lock);
    while (session->cache.count > 0
           && nova_cache_memory(&pool->cache, session->cache.entries[session->cache.count - 1].memory,
                                session->cache.entries[session->cache.count - 1].bytes))
        session->cache.count--;
    if (left != NULL && pool->queue_count < NOVA_CACHED_QUEUES) {
        pool->queues[pool->queue_count++] = left;
        left = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    nova_release_cached(&session->cache);
    return left;
}

/* True if the user asks for this device, by its number among all or by a part of its name. */
static bool nova_is_wanted(const char *name, unsigned number, const char *wanted)
{
    char *end;
    unsigned long asked = strtoul(wanted, &end, 10);
    if (end != wanted && *end == '\0')
        return asked == number;
    return strstr(name, wanted) != NULL;
}

/* The device that the user asks for; null if the user asks for none. */
static const char *nova_wanted_device(void)
{
    const char *wanted = getenv("NOVA_DEVICE");
    return wanted == NULL || *wanted == '\0' ? NULL : wanted;
}

/* The size of memory for at least this many bytes. Sizes are rounded up to eighths of powers of two, so
 * that the memory of one call fits another. */
static size_t nova_rounded(size_t bytes)
{
    size_t unit = 256;
    while (unit < bytes / 8)
        unit *= 2;
    return (bytes + unit - 1) / unit * unit;
}

#endif
