//! The compiled rules of `permissionRequest`, and their comparison with a request.

use serde_json::Value;

use super::command::{self, Refusal};
use super::{ExaminedRequest, PermissionRequest, RuleAnswer, Subject};
use crate::guard::{AgentFilter, CommandPattern, InputPattern, RuleOrigin, Sources, Touch, is_about};
use conclaude_core::config::{
    AllowRuleConfig, DenyRuleConfig, NameGlob, PermissionDefault, PermissionRequestConfig, ToolPatternText,
};
use conclaude_core::dialect::claude::notation::ToolPattern;
use conclaude_core::dialect::claude::tools;
use conclaude_core::file_pattern::FilePattern;
use conclaude_core::messages::short;
use conclaude_core::rule as record;
use conclaude_core::text::{capitalized, clean_line};
use conclaude_core::yaml::Located;
use shell_effects::glob::GlobError;

/// The advice of a rule without a message.
const OTHERWISE: &str = "Do it another way, or ask the user.";

/// The effect of a permission.
const UNASKED: &str = "It is used without asking.";

pub struct PermissionRules {
    pub(super) deny: Vec<PermissionRule>,
    pub(super) allow: Vec<PermissionRule>,
    pub(super) default: PermissionDefault,
    default_at: RuleOrigin,
    /// Whether an inner layer may allow what the default denies.
    default_is_overridable: bool,
}

#[derive(Debug)]
pub(super) struct PermissionRule {
    tool: ToolPattern,
    compared: InputPattern,
    written: String,
    agents: AgentFilter,
    message: Option<String>,
    pub(super) overridable: bool,
    pub(super) origin: RuleOrigin,
}

impl PermissionRules {
    /// # Errors
    /// Names an invalid pattern. A config that was read has none.
    pub fn of(
        config: &PermissionRequestConfig,
        sources: &Sources<'_>,
        home: Option<&str>,
    ) -> Result<PermissionRules, GlobError> {
        let allow = |rule: &Located<AllowRuleConfig>| {
            let fields = &rule.value.0;
            let origin = sources.origin("permissionRequest.allow", rule);
            PermissionRule::new(&fields.pattern, fields.agent.as_ref(), origin, home)
        };
        let deny = |rule: &Located<DenyRuleConfig>| {
            let fields = &rule.value.0;
            let origin = sources.origin("permissionRequest.deny", rule);
            Ok(PermissionRule {
                message: fields.message.clone(),
                overridable: fields.overridable.unwrap_or(false),
                ..PermissionRule::new(&fields.pattern, fields.agent.as_ref(), origin, home)?
            })
        };
        let default = config.default.as_ref();
        Ok(PermissionRules {
            allow: config.allow.iter().flatten().map(allow).collect::<Result<_, _>>()?,
            deny: config.deny.iter().flatten().map(deny).collect::<Result<_, GlobError>>()?,
            default: config.fallback(),
            default_at: default
                .map(|default| sources.origin("permissionRequest.default", default))
                .unwrap_or_default(),
            default_is_overridable: default.is_some_and(|default| default.value.0.overridable == Some(true)),
        })
    }

    /// The rules of `allow` that apply. If an outer layer denies by default, rules of inner layers need its permission.
    pub(super) fn allowing(&self) -> impl Iterator<Item = &PermissionRule> {
        self.allow.iter().filter(|rule| {
            self.default != PermissionDefault::Deny
                || self.default_is_overridable
                || rule.origin.layer <= self.default_at.layer
        })
    }

    /// Every rule, as records name it.
    pub fn all(&self) -> Vec<record::Rule> {
        self.deny.iter().chain(&self.allow).map(PermissionRule::named).collect()
    }

    pub(super) fn by_default(&self, subject: Subject) -> RuleAnswer {
        let is_denied = self.default == PermissionDefault::Deny;
        let (word, advice) = if is_denied { ("deny", OTHERWISE) } else { ("allow", UNASKED) };
        let rule = written_at(&self.default_at, word);
        let what = if is_denied { "is not allowed by any rule" } else { "is denied by no rule" };
        let reason = capitalized(&format!("{} {what}, and `{}` is `{word}`.", subject.what, rule.key));
        RuleAnswer { subject, reason, advice: advice.into(), about: None, rule }
    }
}

/// A rule as records name it.
fn written_at(origin: &RuleOrigin, written: &str) -> record::Rule {
    let rule = record::Rule::key(origin.key).pattern(written);
    match &origin.file {
        Some(file) => rule.at(&**file, Some(origin.line)),
        None => rule,
    }
}

impl PermissionRule {
    fn new(
        text: &ToolPatternText,
        agent: Option<&NameGlob>,
        origin: RuleOrigin,
        home: Option<&str>,
    ) -> Result<PermissionRule, GlobError> {
        Ok(PermissionRule {
            tool: text.pattern.clone(),
            compared: InputPattern::of(&text.pattern.input, home)?,
            written: text.written.trim().to_owned(),
            agents: AgentFilter::new(agent),
            message: None,
            overridable: false,
            origin,
        })
    }

