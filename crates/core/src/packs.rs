//! Ready-made configs that are part of the program: `extends: ["pack:name"]`.

use crate::config::{PACK, RuleAction};
use crate::text::nearest;
use crate::yaml::{Node, Span, Spanned};

mod trees;

/// A pack: an ordinary config file. Its first line describes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Pack {
    pub name: &'static str,
    pub text: &'static str,
    tree: &'static PackValue,
}

pub const ALL: [Pack; 7] = [
    Pack { name: "secrets", text: include_str!("packs/secrets.yaml"), tree: &trees::SECRETS },
    Pack { name: "git-safety", text: include_str!("packs/git-safety.yaml"), tree: &trees::GIT_SAFETY },
    Pack {
        name: "destructive-commands",
        text: include_str!("packs/destructive-commands.yaml"),
        tree: &trees::DESTRUCTIVE_COMMANDS,
    },
    Pack { name: "lockfiles", text: include_str!("packs/lockfiles.yaml"), tree: &trees::LOCKFILES },
    Pack { name: "cloud", text: include_str!("packs/cloud.yaml"), tree: &trees::CLOUD },
    Pack { name: "containers", text: include_str!("packs/containers.yaml"), tree: &trees::CONTAINERS },
    Pack { name: "databases", text: include_str!("packs/databases.yaml"), tree: &trees::DATABASES },
];

impl Pack {
    /// Its values, as if its text had been read, without the names of its rules.
    pub fn tree(&self) -> Spanned<Node> {
        self.tree.tree()
    }

    /// Its rules that a config can switch by their names. An exception has no name.
    pub fn rules(&self) -> impl Iterator<Item = PackRule> {
        self.rule_values().filter_map(|(list, rule)| PackRule::of(list, rule))
    }

    /// The values of all rules, with the keys of their lists.
    fn rule_values(&self) -> impl Iterator<Item = (&'static str, &'static PackValue)> {
        let guards = self.tree.value_of("preToolUse").map_or(&[][..], PackValue::entries);
        guards.iter().flat_map(|(_, list, rules)| rules.items().iter().map(|rule| (*list, rule)))
    }

    pub fn rule(&self, name: &str) -> Option<PackRule> {
        self.rules().find(|rule| rule.name == name)
    }

    pub fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackRule {
    pub name: &'static str,
    /// The key of its list, such as `uneditableFiles`.
    pub list: &'static str,
    /// Its action unless a config changes it.
    pub action: RuleAction,
    pub message: &'static str,
    /// In the text of its pack, counted from 1.
    pub line: usize,
}

impl PackRule {
    fn of(list: &'static str, rule: &'static PackValue) -> Option<PackRule> {
        let PackValue::Map((_, _, line), _) = rule else { return None };
        let text = |key: &str| match rule.value_of(key) {
            Some(PackValue::Text(_, text)) => Some(*text),
            _ => None,
        };
        Some(PackRule {
            name: text("name")?,
            list,
            action: text("action").and_then(RuleAction::named).unwrap_or(RuleAction::Block),
            message: text("message").unwrap_or_default(),
            line: *line,
        })
    }

    /// The name of the rule in this line of a pack. `None` for other files.
    pub fn name_at(file: &str, line: usize) -> Option<&'static str> {
        let name = file.strip_prefix(PACK)?;
        let pack = ALL.iter().find(|pack| pack.name == name)?;
        // Explanations look up each rule that they compare.
        let is_there = |rule: &&PackValue| matches!(rule, PackValue::Map((_, _, at), _) if *at == line);
        match pack.rule_values().map(|(_, rule)| rule).find(is_there)?.value_of("name") {
            Some(PackValue::Text(_, name)) => Some(name),
            _ => None,
        }
    }
}

/// The position of a value in its pack: its first byte, its end, and its line.
type TextRange = (usize, usize, usize);

/// A value of a pack. It was read when the program was built: reading the YAML of all packs took longer than the rest of an
/// event.
#[derive(Debug, PartialEq, Eq)]
enum PackValue {
    Flag(TextRange, bool),
    Text(TextRange, &'static str),
    List(TextRange, &'static [PackValue]),
    Map(TextRange, &'static [(TextRange, &'static str, PackValue)]),
}

