//! Recursive data: the forms `foreach`, `up` and `dn`, tables, and walks.

use super::kinds::{is_declared, is_recursive};
use super::{Production, row};
use crate::random::bodies::{Body, Form, Types};
use crate::random::declared::{list, pattern, tree};
use crate::random::expression::Draw;
use crate::random::parts::{Leaves, constructor};
use crate::random::types::{self, BOOL, Declared, Part, Ty};
use crate::random::{Random, tables};

/// Productions of recursive data.
pub const RECURSION: &[Production] = &[
    row("foreach", 14, is_recursive, |d, t, f| {
        let Some(target) = t.recursive() else {
            return d.leaf(t);
        };
        let source = source(d, &target);
        let from = source.ty(source.at);
        let datum = format!("({} : {from})", d.expression(&from, f));
        foreach(d, &datum, source, target, (f, false))
    }),
    row("foreach below", 4, is_recursive, foreach_below),
    row("iterate foreach", 4, is_recursive, |d, t, f| {
        let Some(target) = t.recursive() else {
            return d.leaf(t);
        };
        let start = d.expression(t, f);
        let (state, linear) = (d.name(), d.linear);
        d.linear |= d.random.chance(60);
        let most = if d.linear { 5 } else { 3 };
        let depth = d.scope.len();
        d.scope.push((state.clone(), t.clone()));
        let step = foreach(d, &state, target.clone(), target, (f.min(2), false));
        d.scope.truncate(depth);
        d.linear = linear;
        let count = d.random.below(most);
        match d.random.below(3) {
            0 => {
                let i = d.name();
                format!(
                    "(while (lambda ((({state} : {t}), {i})) (< {i} {count})) \
                     (lambda ((({state} : {t}), {i})) ({step}, (+ {i} 1))) ({start}, 0)).0"
                )
            }
            _ => format!("(iterate {count} (lambda (({state} : {t})) {step}) {start})"),
        }
    }),
    row("nodes beside a loop", 3, is_recursive, |d, t, f| {
        let (kept, looped) = (d.name(), d.name());
        let before = d.expression(t, f.min(2));
        let depth = d.scope.len();
        d.scope.push((kept.clone(), t.clone()));
        let step = d.function(std::slice::from_ref(t), t, f.min(3));
        let (count, start) = (2 + d.random.below(5), d.expression(t, 1));
        d.scope.push((looped.clone(), t.clone()));
        let condition = d.expression(&BOOL, 1);
        let after = d.expression(t, f.min(2));
        d.scope.truncate(depth);
        let result = match d.random.below(3) {
            0 => after,
            1 => format!("(if {condition} {kept} {looped})"),
            _ => format!("(if {condition} {looped} {kept})"),
        };
        format!(
            "(let ({kept} ({before} : {t})) in (let ({looped} (iterate {count} {step} {start})) in {result}))"
        )
    }),
    row("up", 6, is_recursive, up),
    row("dn", 4, is_recursive, down),
    row("table", 6, is_recursive, table),
    row("datum", 3, is_recursive, |d, t, f| {
        let Some(target) = t.recursive() else {
            return d.leaf(t);
        };
        let count = 1 + d.random.below(5);
        let tables = tables::literal(d, &target, count, f.min(1));
        let root = if d.random.chance(97) {
            0
        } else {
            d.random.below(7) as i64 - 1
        };
        format!("((datum {root} {tables}) : {t})")
    }),
    row("foldl into data", 4, is_recursive, from_vector),
    row("constructor", 8, is_declared, |d, t, f| {
        let Ty::Declared(declared) = t else {
            return d.leaf(t);
        };
        let mut constructors = declared.constructors(declared.at);
        if f == 0 {
            constructors = declared.bases(declared.at);
        }
        let mut leaves = Payload {
            draw: d,
            declared,
            fuel: f,
        };
        constructor(&mut leaves, &constructors, "", f.min(2))
    }),
];

/// The payload of a constructor.
struct Payload<'a> {
    draw: &'a mut Draw,
    declared: &'a Declared,
    fuel: usize,
}

