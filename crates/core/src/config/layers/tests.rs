use std::path::PathBuf;

use super::*;
use crate::yaml::Span;

fn part(layer: Layer, name: &str, text: &str) -> Part {
    let path = PathBuf::from(name);
    let source = Source { layer, path, text: text.to_owned().into(), untrusted: None };
    let PartResult { part, error, .. } = Part::read(source, Patterns::All);
    assert_eq!(error, None);
    part.unwrap()
}

fn layered(files: &[(Layer, &str, &str)]) -> (ConclaudeConfig, Origins) {
    let parts = files.iter().map(|(layer, name, text)| part(*layer, name, text)).collect();
    let MergedConfig { config, origins, errors } = merge(parts, Patterns::All);
    assert!(errors.is_empty(), "{errors:?}");
    (config, origins)
}

#[test]
fn maps_merge_lists_append_and_scalars_override() {
    let (config, origins) = layered(&[
        (
            Layer::User,
            "user",
            "maxBlocks: 5\ndes: {scope: warn, requiredSections: [A]}\nsubagentStop:\n  commands:\n    \"*\": [{run: a}]\n    coder: [{run: b}]\n",
        ),
        (
            Layer::Project,
            "project",
            "maxBlocks: 2\ndes: {requiredSections: [B], enabled: null}\nsubagentStop:\n  match: first\n  commands:\n    coder:\n      - run: c\n    tester: [{run: d}]\n",
        ),
    ]);
    assert_eq!(config.max_blocks(), 2);
    let des = config.des.as_ref().unwrap();
    assert_eq!(des.required_sections(), ["A", "B"]);
    assert_eq!(des.scope(), crate::config::ScopeMode::Warn);
    let section = &config.sections[0].1;
    let runs: Vec<(&str, Vec<&str>)> = section
        .entries()
        .iter()
        .map(|(pattern, commands)| {
            (pattern.as_str(), commands.iter().map(|command| command.run.as_str()).collect())
        })
        .collect();
    assert_eq!(runs, [("*", vec!["a"]), ("coder", vec!["b", "c"]), ("tester", vec!["d"])]);
    let of = |keys: &[&str]| origins.of(keys).map(|origin| format!("{} {origin}", origin.layer.name()));
    assert_eq!(of(&["maxBlocks"]).unwrap(), "project project:1");
    assert_eq!(of(&["des", "scope"]).unwrap(), "user user:2");
    assert_eq!(of(&["des", "requiredSections", "1"]).unwrap(), "project project:2");
    assert_eq!(of(&["subagentStop", "commands", "coder", "0"]).unwrap(), "user user:6");
    assert_eq!(of(&["subagentStop", "commands", "coder", "1"]).unwrap(), "project project:7");
    assert_eq!(of(&["subagentStop", "commands", "coder", "2"]), None);
}

#[test]
fn a_plain_list_of_commands_is_that_of_the_wildcard() {
    let (config, origins) = layered(&[
        (Layer::User, "user", "stop: {commands: [{run: a}]}\n"),
        (Layer::Project, "project", "stop: {commands: {\"*\": [{run: b}]}}\n"),
        (Layer::Local, "local", "stop: {commands: [{run: c}]}\n"),
    ]);
    let runs: Vec<&str> = config.sections[0].1.commands().map(|command| command.run.as_str()).collect();
    assert_eq!(runs, ["a", "b", "c"]);
    let of = |keys: &[&str]| origins.of(keys).unwrap().to_string();
    assert_eq!(of(&["stop", "commands", "*", "0"]), "user:1");
    assert_eq!(of(&["stop", "commands", "*", "2"]), "local:1");
    let (_, alone) = layered(&[(Layer::Project, "project", "stop:\n  commands:\n    - run: a\n")]);
    assert_eq!(alone.of(&["stop", "commands", "*", "0"]).unwrap().to_string(), "project:3");
}

#[test]
fn phases_are_one_value() {
    let (config, _) = layered(&[
        (Layer::User, "user", "des: {phases: [A, B]}\n"),
        (Layer::Project, "project", "des: {phases: [B, C]}\n"),
        (Layer::Local, "local", "des: null\n"),
    ]);
    assert_eq!(config.des.unwrap().phase_names(), ["B", "C"]);
}

