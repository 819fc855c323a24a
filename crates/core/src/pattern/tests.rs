use super::*;

fn matches(pattern: &str, name: &str) -> bool {
    Pattern::try_from(pattern.to_owned()).unwrap().matches(name, None).unwrap()
}

fn assert_pattern(pattern: &str, yes: &[&str], no: &[&str]) {
    for name in yes {
        assert!(matches(pattern, name), "{pattern} should match {name}");
    }
    for name in no {
        assert!(!matches(pattern, name), "{pattern} should not match {name}");
    }
}

fn selected(patterns: &[&str], mode: MatchMode, name: &str) -> Vec<String> {
    let entries: Vec<_> =
        patterns.iter().map(|p| (Pattern::try_from((*p).to_owned()).unwrap(), ())).collect();
    select_by(&entries, mode, |pattern| pattern.matches(name, None))
        .unwrap()
        .iter()
        .map(|(p, ())| p.to_string())
        .collect()
}

// Scenario: Wildcard matches all subagents
#[test]
fn wildcard_matches_all() {
    assert_pattern("*", &["coder", "tester", "stuck", "plugin:name", "a/b", ".hidden", "ü"], &[]);
}

// Scenario: Exact match pattern
#[test]
fn a_literal_matches_itself_alone() {
    assert_pattern("coder", &["coder"], &["auto-coder", "coder-agent", "Coder", "code", ""]);
}

// Scenario: Prefix glob pattern
#[test]
fn prefix_glob() {
    assert_pattern("test*", &["tester", "test-runner", "testing", "test"], &["runner-test", "Tester"]);
}

// Scenario: Suffix glob pattern
#[test]
fn suffix_glob() {
    assert_pattern("*coder", &["coder", "auto-coder", "smart-coder"], &["coder-agent"]);
}

// Scenario: Character class glob pattern
#[test]
fn character_class_glob() {
    assert_pattern("agent_[0-9]*", &["agent_1", "agent_2x", "agent_99test"], &["agent_x", "agent"]);
    assert_pattern("[abc]x", &["ax", "cx"], &["dx", "x"]);
    assert_pattern("[!a]x", &["bx"], &["ax"]);
}

#[test]
fn braces_and_question_mark() {
    assert_pattern("{foo,bar}", &["foo", "bar"], &["baz", "foobar"]);
    assert_pattern("{foo,ba?}-*", &["foo-1", "bat-"], &["ba-1"]);
    assert_pattern("?", &["a", "ü", ":"], &["", "ab"]);
    assert_pattern("?ber", &["über", "aber"], &["ber", "xüber"]);
    assert_pattern("[üä]ber", &["über", "äber"], &["ober", "ber"]);
    assert_pattern("[à-ÿ]ber", &["über"], &["aber"]);
    assert_pattern("[!ü]ber", &["aber", "öber"], &["über"]);
    assert_pattern("{ü,ö}*", &["übung", "öl"], &["ähre"]);
}

#[test]
fn a_star_crosses_colons_and_slashes() {
    assert_pattern("plug*r", &["plugin:coder", "plug/in/coder"], &[]);
    assert_pattern("*:*er", &["plugin:coder", "a/b:tester"], &["coder"]);
}

// Scenario: Multiple patterns match same subagent
#[test]
fn all_matching_patterns_are_collected() {
    assert_eq!(selected(&["*", "coder", "*coder"], MatchMode::All, "coder"), ["*", "coder", "*coder"]);
}

#[test]
fn the_wildcard_moves_first_and_the_rest_keep_the_order_of_the_file() {
    assert_eq!(
        selected(&["*coder", "auto*", "tester", "*", "z*,", "a*"], MatchMode::All, "auto-coder"),
        ["*", "*coder", "auto*", "a*"]
    );
}

#[test]
fn first_takes_the_order_of_the_file_alone() {
    assert_eq!(selected(&["*coder", "auto*", "*"], MatchMode::First, "auto-coder"), ["*coder"]);
    assert_eq!(selected(&["*", "coder"], MatchMode::First, "coder"), ["*"]);
    assert_eq!(selected(&["coder", "*"], MatchMode::First, "tester"), ["*"]);
}

#[test]
fn a_literal_may_be_the_agent_id_and_a_glob_may_not() {
    let by = |pattern: &str| {
        Pattern::try_from(pattern.to_owned()).unwrap().matches("coder", Some("ae7af48d32583d25f")).unwrap()
    };
    assert!(by("ae7af48d32583d25f"));
    assert!(!by("ae7af*"), "ids are random: a glob over them would hit strangers");
    assert!(!by("?e7af48d32583d25f"));
}

#[test]
fn no_text_is_too_long_to_be_compared() {
    for length in [1_100, 100_000] {
        let long = |middle: &str| format!("{0}{middle}{0}", "x".repeat(length / 2));
        assert_pattern("*deploy*", &[&long("deploy")], &[&long("build")]);
        assert_pattern("*de?loy*", &[&long("deploy")], &[&long("build")]);
    }
    assert!(matches("*de?loy*", &"x".repeat(MAX_COMPARED_BYTES + 1)), "no rule is switched off by a length");
}

#[test]
fn broken_globs_are_reported() {
    for broken in ["[a", "{a", "a}", "[z-a]", "\\"] {
        let pattern = Pattern::try_from(broken.to_owned()).unwrap();
        let error = pattern.matches("a", None).unwrap_err().to_string();
        assert!(error.contains(&format!("invalid pattern `{broken}`")), "{error}");
        assert!(pattern.check().is_err());
    }
    assert_eq!(Pattern::try_from(" ".to_owned()), Err(PatternError::Empty));
}

proptest::proptest! {
    #[test]
    fn the_shortcuts_agree_with_the_glob(pattern in "[ab*:/]{1,5}", name in "[ab:/]{0,6}") {
        let pattern = Pattern::try_from(pattern).unwrap();
        let quick = pattern.matches(&name, None).unwrap();
        proptest::prop_assert_eq!(quick, pattern.compile().unwrap().matches(&name).unwrap());
    }
}
