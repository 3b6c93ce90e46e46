//! Tests of texts and their layouts.

use super::*;
use crate::token::{Lexer, TokenKind};

fn formatted(text: &str) -> String {
    format(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// Returns the data of a text, without spans.
fn data_of(text: &str) -> Vec<String> {
    let (data, _) = reader::read(text, FileId(0));
    data.roots().iter().map(|&root| data.write(root)).collect()
}

/// Returns the comments of a text, in order.
fn comments_of(text: &str) -> Vec<String> {
    Lexer::new(text)
        .filter(|token| {
            matches!(
                token.kind,
                TokenKind::LineComment | TokenKind::BlockComment { .. }
            )
        })
        .map(|token| text[token.start..token.end].trim_end().to_string())
        .collect()
}

/// Checks the properties of every layout.
fn check(text: &str) {
    let once = formatted(text);
    assert_eq!(data_of(&once), data_of(text), "meaning of\n{text}\n{once}");
    assert_eq!(comments_of(&once), comments_of(text), "comments of\n{text}");
    assert_eq!(
        formatted(&once),
        once,
        "the layout of\n{text}\nis not stable"
    );
}

#[test]
fn short_forms_stay_on_a_line() {
    for (text, expected) in [
        ("( +  1\n 2 )", "(+ 1 2)\n"),
        ("(x:int)", "(x : int)\n"),
        ("(a,b , c)", "(a, b, c)\n"),
        ("[ 1  2]", "[1 2]\n"),
        ("(f x) ; why  \n\n\n\ny", "(f x) ; why\n\ny\n"),
        ("\u{feff}#| a |# x\r\ny", "#| a |#\nx\ny\n"),
        ("(let (x 1)\n  in x)", "(let (x 1) in x)\n"),
        ("", ""),
        ("; only this", "; only this\n"),
    ] {
        assert_eq!(formatted(text), expected, "{text:?}");
        check(text);
    }
}

#[test]
fn long_forms_break_as_their_words_say() {
    let text = "\
; the inputs
((points : vector (float, float)) (centers : vector (float, float)) (rounds : int)) ; with types
(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a)))))

  ; two numbers
  (Point : (float, float)))
(let (distance (lambda (p : Point) (q : Point) : float (sqrt (+ (* (- p.0 q.0) (- p.0 q.0)) \
(* (- p.1 q.1) (- p.1 q.1))))))
  (best (map (lambda (p : Point) (reduce min 1000000.0 (map (distance p) centers))) points))
  #| the
  result |#
  in (if (< (length best) rounds) then (map (lambda (x) (* x 2.0)) best) ; few
  else (case (uncons best) (Some (head, tail) (concat (replicate rounds head) tail)) (None best))))";
    let expected = "\
; the inputs
((points : vector (float, float)) (centers : vector (float, float)) (rounds : int)) ; with types
(types
  (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a)))))

  ; two numbers
  (Point : (float, float)))
(let (distance (lambda (p : Point) (q : Point) : float
                 (sqrt (+ (* (- p.0 q.0) (- p.0 q.0)) (* (- p.1 q.1) (- p.1 q.1))))))
     (best (map (lambda (p : Point) (reduce min 1000000.0 (map (distance p) centers))) points))
  #| the
  result |#
  in (if (< (length best) rounds)
       then (map (lambda (x) (* x 2.0)) best) ; few
       else (case (uncons best)
              (Some (head, tail) (concat (replicate rounds head) tail))
              (None best))))
";
    assert_eq!(formatted(text), expected);
    check(text);
}

#[test]
fn data_parallel_recursion_breaks_after_its_links() {
    let text = "\
(define (total (lambda (L) (foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, chum) (case (d chum)
(Nil* (Cons* (v, (f chum)))) (Cons* (w, next) (Cons* ((+ v w), (f next)))))))))))
(foreach (x M) (f d) (renamed f x))
(foreach ((tree (transformed (prepared (some_input_of_the_program)))) (forest Forest)) (f d)
; of trees
(case tree (Node* (v, children) (Node* ((* 2 v), (f children)))))
(case forest (Empty* Empty*) (More* (first, rest) (More* ((f first), (f rest)))))) ; of forests
(foreach (node (a_function_with_a_long_name (another_function_with_a_name x) (and_a_third_one y)))
(rename follow) node)
(up (More* (first, rest)) (first (tree_of_the_first_input A)) (rest (up Empty*)))
(dn (a_function_with_a_long_name (another_function_with_a_name x) (and_a_third_one_for_this_line y)))";
    let expected = "\
(define
  (total (lambda (L)
           (foreach (x L) (f d)
             (case x
               (Nil* Nil*)
               (Cons* (v, chum)
                 (case (d chum)
                   (Nil* (Cons* (v, (f chum))))
                   (Cons* (w, next) (Cons* ((+ v w), (f next)))))))))))
