//! The standard library: files of NOVA that stand in the compiler. `(import "std/NAME")` imports one.

/// The beginning of the names of the library's files in imports.
const PREFIX: &str = "std/";

/// The files, by their names in imports without the prefix.
const FILES: &[(&str, &str)] = &[
    ("complex", include_str!("../std/complex.nova")),
    ("fft", include_str!("../std/fft.nova")),
    ("linear_algebra", include_str!("../std/linear_algebra.nova")),
    ("lists", include_str!("../std/lists.nova")),
    ("random", include_str!("../std/random.nova")),
    ("sparse", include_str!("../std/sparse.nova")),
    ("statistics", include_str!("../std/statistics.nova")),
    ("text", include_str!("../std/text.nova")),
    ("vectors", include_str!("../std/vectors.nova")),
];

/// Returns the text of the file that an import names, if it names one of the library. The error says that the
/// library has no such file. A name with the ending `.nova` is that of a file of the program.
pub fn imported(path: &str) -> Option<Result<&'static str, String>> {
    let name = path.strip_prefix(PREFIX)?;
    if name.ends_with(".nova") {
        return None;
    }
    let file = FILES.iter().find(|(known, _)| *known == name);
    Some(file.map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        format!(
            "the standard library has no file `{name}`; its files are {}",
            names.join(", ")
        )
    }))
}

/// Returns the names of the files, as imports write them, with their texts.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    let named = FILES.iter();
    named.map(|(name, text)| (format!("{PREFIX}{name}"), *text))
}
