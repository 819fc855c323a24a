use super::*;

fn matches(pattern: &str, kind: GlobKind, text: &str) -> bool {
    Glob::new(pattern, kind).unwrap().matches(text).unwrap()
}

#[test]
fn characters_count_and_not_bytes() {
    assert!(matches("m?n", GlobKind::Name, "mün") && matches("[ä-ü]x", GlobKind::Name, "öx"));
    assert!(!matches("m??n", GlobKind::Name, "mün"));
}

#[test]
fn two_stars_cross_folders_only_as_a_whole_part() {
    for (pattern, yes, no) in [
        ("**", &["a", "a/b", ""][..], &[][..]),
        ("a/**", &["a/b", "a/b/c", "a/"], &["a", "b/a/c"]),
        ("**/a", &["a", "x/a", "x/y/a"], &["xa", "a/x"]),
        ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "a/b/c"]),
        ("a**b", &["ab", "axb"], &["a/b"]),
        ("***/b", &["x/b"], &["x/y/b"]),
        ("src/{a,b/**}/c", &["src/a/c", "src/b/x/y/c", "src/b/c"], &["src/c"]),
        ("src/**.rs", &["src/a.rs"], &["src/a/b.rs"]),
        ("src/{**,x}.rs", &["src/a.rs", "src/x.rs"], &["src/a/b.rs"]),
        ("src/{**,x}/y", &["src/y", "src/a/b/y", "src/x/y"], &["srcy", "src/ay"]),
        ("{a/,b/}**/c", &["a/c", "b/x/y/c"], &["a/xc"]),
        ("{a\\,**,b}/c", &["a,x/c", "b/c"], &["a,/x/c"]),
        ("{src/**,tests/**}", &["src/a/b.rs", "tests/x"], &["docs/x", "src"]),
        ("{**/a,b}", &["x/y/a", "a", "b"], &["xa", "x/b"]),
        ("x{**/a,b}", &["xb", "xy/a"], &["x/y/a", "xyz/w/a"]),
        ("a[!b]c", &["axc"], &["a/c", "abc"]),
        ("a?c", &["abc"], &["a/c"]),
    ] {
        for text in yes {
            assert!(matches(pattern, GlobKind::Path, text), "{pattern} {text}");
        }
        for text in no {
            assert!(!matches(pattern, GlobKind::Path, text), "{pattern} {text}");
        }
    }
}

#[test]
fn broken_globs_are_errors() {
    for broken in [
        "[a",
        "[",
        "[!",
        "{a",
        "{a,{b}",
        "a}",
        "a{b}}",
        "[z-a]",
        "[a-a-*]",
        "\\",
        "a\\",
        "{{{{{{{{{{{a}}}}}}}}}}}",
    ] {
        assert!(Glob::new(broken, GlobKind::Name).is_err(), "{broken}");
    }
}

/// All texts of these characters, up to a length.
fn texts_of(characters: &str, length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..length {
        let longer: Vec<String> = all[from..]
            .iter()
            .flat_map(|text| characters.chars().map(move |c| format!("{text}{c}")))
            .collect();
        from = all.len();
        all.extend(longer);
    }
    all
}

#[test]
fn a_pattern_is_valid_where_it_can_be_compiled() {
    for pattern in texts_of("a-![]{},\\", 5) {
        let is_compiled = !program::compile(&pattern, GlobKind::Name).is_empty();
        assert_eq!(Glob::check(&pattern, GlobKind::Name).is_ok(), is_compiled, "{pattern}");
    }
}

#[test]
fn no_match_is_ruled_out_by_how_it_starts() {
    let texts = texts_of("aBä,", 2);
    for glob in texts_of("aB*{},", 5).iter().filter_map(|pattern| Glob::new(pattern, GlobKind::Name).ok()) {
        for text in texts.iter().filter(|text| states::run(glob.program(), text)) {
            assert!(!glob.rules_out(text), "{} {text}", glob.as_str());
            assert!(glob.could_start(text, false, false), "{} {text}", glob.as_str());
            let small = text.to_ascii_lowercase();
            assert!(glob.could_start(&small, false, true), "{} {small}", glob.as_str());
            let path = format!("x/{text}/x");
            assert!(
                !glob.rules_out_starts_of(&format!("{text}/x")) && !glob.rules_out_parts_of(&path),
                "{} {text}",
                glob.as_str()
            );
        }
    }
}

#[test]
fn no_match_is_ruled_out_by_a_fingerprint() {
    let texts = texts_of("aB/,", 3);
    for kind in [GlobKind::Name, GlobKind::Path] {
        for glob in texts_of("aB*/{},", 5).iter().filter_map(|pattern| Glob::new(pattern, kind).ok()) {
            for text in texts.iter().filter(|text| states::run(glob.program(), text)) {
                let seen = Fingerprint::of([text.as_str(), "x"]);
                assert!(!glob.rules_out_all(&seen), "{} {text}", glob.as_str());
                let other_case = Fingerprint::of(["", text.to_ascii_uppercase().as_str()]);
                assert!(!glob.rules_out_all(&other_case), "{} {text} in capitals", glob.as_str());
            }
        }
    }
}

#[test]
fn a_pattern_without_its_pairs_is_ruled_out() {
    let texts = Fingerprint::of(["git rev-parse HEAD", "npm run build | tail"]);
    for (pattern, is_ruled_out) in [
        ("git push", true),
        ("git *-f*", true),
        ("{,* | }{curl,wget} *", true),
        ("{git,npm} {push,publish}*", true),
        ("hg rev-parse", true),
        ("git *", false),
        ("GIT rev-*", false),
        ("{curl,npm} *| {sh,tail}", false),
        ("[n]pm\\ *", false),
        ("*", false),
        ("", false),
    ] {
        let glob = Glob::new(pattern, GlobKind::Name).unwrap();
        assert_eq!(glob.rules_out_all(&texts), is_ruled_out, "{pattern}");
    }
    assert!(!Glob::new("{push,é}*", GlobKind::Name).unwrap().rules_out_all(&Fingerprint::of(["é"])));
}

