//! The platforms that the compiler and its C were tested on. docs/platforms.md has the same table, with
//! what each test was.

/// The target that this program was itself compiled for, as compilers name it.
pub const TARGET: &str = env!("NOVA_TARGET");

/// The degree to which a platform was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// All tests of the project run on it.
    Wholly,
    /// The tests of all examples run on it, with one thread and with several.
    ByExamples,
    /// The tests of all examples run in an emulation of its processor.
    Emulated,
    /// Nothing has run on it. Its assumptions were read.
    Read,
}

impl Tested {
    /// Returns the degree in words.
    pub fn words(self) -> &'static str {
        match self {
            Tested::Wholly => "tested",
            Tested::ByExamples => "tested by the examples",
            Tested::Emulated => "tested by the examples, in an emulation",
            Tested::Read => "not tested",
        }
    }
}

/// All platforms of which something is known. Any other one is like the last.
pub const PLATFORMS: [(&str, Tested); 6] = [
    ("x86_64-unknown-linux-gnu", Tested::Wholly),
    ("x86_64-unknown-linux-musl", Tested::ByExamples),
    ("aarch64-unknown-linux-gnu", Tested::Emulated),
    ("aarch64-apple-darwin", Tested::Read),
    ("x86_64-apple-darwin", Tested::Read),
    ("x86_64-pc-windows-msvc", Tested::Read),
];

/// Returns how well the platform is known that this program was compiled for.
pub fn tested() -> Tested {
    let known = PLATFORMS.iter().find(|(name, _)| *name == TARGET);
    known.map_or(Tested::Read, |(_, tested)| *tested)
}
