//! `sed`: the files it changes, and those that its script names.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{self, Stream};
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::arguments::Call;
use crate::programs::files::keeps_copy;
use crate::programs::interpreters::is_input;

pub(crate) fn sed(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let in_place = arguments.has(&["-i", "--in-place", "-I"]);
    let mut files = arguments.operands.as_slice();
    // The other sed needs the suffix as a word: `sed -i '' …`.
    if in_place && files.first().is_some_and(|field| field.text.is_empty()) {
        files = files.get(1..).unwrap_or_default();
    }
    let mut scripts: Vec<&Field> = arguments.values(&["-e", "--expression"]).collect();
    if scripts.is_empty() && !arguments.has(&["-f", "--file"]) {
        scripts.extend(files.first());
        files = files.get(1..).unwrap_or_default();
    }
    // All of it is the output of another command.
    if let [only] = scripts.as_slice()
        && is_wholly_unknown(only)
        && only.text.contains("$(")
    {
        analyzer.unknown_code("sed", only.shown());
    }
    // No file has such a name, so the word stays as it is.
    let unmatched = |script: &Field| match script.kind {
        FieldKind::Glob => Field::literal(script.shown()),
        _ => script.clone(),
    };
    let scripts: Vec<Field> = scripts.into_iter().map(unmatched).collect();
    script(analyzer, &stream::joined(&scripts, "\n"), call.command);
    scripts_in_files(analyzer, call);
    for file in files {
        if in_place {
            analyzer.by_option("-i", |analyzer| {
                analyzer.touch(Access::Write, file, call.command);
                for suffix in arguments.values(&["-i", "--in-place", "-I"]) {
                    keeps_copy(analyzer, file, &suffix.text, call.command);
                }
            });
        }
        analyzer.reads(file, call.command);
    }
}

/// `sed -f FILE`.
fn scripts_in_files(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for file in call.arguments.values(&["-f", "--file"]) {
        let is_input = file.text == "-" || is_input(file);
        let content = if is_input { analyzer.input().clone() } else { analyzer.content(file) };
        if is_input && matches!(content, Stream::Inherited) {
            analyzer.code_from_input("sed", Language::Other);
        }
        match content {
            Stream::Text(printed) => script(analyzer, &printed.text, call.command),
            Stream::Unknown | Stream::Files(_) | Stream::FileLines(_) | Stream::HashLines => {
                analyzer.doubt_script("sed");
            }
            // An existing file is not read, like any script.
            Stream::Nothing | Stream::Inherited | Stream::File | Stream::Copy(_) => {}
        }
    }
}

/// What a script does in addition to changing lines.
enum SedEffect<'s> {
    Reads(&'s str),
    Writes(&'s str),
    Runs(&'s str),
    /// Runs each found line.
    RunsLines,
}

fn script(analyzer: &mut Analyzer<'_>, script: &Field, command: usize) {
    let text = masked(script);
    let file = |name: &str| match name.contains(UNKNOWN) {
        true => Field::unknown(name.replace(UNKNOWN, "…")),
        false => Field::literal(name),
    };
    for does in (SedScanner { rest: &text }) {
        match does {
            SedEffect::Reads(name) => analyzer.reads(&file(name), command),
            SedEffect::Writes(name) => {
                analyzer.by_option("w", |analyzer| analyzer.touch(Access::Write, &file(name), command));
                if !name.starts_with("/dev/") {
                    analyzer.wrote(&file(name), Stream::Unknown, false, vec![command]);
                }
            }
            SedEffect::Runs(code) if !code.contains(UNKNOWN) => {
                // It is read like the text of `a`, without its backslashes.
                let plain = without_backslashes(code);
                for code in
                    [Some(code), Some(plain.as_str()).filter(|plain| *plain != code)].into_iter().flatten()
                {
                    analyzer.subshell(|analyzer| analyzer.code(&Field::literal(code), "sh"));
                }
            }
            // The lines are unknown, or unknown before they are changed.
            SedEffect::Runs(_) | SedEffect::RunsLines => analyzer.doubt_script("sed"),
        }
    }
}

/// Stands for an unknown part of a script.
const UNKNOWN: char = '\u{1}';

fn masked(script: &Field) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (hole, _) in &script.holes {
        text.push_str(script.text.get(at..hole.start).unwrap_or_default());
        text.push(UNKNOWN);
        at = hole.end;
    }
    let is_unknown = script.kind == FieldKind::Unknown && script.holes.is_empty();
    if !is_unknown {
        text.push_str(script.text.get(at..).unwrap_or_default());
    }
    text
}

/// Reads the commands of a script.
struct SedScanner<'s> {
    rest: &'s str,
}