#[test]
fn no_pattern_takes_long() {
    let stars = "*a".repeat(500);
    assert!(!matches(&stars, GlobKind::Name, &"a".repeat(4_000)[..499]));
    assert!(matches(&"{a,aa}".repeat(150), GlobKind::Name, &"a".repeat(200)));
    assert_eq!(Glob::new("*", GlobKind::Name).unwrap().matches(&"a".repeat(5_000)), None);
    assert!(Glob::new(&format!("[{}]", "b".repeat(2_000)), GlobKind::Name).is_err());
    let before = test_support::processor_time();
    let class = format!("**/*[{}]", "b".repeat(1_000));
    assert!(!matches(&class, GlobKind::Path, &"a".repeat(4_096)));
    assert!(!matches(&"*?".repeat(512), GlobKind::Path, &format!("{}/", "a".repeat(4_095))));
    let took = test_support::processor_time() - before;
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
}

/// What `globset` answers.
fn by_globset(pattern: &str, kind: GlobKind, text: &str) -> Option<bool> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(kind == GlobKind::Path)
        .empty_alternates(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher().is_match(text))
}

/// The patterns that a pattern stands for when its first braces, and then all, are written out. Without escapes and classes.
fn expanded(pattern: &str) -> Vec<String> {
    let Some(open) = pattern.find('{') else { return vec![pattern.to_owned()] };
    let (mut depth, mut starts, mut close) = (0, vec![open + 1], pattern.len());
    for (at, c) in pattern.char_indices().skip(open) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => starts.push(at + 1),
            _ => {}
        }
        if depth == 0 {
            close = at;
            break;
        }
    }
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([close]);
    let parts = starts.iter().zip(ends).map(|(start, end)| &pattern[*start..end]);
    let whole = parts.map(|part| format!("{}{part}{}", &pattern[..open], &pattern[close + 1..]));
    whole.flat_map(|pattern| expanded(&pattern)).collect()
}

#[test]
fn braces_are_written_out() {
    assert_eq!(expanded("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
}

proptest::proptest! {
    // About half of the patterns are not comparable; how many of them come first is chance.
    #![proptest_config(proptest::test_runner::Config {
        max_global_rejects: 1_000_000,
        ..proptest::test_runner::Config::with_cases(test_support::cases(200, 10_000))
    })]

    #[test]
    fn names_match_as_with_globset(pattern in r"([ab?\-!]|\*|\[[ab]|\]|\{[ab],?|\}|,|\\[ab*]){1,8}", text in "[abc,*]{0,6}") {
        proptest::prop_assume!(!pattern.contains("**"));
        let own = Glob::new(&pattern, GlobKind::Name).ok().map(|glob| glob.matches(&text).unwrap());
        proptest::prop_assert_eq!(own, by_globset(&pattern, GlobKind::Name, &text));
    }

    #[test]
    fn paths_match_as_with_globset(
        pattern in r"((\*\*|[ab?]|\*|a\*b|b\*\*|\{a,b\}|\[ab\]b)/){0,3}([ab?]|\*|\*\*|a\*|\{a,bb\})",
        text in "[ab]{1,2}(/[ab]{1,2}){0,3}",
    ) {
        // `globset` has its own rules for several `**` in a row.
        proptest::prop_assume!(!pattern.contains("**/**"));
        let own = Glob::new(&pattern, GlobKind::Path).ok().map(|glob| glob.matches(&text).unwrap());
        proptest::prop_assert_eq!(own, by_globset(&pattern, GlobKind::Path, &text));
    }

    #[test]
    fn a_fingerprint_rules_no_match_out(
        pattern in r"([abé \-/]|\*|\?|\[[!a]b\]|\{|\}|,|\\[ab*{]){1,12}",
        text in "[abAé */,-]{0,6}",
    ) {
        for kind in [GlobKind::Name, GlobKind::Path] {
            let Ok(glob) = Glob::new(&pattern, kind) else { continue };
            if glob.matches(&text) == Some(true) {
                proptest::prop_assert!(!glob.rules_out_all(&Fingerprint::of([text.as_str()])));
            }
        }
    }

    // `globset` itself reads `**` in braces in other ways: with them written out there is one.
    #[test]
    fn braces_mean_what_they_are_written_out(
        pattern in r"((\*\*|a|\*|b\*\*|\{\*\*,a\}|\{a/\*\*,b\}|\{\*\*/a,\{b,\*\*\}\})(/|b|)){1,4}",
        text in "[ab]{1,2}(/[ab]{1,2}){0,4}",
    ) {
        let all = expanded(&pattern);
        proptest::prop_assume!(!all.iter().any(|one| one.contains("**/**") || one.contains("***")));
        // After a `}`, the parts before it decide together. For `globset`, `**/` at the end is `**`.
        proptest::prop_assume!(!pattern.contains("}*") && !pattern.ends_with('/'));
        let own = Glob::new(&pattern, GlobKind::Path).unwrap().matches(&text).unwrap();
        let theirs = all.iter().any(|one| by_globset(one, GlobKind::Path, &text) == Some(true));
        proptest::prop_assert_eq!(own, theirs, "{:?}", all);
    }
}
