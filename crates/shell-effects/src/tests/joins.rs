//! Where two ways through a script meet, the state allows what either of them allows, and knows nothing more.

use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::definitions::{Definitions, FunctionBody};
use crate::analysis::directories::Directories;
use crate::analysis::disk::Disk;
use crate::analysis::exports::Exports;
use crate::analysis::field::Field;
use crate::analysis::shell_options::ShellOptions;
use crate::analysis::state::State;
use crate::analysis::stream::Stream;
use crate::analysis::variables::{Alternatives, MAX_OPTIONS, MAX_VARIABLES, Value, Variables};
use crate::syntax::parser::parse;
use crate::syntax::tree::{Command, CommandKind};

fn config() -> ProptestConfig {
    let cases = test_support::cases(100, 10_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "IFS", "HOME"])
}

fn text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", ".env", "x", ":", "src"])
}

fn value() -> impl Strategy<Value = Value> {
    let fields = || prop::collection::vec(text().prop_map(Field::literal), 0..4);
    prop_oneof![
        fields().prop_map(Value::one_of),
        fields().prop_map(Value::Array),
        (0..MAX_OPTIONS * 2)
            .prop_map(|count| Value::one_of((0..count).map(|n| Field::literal(n.to_string())))),
        Just(Value::Unknown),
    ]
}

fn variables() -> impl Strategy<Value = Variables> {
    let set = prop::collection::vec((name(), value(), prop::collection::vec(0..5_usize, 0..3)), 0..5);
    let many = prop_oneof![4 => Just((0, 0)), 1 => (0..200_usize, 0..MAX_VARIABLES + 50)];
    (set, many, prop::bool::weighted(0.1)).prop_map(|(set, (start, count), is_opaque)| {
        let mut variables = Variables::default();
        for number in start..start + count {
            variables.set(&format!("v{number}"), Value::one(Field::literal("x")));
        }
        for (name, value, printed_by) in set {
            variables.set(name, value);
            variables.set_printed_by(name, printed_by);
        }
        if is_opaque {
            variables.make_opaque();
        }
        variables
    })
}

fn definitions<T: Clone + std::fmt::Debug + PartialEq + 'static>(
    bodies: Vec<T>,
) -> impl Strategy<Value = Definitions<T>> {
    let defined = prop::collection::vec((name(), prop::sample::select(bodies), any::<bool>()), 0..4);
    defined.prop_map(|defined| {
        let mut definitions = Definitions::default();
        for (name, body, is_unset) in defined {
            definitions.define(name, body);
            if is_unset {
                definitions.undefine(name);
            }
        }
        definitions
    })
}

fn directories() -> impl Strategy<Value = Directories> {
    prop::collection::vec((0..5, text()), 0..6).prop_map(|steps| {
        let mut directories = Directories::at_start();
        for (kind, target) in steps {
            match kind {
                0 | 1 => directories.change(&Field::literal(target), false),
                2 => directories.push(),
                3 => directories.pop(),
                _ => directories.settle(),
            }
        }
        directories
    })
}

fn exports() -> impl Strategy<Value = Exports> {
    let given = prop::collection::vec((name(), text()), 0..4);
    (given, any::<bool>()).prop_map(|(given, all)| {
        let mut exports = Exports::default();
        exports.all = all;
        exports.give(given.into_iter().map(|(name, value)| format!("{name}={value}")));
        exports
    })
}

fn disk() -> impl Strategy<Value = Disk> {
    let written = prop::collection::vec((name(), text(), any::<bool>(), 0..3_usize), 0..4);
    let many = prop_oneof![4 => Just(0), 1 => 0..80_usize];
    let aliases = definitions(vec!["rm".to_owned(), "push".to_owned()]);
    let pieces = prop::collection::vec(text(), 0..3);
    (written, many, prop::collection::vec(name(), 0..3), aliases, pieces).prop_map(
        |(written, many, made, aliases, pieces)| {
            let mut disk = Disk::default();
            for number in 0..many {
                disk.write(&format!("f{number}"), Stream::Unknown, false, Vec::new());
            }
            for (path, content, appends, by) in written {
                disk.write(path, Stream::text(Field::literal(content)), appends, vec![by]);
            }
            made.into_iter().for_each(|path| disk.make_directory(path));
            pieces.into_iter().for_each(|prefix| disk.write_pieces(prefix));
            disk.git_aliases = aliases;
            disk
        },
    )
}

