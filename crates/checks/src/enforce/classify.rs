//! Decides for each rule whether it can be compiled, into which entries, and why not.

use super::matching_files::{CompiledFileRules, Matches, limit};
use super::parts::{Part, PathStart};
use super::{
    CompiledRules, EnforceRequest, EnforcementClass, ListedFile, OwnPath, RuleEnforcement, SettingsPaths,
    about_links,
};
use crate::guard::{Action, AgentFilter, FileRule, FileRules};
use conclaude_core::dialect::claude::sandbox;
use conclaude_core::dialect::claude::tools::{EDIT, READ};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::{OWN_FILES, Rule};

const NO_SANDBOX: &str = "`sandbox` is not in `enforce`";

/// What a rule becomes.
#[derive(Clone, Debug)]
pub(super) struct RulePlan {
    pub(super) rule: Rule,
    pub(super) class: EnforcementClass,
    pub(super) why: String,
    pub(super) sandbox: Vec<String>,
    pub(super) permissions: Vec<String>,
    pub(super) unlisted: usize,
    pub(super) links: Vec<String>,
    /// It is compiled for the project's own files, and covers others too.
    pub(super) is_for_project: bool,
}

impl RulePlan {
    fn hook_only(rule: Rule, why: impl Into<String>) -> RulePlan {
        RulePlan {
            rule,
            class: EnforcementClass::HookOnly,
            why: why.into(),
            sandbox: Vec::new(),
            permissions: Vec::new(),
            unlisted: 0,
            links: Vec::new(),
            is_for_project: false,
        }
    }
}

/// The entries of a rule.
#[derive(Default)]
struct Spelling {
    sandbox: Vec<String>,
    permissions: Vec<String>,
    is_expanded: bool,
    /// Paths where nothing is now, so nothing is denied: `./etc` for a rule for `/etc`.
    absent: Vec<String>,
    /// Why there are no permission rules.
    no_permission: Option<String>,
    /// A part of it matches names at any depth, even outside of the project.
    is_at_any_depth: bool,
    /// The links in the project that it matches.
    links: Vec<String>,
}

