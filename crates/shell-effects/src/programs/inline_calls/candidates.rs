//! Code that runs something that is not visible as one argument: a variable, a value that it gets, a function with another name.
//! Then each text in the code may be what it runs.

use crate::Doubt;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::inline_calls::MAX_CALLS;
use crate::programs::inline_calls::calls::InlineCall;
use crate::programs::inline_calls::text_arguments::literal;
use crate::programs::languages::SourceLanguage;

/// A longer text is not a command.
const MAX_TEXT: usize = 16 << 10;

/// The texts of a code, and each list of them. Perl has quotes of its own: `q(…)`.
fn texts(language: Option<SourceLanguage>, code: &str) -> Vec<InlineCall> {
    let mut found = Vec::new();
    let mut list: Vec<Field> = Vec::new();
    let mut rest = code;
    let mut is_word = false;
    while let Some(c) = rest.chars().next() {
        let text = if is_word { None } else { literal(rest).or_else(|| perl_text(language, rest)) };
        if let Some((text, after)) = text {
            if text.text.len() <= MAX_TEXT && !is_wholly_unknown(&text) {
                list.push(text.clone());
                found.push(InlineCall::Text(text));
            }
            rest = after;
            is_word = false;
            continue;
        }
        if !c.is_whitespace() && c != ',' {
            end_list(&mut list, &mut found);
        }
        is_word = c.is_ascii_alphanumeric() || c == '_';
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if found.len() > MAX_CALLS {
            break;
        }
    }
    end_list(&mut list, &mut found);
    found
}

/// Several texts in a row are the words of a command.
fn end_list(list: &mut Vec<Field>, found: &mut Vec<InlineCall>) {
    let words = std::mem::take(list);
    if words.len() > 1 {
        found.push(InlineCall::Words(words));
    }
}

/// `q(…)`, `qq{…}`, `qw[…]` of Perl, `{…}` of Tcl.
fn perl_text(language: Option<SourceLanguage>, code: &str) -> Option<(Field, &str)> {
    if language == Some(SourceLanguage::Tcl) {
        let (text, after) = code.strip_prefix('{')?.split_once('}')?;
        return if text.contains('{') { None } else { Some((Field::literal(text), after)) };
    }
    if language != Some(SourceLanguage::Perl) {
        return None;
    }
    let rest = code.strip_prefix('q')?;
    let rest = rest.strip_prefix(['q', 'w']).unwrap_or(rest).trim_start();
    let close = match rest.chars().next()? {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other @ ('|' | '/' | '!' | '~') => other,
        _ => return None,
    };
    let (text, after) = rest.get(1..)?.split_once(close)?;
    Some((Field::literal(text), after))
}

/// What Perl and Ruby run instead of opening it: `open(F, "… |")`.
pub(super) fn pipes(language: Option<SourceLanguage>, code: &str) -> Vec<InlineCall> {
    if !code.contains('|') {
        return Vec::new();
    }
    let texts = texts(language, code);
    let is_mode = |call: &InlineCall| matches!(call, InlineCall::Text(text) if matches!(text.text.as_str(), "-|" | "|-"));
    // `open(F, "-|", CODE)`.
    if texts.iter().any(is_mode) {
        return texts.into_iter().filter(|call| !is_mode(call)).collect();
    }
    let piped = |call: InlineCall| match call {
        InlineCall::Text(text) => piped_name(&text).map(InlineCall::Text),
        InlineCall::Words(_) => None,
    };
    texts.into_iter().filter_map(piped).collect()
}

/// The command in the name of a file that Perl runs: `CODE |`, `| CODE`.
pub(crate) fn piped_name(name: &Field) -> Option<Field> {
    let text = name.text.trim();
    let code = text.strip_suffix('|').or_else(|| text.strip_prefix('|'))?.trim();
    if code.is_empty() || code == "-" { None } else { Some(name.with(code)) }
}

/// Compares each text, and each value that the code gets, with rules for commands. Their effects on files do not count, except on
/// files that a pattern matches: the code names other files itself.
pub(super) fn run(
    analyzer: &mut Analyzer<'_>,
    language: Option<SourceLanguage>,
    code: &str,
    given: &[Field],
) {
    let inner = given.iter().flat_map(|text| texts(language, &text.text));
    let given = given.iter().cloned().map(InlineCall::Text);
    let calls: Vec<InlineCall> = given.chain(inner).chain(texts(language, code)).collect();
    if calls.len() > MAX_CALLS {
        analyzer.doubt(Doubt::TooMany("texts in code"));
    }
    analyzer.only_commands(|analyzer| {
        for call in calls.iter().take(MAX_CALLS) {
            super::run_call(analyzer, call);
        }
    });
}
