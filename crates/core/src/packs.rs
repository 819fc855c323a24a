//! Ready-made configs that are part of the program: `extends: ["pack:name"]`.

use std::borrow::Cow;

use crate::config::{PACK, RuleAction};
use crate::text::nearest;
use crate::yaml::{Node, Spanned, Text};

#[rustfmt::skip]
mod trees;

/// A pack: an ordinary config file. Its first line describes it.
#[derive(Debug, PartialEq)]
pub struct Pack {
    pub name: &'static str,
    pub text: &'static str,
    content: &'static PackContent,
}

/// The content of a pack, parsed when the program was built: parsing the YAML of all packs took longer than the rest of an event.
#[derive(Debug, PartialEq)]
struct PackContent {
    /// Its values without the names of its rules. Every event pays for the size of the tree, and names are rarely needed.
    tree: Spanned<Node>,
    /// The line and the name of each rule that has a name, in the order of the file.
    names: &'static [(usize, &'static str)],
}

pub const ALL: [Pack; 7] = [
    Pack { name: "secrets", text: texts::SECRETS, content: &trees::SECRETS },
    Pack { name: "git-safety", text: texts::GIT_SAFETY, content: &trees::GIT_SAFETY },
    Pack {
        name: "destructive-commands",
        text: texts::DESTRUCTIVE_COMMANDS,
        content: &trees::DESTRUCTIVE_COMMANDS,
    },
    Pack { name: "lockfiles", text: texts::LOCKFILES, content: &trees::LOCKFILES },
    Pack { name: "cloud", text: texts::CLOUD, content: &trees::CLOUD },
    Pack { name: "containers", text: texts::CONTAINERS, content: &trees::CONTAINERS },
    Pack { name: "databases", text: texts::DATABASES, content: &trees::DATABASES },
];

/// The files of the packs. The values of their trees are parts of these texts.
mod texts {
    pub(super) const SECRETS: &str = include_str!("packs/secrets.yaml");
    pub(super) const GIT_SAFETY: &str = include_str!("packs/git-safety.yaml");
    pub(super) const DESTRUCTIVE_COMMANDS: &str = include_str!("packs/destructive-commands.yaml");
    pub(super) const LOCKFILES: &str = include_str!("packs/lockfiles.yaml");
    pub(super) const CLOUD: &str = include_str!("packs/cloud.yaml");
    pub(super) const CONTAINERS: &str = include_str!("packs/containers.yaml");
    pub(super) const DATABASES: &str = include_str!("packs/databases.yaml");
}

/// The part of a text between two positions. It is empty if the text is shorter: after a change of a pack, the trees are made by a
/// program that still has the old ones.
const fn part(text: &'static str, start: usize, end: usize) -> &'static str {
    let Some((before_end, _)) = text.split_at_checked(end) else { return "" };
    let Some((_, part)) = before_end.split_at_checked(start) else { return "" };
    part
}

impl Pack {
    /// Its values without the names of its rules, as if its text had been parsed.
    pub fn tree(&self) -> &'static Spanned<Node> {
        &self.content.tree
    }

    /// Its rules that a config can switch by their names. An exception has no name.
    pub fn rules(&self) -> impl Iterator<Item = PackRule> {
        let guards = self.tree().value_of("preToolUse").map_or(&[][..], Spanned::entries);
        let rules =
            guards.iter().flat_map(|(list, rules)| rules.items().iter().map(|rule| (&list.value, rule)));
        rules.filter_map(|(list, rule)| PackRule::of(self, list, rule))
    }

    /// The name of the rule in this line.
    fn name_at(&self, line: usize) -> Option<&'static str> {
        let at = self.content.names.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        self.content.names.get(at).map(|(_, name)| *name)
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
    fn of(pack: &Pack, list: &'static Text, rule: &'static Spanned<Node>) -> Option<PackRule> {
        let text = |key: &str| match &rule.value_of(key)?.value {
            Node::Text(Cow::Borrowed(text)) => Some(*text),
            _ => None,
        };
        Some(PackRule {
            name: pack.name_at(rule.span.line)?,
            list: list.as_ref(),
            action: text("action").and_then(RuleAction::named).unwrap_or(RuleAction::Block),
            message: text("message").unwrap_or_default(),
            line: rule.span.line,
        })
    }

    /// The name of the rule in this line of a pack. `None` for other files.
    pub fn name_at(file: &str, line: usize) -> Option<&'static str> {
        let name = file.strip_prefix(PACK)?;
        ALL.iter().find(|pack| pack.name == name)?.name_at(line)
    }
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
    use crate::yaml::{SOURCE_OF_ITEM, Span};

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
        let mut code = String::from(TREES_START);
        for pack in &ALL {
            let name = pack.name.to_uppercase().replace('-', "_");
            let mut tree = crate::yaml::read_source(pack.text, SOURCE_OF_ITEM).unwrap();
            let names = take_names(&mut tree);
            let tree = PackCode { pack: &name, text: pack.text }.tree(&tree, 1);
            code += &format!(
                "\npub(super) static {name}: PackContent = PackContent {{\n    names: &{names:?},\n    tree: {tree},\n}};\n"
            );
        }
        if std::env::var_os("UPDATE_PACKS").is_some() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs/trees.rs");
            return std::fs::write(path, code).unwrap();
        }
        let help = "a pack has changed: UPDATE_PACKS=1 cargo test -p conclaude-core packs, and build again";
        assert!(code == include_str!("packs/trees.rs"), "{help}");
        for pack in &ALL {
            let mut read = crate::yaml::read_source(pack.text, SOURCE_OF_ITEM).unwrap();
            take_names(&mut read);
            assert!(*pack.tree() == read, "{}", pack.name);
        }
    }

    const TREES_START: &str = r#"//! Made from the packs: `UPDATE_PACKS=1 cargo test -p conclaude-core packs`.

