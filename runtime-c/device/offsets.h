/* Offsets of nested arguments. Offsets that an application has on the device are checked there, and
 * only the last one is copied to the host. */
#ifndef NOVA_OFFSETS_H
#define NOVA_OFFSETS_H

#include "kernels.h"
#include "../common/arguments.h"

/* True if offsets that only the device has rise from 0; also notes the last of them. The kernel is that
 * of nova_check_offset (device/offset_check.h). */
static bool nova_offsets_rise_there(nova_context *context, nova_kernel kernel, nova_buffer_pair *pair,
                                    int64_t length)
{
    nova_block *block;
    int64_t *found = (int64_t *)nova_allocate(context, &block, 2, sizeof *found, NULL);
    found[0] = found[1] = 0;
    nova_argument arguments[] = {
        nova_array(context, (const void *)pair->start, sizeof(int64_t), false),
        nova_array(context, found, sizeof(int64_t), true)};
    nova_launch(context, kernel, length + 1, false, arguments, 2);
    nova_device_read(context, found, arguments[1].memory, 0, 2 * sizeof *found);
    pair->last_offset = found[0];
    bool rises = found[1] == 0;
    nova_release(context, block);
    return rises;
}

/* Checks length + 1 offsets that rise from 0, and returns the last of them. If they do not rise, the
 * host searches for the first that does not. */
static int64_t nova_check_offsets(nova_context *context, nova_kernel kernel, const char *name,
                                  int64_t length, const int64_t *offsets)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, offsets);
    if (pair == NULL || !pair->lent || pair->on_host)
        return nova_check_segments(context, name, length, offsets);
    if (!pair->rises)
        pair->rises = nova_offsets_rise_there(context, kernel, pair, length);
    if (pair->rises)
        return pair->last_offset;
    nova_on_host(context, offsets, false);
    return nova_check_segments(context, name, length, offsets);
}

#endif
