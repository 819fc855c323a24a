//! The questions of `init` on a terminal. Enter takes the recommended answer.

use std::io::{self, BufRead, IsTerminal};

use anstyle::Style;
use anyhow::bail;

use crate::cli::out::{Out, Paint};
use conclaude_core::config::Reaction;
use conclaude_engine::install::starter::{Audience, Choices, PACKS};

const BOLD: Paint = Paint(Style::new().bold());
const FAINT: Paint = Paint(Style::new().dimmed());

/// Whether a user is there to answer.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && Out::is_terminal()
}

/// The answers of the user, with the recommended ones as defaults.
pub(super) fn ask(
    recommended: Choices,
    input: &mut dyn BufRead,
    out: &mut Out<'_>,
) -> anyhow::Result<Choices> {
    let mut dialogue = Dialogue { input, out };
    let mut choices = recommended;
    if !choices.checks.is_empty() {
        let names: Vec<String> =
            choices.checks.iter().map(|check| named(&check.run, &check.folder)).collect();
        let all: Vec<usize> = (0..names.len()).collect();
        let chosen =
            dialogue.several("Which checks should run when an agent says that it is done?", &names, &all)?;
        let checks = std::mem::take(&mut choices.checks);
        choices.checks = pick(&checks, &chosen);
    }
    if !choices.checks.is_empty() {
        let names = ["block: the agent must fix it first", "warn: it is only reported"];
        let reaction = dialogue.one("What if one fails?", &names)?;
        choices.reaction = if reaction == 0 { Reaction::Block } else { Reaction::Warn };
        let names = ["subagents that can write", "Claude itself", "both"];
        choices.audience = match dialogue.one("For whom?", &names)? {
            0 => Audience::Agents,
            1 => Audience::Main,
            _ => Audience::Both,
        };
    }
    let names: Vec<String> = PACKS.iter().map(|pack| format!("{}: {}", pack.name, pack.about)).collect();
    let usual: Vec<usize> = (0..PACKS.len())
        .filter(|at| PACKS.get(*at).is_some_and(|pack| choices.packs.contains(pack)))
        .collect();
    let chosen = dialogue.several("Which packs of guards?", &names, &usual)?;
    choices.packs = pick(&PACKS, &chosen);
    if !choices.packs.is_empty() {
        let names = [
            "no: Claude Code asks conclaude before each call",
            "yes: commands run in Claude Code's sandbox as well (on Linux it needs bubblewrap and socat)",
        ];
        let question = "Should the operating system enforce the rules for files, too?";
        choices.enforces = dialogue.one(question, &names)? == 1;
    }
    Ok(choices)
}

fn named(run: &str, folder: &str) -> String {
    if folder.is_empty() { run.to_owned() } else { format!("{run}  (in {folder})") }
}

fn pick<T: Clone>(all: &[T], chosen: &[usize]) -> Vec<T> {
    chosen.iter().filter_map(|at| all.get(*at)).cloned().collect()
}

struct Dialogue<'a, 'b> {
    input: &'a mut dyn BufRead,
    out: &'a mut Out<'b>,
}

impl Dialogue<'_, '_> {
    /// The chosen positions.
    fn several(&mut self, question: &str, names: &[String], usual: &[usize]) -> anyhow::Result<Vec<usize>> {
        self.list(question, names)?;
        let default = if usual.len() == names.len() { "all".to_owned() } else { numbers(usual) };
        loop {
            let answer = self.line(&format!("numbers, all or none [{default}]"))?;
            if answer.is_empty() {
                return Ok(usual.to_vec());
            }
            match parse(&answer, names.len()) {
                Some(chosen) => return Ok(chosen),
                None => self.again(&format!(
                    "write numbers from 1 to {}, as 1,2 or 1-3; or all, or none",
                    names.len()
                ))?,
            }
        }
    }

    /// The chosen position. The first is recommended.
    fn one(&mut self, question: &str, names: &[&str]) -> anyhow::Result<usize> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.list(question, &names)?;
        loop {
            let answer = self.line("number [1]")?;
            if answer.is_empty() {
                return Ok(0);
            }
            let starts = |name: &String| name.to_lowercase().starts_with(&answer);
            let by_name = names.iter().position(starts);
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match by_number.or(by_name) {
                Some(at) if at < names.len() => return Ok(at),
                _ => self.again(&format!("write a number from 1 to {}", names.len()))?,
            }
        }
    }

    fn list(&mut self, question: &str, names: &[String]) -> io::Result<()> {
        writeln!(self.out, "{BOLD}{question}{BOLD:#}")?;
        for (at, name) in names.iter().enumerate() {
            writeln!(self.out, "  {}. {name}", at + 1)?;
        }
        Ok(())
    }

    fn again(&mut self, hint: &str) -> io::Result<()> {
        writeln!(self.out, "{FAINT}{hint}{FAINT:#}")
    }

    /// One line of the user, in lower case. At the end of the input there is no answer.
    fn line(&mut self, prompt: &str) -> anyhow::Result<String> {
        write!(self.out, "{FAINT}{prompt}{FAINT:#} > ")?;
        self.out.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            writeln!(self.out)?;
            bail!("no answer: nothing was written; `conclaude init --yes` takes the recommended answers");
        }
        Ok(line.trim().to_lowercase())
    }
}

/// Positions as the user counts them.
fn numbers(positions: &[usize]) -> String {
    if positions.is_empty() {
        return "none".into();
    }
    positions.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(",")
}

/// `1,3`, `1-3`, `all` or `none`, in the order of the list. `None` for anything else.
fn parse(answer: &str, length: usize) -> Option<Vec<usize>> {
    match answer {
        "all" | "a" | "*" => return Some((0..length).collect()),
        "none" | "n" | "no" | "0" | "-" => return Some(Vec::new()),
        _ => {}
    }
    let mut chosen = Vec::new();
    for part in answer.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if first == 0 || last > length || first > last {
            return None;
        }
        chosen.extend(first - 1..last);
    }
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() { None } else { Some(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ranges_and_words_are_understood() {
        for (answer, expected) in [
            ("1,3", Some(vec![0, 2])),
            ("3 1", Some(vec![0, 2])),
            ("1-3", Some(vec![0, 1, 2])),
            ("2,1-2", Some(vec![0, 1])),
            ("all", Some(vec![0, 1, 2])),
            ("none", Some(vec![])),
            ("4", None),
            ("0,1", None),
            ("3-1", None),
            ("yes", None),
            (",", None),
        ] {
            assert_eq!(parse(answer, 3), expected, "{answer}");
        }
    }
}
