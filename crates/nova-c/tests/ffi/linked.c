#include "one.h"
#include "two.h"
#include "one.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    nova_node_List nodes[1];
    memset(nodes, 0, sizeof nodes);
    nova_data_List l = {0, 1, nodes}, m, n;
    int code = one_list(&m, l) + two_list(&n, m);
    printf("%d %d\n", code, (int)n.len);
    nova_data_List_free(&m);
    nova_data_List_free(&n);
    nova_tuple2_int_float p[1] = {{1, 2}}, *q = NULL;
    int64_t len = 0;
    code = two_pair(&len, &q, 1, p);
    printf("%d %d\n", code, q[0].e0);
    free(q);
    return 0;
}