pub(super) struct Compiler<'a> {
    request: &'a EnforceRequest<'a>,
    compiled: CompiledRules,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(request: &'a EnforceRequest<'a>) -> Compiler<'a> {
        let root = request.paths.root.to_owned();
        Compiler { request, compiled: CompiledRules { root, ..CompiledRules::default() } }
    }

    pub(super) fn run(mut self) -> CompiledRules {
        let rules = self.request.rules;
        self.compiled.writing = self.list(&rules.uneditable, true);
        self.compiled.reading = self.list(&rules.unreadable, false);
        self.hook_only_rules();
        self.own_files();
        self.compiled
    }

    /// Compiles a list. Returns its rules that are compiled, with all exceptions.
    fn list(&mut self, rules: &FileRules, writes: bool) -> FileRules {
        let obstacles: Vec<Option<String>> = rules.0.iter().map(|rule| self.obstacle(rule, writes)).collect();
        let is_kept = |(rule, obstacle): &(&FileRule, &Option<String>)| rule.allows || obstacle.is_none();
        let kept = rules.0.iter().zip(&obstacles).filter(is_kept);
        // An exception for one agent becomes one for all: it is unknown whose command it is.
        let kept = kept.map(|(rule, _)| FileRule { agents: AgentFilter::default(), ..rule.clone() });
        let mut kept = CompiledFileRules::new(self.request, FileRules(kept.collect()));
        let spellings: Vec<Option<Spelling>> = (0..kept.rules.0.len())
            .map(|index| kept.rules.0.get(index).and_then(|rule| self.spelling(rule, &kept, index, writes)))
            .collect();
        kept.expanded = spellings.iter().map(|one| one.as_ref().is_some_and(|one| one.is_expanded)).collect();
        let is_absent = spellings.iter().flatten().any(|one| !one.absent.is_empty());
        self.compiled.depends_on_files |= is_absent
            || kept.expanded.contains(&true)
            || !writes && kept.rules.0.iter().any(|rule| rule.allows);
        let mut matches = kept.matches();
        let room = super::MAX_LISTED.saturating_sub(self.compiled.listed.len());
        limit(&mut matches, room, self.request.listed);
        let freed = if writes { vec![Matches::default(); kept.rules.0.len()] } else { kept.freed() };
        let mut of_kept = spellings.into_iter().zip(matches).zip(freed);
        let mut index = 0;
        for (rule, obstacle) in rules.0.iter().zip(obstacles) {
            let named = rule.origin.rule(&rule.written);
            let plan = match obstacle {
                Some(why) if !rule.allows => RulePlan::hook_only(named, why),
                _ => {
                    let plan = match of_kept.next() {
                        Some(((Some(spelling), matches), _)) => self.plan(named, spelling, &matches, writes),
                        Some(((None, _), freed)) if kept.frees_any(index) => {
                            self.exception(rule, &freed, writes)
                        }
                        _ => RulePlan::hook_only(named, "it makes no exception to a compiled rule"),
                    };
                    index += 1;
                    plan
                }
            };
            self.compiled.add_plan(plan, writes, &self.request.paths);
        }
        kept.rules
    }

    /// Why a rule cannot be compiled.
    fn obstacle(&self, rule: &FileRule, writes: bool) -> Option<String> {
        let root = self.request.paths.root;
        let why = if !rule.agents.is_all() {
            "it is for some agents only"
        } else if rule.action == Action::Ask {
            "it asks the user, and the OS cannot"
        } else if sandbox::is_pattern(root) || sandbox::is_pattern(self.request.paths.project) {
            "the project's path has `*`, `?` or `[` in it, which Claude Code reads as a pattern"
        } else if writes && rule.pattern.covers(&git_index(root)) {
            "git itself must write there"
        } else if !writes && rule.source == Some(Action::Allow) {
            "a shell may read it as commands, and the OS cannot tell that from other reading"
        } else {
            let Some(parts) = Part::denied(&rule.pattern, self.request.machine) else {
                return Some("it has too many alternatives".to_owned());
            };
            let contains_root = |part: &Part| {
                let inside = root.trim_start_matches('/').strip_prefix(part.glob.as_str());
                part.start != PathStart::Absolute
                    || inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !parts.iter().all(Part::can_match) {
                "it covers nothing: no path of a pattern has `.` or `..` in it"
            } else if rule.outside && parts.iter().any(contains_root) {
                "it excludes the project's own files, which would be denied as well"
            } else if parts.iter().any(|part| self.is_unlisted(part, writes)) {
                "only files of the project are looked for, and it is a pattern for others"
            } else {
                return None;
            }
        };
        Some(why.to_owned())
    }

    /// Whether it is an absolute part that can be neither written nor expanded.
    fn is_unlisted(&self, part: &Part, writes: bool) -> bool {
        if part.start != PathStart::Absolute
            || part.is_path()
            || part.has_other_reading && !part.is_of_machine
        {
            return false;
        }
        writes || part.is_search_of_machine() || part.spelled(&self.request.paths).is_none()
    }

    /// The entries for the parts of a rule. `None` for an exception.
    fn spelling(
        &self,
        rule: &FileRule,
        kept: &CompiledFileRules<'_>,
        index: usize,
        writes: bool,
    ) -> Option<Spelling> {
        if rule.allows {
            return None;
        }
        let paths = &self.request.paths;
        let exception = kept.exception_to(index);
        let may_be_created = writes && rule.create.is_some_and(|create| create != Action::Block);
        let mut spelling = Spelling {
            is_at_any_depth: rule.pattern.is_at_any_depth(),
            links: if writes { Vec::new() } else { kept.links(index) },
            ..Spelling::default()
        };
        for part in Part::denied(&rule.pattern, self.request.machine)? {
            let is_absent = self.is_absent(&part, writes);
            // Denying a missing path makes the directory around it read-only.
            if !is_absent || part.start == PathStart::Absolute {
                spelling.permissions.extend(part.permission(if writes { EDIT } else { READ }, paths));
            }
            if is_absent {
                spelling.absent.push(part.shown_start());
                continue;
            }
            let is_listed_as_it_is = if writes {
                let is_free = exception.is_some() || may_be_created;
                part.is_path() && (part.start == PathStart::Absolute || !is_free)
            } else {
                true
            };
            match part.spelled(paths) {
                Some(spelled) if is_listed_as_it_is => spelling.sandbox.push(spelled),
                _ => spelling.is_expanded = true,
            }
        }
        if let Some(exception) = exception {
            spelling.no_permission =
                Some(format!("no permission rule, since `{exception}` is an exception to it"));
        } else if may_be_created {
            spelling.no_permission = Some("no permission rule, since it may be created".to_owned());
        } else if spelling.permissions.is_empty() {
            spelling.no_permission = Some("no permission rule can be written for it".to_owned());
        }
        if spelling.no_permission.is_some() {
            spelling.permissions.clear();
        }
        Some(spelling)
    }

    /// Whether one of two readings of a pattern names nothing now and is skipped. An absolute pattern could not be searched for.
    /// For a missing path of the project, each command would see an empty file.
    fn is_absent(&self, part: &Part, writes: bool) -> bool {
        if !part.has_other_reading {
            return false;
        }
        if part.start == PathStart::Absolute {
            return !part.is_path() && !part.is_of_machine;
        }
        let exists = || self.request.existing.iter().any(|entry| entry.path == part.glob);
        writes && part.is_path() && part.is_of_machine && !exists()
    }

    fn plan(&mut self, rule: Rule, spelling: Spelling, matches: &Matches, writes: bool) -> RulePlan {
        let enforcers = self.request.enforcers;
        let Spelling {
            mut sandbox,
            mut permissions,
            is_expanded,
            absent,
            no_permission,
            is_at_any_depth,
            links: matched_links,
        } = spelling;
        let denied = if !enforcers.permissions {
            permissions.clear();
            None
        } else if permissions.is_empty() {
            no_permission
        } else {
            Some(format!("Claude Code denies {}", permissions.join(", ")))
        };
        if !enforcers.sandbox {
            let why = [Some(NO_SANDBOX.to_owned()), denied];
            let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
            return RulePlan { permissions, ..RulePlan::hook_only(rule, why) };
        }
        let list = if writes { "denyWrite" } else { "denyRead" };
        let mut why = Vec::new();
        if !sandbox.is_empty() {
            let is_anywhere = !writes && sandbox.iter().any(|spelled| spelled.contains("**/"));
            let extent = if is_anywhere { ", for files of the project" } else { "" };
            why.push(format!("{list} {}{extent}", sandbox.join(", ")));
        }
        if is_expanded {
            why.push(matches.summary());
            sandbox.extend(self.listed(&rule, matches));
        }
        why.extend(absent.iter().map(|path| format!("{path} does not exist now")));
        let links = self.links(&sandbox, &matched_links);
        why.extend(about_links(&links));
        why.extend(denied);
        let unlisted = if is_expanded { matches.unlisted() } else { 0 };
        // The guards must ask about unlisted files and about links.
        let class = if unlisted > 0 || !links.is_empty() {
            EnforcementClass::HookOnly
        } else if is_expanded || !absent.is_empty() {
            EnforcementClass::ExistingFiles
        } else {
            EnforcementClass::Os
        };
        let why = why.join("; ");
        RulePlan { rule, class, why, sandbox, permissions, unlisted, links, is_for_project: is_at_any_depth }
    }

    /// Lists the files that a pattern matches, each once, and returns their entries.
    fn listed(&mut self, rule: &Rule, matches: &Matches) -> Vec<String> {
        let mut entries = Vec::new();
        for path in &matches.paths {
            let spelled = self.request.paths.spell(path);
            if !self.compiled.listed.iter().any(|known| known.spelled == spelled) {
                let file = ListedFile { path: path.clone(), spelled: spelled.clone(), rule: rule.clone() };
                self.compiled.listed.push(file);
            }
            entries.push(spelled);
        }
        entries
    }

    /// The links in the project on entries that are paths, and on matches of patterns. Nothing outside of it is writable, so
    /// links there stay.
    fn links(&self, entries: &[String], matched: &[String]) -> Vec<String> {
        let paths = &self.request.paths;
        let literal = entries.iter().filter(|entry| !sandbox::is_pattern(entry));
        let literal = literal.map(|entry| paths.absolute(entry));
        let matched = matched.iter().map(|path| format!("{}/{path}", paths.root.trim_end_matches('/')));
        self.links_on(literal.chain(matched))
    }

    /// The links in the project on some absolute paths.
    fn links_on(&self, paths: impl Iterator<Item = String>) -> Vec<String> {
        let EnforceRequest { paths: SettingsPaths { root, project }, machine, .. } = *self.request;
        let link = |path: String| [project, root].iter().find_map(|folder| machine.link_in(folder, &path));
        let from_root = |link: String| {
            let below =
                [root, project].iter().find_map(|folder| link.strip_prefix(folder)?.strip_prefix('/'));
            below.map_or_else(|| link.clone(), str::to_owned)
        };
        let mut links: Vec<String> = paths.filter_map(link).map(from_root).collect();
        links.sort();
        links.dedup();
        links
    }

    /// An exception applies to files that exist now: later ones are not known.
    fn exception(&mut self, exception: &FileRule, freed: &Matches, writes: bool) -> RulePlan {
        let rule = exception.origin.rule(&exception.written);
        if !self.request.enforcers.sandbox {
            return RulePlan::hook_only(rule, NO_SANDBOX);
        }
        let parts = Part::all(&exception.pattern, self.request.machine).unwrap_or_default();
        let is_outside = !parts.is_empty() && parts.iter().all(|part| part.start == PathStart::Absolute);
        if is_outside && (writes || freed.paths.is_empty()) {
            let why = "its exceptions are outside the project, and stay denied to commands";
            return RulePlan::hook_only(rule, why);
        }
        let why = if writes {
            "its exceptions are not listed".to_owned()
        } else if freed.paths.len() > super::MAX_FREED {
            let (count, max) = (freed.paths.len(), super::MAX_FREED);
            let why = format!("it matches {count} files; exceptions for more than {max} are not compiled");
            return RulePlan::hook_only(rule, why);
        } else {
            let paths = freed.paths.iter().map(|path| self.request.paths.spell(path));
            self.compiled.add(&sandbox::ALLOW_READ, paths);
            format!("allowRead: {}", freed.summary())
        };
        RulePlan { class: EnforcementClass::ExistingFiles, ..RulePlan::hook_only(rule, why) }
    }

    /// Rules that do not only concern files.
    fn hook_only_rules(&mut self) {
        for rule in self.request.rules.all() {
            let why = match rule.key.rsplit('.').next().unwrap_or_default() {
                "uneditableFiles" | "unreadableFiles" => continue,
                "toolUsageValidation" => "it is about tools and commands, not about files alone",
                "preventAdditions" | "preventRootAdditions" => "the OS cannot deny only new files",
                "preventUpdateGitIgnored" => "the OS does not know what git ignores",
                "worktreeFence" => "it is for agents in a worktree",
                _ => "Claude Code's settings have nothing like it",
            };
            self.compiled.rules.push(hook_only(rule, why));
        }
        if !self.request.rules.uneditable.0.is_empty() {
            let copies = Rule::built_in("copies of files in the worktrees of agents");
            self.compiled
                .rules
                .push(hook_only(copies, "only the project's own files are listed for writing"));
        }
    }

    /// Our own files.
    fn own_files(&mut self) {
        let EnforceRequest { paths, enforcers, own, .. } = self.request;
        let rule = Rule::built_in(OWN_FILES);
        let (mut denied, mut asked) = (Vec::new(), Vec::new());
        for path in *own {
            let (spelled, absolute) = match path {
                OwnPath::Relative { path, .. } => {
                    (paths.spell(path), format!("{}/{path}", paths.root.trim_end_matches('/')))
                }
                OwnPath::Absolute(path) => (path.clone(), path.clone()),
            };
            // Claude Code itself asks about its own settings.
            if let OwnPath::Relative { path, is_directory } = path
                && !path.starts_with(".claude/")
            {
                let contents = if *is_directory { "/**" } else { "" };
                asked.extend(sandbox::permission(EDIT, &format!("{spelled}{contents}")));
            }
            if !sandbox::is_pattern(&spelled) {
                denied.push(spelled);
                self.compiled.own.push(absolute);
            }
        }
        let has_permission = enforcers.permissions && !asked.is_empty();
        if enforcers.permissions {
            self.compiled.add(&sandbox::ASK, asked);
        }
        let is_whole = denied.len() == own.len()
            && !sandbox::is_pattern(paths.root)
            && !sandbox::is_pattern(paths.project);
        let links = if enforcers.sandbox {
            self.links_on(self.request.own_names.iter().cloned())
        } else {
            Vec::new()
        };
        let (class, why) = if enforcers.sandbox {
            class_of_own_files(&denied, &links, is_whole)
        } else {
            (EnforcementClass::HookOnly, NO_SANDBOX.to_owned())
        };
        if enforcers.sandbox {
            self.compiled.add(&sandbox::DENY_WRITE, denied);
        }
        self.compiled.rules.push(RuleEnforcement { rule, class, why, unlisted: 0, links, has_permission });
    }
}

/// Who protects our own files if the sandbox denies writing these paths.
fn class_of_own_files(denied: &[String], links: &[String], is_whole: bool) -> (EnforcementClass, String) {
    let listed = format!("denyWrite {}", denied.join(", "));
    if let Some(why) = about_links(links) {
        (EnforcementClass::HookOnly, format!("{listed}; {why}"))
    } else if is_whole {
        (EnforcementClass::Os, listed)
    } else {
        let why = "a path has `*`, `?` or `[` in it, which Claude Code reads as a pattern";
        (EnforcementClass::HookOnly, why.to_owned())
    }
}

fn hook_only(rule: Rule, why: &str) -> RuleEnforcement {
    let why = why.to_owned();
    RuleEnforcement {
        rule,
        class: EnforcementClass::HookOnly,
        why,
        unlisted: 0,
        links: Vec::new(),
        has_permission: false,
    }
}

/// A file that git writes with almost every command.
fn git_index(root: &str) -> Location {
    let relative = ".git/index".to_owned();
    Location {
        absolute: format!("{}/{relative}", root.trim_end_matches('/')),
        relative: Some(relative),
        ..Location::default()
    }
}
