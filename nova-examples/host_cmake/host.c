#include "series.h"
#include <stdio.h>

int main(void)
{
    const double measured[] = {1.0, -2.5, 4.5};
    nova_tuple2_double_double result;
    if (summary(&result, 3, measured) != 0) {
        fprintf(stderr, "%s\n", summary_error());
        return 1;
    }
    printf("mean %g, mean of the absolute values %g\n", result.e0, result.e1);
    return 0;
}
