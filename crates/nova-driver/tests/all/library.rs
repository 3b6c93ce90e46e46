//! Tests of the library in the role of a front end.

use lexpr::sexp;
use nova_driver::pipeline::optional_passes;
use nova_driver::syntax::ForeignKind;
use nova_driver::{
    Compiler, Failure, Options, ProgramBuilder, Source, Stage, Target, Typed, construct,
};

const DOT: &str = "((X : vector float) (Y : vector float)) (reduce + 0 (map * X Y))";

fn compiler() -> Compiler {
    Compiler::new(Options {
        verify: true,
        ..Options::default()
    })
}

fn dot() -> Source {
    Source::text("dot.nova", DOT)
}

/// Returns the message of a program that is refused.
fn refused(source: Source) -> String {
    match compiler().check(source) {
        Err(Failure::Program(report)) => report.to_text(),
        Err(other) => panic!("another failure: {other}"),
        Ok(_) => panic!("it is accepted"),
    }
}

#[test]
fn text_to_a_function() {
    let mut checked = compiler().check(dot()).expect("a good program");
    let library = compiler().load(&mut checked, &[]).expect("it compiles");
    let inputs = [
        vec![1.0f32, 2.0].into_value(),
        vec![3.0f32, 4.0].into_value(),
    ];
    let value = library.call(0, &inputs).expect("it runs");
    assert_eq!(f32::from_value(&value), Some(11.0));
    let prepared = library.prepare(0, &inputs).expect("inputs of its types");
    for _ in 0..3 {
        let (value, _) = prepared.call().expect("it runs");
        assert_eq!(f32::from_value(&value), Some(11.0));
    }
}

