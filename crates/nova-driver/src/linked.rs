//! Files that programs are linked with. Code of the device becomes part of the generated text. A
//! compiler or linker takes all other files. Files in the language of another device are ignored.

use crate::error::Failure;
use crate::options::{TARGETS, Target};
use nova_exec::InputError;
use std::path::PathBuf;

/// Returns the code of the device of a target in these files, and the files that are no code of any
/// device.
///
/// # Errors
/// A file that cannot be read.
pub fn device_source(target: Target, link: &[PathBuf]) -> Result<(String, Vec<PathBuf>), Failure> {
    let mut source = String::new();
    let mut others = Vec::new();
    for path in link {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_of = |target: Target| {
            let dialect = target.dialect().zip(ending);
            dialect.is_some_and(|(dialect, ending)| dialect.foreign_extensions.contains(&ending))
        };
        match TARGETS.into_iter().any(|(other, _)| is_of(other)) {
            false => others.push(path.clone()),
            true if is_of(target) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Failure::Input(InputError::file(path, &error)))?;
                source.push_str(&text);
                if !source.ends_with('\n') {
                    source.push('\n');
                }
            }
            true => {}
        }
    }
    Ok((source, others))
}
