//! `novac fmt`: the canonical layout.

use crate::cli::FormatArguments;
use crate::terminal::{End, Outcome, message, print};
use nova_diag::SourceMap;
use nova_driver::Report;
use nova_exec::InputError;
use nova_exec::atomic::write_file;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Lays files out in place, or names those that would change. Every file is checked, and the worst
/// exit status counts.
pub fn format(arguments: &FormatArguments) -> Outcome {
    let mut status = 0;
    for file in &arguments.files {
        if let Err(end) = format_file(file, arguments.check) {
            message(&end.message);
            status = status.max(end.status);
        }
    }
    match status {
        0 => Ok(()),
        status => Err(End::silent(status)),
    }
}

fn format_file(file: &Path, check: bool) -> Outcome {
    let stdin = file.as_os_str() == "-";
    let name = match stdin {
        true => "standard input".to_string(),
        false => file.display().to_string(),
    };
    let bytes = match stdin {
        true => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => fs::read(file),
    };
    let bytes = bytes.map_err(|error| InputError::file(Path::new(&name), &error))?;
    let formatted = lay_out(&bytes, &name)?;
    let changed = formatted.as_bytes() != bytes;
    match (check, stdin) {
        (true, _) if changed => Err(End::failed(format!("{name}: not in the canonical layout"))),
        (true, _) => Ok(()),
        (false, true) => print(&formatted),
        (false, false) if changed => Ok(write_file(file, |writer| {
            writer.write_all(formatted.as_bytes())
        })?),
        (false, false) => Ok(()),
    }
}

fn lay_out(bytes: &[u8], name: &str) -> Result<String, End> {
    let mut sources = SourceMap::new();
    let report = |sources, diagnostics| {
        let report = Report {
            sources,
            diagnostics,
        };
        End::failed(report.to_text())
    };
    let text = match nova_syntax::reader::decode_source(bytes, name, &mut sources) {
        Ok(text) => text,
        Err(diagnostic) => return Err(report(sources, vec![*diagnostic])),
    };
    let file = sources.add(name, text.as_str());
    nova_driver::pipeline::guard("format", || {
        Ok(nova_syntax::format::format_source(&text, file))
    })
    .map_err(|error| End::failed(format!("error: {error}")))?
    .map_err(|diagnostics| report(sources, diagnostics))
}
