//! Ready-made configs that are part of the program: `extends: ["pack:name"]`.

use crate::config::PACK;
use crate::text::nearest;
use crate::yaml::{Node, Span, Spanned};

mod trees;

/// A pack: an ordinary config file, whose first line says what it is for.
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
    /// Its values, as if its text were read.
    pub fn tree(&self) -> Spanned<Node> {
        self.tree.tree()
    }

    pub fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// Where a value is in the text of its pack: its first byte, the end, and the line.
type TextRange = (usize, usize, usize);

/// A value of a pack, read when the program was written: reading the YAML of all packs took longer than everything else that an
/// event does.
#[derive(Debug, PartialEq, Eq)]
enum PackValue {
    Flag(TextRange, bool),
    Text(TextRange, &'static str),
    List(TextRange, &'static [PackValue]),
    Map(TextRange, &'static [(TextRange, &'static str, PackValue)]),
}

impl PackValue {
    fn tree(&self) -> Spanned<Node> {
        let (at, value) = match self {
            PackValue::Flag(at, flag) => (at, Node::Bool(*flag)),
            PackValue::Text(at, text) => (at, Node::Text((*text).into())),
            PackValue::List(at, items) => (at, Node::List(items.iter().map(PackValue::tree).collect())),
            PackValue::Map(at, entries) => {
                let entry = |(at, key, value): &(TextRange, &'static str, PackValue)| {
                    (Spanned { value: (*key).into(), span: span(*at) }, value.tree())
                };
                (at, Node::Map(entries.iter().map(entry).collect()))
            }
        };
        Spanned { value, span: span(*at) }
    }
}

fn span((start, end, line): TextRange) -> Span {
    Span { start, end, line, source: 0 }
}

/// There is no pack of a name.
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
/// Says which pack was probably meant, or which packs there are.
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
            assert_eq!(pack.tree(), crate::yaml::read(pack.text).unwrap(), "{}", pack.name);
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
