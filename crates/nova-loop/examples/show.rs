fn main() {
    let path = std::env::args().nth(1).unwrap();
    let strict = std::env::args().nth(2).is_some();
    let text = std::fs::read_to_string(path).unwrap();
    let mut sources = nova_diag::SourceMap::new();
    let file = sources.add("t", &*text);
    let flat = match nova_flat::parse::parse(&text, file) {
        Ok(f) => f,
        Err(e) => {
            for d in e {
                println!("{}: {}", sources.place(d.primary.span), d.message);
            }
            return;
        }
    };
    match nova_loop::translate(&nova_mem::introduce(&flat), strict) {
        Ok(p) => println!("{}", nova_loop::print::print(&p)),
        Err(e) => println!("{e}"),
    }
}
