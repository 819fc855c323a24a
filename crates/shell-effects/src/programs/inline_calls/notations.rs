//! Commands in a special notation: recipes of make, backticks, pipes of awk.

use crate::analysis::field::Field;
use crate::programs::inline_calls::calls::InlineCall;
use crate::programs::inline_calls::is_part;
use crate::programs::inline_calls::text_arguments::literal;
use crate::programs::table;

/// For the variables of a makefile, this much text is looked at.
const MAX_EXPANDED: usize = 4 << 20;

/// A makefile again with the values of its own variables. None if they are too many.
pub(crate) fn with_make_variables(text: &str) -> Option<String> {
    let mut expanded = text.to_owned();
    let mut read = 0;
    for line in text.lines().filter(|line| !line.starts_with('\t')) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+', ' ']).trim();
        if name.is_empty() || !name.chars().all(is_part) {
            continue;
        }
        let value = value.trim();
        for written in [format!("$({name})"), format!("${{{name}}}")] {
            read += expanded.len() + value.len() * expanded.matches(&written).count();
            if read > MAX_EXPANDED {
                return None;
            }
            expanded = expanded.replace(&written, value);
        }
    }
    Some(expanded)
}

/// A text again with its continued lines joined, for languages in which a backslash may divide a word. None if nothing changes.
pub(crate) fn with_joined_lines(interpreter: &str, text: &str) -> Option<String> {
    let joined = match table::by_name(interpreter)?.name() {
        // A shell joins them. Make removes the tab before.
        "make" => text.replace("\\\n\t", "").replace("\\\n", ""),
        "ed" => text.replace("\\\n", ""),
        // Its backslash starts the next line.
        "ex" | "vi" => text.split('\n').map(|line| line.trim_start()).fold(String::new(), |joined, line| {
            match line.strip_prefix('\\') {
                Some(rest) => joined + rest,
                None => joined + "\n" + line,
            }
        }),
        _ => return None,
    };
    if text.contains('\\') && joined.trim_start() != text { Some(format!("{text}\n{joined}")) } else { None }
}

/// The lines of a makefile that a shell runs: those after a tab, and the text after `;` in a rule.
pub(super) fn recipes(code: &str) -> Vec<InlineCall> {
    let code = code.replace("\\\n", " ");
    let lines = code.lines().filter_map(|line| match line.strip_prefix('\t') {
        Some(recipe) => Some(recipe),
        None => line.split_once(':')?.1.split_once(';').map(|(_, recipe)| recipe),
    });
    let texts = lines.map(|line| without_variables(line.trim_start_matches(['@', '-', '+', ' ', '\t'])));
    let mut found: Vec<InlineCall> = texts.map(|text| InlineCall::Text(Field::literal(text))).collect();
    // `$(shell CODE)` and `NAME != CODE`.
    for (at, name) in code.match_indices("(shell ").chain(code.match_indices("{shell ")) {
        let rest = code.get(at + name.len()..).unwrap_or_default();
        let text = rest.split(['\n', '}']).next().unwrap_or_default();
        found.push(InlineCall::Text(Field::literal(before_close(text))));
    }
    let assigned =
        code.lines().filter(|line| !line.starts_with('\t')).filter_map(|line| line.split_once("!="));
    found.extend(assigned.map(|(_, text)| InlineCall::Text(Field::literal(without_variables(text.trim())))));
    found
}

