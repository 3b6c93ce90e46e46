//! The C types of the FFI boundary: structures for tuples, sums, recursive data and the vectors inside
//! of them (abi.md §2). The header defines each type once, with a guard of its own.

use crate::names::{escape, hash};
use crate::scalar::memory_type;
use crate::syntax::{int64, parameter};
use nova_c_ast::ast::{Expression, Field, Function, Item, Name, Type};
use nova_core::{Constructor, SumId, SumType, Type as CoreType};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A definition in the header.
pub struct Definition {
    /// Its name without `nova_`.
    pub name: String,
    /// The items within the guard.
    pub items: Vec<Item>,
    /// The constructors of a sum, in the order of their tags, each with the field of its payload if
    /// that takes memory.
    pub constructors: Vec<(Arc<str>, Option<Name>)>,
    /// The sum type that it defines, and the declared name of that type.
    pub sum: Option<(SumId, Arc<str>)>,
}

impl Definition {
    /// Returns the macro that guards it.
    pub fn guard(&self) -> String {
        format!("NOVA_TYPE_{}", self.name)
    }
}

/// The C types of the FFI boundary of one program.
pub struct CTypes<'p> {
    sums: &'p [SumType],
    /// The definitions, dependencies first.
    pub definitions: Vec<Definition>,
    /// The names of types, by unambiguous descriptions.
    names: BTreeMap<String, String>,
    used: BTreeSet<String>,
    /// The recursive sums whose data structure is defined, for their `_free` functions.
    pub data: Vec<SumId>,
}

/// Returns the part of C names that stands for a sum: its declared name, or its constructors joined by
/// `_`. A hash follows if a constructor has characters other than letters and digits.
fn sum_name(sum: &SumType) -> String {
    if !sum.is_anonymous() {
        return escape(&sum.name);
    }
    let names = sum.constructors.iter().map(|c| escape(&c.name));
    let joined = names.collect::<Vec<_>>().join("_");
    let plain = |c: &nova_core::Constructor| c.name.chars().all(|c| c.is_ascii_alphanumeric());
    match sum.constructors.iter().all(plain) {
        true => joined,
        false => format!("{joined}_{:016x}", hash(&sum.name)),
    }
}

/// The longest name; longer ones are shortened and end in a hash.
const LONGEST: usize = 120;

impl<'p> CTypes<'p> {
    /// No types yet.
    pub fn new(sums: &'p [SumType]) -> Self {
        CTypes {
            sums,
            definitions: Vec::new(),
            names: BTreeMap::new(),
            used: BTreeSet::new(),
            data: Vec::new(),
        }
    }

