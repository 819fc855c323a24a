//! `docs/reference/cli.md`: the help of every subcommand.

use std::fmt::Write as _;

use super::{page, said};

/// What fits beside the navigation of the site.
const WIDTH: usize = 88;

/// The help of a subcommand and of all below it.
pub(super) fn help(page_text: &mut String, words: &[&str]) {
    let mut arguments = words.to_vec();
    arguments.push("--help");
    let help = said(&arguments);
    let title = [&["conclaude"], words].concat().join(" ");
    if !words.is_empty() {
        let _ = write!(page_text, "\n## {title}\n");
    }
    let lines: Vec<String> = help.lines().map(|line| wrapped(line.trim_end())).collect();
    let _ = write!(page_text, "\n```text\n{}\n```\n", lines.join("\n"));
    let commands = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let names: Vec<String> = commands
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter(|line| line.chars().nth(2).is_some_and(|first| first != ' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    for name in names {
        help_of(page_text, words, &name);
    }
}

fn help_of(page_text: &mut String, words: &[&str], name: &str) {
    help(page_text, &[words, &[name]].concat());
}

/// A line of help, without text that a reader would have to scroll to. What follows starts below its text.
fn wrapped(line: &str) -> String {
    let start = line.trim_start();
    let own = line.len() - start.len();
    // An option or a subcommand, and its text.
    let column = start.find("  ").map_or(own, |gap| line.len() - start.split_at(gap).1.trim_start().len());
    let (mut text, mut width) = (line.split_at(column).0.to_owned(), column);
    for (number, word) in line.split_at(column).1.split(' ').enumerate() {
        if number > 0 && width + 1 + word.len() > WIDTH {
            text.push_str(&format!("\n{:column$}", ""));
            width = column;
        } else if number > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.chars().count();
    }
    text
}

#[test]
fn help_is_wrapped_below_its_text() {
    let line =
        "  -o, --out <FILE>  Where it is written, which may be a folder that does not exist as yet, or `-`";
    let wanted = "  -o, --out <FILE>  Where it is written, which may be a folder that does not exist as\n                    yet, or `-`";
    assert_eq!(wrapped(line), wanted);
    assert_eq!(wrapped("Usage: conclaude <COMMAND>"), "Usage: conclaude <COMMAND>");
}

#[test]
fn reference_of_the_command_line() {
    let mut page_text = String::from("What `--help` says of each subcommand.\n");
    help(&mut page_text, &[]);
    page("cli", "Command line", &page_text);
}
