//! Whether one glob covers all that another one matches, as far as that is certain.

/// Characters that mean something in a glob.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// The part of a glob before anything special.
fn head(glob: &str) -> &str {
    glob.find(SPECIAL).and_then(|at| glob.get(..at)).unwrap_or(glob)
}

pub(super) fn is_literal(glob: &str) -> bool {
    !glob.contains(SPECIAL)
}

/// What a glob with one list of alternatives stands for; itself otherwise.
pub(super) fn alternatives(glob: &str) -> Vec<String> {
    if let Some((head, rest)) = glob.split_once('{')
        && let Some((list, tail)) = rest.split_once('}')
        && is_literal(list)
        && is_literal(head)
        && is_literal(tail)
    {
        return list.split(',').map(|one| format!("{head}{one}{tail}")).collect();
    }
    vec![glob.to_owned()]
}

/// Whether `outer` matches whatever `inner` matches. `false` where that is not certain.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    let outers = alternatives(outer);
    alternatives(inner).iter().all(|inner| outers.iter().any(|outer| covers_one(outer, inner)))
}

fn covers_one(outer: &str, inner: &str) -> bool {
    if outer == inner {
        return true;
    }
    match outer.strip_suffix('*').filter(|head| is_literal(head)) {
        Some(start) => head(inner).starts_with(start),
        None => outer
            .strip_prefix('*')
            .is_some_and(|end| is_literal(end) && is_literal(inner) && inner.ends_with(end)),
    }
}

/// The same for commands, where `is_prefix` matches whatever follows at the end of a word.
pub(super) fn covers_command(outer: &str, is_prefix: bool, inner: &str, inner_is_prefix: bool) -> bool {
    if is_prefix && is_literal(outer) {
        let start = head(inner);
        return inner == outer || start.strip_prefix(outer).is_some_and(|rest| rest.starts_with(' '));
    }
    // What may follow an inner prefix is only covered by a star.
    covers(outer, inner) && (!inner_is_prefix || outer.ends_with('*'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use shell_effects::glob::{Glob, Kind};

    #[test]
    fn a_glob_covers_what_is_certain() {
        for (outer, inner) in
            [("*", "a"), ("*", "a*"), ("a*", "ab"), ("a*", "ab*c"), ("*r", "coder"), ("{a,b}", "a")]
        {
            assert!(covers(outer, inner), "{outer} {inner}");
        }
        for (outer, inner) in
            [("a", "a*"), ("a*", "*"), ("ab*", "a*"), ("*r", "*er"), ("a?", "ab"), ("{a,b}", "c")]
        {
            assert!(!covers(outer, inner), "{outer} {inner}");
        }
        assert!(covers_command("git push", true, "git push --force", false));
        assert!(covers_command("git *", false, "git push", true));
        assert!(!covers_command("git push", true, "git pushy", false));
        assert!(!covers_command("git push", false, "git push", true));
        assert!(!covers_command("git", true, "git*", false));
        assert!(!covers_command("git", true, "git*", true), "git* matches gitk");
    }

    proptest! {
        #[test]
        fn what_is_covered_matches_nothing_more(
            outer in "[ab*?]{1,4}", inner in "[ab*?]{1,4}", text in "[ab]{0,5}",
        ) {
            let matches = |glob: &str| Glob::new(glob, Kind::Name).unwrap().matches(&text).unwrap();
            if covers(&outer, &inner) && matches(&inner) {
                prop_assert!(matches(&outer), "{} {} {}", outer, inner, text);
            }
        }

        #[test]
        fn a_command_that_is_covered_matches_nothing_more(
            outer in "[ab *]{1,4}", inner in "[ab *]{1,4}", text in "[ab ]{0,6}", modes in any::<(bool, bool)>(),
        ) {
            let matches = |glob: &str, is_prefix: bool| {
                let is = |glob: &str| Glob::new(glob, Kind::Name).unwrap().matches(&text).unwrap();
                is(glob) || (is_prefix && is(&format!("{glob} *")))
            };
            if covers_command(&outer, modes.0, &inner, modes.1) && matches(&inner, modes.1) {
                prop_assert!(matches(&outer, modes.0), "{:?} {:?} {:?} {:?}", outer, inner, text, modes);
            }
        }
    }
}