impl PackValue {
    fn entries(&self) -> &[(TextRange, &'static str, PackValue)] {
        if let PackValue::Map(_, entries) = self { entries } else { &[] }
    }

    fn items(&self) -> &[PackValue] {
        if let PackValue::List(_, items) = self { items } else { &[] }
    }

    fn value_of(&self, key: &str) -> Option<&PackValue> {
        self.entries().iter().find(|(_, own, _)| *own == key).map(|(_, _, value)| value)
    }

    fn tree(&self) -> Spanned<Node> {
        let (at, value) = match self {
            PackValue::Flag(at, flag) => (at, Node::Bool(*flag)),
            PackValue::Text(at, text) => (at, Node::Text((*text).into())),
            PackValue::List(at, items) => (at, Node::List(items.iter().map(PackValue::tree).collect())),
            PackValue::Map(at, entries) => {
                let entry = |(at, key, value): &(TextRange, &'static str, PackValue)| {
                    (Spanned { value: (*key).into(), span: span(*at) }, value.tree())
                };
                // Every event pays for the size of the tree. The few that need a name look it up by its line.
                let mut values = Vec::with_capacity(entries.len());
                values.extend(entries.iter().filter(|(_, key, _)| *key != "name").map(entry));
                (at, Node::Map(values))
            }
        };
        Spanned { value, span: span(*at) }
    }
}

fn span((start, end, line): TextRange) -> Span {
    Span { start, end, line, source: 0 }
}

/// A name that no pack has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownPack {
    #[error("did you mean `{pack}{0}`?", pack = PACK)]
    Similar(&'static str),
    #[error("the packs are {}", ALL.map(|pack| pack.name).join(", "))]
    Unlike,
}

/// The pack of this name, with `pack:` or without.
///
/// # Errors
/// Names the pack that was probably meant, or all packs.
pub fn find(name: &str) -> Result<&'static Pack, UnknownPack> {
    let name = name.trim();
    let name = name.strip_prefix(PACK).unwrap_or(name);
    if let Some(pack) = ALL.iter().find(|pack| pack.name == name) {
        return Ok(pack);
    }
    match nearest(name, ALL.iter().map(|pack| pack.name)) {
        Some(near) => Err(UnknownPack::Similar(near)),
        None => Err(UnknownPack::Unlike),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Span;

    #[test]
    fn a_pack_is_found_by_name_and_a_typo_gets_a_suggestion() {
        assert_eq!(find("secrets").unwrap().name, "secrets");
        assert_eq!(find(" pack:lockfiles").unwrap().name, "lockfiles");
        assert_eq!(find("secret").unwrap_err().to_string(), "did you mean `pack:secrets`?");
        assert_eq!(
            find("zzz").unwrap_err().to_string(),
            "the packs are secrets, git-safety, destructive-commands, lockfiles, cloud, containers, databases"
        );
    }

    #[test]
    fn every_pack_is_a_valid_config_that_says_what_it_is_for() {
        for pack in &ALL {
            let parsed = crate::config::ConclaudeConfig::parse(pack.text, std::path::Path::new(pack.name));
            assert!(parsed.is_ok(), "{}: {}", pack.name, parsed.unwrap_err());
            assert!(pack.purpose().ends_with('.'), "{}", pack.purpose());
        }
    }

    #[test]
    fn every_rule_has_a_name_that_no_other_rule_of_its_pack_has() {
        for pack in &ALL {
            let config =
                crate::config::ConclaudeConfig::parse(pack.text, std::path::Path::new(pack.name)).unwrap();
            let files = [&config.guards.uneditable_files, &config.guards.unreadable_files];
            let files =
                files.into_iter().flatten().flatten().filter(|rule| !rule.value.0.pattern.allows()).count();
            let tools = config.guards.tool_usage_validation.iter().flatten().count();
            let mut names: Vec<&str> = pack.rules().map(|rule| rule.name).collect();
            assert_eq!(names.len(), files + tools, "a rule of {} has no name", pack.name);
            for name in &names {
                let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(name.chars().all(is_kebab), "{name}");
            }
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "a name is twice in {}", pack.name);
            assert!(
                pack.rules().all(|rule| rule.action == RuleAction::Allow || !rule.message.is_empty()),
                "{}",
                pack.name
            );
        }
    }

    #[test]
    fn a_rule_is_found_by_its_name_and_by_its_line() {
        let rule = find("git-safety").unwrap().rule("force-push").unwrap();
        assert_eq!((rule.list, rule.action), ("toolUsageValidation", RuleAction::Block));
        assert_eq!(PackRule::name_at("pack:git-safety", rule.line), Some("force-push"));
        assert_eq!(PackRule::name_at("git-safety", rule.line), None);
        assert_eq!(PackRule::name_at("pack:git-safety", 1), None);
    }

    #[test]
    fn the_values_of_a_pack_are_those_of_its_text() {
        let mut code = String::from(
            "//! Made from the packs: `UPDATE_PACKS=1 cargo test -p conclaude-core packs`.\n\nuse super::PackValue::{self, Flag, List, Map, Text};\n",
        );
        for pack in &ALL {
            let name = pack.name.to_uppercase().replace('-', "_");
            let tree = crate::yaml::read(pack.text).unwrap();
            code += &format!(
                "\n#[rustfmt::skip]\npub(super) static {name}: PackValue = {};\n",
                written(&tree, 0)
            );
        }
        if std::env::var_os("UPDATE_PACKS").is_some() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs/trees.rs");
            return std::fs::write(path, code).unwrap();
        }
        let help = "a pack has changed: UPDATE_PACKS=1 cargo test -p conclaude-core packs, and build again";
        assert_eq!(code, include_str!("packs/trees.rs"), "{help}");
        for pack in &ALL {
            let mut read = crate::yaml::read(pack.text).unwrap();
            remove_names(&mut read);
            assert!(pack.tree() == read, "{}", pack.name);
        }
    }

    fn remove_names(tree: &mut Spanned<Node>) {
        match &mut tree.value {
            Node::Map(entries) => {
                entries.retain(|(key, _)| key.value != "name");
                entries.iter_mut().for_each(|(_, value)| remove_names(value));
            }
            Node::List(items) => items.iter_mut().for_each(remove_names),
            _ => {}
        }
    }

    /// A value as Rust, one line for each entry of a list.
    fn written(tree: &Spanned<Node>, depth: usize) -> String {
        let at = |span: Span| format!("({}, {}, {})", span.start, span.end, span.line);
        let own = at(tree.span);
        let line = if depth < 3 { format!("\n{}", "    ".repeat(depth + 1)) } else { String::new() };
        match &tree.value {
            Node::Bool(flag) => format!("Flag({own}, {flag})"),
            Node::Text(text) => format!("Text({own}, {text:?})"),
            Node::List(items) => {
                let items = items.iter().map(|item| format!("{line}{},", written(item, depth + 1)));
                format!("List({own}, &[{}])", items.collect::<String>())
            }
            Node::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    format!("{line}({}, {:?}, {}),", at(key.span), key.value, written(value, depth + 1))
                });
                format!("Map({own}, &[{}])", entries.collect::<String>())
            }
            other => panic!("packs have no {other:?}"),
        }
    }
}