impl Leaves for Payload<'_> {
    fn random(&mut self) -> &mut Random {
        &mut self.draw.random
    }
    fn data(&mut self, ty: &Ty) -> String {
        self.draw.expression(ty, self.fuel)
    }
    fn link(&mut self, kind: usize) -> String {
        self.draw.expression(&self.declared.ty(kind), self.fuel)
    }
    fn matrix(&mut self, rows: String) -> String {
        format!("(unrows {rows})")
    }
}

/// Draws a type whose nodes can become those of the target.
fn source(d: &mut Draw, target: &Declared) -> Declared {
    if d.random.chance(40) {
        return target.clone();
    }
    let size = target.group.sums.len();
    let mut groups = vec![target.group.clone(), target.group.clone()];
    if size == 1 {
        groups.extend([list(), tree()]);
    }
    let declared = d.groups.iter().filter(|group| group.sums.len() == size);
    groups.extend(declared.cloned());
    let group = d.random.pick(&groups).clone();
    let arguments = (0..group.parameters).map(|_| types::any(&mut d.random, 1));
    Declared {
        at: target.at,
        arguments: arguments.collect(),
        group,
    }
}

/// Draws a `foreach` over what a link of another's root leads to. Its bodies often fail, so that
/// nodes matter that only the root or no node links to.
fn foreach_below(d: &mut Draw, t: &Ty, f: usize) -> String {
    let Some(target) = t.recursive() else {
        return d.leaf(t);
    };
    let source = source(d, &target);
    let from = source.ty(source.at);
    let first = format!("({} : {from})", d.expression(&from, f));
    let above = foreach(d, &first, source.clone(), source.clone(), (f.min(1), false));
    let link = d.name();
    let below = foreach(d, &link, source.clone(), target, (f.min(1), true));
    let own = Part::Link(source.at);
    let constructors = source.constructors(source.at);
    let arm = constructors.iter().find_map(|(name, payload)| {
        let pattern = pattern(payload.as_ref()?, &link, &|part| *part == own)?;
        Some(format!("({name} {pattern} {below})"))
    });
    let rest = d.leaf(t);
    match arm {
        None => rest,
        Some(arm) if constructors.len() == 1 => format!("(case {above} {arm})"),
        Some(arm) => format!("(case {above} {arm} (_ {rest}))"),
    }
}

/// Draws a `foreach` over a datum that is written as this text, with bodies that often fail or not.
fn foreach(
    d: &mut Draw,
    datum: &str,
    source: Declared,
    target: Declared,
    (f, fails): (usize, bool),
) -> String {
    let [rename, follow] = ["f", "d"].map(|letter| d.name().replace('v', letter));
    let result = target.ty(target.at);
    let types = Types {
        form: Form::Foreach {
            rename: rename.clone(),
            follow: follow.clone(),
        },
        source,
        target,
    };
    d.nesting += 1;
    d.deepest = d.deepest.max(d.nesting);
    let (heads, bodies): (Vec<String>, Vec<String>) = types
        .source
        .order()
        .iter()
        .enumerate()
        .map(|(k, &at)| {
            let node = d.name();
            let mut body = Body::new(d, &types, at, f);
            body.fails = fails;
            let body = body.of_node(&node);
            let what = match k {
                0 => datum,
                _ => &types.source.group.sums[at].name,
            };
            (format!("({node} {what})"), body)
        })
        .unzip();
    d.nesting -= 1;
    let head = match &heads[..] {
        [only] => only.clone(),
        several => format!("({})", several.join(" ")),
    };
    let bodies = bodies.join(" ");
    // A function that is not used may go without a name.
    let [rename, follow] = [rename, follow].map(|name| {
        let unused = !bodies.contains(&format!("{name} ")) && !bodies.contains(&format!("{name})"));
        if unused && d.random.chance(30) {
            "_".to_string()
        } else {
            name
        }
    });
    format!("((foreach {head} ({rename} {follow}) {bodies}) : {result})")
}

/// Draws a node over data that are drawn.
fn up(d: &mut Draw, t: &Ty, f: usize) -> String {
    let Some(target) = t.recursive() else {
        return d.leaf(t);
    };
    let size = target.group.sums.len();
    let links: Vec<(String, usize, String)> = (0..d.random.below(4))
        .map(|_| {
            let kind = d.random.below(size);
            let datum = d.expression(&target.ty(kind), f);
            (d.name(), kind, format!("({datum} : {})", target.ty(kind)))
        })
        .collect();
    let at = target.at;
    let types = Types {
        form: Form::Up,
        source: target.clone(),
        target,
    };
    let depth = d.scope.len();
    let mut body = Body::new(d, &types, at, f);
    for (name, kind, _) in &links {
        body.hold_link(name, *kind);
    }
    let node = body.of_links();
    d.scope.truncate(depth);
    let links: String = links
        .iter()
        .map(|(name, _, datum)| format!(" ({name} {datum})"))
        .collect();
    format!("((up {node}{links}) : {t})")
}

