/* The foreign function of foreign.nova: each element times s. */
#include <stdint.h>
#include <stdlib.h>

void ff(int64_t *result_len, float **result, int64_t len, const float *data, float s);

void ff(int64_t *result_len, float **result, int64_t len, const float *data, float s)
{
    float *out = (float *)malloc(len > 0 ? (size_t)len * sizeof *out : 1);
    for (int64_t i = 0; out != NULL && i < len; i++)
        out[i] = data[i] * s;
    *result_len = out != NULL ? len : 0;
    *result = out;
}
