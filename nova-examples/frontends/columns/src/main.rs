//! `columns PROGRAM.calc TABLE.csv`: a language of its own, compiled through NOVA.

mod parser;
mod table;
mod translate;

use nova_driver::{
    CallError, Compiler, Elements, Failure, Options, Place, ProgramBuilder, Source, Value,
    runtime_error, text,
};
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use table::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, table] = arguments.as_slice() else {
        eprintln!("usage: columns PROGRAM.calc TABLE.csv");
        return ExitCode::from(2);
    };
    match run(program, table) {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The value of a program over a table, as text.
fn run(program: &str, table: &str) -> Result<String, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
    let text = read(program)?;
    let table = Table::read(&read(table)?).map_err(|why| format!("{table}: {why}"))?;
    let mistake = |mistake: parser::Mistake| {
        let (line, column) = mistake.position;
        let place = Place::new(program, line, column);
        let shown = text.lines().nth(line as usize - 1).unwrap_or("");
        let marker = " ".repeat(column as usize - 1) + "^";
        format!(
            "error: {}\n --> {place}\n  | {shown}\n  | {marker}",
            mistake.message
        )
    };
    let parsed = parser::parse(&text).map_err(mistake)?;
    let (builder, inputs) =
        translate::translate(&parsed, table.names(), (program, &text)).map_err(mistake)?;
    let columns: Vec<Value> = inputs
        .iter()
        .filter_map(|name| table.column(name))
        .map(|column| Value::Vector(Elements::F64(Arc::new(column.clone()))))
        .collect();
    evaluate(builder, &columns)
}

/// Compiles and calls. A program that is unchanged but for its lines is found in the cache.
fn evaluate(builder: ProgramBuilder, columns: &[Value]) -> Result<String, String> {
    let compiler = Compiler::new(Options::default());
    let loaded = compiler.open(Source::Built(Box::new(builder)), &[]);
    let loaded = loaded.map_err(|failure| failure.to_string())?;
    eprint!("{}", loaded.report.to_text());
    let value = loaded
        .library
        .call(0, columns)
        .map_err(|error| match error {
            // The message begins with the place, whose line is shown below.
            CallError::Failed { message, .. } => {
                runtime_error::render(&message, &loaded.report.sources)
            }
            other => Failure::Call(other).to_string(),
        })?;
    let signature = &loaded.signatures()[0];
    Ok(text::print_value(&value, &signature.result, loaded.sums()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_text(program: &str) -> Result<String, String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
        let path = std::env::temp_dir().join(format!("columns-{}.calc", std::process::id()));
        fs::write(&path, program).map_err(|e| e.to_string())?;
        let result = run(&path.display().to_string(), &format!("{folder}/sales.csv"));
        fs::remove_file(path).map_err(|e| e.to_string())?;
        result
    }

    #[test]
    fn values_and_mistakes() {
        let total = "total = price * quantity\n";
        assert_eq!(run_text(&format!("{total}sum(total)")), Ok("496.5".into()));
        assert_eq!(run_text("a = 2; -a * (3 + 1)"), Ok("-8.0".into()));
        let unknown = run_text("1 + prize").err().unwrap_or_default();
        assert!(unknown.contains("no column or name `prize`") && unknown.contains(".calc:1:5"));
        // This one is found by NOVA's types, and shown in the front end's source.
        let number = run_text(&format!("{total}1 + mean(3)"))
            .err()
            .unwrap_or_default();
        let shown = "2 | 1 + mean(3)\n  |     ^^^^^^^";
        assert!(
            number.contains(".calc:2:5")
                && number.contains(shown)
                && number.contains("in `mean`: "),
            "{number}"
        );
    }
}
