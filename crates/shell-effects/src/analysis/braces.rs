//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::syntax::tree::{Piece, Word};

/// No real command has more words.
const MAX_WORDS: usize = 256;

/// A piece of a word, or the part between braces.
pub(crate) enum PieceRef<'p> {
    Whole(&'p Piece),
    Text(String),
}

pub(crate) enum BraceExpansion<'p> {
    /// The word has no braces.
    One,
    Many(Vec<Vec<PieceRef<'p>>>),
    TooMany,
}

#[derive(Clone, Copy)]
enum Atom<'p> {
    Char(char),
    Piece(&'p Piece),
}

pub(crate) fn expand(word: &Word) -> BraceExpansion<'_> {
    let has_brace = |piece: &Piece| matches!(piece, Piece::Plain(text) if text.contains('{'));
    if !word.iter().any(has_brace) {
        return BraceExpansion::One;
    }
    let mut atoms = Vec::new();
    for piece in word {
        match piece {
            Piece::Plain(text) => atoms.extend(text.chars().map(Atom::Char)),
            piece => atoms.push(Atom::Piece(piece)),
        }
    }
    let mut budget = MAX_WORDS;
    match expansions(&atoms, &mut budget, 0) {
        Some(words) => BraceExpansion::Many(words.iter().map(|atoms| pieces(atoms)).collect()),
        None => BraceExpansion::TooMany,
    }
}

fn pieces<'p>(atoms: &[Atom<'p>]) -> Vec<PieceRef<'p>> {
    let mut out: Vec<PieceRef<'p>> = Vec::new();
    for atom in atoms {
        match (atom, out.last_mut()) {
            (Atom::Char(c), Some(PieceRef::Text(text))) => text.push(*c),
            (Atom::Char(c), _) => out.push(PieceRef::Text(c.to_string())),
            (Atom::Piece(piece), _) => out.push(PieceRef::Whole(piece)),
        }
    }
    out
}

/// All words that a word expands to. `None` if there are too many, or the braces are nested too deeply.
fn expansions<'p>(atoms: &[Atom<'p>], budget: &mut usize, depth: usize) -> Option<Vec<Vec<Atom<'p>>>> {
    if depth > 8 {
        return None;
    }
    let Some((start, end, alternatives)) = first_braces(atoms) else { return Some(vec![atoms.to_vec()]) };
    let before = atoms.get(..start).unwrap_or_default();
    let tails = expansions(atoms.get(end + 1..).unwrap_or_default(), budget, depth + 1)?;
    let mut words = Vec::new();
    for alternative in &alternatives {
        for middle in expansions(alternative, budget, depth + 1)? {
            for tail in &tails {
                *budget = budget.checked_sub(1)?;
                words.push([before, &middle, tail].concat());
            }
        }
    }
    Some(words)
}

type Braces<'p> = (usize, usize, Vec<Vec<Atom<'p>>>);

/// The first braces with a meaning: where they open and close, and the parts between their commas.
fn first_braces<'p>(atoms: &[Atom<'p>]) -> Option<Braces<'p>> {
    // Where each open brace is, with its commas. A brace that is never closed is an ordinary character.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<Braces<'p>> = None;
    for (at, atom) in atoms.iter().enumerate() {
        let Atom::Char(c) = atom else { continue };
        match c {
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                let Some((start, commas)) = open.pop() else { continue };
                let inner = atoms.get(start + 1..at).unwrap_or_default();
                let alternatives =
                    if commas.is_empty() { sequence(inner) } else { Some(parts(atoms, start, at, &commas)) };
                let Some(alternatives) = alternatives else { continue };
                // What is around it comes first, then what is left of it.
                if found.as_ref().is_none_or(|(known, ..)| start < *known) {
                    found = Some((start, at, alternatives));
                }
                if open.is_empty() {
                    return found;
                }
            }
            _ => {}
        }
    }
    found
}

fn parts<'p>(atoms: &[Atom<'p>], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<Atom<'p>>> {
    let mut parts = Vec::new();
    let mut from = start + 1;
    for to in commas.iter().copied().chain([end]) {
        parts.push(atoms.get(from..to).unwrap_or_default().to_vec());
        from = to + 1;
    }
    parts
}

/// `1..3`, `a..c`, with a step or not.
fn sequence<'p>(inner: &[Atom<'p>]) -> Option<Vec<Vec<Atom<'p>>>> {
    let text: Option<String> =
        inner.iter().map(|atom| if let Atom::Char(c) = atom { Some(*c) } else { None }).collect();
    let text = text?;
    let mut parts = text.split("..");
    let (first, last) = (parts.next()?, parts.next()?);
    let step = parts.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    let single = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    let (from, to, is_letter) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from, to, false),
        _ => (i64::from(u32::from(single(first)?)), i64::from(u32::from(single(last)?)), true),
    };
    let count = from.abs_diff(to) / step + 1;
    if count > MAX_WORDS as u64 {
        // Too many to list: one pattern covers them.
        return Some(vec![vec![Atom::Char('*')]]);
    }
    let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
    let words = (0..count).map(|index| {
        let offset = i64::try_from(index * step).unwrap_or(0);
        let value = if to >= from { from + offset } else { from - offset };
        let shown = match u32::try_from(value).ok().and_then(char::from_u32) {
            Some(letter) if is_letter => letter.to_string(),
            _ => format!("{value:0width$}"),
        };
        shown.chars().map(Atom::Char).collect()
    });
    Some(words.collect())
}

fn is_padded(number: &str) -> bool {
    number.trim_start_matches('-').starts_with('0') && number.trim_start_matches('-').len() > 1
}
