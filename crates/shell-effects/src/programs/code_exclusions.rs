//! Names that code only excludes: `if '.git' in path: continue`, `[d for d in dirs if d not in {'.git', 'target'}]`. The
//! condition makes the code do less to these files, never more.
//!
//! Each line is examined alone. A name is excluded if it is compared, and the condition skips what is equal.

use crate::programs::languages::SourceLanguage;

/// Longer lines may do anything with a name.
const MAX_LINE: usize = 2048;

/// Further constants count as files.
const MAX_CONSTANTS: usize = 64;

/// Code without the names that it only excludes.
pub(crate) fn without_exclusions(interpreter: &str, code: &str) -> String {
    let kind = match SourceLanguage::of(interpreter) {
        Some(kind @ (SourceLanguage::Python | SourceLanguage::JavaScript)) => kind,
        _ => return code.to_owned(),
    };
    let code = if kind == SourceLanguage::JavaScript { &without_environment(code) } else { code };
    let ends = |c: char| c == '\n' || kind == SourceLanguage::JavaScript && matches!(c, ';' | '{' | '}');
    let lines: Vec<&str> = code.split_inclusive(ends).collect();
    let has_else = words(code).any(|word| matches!(word, "else" | "elif"));
    let constants = constants(kind, &lines);
    let is_excluding = |name: &str| {
        let uses = lines.iter().enumerate().filter(|(_, line)| words(line).any(|word| word == name));
        let mut count = 0;
        let excludes = |(at, line): (usize, &&str)| {
            count += 1;
            let next = lines.get(at + 1).copied().unwrap_or_default();
            defined(kind, line) == Some(name)
                || SkippedNames::of(kind, line, next, has_else).leaves_out(line, name)
        };
        uses.into_iter().all(excludes) && count > 1
    };
    let excluding: Vec<&str> = constants.into_iter().filter(|name| is_excluding(name)).collect();
    let mut kept = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let is_constant = defined(kind, line).is_some_and(|name| excluding.contains(&name));
        let skip = SkippedNames::of(kind, line, next, has_else);
        kept.push(without_names(line, |before, after| {
            is_constant || skip != SkippedNames::Nothing && skip.skips(before, after)
        }));
    }
    kept.concat()
}

/// `process.env` in a pattern that continues with a dot: `/process\.env\.(\w+)/`.
const PATTERNS: [&str; 2] = ["process\\.env\\.", "import\\.meta\\.env\\."];

/// Code without `process.env`, which is not a file unless it is in quotes or a part of a path.
fn without_environment(code: &str) -> String {
    const NAME: &str = "process.env";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once(NAME) {
        kept.push_str(before);
        let is_start = before
            .trim_end_matches("...")
            .ends_with(|c: char| c.is_whitespace() || "{([,=:!&|?;".contains(c))
            || kept.is_empty();
        let is_end = !after.starts_with(|c: char| c.is_alphanumeric() || "._-/'\"`".contains(c));
        kept.push_str(if is_start && is_end { "process" } else { NAME });
        rest = after;
    }
    kept.push_str(rest);
    PATTERNS.iter().fold(kept, |kept, pattern| kept.replace(pattern, "process."))
}

/// Words after which the rest does not run.
const LEAVING: &[&str] = &["assert", "break", "continue", "raise", "return", "throw"];

/// What the condition of a line does to the names that it compares.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SkippedNames {
    /// Equal ones are skipped: `if … : continue`.
    Equal,
    /// Only others are used: `if x not in …`.
    Others,
    Nothing,
}

