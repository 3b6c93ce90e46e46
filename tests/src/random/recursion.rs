//! Programs of recursive data: types that the program declares, and `foreach`, `up`, `dn`, `table`
//! and `datum` on them, one after the other and inside each other. The data are inputs, tables that
//! are inputs, and made by loops. Half of the programs have long lists, where no link is used twice.

use super::expression::Draw;
use super::productions;
use super::types::{Declared, INT, Part, Ty};
use super::{Program, Random, declared, tables, types, values, walks};

/// Programs of seeds from here on are all of this kind, for tests of many of them.
const ALL_FROM: u64 = 2_000_000_000;

/// The number of inputs that a program is run with.
const RUNS: usize = 3;

/// True if the program of a seed is one of these.
pub(super) fn has(seed: u64) -> bool {
    seed >= ALL_FROM || seed % 32 == 21
}

/// A table that is an input.
struct Table {
    name: String,
    of: Declared,
}

/// Draws the program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed ^ 0x7265_6375_7273);
    let groups = declared::groups(&mut random, &format!("{}x", seed % ALL_FROM));
    let linear = random.chance(50);
    let inputs = inputs(&mut random, &groups);
    let mut draw = Draw::new(random, &inputs);
    draw.groups = groups;
    draw.linear = linear;
    let tables = input_tables(&mut draw);
    let body = body(&mut draw, &tables);
    let name = format!("random{seed}");
    let plain = inputs.iter().map(|(name, ty)| format!("({name} : {ty})"));
    let with_tables = tables
        .iter()
        .map(|table| format!("({} : {})", table.name, tables::type_of(&table.of)));
    let parameters: Vec<String> = plain.chain(with_tables).collect();
    let parameters = parameters.join(" ");
    let head = head(&mut draw);
    let entry = format!("{head}(entry {name} ({parameters})\n  {body})\n");
    let inputs = (0..RUNS)
        .map(|run| {
            let plain = inputs
                .iter()
                .map(|(_, ty)| values::value(&mut draw.random, ty, values_of(run, linear)))
                .collect::<Vec<String>>();
            let tables = tables.iter().map(|table| {
                let count = nodes(&mut draw.random, table, run, linear);
                tables::value(&mut draw.random, &table.of, count, run)
            });
            plain.into_iter().chain(tables).collect()
        })
        .collect();
    Program {
        name,
        entry,
        inputs,
        nodes: draw.nodes,
        nesting: draw.deepest,
        used: draw.used,
    }
}

/// Writes the declarations of the types, and the walks over them.
fn head(draw: &mut Draw) -> String {
    let groups = draw.groups.clone();
    let types: Vec<String> = groups.iter().map(|group| group.text()).collect();
    let walks: String = groups
        .iter()
        .map(|group| walks::definitions(&mut || draw.name(), group))
        .collect();
    format!("(types\n  {})\n(define\n{walks})\n", types.join("\n  "))
}

/// Draws the inputs that are no tables.
fn inputs(random: &mut Random, groups: &[std::rc::Rc<types::Group>]) -> Vec<(String, Ty)> {
    let mut types = vec![
        INT.vector(),
        declared::instance(random, groups),
        types::any(random, 1),
    ];
    match random.below(4) {
        0 => types.push(declared::instance(random, groups).vector()),
        1 => types.push(Ty::List(Box::new(types::scalar(random)))),
        2 => types.push(declared::instance(random, groups)),
        _ => {}
    }
    let named = types.into_iter().enumerate();
    named.map(|(k, ty)| (format!("in{k}"), ty)).collect()
}

/// Draws the inputs that are tables.
fn input_tables(draw: &mut Draw) -> Vec<Table> {
    (0..1 + draw.random.below(2))
        .filter_map(|k| {
            let of = draw.recursive().recursive()?;
            let name = format!("table{k}");
            Some(Table { name, of })
        })
        .collect()
}

/// Returns the number of the run for values of inputs. Only in run 2 vectors may be long.
fn values_of(run: usize, linear: bool) -> usize {
    if linear || run < 2 { run } else { 0 }
}