fn states(bodies: Vec<FunctionBody>) -> impl Strategy<Value = State> {
    let positional = prop::option::of(prop::collection::vec(text().prop_map(Field::literal), 0..2));
    let aliases = definitions(vec!["ls".to_owned(), "cat .env".to_owned()]);
    let file = || prop::option::of(text().prop_map(|text| Rc::new(Field::literal(text))));
    let fields = (variables(), definitions(bodies), aliases, positional, directories(), exports(), disk());
    let others = (options(), file(), file(), prop::collection::btree_set(name(), 0..3));
    (fields, others).prop_map(|(fields, (options, source, zero, locals))| {
        let (variables, functions, aliases, positional, directories, exports, disk) = fields;
        // A field that is added needs values here.
        State {
            variables,
            functions,
            aliases,
            positional: positional.map(Rc::new),
            directories,
            exports,
            disk,
            options,
            source,
            zero,
            locals: Rc::new(locals.into_iter().map(str::to_owned).collect()),
        }
    })
}

fn options() -> impl Strategy<Value = ShellOptions> {
    let switches = prop::sample::select(vec!["dotglob", "nocaseglob", "lastpipe", "other"]);
    let switched = prop::collection::vec((switches, any::<bool>()), 0..4);
    (switched, prop::collection::vec(name(), 0..3), any::<bool>(), any::<bool>()).prop_map(
        |(switched, unsteady, has_integers, has_sourced)| {
            let mut options = ShellOptions::default();
            (options.has_integers, options.has_sourced) = (has_integers, has_sourced);
            for (name, is_on) in switched {
                if is_on {
                    options.switch_on(name);
                } else {
                    options.switch_off(name);
                }
            }
            unsteady.into_iter().for_each(|name| options.make_unsteady(name));
            options
        },
    )
}

fn bodies() -> Vec<FunctionBody> {
    let body =
        || FunctionBody(Rc::new(Command { kind: CommandKind::Group(Vec::new()), redirects: Vec::new() }));
    vec![body(), body()]
}

fn joined(one: &State, other: &State) -> State {
    let mut joined = one.clone();
    joined.join(other);
    joined
}

#[test]
fn a_joined_state_allows_what_either_allows_whichever_comes_first() {
    let bodies = bodies();
    proptest!(config(), |(one in states(bodies.clone()), other in states(bodies.clone()))| {
        let both = joined(&one, &other);
        prop_assert!(both.covers(&one), "{:?} does not allow {:?}", both, one);
        prop_assert!(both.covers(&other), "{:?} does not allow {:?}", both, other);
        prop_assert_eq!(&both, &joined(&other, &one));
        prop_assert_eq!(&joined(&both, &one), &both, "what was joined adds nothing");
    });
}

#[test]
fn a_state_joined_with_itself_is_the_same() {
    proptest!(config(), |(state in states(bodies()))| {
        prop_assert_eq!(&joined(&state, &state), &state);
        prop_assert!(state.covers(&state));
    });
}

