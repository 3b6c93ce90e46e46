//! The programs of the workspace that read a file, whether they are open or not.

use crate::analysis::Analysis;
use crate::uri::uri_of;
use crate::world::World;
use lsp_types::Uri;
use nova_driver::Source;
use nova_driver::parsed::Origin;
use std::fs;
use std::path::{Path, PathBuf};

/// Number of files of the workspace that are looked at.
const MOST_FILES: usize = 2000;

/// Number of folders that contain each other in which files are looked for.
const MOST_DEPTH: usize = 12;

/// Calls `visit` with each program that reads a file: those of open documents, and those of the workspace's
/// files that import something.
pub fn programs(
    world: &mut World,
    origin: &Origin,
    mut visit: impl FnMut(&World, &Uri, &Analysis),
) {
    let open: Vec<Uri> = world
        .documents()
        .map(|document| document.uri.clone())
        .collect();
    for uri in &open {
        // A document that the compiler cannot read has no places.
        let _ = world.with(uri, |world, analysis| {
            if analysis.reads(origin) {
                visit(world, uri, analysis);
            }
            Ok(())
        });
    }
    let Origin::File(path) = origin else {
        return;
    };
    for file in files(world) {
        let is_open = open
            .iter()
            .any(|uri| world.path(uri) == Some(file.as_path()));
        let imports = || fs::read_to_string(&file).is_ok_and(|text| text.contains("import"));
        if is_open || !(file == *path || imports()) {
            continue;
        }
        let source = Source::File(file.clone());
        if let (Some(uri), Ok(analysis)) = (
            uri_of(&file),
            Analysis::of(&world.compiler, source, world.texts()),
        ) && analysis.reads(origin)
        {
            visit(world, &uri, &analysis);
        }
    }
}

/// Returns the NOVA files in the folders of the workspace.
fn files(world: &World) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in &world.folders {
        add_files(folder, MOST_DEPTH, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn add_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let is_hidden = name.to_string_lossy().starts_with('.');
        // Links are not followed, so that folders do not contain themselves.
        let kind = entry.file_type();
        if found.len() >= MOST_FILES || is_hidden || name == "target" || name == "node_modules" {
            continue;
        }
        if kind.as_ref().is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            add_files(&path, depth - 1, found);
        } else if kind.is_ok_and(|kind| kind.is_file())
            && path.extension().is_some_and(|ending| ending == "nova")
        {
            found.push(fs::canonicalize(&path).unwrap_or(path));
        }
    }
}
