use proptest::prelude::*;

use super::*;
use conclaude_core::dialect::{self, claude};

fn copy(text: &str) -> Vec<Backup> {
    vec![Backup::of_text(BackupKind::Before, text)]
}

fn needed(yaml: &str) -> Vec<Registration> {
    let config = ConclaudeConfig::parse(yaml, Path::new("x")).unwrap();
    registration::needed(&config, "conclaude", CLAUDE)
}

const CLAUDE: SettingsTarget = SettingsTarget { client: &claude::DIALECT, scope: Scope::Project };

fn installed(now: &str, backups: &[Backup], needed: &[Registration]) -> Result<String, Refusal> {
    super::installed(CLAUDE, now, backups, needed)
}

fn uninstalled(now: &str, backups: &[Backup]) -> Result<(Option<String>, bool), Refusal> {
    super::uninstalled(CLAUDE, now, backups)
}

/// White space and comments, as they may be between any two tokens.
fn gap() -> BoxedStrategy<String> {
    prop_oneof![
        6 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => Just(" /* a, { comment */ ".to_owned()),
        1 => Just(" // \"one\": [\n".to_owned()),
    ]
    .boxed()
}

fn joined(members: Vec<(String, String)>, gaps: (String, String), open: &str, close: &str) -> String {
    let (first, last) = gaps;
    let trailing = if members.is_empty() || !last.starts_with('\n') { "" } else { "," };
    let members: Vec<String> = members.into_iter().map(|(gap, member)| format!("{gap}{member}")).collect();
    format!("{open}{first}{}{last}{trailing}{close}", members.join(","))
}

fn list(element: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let members = prop::collection::vec((gap(), element), 0..3);
    (members, (gap(), gap())).prop_map(|(members, gaps)| joined(members, gaps, "[", "]")).boxed()
}

fn object(keys: &'static [&'static str], value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let members = prop::collection::vec((gap(), gap(), value), keys.len());
    let chosen = prop::sample::subsequence(keys, 0..=keys.len()).prop_shuffle();
    let texts = (chosen, members, (gap(), gap())).prop_map(|(keys, members, gaps)| {
        let members = keys.into_iter().zip(members);
        let members =
            members.map(|(key, (before, after, value))| (before, format!("\"{key}\":{after}{value}")));
        joined(members.collect(), gaps, "{", "}")
    });
    texts.boxed()
}

fn value() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("1.50".to_owned()),
        Just("12345678901234567890123".to_owned()),
        Just("1e999".to_owned()),
        Just("\"\\u00fc // not a comment\"".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![list(inner.clone()), object(&["a", "hooks", "x\\\"y"], inner)]
    })
    .boxed()
}

/// Its parts are boxed: the stack of a test's thread does not hold all of them in a debug build.
fn settings_file() -> BoxedStrategy<String> {
    let hook = gap().prop_map(|gap| format!("{{{gap}\"type\": \"command\", \"command\": \"other Stop\"}}"));
    let group = list(hook.boxed()).prop_map(|hooks| format!("{{\"matcher\": \"Bash\", \"hooks\": {hooks}}}"));
    let hooks = object(&["SubagentStop", "Stop", "PreCompact"], list(group.boxed()));
    let with_hooks = (object(&["model", "env"], value()), hooks).prop_map(|(rest, hooks)| {
        let comma = if rest.contains(':') { "," } else { "" };
        rest.replacen('{', &format!("{{\n  \"hooks\": {hooks}{comma}"), 1)
    });
    let file = prop_oneof![with_hooks, object(&["model", "env", "permissions"], value())];
    let bom = prop_oneof![9 => Just(""), 1 => Just("\u{feff}")];
    (bom, gap(), file, gap())
        .prop_map(|(bom, before, file, after)| format!("{bom}{before}{file}{after}"))
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(test_support::cases(60, 2_000)))]

    #[test]
    fn uninstalling_gives_back_every_byte_and_installing_twice_changes_nothing(file in settings_file()) {
        let (small, large) = (needed("des: {enabled: false}"), needed("subagentStop: {commands: {a: [{run: x}]}}"));
        let once = installed(&file, &[], &small).unwrap();
        let backup = copy(&file);
        prop_assert_eq!(installed(&once, &backup, &small).unwrap(), once.clone(), "installing twice");
        let grown = installed(&once, &backup, &large).unwrap();
        prop_assert_eq!(settings::read(&grown).unwrap().registered.len(), large.len());
        for text in [once, grown] {
            prop_assert_eq!(uninstalled(&text, &backup).unwrap(), (Some(file.clone()), true));
        }
    }

    #[test]
    fn without_the_copy_only_our_own_entries_are_removed(file in settings_file()) {
        let made = settings::install(&file, &needed("")).unwrap();
        let gone = settings::uninstall(&made).unwrap();
        let hooks = |text: &str| settings::read(text).unwrap().registered.len();
        prop_assert_eq!((hooks(&made), hooks(&gone)), (8, 0));
        // White space and what became empty may differ; comments and all other tokens stay, in their order.
        let compact = |text: &str| text.replace(char::is_whitespace, "");
        let (before, after) = (compact(&file), compact(&gone));
        let mut rest = before.chars();
        prop_assert!(after.chars().all(|c| rest.any(|own| own == c)), "{} is not what was in {}", gone, file);
        prop_assert_eq!(gone.matches("other Stop").count(), file.matches("other Stop").count());
        prop_assert_eq!(gone.matches("omment").count(), file.matches("omment").count());
        prop_assert_eq!(gone.matches("\"one\"").count(), file.matches("\"one\"").count());
    }
}