#[test]
fn a_widened_state_allows_what_it_allowed_before_and_is_not_widened_again() {
    let bodies = bodies();
    proptest!(config(), |(state in states(bodies.clone()), before in states(bodies.clone()), more in states(bodies.clone()))| {
        let mut wide = joined(&before, &state);
        wide.widen(&before);
        prop_assert!(wide.covers(&state), "{:?} does not allow {:?}", wide, state);
        prop_assert!(wide.covers(&before), "{:?} does not allow {:?}", wide, before);
        // What became unknown stays as it is, whatever is joined with it.
        let mut again = joined(&wide, &more);
        again.widen(&wide);
        prop_assert!(again.covers(&more), "{:?} does not allow {:?}", again, more);
        let mut third = joined(&again, &state);
        third.widen(&again);
        prop_assert_eq!(&third.disk, &again.disk);
        prop_assert_eq!(&third.directories, &again.directories);
    });
}

/// Commands that change what later ones do.
const CHANGES: [&str; 27] = [
    "f=.env",
    "f=x",
    "f=x:.env",
    "f+=y",
    "f=$(pwd)",
    "IFS=:",
    "unset f",
    "read f",
    "((f=1))",
    ": ${f:=.env}",
    "declare -n r=f",
    "alias x='cat .env'",
    "alias x=ls",
    "x() { cat .env; }",
    "x() { cat y; }",
    "echo 'cat .env' > s",
    "echo 'cat y' > s",
    "echo 'cat z' >> s",
    "cp s t",
    "cd src",
    "cd ..",
    "mkdir d; cd d",
    "pushd a",
    "popd",
    "set -- .env",
    "set -- y",
    "export PAGER='cat .env'",
];

/// Commands whose effects depend on that.
const USES: [&str; 11] = [
    "cat $f",
    "cat \"$f\"",
    "x",
    "x y",
    "sh s",
    "cat s | sh",
    "sh t",
    "cat .env",
    "cat $1",
    "for i in $f; do cat $i; done",
    "eval \"cat $f\"",
];

/// The effects of one command that another one does not have, and that nothing unknown in it may be.
fn missing(of: &str, within: &str) -> Vec<Effect> {
    let (all, script) = (read(of, None), read(within, None));
    let is_open = script.doubts.iter().any(|doubt| {
        matches!(
            doubt,
            Doubt::UnknownScript { .. } | Doubt::InlineCode { .. } | Doubt::TooDeep | Doubt::TooMany(_)
        )
    });
    let is_covered = |effect: &Effect| {
        script.effects.iter().any(|other| {
            let is_anywhere = match (&other.target, &effect.target) {
                (Target::Unknown(_), _) => true,
                (Target::Somewhere { end, .. }, Target::Path(path)) => path.ends_with(end.as_str()),
                (Target::Path(path), Target::Somewhere { written, .. }) => {
                    path == written && other.base == Base::Unknown
                }
                _ => false,
            };
            let has_base = other.base == effect.base || other.base == Base::Unknown;
            other.access == effect.access && (is_anywhere || has_base && other.target == effect.target)
        })
    };
    if is_open { Vec::new() } else { all.effects.into_iter().filter(|effect| !is_covered(effect)).collect() }
}

#[test]
fn what_may_not_have_run_hides_nothing() {
    let change = || prop::sample::select(CHANGES.to_vec());
    let way = prop::sample::select(vec![
        "if c; then CHANGE; fi",
        "c && { CHANGE; }",
        "c || { CHANGE; }",
        "case c in a) CHANGE;; esac",
        "while c; do CHANGE; done",
        "for i in a b; do c && { CHANGE; }; done",
        "if c; then CHANGE; else true; fi",
    ]);
    let using = prop::sample::select(USES.to_vec());
    proptest!(config(), |(before in change(), other in change(), way in way, using in using)| {
        let way = way.replace("CHANGE", other);
        let (plain, changed) = (format!("{before}; {using}"), format!("{before}; {way}; {using}"));
        let missing = missing(&plain, &changed);
        prop_assert!(missing.is_empty(), "`{}` has not {:?}", changed, missing);
    });
}