impl SkippedNames {
    fn of(kind: SourceLanguage, line: &str, next: &str, has_else: bool) -> SkippedNames {
        // What may be a part of a longer text or of a comment.
        let is_plain =
            !line.contains("\"\"\"") && !line.contains("'''") && !line.contains(['\\', '#', '`', '?']);
        if line.len() > MAX_LINE || !is_plain || line.contains("//") || line.contains("/*") {
            return SkippedNames::Nothing;
        }
        let line = line.trim();
        let body = match kind {
            SourceLanguage::Python => {
                match line.rsplit_once(':').map(|(condition, body)| (condition, body.trim())) {
                    Some((_, "")) => next.trim(),
                    Some((_, body)) => body,
                    None => "",
                }
            }
            _ => match line.rsplit_once(')') {
                Some((_, "" | " {")) => next.trim(),
                Some((_, body)) => body.trim().trim_start_matches('{').trim_end_matches('}').trim(),
                None => "",
            },
        };
        let is_condition = line.starts_with("if ") || line.starts_with("if(");
        let skips = matches!(body.trim_end_matches(';'), "continue" | "return" | "return false");
        let is_negated = line.contains("!=") || line.contains('!') || words(line).any(|word| word == "not");
        if is_condition && skips {
            return if is_negated { SkippedNames::Nothing } else { SkippedNames::Equal };
        }
        // The code after `if name != ".env": exit()` concerns that name.
        let leaves = words(body).next().is_some_and(|word| LEAVING.contains(&word))
            || words(body).any(|word| word == "exit");
        if is_condition && leaves {
            return SkippedNames::Nothing;
        }
        let filters = words(line).any(|word| word == "if") || line.contains(".filter(");
        if filters && is_negated && !has_else { SkippedNames::Others } else { SkippedNames::Nothing }
    }

    /// Whether the text between these two is compared, and what is equal is skipped.
    fn skips(self, before: &str, after: &str) -> bool {
        let before = before_list(before.trim_end());
        let after = after.trim_start();
        match self {
            SkippedNames::Nothing => false,
            SkippedNames::Equal => {
                ["==", " in (", " in {", " in [", ".startswith(", ".endswith(", ".startsWith(", ".endsWith("]
                    .iter()
                    .chain([".startswith((", ".endswith((", ".includes("].iter())
                    .any(|end| before.ends_with(end))
                    && !binds(before)
                    || after.starts_with("in ")
                    || after.starts_with("==")
                    || is_list(before) && after_list(after).starts_with(".includes(")
            }
            SkippedNames::Others => {
                let is_prefix = [".startswith(", ".endswith(", ".startswith((", ".endswith(("]
                    .iter()
                    .filter_map(|end| before.strip_suffix(end))
                    .any(follows_not);
                let is_javascript = [".startsWith(", ".endsWith(", ".includes("]
                    .iter()
                    .filter_map(|end| before.strip_suffix(end))
                    .any(|object| object.trim_end_matches(is_object).ends_with('!'));
                is_prefix
                    || is_javascript
                    || ["!=", "!==", " not in (", " not in {", " not in ["]
                        .iter()
                        .any(|end| before.ends_with(end))
                    || after.starts_with("not in ")
                    || after.starts_with("!=")
                    || before.strip_suffix('[').is_some_and(|before| before.ends_with('!'))
                        && after_list(after).starts_with(".includes(")
            }
        }
    }

    /// Whether each use of a constant in a line is such a comparison.
    fn leaves_out(self, line: &str, name: &str) -> bool {
        let mut uses = line.match_indices(name).filter(|(at, _)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            !line.get(..*at).unwrap_or_default().ends_with(is_part)
                && !line.get(at + name.len()..).unwrap_or_default().starts_with(is_part)
        });
        uses.all(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().trim_end();
            let after = line.get(at + name.len()..).unwrap_or_default().trim_start();
            match self {
                SkippedNames::Nothing => false,
                SkippedNames::Equal => {
                    before.ends_with(" in") && !binds(&format!("{before} ("))
                        || before.ends_with('&')
                        || after.starts_with('&')
                        || ["includes(", "has(", "intersection("]
                            .iter()
                            .any(|call| after.strip_prefix('.').is_some_and(|after| after.starts_with(call)))
                }
                SkippedNames::Others => {
                    before.ends_with(" not in")
                        || before.ends_with('!')
                            && (after.starts_with(".includes(") || after.starts_with(".has("))
                }
            }
        })
    }
}

