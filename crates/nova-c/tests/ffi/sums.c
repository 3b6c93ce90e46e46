#include "sums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    nova_sum_Maybe_int m, k;
    m.tag = NOVA_Maybe_Some;
    m.u.Some = 42;
    printf("%d", maybe(&k, m));
    printf(" %d %d\n", k.tag == NOVA_Maybe_int_Some, k.u.Some);
    m.tag = 2;
    printf("%d", maybe(&k, m));
    printf(" %s\n", maybe_error());
    nova_sum_Shape s[4], t, *v = NULL;
    nova_tuple2_float_float path[2] = {{1, 2}, {3, 4}};
    uint8_t name[2] = {'h', 'i'};
    memset(s, 0, sizeof s);
    s[0].tag = NOVA_Shape_Point;
    s[1].tag = NOVA_Shape_Circle;
    s[1].u.Circle = 2.5f;
    s[2].tag = NOVA_Shape_Path;
    s[2].u.Path.len = 2;
    s[2].u.Path.data = path;
    s[3].tag = NOVA_Shape_Named;
    s[3].u.Named.e0.len = 2;
    s[3].u.Named.e0.data = name;
    s[3].u.Named.e1.tag = NOVA_Maybe_Some;
    s[3].u.Named.e1.u.Some = 9;
    printf("%d", shape(&t, s[0]));
    printf(" %d\n", t.tag);
    printf("%d", shape(&t, s[1]));
    printf(" %g\n", t.u.Circle);
    printf("%d", shape(&t, s[2]));
    printf(" %d %g\n", (int)t.u.Path.len, t.u.Path.data[1].e1);
    free(t.u.Path.data);
    printf("%d", shape(&t, s[3]));
    printf(" %d %c %d\n", (int)t.u.Named.e0.len, t.u.Named.e0.data[1], t.u.Named.e1.u.Some);
    free(t.u.Named.e0.data);
    int64_t n = 0;
    printf("%d", shapes(&n, &v, 4, s));
    printf(" %d %d %g %g %d\n", (int)n, v[0].tag, v[1].u.Circle, v[2].u.Path.data[0].e1,
           v[3].u.Named.e1.u.Some);
    free(v[2].u.Path.data);
    free(v[3].u.Named.e0.data);
    free(v);
    v = NULL;
    s[2].u.Path.len = -1;
    printf("%d", shapes(&n, &v, 4, s));
    printf(" %s\n", shapes_error());
    s[2].tag = 7;
    printf("%d", shapes(&n, &v, 4, s));
    printf(" %s\n", shapes_error());
    nova_sum_Color c[2] = {{NOVA_Color_int}, {NOVA_Color_red}}, *d = NULL;
    printf("%d", colors(&n, &d, 2, c));
    printf(" %d %d\n", d[0].tag, d[1].tag);
    free(d);
    return 0;
}