(foreach (x M) (f d) (renamed f x))
(foreach ((tree (transformed (prepared (some_input_of_the_program)))) (forest Forest)) (f d)
  ; of trees
  (case tree (Node* (v, children) (Node* ((* 2 v), (f children)))))
  (case forest
    (Empty* Empty*)
    (More* (first, rest) (More* ((f first), (f rest)))))) ; of forests
(foreach (node (a_function_with_a_long_name (another_function_with_a_name x) (and_a_third_one y)))
    (rename follow)
  node)
(up (More* (first, rest))
  (first (tree_of_the_first_input A))
  (rest (up Empty*)))
(dn (a_function_with_a_long_name (another_function_with_a_name x)
      (and_a_third_one_for_this_line y)))
";
    assert_eq!(formatted(text), expected);
    check(text);
}

#[test]
fn a_line_comment_never_swallows_code() {
    for text in [
        "(f x ; one\n)",
        "(; one\n f x)",
        "(f ; one\n ; two\n x).0",
        "((f ; one\n).0 ; two\n, b)",
        "x ; one\n, y",
        "[1 ; one\n 2 #| a\n b |# 3]",
        "(let ; a\n (x ; b\n : ; c\n int ; d\n 1) ; e\n in ; f\n x ; g\n)",
        "(if ; a\n c ; b\n then ; c\n x ; d\n else ; e\n y ; f\n)",
        "(foreach ; a\n (x ; b\n M) ; c\n (f ; d\n d) ; e\n ; f\n x ; g\n)",
        "(up ; a\n x ; b\n (y ; c\n M) ; d\n)",
        "(define ; a\n\n\n ; b\n\n (x 1) ; c\n\n ; d\n)",
    ] {
        check(text);
    }
}

#[test]
fn nothing_is_changed_in_a_broken_text() {
    assert!(format("(f x").is_err());
    assert!(format("(f \"x)").is_err());
    assert!(format("(f x) .1").is_err());
}

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn choose<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const WORDS: [&str; 28] = [
    "let",
    "in",
    "lambda",
    "if",
    "then",
    "else",
    "case",
    "mu",
    "foreach",
    "up",
    "dn",
    "Cons*",
    "define",
    "types",
    "entry",
    "x",
    "map",
    "+",
    "->",
    "'a",
    "x.0.1",
    "a_rather_long_name_of_a_function",
    "42",
    "1.5L",
    "\"a \\\" ; text\"",
    ":",
    ",",
    "vector#2",
];
const SPACES: [&str; 8] = [
    " ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    " ; note\n",
    " #| a #| b |# |# ",
];

/// Returns a random text whose parentheses match.
fn random_text(random: &mut Random) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    for _ in 0..random.below(120) {
        match random.below(10) {
            0..3 => {
                let round = random.below(4) > 0;
                text.push(if round { '(' } else { '[' });
                open.push(if round { ')' } else { ']' });
            }
            3..6 => {
                if let Some(close) = open.pop() {
                    text.push(close);
                    text.push_str(random.choose(&["", " ", ".0", ".1.2 ", "\n", "; note\n"]));
                }
            }
            _ => {
                text.push_str(random.choose(&WORDS));
                text.push_str(random.choose(&SPACES));
            }
        }
        if random.below(12) == 0 {
            text.push_str("\n ; a comment of its own\n");
        }
        if random.below(40) == 0 {
            text.push_str("\n #| two\r\n lines |#");
        }
    }
    text.extend(open.iter().rev());
    text
}

#[test]
fn random_texts() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..4000 {
        let text = random_text(&mut random).replace("\r\n", "\n");
        if format(&text).is_ok() {
            check(&text);
        }
    }
}

#[test]
fn deep_and_long_texts() {
    let depth = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("(f (g x) ", ")"),
        ("(+ ", " 1)"),
        ("(let (x ", ") in x)"),
        ("(let (x 1) in ", ")"),
        ("(foreach (x M) (f d) ", ")"),
        ("(foreach (x ", ") (f d) x)"),
        ("(up 1 (x ", "))"),
        ("(dn ", ")"),
        ("[1 ", "]"),
        ("(a, ", ").0"),
    ] {
        let text = format!("{}x{}", open.repeat(depth), close.repeat(depth));
        let once = formatted(&text);
        assert!(once.len() < text.len() * 40, "{open}");
        assert_eq!(formatted(&once), once, "{open}");
    }
    let text = format!("[{}]", "12345 ".repeat(depth));
    check(&text);
}
