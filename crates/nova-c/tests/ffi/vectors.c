#include "vectors.h"
#include <stdio.h>
#include <stdlib.h>
static void show(const char *what, int64_t n, const int64_t *seg)
{
    printf("%s:", what);
    for (int64_t i = 0; i <= n; i++)
        printf(" %d", (int)seg[i]);
    printf("\n");
}
int main(void)
{
    int code;
    int64_t n = 0, seg[4] = {0, 2, 2, 5}, *out = NULL, *out2 = NULL;
    int32_t x[5] = {1, 2, 3, 4, 5}, *y = NULL;
    code = rows(&n, &out, &y, 3, seg, x);
    printf("%d %d\n", code, (int)n);
    show("rows", n, out);
    printf("%d %d\n", y[0], y[4]);
    free(out); free(y); out = NULL; y = NULL;
    code = rows(&n, &out, &y, 0, NULL, NULL);
    printf("%d", code);
    show(" none", n, out);
    free(out); free(y); out = NULL; y = NULL;
    seg[1] = 3;
    code = rows(&n, &out, &y, 3, seg, x);
    printf("%d %s\n", code, rows_error());
    seg[0] = 1;
    code = rows(&n, &out, &y, 3, seg, x);
    printf("%d %s\n", code, rows_error());
    code = rows(&n, &out, &y, 3, NULL, x);
    printf("%d %s\n", code, rows_error());
    seg[0] = 0; seg[1] = 2;
    y = x;
    code = rows(&n, &out, &y, 3, seg, x);
    printf("%d %s\n", code, rows_error());
    y = NULL;

    int64_t seg1[3] = {0, 1, 3}, seg2[4] = {0, 2, 2, 3};
    float f[3] = {1, 2, 3}, *g = NULL;
    code = deep(&n, &out, &out2, &g, 2, seg1, seg2, f);
    printf("%d\n", code);
    show("seg1", 2, out);
    show("seg2", 3, out2);
    printf("%g\n", g[2]);
    free(out); free(out2); free(g); out = NULL; g = NULL;

    nova_tuple2_int_float p[3] = {{1, 1}, {2, 2}, {3, 3}}, *q = NULL;
    code = pairs(&n, &out, &q, 2, seg1, p);
    printf("%d\n", code);
    show("pairs", 2, out);
    printf("%d %g\n", q[2].e0, q[0].e1);
    free(out); free(q); out = NULL;

    int64_t d0 = 0, d1 = 0;
    float m[6] = {1, 2, 3, 4, 5, 6};
    code = matrix(&d0, &d1, &g, 2, 3, m);
    printf("%d %d %d", code, (int)d0, (int)d1);
    printf(" %g\n", g[5]);
    free(g);
    float buffer[8];
    g = buffer; d0 = 1; d1 = 8;
    code = matrix(&d0, &d1, &g, 2, 3, m);
    printf("%d %d %d", code, (int)d0, (int)d1);
    printf(" %g\n", buffer[5]);
    d0 = 1; d1 = 5;
    code = matrix(&d0, &d1, &g, 2, 3, m);
    printf("%d %d %d", code, (int)d0, (int)d1);
    printf(" %s\n", matrix_error());
    code = matrix(&d0, &d1, &g, -2, 3, m);
    printf("%d %s\n", code, matrix_error());
    g = NULL;
    code = matrix(&d0, &d1, &g, 2, INT64_MAX, m);
    printf("%d %s\n", code, matrix_error());
    code = matrix(&d0, &d1, &g, 0, 3, NULL);
    printf("%d %d\n", code, (int)d1);
    free(g);

    int32_t a[2] = {1, 2}, b[1] = {3};
    nova_vector_int ab[2] = {{2, a}, {1, b}};
    nova_tuple2_vector_int_vector_vector_int in = {{2, a}, {2, ab}}, res;
    code = inside(&res, in);
    printf("%d\n", code);
    printf("%d %d %d %d\n", (int)res.e0.len, res.e0.data[1], (int)res.e1.len, res.e1.data[1].data[0]);
    free(res.e0.data);
    for (int i = 0; i < 2; i++) free(res.e1.data[i].data);
    free(res.e1.data);
    ab[1].len = -1;
    code = inside(&res, in);
    printf("%d %s\n", code, inside_error());
    ab[1].len = 1; ab[1].data = NULL;
    code = inside(&res, in);
    printf("%d %s\n", code, inside_error());

    uint8_t t[2] = {1, 0};
    nova_tuple2_int_vector_bool r[2] = {{5, {2, t}}, {6, {0, NULL}}}, *s = NULL;
    code = ragged(&n, &s, 2, r);
    printf("%d %d", code, (int)n);
    printf(" %d %d %d %d\n", s[0].e0, (int)s[0].e1.len, s[0].e1.data[0], (int)s[1].e1.len);
    for (int i = 0; i < 2; i++) free(s[i].e1.data);
    nova_tuple2_int_vector_bool own[2];
    free(s);
    s = own; n = 2;
    code = ragged(&n, &s, 2, r);
    printf("%d %d", code, (int)n);
    printf(" %d %d\n", own[1].e0, own[0].e1.data[1]);
    for (int i = 0; i < 2; i++) free(own[i].e1.data);

    nova_vector2_int bl[2] = {{1, 2, a}, {1, 1, b}}, *br = NULL;
    code = blocks(&n, &br, 2, bl);
    printf("%d", code);
    printf(" %d %d %d\n", (int)br[0].dim1, br[0].data[1], br[1].data[0]);
    for (int i = 0; i < 2; i++) free(br[i].data);
    free(br);

    nova_vector_int gr[2] = {{2, a}, {1, b}}, *go = NULL;
    code = grid(&d0, &d1, &go, 1, 2, gr);
    printf("%d", code);
    printf(" %d %d %d %d\n", (int)d0, (int)d1, go[0].data[1], go[1].data[0]);
    for (int i = 0; i < 2; i++) free(go[i].data);
    free(go);

    nova_tuple2_vector3_int_unit he = {{1, 1, 2, a}}, ho;
    code = held(&ho, he);
    printf("%d", code);
    printf(" %d %d\n", (int)ho.e0.dim2, ho.e0.data[1]);
    free(ho.e0.data);
    return 0;
}
