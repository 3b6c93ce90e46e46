//! Tests of texts and their data.

use super::*;
use nova_diag::SourceMap;

/// Returns the data of a text, and the codes of its errors with their places.
fn read_all(text: &str) -> (String, String) {
    let mut sources = SourceMap::new();
    let file = sources.add("t", text);
    let (data, diagnostics) = read(text, file);
    let roots: Vec<String> = data.roots().iter().map(|&id| data.write(id)).collect();
    let errors = diagnostics.iter().map(|diagnostic| {
        let (line, column) = sources.start(diagnostic.primary.span);
        format!("{}@{line}:{column}", diagnostic.code.0)
    });
    (roots.join(" "), errors.collect::<Vec<_>>().join(" "))
}

#[test]
fn tokens() {
    for (text, expected) in [
        ("(x:int)", "(x : int)"),
        ("(a,b)", "(a , b)"),
        ("(f\"a\"b)", "(f \"a\" b)"),
        ("a;b\nc", "a c"),
        ("a #| b #| c |# |# d", "a d"),
        ("a|b #c -x -> ~= << vector#2", "a|b #c -x -> ~= << vector#2"),
        ("@add x_1 x%12", "@add x_1 x%12"),
        ("'a -> 'b", "'a -> 'b"),
        ("x.0.12 a.b.3", "x.0.12 a.b.3"),
        ("(f x).1.0 [a].2", "(f x).1.0 [a].2"),
        ("(e . 0)", "(e . 0)"),
        ("-7 0x10 -0x10 1.50 1f 7u8", "-7 16 -16 1.50 1f 7u8"),
        (
            "\"\\n\\t\\\\\\\"\\x41\\xff ü\"",
            "\"\\n\\t\\\\\\\"A\\xff ü\"",
        ),
        ("\u{feff}a\r\n\tb\u{a0}c", "a b c"),
        ("", ""),
        ("()[]", "() []"),
    ] {
        assert_eq!(read_all(text), (expected.into(), String::new()), "{text:?}");
    }
}

#[test]
fn what_does_not_match() {
    for (text, data, errors) in [
        ("(a", "(a)", "102@1:1"),
        ("(a (b [c", "(a (b [c]))", "102@1:7"),
        ("(a\n  (b\n  c))", "(a (b c))", ""),
        ("(a\n  (b\n  c)", "(a (b c))", "102@2:3"),
        ("(a (b)\n(c) d\n(e)", "(a (b)) (c) d (e)", "102@1:1"),
        ("(a))", "(a)", "103@1:4"),
        ("(a)))) (b)", "(a) (b)", "103@1:4"),
        ("(a))\n(b))", "(a) (b)", "103@1:4 103@2:4"),
        ("(a [b)", "(a [b])", "103@1:6"),
        ("(a [b)) (c", "(a [b]) (c)", "103@1:6 102@1:9"),
        ("(a \"b)\n(c)", "(a \"b)\") (c)", "102@1:4"),
        ("(a #| b)", "(a)", "102@1:4"),
        ("a \"b\\", "a \"b\"", "102@1:3"),
        ("(a\n(b\n))\n(c))", "(a (b)) (c)", "103@4:4"),
    ] {
        assert_eq!(read_all(text), (data.into(), errors.into()), "{text:?}");
    }
}

#[test]
fn errors_in_atoms() {
    for (text, errors) in [
        ("300u8 1.2.3", "104@1:1 104@1:7"),
        ("\"a\\q\\xg1\"", "105@1:3 105@1:5"),
        ("“a”", "106@1:1 106@1:3"),
        ("x.99999999999", "104@1:3"),
        ("a\u{200b}b", "106@1:2"),
        ("(f x) .5", "104@1:7"),
        ("(f x) .5.1", "104@1:7"),
    ] {
        assert_eq!(read_all(text).1, errors, "{text:?}");
    }
}

#[test]
fn spans_cover_what_was_written() {
    let text = "(f x.0.1 [1, 2]).2";
    let (data, _) = read(text, FileId(0));
    let mut found: Vec<&str> = (0..data.count())
        .map(|id| data.span(DatumId(id as u32)))
        .map(|span| &text[span.start as usize..span.end as usize])
        .collect();
    found.sort_unstable();
    let mut expected = [
        "f",
        "x",
        "x.0",
        "x.0.1",
        "1",
        ",",
        "2",
        "[1, 2]",
        "(f x.0.1 [1, 2])",
        text,
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn bytes_to_text() {
    assert_eq!(decode(b"a\xc3\xbc"), Ok("aü".into()));
    assert_eq!(decode(b"\xef\xbb\xbfa"), Ok("a".into()));
    assert_eq!(decode(b""), Ok(String::new()));
    for (bytes, place) in [
        (&b"\xff"[..], (1, 1)),
        (b"\xef\xbb\xbfa\xff", (1, 2)),
        (b"a\nb\xc3\xbc\xc3", (2, 3)),
        (b"a\r\n\xe2\x82", (2, 1)),
    ] {
        assert_eq!(decode(bytes), Err(place), "{bytes:?}");
        let mut sources = SourceMap::new();
        let error = decode_source(bytes, "d/t.nova", &mut sources).expect_err("no text");
        let found = sources.place(error.primary.span);
        assert_eq!((found.line, found.column), place);
        let text = nova_diag::render_text(&sources, &error);
        assert!(text.contains("d/t.nova:"), "{text}");
    }
}

#[test]
fn work_is_linear() {
    let many = 200_000;
    for text in [
        "(".repeat(many),
        ")".repeat(many),
        "x ) ".repeat(many),
        "\n(x".repeat(many),
        "([)]".repeat(many),
        "(f ".repeat(many) + &"]".repeat(many),
        "\"".repeat(many),
        "#|".repeat(many),
        "a.0".repeat(many),
        "(x).0".repeat(many),
        ".1".repeat(many),
        "\\".repeat(many),
        "→".repeat(many),
    ] {
        let (data, _) = read(&text, FileId(0));
        assert!(data.count() <= 3 * many);
    }
}
