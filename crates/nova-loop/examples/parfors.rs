use std::collections::BTreeMap;
fn main() {
    let mut total = 0; let mut bad = 0; let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let verbose = std::env::var("V").is_ok();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut sources = nova_diag::SourceMap::new();
        let file = sources.add("x", &*text);
        let program = nova_loop::parse::parse(&text, file).unwrap();
        let start = std::time::Instant::now();
        let found = nova_loop::interference::find(&program);
        let t = start.elapsed().as_secs_f64();
        if t > 0.3 { println!("SLOW {path} {t:.2}"); }
        total += found.witnesses.len();
        let mut loops = std::collections::BTreeSet::new();
        for (v, w) in &found.witnesses { for r in w.blocks.values() { *reasons.entry(format!("{:?}", r.iter().map(|r| format!("{r:?}").split('(').next().unwrap().to_string()).collect::<Vec<_>>())).or_default() += 1; } let _ = v; }
        for r in &found.refusals {
            if loops.insert(r.index) { *rules.entry(format!("{:?}", r.rule)).or_default() += 1; }
            if verbose { println!("{path} {} {:?} {}", nova_loop::print::print_variable(&program, r.index), r.rule, r.message); }
        }
        bad += loops.len();
    }
    println!("{total} parfors, {bad} refused {rules:?}\n{reasons:?}");
}
