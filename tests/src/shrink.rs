//! Reduction of a failing program: forms are replaced by parts of themselves, or removed, as long
//! as the program fails.

/// A piece of source: a word, or a bracketed form with the text immediately after it (`.0`).
#[derive(Clone, Debug)]
enum Piece {
    Word(String),
    Form {
        open: char,
        parts: Vec<Piece>,
        suffix: String,
    },
}

/// Returns the smallest program found for which `fails` still holds, within `tries` attempts.
pub fn shrink(text: &str, mut tries: usize, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut best = read(text);
    loop {
        let mut progress = false;
        let mut at = 0;
        while at < count(&best) {
            let Some(candidate) = smaller(&best, at).into_iter().find(|candidate| {
                tries = tries.saturating_sub(1);
                tries > 0 && fails(&write(candidate))
            }) else {
                at += 1;
                continue;
            };
            best = candidate;
            progress = true;
        }
        if !progress || tries == 0 {
            return write(&best);
        }
    }
}

/// Returns the variants of a program in which form number `at` is replaced.
fn smaller(pieces: &[Piece], at: usize) -> Vec<Vec<Piece>> {
    let mut variants = Vec::new();
    let form = nth(pieces, &mut at.clone());
    let Some(Piece::Form {
        parts,
        open,
        suffix,
    }) = form
    else {
        return variants;
    };
    let mut replacements: Vec<Vec<Piece>> = vec![Vec::new()];
    replacements.extend(parts.iter().map(|p| vec![p.clone()]));
    for skip in 0..parts.len() {
        let mut rest = parts.clone();
        rest.remove(skip);
        replacements.push(vec![Piece::Form {
            open: *open,
            parts: rest,
            suffix: suffix.clone(),
        }]);
    }
    for replacement in replacements {
        let mut copy = pieces.to_vec();
        replace(&mut copy, &mut at.clone(), &replacement);
        variants.push(copy);
    }
    variants
}

fn count(pieces: &[Piece]) -> usize {
    pieces
        .iter()
        .map(|p| match p {
            Piece::Word(_) => 0,
            Piece::Form { parts, .. } => 1 + count(parts),
        })
        .sum()
}

fn nth<'a>(pieces: &'a [Piece], at: &mut usize) -> Option<&'a Piece> {
    for piece in pieces {
        if let Piece::Form { parts, .. } = piece {
            if *at == 0 {
                return Some(piece);
            }
            *at -= 1;
            if let Some(found) = nth(parts, at) {
                return Some(found);
            }
        }
    }
    None
}

fn replace(pieces: &mut Vec<Piece>, at: &mut usize, by: &[Piece]) -> bool {
    for k in 0..pieces.len() {
        if let Piece::Form { parts, .. } = &mut pieces[k] {
            if *at == 0 {
                pieces.splice(k..k + 1, by.iter().cloned());
                return true;
            }
            *at -= 1;
            if replace(parts, at, by) {
                return true;
            }
        }
    }
    false
}

fn read(text: &str) -> Vec<Piece> {
    let mut stack: Vec<(char, Vec<Piece>)> = vec![(' ', Vec::new())];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let piece = match c {
            '(' | '[' => {
                stack.push((c, Vec::new()));
                continue;
            }
            ')' | ']' => {
                let Some((open, parts)) = stack.pop() else {
                    break;
                };
                let mut suffix = String::new();
                if characters.peek() == Some(&'.') {
                    while let Some(&s) = characters.peek()
                        && (s == '.' || s.is_ascii_digit())
                    {
                        suffix.push(s);
                        characters.next();
                    }
                }
                Piece::Form {
                    open,
                    parts,
                    suffix,
                }
            }
            ',' | ':' => Piece::Word(c.to_string()),
            c if c.is_whitespace() => continue,
            '"' => {
                let rest: String = characters.by_ref().take_while(|&c| c != '"').collect();
                Piece::Word(format!("\"{rest}\""))
            }
            c => {
                let mut word = c.to_string();
                while let Some(&c) = characters.peek()
                    && !c.is_whitespace()
                    && !"()[],:".contains(c)
                {
                    word.push(c);
                    characters.next();
                }
                Piece::Word(word)
            }
        };
        if let Some(top) = stack.last_mut() {
            top.1.push(piece);
        }
    }
    stack
        .into_iter()
        .next()
        .map(|(_, parts)| parts)
        .unwrap_or_default()
}

fn write(pieces: &[Piece]) -> String {
    let texts: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Word(word) => word.clone(),
            Piece::Form {
                open,
                parts,
                suffix,
            } => {
                let close = if *open == '(' { ')' } else { ']' };
                format!("{open}{}{close}{suffix}", write(parts))
            }
        })
        .collect();
    texts.join(" ")
}
