//! Whether a hook of the user and a command of the config are the same: their agents and their scripts.

use super::package_scripts::{RUN, is_run_optional};
use conclaude_core::config::{CommandConfig, Reaction};
use conclaude_core::pattern::Pattern;

/// The names in a matcher. A regular expression is not a list of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matcher<'a> {
    All,
    Names(Vec<&'a str>),
    Regex,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(text: Option<&'a str>) -> Matcher<'a> {
        let Some(text) = text.map(str::trim).filter(|text| !matches!(*text, "" | "*")) else {
            return Matcher::All;
        };
        if !text.chars().all(|c| c.is_alphanumeric() || "_- |,".contains(c)) {
            return Matcher::Regex;
        }
        let names: Vec<&str> =
            text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() { Matcher::All } else { Matcher::Names(names) }
    }

    /// Whether both may match the same agent. A regular expression may match any.
    pub(super) fn overlaps(&self, pattern: &Pattern) -> bool {
        match self {
            Matcher::Names(names) if !pattern.is_wildcard() => {
                names.iter().any(|name| pattern.matches(name, None).unwrap_or(true))
            }
            _ => true,
        }
    }

    /// Whether the patterns together match every agent of this matcher.
    pub(super) fn is_covered_by(&self, patterns: &[&Pattern]) -> bool {
        let is_known = |name: &&str| patterns.iter().any(|own| own.matches(name, None).unwrap_or(false));
        patterns.iter().any(|own| own.is_wildcard())
            || matches!(self, Matcher::Names(names) if names.iter().all(is_known))
    }

    /// The equivalent glob.
    pub(super) fn glob(&self) -> Option<String> {
        match self {
            Matcher::All => Some("*".into()),
            Matcher::Names(names) => Some(match names.as_slice() {
                [only] => (*only).to_owned(),
                many => format!("{{{}}}", many.join(",")),
            }),
            Matcher::Regex => None,
        }
    }
}

/// Whether the script does the same as the command, and nothing else.
pub(super) fn is_same(script: &str, command: &CommandConfig) -> bool {
    let (script, run) = (words(script), words(command.run.as_str()));
    // Commands run in the folder of the config. A blocking failure equals exit code 2 of a hook.
    let in_project = ["\"$CLAUDE_PROJECT_DIR\"", "$CLAUDE_PROJECT_DIR", "\"${CLAUDE_PROJECT_DIR}\""];
    let mut cds = in_project.iter().filter_map(|folder| script.strip_prefix(&format!("cd {folder} & & ")));
    let mut core = script.as_str();
    if command.cwd.is_none() {
        core = cds.next().unwrap_or(core);
    }
    if command.on_failure == Some(Reaction::Block) {
        core = core.strip_suffix(" | | exit 2").unwrap_or(core);
    }
    core == run || script == run
}

/// Whether the script runs the command, and perhaps more: `cd x && npm run lint` runs `npm run lint`, `npm run lint:css`
/// does not.
pub(super) fn contains(script: &str, command: &CommandConfig) -> bool {
    format!(" {} ", words(script)).contains(&format!(" {} ", words(command.run.as_str())))
}

/// A script with single blanks, with blanks around separators, and with one spelling of `npm test`.
fn words(script: &str) -> String {
    let spaced: String =
        script.chars().flat_map(|c| if ";&|()".contains(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
    let mut words: Vec<&str> = Vec::new();
    let mut all = spaced.split_whitespace().peekable();
    while let Some(word) = all.next() {
        words.push(word);
        if all.peek().is_some_and(|next| RUN.contains(next)) {
            let script = all.clone().nth(1).unwrap_or_default();
            if is_run_optional(word, script) {
                all.next();
            }
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(yaml: &str) -> CommandConfig {
        serde_saphyr::from_str(yaml).unwrap()
    }

    #[test]
    fn two_spellings_of_one_command_are_the_same() {
        for (script, run, expected) in [
            ("npm test", "{run: npm run test}", true),
            ("npm  run-script test\n", "{run: npm test}", true),
            ("yarn lint", "{run: yarn run lint}", true),
            ("pnpm run test", "{run: pnpm test}", true),
            ("bun lint", "{run: bun run lint}", true),
            ("bun test", "{run: bun run test}", false),
            ("npm run lint", "{run: npm lint}", false),
            ("npm run", "{run: npm}", false),
            ("npm test", "{run: npm run test:unit}", false),
            ("cd \"$CLAUDE_PROJECT_DIR\" && npm test", "{run: npm test}", true),
            ("cd \"$CLAUDE_PROJECT_DIR\" && npm test", "{run: npm test, cwd: a}", false),
            ("npm test || exit 2", "{run: npm test, onFailure: block}", true),
            ("npm test || exit 2", "{run: npm test}", false),
            ("npm test || exit 2", "{run: npm test || exit 2}", true),
            ("npm test && say done", "{run: npm test}", false),
        ] {
            assert_eq!(is_same(script, &command(run)), expected, "{script} and {run}");
        }
    }

    #[test]
    fn a_matcher_is_covered_by_patterns_that_mean_all_its_agents() {
        for (patterns, matcher, expected) in [
            (&["{coder,x}"][..], Some("coder | x"), true),
            (&["coder"], Some("coder|x"), false),
            (&["coder", "x*"], Some("coder|x"), true),
            (&["coder"], None, false),
            (&["*"], None, true),
            (&["*"], Some("^cod"), true),
            (&["cod*"], Some("^cod"), false),
            (&[], Some("coder"), false),
        ] {
            let patterns: Vec<Pattern> =
                patterns.iter().map(|text| Pattern::try_from((*text).to_owned()).unwrap()).collect();
            let patterns: Vec<&Pattern> = patterns.iter().collect();
            let covered = Matcher::new(matcher).is_covered_by(&patterns);
            assert_eq!(covered, expected, "{patterns:?} {matcher:?}");
        }
        assert_eq!(Matcher::new(Some(" | ")).glob().as_deref(), Some("*"));
        assert_eq!(Matcher::new(Some("a|b")).glob().as_deref(), Some("{a,b}"));
    }
}
