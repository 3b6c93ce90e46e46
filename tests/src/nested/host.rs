//! A host in C that calls the entries of a program, with inputs as constants. It is for sanitizers,
//! which need the whole program to be instrumented.

use nova_core::{Elements, Type, Value};
use nova_exec::prototype::{parameter_types, target};
use std::fmt::Write;

/// The text of a host, to which calls are added.
#[derive(Default)]
pub struct Host {
    includes: String,
    calls: String,
    count: usize,
}

impl Host {
    /// Includes the header of a program.
    pub fn include(&mut self, name: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.includes, "#include \"{name}.h\"");
    }

    /// Adds a call of an entry, by its prototype in the header.
    pub fn call(
        &mut self,
        header: &str,
        symbol: &str,
        inputs: &[(&Type, Value)],
    ) -> Result<(), String> {
        let types = parameter_types(header, symbol).ok_or("no prototype")?;
        let mut data = String::new();
        let mut cells = Vec::new();
        for (ty, value) in inputs {
            self.argument(ty, value, &mut cells, &mut data);
        }
        let results = types.len().checked_sub(cells.len());
        let (results, inputs) = types.split_at(results.ok_or("too few parameters")?);
        let mut arguments = Vec::new();
        let mut body = String::new();
        for (k, ty) in results.iter().enumerate() {
            let ty = target(ty).ok_or("a result that is no pointer")?;
            let _ = writeln!(body, "    {ty} result{k};");
            let _ = writeln!(body, "    memset((void *)&result{k}, 0, sizeof result{k});");
            arguments.push(format!("&result{k}"));
        }
        for (ty, cell) in inputs.iter().zip(cells) {
            arguments.push(format!("({ty})({cell})"));
        }
        let (k, arguments) = (self.count, arguments.join(", "));
        self.count += 1;
        let _ = writeln!(
            self.calls,
            "{data}static int call_{k}(void)\n{{\n{body}    return {symbol}({arguments});\n}}"
        );
        Ok(())
    }

    /// Returns the cells of an argument, and adds the arrays that they point to.
    fn argument(&mut self, ty: &Type, value: &Value, cells: &mut Vec<String>, data: &mut String) {
        match (ty, value) {
            (Type::Vector(element), Value::Vector(elements)) => {
                cells.push(elements.len().to_string());
                let mut element = &**element;
                let mut level: Vec<Value> = elements.iter().collect();
                while let Type::Vector(inner) = element {
                    let mut offsets = vec!["0".to_string()];
                    let mut all = Vec::new();
                    for row in &level {
                        if let Value::Vector(row) = row {
                            all.extend(row.iter());
                        }
                        offsets.push(all.len().to_string());
                    }
                    cells.push(self.array("int64_t", &offsets, data));
                    (element, level) = (inner, all);
                }
                self.elements(element, &level, cells, data);
            }
            (Type::Array(_, element), Value::Array(extents, elements)) => {
                cells.extend(extents.iter().map(usize::to_string));
                let elements: &Elements = elements;
                self.elements(element, &elements.iter().collect::<Vec<_>>(), cells, data);
            }
            (_, value) => cells.push(text(value)),
        }
    }

    fn elements(&mut self, ty: &Type, level: &[Value], cells: &mut Vec<String>, data: &mut String) {
        let name = name(ty);
        cells.push(self.array(&name, &level.iter().map(text).collect::<Vec<_>>(), data));
    }

    fn array(&mut self, ty: &str, values: &[String], data: &mut String) -> String {
        let name = format!("data_{}", self.count);
        let name = format!("{name}_{}", data.len());
        let values = match values.is_empty() {
            true => "0".to_string(),
            false => values.join(","),
        };
        let _ = writeln!(data, "static const {ty} {name}[] = {{{values}}};");
        name
    }

    /// Returns the host. It makes all calls once, then from four threads at once.
    pub fn text(&self) -> String {
        let calls: Vec<String> = (0..self.count).map(|k| format!("call_{k}")).collect();
        format!(
            "{}#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n{}\
             static int (*const calls[])(void) = {{{}}};\n\
             static void *call_all(void *codes)\n{{\n    \
             for (int k = 0; k < {}; k++)\n        ((int *)codes)[k] = calls[k]();\n    \
             return NULL;\n}}\n\
             static int codes[5][{}];\n\
             int main(void)\n{{\n    pthread_t threads[4];\n    call_all(codes[4]);\n    \
             for (int i = 0; i < 4; i++)\n        \
             if (pthread_create(&threads[i], NULL, call_all, codes[i]) != 0)\n            return 1;\n    \
             for (int i = 0; i < 4; i++)\n        pthread_join(threads[i], NULL);\n    \
             for (int i = 0; i < 4; i++)\n        \
             if (memcmp(codes[i], codes[4], sizeof codes[i]) != 0)\n            return 2;\n    \
             for (int k = 0; k < {}; k++)\n        if (codes[4][k] > 1)\n            \
             printf(\"call %d: %d\\n\", k, codes[4][k]);\n    return 0;\n}}\n",
            self.includes,
            self.calls,
            calls.join(", "),
            self.count,
            self.count,
            self.count
        )
    }
}

/// Returns the name of an element's type in C.
fn name(ty: &Type) -> String {
    let part = |ty: &Type| match ty.as_scalar() {
        Some(nova_core::Scalar::F32) => "float",
        Some(nova_core::Scalar::U8) => "uint8",
        _ => "int",
    };
    match ty {
        Type::Tuple(elements) => {
            let parts: Vec<&str> = elements.iter().map(part).collect();
            format!("nova_tuple{}_{}", parts.len(), parts.join("_"))
        }
        other => match part(other) {
            "int" => "int32_t".to_string(),
            "uint8" => "uint8_t".to_string(),
            name => name.to_string(),
        },
    }
}

/// Returns a scalar or tuple as an initialiser in C.
fn text(value: &Value) -> String {
    match value {
        Value::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(text).collect();
            format!("{{{}}}", elements.join(","))
        }
        other => match other.as_scalar() {
            Some(nova_core::ScalarValue::F32(value)) => format!("{value:?}f"),
            Some(value) => value.as_integer().unwrap_or(0).to_string(),
            None => "0".to_string(),
        },
    }
}