    /// As records name it.
    pub(super) fn named(&self) -> record::Rule {
        written_at(&self.origin, &self.written)
    }

    pub(super) fn allowed(&self, subject: Subject) -> RuleAnswer {
        let reason = self.by_default(&subject, "is allowed");
        RuleAnswer { subject, reason, advice: UNASKED.into(), about: None, rule: self.named() }
    }

    pub(super) fn denied(&self, subject: Subject, examined: &ExaminedRequest<'_>) -> RuleAnswer {
        let rule = self.named();
        match &self.message {
            Some(message) => {
                let is_all = examined.subject() == subject;
                let about = if is_all { None } else { Some(subject.what.clone()) };
                RuleAnswer { subject, reason: message.clone(), advice: String::new(), about, rule }
            }
            None => {
                let reason = self.by_default(&subject, "is denied");
                RuleAnswer { subject, reason, advice: OTHERWISE.into(), about: None, rule }
            }
        }
    }

    fn by_default(&self, subject: &Subject, is: &str) -> String {
        capitalized(&format!("{} {is}: `{}` has `{}`.", subject.what, self.origin.key, self.written))
    }

    /// The part of the request that the rule denies.
    pub(super) fn denies(&self, examined: &ExaminedRequest<'_>) -> Option<Subject> {
        let request = examined.request;
        if !self.agents.include(request.agent) {
            return None;
        }
        if let (InputPattern::File { pattern, writes }, Some(_)) = (&self.compared, &examined.script) {
            let is_denied = |touch: &&Touch| is_about(touch.access, *writes) && covers_any(pattern, touch);
            let touch = examined.effects.touches.iter().find(is_denied)?;
            let what = format!("running a command that touches {}", clean_line(touch.shown()));
            return Some(Subject { what, matched: touch.shown().to_owned() });
        }
        if !request.is_named_by(&self.tool) {
            return None;
        }
        let is_denied = match &self.compared {
            InputPattern::Any => true,
            InputPattern::Command(pattern) => {
                let (script, text) = examined.script.as_ref()?;
                return command::denied(pattern, script, text, &request.ground);
            }
            InputPattern::File { pattern, .. } => {
                examined.effects.touches.iter().any(|touch| covers_any(pattern, touch))
            }
            InputPattern::Domain(glob) => {
                tools::host_of(request.input).is_some_and(|host| glob.matches_long(&host))
            }
            InputPattern::Field { name, glob } => {
                field(request, name).is_some_and(|value| glob.matches_long(value))
            }
        };
        if is_denied { Some(self.subject(examined)) } else { None }
    }

    /// The part of the request that it compares.
    pub(super) fn subject(&self, examined: &ExaminedRequest<'_>) -> Subject {
        let matched = match &self.compared {
            InputPattern::Domain(_) => tools::host_of(examined.request.input).map(|host| host.to_string()),
            InputPattern::Field { name, .. } => field(examined.request, name).map(str::to_owned),
            InputPattern::Any | InputPattern::Command(_) | InputPattern::File { .. } => None,
        };
        let subject = examined.subject();
        Subject { matched: matched.unwrap_or(subject.matched), ..subject }
    }

    /// Whether the rule alone allows the request. For several command patterns together, see [`command::allowed`].
    pub(super) fn allows(&self, examined: &ExaminedRequest<'_>) -> bool {
        let request = examined.request;
        if !self.agents.include(request.agent) || !request.is_named_by(&self.tool) {
            return false;
        }
        match &self.compared {
            InputPattern::Any => true,
            InputPattern::Command(pattern) => {
                let script = examined.script.as_ref().map(|(script, _)| script);
                script.is_some_and(|script| {
                    command::allowed(&[pattern], script, examined.request.ground.budget).is_ok()
                })
            }
            InputPattern::File { pattern, .. } => {
                let touches = &examined.effects.touches;
                let is_covered = |touch: &Touch| touch.names.iter().all(|name| pattern.surely_covers(name));
                examined.script.is_none() && !touches.is_empty() && touches.iter().all(is_covered)
            }
            InputPattern::Domain(glob) => {
                tools::host_of(request.input).is_some_and(|host| glob.matches_long(&host))
            }
            InputPattern::Field { name, glob } => {
                field(request, name).is_some_and(|value| glob.matches_long(value))
            }
        }
    }

