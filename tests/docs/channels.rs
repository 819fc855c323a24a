//! Where users get conclaude: the channels of `Cargo.toml`, and no others.

use std::fmt::Write as _;

use crate::pages::{is_update, root};

/// The rows of `[package.metadata.channels]`: a name, and what is typed.
fn channels() -> Vec<(String, String)> {
    let cargo = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let Some(section) = cargo.split("[package.metadata.channels]\n").nth(1) else { return Vec::new() };
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let rows = lines.filter_map(|line| line.split_once(" = "));
    rows.map(|(name, line)| (name.trim().to_owned(), line.trim().trim_matches('"').to_owned())).collect()
}

/// It brings no program, so it is none to choose.
const PLUGIN: &str =
    "The plugin of Claude Code calls this program in all your projects. It does not bring the program:";

fn title(name: &str) -> &str {
    match name {
        "brew" => "Homebrew",
        other => other,
    }
}

fn block() -> String {
    let channels = channels();
    if channels.is_empty() {
        return "In a checkout of the source:\n\n<!-- not run: it compiles conclaude, which CI does -->\n```sh\ncargo install --path .\n```\n".into();
    }
    let mut text = String::from("Choose one:\n\n<!-- not run: it needs a network -->\n```sh\n");
    let (plugin, programs): (Vec<_>, Vec<_>) = channels.into_iter().partition(|(name, _)| name == "plugin");
    for (name, line) in programs {
        let _ = writeln!(text, "# {}\n{line}", title(&name));
    }
    text.push_str("```\n");
    for (_, line) in plugin {
        let lines = line.replace(" && ", "\n");
        let _ = write!(text, "\n{PLUGIN}\n\n<!-- not run: it needs a network -->\n```sh\n{lines}\n```\n");
    }
    text
}

#[test]
fn pages_show_the_channels_of_cargo_toml() {
    for name in ["README.md", "docs/install.md"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let (start, rest) = text.split_once("<!-- channels -->\n").unwrap();
        let (_, end) = rest.split_once("<!-- /channels -->").unwrap();
        let wanted = format!("{start}<!-- channels -->\n{}<!-- /channels -->{end}", block());
        if is_update() {
            std::fs::write(root().join(name), &wanted).unwrap();
        } else {
            assert!(
                text == wanted,
                "{name} shows other channels: UPDATE_DOCS=1 cargo test --test docs channels"
            );
        }
    }
}
