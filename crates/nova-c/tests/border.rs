//! Values across the border: every kind of type, in and out again.

mod support;

use nova_core::{Constructor, Scalar, SumId, SumType, Type as CoreType};
use nova_loop::ir::Program;
use support::*;

fn tuple(elements: &[CoreType]) -> CoreType {
    CoreType::tuple(elements.to_vec())
}

fn float() -> CoreType {
    scalar(Scalar::F32)
}

fn sum_type(name: &str, arguments: &[CoreType], constructors: &[(&str, CoreType)]) -> SumType {
    SumType {
        name: name.into(),
        arguments: arguments.to_vec(),
        constructors: constructors
            .iter()
            .map(|(name, payload)| Constructor {
                name: (*name).into(),
                payload: payload.clone(),
            })
            .collect(),
        group: Vec::new(),
    }
}

/// One program of identities over types.
fn identities(sums: Vec<SumType>, types: &[(&str, CoreType)]) -> Program {
    let mut program = Program {
        sums,
        ..Program::default()
    };
    for (name, ty) in types {
        identity(&mut program, name, ty.clone());
    }
    program
}

fn check(name: &str, program: &Program, host: &str, expected: &str) {
    let files = emit(program, name);
    compiles(&files, name);
    prints(&[(name, &files)], host, expected);
}

#[test]
fn tuples_and_scalars() {
    let int = CoreType::INT;
    let program = identities(
        vec![],
        &[
            (
                "pair",
                tuple(&[float(), tuple(&[int.clone(), CoreType::BOOL])]),
            ),
            ("truth", CoreType::BOOL),
            ("nothing", CoreType::Unit),
            ("half", tuple(&[CoreType::Unit, int.clone()])),
            ("pairs", CoreType::vector(tuple(&[int.clone(), float()]))),
            ("units", CoreType::vector(CoreType::Unit)),
            ("small", scalar(Scalar::I8)),
        ],
    );
    let host = r#"
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
"#;
    let expected = "0 1.5 -7 1
0 1 0
3 9
0 3 3 1.5
3 3 result: a buffer of 2 elements for a result of 3
0 1 1
-128
";
    check("tuples", &program, host, expected);
}

