/* Errors. Each leaves the call at once, and nova_try catches it. */
#ifndef NOVA_ERRORS_H
#define NOVA_ERRORS_H

#include "context.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The return codes of generated functions (0: no error). */
#define NOVA_ERROR_PROGRAM 1  /* a run-time error of the program */
#define NOVA_ERROR_MEMORY 2   /* out of memory */
#define NOVA_ERROR_BUFFER 3   /* a result buffer is too small */
#define NOVA_ERROR_ARGUMENT 4 /* a bad argument */
#define NOVA_ERROR_DEVICE 5   /* the device or the communicator failed */

/* Ends the call with a code and a message in the format of printf. */
#if defined(__GNUC__)
__attribute__((noreturn, cold, format(printf, 3, 4)))
#endif
static void nova_fail(nova_context *context, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->message, NOVA_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    context->code = code;
    if (context->discard != NULL)
        context->discard(context->discarded, context->discarded_count);
    longjmp(context->escape, 1);
}

/* Ends the call for lack of memory. The place is null at the FFI boundary. */
NOVA_NEVER_RETURNS static void nova_fail_memory(nova_context *context, const char *place)
{
    if (place == NULL)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory");
    nova_fail(context, NOVA_ERROR_MEMORY, "%s: out of memory", place);
}

#endif
