/* The memory of threads: each makes, lets grow, shares and frees arrays in a slice of its own, and
 * stores one in a table that all threads share, or reports what it lacks. */
#include "threads.h"
#include "../../../runtime-c/device/heap.h"

enum { THREADS = 64 };

/* Stores for each iteration an array of index % 23 floats, the sums of the numbers up to each. */
static __global__ void keep_sums(int64_t count, nova_failure *failure, uint8_t *heap, int64_t slice,
                                 const nova_device_result_buffers buffers)
{
    if (nova_has_failed(failure))
        return;
    nova_context state = {failure, false, 0, 0, nova_slice(heap, slice), slice, 0, 0, 0};
    nova_context *context = &state;
    NOVA_SHARED_LOOP(i, count) {
        nova_empty_heap(context);
        nova_device_block *block, *sums = 0;
        float *found = 0, sum = 0;
        int *all = (int *)nova_allocate_on_device(context, &block, i % 23, sizeof(int));
        if (context->failed)
            return;
        for (int64_t k = 0; k < i % 23; k++)
            all[k] = (int)(i + k);
        for (int64_t k = 0; k < i % 23; k++) {
            found = (float *)nova_reserve_on_device(context, &sums, k, k + 1, sizeof(float));
            if (context->failed)
                return;
            sum += (float)all[k];
            found[k] = sum;
        }
        nova_device_block *other = sums;
        nova_retain_on_device(other);
        float *copy = (float *)nova_unique_on_device(context, &other, found, i % 23, sizeof(float));
        if (context->failed)
            return;
        nova_release_on_device(context, block);
        nova_release_on_device(context, sums);
        nova_store_on_device(context, &buffers, i, copy, i % 23, sizeof(float));
        if (context->failed)
            return;
        nova_release_on_device(context, other);
    }
}

/* Runs it with so much memory; gives what has failed. */
static nova_failure run(int count, int64_t slice, int64_t capacity, std::vector<int64_t> &table,
                        std::vector<int64_t> &words)
{
    int blocks = blocks_for(count, 3 * THREADS);
    uint8_t *heap = on_device<uint8_t>((size_t)slice * blocks * THREADS);
    nova_device_result_buffers buffers = {on_device<int64_t>(count + 1),
                                          on_device<int64_t>(capacity), capacity, 5};
    nova_failure *failure = no_failure();
    DO(cudaMemset(buffers.table, 0, sizeof(int64_t)));
    DO(nova_put_launch(keep_sums, blocks, THREADS, 0, 0, (int64_t)count, failure, heap, slice,
                       buffers));
    nova_failure seen = to_host(failure, 1)[0];
    table = to_host(buffers.table, seen.taken ? 0 : count + 1);
    words = to_host(buffers.words, seen.taken ? 0 : table[0]);
    DO(cudaFree(heap));
    DO(cudaFree(buffers.table));
    DO(cudaFree(buffers.words));
    DO(cudaFree(failure));
    return seen;
}

int main(int count, char **arguments)
{
    std::vector<int64_t> table, words;
    for (int length : lengths(count, arguments)) {
        if (length > 5000)
            continue;
        nova_failure seen = run(length, 1024, 12 * length + 1, table, words);
        CHECK(seen.taken == 0);
        int64_t all = 0;
        for (int i = 0; i < length; i++) {
            const float *kept = (const float *)(words.data() + table[1 + i]);
            float sum = 0;
            for (int k = 0; k < i % 23; k++)
                CHECK(kept[k] == (sum += (float)(i + k)));
            all += (i % 23 + 1) / 2;
        }
        CHECK(table[0] == all);
        if (length < 100)
            continue;
        seen = run(length, 128, 12 * length + 1, table, words);
        CHECK(seen.taken == 1 && seen.site == NOVA_HEAP_IS_FULL && seen.first > 128);
        seen = run(length, 1024, 100, table, words);
        CHECK(seen.taken == 1 && seen.site == NOVA_RESULT_BUFFERS_ARE_FULL && seen.first == 5);
        CHECK(seen.second > 100);
    }
    return 0;
}