/// Draws a match on the root of recursive data, by `dn` or directly.
fn down(d: &mut Draw, t: &Ty, f: usize) -> String {
    let from = match d.random.chance(50) {
        true => t.clone(),
        false => d.recursive(),
    };
    let Some(source) = from.recursive() else {
        return d.leaf(t);
    };
    let value = d.expression(&from, f);
    let star = if d.random.chance(70) { "*" } else { "" };
    let arms: Vec<String> = source
        .constructors(source.at)
        .iter()
        .map(|(name, payload)| {
            let depth = d.scope.len();
            let mut bind = |part: &Part| {
                let name = d.name();
                d.scope.push((name.clone(), part.ty(&|k| source.ty(k))));
                name
            };
            let pattern = match payload {
                None => String::new(),
                Some(Part::Tuple(parts)) => {
                    let names: Vec<String> = parts.iter().map(&mut bind).collect();
                    format!("({}) ", names.join(", "))
                }
                Some(part) => format!("{} ", bind(part)),
            };
            let body = d.expression(t, f);
            d.scope.truncate(depth);
            format!("({name}{star} {pattern}{body})")
        })
        .collect();
    let value = format!("({value} : {from})");
    let value = if star.is_empty() {
        value
    } else {
        format!("(dn {value})")
    };
    format!("(case {value} {})", arms.join(" "))
}

/// Draws a datum made from a map over a table.
fn table(d: &mut Draw, t: &Ty, f: usize) -> String {
    let Some(target) = t.recursive() else {
        return d.leaf(t);
    };
    let source = source(d, &target);
    let from = source.ty(source.at);
    let datum = d.expression(&from, f);
    let name = d.name();
    if source == target && d.random.chance(20) {
        return format!("(datum 0 (table ({datum} : {from})))");
    }
    let types = Types {
        form: Form::Table(name.clone()),
        source,
        target,
    };
    d.nesting += 1;
    d.deepest = d.deepest.max(d.nesting);
    let mut vectors: Vec<String> = Vec::new();
    for at in types.source.order() {
        let node = d.name();
        let body = Body::new(d, &types, at, f).of_node(&node);
        let vector = types.table(&name, at);
        let map = format!("(map (lambda ({node}) {body}) {vector})");
        // A node that no other links to is checked too.
        vectors.push(match d.random.chance(8) {
            true => {
                let more = tables::unreached(d, &types.target, at, &vector);
                format!("(concat {map} {more})")
            }
            false => map,
        });
    }
    d.nesting -= 1;
    let vectors = match &vectors[..] {
        [only] => only.clone(),
        several => format!("({})", several.join(", ")),
    };
    format!("((let ({name} (table ({datum} : {from}))) in (datum 0 {vectors})) : {t})")
}

/// Draws a fold of a vector whose state is the datum, which each element puts a node on.
fn from_vector(d: &mut Draw, t: &Ty, f: usize) -> String {
    let Some(target) = t.recursive() else {
        return d.leaf(t);
    };
    let from = types::any(&mut d.random, 1);
    let vector = d.expression(&from.clone().vector(), f);
    let start = d.leaf(t);
    let [state, link, element] = [(); 3].map(|()| d.name());
    let at = target.at;
    let types = Types {
        form: Form::Up,
        source: target.clone(),
        target,
    };
    let (depth, linear) = (d.scope.len(), d.linear);
    d.scope.push((element.clone(), from.clone()));
    d.linear = true;
    let mut body = Body::new(d, &types, at, f);
    body.hold_link(&link, at);
    let node = body.node();
    d.linear = linear;
    d.scope.truncate(depth);
    format!(
        "(foldl (lambda (({state} : {t}) ({element} : {from})) (up {node} ({link} {state}))) \
         {start} {vector})"
    )
}