impl<'s> Iterator for SedScanner<'s> {
    type Item = SedEffect<'s>;

    fn next(&mut self) -> Option<SedEffect<'s>> {
        loop {
            self.address();
            let command = self.rest.chars().next()?;
            self.rest = self.rest.get(command.len_utf8()..)?;
            match command {
                'r' | 'R' => return self.file().map(SedEffect::Reads),
                'w' | 'W' => return self.file().map(SedEffect::Writes),
                'e' => {
                    let code = self.lines().trim();
                    return Some(if code.is_empty() { SedEffect::RunsLines } else { SedEffect::Runs(code) });
                }
                's' => {
                    self.parts(2, true);
                    if let Some(does) = self.flags() {
                        return Some(does);
                    }
                }
                'y' => self.parts(2, false),
                'a' | 'i' | 'c' => self.text(),
                ':' | 'b' | 't' | 'T' | 'v' | 'q' | 'Q' | 'l' | 'L' => self.label(),
                '#' => drop(self.line()),
                _ => {}
            }
        }
    }
}

impl<'s> SedScanner<'s> {
    /// Skips everything before a command: its lines and patterns, blanks and separators.
    fn address(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '/' => self.parts(1, true),
                '\\' => {
                    self.rest = self.rest.get(1..).unwrap_or_default();
                    self.parts(1, true);
                }
                // Flags of a pattern come only after it.
                'I'
                | 'M'
                | '0'..='9'
                | '$'
                | ','
                | '~'
                | '+'
                | '!'
                | ' '
                | '\t'
                | '\n'
                | ';'
                | '{'
                | '}'
                | UNKNOWN => {
                    self.rest = self.rest.get(1..).unwrap_or_default();
                }
                _ => return,
            }
        }
    }

    /// Skips parts that end with the character before the first of them. They may be patterns.
    fn parts(&mut self, count: usize, starts_with_pattern: bool) {
        let Some(end) = self.rest.chars().next() else { return };
        let mut left = count;
        let mut is_escaped = false;
        // The current class of characters. It may contain the end character.
        let mut class: Option<String> = None;
        for (at, c) in self.rest.char_indices().skip(1) {
            match (c, &mut class) {
                (']', Some(held)) if !matches!(held.as_str(), "" | "^") && !is_in_class(held) => class = None,
                (c, Some(held)) => held.push(c),
                _ if is_escaped => is_escaped = false,
                ('\\', _) => is_escaped = true,
                ('[', _) if starts_with_pattern && left == count => class = Some(String::new()),
                (c, _) if c == end => left -= 1,
                _ => {}
            }
            if left == 0 {
                self.rest = self.rest.get(at + c.len_utf8()..).unwrap_or_default();
                return;
            }
        }
        self.rest = "";
    }

    /// The flags of `s`.
    fn flags(&mut self) -> Option<SedEffect<'s>> {
        while let Some(flag) = self.rest.chars().next() {
            match flag {
                'w' => {
                    self.rest = self.rest.get(1..)?;
                    return self.file().map(SedEffect::Writes);
                }
                'e' => {
                    self.rest = self.rest.get(1..)?;
                    return Some(SedEffect::RunsLines);
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => self.rest = self.rest.get(1..)?,
                _ => return None,
            }
        }
        None
    }

    fn line(&mut self) -> &'s str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// The rest of the line is a file. Without a name, nothing is read or written.
    fn file(&mut self) -> Option<&'s str> {
        let file = self.line().trim();
        Some(if file.is_empty() { "/dev/null" } else { file })
    }

    /// The lines up to one that does not end with a backslash.
    fn lines(&mut self) -> &'s str {
        let start = self.rest;
        while self.line().ends_with('\\') {}
        start.get(..start.len() - self.rest.len()).unwrap_or(start)
    }

    /// The text of `a`, `i` and `c`: up to a line that does not end with a backslash.
    fn text(&mut self) {
        // `a\` is followed by its text in the next line.
        while self.line().ends_with('\\') {}
    }

    fn label(&mut self) {
        let end = self.rest.find([';', '\n', '}']).unwrap_or(self.rest.len());
        self.rest = self.rest.get(end..).unwrap_or_default();
    }
}

/// Whether a `]` closes only a class of characters, as in `[[:alpha:]/]`.
fn is_in_class(held: &str) -> bool {
    let Some(at) = held.rfind('[') else { return false };
    let class = held.get(at + 1..).unwrap_or_default();
    let mark = class.chars().next();
    matches!(mark, Some(':' | '.' | '=')) && class.len() > 1 && class.chars().next_back() == mark
}

fn without_backslashes(text: &str) -> String {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}
