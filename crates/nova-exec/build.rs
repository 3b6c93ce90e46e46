//! Tells the crate the target that it is compiled for.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=NOVA_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
