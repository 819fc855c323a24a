//! `conclaude config show`: the merged config of all files, and the origin of each value.

use std::io;
use std::path::Path;

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::out::Out;
use super::{project_dir, root, rule_enforcement};
use conclaude_checks::enforce::RuleEnforcement;
use conclaude_core::config::{GUARD_KEYS, GuardSubject, Origins, Patterns};
use conclaude_core::exit::Exit;
use conclaude_core::packs::PackRule;
use conclaude_core::rule;
use conclaude_core::text::visible;
use conclaude_core::yaml::{self, Node, Spanned};
use conclaude_engine::install::scope::session_folder;
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;

mod known_keys;

#[derive(clap::Subcommand)]
pub(super) enum ConfigSubcommand {
    /// Print the merged config of all files, as YAML
    ///
    /// The files are, later ones win: config.yaml in $XDG_CONFIG_HOME/conclaude, .conclaude.yaml, .conclaude.local.yaml, each
    /// after the files that it extends. Exits with 1 if one of them cannot be used.
    Show {
        /// Only this value, such as `preToolUse` or `preToolUse.uneditableFiles`; its default if it is not set
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
        let tree = with_extends(
            &loaded.origins,
            without_secrets(loaded.origins.tree().with_sources()),
            key.as_deref(),
        );
        let found = match &key {
            Some(key) => only(&tree, key)?,
            None => Some(tree),
        };
        let unset = match (&key, &found) {
            (Some(key), None) => Some(known_keys::default_of(key)?),
            _ => None,
        };
        let tree = found.unwrap_or_default();
        let mut out = Out::stdout();
        let enforced = if origin { enforced(&root, &loaded, key.as_deref())? } else { None };
        if json {
            out.json(&as_json(&loaded, &tree, origin, enforced.as_ref()))?;
        } else {
            let relative_to = if origin { Some(root.folder.as_path()) } else { None };
            print_files(&mut out, &loaded.origins)?;
            match unset {
                Some(unset) => writeln!(out, "# {unset}")?,
                None => print(&mut out, &loaded.origins, &tree, relative_to)?,
            }
            print_enforced(&mut out, enforced.as_ref())?;
        }
        for error in &loaded.errors {
            writeln!(Out::stderr(), "conclaude: {}", error.brief())?;
        }
        Ok(if loaded.errors.is_empty() { Exit::Success } else { Exit::Failure })
    }
}

/// Who enforces the rules, if rules are shown.
struct EnforcedRules {
    rules: Vec<RuleEnforcement>,
    not_written: Option<String>,
}

fn enforced(root: &Root, loaded: &LoadedConfig, key: Option<&str>) -> anyhow::Result<Option<EnforcedRules>> {
    let is_shown =
        key.is_none_or(|key| ["enforce", "preToolUse"].contains(&key.split('.').next().unwrap_or(key)));
    if !is_shown {
        return Ok(None);
    }
    let project = session_folder(project_dir(), &root.folder)?;
    let Some(compiled) = rule_enforcement::compiled(root, &project, loaded) else { return Ok(None) };
    let compiled = compiled?;
    let not_written = rule_enforcement::not_written(&project, &compiled);
    Ok(Some(EnforcedRules { rules: compiled.rules, not_written }))
}

/// As comments, because the output is YAML.
fn print_enforced(out: &mut Out<'_>, enforced: Option<&EnforcedRules>) -> io::Result<()> {
    let Some(EnforcedRules { rules, not_written }) = enforced else { return Ok(()) };
    writeln!(out, "# who enforces each rule:")?;
    for line in not_written.iter().cloned().chain(rule_enforcement::lines(rules)) {
        writeln!(out, "#   {}", visible(&line))?;
    }
    Ok(())
}

/// The tree with `extends`, if it is requested. The merged tree does not need it: it contains the extended files.
fn with_extends(origins: &Origins, mut tree: Spanned<Node>, key: Option<&str>) -> Spanned<Node> {
    if key != Some("extends") {
        return tree;
    }
    let mut all = Vec::new();
    for (index, source) in origins.sources().iter().enumerate().filter(|(_, source)| !source.is_pack()) {
        let own = yaml::read_source(&source.text, index).ok();
        let list = own.as_ref().and_then(|own| own.value_of("extends"));
        all.extend(list.map_or(&[][..], Spanned::items).iter().cloned());
    }
    if !all.is_empty() {
        let span = all.first().map(|first| first.span).unwrap_or_default();
        let entry =
            (Spanned { value: "extends".into(), span }, Spanned { value: Node::List(all.into()), span });
        tree = Spanned { value: Node::Map(vec![entry].into()), span };
    }
    tree
}

