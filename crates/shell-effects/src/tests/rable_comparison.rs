//! Our parser, compared with `rable`, which is complete: both accept the same commands, and find the same simple ones.

use rable::{Node, NodeKind};

use super::*;
use crate::syntax::parser::parse;
use crate::syntax::tree::{AssignedValue, Command, CommandKind, List, Piece, Redirect, Redirection, Word};

/// Simple commands with words, without those in the words of expansions and here-documents, which rable does not parse.
fn count(list: &List) -> usize {
    let commands = list
        .iter()
        .flat_map(|item| [&item.first].into_iter().chain(item.rest.iter().map(|(_, pipeline)| pipeline)));
    commands.flatten().map(count_command).sum()
}

fn count_command(command: &Command) -> usize {
    let redirects: usize = command.redirects.iter().map(count_redirect).sum();
    redirects
        + match &command.kind {
            CommandKind::Simple { assignments, words } => {
                let assigned = assignments.iter().map(|assignment| match &assignment.value {
                    AssignedValue::Word(word) => count_word(word),
                    AssignedValue::Array(words) => words.iter().map(count_word).sum(),
                });
                usize::from(!words.is_empty())
                    + words.iter().map(count_word).sum::<usize>()
                    + assigned.sum::<usize>()
                    + assignments
                        .iter()
                        .filter_map(|assignment| assignment.index.as_ref())
                        .map(count_word)
                        .sum::<usize>()
            }
            CommandKind::Group(list) | CommandKind::Subshell(list) => count(list),
            CommandKind::If(branches) => branches
                .iter()
                .map(|(condition, body)| condition.as_ref().map_or(0, count) + count(body))
                .sum(),
            CommandKind::While { condition, body } => count(condition) + count(body),
            CommandKind::For { words, body, .. } => {
                words.iter().flatten().map(count_word).sum::<usize>() + count(body)
            }
            CommandKind::Case { word, arms } => {
                count_word(word)
                    + arms
                        .iter()
                        .map(|(patterns, body)| patterns.iter().map(count_word).sum::<usize>() + count(body))
                        .sum::<usize>()
            }
            CommandKind::Function { body, .. } => count_command(body),
            CommandKind::Expression { body, .. } => count(body),
        }
}

fn count_redirect(redirect: &Redirect) -> usize {
    match &redirect.kind {
        Redirection::Read(word)
        | Redirection::Write { word, .. }
        | Redirection::ReadWrite(word)
        | Redirection::Duplicate(word)
        | Redirection::DuplicateInput(word) => count_word(word),
        Redirection::Text(_) => 0,
    }
}

fn count_word(word: &Word) -> usize {
    let counts = word.iter().map(|piece| match piece {
        Piece::Substitution { list, .. } | Piece::Process { list, .. } => count(list),
        _ => 0,
    });
    counts.sum()
}

fn theirs(nodes: &[Node]) -> usize {
    nodes.iter().map(their_count).sum()
}

fn their_count(node: &Node) -> usize {
    let one = |node: &Node| their_count(node);
    match &node.kind {
        NodeKind::Command { assignments, words, redirects } => {
            usize::from(!words.is_empty()) + theirs(assignments) + theirs(words) + theirs(redirects)
        }
        NodeKind::Word { parts, .. } => theirs(parts),
        NodeKind::Pipeline { commands, .. } => theirs(commands),
        NodeKind::List { items } => items.iter().map(|item| their_count(&item.command)).sum(),
        NodeKind::If { condition, then_body, else_body, redirects } => {
            one(condition) + one(then_body) + else_body.as_deref().map_or(0, one) + theirs(redirects)
        }
        NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
            one(condition) + one(body) + theirs(redirects)
        }
        NodeKind::For { words, body, redirects, .. } | NodeKind::Select { words, body, redirects, .. } => {
            theirs(words.as_deref().unwrap_or_default()) + one(body) + theirs(redirects)
        }
        NodeKind::ForArith { body, redirects, .. } => one(body) + theirs(redirects),
        NodeKind::Case { word, patterns, redirects } => {
            let arms = patterns.iter().map(|arm| theirs(&arm.patterns) + arm.body.as_ref().map_or(0, one));
            one(word) + arms.sum::<usize>() + theirs(redirects)
        }
        NodeKind::Function { body, .. } => one(body),
        NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
            one(body) + theirs(redirects)
        }
        NodeKind::Coproc { command, .. }
        | NodeKind::CommandSubstitution { command, .. }
        | NodeKind::ProcessSubstitution { command, .. } => one(command),
        NodeKind::Redirect { target, op, .. } => {
            if op == "<<<" {
                0
            } else {
                one(target)
            }
        }
        NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => one(pipeline),
        NodeKind::Array { elements } => theirs(elements),
        _ => 0,
    }
}

#[test]
fn commands_are_parsed_as_by_a_complete_parser() {
    let mut different = Vec::new();
    for command in commands() {
        let ours = parse(&command, 0).ok().map(|list| count(&list));
        let theirs = rable::parse(&command, true).ok().map(|nodes| theirs(&nodes));
        if ours != theirs {
            let start: String = command.replace('\n', "⏎").chars().take(60).collect();
            different.push(format!("{start}: {ours:?}, not {theirs:?}"));
        }
    }
    insta::assert_snapshot!(different.join("\n"), @r"
    cat <<$'E\x46'⏎EF⏎c\⏎at .env: Some(2), not Some(1)
    echo `echo \`cat .env\``: Some(3), not Some(2)
    x[$(cat .env)]=1: Some(1), not Some(2)
    echo ${ cat .env; }: Some(2), not Some(1)
    echo >: None, not Some(1)
    f=x:.env; IFS[0000000000000000000000000000000000000000000000: None, not Some(1)
    f=x:.env; IFS[0 + 0]=:; cat $f: None, not Some(2)
    a[$((i + 1))]=x; cat ${a[0]}: Some(1), not Some(2)
    ");
}
