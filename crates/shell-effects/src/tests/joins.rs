//! Where two ways through a script meet, the state allows what either of them allows, and knows nothing more.

use std::rc::Rc;

use proptest::prelude::*;

use crate::Base;
use crate::analysis::definitions::{Definitions, FunctionBody};
use crate::analysis::directories::Directories;
use crate::analysis::disk::Disk;
use crate::analysis::field::Field;
use crate::analysis::state::{Exports, State};
use crate::analysis::stream::Stream;
use crate::analysis::variables::{Alternatives, MAX_OPTIONS, MAX_VARIABLES, Value, Variables};
use crate::syntax::tree::{Command, Kind};

fn config() -> ProptestConfig {
    let cases = test_support::cases(300, 10_000);
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
    (written, many, prop::collection::vec(name(), 0..3)).prop_map(|(written, many, made)| {
        let mut disk = Disk::default();
        for number in 0..many {
            disk.write(&format!("f{number}"), Stream::Unknown, false, Vec::new());
        }
        for (path, content, appends, by) in written {
            disk.write(path, Stream::text(Field::literal(content)), appends, vec![by]);
        }
        made.into_iter().for_each(|path| disk.make_directory(path));
        disk
    })
}

fn states(bodies: Vec<FunctionBody>) -> impl Strategy<Value = State> {
    let positional = prop::option::of(prop::collection::vec(text().prop_map(Field::literal), 0..2));
    let aliases = definitions(vec!["ls".to_owned(), "cat .env".to_owned()]);
    let fields = (variables(), definitions(bodies), aliases, positional, directories(), exports(), disk());
    fields.prop_map(|(variables, functions, aliases, positional, directories, exports, disk)| State {
        variables,
        functions,
        aliases,
        positional: positional.map(Rc::new),
        directories,
        exports,
        disk,
    })
}

fn bodies() -> Vec<FunctionBody> {
    let body = || FunctionBody(Rc::new(Command { kind: Kind::Group(Vec::new()), redirects: Vec::new() }));
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
