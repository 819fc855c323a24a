//! The project that a verb of `conclaude des` works in: its phases, its steps, and its records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::audit::{self, Record};
use crate::cli::root;
use crate::config::ConclaudeConfig;
use crate::des::record::{self, Change};
use crate::des::{paths, step};
use crate::root::Root;

/// The project that the verb works in.
pub(super) struct Project {
    pub(super) root: Root,
    /// Its defaults, if it cannot be read.
    pub(super) config: ConclaudeConfig,
    /// What is wrong with the config.
    problem: Option<String>,
}

impl Project {
    pub(super) fn find() -> io::Result<Project> {
        let root = root()?;
        let (config, problem) = match root.config.as_deref().map(crate::root::load) {
            Some(Ok(config)) => (config, None),
            Some(Err(error)) => (ConclaudeConfig::default(), Some(error.to_string())),
            None => (ConclaudeConfig::default(), None),
        };
        Ok(Project { root, config, problem })
    }

    /// For verbs that cannot do without the config: what they make would be wrong.
    pub(super) fn must_be_sound(&self) -> io::Result<()> {
        self.problem.as_ref().map_or(Ok(()), |problem| Err(io::Error::other(problem.clone())))
    }

    /// The gates hold under a broken config, with their defaults; so an agent must be able to record what they ask for.
    pub(super) fn warn_if_broken(&self) {
        if let Some(problem) = &self.problem {
            let problem = problem.lines().next().unwrap_or_default();
            let _ = writeln!(io::stderr(), "conclaude: warning: {problem}; the step's own phases count");
        }
    }

    /// The phases of a step: those of the config, or where it cannot be read those that the step has.
    pub(super) fn phases(&self, step: &step::Step) -> Vec<String> {
        let log = step.phases().filter(|log| self.problem.is_some() && !log.is_empty());
        match log {
            Some(log) => log.into_iter().map(|phase| phase.name).collect(),
            None => self.configured_phases(),
        }
    }

    pub(super) fn configured_phases(&self) -> Vec<String> {
        self.config.des.clone().unwrap_or_default().phase_names()
    }

    /// Where the step really lies, and its name in records. It must be inside the project.
    pub(super) fn step(&self, path: &Path) -> io::Result<(PathBuf, String)> {
        let cwd = std::env::current_dir()?;
        let outside = || {
            io::Error::other(format!(
                "{} lies outside the project {}",
                path.display(),
                self.root.work.display()
            ))
        };
        let name = paths::relative(&self.root.work, &cwd, &path.to_string_lossy()).ok_or_else(outside)?;
        Ok((paths::real_path(&cwd.join(path)), name))
    }

    pub(super) fn audit(&self, record: &Record) -> io::Result<()> {
        let problem =
            audit::write(&self.root.folder, self.config.audit.as_ref(), record).map_err(io::Error::other)?;
        if let Some(problem) = problem {
            let _ = writeln!(io::stderr(), "conclaude: warning: {problem}");
        }
        Ok(())
    }

    /// A phase that counts only with proof is not recorded without it.
    pub(super) fn needs_proof(&self, phase: &str) -> io::Result<()> {
        let des = self.config.des.clone().unwrap_or_default();
        if des.evidence().contains(&phase) {
            return Err(io::Error::other(format!(
                "{phase} counts only with proof (des.evidence): use `conclaude des run`"
            )));
        }
        Ok(())
    }

    /// Records a change of a phase, in the step file and in the trail.
    pub(super) fn record(
        &self,
        path: &Path,
        phase: &str,
        change: &Change,
        event: &str,
        decision: &str,
    ) -> io::Result<()> {
        let (real, name) = self.step(path)?;
        record::change(&self.root.folder, &real, |step| {
            let phases = self.phases(step);
            record::record(step, &phases, phase, change, Timestamp::now())
        })
        .map_err(io::Error::other)?;
        let proof = match change {
            Change::Finish { evidence, .. } => evidence.clone(),
            Change::Prove { evidence, .. } => Some(evidence.clone()),
            _ => None,
        };
        self.audit(&Record {
            phase: Some(phase.into()),
            evidence: proof,
            ..base_record(event, &name, decision)
        })
    }
}

pub(super) fn base_record(event: &str, step: &str, decision: &str) -> Record {
    let session = std::env::var("CLAUDE_CODE_SESSION_ID").ok();
    Record {
        event: event.into(),
        session,
        step: Some(step.into()),
        decision: decision.into(),
        ..Record::default()
    }
}