#[test]
fn a_file_that_others_changed_is_not_taken_for_the_original() {
    let made = installed("{\"a\": 1}", &[], &needed("")).unwrap();
    let edited = made.replace("\"a\": 1", "\"a\": 2");
    let (after, is_exact) = uninstalled(&edited, &copy("{\"a\": 1}")).unwrap();
    assert_eq!((after.as_deref(), is_exact), (Some("{\"a\": 2}"), false));
}

#[test]
fn where_there_was_no_file_there_is_none_again() {
    let made = installed("", &[], &needed("")).unwrap();
    assert_eq!(uninstalled(&made, &[]).unwrap(), (None, true));
}

#[test]
fn imported_hooks_are_restored_byte_by_byte() {
    let file = "{ \"hooks\": {\"Stop\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"make\"}]} ]},\n\t\"a\": 1}";
    let taken = settings::user_hooks(file);
    let start = settings::without(file, &taken).unwrap();
    let made = installed(&start, &[], &needed("")).unwrap();
    assert!(!made.contains("make"), "{made}");
    assert_eq!(uninstalled(&made, &copy(file)).unwrap(), (Some(file.into()), true));
    // Installing again does not bring them back.
    assert_eq!(installed(&made, &copy(file), &needed("")).unwrap(), made);
    // Where they were imported after conclaude was registered, a later copy has them.
    let later = settings::install(file, &needed("")).unwrap();
    let copies = [vec![Backup::of_text(BackupKind::Previous, &later)], copy(&start)].concat();
    let (after, is_exact) = uninstalled(&made, &copies).unwrap();
    assert!(is_exact && after.unwrap().contains("make"));
}

proptest! {
    // Each case is one of every client and every file that it has.
    #![proptest_config(ProptestConfig::with_cases(test_support::cases(10, 100)))]

    #[test]
    fn the_file_of_every_client_is_given_back_byte_by_byte(file in settings_file(), has_file in any::<bool>()) {
        let config = |yaml| ConclaudeConfig::parse(yaml, Path::new("x")).unwrap();
        let (small, large) = (config("des: {enabled: false}"), config("preToolUse: {uneditableFiles: [x]}"));
        let (file, before) = if has_file { (file.clone(), Some(file)) } else { (String::new(), None) };
        let copies = before.as_deref().map(copy).unwrap_or_default();
        for client in dialect::ALL {
            for scope in Scope::ALL {
                let target = SettingsTarget { client, scope };
                let of = |config| registration::needed(config, "conclaude", target);
                let once = super::installed(target, &file, &[], &of(&small)).unwrap();
                prop_assert_eq!(&super::installed(target, &once, &copies, &of(&small)).unwrap(), &once);
                let grown = super::installed(target, &once, &copies, &of(&large)).unwrap();
                let found = settings::read_of(client, &grown).unwrap().registered;
                prop_assert_eq!(found.len(), of(&large).len(), "{}", grown);
                for text in [once, grown] {
                    let gone = super::uninstalled(target, &text, &copies).unwrap();
                    prop_assert_eq!(gone, (before.clone(), true), "{} {:?}", client.name, scope);
                }
            }
        }
    }
}