/// Draws the number of nodes of a table. Only chains are long, as the number of ways through other
/// data may double with each node.
fn nodes(random: &mut Random, table: &Table, run: usize, linear: bool) -> usize {
    let sums = 0..table.of.group.sums.len();
    let is_chain = sums
        .flat_map(|at| table.of.constructors(at))
        .all(|(_, payload)| payload.is_none_or(|part| links(&part) <= 1));
    match run {
        2 if linear && is_chain => *random.pick(&[33, 700, 1025, 3000]),
        1 if random.chance(4) => 0,
        _ => 1 + random.below(6),
    }
}

/// Returns the number of links of a payload, at most 2.
fn links(part: &Part) -> usize {
    match part {
        Part::Data(_) | Part::Parameter(_) => 0,
        Part::Link(_) => 1,
        Part::Tuple(parts) => parts.iter().map(links).sum(),
        Part::Vector(element) | Part::Matrix(element) => 2 * links(element),
        Part::Sum(_, _, parts) => 2 * parts.iter().map(links).sum::<usize>(),
    }
}

/// Draws the body: the data of the tables, bindings, and a tuple of data and numbers.
fn body(draw: &mut Draw, tables: &[Table]) -> String {
    let mut bindings = String::new();
    let mut found: Vec<(String, Ty)> = Vec::new();
    for table in tables {
        let (name, ty) = (draw.name(), table.of.ty(table.of.at));
        bindings += &format!("({name} ((datum 0 {}) : {ty}))\n    ", table.name);
        draw.scope.push((name.clone(), ty.clone()));
        found.push((name, ty));
    }
    bindings += &functions(draw);
    for _ in 0..3 + draw.random.below(4) {
        if draw.random.chance(15) {
            let (name, ty, value) = draw.binding(4);
            bindings += &format!("({name} {value})\n    ");
            draw.scope.push((name, ty));
            continue;
        }
        let ty = match draw.random.chance(40) {
            true => draw.random.pick(&found).1.clone(),
            false => draw.recursive(),
        };
        let (name, value) = (draw.name(), recursive_value(draw, &ty));
        bindings += &format!("({name} ({value} : {ty}))\n    ");
        draw.scope.push((name.clone(), ty.clone()));
        found.push((name, ty));
    }
    format!("(let {bindings}in {})", result(draw, &found))
}

/// Draws a value by the productions of recursive data.
fn recursive_value(draw: &mut Draw, ty: &Ty) -> String {
    let row = productions::of_recursive_data(&mut draw.random, ty);
    *draw.used.entry(row.name).or_default() += 1;
    draw.nodes += 1;
    (row.draw)(draw, ty, 3)
}

/// Draws functions from data to numbers, which expressions may call.
fn functions(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..2 {
        let ty = draw.recursive();
        let [function, datum] = [(); 2].map(|()| draw.name());
        let body = match (draw.random.chance(50), ty.recursive()) {
            (true, Some(of)) => tables::fold(draw, &of, &datum),
            (_, _) => walks::walk(&mut || draw.name(), &ty, &datum),
        };
        text += &format!("({function} (lambda (({datum} : {ty})) {body}))\n    ");
        let ty = Ty::Function(vec![ty], Box::new(INT));
        draw.scope.push((function, ty));
    }
    text
}

/// Draws the result: the last datum, walks over some, and an expression.
fn result(draw: &mut Draw, found: &[(String, Ty)]) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some((name, _)) = found.last() {
        parts.push(name.clone());
    }
    for _ in 0..2 {
        let (name, ty) = draw.random.pick(found).clone();
        parts.push(walks::walk(&mut || draw.name(), &ty, &name));
    }
    let (name, ty) = draw.random.pick(found).clone();
    parts.push(match ty.recursive() {
        Some(of) => tables::fold(draw, &of, &name),
        None => name,
    });
    let ty = draw.any(1);
    let value = draw.expression(&ty, 3);
    parts.push(format!("({value} : {ty})"));
    format!("({})", parts.join(",\n    "))
}
