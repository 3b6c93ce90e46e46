/* The product of two matrices by OpenBLAS with one thread. The library is loaded when it is first
 * needed, so that this file compiles without it; without it the error is 3. */
#include "../../benchmarks/peers/peer.h"
#include <dlfcn.h>

/* The enumerations of the C interface of BLAS that are used here. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111 };

typedef void multiply(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

static multiply *load_library(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == NULL)
        return NULL;
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    if (set_threads != NULL)
        set_threads(1);
    return (multiply *)dlsym(library, "cblas_sgemm");
}

int peer_matmul_openblas(int64_t *dim0, int64_t *dim1, float **result, int64_t A_dim0,
                         int64_t A_dim1, const float *A, int64_t B_dim0, int64_t B_dim1,
                         const float *B)
{
    static multiply *library;
    if (A_dim1 != B_dim0 && A_dim0 != 0 && B_dim1 != 0)
        return 1;
    if (library == NULL)
        library = load_library();
    if (library == NULL)
        return 3;
    int64_t columns = A_dim0 != 0 ? B_dim1 : 0;
    int code = result_matrix(dim0, dim1, (void **)result, A_dim0, columns, sizeof **result);
    if (code != 0)
        return code;
    int m = (int)A_dim0, n = (int)B_dim1, k = (int)A_dim1;
    if (m > 0 && n > 0)
        library(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, A, k > 0 ? k : 1, B, n, 0, *result, n);
    return 0;
}
