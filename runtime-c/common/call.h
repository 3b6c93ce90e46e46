/* Runs the body of an entry and catches its errors. The body runs on the caller's stack or, in programs
 * with recursive functions, on a large stack of its own. */
#ifndef NOVA_CALL_H
#define NOVA_CALL_H

#include "blocks.h"
#include <pthread.h>

/* The body of an entry. It takes its parameters from the structure of the call, and writes its results. */
typedef void (*nova_body)(nova_context *context, void *call);

static void nova_open(nova_context *context, char *message)
{
    context->code = 0;
    context->message = message;
    context->stack_limit = 0;
    context->regions = 0;
    context->thread = 0;
    context->region = NULL;
    context->slot = NULL;
    context->free_headers = NULL;
    context->spare_count = 0;
    memset(context->small_spares, 0, sizeof context->small_spares);
    context->small_spare = 0;
    context->spare_bytes = context->used_bytes = context->most_bytes = 0;
    context->temporaries = NULL;
    context->slabs = &context->first_slab;
    context->first_slab.next = NULL;
    context->first_slab.used = 0;
    context->rows = NULL;
    context->result = NULL;
    context->tables = NULL;
    context->sharing = NULL;
    context->spaces = NULL;
    context->free_spaces = NULL;
    context->session = NULL;
    context->discard = NULL;
    context->discarded = NULL;
    context->discarded_count = 0;
}

/* The only function that calls setjmp; it changes no variable between setjmp and longjmp. */
static void nova_try(nova_context *context, nova_body body, void *call)
{
    if (setjmp(context->escape) == 0)
        body(context, call);
}

/* Runs body. Returns 0, or the code of the error, whose message is then in message. */
static int nova_call(nova_body body, void *call, char *message)
{
    nova_context context;
    nova_open(&context, message);
    nova_try(&context, body, call);
    nova_close_blocks(&context);
    return context.code;
}

/* The size of the stack of a program with recursive functions. If there is no room for the largest
 * size, half of it is tried, and so on down to the smallest. Only the used part occupies memory. */
#define NOVA_STACK_LARGEST ((size_t)1 << (sizeof(void *) > 4 ? 30 : 27))
#define NOVA_STACK_SMALLEST ((size_t)1 << 20)

typedef struct nova_deep_call {
    nova_body body;
    void *call;
    char *message;
    size_t stack;
    int code;
} nova_deep_call;

static void *nova_run_deep(void *argument)
{
    nova_deep_call *deep = (nova_deep_call *)argument;
    /* The reserve for functions that do not check the stack, and for the frames before this one. */
    size_t reserve = deep->stack / 8 < ((size_t)4 << 20) ? deep->stack / 8 : (size_t)4 << 20;
    nova_context context;
    nova_open(&context, deep->message);
    context.stack_limit = NOVA_FRAME - (deep->stack - reserve);
    nova_try(&context, deep->body, deep->call);
    nova_close_blocks(&context);
    deep->code = context.code;
    return NULL;
}

/* As nova_call, on a stack of its own. */
static int nova_call_deep(nova_body body, void *call, char *message)
{
    nova_deep_call deep = {body, call, message, NOVA_STACK_LARGEST, 0};
    for (; deep.stack >= NOVA_STACK_SMALLEST; deep.stack /= 2) {
        pthread_attr_t attributes;
        pthread_t thread;
        if (pthread_attr_init(&attributes) != 0)
            break;
        int failed = pthread_attr_setstacksize(&attributes, deep.stack);
        if (failed == 0)
            failed = pthread_create(&thread, &attributes, nova_run_deep, &deep);
        pthread_attr_destroy(&attributes);
        if (failed == 0) {
            pthread_join(thread, NULL);
            return deep.code;
        }
    }
    snprintf(message, NOVA_MESSAGE_SIZE, "out of memory: no stack for recursive functions");
    return NOVA_ERROR_MEMORY;
}

/* True if a recursive function may run. Each recursive function tests this at its start. */
#define NOVA_STACK_LEFT(context) (NOVA_FRAME >= (context)->stack_limit)

#endif
