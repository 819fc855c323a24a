//! The results as JUnit XML, which every CI reads.

use std::path::PathBuf;
use std::time::Duration;

use super::Suite;

/// An invalid file becomes a case with an error: a CI may show nothing else.
pub(super) fn of(suites: &[Suite], broken: &[(PathBuf, String)]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for suite in suites {
        let name = escaped(&suite.path.to_string_lossy());
        let failed = suite.cases.iter().filter(|case| !case.difference.is_empty()).count();
        let count = suite.cases.len();
        let took = seconds(suite.cases.iter().map(|case| case.took).sum());
        xml += &format!(
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failed}\" time=\"{took}\">\n"
        );
        for case in &suite.cases {
            let head = format!(
                "    <testcase classname=\"{name}\" name=\"{}\" file=\"{name}\" line=\"{}\" time=\"{}\"",
                escaped(&case.name),
                case.line,
                seconds(case.took)
            );
            if case.difference.is_empty() {
                xml += &format!("{head}/>\n");
            } else {
                let text = escaped(&case.difference.join("\n"));
                let message = escaped(&in_short(&case.difference));
                xml += &format!(
                    "{head}>\n      <failure message=\"{message}\">{text}</failure>\n    </testcase>\n"
                );
            }
        }
        xml += "  </testsuite>\n";
    }
    for (path, report) in broken {
        let name = escaped(&path.to_string_lossy());
        xml += &format!("  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">\n");
        xml += &format!("    <testcase classname=\"{name}\" name=\"{name}\" file=\"{name}\">\n");
        let error = format!("<error message=\"it cannot be used\">{}</error>", escaped(report));
        xml += &format!("      {error}\n    </testcase>\n  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

/// The expectation and the result, in one line: many CIs show nothing else.
fn in_short(difference: &[String]) -> String {
    let first = |sign: char| difference.iter().find_map(|line| line.strip_prefix(sign)).map(str::trim);
    match (first('-'), first('+')) {
        (Some(expected), Some(actual)) => format!("expected {expected}, but {actual}"),
        (Some(expected), None) => format!("expected {expected}"),
        (None, Some(actual)) => format!("not expected: {actual}"),
        (None, None) => difference.join("; "),
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}

/// Text for XML, without the characters that it cannot hold.
fn escaped(text: &str) -> String {
    let is_allowed = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(is_allowed).filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(escaped("a<b>&\"\n\u{1b}\u{0}c"), "a&lt;b&gt;&amp;&quot;&#10;c");
    }
}
