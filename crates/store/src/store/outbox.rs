//! Messages of subagents' events. Claude Code does not show them there, so they are pending until the next event of the main
//! thread whose messages are shown. The user and Claude may get a message at different events. It is removed when both have it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store;
use conclaude_core::decide::DeliveredMessage;
use conclaude_core::text::{LIMIT, length};
use conclaude_os::files;
use conclaude_os::log;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutboxEntry {
    /// The agent that it is about.
    pub agent_id: Option<String>,
    /// The agents that called it, nearest first: messages of a nested agent are shown with its ancestor.
    pub ancestors: Vec<String>,
    pub text: String,
    pub shown_to_user: bool,
    pub shown_to_claude: bool,
    #[serde(skip)]
    pub path: PathBuf,
}

impl OutboxEntry {
    /// Whether it is about this agent or one that it called.
    #[must_use]
    pub fn belongs_to(&self, agent_id: &str) -> bool {
        self.agent_id.as_deref() == Some(agent_id) || self.ancestors.iter().any(|id| id == agent_id)
    }
}

#[derive(Clone, Debug)]
pub struct Outbox {
    root: PathBuf,
    folder: PathBuf,
}

impl Outbox {
    /// Nothing is created until something is added.
    #[must_use]
    pub fn of(root: &Path, session_id: &str) -> Outbox {
        Outbox {
            root: root.to_owned(),
            folder: root.join(store::FOLDER).join("outbox").join(store::hash(session_id)),
        }
    }

    /// Adds a message, to be shown after those that are pending already.
    pub fn put(&self, entry: &OutboxEntry) -> io::Result<()> {
        store::make_folder(&self.root, &self.folder)?;
        self.remove_seen();
        let dropped = store::make_room(&self.folder);
        if dropped > 0 {
            self.count_dropped(dropped)?;
        }
        let name = format!("{:020}-{}.json", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        files::write_atomically(&self.folder.join(name), &serde_json::to_vec(entry)?)
    }

    /// Makes room: messages that the user has seen are removed first, silently. Claude did not get them because their agent
    /// ended without a notification.
    fn remove_seen(&self) {
        let count = fs::read_dir(&self.folder).map_or(0, Iterator::count);
        if count + 1 < store::MAX_OUTPUTS {
            return;
        }
        for entry in self.entries().filter(|entry| entry.shown_to_user) {
            let _ = fs::remove_file(&entry.path);
        }
    }

    /// Counts undelivered messages that were dropped for new ones, so that this is reported to the user.
    fn count_dropped(&self, more: u64) -> io::Result<()> {
        let path = self.folder.join("dropped.count");
        let before: u64 =
            files::read_text(&path, 64).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        files::write_atomically(&path, (before + more).to_string().as_bytes())
    }

    /// A message about dropped messages, if there are any.
    #[must_use]
    pub fn dropped(&self) -> Option<OutboxEntry> {
        let path = self.folder.join("dropped.count");
        let count = files::read_text(&path, 64).ok()?;
        let text = format!(
            "conclaude: {} older messages of subagents were dropped, since they could not be delivered",
            count.trim()
        );
        Some(OutboxEntry { text, path, ..OutboxEntry::default() })
    }

    /// The pending messages, in order, as far as they fit into one answer; the rest stays pending.
    #[must_use]
    pub fn take(&self, wanted: impl Fn(&OutboxEntry) -> bool) -> Vec<OutboxEntry> {
        let mut used = 0;
        self.entries()
            .filter(|entry| wanted(entry))
            .take_while(|entry| {
                let first = used == 0;
                used += length(&entry.text) + 1;
                first || used <= LIMIT
            })
            .collect()
    }

    fn entries(&self) -> impl Iterator<Item = OutboxEntry> {
        let is_ours =
            files::is_real_folder(&self.root.join(store::FOLDER)) && files::is_real_folder(&self.folder);
        let found = if is_ours { fs::read_dir(&self.folder).ok() } else { None };
        let mut paths: Vec<PathBuf> =
            found.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| is_entry(path));
        paths.sort_unstable();
        paths.into_iter().filter_map(|path| read(&path))
    }
}