#[test]
fn data_to_a_value() {
    let program = sexp!((((x : int)) (+ x 1)));
    let source = Source::data("next.nova", &program).expect("words of the language");
    let checked = compiler().check(source).expect("a good program");
    let value = compiler()
        .eval(&checked, 0, &[41i32.into_value()])
        .expect("it runs");
    assert_eq!(i32::from_value(&value), Some(42));
    assert!(Source::data("one.nova", &sexp!(1)).is_err());
    let wrong = sexp!((() (at "query.sql" 3 7 (+ 1 #t))));
    let message = refused(Source::data("wrong.nova", &wrong).expect("a list"));
    assert!(message.contains("query.sql:3:7"), "{message}");
}

#[test]
fn built_programs_have_their_own_places() {
    let build = |factor: bool| {
        let builder = ProgramBuilder::new("scaled");
        let file = builder.source("sheet.calc", "first\nb = 2 * x\n");
        let at = builder.at(file, 2, 5);
        let x = at.input("x", at.vector_type(at.named_type("double")));
        let two = match factor {
            true => at.double(2.0),
            false => builder.at(file, 2, 5).bool(true),
        };
        let scale = at.lambda(vec![at.parameter("e")], at.call("*", &[two, at.name("e")]));
        at.entry("scaled", at.call("map", &[scale, x]));
        Source::Built(Box::new(builder))
    };
    let checked = compiler().check(build(true)).expect("a good program");
    let value = compiler().eval(&checked, 0, &[vec![1.0f64, 2.5].into_value()]);
    assert_eq!(
        Vec::<f64>::from_value(&value.expect("it runs")),
        Some(vec![2.0, 5.0])
    );
    let message = refused(build(false));
    assert!(
        message.contains("sheet.calc:2:5") && message.contains("b = 2 * x"),
        "{message}"
    );
}

#[test]
fn built_programs_declare_a_name_once() {
    let builder = ProgramBuilder::new("twice");
    let file = builder.source("twice.calc", "a = 1\na = 2\n");
    builder
        .at(file, 1, 1)
        .define("a", builder.at(file, 1, 5).integer(1));
    builder
        .at(file, 2, 1)
        .define("a", builder.at(file, 2, 5).integer(2));
    let at = builder.at(file, 2, 1);
    at.entry("twice", at.name("a"));
    let message = refused(Source::Built(Box::new(builder)));
    assert!(message.contains("`a` is given twice"), "{message}");
    assert!(message.contains("--> twice.calc:2:1"), "{message}");
}

#[test]
fn built_programs_declare_no_names_of_nodes() {
    let builder = ProgramBuilder::new("nodes");
    let file = builder.source("nodes.calc", "a\nb\n");
    let [at, below] = [1, 2].map(|line| builder.at(file, line, 1));
    at.synonym("Point*", &[], at.named_type("int"));
    below.sum("Shape", &[], &[("Dot*", at.named_type("unit"))]);
    at.entry("two", at.integer(2));
    let message = refused(Source::Built(Box::new(builder)));
    for name in ["Point*", "Dot*"] {
        assert!(
            message.contains(&format!("`{name}` is the name of a node")),
            "{message}"
        );
    }
}

#[test]
fn built_programs_declare_foreign_functions() {
    let builder = ProgramBuilder::new("noted");
    let file = builder.source("noted.calc", "note 1");
    let at = builder.at(file, 1, 1);
    let int = || at.named_type("int");
    at.foreign(ForeignKind::Plain, "pure", at.function_type(int(), int()));
    at.foreign(ForeignKind::Effect, "note", at.function_type(int(), int()));
    let one = at.integer(1);
    at.entry("noted", at.call("note", &[at.call("pure", &[one])]));
    let mut checked = compiler()
        .check(Source::Built(Box::new(builder)))
        .expect("a good program");
    let text = compiler()
        .emit(&mut checked, Stage::Loop)
        .expect("its text");
    assert!(text.contains("(foreign \"pure\" [i32] i32)"), "{text}");
    assert!(
        text.contains("(foreign effect \"note\" [i32] i32)"),
        "{text}"
    );
}

/// Text that no file holds imports files of its folder.
#[test]
fn text_with_imports() {
    let folder = std::env::temp_dir().join(format!("nova-imports-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("a.nova"), "(define (one 1) (two 2))").expect("a file");
    let source = |text: &str| Source::Text {
        name: "text.nova".to_string(),
        text: text.to_string(),
        folder: folder.clone(),
    };
    let good = compiler().check(source("(import \"a.nova\") () (+ one two)"));
    let message = refused(source(
        "(import \"a.nova\") (define (two 3)) () (+ one two)",
    ));
    std::fs::remove_dir_all(&folder).expect("an own folder");
    assert!(good.is_ok());
    assert!(message.contains("--> text.nova:1:28"), "{message}");
    assert!(message.contains("a.nova:1:18"), "{message}");
}

#[test]
fn every_construct_of_the_builder() {
    let builder = ProgramBuilder::new("all");
    let file = builder.source("all.calc", "");
    let at = builder.at(file, 1, 1);
    at.synonym(
        "Pair",
        &[],
        at.tuple_type(&[at.named_type("int"), at.named_type("bool")]),
    );
    at.sum(
        "Maybe",
        &["a"],
        &[
            ("None", at.named_type("unit")),
            ("Some", at.type_variable("a")),
        ],
    );
    let arms = vec![
        at.arm(Some("Some"), Some(at.parameter("x")), at.name("x")),
        at.arm(None, None, at.integer(0)),
    ];
    let body = at.case(at.name("m"), arms);
    let ty = at.applied_type("Maybe", &[at.named_type("int")]);
    at.define("value", at.lambda(vec![at.typed_parameter("m", ty)], body));
    let m = at.input("m", ty);
    let pair = at.input("p", at.named_type("Pair"));
    let condition = at.project(pair, 1);
    let vector = at.vector(&[at.integer(10), at.integer(20)]);
    let element = at.index(vector, at.project(pair, 0));
    let whole = at.call("value", &[m]);
    let annotated = at.annotate(
        at.conditional(condition, element, whole),
        at.named_type("int"),
    );
    let pattern = at.tuple_pattern(vec![at.parameter("a"), at.parameter("b")]);
    let both = at.tuple(&[annotated, at.text("hi")]);
    at.entry(
        "all",
        at.bind(
            vec![(pattern, both)],
            at.tuple(&[at.name("a"), at.name("b")]),
        ),
    );
    let checked = compiler()
        .check(Source::Built(Box::new(builder)))
        .expect("a good program");
    let inputs = [construct(1, 7i32), (1i32, false).into_value()];
    let value = compiler().eval(&checked, 0, &inputs).expect("it runs");
    assert_eq!(
        <(i32, Vec<u8>)>::from_value(&value),
        Some((7, b"hi".to_vec()))
    );
}

#[test]
fn every_stage_with_every_pass_switched_off() {
    for off in optional_passes()
        .iter()
        .map(|pass| Some(pass.name))
        .chain([None])
    {
        let compiler = Compiler::new(Options {
            verify: true,
            disabled: off.iter().map(|name| name.to_string()).collect(),
            ..Options::default()
        });
        let mut checked = compiler.check(dot()).expect("a good program");
        for stage in [Stage::Core, Stage::Flat, Stage::Mem, Stage::Loop, Stage::C] {
            let text = compiler.emit(&mut checked, stage).expect("it compiles");
            assert!(text.contains("dot"), "{stage}: {text}");
        }
        assert!(
            checked
                .trace
                .times
                .iter()
                .all(|(name, _)| Some(*name) != off)
        );
    }
}

#[test]
fn a_dump_is_the_program_after_the_pass() {
    let compiler = Compiler::new(Options {
        dump_after: Some("lower".to_string()),
        ..Options::default()
    });
    let mut checked = compiler.check(dot()).expect("a good program");
    compiler.compile(&mut checked).expect("it compiles");
    assert!(
        checked
            .trace
            .dump
            .is_some_and(|text| text.starts_with("(program"))
    );
}

#[test]
fn failures_say_whose_mistake_it_is() {
    let checked = compiler().check(dot()).expect("a good program");
    let inputs = [vec![1.0f32].into_value(), Vec::<f32>::new().into_value()];
    let error = compiler()
        .eval(&checked, 0, &inputs)
        .expect_err("lengths differ");
    assert_eq!(error.to_string(), "dot.nova:1:53: lengths differ: 1 and 0");
    let panic = nova_driver::pipeline::guard::<()>("test", || panic!("oh no"));
    let message = panic.expect_err("it panicked").to_string();
    assert!(
        message.contains("`test`: oh no") && message.contains("report"),
        "{message}"
    );
    let mpi = Compiler::new(Options {
        target: Target::Mpi,
        ..Options::default()
    });
    let message = mpi.check(dot()).expect_err("not there").to_string();
    assert!(message.contains("error[N0401]"), "{message}");
    let foreign = Source::text("g.nova", "((x : int)) (foreign (f : int -> int)) (f x)");
    let checked = compiler().check(foreign).expect("a good program");
    let error = compiler()
        .eval(&checked, 0, &[1i32.into_value()])
        .expect_err("no C");
    assert!(matches!(error, Failure::Unsupported(_)));
}