/// The files as comments.
fn print_files(out: &mut Out<'_>, origins: &Origins) -> io::Result<()> {
    for source in origins.sources() {
        writeln!(out, "# {:<7}  {}", source.layer.name(), visible(&source.path.display().to_string()))?;
    }
    Ok(())
}

/// The values, with their origins relative to a folder, if there is one.
fn print(
    out: &mut Out<'_>,
    origins: &Origins,
    tree: &Spanned<Node>,
    relative_to: Option<&Path>,
) -> io::Result<()> {
    if matches!(tree.value, Node::Null) {
        return writeln!(out, "# no values: the defaults apply");
    }
    for (keys, order) in orders() {
        let is_shown = keys.iter().try_fold(tree, |node, key| node.value_of(key)).is_some();
        if is_shown && spans_layers(origins, keys) {
            writeln!(out, "# {}: {order}", keys.join("."))?;
        }
    }
    let text = yaml::emit(tree, |span| {
        let (origin, folder) = origins.at(span).zip(relative_to)?;
        let path = origin.path.strip_prefix(folder).unwrap_or(origin.path);
        let path = path.to_string_lossy();
        let name = PackRule::name_at(&path, origin.line);
        Some(visible(&rule::position(&path, Some(origin.line), name)))
    });
    write!(out, "{text}")
}

/// The tree with only the value of this key, whose parts are separated by dots. `None` if it is not set.
fn only(tree: &Spanned<Node>, key: &str) -> anyhow::Result<Option<Spanned<Node>>> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let entries = match &tree.value {
        Node::Map(entries) => entries,
        Node::Null => return Ok(None),
        _ => bail!("there is no `{key}`: the part before it is one value, without keys"),
    };
    // A pattern may contain a dot.
    let whole = entries.iter().find(|(own, _)| own.value == key);
    if let Some((own, value)) = whole.or_else(|| entries.iter().find(|(own, _)| own.value == first)) {
        let value = match rest {
            Some(rest) if whole.is_none() => only(value, rest)?,
            _ => Some(value.clone()),
        };
        let kept = |value| Spanned { value: Node::Map(vec![(own.clone(), value)].into()), span: tree.span };
        return Ok(value.map(kept));
    }
    Ok(None)
}

/// The values without those of headers: a header may contain a token instead of the name of a variable.
fn without_secrets(mut tree: Spanned<Node>) -> Spanned<Node> {
    let headers = ["telemetry", "headers"].iter().try_fold(&mut tree, |node, key| {
        let Node::Map(entries) = &mut node.value else { return None };
        entries.to_mut().iter_mut().find(|(own, _)| own.value == *key).map(|(_, value)| value)
    });
    if let Some(Spanned { value: Node::Map(headers), .. }) = headers {
        for (_, header) in headers.to_mut() {
            let names_a_variable = matches!(&header.value, Node::Text(text) if text.contains("${"));
            if !names_a_variable {
                header.value = Node::Text("(not shown)".into());
            }
        }
    }
    tree
}

/// For a list with entries of several layers: the keys of the list, and which entry decides, in words.
fn orders() -> impl Iterator<Item = ([&'static str; 2], &'static str)> {
    let guards = GUARD_KEYS.iter().filter(|guard| !guard.is_switch).map(|guard| {
        let words = match guard.subject {
            GuardSubject::Tools => {
                "in each layer the first matching rule decides, and the strictest layer counts"
            }
            GuardSubject::Writing | GuardSubject::Reading | GuardSubject::Fence => {
                "`!pattern` of an inner layer excepts only what an outer one marks as overridable"
            }
        };
        (["preToolUse", guard.name], words)
    });
    let words = "`deny` of any layer comes first, and `default: deny` of an outer one";
    guards.chain([(["permissionRequest", "allow"], words)])
}

fn spans_layers(origins: &Origins, keys: [&str; 2]) -> bool {
    let list = keys.iter().try_fold(origins.tree(), |node, key| node.value_of(key));
    let Some(Spanned { value: Node::List(items), .. }) = list else { return false };
    let mut layers = items.iter().filter_map(|item| Some(origins.at(item.span)?.layer));
    layers.next().is_some_and(|first| layers.any(|layer| layer != first))
}

fn as_json(
    loaded: &LoadedConfig,
    tree: &Spanned<Node>,
    with_origins: bool,
    enforced: Option<&EnforcedRules>,
) -> Value {
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
        if let Some(enforced) = enforced {
            report.insert("enforcement".into(), rule_enforcement::as_json(&enforced.rules));
            report.insert("enforcementWritten".into(), enforced.not_written.is_none().into());
        }
    }
    report
}

/// The origins of all values that contain no others, by JSON pointer.
fn collect(origins: &Origins, node: &Spanned<Node>, pointer: String, found: &mut Map<String, Value>) {
    let below = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match &node.value {
        Node::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries.iter() {
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
