#include "tuples.h"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    nova_tuple2_float_tuple2_int_bool p = {1.5f, {-7, 1}}, q;
    printf("%d", pair(&q, p));
    printf(" %g %d %d\n", q.e0, q.e1.e0, q.e1.e1);
    int b = 5;
    printf("%d", truth(&b, 2));
    printf(" %d %d\n", b, nothing());
    nova_tuple2_unit_int h = {3}, g;
    half(&g, h);
    int64_t n = 0;
    units(&n, 9);
    printf("%d %d\n", g.e1, (int)n);
    nova_tuple2_int_float v[3] = {{1, 0.5f}, {2, 1.5f}, {3, 2.5f}}, *w = NULL;
    printf("%d", pairs(&n, &w, 3, v));
    printf(" %d %d %g\n", (int)n, w[2].e0, w[1].e1);
    free(w);
    nova_tuple2_int_float buffer[2];
    w = buffer;
    n = 2;
    printf("%d", pairs(&n, &w, 3, v));
    printf(" %d %s\n", (int)n, pairs_error());
    n = 2;
    printf("%d", pairs(&n, &w, 1, v));
    printf(" %d %d\n", (int)n, buffer[0].e0);
    int8_t s;
    small(&s, -128);
    printf("%d\n", s);
    return 0;
}
