/* The check of offsets in a kernel, for offsets that an application has on the device
 * (device/offsets.h). */
#ifndef NOVA_OFFSET_CHECK_H
#define NOVA_OFFSET_CHECK_H

#include "threads.h"

/* Checks offset i of count. found[0] becomes the last offset. found[1] becomes 1 if an offset is less
 * than the one before it, or if the first one is not 0. */
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
