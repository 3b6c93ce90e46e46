//! The standard library for editors: what its files define, and where an editor can open them.

use crate::analysis::Analysis;
use nova_driver::{Compiler, Source, Texts, library};
use nova_exec::atomic::write_file;
use nova_exec::cache::Cache;
use nova_infer::Referent;
use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;

/// A definition of the standard library.
#[derive(Clone, Debug)]
pub struct LibraryName {
    /// Its name.
    pub name: String,
    /// The file that defines it, as imports name it.
    pub file: String,
    /// Its type.
    pub ty: String,
    /// The comment above it.
    pub documentation: String,
}

/// The standard library. Its files are read when they are asked for.
#[derive(Default)]
pub struct LibraryFiles {
    names: OnceCell<Vec<LibraryName>>,
}

impl LibraryFiles {
    /// Returns all definitions.
    pub fn names(&self, compiler: &Compiler) -> &[LibraryName] {
        self.names.get_or_init(|| {
            let files = library::files();
            files
                .flat_map(|(file, text)| names_of(compiler, &file, text))
                .collect()
        })
    }
}

fn names_of(compiler: &Compiler, file: &str, text: &str) -> Vec<LibraryName> {
    let source = Source::text(format!("{file}.nova"), text);
    let Ok(analysis) = Analysis::of(compiler, source, &Texts::new()) else {
        return Vec::new();
    };
    let definitions = (0..).zip(&analysis.tree().definitions);
    let own = definitions.filter(|(_, definition)| definition.span.file == analysis.root());
    own.map(|(number, definition)| {
        let referent = Referent::Definition(number);
        let ty = analysis.index().and_then(|index| index.type_of(referent));
        LibraryName {
            name: definition.name.text.to_string(),
            file: file.to_string(),
            ty: ty.map(|ty| ty.to_string()).unwrap_or_default(),
            documentation: analysis.documentation(referent),
        }
    })
    .collect()
}

/// Returns the path of a copy of a file of the library in the user's cache. The copy is written if it is not there.
pub fn copy_of(name: &str) -> Option<PathBuf> {
    let text = library::imported(name)?.ok()?;
    let cache = Cache::of_user()?;
    let folder = std::path::absolute(cache.folder()).ok()?.join("library");
    let path = folder
        .join(env!("CARGO_PKG_VERSION"))
        .join(format!("{name}.nova"));
    if fs::read(&path).is_ok_and(|written| written == text.as_bytes()) {
        return Some(path);
    }
    fs::create_dir_all(path.parent()?).ok()?;
    write_file(&path, |writer| writer.write_all(text.as_bytes())).ok()?;
    Some(path)
}
