/* A sparse matrix in rows by a vector: rows of 0 to 31 entries, in columns anywhere. Limited by memory: 8
 * bytes for each entry, 12 for each row, and the vector, which caches hold in part. */
#include "libraries.h"
#include "spmv.h"
#ifndef NOVA_CUDA_EMULATION
#include <cusparse.h>
#endif

using namespace benchmark;

/* Sixteen threads for each row, whose loads lie side by side. */
static __global__ void __launch_bounds__(256)
    multiply_by_hand(int64_t rows, const int64_t *offsets, const float *values,
                     const int32_t *columns, const float *x, float *result)
{
    constexpr int lanes = 16;
    int64_t step = (int64_t)gridDim.x * blockDim.x / lanes;
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    int lane = (int)threadIdx.x % lanes;
    /* All threads of a warp stay until the last one has no row left. */
    for (int64_t row = first; row - row % 2 < rows; row += step) {
        bool there = row < rows;
        float sum = 0;
        if (there)
            for (int64_t k = offsets[row] + lane; k < offsets[row + 1]; k += lanes)
                sum += values[k] * x[columns[k]];
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance, lanes);
        if (there && lane == 0)
            result[row] = sum;
    }
}

/* A matrix of n entries in n / 16 rows and as many columns: lengths 0 … 31, about, that add up to n. */
struct matrix {
    size_t rows;
    array<int64_t> offsets;
    array<int32_t> short_offsets;
    array<float> values;
    array<int32_t> columns;

    explicit matrix(size_t n)
        : rows(n / 16), offsets(rows + 1), short_offsets(rows + 1), values(n), columns(n)
    {
        std::vector<int64_t> starts(rows + 1, 0);
        std::vector<int32_t> short_starts(rows + 1, 0);
        /* Rows in pairs of 32 entries. */
        for (size_t row = 0; row < rows; row++) {
            size_t length = row / 2 * 7 % 32;
            starts[row + 1] = starts[row] + (int64_t)(row % 2 == 0 ? length : 32 - length);
            short_starts[row + 1] = (int32_t)starts[row + 1];
        }
        SUCCEED(cudaMemcpy(offsets.data(), starts.data(), offsets.bytes(), cudaMemcpyHostToDevice));
        SUCCEED(cudaMemcpy(short_offsets.data(), short_starts.data(), short_offsets.bytes(),
                           cudaMemcpyHostToDevice));
        fill(values, 1);
        fill(columns, (uint32_t)rows - 1);
    }
};

#ifndef NOVA_CUDA_EMULATION
/* cuSPARSE's descriptions of a product, prepared before it is timed. */
class product
{
  public:
    product(const matrix &a, const array<float> &x, const array<float> &y, cudaStream_t stream)
    {
        int64_t rows = (int64_t)a.rows, entries = (int64_t)a.values.count();
        size_t bytes = 0;
        SUCCEED(cusparseCreate(&handle_));
        SUCCEED(cusparseSetStream(handle_, stream));
        SUCCEED(cusparseCreateCsr(&a_, rows, rows, entries, a.short_offsets.data(),
                                  a.columns.data(), a.values.data(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        SUCCEED(cusparseCreateDnVec(&x_, rows, x.data(), CUDA_R_32F));
        SUCCEED(cusparseCreateDnVec(&y_, rows, y.data(), CUDA_R_32F));
        SUCCEED(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, a_, x_,
                                        &zero_, y_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
        SUCCEED(cudaMalloc(&buffer_, bytes > 0 ? bytes : 1));
        SUCCEED(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, a_, x_,
                                        &zero_, y_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                        buffer_));
    }
    ~product()
    {
        cudaFree(buffer_);
        cusparseDestroyDnVec(y_);
        cusparseDestroyDnVec(x_);
        cusparseDestroySpMat(a_);
        cusparseDestroy(handle_);
    }
    product(const product &) = delete;
    product &operator=(const product &) = delete;
    void run() const
    {
        SUCCEED(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, a_, x_, &zero_, y_,
                             CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer_));
    }

  private:
    const float one_ = 1, zero_ = 0;
    cusparseHandle_t handle_ = NULL;
    cusparseSpMatDescr_t a_ = NULL;
    cusparseDnVecDescr_t x_ = NULL, y_ = NULL;
    void *buffer_ = NULL;
};
#endif

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    matrix a(n);
    array<float> x(a.rows), found(a.rows), other(a.rows);
    fill(x, 2);
    int64_t rows = (int64_t)a.rows;
    auto same = [&] { return agree(other, found, a.rows, 1e-4); };
    contest all = {"spmv", n, 8.0 * (double)n + 16.0 * (double)a.rows, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int64_t length = rows;
                             float *result = found.data();
                             SUCCEED(spmv_device(&length, &result, rows, a.offsets.data(),
                                                 a.values.data(), rows, a.offsets.data(),
                                                 a.columns.data(), rows, x.data(), stream));
                         },
                         [] { return true; }});
    all.sides.push_back({"by hand",
                         [&](cudaStream_t stream) {
                             SUCCEED(nova_put_launch(
                                 multiply_by_hand, blocks_for(16 * rows), threads, 0, stream, rows,
                                 (const int64_t *)a.offsets.data(), (const float *)a.values.data(),
                                 (const int32_t *)a.columns.data(), (const float *)x.data(),
                                 other.data()));
                         },
                         same});
#ifndef NOVA_CUDA_EMULATION
    product of_library(a, x, other, watch.stream());
    all.sides.push_back({"cuSPARSE", [&](cudaStream_t) { of_library.run(); }, same});
#endif
    bool right = all.check(watch);
    if (right)
        all.measure(watch, limit);
    return right;
}

int main(int count, char **arguments)
{
    return run(count, arguments, "spmv", 5 * sizeof(float), at_size);
}