    /// Returns a sum type.
    pub fn sum(&self, id: SumId) -> &'p SumType {
        &self.sums[id.0 as usize]
    }

    /// True if a value of the type takes no memory: `unit`, and tuples of such types.
    pub fn is_nothing(&self, ty: &CoreType) -> bool {
        match ty {
            CoreType::Unit => true,
            CoreType::Tuple(elements) => deep(|| elements.iter().all(|e| self.is_nothing(e))),
            CoreType::Scalar(_)
            | CoreType::Vector(_)
            | CoreType::Array(..)
            | CoreType::Function(..)
            | CoreType::Sum(_) => false,
        }
    }

    /// True if converting a value of the type may allocate: it holds vectors or recursive data.
    pub fn allocates(&self, ty: &CoreType) -> bool {
        deep(|| match ty {
            CoreType::Scalar(_) | CoreType::Unit | CoreType::Function(..) => false,
            CoreType::Vector(_) | CoreType::Array(..) => true,
            CoreType::Tuple(elements) => elements.iter().any(|e| self.allocates(e)),
            CoreType::Sum(id) => {
                let sum = self.sum(*id);
                sum.is_recursive() || sum.constructors.iter().any(|c| self.allocates(&c.payload))
            }
        })
    }

    /// Returns the C type of a value inside of structures and arrays; `None` for a type that takes no
    /// memory. Recursive data of `group` are links, since its nodes contain them.
    pub fn value(&mut self, ty: &CoreType, group: &[SumId]) -> Option<Type> {
        if self.is_nothing(ty) {
            return None;
        }
        Some(match ty {
            CoreType::Scalar(scalar) => memory_type(*scalar),
            CoreType::Sum(id) if group.contains(id) => int64(),
            CoreType::Unit | CoreType::Function(..) => return None,
            CoreType::Tuple(_) | CoreType::Vector(_) | CoreType::Array(..) | CoreType::Sum(_) => {
                Type::Name(self.structure(ty, group))
            }
        })
    }

    /// Returns the name of the structure of a type. Defines the structure if that has not happened
    /// before.
    fn structure(&mut self, ty: &CoreType, group: &[SumId]) -> Name {
        let mut key = String::new();
        self.describe(ty, group, &mut key);
        if let Some(name) = self.names.get(&key) {
            return format!("nova_{name}").into();
        }
        let name = self.unique(self.mangled(ty, group));
        self.names.insert(key, name.clone());
        let c_name: Name = format!("nova_{name}").into();
        let items = deep(|| self.define(ty, group, &c_name));
        let sum = match ty {
            CoreType::Sum(id) => Some(*id),
            CoreType::Tuple(_)
            | CoreType::Vector(_)
            | CoreType::Array(..)
            | CoreType::Scalar(_)
            | CoreType::Unit
            | CoreType::Function(..) => None,
        };
        let constructors = match sum {
            Some(id) if !self.sum(id).is_recursive() => self.constructors(id),
            Some(_) | None => Vec::new(),
        };
        self.definitions.push(Definition {
            name,
            items,
            constructors,
            sum: sum.map(|id| (id, self.sum(id).name.clone())),
        });
        c_name
    }

    /// Returns a name that no other type has.
    fn unique(&mut self, mut name: String) -> String {
        if name.len() > LONGEST {
            let code = hash(&name);
            name.truncate(LONGEST - 20);
            name += &format!("_h{code:016x}");
        }
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.used.insert(candidate.clone()) {
            candidate = format!("{name}_v{number}");
            number += 1;
        }
        candidate
    }

    /// Returns the name of a type in abi.md, without `nova_`.
    pub fn mangled(&self, ty: &CoreType, group: &[SumId]) -> String {
        deep(|| match ty {
            CoreType::Scalar(scalar) => scalar.info().name.to_string(),
            CoreType::Unit | CoreType::Function(..) => "unit".to_string(),
            CoreType::Tuple(elements) => {
                let mut name = format!("tuple{}", elements.len());
                for element in elements.iter() {
                    name = name + "_" + &self.mangled(element, group);
                }
                name
            }
            CoreType::Vector(element) => format!("vector_{}", self.mangled(element, group)),
            CoreType::Array(rank, element) => {
                format!("vector{rank}_{}", self.mangled(element, group))
            }
            CoreType::Sum(id) if group.contains(id) => "link".to_string(),
            CoreType::Sum(id) => {
                let kind = if self.sum(*id).is_recursive() {
                    "data"
                } else {
                    "sum"
                };
                format!("{kind}_{}", self.instance(*id))
            }
        })
    }

    /// Returns the name of a sum with its arguments: `Maybe_int`.
    pub fn instance(&self, id: SumId) -> String {
        let sum = self.sum(id);
        let mut name = sum_name(sum);
        for argument in &sum.arguments {
            name = name + "_" + &self.mangled(argument, &[]);
        }
        name
    }

    /// Writes a description of a type that no other type has.
    pub fn describe(&self, ty: &CoreType, group: &[SumId], out: &mut String) {
        deep(|| match ty {
            CoreType::Scalar(scalar) => out.push_str(scalar.info().name),
            CoreType::Unit | CoreType::Function(..) => out.push('u'),
            CoreType::Tuple(elements) => {
                out.push('(');
                for element in elements.iter() {
                    self.describe(element, group, out);
                    out.push(',');
                }
                out.push(')');
            }
            CoreType::Vector(element) => {
                out.push_str("1#");
                self.describe(element, group, out);
            }
            CoreType::Array(rank, element) => {
                out.push_str(&format!("{rank}#"));
                self.describe(element, group, out);
            }
            CoreType::Sum(id) if group.contains(id) => out.push_str("link"),
            CoreType::Sum(id) => out.push_str(&format!("s{}", id.0)),
        })
    }

    fn define(&mut self, ty: &CoreType, group: &[SumId], name: &Name) -> Vec<Item> {
        let fields = match ty {
            CoreType::Tuple(elements) => self.tuple_fields(elements, group),
            CoreType::Vector(element) => self.vector_fields(&["len".into()], element, group),
            CoreType::Array(rank, element) => {
                let extents: Vec<Name> = (0..*rank).map(|k| format!("dim{k}").into()).collect();
                self.vector_fields(&extents, element, group)
            }
            CoreType::Sum(id) if self.sum(*id).is_recursive() => {
                return self.define_data(*id, name);
            }
            CoreType::Sum(id) => return self.define_sum(*id, name, &[]),
            // These types have no structure.
            CoreType::Scalar(_) | CoreType::Unit | CoreType::Function(..) => Vec::new(),
        };
        vec![Item::Struct {
            name: name.clone(),
            fields,
            typedef: true,
        }]
    }

    fn tuple_fields(&mut self, elements: &Arc<[CoreType]>, group: &[SumId]) -> Vec<Field> {
        let mut fields = Vec::new();
        for (k, element) in elements.iter().enumerate() {
            if let Some(ty) = self.value(element, group) {
                fields.push(Field::Plain(ty, format!("e{k}").into()));
            }
        }
        fields
    }

    fn vector_fields(
        &mut self,
        extents: &[Name],
        element: &CoreType,
        group: &[SumId],
    ) -> Vec<Field> {
        let mut fields: Vec<Field> = extents
            .iter()
            .map(|extent| Field::Plain(int64(), extent.clone()))
            .collect();
        if let Some(ty) = self.value(element, group) {
            fields.push(Field::Plain(ty.pointer(), "data".into()));
        }
        fields
    }

    fn constructors(&self, id: SumId) -> Vec<(Arc<str>, Option<Name>)> {
        let constructors = self.sum(id).constructors.iter();
        let field = |payload, name| (!self.is_nothing(payload)).then(|| field_name(name));
        constructors
            .map(|c| (c.name.clone(), field(&c.payload, &c.name)))
            .collect()
    }

    /// Defines a tag and a union of the payloads, and names for the tags.
    fn define_sum(&mut self, id: SumId, name: &Name, group: &[SumId]) -> Vec<Item> {
        let sum = self.sum(id);
        let mut items = Vec::new();
        let mut prefixes = vec![sum_name(sum), self.instance(id)];
        prefixes.dedup();
        for (tag, constructor) in sum.constructors.iter().enumerate() {
            for prefix in &prefixes {
                let constructor = escape(&constructor.name);
                items.push(Item::Directive(format!(
                    "define NOVA_{prefix}_{constructor} {tag}"
                )));
            }
        }
        let mut payloads = Vec::new();
        for constructor in &sum.constructors {
            if let Some(ty) = self.value(&constructor.payload, group) {
                payloads.push(Field::Plain(ty, field_name(&constructor.name)));
            }
        }
        let mut fields = vec![Field::Plain(Type::name("int32_t"), "tag".into())];
        if !payloads.is_empty() {
            fields.push(Field::Union(payloads, "u".into()));
        }
        items.push(Item::Struct {
            name: name.clone(),
            fields,
            typedef: true,
        });
        items
    }

    /// Returns the name of the type of a recursive sum's nodes. Defines the type if that has not
    /// happened before.
    pub fn node(&mut self, id: SumId) -> Name {
        let key = format!("node{}", id.0);
        if let Some(name) = self.names.get(&key) {
            return format!("nova_{name}").into();
        }
        let name = self.unique(format!("node_{}", self.instance(id)));
        self.names.insert(key, name.clone());
        let c_name: Name = format!("nova_{name}").into();
        let group = self.sum(id).group.clone();
        let items = self.define_sum(id, &c_name, &group);
        self.definitions.push(Definition {
            name,
            items,
            constructors: self.constructors(id),
            sum: Some((id, self.sum(id).name.clone())),
        });
        c_name
    }

    /// Returns the fields for the length and the nodes of each member of a recursive sum's group.
    pub fn node_fields(&self, id: SumId) -> Vec<(SumId, Name, Name)> {
        match &*self.sum(id).group {
            [only] => vec![(*only, "len".into(), "nodes".into())],
            group => group
                .iter()
                .map(|member| {
                    let name = self.instance(*member);
                    let (len, nodes) = (format!("len_{name}"), format!("nodes_{name}"));
                    (*member, len.into(), nodes.into())
                })
                .collect(),
        }
    }

    fn define_data(&mut self, id: SumId, name: &Name) -> Vec<Item> {
        self.data.push(id);
        let mut fields = vec![Field::Plain(int64(), "root".into())];
        let own = self.node_fields(id);
        let own_nodes = own.iter().find(|(member, ..)| *member == id);
        let nodes = own_nodes.map_or("nodes".into(), |(_, _, nodes)| nodes.to_string());
        for (member, len, nodes) in own {
            let node = Type::Name(self.node(member));
            fields.push(Field::Plain(int64(), len));
            fields.push(Field::Plain(node.pointer(), nodes));
        }
        let comment = format!(
            "A recursive value: its root is {nodes}[root], and links inside of nodes are indices of\n\
             nodes. In an argument the nodes may stand in any order, but none may contain itself."
        );
        vec![
            Item::Comment(comment),
            Item::Struct {
                name: name.clone(),
                fields,
                typedef: true,
            },
            Item::Comment("Frees what a result points to.".into()),
            Item::Function(free_declaration(name)),
        ]
    }
}

/// Returns the name of a constructor's field in the union.
pub fn field_name(constructor: &str) -> Name {
    crate::names::identifier(constructor).into()
}

/// Returns the payload of a value with this constructor.
pub(crate) fn payload_of(value: &Expression, constructor: &Constructor) -> Expression {
    let all = value.clone().member("u");
    all.member(field_name(&constructor.name))
}

/// Returns the declaration of the function that frees recursive data.
pub fn free_declaration(name: &Name) -> Function {
    Function {
        prefix: Vec::new(),
        result: Type::name("void"),
        name: format!("{name}_free").into(),
        parameters: vec![parameter(Type::Name(name.clone()).pointer(), "data")],
        body: None,
    }
}
