#include "data.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void show(nova_data_List_int l)
{
    printf("[");
    for (int64_t i = l.root; l.nodes[i].tag == NOVA_List_Cons; i = l.nodes[i].u.Cons.e1)
        printf(" %d", l.nodes[i].u.Cons.e0);
    printf(" ] of %d\n", (int)l.len);
}
int main(void)
{
    nova_node_List_int nodes[4];
    memset(nodes, 0, sizeof nodes);
    nova_data_List_int l = {1, 4, nodes}, r;
    nodes[1].tag = NOVA_List_Cons; nodes[1].u.Cons.e0 = 10; nodes[1].u.Cons.e1 = 3;
    nodes[3].tag = NOVA_List_Cons; nodes[3].u.Cons.e0 = 20; nodes[3].u.Cons.e1 = 0;
    nodes[2].tag = NOVA_List_Cons; nodes[2].u.Cons.e0 = 30; nodes[2].u.Cons.e1 = 1;
    printf("%d", list(&r, l));
    show(r);
    nova_data_List_int_free(&r);
    l.root = 2;
    printf("%d", list(&r, l));
    show(r);
    nova_data_List_int_free(&r);
    l.root = 4;
    printf("%d", list(&r, l));
    printf(" %s\n", list_error());
    l.root = 2;
    nodes[3].u.Cons.e1 = 7;
    printf("%d", list(&r, l));
    printf(" %s\n", list_error());
    nodes[3].u.Cons.e1 = 2;
    printf("%d", list(&r, l));
    printf(" %s\n", list_error());
    nodes[3].u.Cons.e1 = 0;
    nodes[0].tag = -1;
    printf("%d", list(&r, l));
    printf(" %s\n", list_error());
    nodes[0].tag = NOVA_List_Nil;

    nova_data_List_int ls[2] = {l, l}, *rs = NULL;
    ls[1].root = 0;
    int64_t n = 0;
    printf("%d", lists(&n, &rs, 2, ls));
    printf(" %d\n", (int)n);
    show(rs[0]);
    show(rs[1]);
    for (int i = 0; i < 2; i++) nova_data_List_int_free(&rs[i]);
    free(rs);

    uint8_t a[2] = {'a', 'b'};
    int64_t children[2] = {1, 1};
    nova_node_Tree ts[2];
    memset(ts, 0, sizeof ts);
    ts[0].u.Node.e0.len = 2; ts[0].u.Node.e0.data = a;
    ts[0].u.Node.e1 = l;
    ts[0].u.Node.e2.len = 2; ts[0].u.Node.e2.data = children;
    ts[1].u.Node.e1 = ls[1];
    nova_data_Tree t = {0, 2, ts}, u;
    printf("%d", tree(&u, t));
    printf(" %d %c %d %d\n", (int)u.len, u.nodes[0].u.Node.e0.data[1], (int)u.nodes[0].u.Node.e2.len,
           (int)u.nodes[0].u.Node.e2.data[1]);
    show(u.nodes[0].u.Node.e1);
    show(u.nodes[1].u.Node.e1);
    nova_data_Tree_free(&u);
    children[1] = 0;
    printf("%d", tree(&u, t));
    printf(" %s\n", tree_error());
    children[1] = -1;
    printf("%d", tree(&u, t));
    printf(" %s\n", tree_error());

    nova_node_Even es[2];
    nova_node_Odd os[2];
    memset(es, 0, sizeof es);
    memset(os, 0, sizeof os);
    es[1].tag = NOVA_Even_Next; es[1].u.Next = 0;
    os[0].u.After.e0 = 5; os[0].u.After.e1 = 0;
    os[1].u.After.e0 = 6; os[1].u.After.e1 = 1;
    nova_data_Odd o;
    memset(&o, 0, sizeof o);
    o.root = 1;
    o.len_Even = 2; o.nodes_Even = es;
    o.len_Odd = 2; o.nodes_Odd = os;
    nova_data_Odd p;
    printf("%d", odd(&p, o));
    printf(" %d %d: %d\n", (int)p.len_Even, (int)p.len_Odd, p.nodes_Odd[p.root].u.After.e0);
    nova_data_Odd_free(&p);
    os[0].u.After.e1 = 1;
    printf("%d", odd(&p, o));
    printf(" %s\n", odd_error());

    nova_tuple2_data_Even_data_List_int b, c;
    memset(&b, 0, sizeof b);
    b.e0.len_Even = 1; b.e0.nodes_Even = es;
    b.e1 = l;
    printf("%d", both(&c, b));
    printf(" %d %d\n", (int)c.e0.len_Even, (int)c.e1.len);
    nova_data_Even_free(&c.e0);
    nova_data_List_int_free(&c.e1);
    return 0;
}
