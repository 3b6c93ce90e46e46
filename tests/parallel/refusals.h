/* What a generated file asks the system for, by way of the host, which may refuse it. */
#ifndef REFUSALS_H
#define REFUSALS_H
#include <pthread.h>
#include <stdlib.h>
void *host_malloc(size_t bytes);
void *host_aligned_alloc(size_t alignment, size_t bytes);
int host_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument);
#define malloc host_malloc
#define aligned_alloc host_aligned_alloc
#define pthread_create host_pthread_create
#endif
