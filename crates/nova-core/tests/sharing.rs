//! Values with shared components, whose cost is that of their objects, not of the tree.

use nova_core::value::Link;
use nova_core::{Constructor, SumId, SumType, Type, Value};
use std::sync::Arc;

/// Returns a tree of this height, in which each node has the same subtree twice.
fn doubled(height: usize) -> Value {
    (0..height).fold(Value::Sum(0, Link::new(Value::Unit)), |tree, _| {
        Value::Sum(1, Link::new(Value::Tuple(Arc::new([tree.clone(), tree]))))
    })
}

#[test]
fn shared_data_are_visited_once() {
    let tree = Type::Sum(SumId(0));
    let sums = [SumType {
        name: "Tree".into(),
        arguments: Vec::new(),
        constructors: vec![
            Constructor {
                name: "Leaf".into(),
                payload: Type::Unit,
            },
            Constructor {
                name: "Node".into(),
                payload: Type::Tuple(vec![tree.clone(), tree.clone()].into()),
            },
        ],
        group: vec![SumId(0)],
        node_of: None,
    }];
    let (a, b) = (doubled(200), doubled(200));
    assert!(a.same(&b));
    assert!(!a.same(&doubled(201)));
    assert!(a.conforms(&tree, &sums));
    assert!(!Value::Sum(2, Link::new(Value::Unit)).conforms(&tree, &sums));
}
