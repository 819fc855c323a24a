//! Exceptions of rules.

use super::*;

#[test]
fn an_exception_for_reading_is_one_path_for_each_file() {
    let compiled = compiled("preToolUse: {unreadableFiles: ['.env*', '!.env.example']}");
    assert_eq!(
        written(&compiled),
        ["denyRead **/.env*", "allowRead ./.env.example", "allowRead ./sub/.env.example"]
    );
    let classes = classes(&compiled);
    assert_eq!(
        (classes[0].1, classes[0].2.as_str()),
        (
            OS,
            "denyRead **/.env*, for files of the project; no permission rule, since `!.env.example` is an exception to it"
        )
    );
    assert_eq!((classes[1].1, classes[1].2.as_str()), (NOW, "allowRead: .env.example, sub/.env.example"));
}

#[test]
fn no_exception_frees_what_the_user_denies_in_the_settings() {
    let yaml = "preToolUse: {unreadableFiles: ['.env*', '!.env.example']}";
    for (denied, allowed) in [
        ("./.env.example", vec!["allowRead ./sub/.env.example"]),
        ("/p/sub", vec!["allowRead ./.env.example"]),
        ("**/.env.e*", vec![]),
        ("[", vec![]),
    ] {
        let denied = vec![denied.to_owned()];
        let compiled = compiled_with(yaml, |given| given.denied_by_user = denied);
        let found: Vec<String> =
            written(&compiled).into_iter().filter(|entry| entry.starts_with("allowRead")).collect();
        assert_eq!(found, allowed, "{allowed:?}");
    }
}

#[test]
fn an_exception_for_writing_is_left_out_of_the_list() {
    let compiled = compiled("preToolUse: {uneditableFiles: [dist/, '!dist/keep.txt']}");
    assert_eq!(written(&compiled), ["denyWrite ./dist/a.js"]);
    assert_eq!(classes(&compiled)[0].1, NOW);
    let location = |path: &str| Location {
        absolute: format!("/p/{path}"),
        relative: Some(path.into()),
        ..Location::default()
    };
    assert!(compiled.covering(&location("dist/b.js"), true).is_some());
    assert!(compiled.covering(&location("dist/b.js"), false).is_none());
    assert!(compiled.covering(&location("dist/keep.txt"), true).is_none());
    let rule = compiled.covering(&location("dist/b.js"), true).unwrap().rule.clone();
    assert!(compiled.is_compiled(&rule));
}

#[test]
fn an_exception_of_something_else_is_not_said_to_free_anything() {
    for (key, rules) in [
        ("uneditableFiles", "'*.lock', '!docs/a.txt'"),
        ("unreadableFiles", "'.env*', '!docs/a.txt'"),
        ("unreadableFiles", "'!.env.example', '.env*'"),
        ("unreadableFiles", "{pattern: '*.key', agent: coder}, '!a.key'"),
    ] {
        let compiled = compiled(&format!("preToolUse: {{{key}: [{rules}]}}"));
        let classes = classes(&compiled);
        let (_, class, why) = classes.iter().find(|(pattern, ..)| pattern.starts_with('!')).unwrap();
        assert_eq!((*class, why.as_str()), (HOOK, "it makes no exception to a compiled rule"), "{rules}");
    }
}

#[test]
fn exceptions_outside_of_the_project_are_compiled() {
    for (exception, expected, class) in [
        ("!~/.ssh/known_hosts", "allowRead /home/me/.ssh/known_hosts", NOW),
        ("!//home/me/.ssh/known_hosts", "allowRead /home/me/.ssh/known_hosts", NOW),
        ("!~/.ssh/*.pub", "allowRead /home/me/.ssh/a.pub", NOW),
        ("!~/.ssh/absent", "", HOOK),
        ("!~/.ssh/linked", "", HOOK),
    ] {
        let compiled = compiled(&format!("preToolUse: {{unreadableFiles: ['~/.ssh/', '{exception}']}}"));
        let allowed: Vec<String> =
            written(&compiled).into_iter().filter(|entry| entry.starts_with("allowRead")).collect();
        let (_, found, why) = classes(&compiled).pop().unwrap();
        assert_eq!((allowed.join(" ").as_str(), found), (expected, class), "{exception}: {why}");
    }
    let writing = compiled("preToolUse: {uneditableFiles: ['~/.ssh/', '!~/.ssh/known_hosts']}");
    let (_, class, why) = classes(&writing).pop().unwrap();
    assert_eq!(
        (class, why.as_str()),
        (HOOK, "its exceptions are outside the project, and stay denied to commands")
    );
}

#[test]
fn a_link_that_is_named_like_an_exception_is_not_freed() {
    let link = TreeEntry { path: ".env.linked".into(), is_directory: false, is_link: true };
    let compiled = compiled_with("preToolUse: {unreadableFiles: ['.env*', '!.env.linked']}", |given| {
        given.existing.push(link);
    });
    assert_eq!(written(&compiled), ["denyRead **/.env*"]);
    let (_, class, why) = classes(&compiled).pop().unwrap();
    assert_eq!(
        (class, why.as_str()),
        (NOW, "allowRead: no file is listed; 1 stays denied, since it is a link or not a regular file")
    );
}
