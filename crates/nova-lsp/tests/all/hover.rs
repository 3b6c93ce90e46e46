//! Types, comments and meanings; the parameters of calls.

use crate::client::{Client, hovered};
use serde_json::json;

const URI: &str = "untitled:one";

/// Returns what is shown at each mark of a text.
fn shown(text: &str) -> Vec<String> {
    let mut client = Client::new();
    let places = client.open(URI, text);
    let each = places.iter();
    each.map(|place| hovered(&client.at("textDocument/hover", URI, place)))
        .collect()
}

#[test]
fn names_have_types_and_comments() {
    let shown = shown(
        "((X : vector float))\n(define\n  ; Twice a number.\n  (twice (lambda (§x) (+ x x))))\n\
         (map §twice §X)",
    );
    assert_eq!(shown[0], "```nova\nx : 'a  where 'a is a number\n```");
    assert!(
        shown[1].starts_with("```nova\ntwice : 'a -> 'a  where 'a is a number\n```"),
        "{}",
        shown[1]
    );
    assert!(shown[1].contains("Twice a number."), "{}", shown[1]);
    assert!(shown[1].ends_with("Here: `float -> float`"), "{}", shown[1]);
    assert_eq!(shown[2], "```nova\nX : vector float\n```");
}

#[test]
fn builtins_forms_and_expressions_have_pages() {
    let shown = shown("((X : vector float))\n(§let (n (§length X)) in §(reduce §+ 0.0 X))");
    assert!(shown[0].contains("(let (x e)"), "{}", shown[0]);
    assert!(
        shown[1].contains("length : vector 'a -> 'i"),
        "{}",
        shown[1]
    );
    assert!(shown[1].contains("The number of elements."), "{}", shown[1]);
    assert_eq!(shown[2], "```nova\nfloat\n```");
    assert!(
        shown[3].contains("Here: `float -> float -> float`"),
        "{}",
        shown[3]
    );
}

#[test]
fn library_functions_types_and_constructors() {
    let shown = shown(
        "(import \"§std/vectors\")\n(types (Maybe 'a : (+ (None : unit) (Some : 'a))))\n\
         (entry e ((m : §Maybe int)) (case m (§Some x (sum [x])) (None (§sum [1]))))",
    );
    assert!(shown[0].contains("standard library"), "{}", shown[0]);
    assert!(shown[1].contains("(Maybe 'a :"), "{}", shown[1]);
    assert_eq!(shown[2], "```nova\nSome : 'a -> (Maybe 'a)\n```");
    assert!(
        shown[3].contains("The sum of numbers, 0 if there are none."),
        "{}",
        shown[3]
    );
}

#[test]
fn documents_with_errors_have_types_where_they_are_known() {
    let shown = shown("((n§ : int))\n(let (x (+ n 1)) in (f §x nothing § ))\n; a §comment");
    assert_eq!(
        shown,
        ["```nova\nn : int\n```", "```nova\nx : int\n```", "", ""]
    );
    assert_eq!(self::shown("§"), [""]);
}

#[test]
fn non_ascii_names_are_found() {
    assert_eq!(
        shown("((größe🦀 : int)) (+ 1 größ§e🦀)"),
        ["```nova\ngröße🦀 : int\n```"]
    );
}

/// Returns the label and the active parameter of the call around each mark.
fn signatures(text: &str) -> Vec<String> {
    let mut client = Client::new();
    let places = client.open(URI, text);
    let mut found = Vec::new();
    for place in &places {
        let answer = client.at("textDocument/signatureHelp", URI, place);
        let signature = &answer["signatures"][0];
        let label = signature["label"].as_str().unwrap_or("none");
        let active = answer["activeParameter"].as_u64().unwrap_or(99);
        let parameter = &signature["parameters"][active as usize]["label"];
        let bounds = [0, 1].map(|k| parameter[k].as_u64().unwrap_or(0) as usize);
        let units: Vec<u16> = label.encode_utf16().collect();
        let part = String::from_utf16_lossy(units.get(bounds[0]..bounds[1]).unwrap_or(&[]));
        found.push(format!("{label} | {part}"));
    }
    found
}

#[test]
fn calls_show_their_parameters() {
    let reduce = "(reduce f z X) : ('a -> 'a -> 'a) -> 'a -> vector 'a -> 'a";
    let found = signatures(
        "((X : vector int))\n(define (area (lambda (w (h : int) (a, b)) (* w (* h (+ a b))))))\n\
         (+ (reduce § + §0 X) (area 1 2§ (3, §4)))",
    );
    assert_eq!(found[0], format!("{reduce} | f"));
    assert_eq!(found[1], format!("{reduce} | z"));
    let area = "(area w h (a, b)) : int -> int -> (int, int) -> int";
    assert_eq!(found[2], format!("{area} | h"));
    assert_eq!(found[3], format!("{area} | (a, b)"));
}

#[test]
fn calls_of_open_texts_and_of_no_function() {
    let found = signatures("(define (f (lambda (é) (+ é 1))))\n(entry e ((n : int)) (f §");
    assert_eq!(found, ["(f é) : 'a -> 'a  where 'a is a number | é"]);
    assert_eq!(signatures("() (1 §)"), ["none | "]);
    assert_eq!(signatures("§"), ["none | "]);
}

#[test]
fn unknown_documents_are_refused() {
    let mut client = Client::new();
    let place = json!({"line": 0, "character": 0});
    let params = crate::client::at("file:///nowhere.nova", &place);
    let error = client.try_ask("textDocument/hover", params);
    assert_eq!(
        error,
        Err("the document file:///nowhere.nova is not open".to_string())
    );
}