#[test]
fn a_file_that_is_too_much_with_the_others_is_left_out() {
    let sections = |from: usize| {
        let names: Vec<String> = (from..from + 60).map(|at| format!("S{at}")).collect();
        format!("des: {{requiredSections: [{}]}}\n", names.join(", "))
    };
    let parts = vec![part(Layer::User, "user", &sections(0)), part(Layer::Project, "project", &sections(60))];
    let MergedConfig { config, errors, .. } = merge(parts, Patterns::All);
    assert_eq!(config.des.unwrap().required_sections().len(), 60, "those of the user stay");
    assert_eq!(
        errors[0].to_string(),
        "cannot read the config project: together with the files before it, it has more entries than a section may have"
    );
}

#[test]
fn a_value_is_as_trusted_as_all_files_that_it_came_from() {
    let (_, mut origins) = layered(&[
        (
            Layer::User,
            "user",
            "des: {judge: {prompt: p, model: m}}\nsubagentStop: {commands: {a: [{run: x}]}}\n",
        ),
        (Layer::Project, "project", "des: {judge: {prompt: q}}\nsubagentStop: {commands: {a: [{run: y}]}}\n"),
    ]);
    assert_eq!(origins.untrusted(&["des", "judge"]), None);
    origins.check_trust(|source| match source.layer {
        Layer::Project => Some("not trusted".to_owned()),
        _ => None,
    });
    assert_eq!(origins.untrusted(&["des", "judge"]), Some("not trusted"));
    assert_eq!(origins.untrusted(&["subagentStop", "commands", "a", "0"]), None);
    assert_eq!(origins.untrusted(&["subagentStop", "commands", "a", "1"]), Some("not trusted"));
}

#[test]
fn an_inner_layer_switches_a_guard_off_only_where_the_outer_one_lets_it() {
    let is_on = |files: &[(Layer, &str, &str)]| {
        let (config, _) = layered(files);
        config.guards.prevent_root_additions.as_ref().unwrap().value.0.enabled
    };
    let on = "preToolUse: {preventRootAdditions: true}\n";
    let off = "preToolUse: {preventRootAdditions: false}\n";
    let free = "preToolUse: {preventRootAdditions: {enabled: true, overridable: true}}\n";
    let freed = "preToolUse: {preventRootAdditions: {enabled: true, overridable: true}}\n";
    assert!(is_on(&[(Layer::User, "user", on), (Layer::Project, "project", off)]));
    assert!(is_on(&[(Layer::User, "u", on), (Layer::Project, "p", freed), (Layer::Local, "l", off)]));
    assert!(!is_on(&[(Layer::User, "user", free), (Layer::Project, "project", off)]));
    assert!(!is_on(&[(Layer::Project, "base", on), (Layer::Project, "project", off)]), "one layer");
    assert!(is_on(&[(Layer::User, "user", off), (Layer::Project, "project", on)]));
}

#[test]
fn what_a_layer_says_alone_is_known_without_reading_it_again() {
    let user = (Layer::User, "user", "maxBlocks: 5\nstop: {commands: [{run: a}]}\n");
    let pack = (Layer::User, "more", "subagentStart: {commands: [{run: b}]}\n");
    let project = (Layer::Project, "project", "maxBlocks: 2\nstop: {commands: [{run: c}]}\n");
    let (all, origins) = layered(&[user, pack, project]);
    assert_eq!(origins.of_layer(Layer::User), layered(&[user, pack]).0);
    assert_eq!(origins.of_layer(Layer::Project), layered(&[project]).0);
    assert_eq!(origins.of_layer(Layer::Local), ConclaudeConfig::default());
    assert_eq!((all.max_blocks(), origins.of_layer(Layer::User).max_blocks()), (2, 5));
}

#[test]
fn an_inner_layer_does_not_stop_records_that_an_outer_one_wants_or_requires() {
    let is_on = |files: &[(Layer, &str, &str)]| {
        let audit = layered(files).0.audit.unwrap();
        (audit.enabled.unwrap_or(true), audit.required.unwrap_or(false))
    };
    let required = (Layer::User, "user", "audit: {required: true}\n");
    for off in ["audit: {enabled: false}\n", "audit: {enabled: false, required: false}\n"] {
        assert_eq!(is_on(&[required, (Layer::Project, "project", off)]), (true, true), "{off}");
        let wanted = (Layer::User, "user", "audit: {enabled: true}\n");
        assert!(is_on(&[wanted, (Layer::Project, "project", off)]).0, "{off}");
        assert!(!is_on(&[(Layer::Project, "project", off)]).0, "{off}");
    }
}

