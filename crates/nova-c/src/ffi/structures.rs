//! In-place access to the caller's memory: fields of structures that are read in place, and a result
//! that is made in place.

use crate::context::expressions::{context, int64, null};
use crate::context::function::FunctionEmitter;
use crate::context::making::Making;
use crate::ffi::input::Source;
use crate::ffi::interface::EntryInterface;
use nova_c_ast::ast::{Binary, Expression, Parameter, Statement, Type};
use nova_core::Type as CoreType;

impl FunctionEmitter<'_, '_> {
    /// Emits the call that tells the runtime about the caller's buffer, for a result that is made in
    /// place.
    pub fn open_result(
        &mut self,
        interface: &EntryInterface,
        making: &Making,
        field: &dyn Fn(&Parameter) -> Expression,
    ) {
        let Some((data, sizes)) = interface.results.split_last() else {
            return;
        };
        let sizes: Vec<Expression> = sizes.iter().map(|p| field(p).dereference()).collect();
        let buffer = field(data).dereference();
        let capacity = match &*sizes {
            [size] => size.clone(),
            // The sizes are those of a buffer only if there is one.
            sizes => {
                let zero = Expression::literal("0");
                let capacity = self.variable(int64(), "capacity", zero);
                let source = Source::argument("result");
                let (mut inside, count) = self.apart(|this| this.checked_count(sizes, &source));
                inside.push(Statement::assign(capacity.clone(), count));
                let given = Expression::binary(Binary::NotEqual, buffer.clone(), null());
                self.push(Statement::when(given, inside));
                capacity
            }
        };
        if let Some(scalar_field) = making.fields.iter().flatten().next() {
            let component = making.fields.iter().position(|f| f.is_some());
            let bytes = self.field_bytes(&interface.result, component);
            self.check_size(&making.element, scalar_field.stride * bytes);
        }
        let result = self.unset(Type::name("nova_result"), "result");
        let arguments = vec![
            context(),
            result.address(),
            buffer,
            capacity,
            Expression::SizeOf(making.element.clone()),
        ];
        self.push(Statement::call("nova_open_result", arguments));
    }

    /// Returns the size of a component's elements.
    fn field_bytes(&self, ty: &CoreType, component: Option<usize>) -> usize {
        let components = self.components(ty);
        let component = component.and_then(|k| components.get(k));
        component.map_or(1, |c| usize::from(c.scalar.info().bytes))
    }
}
