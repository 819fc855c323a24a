//! What a case expects against what happened.

use super::play::{Actual, Outcome};
use conclaude_core::config::{Case, Expect, NonBlank, TextExpectation};
use conclaude_core::event::Blocking;
use conclaude_core::text::clean;

/// What differs, as lines of a diff; empty if nothing does.
pub(super) fn difference(case: &Case, actual: &Actual) -> Vec<String> {
    let expect = &case.expect;
    let mut found = Vec::new();
    if let Some(allows) = expect.allows
        && allows != (actual.outcome == Outcome::Allows)
    {
        found.push(format!("- allows: {allows}"));
        found.extend(happened(actual));
    }
    let outcomes =
        [(Outcome::Denies, &expect.denies), (Outcome::Asks, &expect.asks), (Outcome::Blocks, &expect.blocks)];
    for (outcome, said) in outcomes {
        let Some(said) = said else { continue };
        let text = (actual.outcome == outcome).then_some(actual.reason.as_str());
        if !holds(said, text) {
            found.extend(lines('-', &format!("{}: ", outcome.word()), &shown(said)));
            found.extend(happened(actual));
        }
    }
    if let Some(runs) = &expect.runs {
        found.extend(commands(runs, &actual.runs));
    }
    for (key, said, text) in
        [("context", &expect.context, &actual.context), ("shows", &expect.shows, &actual.shown)]
    {
        let Some(said) = said else { continue };
        let text = Some(text.as_str()).filter(|text| !text.is_empty());
        if !holds(said, text) {
            found.extend(lines('-', &format!("{key}: "), &shown(said)));
            found.extend(lines('+', &format!("{key}: "), text.unwrap_or("nothing")));
        }
    }
    // A result that nobody asks for is a case that tests something else than it says.
    found.extend(actual.unused.iter().map(|run| format!("- results: `{run}` is no command that runs here")));
    if !found.is_empty() && case.changed.is_none() {
        found.extend(actual.without_files.iter().map(|why| format!("  {why}: give `changed: […]`")));
    }
    found
}

fn holds(said: &TextExpectation, text: Option<&str>) -> bool {
    match said {
        TextExpectation::Anything(expected) => *expected == text.is_some(),
        // Answers are cleaned of tags; what is expected is written as the config has it.
        TextExpectation::Text(part) => {
            text.is_some_and(|text| text.contains(part) || text.contains(&clean(part)))
        }
    }
}

fn shown(said: &TextExpectation) -> String {
    match said {
        TextExpectation::Anything(flag) => flag.to_string(),
        TextExpectation::Text(text) => text.clone(),
    }
}

fn happened(actual: &Actual) -> Vec<String> {
    match actual.outcome {
        Outcome::Allows => vec!["+ allows: true".into()],
        other if actual.reason.is_empty() => vec![format!("+ {}: true", other.word())],
        other => lines('+', &format!("{}: ", other.word()), &actual.reason),
    }
}

fn lines(sign: char, key: &str, text: &str) -> Vec<String> {
    let indent = " ".repeat(key.len());
    let numbered = text.lines().enumerate();
    numbered
        .map(|(number, line)| format!("{sign} {}{line}", if number == 0 { key } else { &indent }))
        .collect()
}

/// What is expected and cannot happen at this event, whatever the config says.
pub(super) fn impossible(case: &Case) -> Vec<String> {
    let event = case.event.0;
    let blocking = event.blocking();
    let decides_tool = matches!(blocking, Blocking::Tool | Blocking::Permission);
    let blocks = !decides_tool && blocking != Blocking::Never;
    let Expect { denies, asks, blocks: blocked, .. } = &case.expect;
    let instead = match (decides_tool, blocks) {
        (true, _) => "write `denies`, `asks` or `allows`",
        (_, true) => "write `blocks` or `allows`",
        (false, false) => "it always goes on: write `runs`, `context` or `shows`",
    };
    let expected =
        [("denies", denies, decides_tool), ("asks", asks, decides_tool), ("blocks", blocked, blocks)];
    let is_wrong = |said: &Option<TextExpectation>| {
        said.as_ref().is_some_and(|said| *said != TextExpectation::Anything(false))
    };
    let wrong = expected.iter().filter(|(_, said, can)| !can && is_wrong(said));
    wrong.map(|(key, ..)| format!("`{key}` cannot happen at {event}: {instead}")).collect()
}

/// The lists side by side, as a diff of their entries.
fn commands(expected: &[NonBlank], actual: &[String]) -> Vec<String> {
    let expected: Vec<String> = expected.iter().map(|run| run.as_str().trim().to_owned()).collect();
    if expected == actual {
        return Vec::new();
    }
    let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &expected, actual);
    let mut found = vec!["  runs:".to_owned()];
    for change in changes.iter().flat_map(|change| change.iter_changes(&expected, actual)) {
        found.push(format!("{}   {}", change.tag(), change.value()));
    }
    found
}
