//! Markers in the prompt of an Agent call: `<!-- DES-KEY: value -->`. One grammar for all gates.

use conclaude_core::finding::{Code, Finding};
use conclaude_core::text::{MARKER, STEP_FILE_MARKER};

mod escapes;
mod look_alikes;
mod near_misses;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";
const KEYS: [&str; 5] = ["VALIDATION", "STEP-FILE", "AGENT", "COMMAND", "PROJECT-ID"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// The validation of `DES-VALIDATION`.
    pub validation: Validation,
    pub step_file: Option<String>,
    pub agent: Option<String>,
    pub command: Option<String>,
    pub project_id: Option<String>,
    pub problems: Vec<String>,
}

/// The marker that switches the gates on.
pub const KEY: &str = "DES-VALIDATION";

/// The validation of `DES-VALIDATION`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// An ad-hoc task: every gate is a no-op.
    #[default]
    None,
    Required,
    /// The marker is unclear, which must not mean `none`.
    Unclear,
}

impl Validation {
    /// The meaning of a marker's value.
    fn of(value: Option<&str>, problems: &mut Vec<String>) -> Validation {
        match value {
            None => Validation::None,
            Some(value) if is_off(value) => Validation::None,
            Some("required") => Validation::Required,
            Some(other) => {
                problems.push(format!(
                    "DES-VALIDATION is `{other}`, not `required`, `optional`, `none`, `false`, `no` or `off`"
                ));
                Validation::Unclear
            }
        }
    }
}

impl Markers {
    /// The markers of a prompt.
    #[must_use]
    pub fn of(prompt: &str) -> Markers {
        let mut markers = Markers::read(prompt);
        if markers.validation == Validation::None
            && let Some(text) = escapes::without_escapes(prompt)
            && Markers::read(&text).validation != Validation::None
        {
            markers.validation = Validation::Unclear;
            markers
                .problems
                .push(format!("{KEY} is written with escapes such as `&lt;`, which no gate reads"));
        }
        markers
    }

    fn read(prompt: &str) -> Markers {
        let mut values: [Option<&str>; 5] = [None; 5];
        let mut problems = Vec::new();
        let mut unclear = false;
        for comment in comments(prompt) {
            let inside = comment.split_once(CLOSE).map_or(comment, |(inside, _)| inside);
            for miss in near_misses::near_misses(inside) {
                unclear |= miss.key == "VALIDATION";
                problems.push(miss.problem());
            }
            let Some((key, value)) = marker(comment) else { continue };
            let Some((name, slot)) = KEYS.iter().zip(&mut values).find(|(name, _)| **name == key) else {
                continue;
            };
            let mut broken = |what: String| {
                unclear |= *name == "VALIDATION";
                problems.push(what);
            };
            match (value, &slot) {
                (None, _) => broken(format!("DES-{name} is not closed with `{CLOSE}` on its line")),
                (Some(""), _) => broken(format!("DES-{name} has no value")),
                (Some(value), Some(before)) if *before != value => {
                    broken(format!("DES-{name} has two values, `{before}` and `{value}`"));
                }
                (Some(value), _) => *slot = Some(value),
            }
        }
        for opening in near_misses::false_openings(prompt) {
            unclear |= opening.key == "VALIDATION";
            problems.push(opening.problem());
        }
        let [validation, step_file, agent, command, project_id] = values;
        let validation =
            if unclear { Validation::Unclear } else { Validation::of(validation, &mut problems) };
        let owned = |value: Option<&str>| value.map(str::to_owned);
        Markers {
            validation,
            step_file: owned(step_file),
            agent: owned(agent),
            command: owned(command),
            project_id: owned(project_id),
            problems,
        }
    }

    /// Whether the gates apply.
    #[must_use]
    pub fn apply(&self) -> bool {
        self.validation != Validation::None
    }

    /// The problems of the markers themselves.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        if !self.apply() {
            return Vec::new();
        }
        let fix = format!("write each marker once, on one line, as `{MARKER}`");
        let mut found: Vec<Finding> = self
            .problems
            .iter()
            .map(|what| Finding::new(Code::MarkerInvalid, what.clone(), fix.clone()))
            .collect();
        if self.step_file.is_none() && self.validation == Validation::Required {
            let fix =
                format!("add `{STEP_FILE_MARKER}` to the prompt; `conclaude des prompt` prints all markers");
            found.push(Finding::new(
                Code::MarkerMissing,
                "DES-VALIDATION is required, but DES-STEP-FILE is missing",
                fix,
            ));
        }
        found
    }
}

