//! State of the gates. Gate 1 stores everything that its decision is based on, because the agent may change the step and the
//! config later. Gate 2 stores which writes it denied.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scope::{Scope, ScopePatternError};
use conclaude_core::config::GateConfig;
use conclaude_os::git::Snapshot;
use conclaude_os::log;
use conclaude_store::store::Session;
use conclaude_store::store::session;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatedCall {
    pub tool_use_id: String,
    pub subagent_type: String,
    /// The name of the task in the call, if the client has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The session of the call. Empty in state of an older version.
    pub session: String,
    /// Its prompt at the call. Empty for a helper, which has no markers of its own.
    pub prompt: String,
    /// The project's root at that time.
    pub root: PathBuf,
    /// The step file, relative to it.
    pub step_file: String,
    /// Like `step_file`, but links are not resolved. Empty in state of an older version.
    pub named_step: String,
    /// The rules in the step at the call.
    pub rules: Value,
    /// The scopes of the calling agents, outermost first, and then that of the step itself. A path must match each of them.
    pub scopes: Vec<Vec<String>>,
    pub config: GateConfig,
    /// The phases that were finished before this agent started. Their evidence is older than the call.
    pub finished: Vec<String>,
    /// The last record of the trail at the call. Evidence of the work comes after it, whatever the clock says.
    pub last_record: Option<u64>,
    /// The `PATH` of the hook. A proof with another `PATH` may have run another program.
    pub path: Option<String>,
    /// The call of the gated agent that made this one.
    pub parent: Option<String>,
    /// Whether a snapshot of the work tree was saved. Outside a repository there is none.
    pub has_tree: bool,
    /// The time of the call, in the form of Claude Code's transcripts.
    pub time: String,
    /// Whether the main thread continues meanwhile.
    pub background: bool,
    /// The agent's stop was allowed.
    pub stopped: bool,
    /// It was reported to the user that the agent never stopped.
    pub reported: bool,
}

#[derive(Serialize, Deserialize)]
struct CallLink {
    agent: String,
    call: String,
}

const CALL: &str = "call-";
const LINK: &str = "link-";
const TREE: &str = "tree-";

fn named(prefix: &str, id: &str) -> String {
    format!("{prefix}{}", conclaude_store::store::hash(id))
}

impl GatedCall {
    /// # Errors
    /// When it cannot be written.
    pub fn remember(&self, session: &Session) -> io::Result<()> {
        session.keep(&named(CALL, &self.tool_use_id), self)
    }

    /// The work tree at the call. It names every file, so it is stored separately.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remember_tree(&self, session: &Session, tree: &Snapshot) -> io::Result<()> {
        session.keep(&named(TREE, &self.tool_use_id), tree)
    }

    /// `None` outside a repository.
    #[must_use]
    pub fn tree(&self, session: &Session) -> Option<Snapshot> {
        session.kept(&named(TREE, &self.tool_use_id))
    }

    /// The agent was called, and neither stopped nor was reported as unfinished.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.stopped && !self.reported
    }

    /// Whether this is an agent without markers that a gated one called. It must stay within its caller's boundaries, and its
    /// stop is not gated.
    #[must_use]
    pub fn is_helper(&self) -> bool {
        self.parent.is_some() && self.prompt.is_empty()
    }

    /// # Errors
    /// Says which pattern is broken.
    pub fn scope(&self) -> Result<Scope, ScopePatternError> {
        Scope::new(&self.scopes)
    }

    /// The call with this id, if it is stored.
    #[must_use]
    pub fn recall(session: &Session, tool_use_id: &str) -> Option<GatedCall> {
        session.kept(&named(CALL, tool_use_id))
    }

    /// The known call of this agent.
    #[must_use]
    pub fn of_agent(session: &Session, agent: &str) -> Option<GatedCall> {
        let link: CallLink = session.kept(&named(LINK, agent))?;
        GatedCall::recall(session, &link.call)
    }

    /// Stores that the agent belongs to this call.
    pub fn claim(&self, session: &Session, agent: Option<&str>) {
        let Some(agent) = agent else { return };
        let link = CallLink { agent: agent.to_owned(), call: self.tool_use_id.clone() };
        if let Err(error) = session.keep(&named(LINK, agent), &link) {
            log::warn(|| format!("cannot keep the link from agent to call: {error}"));
        }
    }

    #[must_use]
    pub fn all(session: &Session) -> Vec<GatedCall> {
        session.kept_names(CALL).iter().filter_map(|name| session.kept(name)).collect()
    }

    /// The folders outside of the project that store calls of this project.
    #[must_use]
    pub fn folders(root: &Path) -> Vec<PathBuf> {
        session::folders_of_project(root, CALL)
    }

    /// The known agents, each with its call.
    #[must_use]
    pub fn claimed(session: &Session) -> Vec<(String, String)> {
        let links = session.kept_names(LINK);
        links
            .iter()
            .filter_map(|name| session.kept(name))
            .map(|link: CallLink| (link.agent, link.call))
            .collect()
    }

    /// Open calls with markers whose agent is not known yet.
    #[must_use]
    pub fn unclaimed(session: &Session) -> Vec<GatedCall> {
        let mut calls = GatedCall::all(session);
        calls.retain(|call| call.is_open() && !call.prompt.is_empty());
        if !calls.is_empty() {
            let claimed = GatedCall::claimed(session);
            calls.retain(|call| !claimed.iter().any(|(_, id)| *id == call.tool_use_id));
        }
        calls
    }
}

fn denied_name(tool_use_id: &str) -> String {
    named("denied-", tool_use_id)
}

/// Stores that Gate 2 denied a write. The transcript has it too, but only after the agent stops.
///
/// # Errors
/// When it cannot be written.
pub fn remember_denial(session: &Session, tool_use_id: &str) -> io::Result<()> {
    session.keep(&denied_name(tool_use_id), &tool_use_id)
}

#[must_use]
pub fn is_denied(session: &Session, tool_use_id: &str) -> bool {
    session.kept::<String>(&denied_name(tool_use_id)).is_some()
}
