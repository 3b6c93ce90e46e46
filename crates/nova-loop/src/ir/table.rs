//! The table of commands. A row describes one form of a command: its word in the text, its pattern, and
//! its operands in the order of the text. The walks over commands, the uses of variables, the printer,
//! the parser and the types that the verifier asks for follow from the rows.
//!
//! A pattern is also the expression that makes the command, so a command that has several forms has a row
//! for each: `contend_any` and `contend_greatest`. An operand is a field of the pattern with the name of a
//! variant of [`Operand`], and the other values of that variant.

use super::attributes::Attribute;
use super::{
    Command, Destination, Expression, FIXED_BLOCK, GATHER_WIDTH, GATHERED_ROWS, Gather, HostAccess,
    PANEL_ROWS, PARTIAL_LANES, PREFIX_WIDTH, Stays, TableCommand, Type, Variable, panel_lanes,
};
use Extent::{Any, At, Count, Fixed, Groups};
use Role::{Assigned, Named, Stored, Updated};
use Use::{Read, Written};
use Wants::{AnyPointer, ElementOf, Is, Other};
use nova_core::Scalar;
use nova_diag::Place;

/// An operand of a command.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A variable that the command declares. The text has its type.
    Declared(&'a Variable),
    /// The index that a loop declares.
    Counter(&'a Variable),
    /// A variable that the command names outside its expressions.
    Variable(&'a Variable, Role<'a>),
    /// Several such variables.
    Variables(&'a [Variable], Role<'a>),
    /// An expression that the command evaluates.
    Expression(&'a Expression, Wants),
    /// The address of elements of this type, which the command only reads or only writes.
    Address(&'a Expression, Use, Scalar, Extent<'a>),
    /// An expression that may be absent.
    Optional(&'a Option<Expression>),
    /// Several expressions. The verifier has rules of its own for their types.
    Expressions(&'a [Expression]),
    /// A constant of the command: a number, a type, a word, a text.
    Attribute(&'a dyn Attribute),
    /// A place in the source text, which the error of the command reports.
    Place(&'a Place),
    /// A list of commands: `(do COMMAND …)`.
    List(&'a [Command]),
    /// A list of commands that the text leaves out if it is empty.
    Else(&'a [Command]),
    /// Several lists of commands, to the end of the form.
    Lists(&'a [Vec<Command>]),
    /// The commands to the end of the form.
    Body(&'a [Command]),
}

/// The use of a variable that a command names outside its expressions.
#[derive(Clone, Copy)]
pub enum Role<'a> {
    /// The command gives it another value.
    Assigned(Wants),
    /// The command reads it and gives it another value.
    Updated(Wants),
    /// The command writes these elements through this pointer, and may read them.
    Stored(Wants, Extent<'a>),
    /// The variable keeps its value, and the command writes no elements through it.
    Named(Wants),
}

/// The use of a variable's value by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The command reads elements through the pointer.
    Read,
    /// The command writes elements through the pointer.
    Written,
    /// Any other use.
    Value,
}

/// The elements that a command reads or writes, from the one to which a pointer leads.
#[derive(Clone, Copy)]
pub enum Extent<'a> {
    /// The one at this index.
    At(&'a Expression),
    /// As many as the value of this operand.
    Count(&'a Expression),
    /// As many groups of this size as the value of this operand.
    Groups(&'a Expression, u32),
    /// This number.
    Fixed(i64),
    /// Any of them.
    Any,
}

/// The type that an operand must have.
#[derive(Clone, Copy)]
pub enum Wants {
    /// This type.
    Is(Type),
    /// A pointer to elements of any type.
    AnyPointer,
    /// The type of the elements that this pointer leads to.
    ElementOf(Variable),
    /// The verifier has a rule of its own.
    Other,
}

const INDEX: Wants = Is(Type::Scalar(Scalar::I64));
const BOOL: Wants = Is(Type::Scalar(Scalar::Bool));
const BLOCK: Wants = Is(Type::Block);

fn scalar(element: Scalar) -> Wants {
    Is(Type::Scalar(element))
}

fn fixed(count: u32) -> Extent<'static> {
    Fixed(i64::from(count))
}

/// The elements of a gather that lie `stride` apart.
fn gathered(stride: u32) -> Extent<'static> {
    Fixed(i64::from(GATHER_WIDTH) * i64::from(stride))
}

fn pointer_to(element: Scalar) -> Wants {
    Is(Type::Pointer(element))
}

/// Passes the rows of the table to a macro.
macro_rules! command_table {
    ($then:ident) => {
        $then! {
            "declare" [Command::Declare { variable, value }]
                variable: Declared, value: Optional;
            "set" [Command::Assign { variable, value }]
                variable: Variable(Assigned(Other)), value: Expression(Other);
            "local" [Command::Local { pointer, count }]
                pointer: Declared, count: Attribute;
            "shared" [Command::Shared { pointer, count }]
                pointer: Declared, count: Expression(INDEX);
            "spare" [Command::Spare { pointer, places, count, apart }]
                pointer: Declared, places: Expression(Other), count: Expression(INDEX),
                apart: Expressions;

            "store" [Command::Store { pointer, index, value }]
                pointer: Variable(Stored(AnyPointer, At(index))), index: Expression(INDEX),
                value: Expression(ElementOf(*pointer));
            "contend_any" [Command::Contend { pointer, index, value, stays: Stays::Any }]
                pointer: Variable(Stored(AnyPointer, At(index))), index: Expression(INDEX),
                value: Expression(ElementOf(*pointer));
            "contend_greatest" [Command::Contend { pointer, index, value, stays: Stays::Greatest }]
                pointer: Variable(Stored(pointer_to(Scalar::I32), At(index))), index: Expression(INDEX),
                value: Expression(scalar(Scalar::I32));
            "allocate" [Command::Allocate { block, pointer, element, count, destination: None, place }]
                block: Variable(Assigned(BLOCK)), pointer: Variable(Assigned(pointer_to(*element))),
                element: Attribute, count: Expression(INDEX), place: Place;
            "allocate_result" [Command::Allocate {
                block, pointer, element, count,
                destination: Some(Destination { component, stride }), place
            }]
                block: Variable(Assigned(BLOCK)), pointer: Variable(Assigned(pointer_to(*element))),
                element: Attribute, count: Expression(INDEX), component: Attribute,
                stride: Attribute, place: Place;
            "reserve" [Command::Reserve { block, pointer, element, used, count, place }]
                block: Variable(Updated(BLOCK)), pointer: Variable(Updated(pointer_to(*element))),
                element: Attribute, used: Expression(INDEX), count: Expression(INDEX),
                place: Place;
            "unique" [Command::Unique { block, pointer, element, count, place }]
                block: Variable(Updated(BLOCK)), pointer: Variable(Updated(pointer_to(*element))),
                element: Attribute, count: Expression(INDEX), place: Place;
            "retain" [Command::Retain(block)] block: Variable(Named(BLOCK));
            "release" [Command::Release(block)] block: Variable(Named(BLOCK));

            "may_split" [Command::MaySplit { splits }] splits: Variable(Assigned(BOOL));
            "result_buffers" [Command::ResultBuffers { pieces, count, place }]
                pieces: Variable(Assigned(BLOCK)), count: Expression(INDEX), place: Place;
            "store_buffer" [Command::StoreBuffer {
                pieces, index, block, pointer, element, count, place
            }]
                pieces: Variable(Named(BLOCK)), index: Expression(INDEX), block: Expression(BLOCK),
                pointer: Expression(pointer_to(*element)), element: Attribute,
                count: Expression(INDEX), place: Place;
            "buffer" [Command::Buffer { pointer, pieces, element, index }]
                pointer: Variable(Assigned(pointer_to(*element))), pieces: Variable(Named(BLOCK)),
                element: Attribute, index: Expression(INDEX);
            "drop_buffers" [Command::DropBuffers { pieces, count }]
                pieces: Variable(Named(BLOCK)), count: Expression(INDEX);

            "copy" [Command::Copy { to, from, element, count }]
                to: Address(Written, *element, Count(count)), from: Address(Read, *element, Count(count)),
                element: Attribute, count: Expression(INDEX);
            "plan_non_temporal" [Command::PlanNonTemporal {
                shift, fields, start, count, total, width
            }]
                shift: Variable(Assigned(INDEX)), fields: Variables(Named(AnyPointer)),
                start: Expression(INDEX), count: Expression(INDEX), total: Expression(INDEX),
                width: Attribute;
            "non_temporal_store" [Command::NonTemporalStore {
                fields, start, from, count, lines: false
            }]
                fields: Variables(Stored(AnyPointer, Any)), start: Expression(INDEX),
                from: Expression(Other), count: Expression(INDEX);
            "non_temporal_store_lines" [Command::NonTemporalStore {
                fields, start, from, count, lines: true
            }]
                fields: Variables(Stored(AnyPointer, Any)), start: Expression(INDEX),
                from: Expression(Other), count: Expression(INDEX);
            "padded_copy" [Command::PaddedCopy { to, from, element, count, pad }]
                to: Address(Written, *element, fixed(FIXED_BLOCK)), from: Address(Read, *element, Count(count)),
                element: Attribute, count: Expression(INDEX), pad: Expression(scalar(*element));
            "tree_reduce" [Command::TreeReduce { pointer, element, operation, into }]
                pointer: Variable(Stored(pointer_to(*element), fixed(FIXED_BLOCK))), element: Attribute,
                operation: Attribute, into: Attribute;
            "plan_rows" [Command::PlanRows { joins }] joins: Variable(Assigned(BOOL));
            "lane_reduce" [Command::LaneReduce { to, from, element, operation, count }]
                to: Address(Written, *element, fixed(PARTIAL_LANES)), from: Address(Read, *element, Count(count)),
                element: Attribute, operation: Attribute, count: Expression(INDEX);
            "multiply_panels" [Command::MultiplyPanels { totals, left, right, element, steps }]
                totals: Address(Written, Scalar::F64, fixed(PANEL_ROWS * panel_lanes(*element))),
                left: Address(Read, *element, Groups(steps, PANEL_ROWS)),
                right: Address(Read, *element, Groups(steps, panel_lanes(*element))),
                element: Attribute, steps: Expression(INDEX);
            "sort_words" [Command::SortWords { to, beside, from, element, count, low }]
                to: Address(Written, *element, Count(count)),
                beside: Address(Written, *element, Count(count)),
                from: Address(Read, *element, Count(count)),
                element: Attribute, count: Expression(INDEX), low: Expression(INDEX);
            "prefix_scan_inclusive" [Command::PrefixScan {
                to, from, element, operation, exclusive: false, last
            }]
                to: Address(Written, *element, fixed(PREFIX_WIDTH)), from: Address(Read, *element, fixed(PREFIX_WIDTH)),
                element: Attribute, operation: Attribute,
                last: Variable(Updated(scalar(*element)));
            "prefix_scan_exclusive" [Command::PrefixScan {
                to, from, element, operation, exclusive: true, last
            }]
                to: Address(Written, *element, fixed(PREFIX_WIDTH)), from: Address(Read, *element, fixed(PREFIX_WIDTH)),
                element: Attribute, operation: Attribute,
                last: Variable(Updated(scalar(*element)));
            "gather_strided" [Command::Gather(Gather::Strided { to, from, element, stride })]
                to: Address(Written, *element, gathered(1)), from: Address(Read, *element, gathered(*stride)),
                element: Attribute, stride: Attribute;
            "gather_precheck" [Command::Gather(Gather::Precheck {
                outside, limit, indices, index, stride
            })]
                outside: Variable(Assigned(BOOL)), limit: Expression(scalar(Scalar::U64)),
                indices: Address(Read, *index, gathered(*stride)), index: Attribute, stride: Attribute;
            "gather_indexed" [Command::Gather(Gather::Indexed {
                to, from, element, indices, index, stride
            })]
                to: Address(Written, *element, gathered(1)), from: Address(Read, *element, Any),
                element: Attribute, indices: Address(Read, *index, gathered(*stride)), index: Attribute,
                stride: Attribute;
            "gather_rows" [Command::Gather(Gather::Rows { to, from, element, stride, count })]
                to: Address(Written, *element, Groups(count, GATHERED_ROWS)), from: Address(Read, *element, Any),
                element: Attribute, stride: Expression(INDEX), count: Expression(INDEX);

            "if" [Command::If { condition, then, otherwise }]
                condition: Expression(BOOL), then: List, otherwise: Else;
            "switch" [Command::Switch { scrutinee, cases }]
                scrutinee: Expression(scalar(Scalar::I32)), cases: Lists;
            "for" [Command::For { variable, count, level, body, place }]
                variable: Counter, count: Expression(INDEX), level: Attribute, place: Place,
                body: Body;
            "loop" [Command::Loop { body, place }] place: Place, body: Body;
            "break" [Command::Break];
            "continue" [Command::Continue];
            "return" [Command::Return];
            "check" [Command::Check { condition, error, arguments, place }]
                condition: Expression(BOOL), error: Attribute, arguments: Expressions,
                place: Place;
            "fail" [Command::Fail { error, arguments, place }]
                error: Attribute, arguments: Expressions, place: Place;

            "call" [Command::Call { function, arguments, results }]
                function: Attribute, arguments: Expressions, results: Variables(Assigned(Other));
            "foreign" [Command::Foreign { foreign, arguments, results, place }]
                foreign: Attribute, arguments: Expressions, results: Variables(Assigned(Other)),
                place: Place;
            "new" [Command::NodeNew { sum, constructor, payload, link, place }]
                sum: Attribute, constructor: Attribute, payload: Expressions,
                link: Variable(Assigned(INDEX)), place: Place;
            "payload" [Command::NodePayload { sum, constructor, link, results }]
                sum: Attribute, constructor: Attribute, link: Expression(INDEX),
                results: Variables(Assigned(Other));
            "reached" [Command::Table(TableCommand::Reached { members, link, results, place })]
                members: Attribute, link: Expression(INDEX), results: Variables(Assigned(Other)),
                place: Place;
            "reserve_nodes" [Command::Table(TableCommand::Reserve { sum, count, link, place })]
                sum: Attribute, count: Expression(INDEX), link: Variable(Assigned(INDEX)), place: Place;
            "store_node" [Command::Table(TableCommand::Store { sum, constructor, link, payload })]
                sum: Attribute, constructor: Attribute, link: Expression(INDEX), payload: Expressions;
            "seal_nodes" [Command::Table(TableCommand::Seal { sum, from, link })]
                sum: Attribute, from: Expression(INDEX), link: Variable(Assigned(INDEX));
            "acyclic" [Command::Table(TableCommand::Acyclic { members, first, counts, acyclic, place })]
                members: Attribute, first: Expressions, counts: Expressions,
                acyclic: Variable(Assigned(BOOL)), place: Place;
            "mark_nodes" [Command::Table(TableCommand::Mark { sum, first, limit })]
                sum: Attribute, first: Variable(Assigned(INDEX)), limit: Variable(Assigned(INDEX));
            "reclaim_nodes" [Command::Table(TableCommand::Reclaim {
                sums, first, limits, links, targets, place
            })]
                sums: Attribute, first: Expressions, limits: Variables(Updated(INDEX)),
                links: Variables(Updated(INDEX)), targets: Attribute, place: Place;
            "trace" [Command::Trace { text, ty, components }]
                text: Attribute, ty: Attribute, components: Expressions;

            "barrier" [Command::Barrier(level)] level: Attribute;
            "begin_ordered" [Command::BeginOrdered(index)] index: Variable(Named(Other));
            "end_ordered" [Command::EndOrdered(index)] index: Variable(Named(Other));
            "store_fence" [Command::StoreFence];
            "prefetch" [Command::Prefetch { pointer, index, only_linear: false }]
                pointer: Variable(Named(AnyPointer)), index: Expression(INDEX);
            "prefetch_stream" [Command::Prefetch { pointer, index, only_linear: true }]
                pointer: Variable(Named(AnyPointer)), index: Expression(INDEX);
            "on_host_reads" [Command::OnHost { pointer, access: HostAccess::Reads }]
                pointer: Variable(Named(AnyPointer));
            "on_host_writes" [Command::OnHost { pointer, access: HostAccess::Writes }]
                pointer: Variable(Named(AnyPointer));
            "on_host_element" [Command::OnHost { pointer, access: HostAccess::ReadsElement(index) }]
                pointer: Variable(Named(AnyPointer)), index: Expression(INDEX);
            "wrote_element" [Command::OnHost { pointer, access: HostAccess::WroteElement(index) }]
                pointer: Variable(Named(AnyPointer)), index: Expression(INDEX);
            "comment" [Command::Comment(text)] text: Attribute;
        }
    };
}
pub(crate) use command_table;

macro_rules! define_operands {
    ($($word:literal [$($form:tt)*]
        $($field:ident: $kind:ident $(($($fact:expr),*))?),*;)*) => {
        /// Calls `visit` on the operands of a command, in the order of the text. Returns the word of the
        /// command in the text.
        pub fn operands<'a>(
            command: &'a Command,
            visit: &mut dyn FnMut(Operand<'a>),
        ) -> &'static str {
            match command {
                $($($form)* => {
                    $(visit(Operand::$kind($field $(, $($fact),*)?));)*
                    $word
                })*
            }
        }

        /// Calls `visit` on the variables and expressions among the operands of a command, to change them.
        pub fn operands_mut<'a>(command: &'a mut Command, visit: &mut dyn FnMut(OperandMut<'a>)) {
            match command {
                $($($form)* => {
                    $(changeable!($kind $field visit);)*
                })*
            }
        }
    };
}

/// An operand that can be changed.
pub enum OperandMut<'a> {
    /// A variable outside of expressions.
    Variable(&'a mut Variable),
    /// An expression.
    Expression(&'a mut Expression),
}

macro_rules! changeable {
    (Declared $field:ident $visit:ident) => {
        $visit(OperandMut::Variable($field))
    };
    (Counter $field:ident $visit:ident) => {
        $visit(OperandMut::Variable($field))
    };
    (Variable $field:ident $visit:ident) => {
        $visit(OperandMut::Variable($field))
    };
    (Variables $field:ident $visit:ident) => {
        $field
            .iter_mut()
            .for_each(|v| $visit(OperandMut::Variable(v)))
    };
    (Expression $field:ident $visit:ident) => {
        $visit(OperandMut::Expression($field))
    };
    (Address $field:ident $visit:ident) => {
        $visit(OperandMut::Expression($field))
    };
    (Optional $field:ident $visit:ident) => {
        $field
            .iter_mut()
            .for_each(|e| $visit(OperandMut::Expression(e)))
    };
    (Expressions $field:ident $visit:ident) => {
        $field
            .iter_mut()
            .for_each(|e| $visit(OperandMut::Expression(e)))
    };
    ($other:ident $field:ident $visit:ident) => {{
        let _ = $field;
    }};
}

command_table!(define_operands);
