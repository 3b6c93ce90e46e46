/* What the samples share: checks, arrays on the device, and the lengths that are tried. */
#ifndef NOVA_SAMPLE_H
#define NOVA_SAMPLE_H

#include "../../../runtime-c/cuda/kernel.h"
#include "../../../runtime-c/cuda/launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <vector>

/* Ends the test with a message unless the condition holds. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Ends the test unless a call of the API succeeds. */
#define DO(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error));                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* So many elements on the device, not initialised. */
template <typename T> T *on_device(size_t count)
{
    T *data;
    DO(cudaMalloc(&data, (count > 0 ? count : 1) * sizeof(T)));
    return data;
}

template <typename T> T *to_device(const std::vector<T> &values)
{
    T *data = on_device<T>(values.size());
    DO(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return data;
}

template <typename T> std::vector<T> to_host(const T *data, size_t count)
{
    std::vector<T> values(count);
    DO(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/* Small numbers without a pattern. */
inline std::vector<int> numbers(size_t count)
{
    std::vector<int> made(count);
    unsigned state = 12345;
    for (int &each : made)
        each = (int)((state = state * 1664525u + 1013904223u) >> 20) % 100;
    return made;
}

/* Lengths around those of warps, blocks and tiles, up to the one on the command line. */
inline std::vector<int> lengths(int count, char **arguments)
{
    int most = count > 1 ? atoi(arguments[1]) : 100000;
    std::vector<int> tried;
    for (int length : {0, 1, 31, 32, 33, 127, 128, 129, 255, 257, 1000, 1024, 4097, 100000})
        if (length <= most)
            tried.push_back(length);
    return tried;
}

inline int blocks_for(int length, int each)
{
    return length > 0 ? (length + each - 1) / each : 1;
}

#endif