/// Lists of commands, as the body of a loop.
fn body() -> impl Strategy<Value = String> {
    let chains = [
        "cp t u",
        "cp u v",
        "sh v",
        "g=$f",
        "h=$g",
        "cat $h",
        "break",
        "c && continue",
        "s=$(date)",
        "echo $h > s",
    ];
    let command = prop::sample::select([CHANGES.as_slice(), USES.as_slice(), chains.as_slice()].concat());
    prop::collection::vec(command, 1..6).prop_map(|commands| commands.join("; "))
}

#[test]
fn one_more_run_of_a_loop_changes_nothing() {
    let context = Context { home: None, environment: &UnknownEnvironment, programs: &[] };
    proptest!(config(), |(before in body(), body in body())| {
        let mut analyzer = Analyzer::new(&context);
        analyzer.list(&parse(&before, 0).unwrap());
        analyzer.list(&parse(&format!("for i in a b; do {body}; done"), 0).unwrap());
        if analyzer.into_script().doubts.contains(&Doubt::TooDeep) {
            return Ok(());
        }
        let mut analyzer = Analyzer::new(&context);
        analyzer.list(&parse(&before, 0).unwrap());
        let list = parse(&body, 0).unwrap();
        analyzer.repeated(|analyzer| analyzer.list(&list));
        let mut settled = analyzer.state.clone();
        analyzer.list(&list);
        analyzer.state.join(&settled);
        // Which run a command belongs to does not matter.
        analyzer.state.refer(|_| 0);
        settled.refer(|_| 0);
        prop_assert!(settled.covers(&analyzer.state), "`{}`: {:?} became {:?}", body, settled, analyzer.state);
    });
}

#[test]
fn a_loop_does_what_its_body_does_however_often_it_runs() {
    let using = prop::sample::select([USES.as_slice(), &["sh v", "sh u", "cat $h", "cat $g"]].concat());
    let body = body().prop_filter("leaves", |body| !body.contains("break") && !body.contains("continue"));
    proptest!(config(), |(before in prop::sample::select(CHANGES.to_vec()), body in body, using in using)| {
        let looped = format!("{before}; for i in 1 2 3 4 5; do {body}; done; {using}");
        for runs in 0..6 {
            let plain = format!("{before}; {}{using}", format!("{body}; ").repeat(runs));
            let missing = missing(&plain, &looped);
            prop_assert!(missing.is_empty(), "`{}` has not {:?} of {} runs", looped, missing, runs);
        }
    });
}

#[test]
fn both_branches_count() {
    let change = || prop::sample::select(CHANGES.to_vec());
    let using = prop::sample::select(USES.to_vec());
    proptest!(config(), |(one in change(), other in change(), using in using)| {
        let both = format!("if c; then {one}; else {other}; fi; {using}");
        for branch in [one, other] {
            let missing = missing(&format!("{branch}; {using}"), &both);
            prop_assert!(missing.is_empty(), "`{}` has not {:?}", both, missing);
        }
    });
}

#[test]
fn a_state_that_knows_less_does_not_follow_from_one_that_knows_more() {
    let with = |value: Value| {
        let mut state = State::new();
        state.set("x", value);
        state
    };
    let (one, other) = (with(Value::one(Field::literal("a"))), with(Value::one(Field::literal("b"))));
    assert!(!one.covers(&other) && !one.covers(&State::new()) && !State::new().covers(&one));
    assert!(with(Value::Unknown).covers(&one) && !one.covers(&with(Value::Unknown)));
    let both = joined(&one, &other);
    assert_eq!(both.get("x"), Some(&Value::one_of([Field::literal("b"), Field::literal("a")])));
    assert_eq!(joined(&one, &State::new()).get("x"), Some(&Value::Unknown));
}

#[test]
fn sets_with_the_same_members_are_equal() {
    let set =
        |members: &[&str]| members.iter().map(|at| Base::At((*at).to_owned())).collect::<Alternatives<_>>();
    assert_eq!(set(&["a", "b", "a"]), set(&["b", "a"]));
    assert_ne!(set(&["a", "b"]), set(&["a", "c"]));
    assert_ne!(set(&["a"]), set(&["a", "c"]));
}
