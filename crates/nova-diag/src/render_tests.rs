//! Tests of rendered diagnostics.

use super::*;
use crate::{FileId, Position, codes};

/// Returns the sources, the file and the span of the first occurrence of `needle`.
fn about(text: &str, needle: &str) -> (SourceMap, FileId, Span) {
    let mut sources = SourceMap::new();
    let file = sources.add("dir/dot.nova", text);
    let start = text.find(needle).unwrap() as u32;
    (
        sources,
        file,
        Span::new(file, start, start + needle.len() as u32),
    )
}

#[test]
fn the_line_is_shown_with_its_labels() {
    let (sources, file, span) = about("(let (x 1)\r\n\t(+ ä yy))\r\n", "yy");
    let diagnostic = Diagnostic::error(codes::UNBOUND_NAME, span, "no `yy` here")
        .label("not bound")
        .also(Span::new(file, 6, 7), "only `x` is")
        .help("bind it");
    let expected = "\
error[N0201]: no `yy` here
 --> dir/dot.nova:2:7
  |
1 | (let (x 1)
  |       - only `x` is
2 |     (+ ä yy))
  |          ^^ not bound
  |
  = help: bind it
";
    assert_eq!(render_text(&sources, &diagnostic), expected);
}

#[test]
fn labels_of_several_files() {
    let (mut sources, _, span) = about("(f x)", "x");
    let other = sources.add("other.nova", "(f\n   (g\n  x))\n");
    let diagnostic = Diagnostic::warning(codes::UNUSED_EXPRESSION, span, "a message")
        .also(Span::new(other, 7, 8), "there");
    let expected = "\
warning[N0221]: a message
 --> dir/dot.nova:1:4
  |
1 | (f x)
  |    ^
  |
 ::: other.nova:2:5
  |
2 |    (g
  |     - there
";
    assert_eq!(render_text(&sources, &diagnostic), expected);
}

#[test]
fn positions_without_text() {
    let mut sources = SourceMap::new();
    let file = sources.add_positions("lib/main.py", "");
    let span = sources.position(file, Position::start(7, 3));
    let diagnostic = Diagnostic::error(codes::UNBOUND_NAME, span, "no yy")
        .label("not bound")
        .also(span, "and here")
        .help("bind it\nor remove it");
    let text = render_text(&sources, &diagnostic);
    assert!(text.starts_with("error[N0201]: no yy\n"), "{text}");
    assert!(text.contains("--> lib/main.py:7:3\n"), "{text}");
    assert!(text.contains("= note: not bound\n"), "{text}");
    assert!(
        text.contains("= note: and here (lib/main.py:7:3)\n"),
        "{text}"
    );
    assert!(text.contains("= help: bind it\n"), "{text}");
}

#[test]
fn positions_with_text() {
    let mut sources = SourceMap::new();
    let file = sources.add_positions("main.py", "a\nb = 1\n");
    let inside = sources.position(file, Position::start(2, 3));
    let text = render_text(&sources, &Diagnostic::error(codes::BAD_FORM, inside, "m"));
    let expected = "error[N0107]: m\n --> main.py:2:3\n  |\n2 | b = 1\n  |   ^\n";
    assert_eq!(text, expected);
    let outside = sources.position(file, Position::start(20, 3));
    let text = render_text(&sources, &Diagnostic::error(codes::BAD_FORM, outside, "m"));
    assert!(text.contains("--> main.py:20:3\n"), "{text}");
}

#[test]
fn of_a_long_line_a_piece_is_shown() {
    let long = format!("{}yy{}", "é(".repeat(5000), ")ä".repeat(200_000));
    let (sources, file, span) = about(&long, "yy");
    let everything = Span::new(file, 0, long.len() as u32);
    let diagnostic = Diagnostic::error(codes::UNBOUND_NAME, span, "m").also(everything, "all");
    let text = render_text(&sources, &diagnostic);
    assert!(text.contains("--> dir/dot.nova:1:10001\n"), "{text}");
    assert!(text.contains("(yy)"), "{text}");
    assert!(text.len() < 2000, "{text}");
}

#[test]
fn of_many_lines_the_first_is_marked() {
    let text = "(f\n".repeat(100_000);
    let (sources, file, _) = about(&text, "(f");
    let everything = Span::new(file, 3, text.len() as u32);
    let text = render_text(
        &sources,
        &Diagnostic::error(codes::BAD_FORM, everything, "m"),
    );
    let expected = "error[N0107]: m\n --> dir/dot.nova:2:1\n  |\n2 | (f\n  | ^^\n";
    assert_eq!(text, expected);
}

#[test]
fn the_end_of_the_text_and_the_empty_text() {
    for (text, at, expected) in [
        ("(f", 2, "--> dir/dot.nova:1:3\n"),
        ("(f\n", 3, "--> dir/dot.nova:2:1\n"),
        ("", 0, "--> dir/dot.nova:1:1\n"),
        ("é", 99, "--> dir/dot.nova:1:2\n"),
        ("é", 1, "--> dir/dot.nova:1:2\n"),
    ] {
        let (sources, file, _) = about(text, "");
        let span = Span::new(file, at, at);
        let drawn = render_text(&sources, &Diagnostic::error(codes::UNCLOSED, span, "m"));
        assert!(drawn.starts_with("error[N0102]: m\n"), "{drawn}");
        assert!(drawn.contains(expected), "{text:?}: {drawn}");
    }
}

#[test]
fn json_is_one_line() {
    let (mut sources, _, span) = about("(let (x 1)\n\t(+ ä yy))", "yy");
    let file = sources.add_positions("main.py", "");
    let position = sources.position(file, Position::start(7, 3));
    let diagnostic = Diagnostic::error(codes::UNBOUND_NAME, span, "no \"yy\"\n")
        .label("a\tb")
        .also(position, "there");
    let expected = concat!(
        r#"{"severity":"error","code":"N0201","message":"no \"yy\"\n","file":"dir/dot.nova","#,
        r#""line":2,"column":7,"endLine":2,"endColumn":9,"label":"a\tb","secondary":["#,
        r#"{"file":"main.py","line":7,"column":3,"endLine":7,"endColumn":4,"label":"there"}],"#,
        r#""help":null}"#
    );
    assert_eq!(render_json(&sources, &diagnostic), expected);
    let json = render_json(&sources, &diagnostic.help("\u{1}ü"));
    assert!(json.ends_with("\"help\":\"\\u0001ü\"}"), "{json}");
}

#[test]
fn the_whole_part_of_a_front_ends_file_is_marked() {
    let mut sources = SourceMap::new();
    let file = sources.add_positions("main.py", "a\nb = blur(a, 1)\n");
    let call = Position {
        end: Some((2, 16)),
        construct: Some("blur".into()),
        ..Position::start(2, 5)
    };
    let span = sources.position(file, call);
    let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, span, "a message").label("here");
    let expected = "\
error[N0203]: in `blur`: a message
 --> main.py:2:5
  |
2 | b = blur(a, 1)
  |     ^^^^^^^^^^ here
";
    assert_eq!(render_text(&sources, &diagnostic), expected);
    let json = render_json(&sources, &diagnostic);
    let start = "{\"severity\":\"error\",\"code\":\"N0203\",\"message\":\"in `blur`: a message\",\
                 \"file\":\"main.py\",\"line\":2,\"column\":5,\"endLine\":2,\"endColumn\":16,";
    assert!(json.starts_with(start), "{json}");
}

#[test]
fn the_construct_of_a_function_stands_for_that_of_its_argument() {
    let mut sources = SourceMap::new();
    let file = sources.add_positions("main.py", "");
    let argument = sources.position(file, Position::start(2, 10));
    let function = sources.position(
        file,
        Position {
            construct: Some("blur".into()),
            ..Position::start(2, 5)
        },
    );
    let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, argument, "a message");
    let text = render_text(&sources, &diagnostic.clone());
    assert!(text.starts_with("error[N0203]: a message\n"), "{text}");
    let text = render_text(&sources, &diagnostic.also(function, "it takes less"));
    assert!(
        text.starts_with("error[N0203]: in `blur`: a message\n"),
        "{text}"
    );
}
