//! How Claude Code reads the `matcher` of a hook.

use super::tools;

/// Whether a hook with this matcher is called for a subject, such as a tool. A regular expression that the client may read
/// differently counts as not matching.
#[must_use]
pub fn calls(matcher: Option<&str>, subject: Option<&str>) -> bool {
    let Some(matcher) = matcher.filter(|matcher| !matches!(*matcher, "" | "*")) else { return true };
    let Some(subject) = subject else { return false };
    let names = [Some(subject), tools::former_name(subject), Some(tools::current_name(subject))];
    let mut names = names.into_iter().flatten();
    if is_list(matcher) {
        return matcher.split(['|', ',']).any(|name| names.clone().any(|subject| subject == name.trim()));
    }
    if !is_read_alike(matcher) {
        return false;
    }
    regex_lite::Regex::new(matcher).is_ok_and(|expression| names.any(|name| expression.is_match(name)))
}

/// These characters make a list of exact names.
fn is_list(matcher: &str) -> bool {
    matcher.chars().all(|c| c.is_ascii_alphanumeric() || "_- |,".contains(c))
}

/// Names, groups, anchors, single quantifiers and escaped dots have the same meaning in JavaScript and here. Other syntax exists
/// only in one of the two, or differs.
fn is_read_alike(matcher: &str) -> bool {
    let text = matcher.replace(r"\.", "_");
    let is_known = |c: char| c.is_ascii_alphanumeric() || "_-|^$().*+".contains(c);
    let repeats_nothing = |quantifier: char| {
        text.starts_with(quantifier)
            || "*+(|^$".chars().any(|before| text.contains(&format!("{before}{quantifier}")))
    };
    text.chars().all(is_known) && !repeats_nothing('*') && !repeats_nothing('+')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each case was tried in the client.
    #[test]
    fn a_matcher_means_what_it_means_to_the_client() {
        for (matcher, is_called) in [
            (None, true),
            (Some(""), true),
            (Some("*"), true),
            (Some("Bash"), true),
            (Some(" Bash "), true),
            (Some("Bash,Read"), true),
            (Some("^(Bash|Read)$"), true),
            (Some(".*"), true),
            (Some(r"^(Bash|mcp__a\.b__.*)$"), true),
            (Some("bash"), false),
            (Some("Bash("), false),
            (Some("*ash"), false),
            (Some("(?!Bash)B"), false),
            (Some("Bas"), false),
            (Some("^Bas"), true),
        ] {
            assert_eq!(calls(matcher, Some("Bash")), is_called, "{matcher:?}");
        }
        assert!(!calls(Some("Bash"), None));
        assert!(calls(Some("Task"), Some("Agent")));
    }

    #[test]
    fn what_only_one_of_the_two_languages_knows_does_not_match() {
        for matcher in
            ["(?i)bash", "^[[:upper:]]ash$", r"\ABash", r"\x{42}ash", "(?P<n>Bash)", "Ba**sh", "Bash{1}"]
        {
            assert!(!calls(Some(matcher), Some("Bash")), "{matcher}");
        }
    }
}