#[test]
fn vectors_of_all_kinds() {
    let int = CoreType::INT;
    let vector = CoreType::vector;
    let program = identities(
        vec![],
        &[
            ("rows", vector(vector(int.clone()))),
            ("deep", vector(vector(vector(float())))),
            ("pairs", vector(vector(tuple(&[int.clone(), float()])))),
            ("matrix", CoreType::array(2, float())),
            (
                "inside",
                tuple(&[vector(int.clone()), vector(vector(int.clone()))]),
            ),
            (
                "ragged",
                vector(tuple(&[int.clone(), vector(CoreType::BOOL)])),
            ),
            ("blocks", vector(CoreType::array(2, int.clone()))),
            ("grid", CoreType::array(2, vector(int.clone()))),
            (
                "held",
                tuple(&[CoreType::array(3, int.clone()), CoreType::Unit]),
            ),
        ],
    );
    let host = r#"
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
    int64_t n = 0, seg[4] = {0, 2, 2, 5}, *out = NULL, *out2 = NULL;
    int32_t x[5] = {1, 2, 3, 4, 5}, *y = NULL;
    printf("%d %d\n", rows(&n, &out, &y, 3, seg, x), (int)n);
    show("rows", n, out);
    printf("%d %d\n", y[0], y[4]);
    free(out); free(y); out = NULL; y = NULL;
    printf("%d", rows(&n, &out, &y, 0, NULL, NULL));
    show(" none", n, out);
    free(out); free(y); out = NULL; y = NULL;
    seg[1] = 3;
    printf("%d %s\n", rows(&n, &out, &y, 3, seg, x), rows_error());
    seg[0] = 1;
    printf("%d %s\n", rows(&n, &out, &y, 3, seg, x), rows_error());
    printf("%d %s\n", rows(&n, &out, &y, 3, NULL, x), rows_error());
    seg[0] = 0; seg[1] = 2;
    y = x;
    printf("%d %s\n", rows(&n, &out, &y, 3, seg, x), rows_error());
    y = NULL;

    int64_t seg1[3] = {0, 1, 3}, seg2[4] = {0, 2, 2, 3};
    float f[3] = {1, 2, 3}, *g = NULL;
    printf("%d\n", deep(&n, &out, &out2, &g, 2, seg1, seg2, f));
    show("seg1", 2, out);
    show("seg2", 3, out2);
    printf("%g\n", g[2]);
    free(out); free(out2); free(g); out = NULL; g = NULL;

    nova_tuple2_int_float p[3] = {{1, 1}, {2, 2}, {3, 3}}, *q = NULL;
    printf("%d\n", pairs(&n, &out, &q, 2, seg1, p));
    show("pairs", 2, out);
    printf("%d %g\n", q[2].e0, q[0].e1);
    free(out); free(q); out = NULL;

    int64_t d0 = 0, d1 = 0;
    float m[6] = {1, 2, 3, 4, 5, 6};
    printf("%d %d %d", matrix(&d0, &d1, &g, 2, 3, m), (int)d0, (int)d1);
    printf(" %g\n", g[5]);
    free(g);
    float buffer[8];
    g = buffer; d0 = 1; d1 = 8;
    printf("%d %d %d", matrix(&d0, &d1, &g, 2, 3, m), (int)d0, (int)d1);
    printf(" %g\n", buffer[5]);
    d0 = 1; d1 = 5;
    printf("%d %d %d", matrix(&d0, &d1, &g, 2, 3, m), (int)d0, (int)d1);
    printf(" %s\n", matrix_error());
    printf("%d %s\n", matrix(&d0, &d1, &g, -2, 3, m), matrix_error());
    g = NULL;
    printf("%d %s\n", matrix(&d0, &d1, &g, 2, INT64_MAX, m), matrix_error());
    printf("%d %d\n", matrix(&d0, &d1, &g, 0, 3, NULL), (int)d1);
    free(g);

    int32_t a[2] = {1, 2}, b[1] = {3};
    nova_vector_int ab[2] = {{2, a}, {1, b}};
    nova_tuple2_vector_int_vector_vector_int in = {{2, a}, {2, ab}}, res;
    printf("%d\n", inside(&res, in));
    printf("%d %d %d %d\n", (int)res.e0.len, res.e0.data[1], (int)res.e1.len, res.e1.data[1].data[0]);
    free(res.e0.data);
    for (int i = 0; i < 2; i++) free(res.e1.data[i].data);
    free(res.e1.data);
    ab[1].len = -1;
    printf("%d %s\n", inside(&res, in), inside_error());
    ab[1].len = 1; ab[1].data = NULL;
    printf("%d %s\n", inside(&res, in), inside_error());

    uint8_t t[2] = {1, 0};
    nova_tuple2_int_vector_bool r[2] = {{5, {2, t}}, {6, {0, NULL}}}, *s = NULL;
    printf("%d %d", ragged(&n, &s, 2, r), (int)n);
    printf(" %d %d %d %d\n", s[0].e0, (int)s[0].e1.len, s[0].e1.data[0], (int)s[1].e1.len);
    for (int i = 0; i < 2; i++) free(s[i].e1.data);
    nova_tuple2_int_vector_bool own[2];
    free(s);
    s = own; n = 2;
    printf("%d %d", ragged(&n, &s, 2, r), (int)n);
    printf(" %d %d\n", own[1].e0, own[0].e1.data[1]);
    for (int i = 0; i < 2; i++) free(own[i].e1.data);

    nova_vector2_int bl[2] = {{1, 2, a}, {1, 1, b}}, *br = NULL;
    printf("%d", blocks(&n, &br, 2, bl));
    printf(" %d %d %d\n", (int)br[0].dim1, br[0].data[1], br[1].data[0]);
    for (int i = 0; i < 2; i++) free(br[i].data);
    free(br);

    nova_vector_int gr[2] = {{2, a}, {1, b}}, *go = NULL;
    printf("%d", grid(&d0, &d1, &go, 1, 2, gr));
    printf(" %d %d %d %d\n", (int)d0, (int)d1, go[0].data[1], go[1].data[0]);
    for (int i = 0; i < 2; i++) free(go[i].data);
    free(go);

    nova_tuple2_vector3_int_unit he = {{1, 1, 2, a}}, ho;
    printf("%d", held(&ho, he));
    printf(" %d %d\n", (int)ho.e0.dim2, ho.e0.data[1]);
    free(ho.e0.data);
    return 0;
}
"#;
    // Arguments of one printf are evaluated in any order.
    let host = sequenced(host);
    let expected = "0 3
