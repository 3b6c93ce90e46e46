// What the programs with Thrust share: its headers, and the caller's result buffers. They are written
// as its documentation and its examples write them: one algorithm, functors that are inlined, raw
// pointers, no copies. They assume that no input is nan, as -Ofast does.
#ifndef PEER_THRUST_H
#define PEER_THRUST_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

using index_iterator = thrust::counting_iterator<int64_t>;

// Makes room for n elements, where the caller gave none (then from malloc, the caller frees it); 3,
// with the length needed, where the caller gave too little.
template <class T> int result_vector(int64_t *len, T **data, int64_t n)
{
    if (*data == nullptr) {
        *data = static_cast<T *>(std::aligned_alloc(64, (n * sizeof(T) + 64) & ~std::size_t(63)));
        if (*data == nullptr)
            return 2;
    } else if (*len < n) {
        *len = n;
        return 3;
    }
    *len = n;
    return 0;
}

#endif
