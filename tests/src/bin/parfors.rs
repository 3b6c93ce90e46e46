//! draft
use nova_driver::Options;
use nova_driver::Target;
use nova_opt::divide::Division;
use nova_tests::random::{self, PRELUDE};
use nova_tests::stages::{How, Passes, SMALL_TILES, Stages};
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = &arguments[0];
    let passes = [Passes::Divided, Passes::Threads(2), Passes::All];
    let names = ["divided", "threads", "all"];
    let how = |passes, strict| How {
        strict,
        passes,
        verify: false,
        defect: None,
        tiles: SMALL_TILES,
    };
    for (p, n) in passes.iter().zip(names) {
        for path in &arguments[2..] {
            let text = std::fs::read_to_string(path).unwrap();
            match Stages::compile(path, &text, how(*p, false)) {
                Ok(stages) => {
                    let name = format!("{out}/{n}-{}.loop", path.replace('/', "_"));
                    std::fs::write(name, nova_loop::print::print(&stages.imperative)).unwrap();
                }
                Err(why) => println!("{path}: {why:.200}"),
            }
        }
        for seed in 0..arguments[1].parse::<u64>().unwrap() {
            let program = random::program(seed);
            let text = format!("{PRELUDE}{}", program.entry);
            match Stages::compile("r", &text, how(*p, true)) {
                Ok(stages) => {
                    let name = format!("{out}/{n}-random-{seed}.loop");
                    std::fs::write(name, nova_loop::print::print(&stages.imperative)).unwrap();
                }
                Err(why) => println!("{seed}: {why:.200}"),
            }
        }
    }
    let _ = (Options::default(), Target::Pthreads, Division::SMALL);
}