const OWN: (Layer, &str, &str) = (
    Layer::User,
    "user",
    "telemetry: {endpoint: 'https://own.example', headers: {authorization: 'Bearer ${TOKEN}'}}\n",
);

/// The endpoint, and the names of its headers.
fn target(origins: &Origins) -> (String, Vec<String>) {
    let telemetry = origins.telemetry().unwrap();
    let headers =
        telemetry.headers.iter().flat_map(|headers| headers.iter()).map(|(name, _)| name.to_owned());
    (telemetry.endpoint.unwrap().as_str().to_owned(), headers.collect())
}

#[test]
fn headers_stay_with_the_layer_that_names_the_endpoint() {
    let other =
        (Layer::Project, "project", "telemetry: {endpoint: 'https://other.example', headers: {x-a: b}}\n");
    let (_, origins) = layered(&[OWN, other]);
    assert_eq!(target(&origins), ("https://other.example".to_owned(), vec!["x-a".to_owned()]));
    let more = (Layer::Project, "project", "telemetry: {signals: [logs], headers: {x-a: b}}\n");
    let (_, origins) = layered(&[OWN, more]);
    assert_eq!(target(&origins), ("https://own.example".to_owned(), vec!["authorization".to_owned()]));
    let extended = (Layer::User, "base", "telemetry: {headers: {x-a: b}}\n");
    let (_, origins) = layered(&[extended, OWN]);
    assert_eq!(target(&origins).1, ["x-a", "authorization"], "one layer");
}

#[test]
fn an_untrusted_endpoint_does_not_displace_the_users() {
    let other = (Layer::Project, "project", "telemetry: {endpoint: 'https://other.example', output: true}\n");
    let (_, mut origins) = layered(&[OWN, other]);
    origins.check_trust(|source| match source.layer {
        Layer::Project => Some("not trusted".to_owned()),
        _ => None,
    });
    assert_eq!(target(&origins), ("https://own.example".to_owned(), vec!["authorization".to_owned()]));
    assert!(!origins.telemetry().unwrap().exports_output());
    assert_eq!(origins.untrusted_rules(), [("telemetry", "not trusted")]);
}

#[test]
fn a_value_inside_a_rule_has_the_file_of_the_rule() {
    let pack = crate::packs::find("lockfiles").unwrap();
    let source = Source {
        layer: Layer::Project,
        path: PathBuf::from("pack:lockfiles"),
        text: pack.text.into(),
        untrusted: None,
    };
    let of_pack = Part { source, tree: pack.tree().clone(), config: None };
    let project = part(
        Layer::Project,
        "project",
        "preToolUse: {uneditableFiles: [x, {pattern: y, message: m}]}\nstop: {commands: [{run: a}]}\n",
    );
    let user = part(Layer::User, "user", "maxBlocks: 5\n");
    let MergedConfig { mut origins, errors, .. } = merge(vec![user, of_pack, project], Patterns::All);
    assert!(errors.is_empty(), "{errors:?}");
    let rules = |origins: &Origins, key: &str| {
        let mut found = Vec::new();
        for index in 0..100 {
            let index = index.to_string();
            found
                .extend(origins.of(&["preToolUse", "uneditableFiles", &index, key]).map(|at| at.to_string()));
        }
        found
    };
    let messages = rules(&origins, "message");
    let (own, of_pack): (Vec<_>, Vec<_>) = messages.iter().partition(|at| at.starts_with("project:"));
    assert_eq!(own, ["project:1"]);
    assert!(!of_pack.is_empty() && of_pack.iter().all(|at| at.starts_with("pack:lockfiles:")), "{of_pack:?}");
    let copy = origins.tree().with_sources();
    let list = copy.value_of("preToolUse").and_then(|guards| guards.value_of("uneditableFiles")).unwrap();
    for rule in list.items() {
        let is_of_rule = |span: Span| span.source == rule.span.source;
        assert!(rule.entries().iter().all(|(key, value)| is_of_rule(key.span) && is_of_rule(value.span)));
    }
    assert!(list.items().iter().any(|rule| rule.span.source == 1));
    origins.check_trust(|source| {
        if source.path.as_os_str() == "project" { Some("not trusted".to_owned()) } else { None }
    });
    assert_eq!(origins.untrusted(&["stop", "commands", "*", "0", "run"]), Some("not trusted"));
    let trusted = |index: &str| origins.untrusted(&["preToolUse", "uneditableFiles", index, "message"]);
    assert_eq!(trusted("0"), None, "a rule of the pack");
}
