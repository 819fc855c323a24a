//! `conclaude config show`: the config as all its files make it, and where each value came from.

use std::io;
use std::path::Path;

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::out::Out;
use super::root;
use conclaude_core::config::{Origins, Patterns};
use conclaude_core::exit::Exit;
use conclaude_core::text::{nearest, quoted_list, visible};
use conclaude_core::yaml::{self, Node, Spanned};
use conclaude_store::load::{self, LoadedConfig};

#[derive(clap::Subcommand)]
pub(super) enum ConfigSubcommand {
    /// Print the config as all its files make it, as YAML
    ///
    /// The files are, later ones win: config.yaml in $XDG_CONFIG_HOME/conclaude, .conclaude.yaml, .conclaude.local.yaml, each after what
    /// it extends. Exits with 1 if one of them cannot be used.
    Show {
        /// Only this value, such as `preToolUse` or `preToolUse.uneditableFiles`
        #[arg(value_name = "KEY")]
        key: Option<String>,
        /// Show the file and the line of each value
        #[arg(long)]
        origin: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl ConfigSubcommand {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let ConfigSubcommand::Show { key, origin, json } = self;
        let root = root()?;
        let loaded = load::all(&root, Patterns::All);
        let tree = without_secrets(loaded.origins.tree());
        let tree = match &key {
            Some(key) => only(&tree, key)?,
            None => tree,
        };
        let mut out = Out::stdout();
        if json {
            out.json(&as_json(&loaded, &tree, origin))?;
        } else {
            let relative_to = if origin { Some(root.folder.as_path()) } else { None };
            print(&mut out, &loaded.origins, &tree, relative_to)?;
        }
        for error in &loaded.errors {
            writeln!(Out::stderr(), "conclaude: {}", error.brief())?;
        }
        Ok(if loaded.errors.is_empty() { Exit::Success } else { Exit::Failure })
    }
}

/// The files as comments, then the values; with their origins relative to a folder, if there is one.
fn print(
    out: &mut Out<'_>,
    origins: &Origins,
    tree: &Spanned<Node>,
    relative_to: Option<&Path>,
) -> io::Result<()> {
    for source in origins.sources() {
        writeln!(out, "# {:<7}  {}", source.layer.name(), visible(&source.path.display().to_string()))?;
    }
    if matches!(tree.value, Node::Null) {
        return writeln!(out, "# no values: the defaults apply");
    }
    for (keys, order) in ORDER {
        let is_shown = keys.iter().try_fold(tree, |node, key| node.value_of(key)).is_some();
        if is_shown && spans_layers(origins, keys) {
            writeln!(out, "# {}: {order}", keys.join("."))?;
        }
    }
    let text = yaml::emit(tree, |span| {
        let (origin, folder) = origins.at(span).zip(relative_to)?;
        let path = origin.path.strip_prefix(folder).unwrap_or(origin.path);
        Some(visible(&format!("{}:{}", path.display(), origin.line)))
    });
    write!(out, "{text}")
}

/// The tree with only the value of this key: its parts are separated by dots.
fn only(tree: &Spanned<Node>, key: &str) -> anyhow::Result<Spanned<Node>> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let Node::Map(entries) = &tree.value else {
        bail!("there is no `{key}`: what comes before it is one value, without keys")
    };
    // A pattern may contain a dot.
    let whole = entries.iter().find(|(own, _)| own.value == key);
    if let Some((own, value)) = whole.or_else(|| entries.iter().find(|(own, _)| own.value == first)) {
        let value = match rest {
            Some(rest) if whole.is_none() => only(value, rest)?,
            _ => value.clone(),
        };
        return Ok(Spanned { value: Node::Map(vec![(own.clone(), value)]), ..tree.clone() });
    }
    let known: Vec<&str> = entries.iter().map(|(own, _)| own.value.as_ref()).collect();
    match nearest(first, known.iter().copied()) {
        Some(near) => bail!("the config has no `{first}`; did you mean `{near}`?"),
        None => bail!("the config has no `{first}`: its default applies; there is {}", quoted_list(&known)),
    }
}

/// The values without those of headers: a header may contain a token instead of the name of a variable.
fn without_secrets(tree: &Spanned<Node>) -> Spanned<Node> {
    let mut tree = tree.clone();
    let headers = ["telemetry", "headers"].iter().try_fold(&mut tree, |node, key| {
        let Node::Map(entries) = &mut node.value else { return None };
        entries.iter_mut().find(|(own, _)| own.value == *key).map(|(_, value)| value)
    });
    if let Some(Spanned { value: Node::Map(headers), .. }) = headers {
        for (_, header) in headers {
            let names_a_variable = matches!(&header.value, Node::Text(text) if text.contains("${"));
            if !names_a_variable {
                header.value = Node::Text("(not shown)".into());
            }
        }
    }
    tree
}

/// Which entry of a list decides if several layers have entries.
const ORDER: [([&str; 2], &str); 5] = [
    (
        ["preToolUse", "toolUsageValidation"],
        "of each layer the first that matches decides, and the strictest of the layers counts",
    ),
    (["preToolUse", "uneditableFiles"], FREES),
    (["preToolUse", "unreadableFiles"], FREES),
    (["preToolUse", "preventAdditions"], FREES),
    (["permissionRequest", "allow"], "`deny` of any layer comes first, and `default: deny` of an outer one"),
];

const FREES: &str = "`!pattern` of an inner layer frees only what an outer one marks as overridable";

fn spans_layers(origins: &Origins, keys: [&str; 2]) -> bool {
    let list = keys.iter().try_fold(origins.tree(), |node, key| node.value_of(key));
    let Some(Spanned { value: Node::List(items), .. }) = list else { return false };
    let mut layers = items.iter().filter_map(|item| Some(origins.at(item.span)?.layer));
    layers.next().is_some_and(|first| layers.any(|layer| layer != first))
}

fn as_json(loaded: &LoadedConfig, tree: &Spanned<Node>, with_origins: bool) -> Value {
    let LoadedConfig { origins, errors, .. } = loaded;
    let files =
        origins.sources().iter().map(|source| json!({"layer": source.layer.name(), "path": source.path}));
    let mut report = json!({
        "files": files.collect::<Vec<_>>(),
        "config": <Value as serde::Deserialize>::deserialize(tree).unwrap_or_default(),
        "errors": errors.iter().map(|error| json!({"path": error.path(), "message": error.summary()})).collect::<Vec<_>>(),
    });
    if with_origins && let Some(report) = report.as_object_mut() {
        let mut found = Map::new();
        collect(origins, tree, String::new(), &mut found);
        report.insert("origins".into(), Value::Object(found));
    }
    report
}

/// The origins of all values that contain no others, by JSON pointer.
fn collect(origins: &Origins, node: &Spanned<Node>, pointer: String, found: &mut Map<String, Value>) {
    let below = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match &node.value {
        Node::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                collect(origins, value, below(&key.value), found);
            }
        }
        Node::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                collect(origins, item, below(&index.to_string()), found);
            }
        }
        _ => {
            if let Some(origin) = origins.at(node.span) {
                let origin = json!({"layer": origin.layer.name(), "path": origin.path, "line": origin.line});
                found.insert(pointer, origin);
            }
        }
    }
}