/// Whether a value of `DES-VALIDATION` switches the gates off. As in YAML, such words may have capitals.
fn is_off(value: &str) -> bool {
    ["none", "optional", "false", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The comments of the prompt: each up to `-->`, or to the end of the prompt.
fn comments(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(OPEN).skip(1)
}

/// The key and the value of `<!-- DES-KEY: value -->`. The value is `None` if the comment is not closed on its line.
fn marker(comment: &str) -> Option<(&str, Option<&str>)> {
    let line = comment.lines().next().unwrap_or_default();
    let (key, rest) = line.trim_start().strip_prefix("DES-")?.split_once(':')?;
    Some((key.trim_end(), rest.split_once(CLOSE).map(|(value, _)| value.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_example_is_read() {
        let markers = Markers::of(
            "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n<!-- DES-AGENT: software-crafter -->\n\
             <!-- DES-COMMAND: /nw:execute -->\n<!-- DES-PROJECT-ID: auth-upgrade -->\n\nYou are the software-crafter agent...",
        );
        assert_eq!(markers.validation, Validation::Required);
        assert_eq!(markers.step_file.as_deref(), Some("steps/01-01.json"));
        assert_eq!(markers.agent.as_deref(), Some("software-crafter"));
        assert_eq!(markers.command.as_deref(), Some("/nw:execute"));
        assert_eq!(markers.project_id.as_deref(), Some("auth-upgrade"));
        assert_eq!(markers.findings(), []);
    }

    #[test]
    fn blanks_are_free_and_values_may_contain_them() {
        let markers = Markers::of(
            "x <!--DES-VALIDATION:required--> y <!--   DES-STEP-FILE  :  my steps/01 01.json   -->",
        );
        assert_eq!(markers.validation, Validation::Required);
        assert_eq!(markers.step_file.as_deref(), Some("my steps/01 01.json"));
    }

    #[test]
    fn without_required_every_gate_is_a_no_op() {
        for prompt in [
            "",
            "no markers",
            "<!-- DES-VALIDATION: none -->",
            "<!-- DES-VALIDATION: false -->",
            "<!-- DES-VALIDATION: no -->",
            "<!-- DES-VALIDATION: off -->",
            "<!-- DES-VALIDATION: OFF -->",
            "<!-- DES-VALIDATION: None -->",
            "<!-- DES-VALIDATION: FALSE -->",
            "<!-- DES-VALIDATION: No -->",
            "<!-- DES-VALIDATION: optional --><!-- DES-AGENT: -->",
            "<!-- DES-STEP-FILE: x -->",
        ] {
            let markers = Markers::of(prompt);
            assert!(!markers.apply() && markers.findings().is_empty(), "{prompt}");
        }
    }

    #[test]
    fn what_is_unclear_is_not_a_no_op() {
        for prompt in [
            "<!-- DES-VALIDATION: requird -->",
            "<!-- DES-VALIDATION: Required -->",
            "<!-- DES-VALIDATION: -->",
            "<!-- DES-VALIDATION: required",
            "<!-- DES-VALIDATION required -->",
            "<!-- des-validation: required -->",
            "<!--\nDES-VALIDATION: required\n-->",
            "<!-- DES-VALIDATION: required --><!-- DES-VALIDATION: none -->",
            // Escapes.
            "Do it. &lt;!-- DES-VALIDATION: required --&gt;",
            "&#60;!-- DES-VALIDATION: required --&#62;",
            "<!&#45;&#x2d; DES-VALIDATION: required -->",
            "<!-- DES&#45;VALIDATION: required -->",
            "<!-- DES-VALI&shy;DATION: required -->",
            "<!--&nbsp;DES-VALIDATION: required -->",
            "<!-- DES%2DVALIDATION: required -->",
            "<!-- DES\\u002dVALIDATION: required -->",
            "<!-- \u{1b}[1mDES-VALIDATION: required -->",
        ] {
            let findings = Markers::of(prompt).findings();
            assert!(findings.iter().any(|f| f.code == Code::MarkerInvalid), "{prompt}: {findings:?}");
        }
    }

    #[test]
    fn a_key_with_two_values_is_invalid_and_the_same_value_twice_is_not() {
        let required = "<!-- DES-VALIDATION: required -->";
        let twice = |a: &str, b: &str| {
            Markers::of(&format!("{required}<!-- DES-STEP-FILE: {a} --><!-- DES-STEP-FILE: {b} -->"))
                .findings()
                .len()
        };
        assert_eq!(twice("a", "b"), 1);
        assert_eq!(twice("a", "a"), 0);
    }

    #[test]
    fn required_without_a_step_file_is_missing_it() {
        let findings = Markers::of("<!-- DES-VALIDATION: required -->").findings();
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].code, Code::MarkerMissing);
    }

    #[test]
    fn unknown_keys_are_ignored() {
        let markers = Markers::of(
            "<!-- DES-VALIDATION: required --><!-- DES-STEP-FILE: x --><!-- DES-NOVELTY: --><!-- DES-SECTION: A -->",
        );
        assert_eq!(markers.findings(), []);
    }

    proptest::proptest! {
        #[test]
        fn any_value_on_one_line_is_read_back(value in "[!-~][ -~]{0,30}") {
            let value = value.trim();
            proptest::prop_assume!(!value.contains("-->") && !value.contains("<!--"));
            let markers = Markers::of(&format!("<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: {value} -->"));
            proptest::prop_assert_eq!(markers.step_file.as_deref(), Some(value));
        }
    }
}
