//! Decides for each rule whether it can be compiled, into what, and why not.

use super::existing::{KeptRules, Matches};
use super::parts::{Part, Start};
use super::{Compiled, EnforceRequest, EnforcementClass, ListedFile, OwnPath, RuleEnforcement};
use crate::guard::{Action, AgentFilter, FileRule, FileRules};
use conclaude_core::dialect::claude::sandbox;
use conclaude_core::dialect::claude::tools::{EDIT, READ};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::{OWN_FILES, Rule};

/// What a rule becomes.
#[derive(Clone, Debug)]
pub(super) struct RulePlan {
    pub(super) rule: Rule,
    pub(super) class: EnforcementClass,
    pub(super) why: String,
    pub(super) sandbox: Vec<String>,
    pub(super) permissions: Vec<String>,
}

impl RulePlan {
    fn hook_only(rule: Rule, why: impl Into<String>) -> RulePlan {
        RulePlan {
            rule,
            class: EnforcementClass::HookOnly,
            why: why.into(),
            sandbox: Vec::new(),
            permissions: Vec::new(),
        }
    }
}

/// The parts of a rule that can be compiled.
#[derive(Default)]
struct Spelling {
    sandbox: Vec<String>,
    permissions: Vec<String>,
    is_expanded: bool,
    /// Why there are no permission rules, if that is so.
    no_permission: Option<String>,
}

