//! Compiles the program, whose functions become `OUT_DIR/series.rs`.

fn main() {
    novac_build::Build::new()
        .file("nova/series.nova")
        .target(novac_build::Target::Pthreads)
        .compile("series");
}
