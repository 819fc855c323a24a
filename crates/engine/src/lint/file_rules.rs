//! Lists of protected files: patterns that a later `!pattern` fully excepts, and `!pattern` without an effect.

use std::path::Path;

use super::coverage::{covers, is_literal, may_overlap};
use super::{LintContext, files, names};
use conclaude_core::config::{FileRuleConfig, Layer, NameGlob, Remark};
use conclaude_core::yaml::Located;
use conclaude_os::budget::Budget;
use conclaude_os::git;
use conclaude_store::load::LoadedConfig;

type FileRule = Located<FileRuleConfig>;

pub(super) fn check(loaded: &LoadedConfig, context: &LintContext, found: &mut Vec<Remark>) {
    let guards = &loaded.config.guards;
    for (key, list) in [
        ("uneditableFiles", &guards.uneditable_files),
        ("unreadableFiles", &guards.unreadable_files),
        ("preventAdditions", &guards.prevent_additions),
    ] {
        let list =
            FileRuleList { key, loaded, rules: list.as_deref().unwrap_or_default(), root: &context.root };
        for index in 0..list.rules.len() {
            found.extend(
                list.names(index, context)
                    .or_else(|| list.unmatched(index))
                    .or_else(|| list.dead(index))
                    .or_else(|| list.repeated(index)),
            );
        }
    }
}

struct FileRuleList<'a> {
    key: &'static str,
    loaded: &'a LoadedConfig,
    rules: &'a [FileRule],
    root: &'a Path,
}

fn pattern(rule: &FileRule) -> &str {
    rule.value.0.pattern.as_str()
}

fn freed(rule: &FileRule) -> Option<&str> {
    pattern(rule).strip_prefix('!')
}

/// Whether the first rule is for all agents that the second is for.
fn is_for_all(first: &FileRule, second: &FileRule) -> bool {
    let agent = |rule: &FileRule| rule.value.0.agent.as_ref().map(NameGlob::as_str).map(str::to_owned);
    match (agent(first), agent(second)) {
        (None, _) => true,
        (Some(first), Some(second)) => covers(&first, &second),
        (Some(_), None) => false,
    }
}

impl FileRuleList<'_> {
    fn layer(&self, rule: &FileRule) -> Layer {
        self.loaded.origins.sources().get(rule.source).map_or(Layer::default(), |source| source.layer)
    }

    fn remark(&self, index: usize, title: String) -> Remark {
        Remark::new(["preToolUse", self.key, &index.to_string()], title)
    }

    fn names(&self, index: usize, context: &LintContext) -> Option<Remark> {
        let agent = self.rules.get(index)?.value.0.agent.as_ref()?;
        let wrong = names::agent(agent.as_str(), context, true)?;
        Some(wrong.remark(&["preToolUse", self.key, &index.to_string(), "agent"], self.key))
    }

    fn unmatched(&self, index: usize) -> Option<Remark> {
        let written = pattern(self.rules.get(index)?);
        let (why, help) = spelling(freed(self.rules.get(index)?).unwrap_or(written))?;
        Some(self.remark(index, format!("{}: `{written}` matches nothing", self.key)).because(why).help(help))
    }

    fn dead(&self, index: usize) -> Option<Remark> {
        let rule = self.rules.get(index)?;
        let plain = pattern(rule).trim_start_matches('!');
        let is_of_project = plain.trim_end_matches('/').contains('/') && !plain.starts_with(['/', '~']);
        if rule.value.0.outside == Some(true) && is_of_project {
            let remark = self.remark(index, format!("{}: `{}` covers nothing", self.key, pattern(rule)));
            let why = "a pattern with `/` matches files of the project, which `outside` excludes";
            return Some(
                remark.because(why).help("remove `outside`, or start the pattern with `//` or `~/`"),
            );
        }
        match freed(rule) {
            Some(free) => self.frees_nothing(index, rule, free),
            None => self.is_freed(index, rule),
        }
    }

    /// A pattern that a later one of the same file fully excepts. In another file that is an intended exception.
    fn is_freed(&self, index: usize, rule: &FileRule) -> Option<Remark> {
        let later = self.rules.iter().skip(index + 1);
        let by = later.into_iter().find(|by| {
            freed(by).is_some_and(|free| covers_files(free, pattern(rule)))
                && is_for_all(by, rule)
                && by.source == rule.source
        })?;
        let written = pattern(rule);
        let remark = self.remark(index, format!("{}: `{written}` protects nothing", self.key));
        let why =
            format!("`{}` in line {} excepts all of it again: the last match decides", pattern(by), by.line);
        Some(remark.because(why).help("remove one of the two, or move this one after it"))
    }

    /// A pattern that another one of the same file covers, without an exception between them.
    fn repeated(&self, index: usize) -> Option<Remark> {
        let rule = self.rules.get(index)?;
        let fields = &rule.value.0;
        let says_it = |at: usize, by: &FileRule| {
            let between = self.rules.iter().take(at.max(index)).skip(at.min(index) + 1);
            let other = &by.value.0;
            at != index
                && by.source == rule.source
                && freed(by).is_none()
                && covers_files(pattern(by), pattern(rule))
                && (at < index || !covers_files(pattern(rule), pattern(by)))
                && is_for_all(by, rule)
                && other.overridable == fields.overridable
                && other.outside == fields.outside
                && (fields.message.is_none() || fields.message == other.message)
                && !between.into_iter().any(|one| freed(one).is_some())
        };
        let (_, by) =
            self.rules.iter().enumerate().find(|(at, by)| freed(rule).is_none() && says_it(*at, by))?;
        let title = format!("{}: `{}` is redundant", self.key, pattern(rule));
        let why = format!("`{}` in line {} covers all of it", pattern(by), by.line);
        Some(self.remark(index, title).because(why).help("remove it"))
    }

    fn frees_nothing(&self, index: usize, rule: &FileRule, free: &str) -> Option<Remark> {
        let earlier: Vec<&FileRule> =
            self.rules.iter().take(index).filter(|rule| freed(rule).is_none()).collect();
        let remark = |why: String, help: String| {
            let title = format!("{}: `!{free}` has no effect", self.key);
            Some(self.remark(index, title).because(why).help(help))
        };
        if earlier.is_empty() {
            let later = self.rules.iter().skip(index + 1).any(|rule| freed(rule).is_none());
            let help =
                if later { "move it after the patterns that it is an exception to" } else { "remove it" };
            return remark("no pattern before it protects anything".into(), help.into());
        }
        // A large project is not searched.
        let is_directory =
            || free.ends_with('/') || files::has_folder(self.root, free) || is_ignored(self.root, free);
        if !earlier.iter().any(|held| may_overlap(pattern(held), free, false)) && !is_directory() {
            let help = format!("remove it, or write `!{free}/` if it is a directory");
            return remark("no pattern before it covers such a file".into(), help);
        }
        let may_be_freed = |held: &&&FileRule| {
            self.layer(held) == self.layer(rule) || held.value.0.overridable == Some(true)
        };
        let holds = |held: &&&FileRule| {
            !may_be_freed(held) && covers_files(pattern(held), free) && is_for_all(held, rule)
        };
        let held = match earlier.iter().find(holds) {
            Some(held) => held,
            None if earlier.iter().any(|held| may_be_freed(&held)) => return None,
            None => earlier.first()?,
        };
        remark(
            format!("`{}` comes from an outer layer and is not overridable", pattern(held)),
            "write `overridable: true` there, if it is yours".into(),
        )
    }
}