fn is_entry(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn read(path: &Path) -> Option<OutboxEntry> {
    let text = files::read_text(path, 1 << 20).ok()?;
    let entry: OutboxEntry = serde_json::from_str(&text).ok()?;
    Some(OutboxEntry { path: path.to_owned(), ..entry })
}

/// Records who got which messages, and removes those that both have. Called after the answer was written: a crash in between
/// shows a message twice rather than never.
pub fn note(delivered: &[DeliveredMessage]) {
    for one in delivered {
        let entry = if is_entry(&one.path) { read(&one.path) } else { None };
        let entry = entry.map(|entry| OutboxEntry {
            shown_to_user: entry.shown_to_user || one.to_user,
            shown_to_claude: entry.shown_to_claude || one.to_claude,
            ..entry
        });
        match entry {
            Some(entry) if !(entry.shown_to_user && entry.shown_to_claude) => {
                let bytes = serde_json::to_vec(&entry).map_err(io::Error::from);
                if let Err(error) = bytes.and_then(|bytes| files::write_atomically(&one.path, &bytes)) {
                    log::warn(|| format!("cannot note who was shown {}: {error}", one.path.display()));
                }
            }
            _ => drop(fs::remove_file(&one.path)),
        }
    }
}

/// The texts, one per line. None if there is no text.
#[must_use]
pub fn text_of<'a>(entries: impl Iterator<Item = &'a OutboxEntry>) -> Option<String> {
    let texts: Vec<&str> = entries.map(|entry| entry.text.as_str()).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(agent: &str, text: &str) -> OutboxEntry {
        OutboxEntry { agent_id: Some(agent.into()), text: text.into(), ..OutboxEntry::default() }
    }

    #[test]
    fn pending_messages_come_in_order_and_stay_until_they_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let outbox = Outbox::of(root.path(), "s");
        assert_eq!(outbox.take(|_| true), []);
        for text in ["one", "two", "three"] {
            outbox.put(&entry("a", text)).unwrap();
        }
        outbox.put(&entry("b", "four")).unwrap();
        let taken = outbox.take(|entry| entry.belongs_to("a"));
        assert_eq!(text_of(taken.iter()).unwrap(), "one\ntwo\nthree");
        assert_eq!(outbox.take(|_| true).len(), 4, "nothing is gone before it was shown");
        let deliver = |to_user, to_claude| {
            let one = |entry: &OutboxEntry| DeliveredMessage { path: entry.path.clone(), to_user, to_claude };
            note(&taken.iter().map(one).collect::<Vec<_>>());
        };
        deliver(true, false);
        let seen = outbox.take(|entry| entry.shown_to_user && !entry.shown_to_claude);
        assert_eq!((seen.len(), outbox.take(|_| true).len()), (3, 4), "Claude's copies are still pending");
        deliver(false, true);
        assert_eq!(text_of(outbox.take(|_| true).iter()).unwrap(), "four");
        assert_eq!(Outbox::of(root.path(), "another").take(|_| true), []);
    }

    #[test]
    fn what_does_not_fit_stays_pending() {
        let root = tempfile::tempdir().unwrap();
        let outbox = Outbox::of(root.path(), "s");
        for _ in 0..3 {
            outbox.put(&entry("a", &"x".repeat(4_000))).unwrap();
        }
        assert_eq!(outbox.take(|_| true).len(), 2);
    }

    #[test]
    fn messages_of_a_nested_agent_belong_to_its_ancestors() {
        let nested =
            OutboxEntry { ancestors: vec!["parent".into(), "grandparent".into()], ..entry("child", "x") };
        assert!(
            nested.belongs_to("child") && nested.belongs_to("parent") && nested.belongs_to("grandparent")
        );
        assert!(!nested.belongs_to("stranger"));
    }
}
