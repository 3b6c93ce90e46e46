/* The check of offsets in a kernel, where an application has them on the device (device/offsets.h). */
#ifndef NOVA_RISING_H
#define NOVA_RISING_H

#include "threads.h"

/* A thread looks at offset i of count: *found becomes the last of them, and the number behind it is not 0
 * where one does not rise from the one before, or the first one is not 0. */
NOVA_IN_KERNELS void nova_check_offset(NOVA_GLOBAL const int64_t *offsets, int64_t i, int64_t count,
                                       NOVA_GLOBAL int64_t *found)
{
    bool rises = i == 0 ? offsets[0] == 0 : offsets[i - 1] <= offsets[i];
    if (!rises)
        NOVA_COMPARE_AND_SWAP((NOVA_GLOBAL uint32_t *)&found[1], 0u, 1u);
    if (i == count - 1)
        found[0] = offsets[i];
}

#endif