rows: 0 2 2 5
1 5
0 none: 0
4 x_seg1: offset 2 after 3 does not rise
4 x_seg1: the first offset is 1, not 0
4 x_seg1: a null pointer for length 3
4 result: the pointer must be null on entry
0
seg1: 0 1 3
seg2: 0 2 2 3
3
0
pairs: 0 1 3
3 1
0 2 3 6
0 2 3 6
3 2 3 result: a buffer of 5 elements for a result of 6
4 x: a negative extent: -2
4 x: too large an extent: 9223372036854775807
0 3
0
2 2 2 3
4 x: a negative length: -1
4 x: a null pointer for length 1
0 2 5 2 1 0
0 2 6 0
0 2 2 3
0 1 2 2 3
0 2 2
";
    check("vectors", &program, &host, expected);
}

/// Calls of the program come before what they write is read: `printf("%d …", f(…), rest)` becomes
/// `{ int c = f(…); printf("%d …", c, rest); }`.
fn sequenced(host: &str) -> String {
    let mut out = String::new();
    for line in host.lines() {
        let start = line.trim_start();
        if let Some((format, rest)) = start
            .strip_prefix("printf(")
            .and_then(|r| r.split_once("\", "))
            && format.starts_with("\"%d")
            && let Some((call, rest)) = split_call(rest)
        {
            out += &format!("{{ int c_ = {call}; printf({format}\", c_{rest} }}\n");
        } else {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// A call of a lower-case function with arguments, and the rest of the line.
fn split_call(text: &str) -> Option<(&str, &str)> {
    let open = text.find('(')?;
    if !text[..open]
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == '_')
        || open == 0
    {
        return None;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[..=at], &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn sums() {
    let int = CoreType::INT;
    let maybe = sum_type(
        "Maybe",
        std::slice::from_ref(&int),
        &[("None", CoreType::Unit), ("Some", int.clone())],
    );
    let shape = sum_type(
        "Shape",
        &[],
        &[
            ("Point", CoreType::Unit),
            ("Circle", float()),
            ("Path", CoreType::vector(tuple(&[float(), float()]))),
            (
                "Named",
                tuple(&[
                    CoreType::vector(scalar(Scalar::U8)),
                    CoreType::Sum(SumId(0)),
                ]),
            ),
        ],
    );
    let color = sum_type(
        "Color",
        &[],
        &[("red", CoreType::Unit), ("int", CoreType::Unit)],
    );
    let program = identities(
        vec![maybe, shape, color],
        &[
            ("maybe", CoreType::Sum(SumId(0))),
            ("shape", CoreType::Sum(SumId(1))),
            ("shapes", CoreType::vector(CoreType::Sum(SumId(1)))),
            ("colors", CoreType::vector(CoreType::Sum(SumId(2)))),
        ],
    );
    let host = r#"
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
"#;
    let expected = "0 1 42
4 x: tag 2 is not one of 0 to 1
0 0
0 2.5
0 2 4
0 2 i 9
0 4 0 2.5 2 9
4 x: a negative length: -1
4 x: tag 7 is not one of 0 to 3
0 1 0
";
    check("sums", &program, host, expected);
}

#[test]
fn recursive_data() {
    let int = CoreType::INT;
    let list = CoreType::Sum(SumId(0));
    let mut list_type = sum_type(
        "List",
        std::slice::from_ref(&int),
        &[
            ("Nil", CoreType::Unit),
            ("Cons", tuple(&[int.clone(), list.clone()])),
        ],
    );
    list_type.group = vec![SumId(0)];
    let tree = CoreType::Sum(SumId(1));
    let mut tree_type = sum_type(
        "Tree",
        &[],
        &[(
            "Node",
            tuple(&[
                CoreType::vector(scalar(Scalar::U8)),
                list.clone(),
                CoreType::vector(tree.clone()),
            ]),
        )],
    );
    tree_type.group = vec![SumId(1)];
    let (even, odd) = (CoreType::Sum(SumId(2)), CoreType::Sum(SumId(3)));
    let group = vec![SumId(2), SumId(3)];
    let mut even_type = sum_type(
        "Even",
        &[],
        &[("Zero", CoreType::Unit), ("Next", odd.clone())],
    );
    let mut odd_type = sum_type(
        "Odd",
        &[],
        &[("After", tuple(&[int.clone(), even.clone()]))],
    );
    even_type.group = group.clone();
    odd_type.group = group;
    let program = identities(
        vec![list_type, tree_type, even_type, odd_type],
        &[
            ("list", list.clone()),
            ("lists", CoreType::vector(list.clone())),
            ("tree", tree.clone()),
            ("odd", odd),
            ("both", tuple(&[even, list])),
        ],
    );
    let host = r#"
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
"#;
    let expected = "0[ 10 20 ] of 3
0[ 30 10 20 ] of 4
4 x: link 4 is out of range for 4 nodes
4 x: link 7 is out of range for 4 nodes
4 x: a node contains itself
4 x: tag -1 is not one of 0 to 1
0 2
[ 30 10 20 ] of 4
[ ] of 1
0 2 b 2 1
[ 30 10 20 ] of 4
[ ] of 1
4 x: a node contains itself
4 x: link -1 is out of range for 2 nodes
0 2 2: 6
4 x: a node contains itself
0 1 4
";
    check("data", &program, host, expected);
}

#[test]
fn programs_linked_together() {
    let list = CoreType::Sum(SumId(0));
    let pair = tuple(&[CoreType::INT, float()]);
    let program = |entry: &str| {
        let mut list_type = sum_type(
            "List",
            &[],
            &[
                ("Nil", CoreType::Unit),
                (
                    "Cons",
                    tuple(&[CoreType::vector(CoreType::INT), list.clone()]),
                ),
            ],
        );
        list_type.group = vec![SumId(0)];
        let names = [format!("{entry}_list"), format!("{entry}_pair")];
        let types = [
            (&*names[0], list.clone()),
            (&*names[1], CoreType::vector(pair.clone())),
        ];
        identities(vec![list_type], &types)
    };
    let (one, two) = (emit(&program("one"), "one"), emit(&program("two"), "two"));
    let host = r#"
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
"#;
    prints(&[("one", &one), ("two", &two)], host, "0 1\n0 1\n");
    let symbols = global_symbols(&one, "one");
    let expected = [
        "nova_data_List_free",
        "one_list",
        "one_list_error",
        "one_pair",
        "one_pair_error",
    ];
    assert_eq!(symbols, expected);
}

#[test]
fn names_of_inputs() {
    let int = CoreType::INT;
    let mut program = Program::default();
    let variables: Vec<_> = (0..7).map(|_| program.add_variable("x", I32)).collect();
    let r = program.add_variable("r", I32);
    let add = |a, b| binary(nova_core::ScalarOperation::Add, Scalar::I32, a, b);
    let sum = variables
        .iter()
        .map(|v| var(*v))
        .reduce(add)
        .expect("inputs");
    let f = function(&mut program, "f", variables, vec![r], vec![assign(r, sum)]);
    let names = ["int", "x'", "result", "errno", "call", "class", "a-b"];
    let inputs = names.into_iter().map(|n| (n, int.clone())).collect();
    entry(&mut program, "sqrt", inputs, int, f);
    let host = r#"
#include "names.h"
#include <stdio.h>
int main(void)
{
    int32_t result = 0;
    int code = sqrt_(&result, 1, 2, 3, 4, 5, 6, 7);
    printf("%d %d %s.\n", code, result, sqrt__error());
    return 0;
}
"#;
    check("names", &program, host, "0 28 .\n");
    let header = emit(&program, "names").header;
    let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
    let prototype = "int sqrt_(int32_t *result, int32_t int_, int32_t x_u27_, int32_t result_, \
                     int32_t errno_, int32_t call, int32_t class_, int32_t a_u2D_b);";
    assert!(header.contains(prototype), "{header}");
}
