//! Our parser, compared with `brush-parser`: both accept the same commands, and find as many simple ones outside of words, which
//! brush does not parse here.

use brush_parser::ast;

use shell_effects::counted;
use test_support::shell::commands;

fn theirs(list: &ast::CompoundList) -> usize {
    list.0
        .iter()
        .map(|ast::CompoundListItem(item, _)| {
            let rest =
                item.additional.iter().map(|(ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline))| pipeline);
            let commands = [&item.first].into_iter().chain(rest).flat_map(|pipeline| &pipeline.seq);
            commands.map(their_command).sum::<usize>()
        })
        .sum()
}

fn their_command(command: &ast::Command) -> usize {
    match command {
        ast::Command::Simple(simple) => usize::from(simple.word_or_name.is_some()),
        ast::Command::Compound(compound, _) => their_compound(compound),
        ast::Command::Function(function) => their_compound(&function.body.0),
        ast::Command::ExtendedTest(..) => 0,
    }
}

fn their_compound(compound: &ast::CompoundCommand) -> usize {
    match compound {
        ast::CompoundCommand::Arithmetic(_) => 0,
        ast::CompoundCommand::ArithmeticForClause(clause) => theirs(&clause.body.list),
        ast::CompoundCommand::BraceGroup(group) => theirs(&group.list),
        ast::CompoundCommand::Subshell(subshell) => theirs(&subshell.list),
        ast::CompoundCommand::ForClause(clause) => theirs(&clause.body.list),
        ast::CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).map(theirs).sum()
        }
        ast::CompoundCommand::IfClause(clause) => {
            let elses = clause.elses.iter().flatten();
            let elses = elses.map(|other| other.condition.as_ref().map_or(0, theirs) + theirs(&other.body));
            theirs(&clause.condition) + theirs(&clause.then) + elses.sum::<usize>()
        }
        ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
            theirs(&clause.0) + theirs(&clause.1.list)
        }
    }
}

fn by_brush(command: &str) -> Option<usize> {
    let options = brush_parser::ParserOptions::default();
    let source = brush_parser::SourceInfo { source: String::new() };
    let mut parser = brush_parser::Parser::new(command.as_bytes(), &options, &source);
    let program = parser.parse_program().ok()?;
    Some(program.complete_commands.iter().map(theirs).sum())
}

#[test]
fn commands_are_parsed_as_by_brush() {
    let mut different = Vec::new();
    for command in commands() {
        let ours = counted(&command).map(|counts| counts.outside_words);
        let theirs = by_brush(&command);
        if ours != theirs {
            let start: String = command.replace('\n', "⏎").chars().take(60).collect();
            different.push(format!("{start}: {ours:?}, not {theirs:?}"));
        }
    }
    // brush refuses `select`, a substitution with `;` in `for ((…))`, a `)` in a substitution and a here-document without an end. We
    // refuse a subscript with blanks, about which the user is then asked.
    // `coproc` counts as a command of ours. A subscript in `{a[…]}>` is refused.
    insta::assert_snapshot!(different.join("\n"), @r#"
    cat <<$'E\x46'⏎EF⏎c\⏎at .env: Some(2), not None
    for ((i=$(cat .env);;)); do :; done: Some(1), not None
    select x in a; do cat .env; done: Some(1), not None
    echo $(case a in a) cat .env;; esac): Some(1), not None
    echo $(cat <<E⏎)⏎E⏎cat .env): Some(1), not None
    coproc cat .env: Some(2), not Some(1)
    cat <<EOF⏎never closed: Some(1), not None
    a=(1)#; cat .env: Some(1), not Some(0)
    a=(1)# ; cat .env: Some(1), not Some(0)
    cat <<EOF⏎text⏎EO\⏎F⏎cat .env: Some(2), not None
    echo $[a[0] <<E ]⏎cat .env⏎E: Some(3), not Some(1)
    BASH_ENV=<(echo cat .env) bash -c :: Some(1), not None
    a[ #]\1; rm a: None, not Some(1)
    a[{ #]; rm a: None, not Some(1)
    a=([ #]=1); rm a⏎): None, not Some(0)
    coproc sh; echo 'cat .env' >&${COPROC[1]}: Some(3), not Some(2)
    exec {a['$(cat .env)']}>b: None, not Some(1)
    e | coproc vi -e -c'!cat .env': Some(3), not Some(2)
    e | coproc n { head .env; }: Some(3), not None
    coproc { sleep 1; sh p; }; echo 'cat .env' > p: Some(4), not None
    select x in a b; do echo $x; break; done: Some(2), not None
    coproc cat: Some(2), not Some(1)
    f=x:.env; IFS[0000000000000000000000000000000000000000000000: None, not Some(1)
    f=x:.env; IFS[0 + 0]=:; cat $f: None, not Some(2)
    "#);
}
