/* Calls every entry of results.nova: what a foreign function gives must be what the program gives. */
#include "results.h"

#include <stdio.h>

struct entry {
    const char *name;
    int (*call)(nova_tuple2_int_int *result, int32_t k);
    const char *(*error)(void);
};

#define ENTRY(name) {#name, name, name##_error}

static const struct entry entries[] = {
    ENTRY(number),   ENTRY(truth),  ENTRY(pair),        ENTRY(text),        ENTRY(vec),
    ENTRY(pairs),    ENTRY(both),   ENTRY(counted),     ENTRY(many_rows),   ENTRY(deep),
    ENTRY(named),    ENTRY(matrix), ENTRY(boxed),       ENTRY(maybe),       ENTRY(maybes),
    ENTRY(list),     ENTRY(lists),  ENTRY(tree),        ENTRY(shape_of),    ENTRY(mixed),
    ENTRY(mapped),   ENTRY(kept),   ENTRY(mapped_both), ENTRY(mapped_data),
};

int main(void)
{
    int wrong = 0;
    for (size_t e = 0; e < sizeof entries / sizeof *entries; e++)
        for (int32_t k = 0; k < 12; k++) {
            nova_tuple2_int_int result = {-1, -2};
            int code = entries[e].call(&result, k);
            if (code == 0 && result.e0 == result.e1)
                continue;
            printf("%s %d: code %d, %d and %d %s\n", entries[e].name, (int)k, code,
                   (int)result.e0, (int)result.e1, code == 0 ? "" : entries[e].error());
            wrong = 1;
        }
    return wrong;
}
