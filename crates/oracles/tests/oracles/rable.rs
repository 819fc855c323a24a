//! Our parser, compared with `rable`, which is complete: both accept the same commands, and find the same simple ones.

use rable::{Node, NodeKind};
use shell_effects::counted;
use test_support::shell::commands;

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
        let ours = counted(&command).map(|counts| counts.with_words);
        let theirs = rable::parse(&command, true).ok().map(|nodes| theirs(&nodes));
        if ours != theirs {
            let start: String = command.replace('\n', "⏎").chars().take(60).collect();
            different.push(format!("{start}: {ours:?}, not {theirs:?}"));
        }
    }
    // `coproc` counts as a command of ours. A subscript in `{a[…]}>` is refused.
    insta::assert_snapshot!(different.join("\n"), @r"
    cat <<$'E\x46'⏎EF⏎c\⏎at .env: Some(2), not Some(1)
    echo `echo \`cat .env\``: Some(3), not Some(2)
    x[$(cat .env)]=1: Some(1), not Some(2)
    echo ${ cat .env; }: Some(2), not Some(1)
    coproc cat .env: Some(2), not Some(1)
    echo >: None, not Some(1)
    echo `#\⏎rm a`: Some(1), not Some(2)
    a[ #]\1; rm a: None, not Some(2)
    a[{ #]; rm a: None, not Some(2)
    a=([ #]=1); rm a⏎): None, not Some(0)
    coproc sh; echo 'cat .env' >&${COPROC[1]}: Some(3), not Some(2)
    exec {a['$(cat .env)']}>b: None, not Some(1)
    e | coproc vi -e -c'!cat .env': Some(3), not Some(2)
    e | coproc n { head .env; }: Some(3), not Some(2)
    coproc { sleep 1; sh p; }; echo 'cat .env' > p: Some(4), not Some(3)
    coproc cat: Some(2), not Some(1)
    f=x:.env; IFS[0000000000000000000000000000000000000000000000: None, not Some(1)
    f=x:.env; IFS[0 + 0]=:; cat $f: None, not Some(2)
    a[$((i + 1))]=x; cat ${a[0]}: Some(1), not Some(2)
    ");
}