/// The start of a line without the texts of a list that comes last.
fn before_list(before: &str) -> &str {
    let mut rest = before;
    while let Some(start) = rest.strip_suffix(',').map(str::trim_end) {
        let Some(quote) = start.chars().next_back().filter(|quote| matches!(quote, '"' | '\'')) else {
            break;
        };
        let inner = start.get(..start.len() - 1).unwrap_or_default();
        let Some(at) = inner.rfind(quote) else { break };
        rest = inner.get(..at).unwrap_or_default().trim_end();
    }
    rest
}

/// The rest after a list of texts.
fn after_list(after: &str) -> &str {
    let mut rest = after;
    while let Some(next) = rest.strip_prefix(',').map(str::trim_start) {
        let Some(quote) = next.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { break };
        let Some((_, more)) = next.get(1..).and_then(|inner| inner.split_once(quote)) else { break };
        rest = more.trim_start();
    }
    rest.strip_prefix(']').unwrap_or("")
}

/// Whether a list starts here, and not an index.
fn is_list(before: &str) -> bool {
    before
        .strip_suffix('[')
        .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == ')'))
}

/// Whether the following list gives its elements to a name, except in `any(name in path for name in (…))`.
fn binds(before: &str) -> bool {
    let Some((start, _)) = before.rsplit_once(" for ") else { return false };
    let compares = start
        .rsplit_once("any(")
        .is_some_and(|(_, compared)| compared.contains(" in ") && !compared.contains(['(', '[', ':']));
    !compares
}

/// Whether `not` precedes the object whose method is called.
fn follows_not(object: &str) -> bool {
    object.trim_end_matches(is_object).trim_end().ends_with(" not")
}

fn is_object(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

/// The constants that are lists of texts.
fn constants<'c>(kind: SourceLanguage, lines: &[&'c str]) -> Vec<&'c str> {
    lines.iter().filter_map(|line| defined(kind, line)).take(MAX_CONSTANTS).collect()
}

/// The name that a line gives to a list of texts.
fn defined(kind: SourceLanguage, line: &str) -> Option<&str> {
    if line.len() > MAX_LINE {
        return None;
    }
    let line = line.trim().trim_end_matches(';');
    let line = match kind {
        SourceLanguage::JavaScript => line.strip_prefix("const ")?,
        _ => line,
    };
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let value = value.trim();
    let value = value
        .strip_prefix("new Set(")
        .or_else(|| value.strip_prefix("set("))
        .map_or(value, |value| value.strip_suffix(')').unwrap_or_default());
    let inner = value.strip_prefix(['{', '[', '('])?.strip_suffix(['}', ']', ')'])?;
    let is_text = |part: &str| {
        let part = part.trim();
        let quote = part.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        quote.is_some_and(|quote| {
            part.len() > 1
                && part.ends_with(quote)
                && part.matches(quote).count() == 2
                && !part.contains('\\')
        })
    };
    let inner = inner.trim().trim_end_matches(',');
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name && inner.split(',').all(is_text) { Some(name) } else { None }
}