/// Whether git ignores the content of such a directory: then it may be missing and come back.
fn is_ignored(root: &Path, pattern: &str) -> bool {
    is_literal(pattern) && git::ignores(root, &root.join(pattern).join("file"), &Budget::unlimited())
}

/// Why no compared path has this form, and the fix.
fn spelling(pattern: &str) -> Option<(&'static str, String)> {
    for home in ["$HOME/", "${HOME}/"] {
        if let Some(rest) = pattern.strip_prefix(home) {
            return Some(("variables are not replaced in patterns", format!("write `~/{rest}`")));
        }
    }
    if pattern.starts_with('$') {
        return Some(("variables are not replaced in patterns", "write the path itself".into()));
    }
    // `./` and `//` at the start have a meaning, and so has a slash at the end.
    let inner = pattern.strip_prefix("./").unwrap_or(pattern.trim_start_matches('/')).trim_end_matches('/');
    if inner.split('/').any(|name| name == "..") {
        let help = "write an absolute path, or one that starts with `~/`";
        return Some(("paths are compared without `..`", help.into()));
    }
    let is_plain = |name: &&str| !matches!(*name, "" | ".");
    if inner.split('/').all(|name| is_plain(&name)) || inner.is_empty() {
        return None;
    }
    let names: Vec<&str> = inner.split('/').filter(is_plain).collect();
    Some(("paths are compared without `.` and `//` in them", format!("write `{}`", names.join("/"))))
}

/// Whether a pattern of files certainly covers everything that another one covers.
fn covers_files(outer: &str, inner: &str) -> bool {
    // `./name` is only at the root.
    let plain = |pattern: &str| match pattern.strip_prefix("./") {
        Some(rest) if !rest.trim_end_matches('/').contains('/') => format!("/{rest}"),
        rest => rest.unwrap_or(pattern).to_owned(),
    };
    let (outer, inner) = (plain(outer), plain(inner));
    if outer == inner || matches!(outer.as_str(), "*" | "**" | "**/*") {
        return true;
    }
    // A directory with everything in it.
    let directory = outer.strip_suffix("/**").or_else(|| outer.strip_suffix('/')).unwrap_or(&outer);
    if is_literal(directory)
        && inner.strip_prefix(directory).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    {
        return true;
    }
    // A name at any depth, against a name at any depth; a trailing slash is only for directories.
    let name = inner.strip_prefix('/').unwrap_or(&inner);
    !outer.contains('/') && !name.contains('/') && covers(&outer, name)
}