    /// Why the rule does not match. The text follows the rule's name.
    pub(super) fn why_not(&self, examined: &ExaminedRequest<'_>) -> String {
        let request = examined.request;
        let tool = clean_line(request.tool);
        if !self.agents.include(request.agent) {
            return AgentFilter::other(&clean_line(request.agent));
        }
        // Files that a shell command touches are compared with all rules about files.
        let is_compared =
            request.is_named_by(&self.tool) || self.compares_files(request) && examined.script.is_some();
        if !is_compared {
            return format!("does not apply to {tool}");
        }
        match &self.compared {
            InputPattern::Any => format!("does not apply to {tool}"),
            InputPattern::Command(_) if self.is_denial() => match &examined.script {
                Some((_, text)) => format!("does not match `{}`, nor a command in it", short(text)),
                None => NO_COMMAND.into(),
            },
            InputPattern::Command(pattern) => why_not_allowed(pattern, examined),
            InputPattern::File { .. } if !self.is_denial() && examined.script.is_some() => {
                format!("is for tools of files, and not for what {tool} does to them")
            }
            InputPattern::File { writes, .. } => why_no_file(*writes, examined),
            InputPattern::Domain(_) => match tools::host_of(request.input) {
                Some(host) => format!("does not match {host}"),
                None => "does not match: its URL has no host that is known".into(),
            },
            InputPattern::Field { name, .. } => match field(request, name) {
                Some(value) => format!("does not match its `{name}`, {:?}", short(value)),
                None => format!("does not match: there is no `{name}`"),
            },
        }
    }

    fn is_denial(&self) -> bool {
        self.origin.key.ends_with("deny")
    }

    /// Its pattern of commands, if the rule is for the agent and the tool of the request.
    pub(super) fn command_pattern(&self, request: &PermissionRequest<'_>) -> Option<&CommandPattern> {
        match &self.compared {
            InputPattern::Command(pattern)
                if self.agents.include(request.agent) && request.is_named_by(&self.tool) =>
            {
                Some(pattern)
            }
            _ => None,
        }
    }

    /// Why it could deny a command with unknown parts.
    pub(super) fn could_deny(&self, examined: &ExaminedRequest<'_>) -> Option<String> {
        let (script, _) = examined.script.as_ref()?;
        let pattern = self.command_pattern(examined.request)?;
        let why = command::could_deny(pattern, script, &examined.request.ground)?;
        Some(format!("{why}, and `{}` could match it", self.written))
    }

    /// The field that it compares, if it is missing or is not a text. Claude Code always sends it.
    pub(super) fn lacks(&self, examined: &ExaminedRequest<'_>) -> Option<&'static str> {
        let request = examined.request;
        let malformed = || tools::malformed(request.tool, request.input);
        let (field, is_compared) = match &self.compared {
            InputPattern::Any | InputPattern::Domain(_) => return None,
            InputPattern::Command(_) => (malformed()?.0, request.is_named_by(&self.tool)),
            // Files that a shell command touches are compared with all rules about files.
            InputPattern::File { .. } => {
                let (field, access) = malformed()?;
                (field, access.is_none() || request.is_named_by(&self.tool))
            }
            InputPattern::Field { name, .. } => {
                (*name, field(request, name).is_none() && request.is_named_by(&self.tool))
            }
        };
        if is_compared && self.agents.include(request.agent) { Some(field) } else { None }
    }

    pub(super) fn compares_commands(&self, request: &PermissionRequest<'_>) -> bool {
        matches!(self.compared, InputPattern::Command(_)) && self.agents.include(request.agent)
    }

    pub(super) fn compares_files(&self, request: &PermissionRequest<'_>) -> bool {
        matches!(self.compared, InputPattern::File { .. }) && self.agents.include(request.agent)
    }

    pub(super) fn compares_hosts(&self, request: &PermissionRequest<'_>) -> bool {
        matches!(self.compared, InputPattern::Domain(_))
            && self.agents.include(request.agent)
            && request.is_named_by(&self.tool)
    }
}

const NO_COMMAND: &str = "does not match: there is no command";

/// Why a rule alone does not allow a shell command.
fn why_not_allowed(pattern: &CommandPattern, examined: &ExaminedRequest<'_>) -> String {
    let Some((script, _)) = &examined.script else { return NO_COMMAND.into() };
    match command::allowed(&[pattern], script, examined.request.ground.budget) {
        Ok(_) => NO_COMMAND.into(),
        Err(Refusal::NoRule(command)) => format!("does not allow it alone: it does not match `{command}`"),
        Err(why) => format!("does not allow it alone: {why}"),
    }
}

/// Why a pattern of files matches none that the call reads or writes.
fn why_no_file(writes: bool, examined: &ExaminedRequest<'_>) -> String {
    let is_meant = |touch: &&Touch| examined.script.is_none() || is_about(touch.access, writes);
    let touches = examined.effects.touches.iter().filter(is_meant);
    let names: Vec<String> = touches.map(|touch| clean_line(touch.shown())).collect();
    if names.is_empty() {
        format!("does not match: no file is known to be {}", if writes { "written" } else { "read" })
    } else {
        format!("does not cover {}", names.join(", "))
    }
}

fn field<'a>(request: &'a PermissionRequest<'_>, name: &str) -> Option<&'a str> {
    request.input.get(name).and_then(Value::as_str)
}

fn covers_any(pattern: &FilePattern, touch: &Touch) -> bool {
    touch.names.iter().any(|name| pattern.covers(name))
}