/// A line without its excluded texts.
fn without_names(line: &str, is_left_out: impl Fn(&str, &str) -> bool) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut at = 0;
    while let Some(rest) = line.get(at..)
        && let Some(start) = rest.find(['"', '\''])
    {
        let start = at + start;
        let quote = line.get(start..=start).unwrap_or_default();
        let inner = line.get(start + 1..).unwrap_or_default();
        let Some(length) = inner.find(quote) else { break };
        let end = start + 1 + length;
        kept.push_str(line.get(at..=start).unwrap_or_default());
        let (before, after) =
            (line.get(..start).unwrap_or_default(), line.get(end + 1..).unwrap_or_default());
        if !is_left_out(before, after) {
            kept.push_str(line.get(start + 1..end).unwrap_or_default());
        }
        kept.push_str(quote);
        at = end + 1;
    }
    kept.push_str(line.get(at..).unwrap_or_default());
    kept
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_code_only_leaves_out_are_not_its_files() {
        for (interpreter, code) in [
            ("python3", "if '.env' in path: continue"),
            ("python3", "if '.env' in p.parts or 'target' in p.parts:\n    continue"),
            ("python3", "if name == '.env' or name.startswith('.env'): continue"),
            ("python3", "if name in ('a', '.env', \"b\"): continue"),
            ("python3", "if any(x in p for x in ('a', '.env')): continue"),
            ("python3", "if p.endswith(('.env', 'b')):\n    continue"),
            ("python3", "dirs[:] = [d for d in dirs if d not in {'.env', 'node_modules'}]"),
            ("python3", "dirs[:] = [d for d in dirs if d != '.env' and not d.startswith('.env')]"),
            ("python3", "if '.env' not in p.parts:\n    print(p)"),
            ("python3", "SKIP = {'.env', 'a'}\nds[:] = [d for d in ds if d not in SKIP]"),
            (
                "python3",
                "SKIP = ['.env']\nfor p in ps:\n    if any(s in p for s in SKIP): continue\n    print(p)",
            ),
            ("python3", "SKIP = {'.env'}\nif SKIP & set(p.parts): continue"),
            ("node", "if (name === '.env' || name === 'a') continue;"),
            ("node", "if (['a', '.env'].includes(name)) return;"),
            ("node", "const files = all.filter(f => f !== '.env' && !f.includes('.env'));"),
            (
                "node",
                "for (const f of fs.readdirSync('.')) { if (f === '.git' || f === '.env') continue; console.log(f) }",
            ),
            ("node", "if (f === '.env') { continue; }"),
            (
                "node",
                "spawn('node', ['a.js'], { env: { ...process.env, PORT: '0' } }); Object.keys(process.env)",
            ),
            ("node", "s.replace(/process\\.env\\.(\\w+)/g, f).match(/import\\.meta\\.env\\./)"),
            ("node", "const SKIP = new Set(['.env']);\nif (SKIP.has(name)) continue;"),
        ] {
            let kept = without_exclusions(interpreter, code);
            assert!(!kept.contains(".env"), "{code}\n{kept}");
        }
        for (interpreter, code) in [
            ("python3", "open('.env')"),
            ("python3", "if name == '.env': print(open(name).read())"),
            ("python3", "if '.env' not in name: continue"),
            ("python3", "if name != '.env': continue"),
            ("python3", "if name != '.env':\n    sys.exit()\nprint(open(name).read())"),
            ("node", "if (name !== '.env') throw name;"),
            ("python3", "if name not in {'.env'}:\n    pass\nelse:\n    print(open(name).read())"),
            ("python3", "x = [f for f in fs if f in {'.env'}]"),
            ("python3", "if open('.env').read(): continue"),
            ("python3", "if any(open(x).read() for x in ('.env',)): continue"),
            ("python3", "if f([x for x in ('.env',)]): continue"),
            ("python3", "FILES = {'.env'}\nfor f in FILES: print(open(f).read())"),
            ("python3", "SKIP = {'.env'}\nif p in SKIP: continue\nprint(open(SKIP.pop()).read())"),
            ("python3", "SKIP = {'.env'}"),
            ("python3", "x = '.env' in path"),
            ("python3", "x = name == '.env' and open(name).read()"),
            ("python3", "if x != open('.env').read(): print(x)"),
            ("python3", "print('''\nif '.env' in x: continue\n''' + open('.env').read())"),
            ("node", "if (name === '.env') console.log(fs.readFileSync(name, 'utf8'));"),
            ("node", "all.filter(f => f === '.env')"),
            ("node", "if (!name.includes('.env')) continue;"),
            ("node", "fs.readFileSync(['.env'][0])"),
            ("node", "all.filter(f => f !== 'a').map(f => fs.readFileSync('.env'))"),
            ("node", "fs.readFileSync('process.env')"),
            ("node", "fs.readFileSync(`./process.env`)"),
            ("perl", "next if $f eq '.env'"),
        ] {
            let kept = without_exclusions(interpreter, code);
            assert!(kept.contains(".env"), "{code}\n{kept}");
        }
    }
}
