//! The manifest of a program (docs/manifest.md), as far as Rust needs it.

use serde::Deserialize;

/// A program.
#[derive(Debug, Deserialize)]
pub struct Manifest {
    /// Its name.
    pub program: String,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Its structures, each after those that it contains.
    pub types: Vec<Structure>,
}

/// An entry.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// The name of its C function.
    pub symbol: String,
    /// The name of the function that gives the message of its last failure.
    pub error: String,
    /// The name of the function that frees a result, if there is one.
    pub free: Option<String>,
    /// Its result.
    pub result: Passed,
    /// Its inputs.
    pub inputs: Vec<Passed>,
}

/// A value that is passed.
#[derive(Debug, Deserialize)]
pub struct Passed {
    /// Its type in NOVA.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its parameters in C.
    pub parameters: Vec<Field>,
}

/// A parameter or a field of a structure.
#[derive(Debug, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The type in C behind all pointers. A union has none.
    #[serde(default)]
    pub base: String,
    /// The number of pointers.
    #[serde(default)]
    pub pointers: usize,
    /// True for pointers to constants.
    #[serde(default, rename = "const")]
    pub is_constant: bool,
    /// The fields of a union.
    #[serde(default)]
    pub union: Vec<Field>,
}

/// A structure.
#[derive(Debug, Deserialize)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

impl Passed {
    /// Returns the C type of the value, or of the elements of an array, behind all pointers. Without parameters it
    /// is empty.
    pub fn base(&self) -> &str {
        self.parameters.last().map_or("", |last| &last.base)
    }
}

impl Manifest {
    /// Returns a field of a structure.
    pub fn field(&self, structure: &str, field: &str) -> Option<&Field> {
        let mut structures = self.types.iter();
        let found = structures.find(|known| known.name == structure)?;
        found.fields.iter().find(|known| known.name == field)
    }
}
