//! The SQL of a database client, as rules compare it: each statement in lower case, without comments, repeated spaces, or the
//! content of its strings.

use shell_effects::SimpleCommand;

/// The statements of a command. Empty if it is not a database client.
pub(super) fn statements(command: &SimpleCommand) -> Vec<String> {
    let Some(sql) = command.sql() else { return Vec::new() };
    let mut found = Vec::new();
    for text in sql.texts {
        let plain = plain(text, sql.has_hash_comments);
        found.extend(plain.split(';').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned));
    }
    found
}

/// The text without comments and strings. If two databases could disagree about strings, all of it stays.
fn plain(text: &str, has_hash: bool) -> String {
    let is_certain = !text.contains(['\\', '$', '`', '['])
        && !text.contains("/*!")
        && !has_doubtful_dashes(text)
        && !runs_strings(text);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '-' if is_comment(rest) => Some(line(rest)),
            '#' if has_hash => Some(line(rest)),
            // In MySQL the content of such a comment runs.
            '/' if rest.starts_with("/*!") => {
                Some(3 + rest.bytes().skip(3).take_while(u8::is_ascii_digit).count())
            }
            '/' if rest.starts_with("/*") => {
                rest.get(2..).and_then(|inner| inner.find("*/")).map(|at| at + 4)
            }
            '*' if rest.starts_with("*/") => Some(2),
            '\'' | '"' if is_certain => {
                let end = rest.get(1..).and_then(|inner| inner.find(c)).map(|at| at + 2);
                plain.extend(end.map(|_| c));
                end
            }
            c if c.is_whitespace() => Some(c.len_utf8()),
            _ => None,
        };
        match skipped {
            Some(_) if matches!(c, '\'' | '"') => plain.push(c),
            Some(_) if plain.ends_with(' ') => {}
            Some(_) => plain.push(' '),
            None => plain.push(c.to_ascii_lowercase()),
        }
        rest = rest.get(skipped.unwrap_or(c.len_utf8())..).unwrap_or_default();
    }
    plain
}

/// `-- ` is a comment everywhere.
fn is_comment(text: &str) -> bool {
    text.strip_prefix("--").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// `--x` is a comment for some.
fn has_doubtful_dashes(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| text.get(at..).is_some_and(|rest| !is_comment(rest)))
}

/// `prepare`, `execute` and the like run what is in a string.
fn runs_strings(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("prepare") || text.contains("exec")
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_the_same_however_it_is_laid_out() {
        for text in [
            "drop table x",
            "DROP\n\tTABLE   x ;",
            "drop/**/table/* ' */x",
            "drop -- a ' comment\n table x",
            "drop table x -- y",
            "/*!50000 drop */ table x",
        ] {
            assert_eq!(plain(text, false).split(';').next().unwrap().trim(), "drop table x", "{text}");
        }
        assert_eq!(plain("drop # x\ntable y", true), "drop table y");
        assert_eq!(plain("a # b\nc", false), "a # b c");
    }

    #[test]
    fn what_is_in_a_string_is_no_statement() {
        for (text, expected) in [
            ("select 'drop table x'", "select ''"),
            ("select 'it''s; drop table x', \"a\"\"b\"", "select '''', \"\"\"\""),
            ("select 'open", "select 'open"),
        ] {
            assert_eq!(plain(text, false), expected, "{text}");
        }
    }

    #[test]
    fn where_databases_disagree_nothing_is_hidden() {
        for text in [
            r"select '\''; drop table x; select '",
            r"select '\'; drop table x; --'",
            "--'\n; drop table x; --'",
            "select $$'$$; drop table x; select $$'$$",
            "select `'`; drop table x; select `'`",
            "select [']; drop table x; select [']",
            "/*!1 ' */ ; drop table x; select '",
            "/* /* */ drop table x; /* */ */",
            "prepare s from 'drop table x'",
            "exec ('drop table x')",
        ] {
            assert!(plain(text, true).contains("drop table x"), "{text}");
        }
    }
}