use std::borrow::Cow::Borrowed;

use super::{PackContent, part, texts};
use crate::yaml::Node::{Bool, List, Map, Text};
use crate::yaml::{SOURCE_OF_ITEM, Span, Spanned};

/// A value, its start and end in bytes, and its line.
macro_rules! at {
    ($start:literal, $end:literal, $line:literal, $value:expr) => {
        Spanned { value: $value, span: Span { start: $start, end: $end, line: $line, source: SOURCE_OF_ITEM } }
    };
}

/// The text of a pack between these positions, and the text that is quoted there.
macro_rules! plain {
    ($pack:ident, $start:literal, $end:literal, $line:literal) => {
        at!($start, $end, $line, Text(Borrowed(part(texts::$pack, $start, $end))))
    };
}
macro_rules! quoted {
    ($pack:ident, $start:literal, $end:literal, $line:literal) => {
        at!($start, $end, $line, Text(Borrowed(part(texts::$pack, $start + 1, $end - 1))))
    };
}
"#;

    /// Removes the names of rules, and returns them with the lines of their rules.
    fn take_names(tree: &mut Spanned<Node>) -> Vec<(usize, String)> {
        let line = tree.span.line;
        match &mut tree.value {
            Node::Map(entries) => {
                let mut names = Vec::new();
                entries.to_mut().retain(|(key, value)| match &value.value {
                    Node::Text(name) if key.value == "name" => {
                        names.push((line, name.to_string()));
                        false
                    }
                    _ => true,
                });
                names.extend(entries.to_mut().iter_mut().flat_map(|(_, value)| take_names(value)));
                names
            }
            Node::List(items) => items.to_mut().iter_mut().flat_map(take_names).collect(),
            _ => Vec::new(),
        }
    }

    /// Writes the values of a pack as Rust.
    struct PackCode<'a> {
        pack: &'a str,
        text: &'a str,
    }

    impl PackCode<'_> {
        /// One line for each entry of a list.
        fn tree(&self, tree: &Spanned<Node>, depth: usize) -> String {
            let at = |span: Span| format!("{}, {}, {}", span.start, span.end, span.line);
            let line = if depth < 4 { format!("\n{}", "    ".repeat(depth + 1)) } else { String::new() };
            let value = match &tree.value {
                Node::Bool(flag) => format!("Bool({flag})"),
                Node::Text(text) => match self.text.get(tree.span.start..tree.span.end) {
                    Some(plain) if plain == text => {
                        return format!("plain!({}, {})", self.pack, at(tree.span));
                    }
                    Some(written) if written.get(1..written.len() - 1) == Some(text) => {
                        return format!("quoted!({}, {})", self.pack, at(tree.span));
                    }
                    _ => format!("Text(Borrowed({text:?}))"),
                },
                Node::List(items) => {
                    let items = items.iter().map(|item| format!("{line}{},", self.tree(item, depth + 1)));
                    format!("List(Borrowed(&[{}]))", items.collect::<String>())
                }
                Node::Map(entries) => {
                    let entries = entries.iter().map(|(key, value)| {
                        let (own, value) = (at(key.span), self.tree(value, depth + 1));
                        format!("{line}(at!({own}, Borrowed({:?})), {value}),", key.value)
                    });
                    format!("Map(Borrowed(&[{}]))", entries.collect::<String>())
                }
                other => panic!("packs have no {other:?}"),
            };
            format!("at!({}, {value})", at(tree.span))
        }
    }
}