/// A text up to the closing counterpart of a bracket before it.
fn before_close(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return text.get(..at).unwrap_or_default(),
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Commands that Tcl and Expect run: `exec CODE`, `spawn CODE`, `open "|CODE"`.
pub(super) fn tcl(code: &str) -> Vec<InlineCall> {
    let mut found = Vec::new();
    for start in ["exec ", "spawn ", "open \"|", "open {|", "open |"] {
        for (at, start) in code.match_indices(start) {
            let is_word = code.get(..at).unwrap_or_default().ends_with(|c: char| is_part(c) || c == '-');
            let rest = code.get(at + start.len()..).unwrap_or_default();
            let text = tcl_command(rest, start.starts_with("open"));
            if !is_word && !text.trim().is_empty() {
                found.push(InlineCall::Text(Field::literal(text)));
            }
        }
    }
    for (start, command) in [("file delete ", "rm -rf "), ("file rename ", "mv "), ("file copy ", "cp -r ")] {
        for (at, start) in code.match_indices(start) {
            let text = tcl_command(code.get(at + start.len()..).unwrap_or_default(), false);
            found.push(InlineCall::Text(Field::literal(format!("{command}{text}"))));
        }
    }
    found
}

/// A command of Tcl up to its end. Braces quote, and `{*}[list …]` is its words.
fn tcl_command(code: &str, ends_at_quote: bool) -> String {
    let (mut text, mut depth, mut is_quoted) = (String::new(), 0_usize, false);
    let code = code.replace("{*}[list ", " ").replace('[', "$(tcl) ").replace("<<", "<<<");
    for c in code.chars() {
        match c {
            '"' if depth == 0 && ends_at_quote => break,
            '"' if depth == 0 => is_quoted = !is_quoted,
            '\n' | ';' | ']' if depth == 0 && !is_quoted => break,
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            '{' if depth == 1 => text.push('\''),
            '}' if depth == 0 => text.push('\''),
            '\'' if depth > 0 => text.push_str("'\\''"),
            c => text.push(c),
        }
    }
    text
}

/// The lines that IPython gives to a shell: `!CODE`, `%sx CODE`.
pub(super) fn escapes(code: &str) -> Vec<InlineCall> {
    let code_of = |line: &str| {
        let after =
            ["!!", "!", "%sx ", "%system "].iter().find_map(|start| line.trim().strip_prefix(start))?;
        Some(InlineCall::Text(Field::literal(after)))
    };
    code.split(['\n', ';']).filter_map(code_of).collect()
}

/// Whether awk opens a file that a field of its input names: `getline < $1`, `f = $0; getline < f`, `ARGV[2] = $1`.
pub(super) fn opens_field(code: &str) -> bool {
    let compact: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let is_field = |name: &str| !name.is_empty() && compact.contains(&format!("{name}=$"));
    let reads = code.match_indices("getline").any(|(at, name)| {
        let rest = code.get(at + name.len()..).unwrap_or_default();
        let variable = rest.trim_start().trim_start_matches(is_part).trim_start();
        variable.strip_prefix('<').map(str::trim_start).is_some_and(|file| {
            file.starts_with('$') || is_field(file.split(|c| !is_part(c)).next().unwrap_or_default())
        })
    });
    reads || compact.contains("ARGV[") && compact.contains("]=$")
}

/// The directories in which awk writes files that it names itself: `print > "out/" $1`.
pub(super) fn written_directories(code: &str) -> Vec<String> {
    let written = code.match_indices('>').filter_map(|(at, _)| {
        let rest = code.get(at + 1..)?.trim_start_matches(['>', ' ', '(']);
        let (text, after) = literal(rest)?;
        let is_joined = after.trim_start().starts_with(|c: char| c == '$' || is_part(c));
        if is_joined && text.text.ends_with('/') { Some(text.text) } else { None }
    });
    written.collect()
}

/// Whether Tcl opens a file whose name it computes: `open $f`, `open .e[format nv]`.
pub(super) fn opens_computed(code: &str) -> bool {
    code.match_indices("open ").any(|(at, name)| {
        let rest = code.get(at + name.len()..).unwrap_or_default();
        let word = rest.split([' ', '\n', ';', ']']).next().unwrap_or_default();
        word.contains(['$', '[']) && !word.starts_with('|')
    })
}

/// Whether awk pipes to or from something that is not a text: `$0 | getline`, `print | c`.
pub(super) fn pipes_hidden(code: &str) -> bool {
    let bytes = code.as_bytes();
    code.match_indices('|').any(|(at, _)| {
        let is_or =
            bytes.get(at + 1) == Some(&b'|') || at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'|');
        let before = code.get(..at).unwrap_or_default().trim_end();
        let after = code.get(at + 1..).unwrap_or_default().trim_start_matches('&').trim_start();
        let hides_source = after.starts_with("getline") && !before.ends_with('"');
        let hides_target =
            !after.starts_with("getline") && (after.starts_with(is_part) || after.starts_with(['$', '(']));
        !is_or && (hides_source || hides_target)
    })
}

/// A recipe as the shell gets it: `$$` is a dollar, and make replaces `$x`, mostly by nothing.
fn without_variables(recipe: &str) -> String {
    let mut text = String::new();
    let mut rest = recipe.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('$', Some('$')) => {
                rest.next();
                text.push('$');
            }
            ('$', Some('(' | '{')) => text.push(c),
            ('$', _) => {
                rest.next();
            }
            _ => text.push(c),
        }
    }
    text
}

/// Commands that Perl, Ruby and PHP run: `` `…` ``, `qx(…)`, `%x(…)`.
pub(super) fn in_backticks(code: &str) -> Vec<InlineCall> {
    let mut found: Vec<InlineCall> = code
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|text| text.trim_end_matches('\\'))
        .filter(|text| !text.trim().is_empty())
        .map(|text| InlineCall::Text(Field::literal(text)))
        .collect();
    for start in code.match_indices("qx").chain(code.match_indices("%x")).map(|(at, name)| at + name.len()) {
        let rest = code.get(start..).unwrap_or_default().trim_start();
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            Some('[') => ']',
            Some('<') => '>',
            Some(other @ ('|' | '/' | '!' | '~' | '"' | '\'' | '#' | ',')) => other,
            _ => continue,
        };
        let text = rest.get(1..).and_then(|inner| inner.split_once(close)).map(|(text, _)| text);
        found.extend(text.map(|text| InlineCall::Text(Field::literal(text))));
    }
    found
}

/// Commands that awk pipes to and from: `print | "…"`, `"…" | getline`.
pub(super) fn piped(code: &str) -> Vec<InlineCall> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut last: Option<Field> = None;
    let mut is_after_pipe = false;
    while let Some(c) = rest.chars().next() {
        if c == '"'
            && let Some((text, after)) = literal(rest)
        {
            if is_after_pipe {
                found.push(InlineCall::Text(text.clone()));
            }
            (last, is_after_pipe, rest) = (Some(text), false, after);
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '|' if rest.starts_with('|') => rest = rest.get(1..).unwrap_or_default(),
            '|' => {
                rest = rest.trim_start_matches('&');
                if rest.trim_start().starts_with("getline") {
                    found.extend(last.take().map(InlineCall::Text));
                }
                is_after_pipe = true;
            }
            c if c.is_whitespace() => {}
            _ => (last, is_after_pipe) = (None, false),
        }
    }
    found
}