pub(super) struct Compiler<'a> {
    request: &'a EnforceRequest<'a>,
    compiled: Compiled,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(request: &'a EnforceRequest<'a>) -> Compiler<'a> {
        Compiler { request, compiled: Compiled::default() }
    }

    pub(super) fn run(mut self) -> Compiled {
        let rules = self.request.rules;
        self.compiled.writing = self.list(&rules.uneditable, true);
        self.compiled.reading = self.list(&rules.unreadable, false);
        self.others();
        self.own();
        self.compiled
    }

    /// Compiles a list. Returns its rules that are compiled, with all exceptions.
    fn list(&mut self, rules: &FileRules, writes: bool) -> FileRules {
        let obstacles: Vec<Option<String>> = rules.0.iter().map(|rule| self.obstacle(rule, writes)).collect();
        let is_kept = |(rule, obstacle): &(&FileRule, &Option<String>)| rule.allows || obstacle.is_none();
        let kept = rules.0.iter().zip(&obstacles).filter(is_kept);
        // An exception for one agent is one for all: nobody knows whose command it is.
        let kept = kept.map(|(rule, _)| FileRule { agents: AgentFilter::default(), ..rule.clone() });
        let mut kept = KeptRules::new(self.request, FileRules(kept.collect()));
        let spellings: Vec<Option<Spelling>> = (0..kept.rules.0.len())
            .map(|index| kept.rules.0.get(index).and_then(|rule| self.spelling(rule, &kept, index, writes)))
            .collect();
        kept.expanded = spellings.iter().map(|one| one.as_ref().is_some_and(|one| one.is_expanded)).collect();
        self.compiled.depends_on_files |=
            kept.expanded.contains(&true) || !writes && kept.rules.0.iter().any(|rule| rule.allows);
        let matches = kept.matches();
        let freed = if writes { vec![Matches::default(); kept.rules.0.len()] } else { kept.freed() };
        let mut of_kept = spellings.into_iter().zip(matches).zip(freed);
        let mut is_any_compiled = false;
        for (rule, obstacle) in rules.0.iter().zip(obstacles) {
            let named = rule.origin.rule(&rule.written);
            let plan = match obstacle {
                Some(why) if !rule.allows => RulePlan::hook_only(named, why),
                _ => match of_kept.next() {
                    Some(((Some(spelling), matches), _)) => self.plan(named, spelling, &matches, writes),
                    Some(((None, _), freed)) => self.exception(named, &freed, is_any_compiled, writes),
                    None => RulePlan::hook_only(named, "it is not compiled"),
                },
            };
            is_any_compiled |= plan.class != EnforcementClass::HookOnly;
            self.compiled.add_plan(plan, writes);
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
            "the project's path has `*`, `?` or `[` in it, which Claude Code takes for a pattern"
        } else if writes && rule.pattern.covers(&git_index(root)) {
            "git itself must write there"
        } else if !writes && rule.source == Some(Action::Allow) {
            "a shell may read it as commands, and the OS cannot tell that from other reading"
        } else {
            let Some(parts) = Part::all(&rule.pattern) else {
                return Some("it has too many alternatives".to_owned());
            };
            let likely = || parts.iter().filter(|part| !part.is_unlikely);
            let contains_root = |part: &Part| {
                let inside = root.trim_start_matches('/').strip_prefix(part.glob.as_str());
                part.start != Start::Absolute
                    || inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if rule.outside && likely().any(contains_root) {
                "it leaves the project's own files alone, which would be denied as well"
            } else if likely().any(|part| part.start == Start::Absolute && self.is_unlisted(part, writes)) {
                "only files of the project are looked for, and it is a pattern for others"
            } else {
                return None;
            }
        };
        Some(why.to_owned())
    }

    /// Whether an absolute part can be neither written nor expanded.
    fn is_unlisted(&self, part: &Part, writes: bool) -> bool {
        if part.is_path() {
            return false;
        }
        writes || part.is_search_of_machine() || part.spelled(&self.request.paths).is_none()
    }

    /// How the parts of a rule are written. None for an exception.
    fn spelling(
        &self,
        rule: &FileRule,
        kept: &KeptRules<'_>,
        index: usize,
        writes: bool,
    ) -> Option<Spelling> {
        if rule.allows {
            return None;
        }
        let paths = &self.request.paths;
        let exception = kept.exception_to(index);
        let may_be_created = writes && rule.create.is_some_and(|create| create != Action::Block);
        let mut spelling = Spelling::default();
        for part in Part::all(&rule.pattern)? {
            let exists = || self.request.existing.iter().any(|entry| entry.path == part.glob);
            if part.is_unlikely && (part.start == Start::Absolute || writes && !exists()) {
                continue;
            }
            let is_listed_as_it_is = if writes {
                let is_free = exception.is_some() || may_be_created;
                part.is_path() && (part.start == Start::Absolute || !is_free)
            } else {
                true
            };
            match part.spelled(paths) {
                Some(spelled) if is_listed_as_it_is => spelling.sandbox.push(spelled),
                _ => spelling.is_expanded = true,
            }
            spelling.permissions.extend(part.permission(if writes { EDIT } else { READ }, paths));
        }
        if let Some(exception) = exception {
            spelling.no_permission =
                Some(format!("no permission rule, since `{exception}` frees some of it"));
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

    fn plan(&mut self, rule: Rule, spelling: Spelling, matches: &Matches, writes: bool) -> RulePlan {
        let enforcers = self.request.enforcers;
        let Spelling { mut sandbox, mut permissions, is_expanded, no_permission } = spelling;
        if !enforcers.permissions {
            permissions.clear();
        }
        let denied = if !enforcers.permissions {
            None
        } else if permissions.is_empty() {
            no_permission
        } else {
            Some(format!("Claude Code denies {}", permissions.join(", ")))
        };
        if !enforcers.sandbox || matches.are_too_many() {
            let why = if enforcers.sandbox {
                let (count, max) = (matches.paths.len(), super::MAX_LISTED);
                format!("{count} files match, and at most {max} are listed")
            } else {
                "`sandbox` is not in `enforce`".to_owned()
            };
            let why = [Some(why), denied].into_iter().flatten().collect::<Vec<_>>().join("; ");
            return RulePlan { permissions, ..RulePlan::hook_only(rule, why) };
        }
        let list = if writes { "denyWrite" } else { "denyRead" };
        let mut why = Vec::new();
        if !sandbox.is_empty() {
            why.push(format!("{list} {}", sandbox.join(", ")));
        }
        if is_expanded {
            why.push(matches.summary());
            for path in &matches.paths {
                let spelled = self.request.paths.spell(path);
                if !self.compiled.listed.iter().any(|known| known.spelled == spelled) {
                    let file =
                        ListedFile { path: path.clone(), spelled: spelled.clone(), rule: rule.clone() };
                    self.compiled.listed.push(file);
                }
                sandbox.push(spelled);
            }
        }
        why.extend(denied);
        let class = if is_expanded { EnforcementClass::ExistingFiles } else { EnforcementClass::Os };
        RulePlan { rule, class, why: why.join("; "), sandbox, permissions }
    }

    /// An exception frees files that exist now: of those that it would free later nothing is known.
    fn exception(&mut self, rule: Rule, freed: &Matches, is_any_compiled: bool, writes: bool) -> RulePlan {
        if !self.request.enforcers.sandbox {
            return RulePlan::hook_only(rule, "`sandbox` is not in `enforce`");
        }
        if !is_any_compiled {
            return RulePlan::hook_only(rule, "no rule before it is compiled");
        }
        let why = if writes {
            "what it frees is not listed".to_owned()
        } else if freed.are_too_many() {
            let (count, max) = (freed.paths.len(), super::MAX_LISTED);
            return RulePlan::hook_only(
                rule,
                format!("it frees {count} files, and at most {max} are listed"),
            );
        } else {
            let paths = freed.paths.iter().map(|path| self.request.paths.spell(path));
            self.compiled.add(&sandbox::ALLOW_READ, paths);
            format!("allowRead: {}", freed.summary())
        };
        RulePlan { class: EnforcementClass::ExistingFiles, ..RulePlan::hook_only(rule, why) }
    }

    /// Rules that are not about files alone.
    fn others(&mut self) {
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
    fn own(&mut self) {
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
            // Claude Code asks about its own settings itself.
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
        if enforcers.permissions {
            self.compiled.add(&sandbox::ASK, asked);
        }
        let found = if enforcers.sandbox {
            let why = format!("denyWrite {}", denied.join(", "));
            self.compiled.add(&sandbox::DENY_WRITE, denied);
            RuleEnforcement { rule, class: EnforcementClass::Os, why }
        } else {
            hook_only(rule, "`sandbox` is not in `enforce`")
        };
        self.compiled.rules.push(found);
    }
}

fn hook_only(rule: Rule, why: &str) -> RuleEnforcement {
    RuleEnforcement { rule, class: EnforcementClass::HookOnly, why: why.to_owned() }
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
