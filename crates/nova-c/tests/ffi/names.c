#include "names.h"
#include <stdio.h>
int main(void)
{
    int32_t result = 0;
    int code = sqrt_(&result, 1, 2, 3, 4, 5, 6, 7);
    printf("%d %d %s.\n", code, result, sqrt__error());
    return 0;
}
