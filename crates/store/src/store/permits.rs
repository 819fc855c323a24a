//! Permits of the user: a call that was denied or asked about is let through once, or for the rest of its session. They are kept
//! outside of projects, where agents cannot write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{StoreError, hash, make_state_folder, user_state_folder};
use conclaude_os::files;

/// A session may never end. Its permits expire after this time.
const PERMIT_LIFETIME: Duration = Duration::from_hours(24);

/// How many calls a permit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitScope {
    Once,
    Session,
}

impl PermitScope {
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            PermitScope::Once => "once",
            PermitScope::Session => "for this session",
        }
    }
}

/// The event at which a permit is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimedAt {
    Use,
    /// Claude Code asks the user for permission. This event follows PreToolUse of the same call.
    PermissionRequest,
}

/// The call that a permit is for.
#[derive(Clone, Copy, Debug)]
pub struct PermittedCall<'a> {
    pub root: &'a Path,
    pub session: &'a str,
    /// The start of relative paths, unless that is the root.
    pub cwd: Option<&'a str>,
    /// By [`input_hash`].
    pub input: &'a str,
}

/// The content of a permit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// The record of the call that was not let through.
    pub record: u64,
    pub time: String,
}

/// A tool and all of its input, whatever the order of its fields.
#[must_use]
pub fn input_hash(tool: &str, input: &Map<String, Value>) -> String {
    let sorted = sorted(Value::Object(input.clone()));
    hash(&Value::Array(vec![tool.into(), sorted]).to_string())
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            fields.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        value => value,
    }
}

impl PermittedCall<'_> {
    fn path(&self, ending: &str) -> Option<PathBuf> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.to_owned());
        let key = Value::Array(vec![root.to_string_lossy().into(), self.cwd.into(), self.input.into()]);
        Some(folder_of(self.session)?.join(format!("{}.{ending}", hash(&key.to_string()))))
    }

    /// Permits the call.
    ///
    /// # Errors
    /// When the permit cannot be written.
    pub fn permit(&self, scope: PermitScope, permit: &Permit) -> io::Result<()> {
        prune();
        let path = self.path(match scope {
            PermitScope::Once => ONCE,
            PermitScope::Session => SESSION,
        });
        let path = path.ok_or(StoreError::NoHome)?;
        if let Some(folder) = path.parent() {
            folder.parent().map_or(Ok(()), make_state_folder)?;
            make_state_folder(folder)?;
        }
        files::write_atomically(&path, &serde_json::to_vec(permit)?)
    }

    /// The permit for the call, if there is one. A permit for one call is then used up: of two simultaneous calls only one
    /// renames or removes the file.
    #[must_use]
    pub fn claim(&self, at: ClaimedAt) -> Option<Permit> {
        let of_session = self.path(SESSION).and_then(|path| read(&path));
        if of_session.is_some() {
            return of_session;
        }
        let (once, request) = (self.path(ONCE)?, self.path(REQUEST)?);
        match at {
            ClaimedAt::Use => {
                let permit = read(&once)?;
                fs::rename(&once, &request).ok()?;
                Some(permit)
            }
            ClaimedAt::PermissionRequest => [request, once].iter().find_map(|path| {
                let permit = read(path)?;
                fs::remove_file(path).ok()?;
                Some(permit)
            }),
        }
    }
}

impl PermittedCall<'_> {
    /// The permit that [`PermittedCall::claim`] would find. It is not used up.
    #[must_use]
    pub fn find(&self, at: ClaimedAt) -> Option<Permit> {
        let endings: &[&str] = match at {
            ClaimedAt::Use => &[SESSION, ONCE],
            ClaimedAt::PermissionRequest => &[SESSION, REQUEST, ONCE],
        };
        endings.iter().find_map(|ending| read(&self.path(ending)?))
    }

    /// The call has run, so no request for it will follow.
    pub fn finish(&self) {
        if let Some(request) = self.path(REQUEST) {
            // Most calls have none.
            let _ = fs::remove_file(request);
        }
    }
}

/// The file extensions of permits: for one call, for the whole session, and for the request of a permitted call.
const ONCE: &str = "once";
const SESSION: &str = "session";
const REQUEST: &str = "request";

fn read(path: &Path) -> Option<Permit> {
    let written = path.metadata().ok()?.modified().ok()?;
    if is_old(written) {
        return None;
    }
    serde_json::from_str(&files::read_text(path, 4_096).ok()?).ok()
}

fn is_old(time: SystemTime) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age > PERMIT_LIFETIME)
}

/// Whether something was permitted in a session.
#[must_use]
pub fn has_any(session: &str) -> bool {
    folder_of(session).is_some_and(|folder| folder.is_dir())
}

/// Forgets the permits of a session that has ended.
pub fn forget(session: &str) {
    if let Some(folder) = folder_of(session) {
        // Most sessions have none.
        let _ = fs::remove_dir_all(folder);
    }
}

fn folder() -> Option<PathBuf> {
    Some(user_state_folder()?.join("permits"))
}

fn folder_of(session: &str) -> Option<PathBuf> {
    Some(folder()?.join(hash(session)))
}

/// Removes the permits of sessions in which nothing was permitted for a day.
fn prune() {
    let entries = folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    for entry in entries {
        let is_unused = entry.metadata().and_then(|folder| folder.modified()).is_ok_and(is_old);
        if is_unused {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn call<'a>(root: &'a Path, input: &'a str) -> PermittedCall<'a> {
        PermittedCall { root, session: "s", cwd: None, input }
    }

    fn permit() -> Permit {
        Permit { record: 7, time: "2026-01-01T00:00:00Z".into() }
    }

    #[test]
    fn the_order_of_fields_does_not_matter_and_every_value_does() {
        let one = input_hash("Bash", &input(json!({"command": "a", "x": {"b": 1, "a": [2, 3]}})));
        let other = input_hash("Bash", &input(json!({"x": {"a": [2, 3], "b": 1}, "command": "a"})));
        assert_eq!(one, other);
        for (tool, value) in [
            ("Bash", json!({"x": {"a": [3, 2], "b": 1}, "command": "a"})),
            ("Bash", json!({"x": {"a": [2, 3], "b": 1}, "command": "a "})),
            ("Monitor", json!({"x": {"a": [2, 3], "b": 1}, "command": "a"})),
        ] {
            assert_ne!(input_hash(tool, &input(value)), one);
        }
    }

    #[test]
    fn a_permit_for_one_call_is_used_up_by_it_and_covers_its_request() {
        let root = tempfile::tempdir().unwrap();
        let call = call(root.path(), "x");
        assert_eq!(call.claim(ClaimedAt::Use), None);
        call.permit(PermitScope::Once, &permit()).unwrap();
        assert_eq!(call.find(ClaimedAt::Use), Some(permit()));
        assert_eq!(PermittedCall { session: "t", ..call }.claim(ClaimedAt::Use), None);
        assert_eq!(PermittedCall { input: "y", ..call }.claim(ClaimedAt::Use), None);
        assert_eq!(PermittedCall { cwd: Some("/else"), ..call }.claim(ClaimedAt::Use), None);
        assert_eq!(call.claim(ClaimedAt::Use), Some(permit()));
        assert_eq!(call.claim(ClaimedAt::Use), None);
        assert_eq!(call.find(ClaimedAt::Use), None);
        assert_eq!(call.find(ClaimedAt::PermissionRequest), Some(permit()));
        assert_eq!(call.claim(ClaimedAt::PermissionRequest), Some(permit()));
        assert_eq!(call.claim(ClaimedAt::PermissionRequest), None);
        assert_eq!(call.find(ClaimedAt::PermissionRequest), None);
        call.permit(PermitScope::Once, &permit()).unwrap();
        assert_eq!(call.claim(ClaimedAt::Use), Some(permit()));
        call.finish();
        assert_eq!(call.claim(ClaimedAt::PermissionRequest), None);
    }

    #[test]
    fn of_many_calls_at_the_same_time_one_is_let_through() {
        let root = tempfile::tempdir().unwrap();
        let state = user_state_folder().unwrap();
        call(root.path(), "x").permit(PermitScope::Once, &permit()).unwrap();
        let path = call(root.path(), "x").path(ONCE).unwrap();
        assert!(path.starts_with(state));
        let request = path.with_extension(REQUEST);
        let claimed: Vec<bool> = std::thread::scope(|scope| {
            let claims: Vec<_> =
                (0..16).map(|_| scope.spawn(|| fs::rename(&path, &request).is_ok())).collect();
            claims.into_iter().map(|claim| claim.join().unwrap()).collect()
        });
        assert_eq!(claimed.iter().filter(|is_claimed| **is_claimed).count(), 1);
    }

    #[test]
    fn a_permit_for_a_session_lasts_until_it_ends_and_at_most_a_day() {
        let root = tempfile::tempdir().unwrap();
        let call = call(root.path(), "x");
        call.permit(PermitScope::Session, &permit()).unwrap();
        assert_eq!(call.claim(ClaimedAt::Use), Some(permit()));
        assert_eq!(call.claim(ClaimedAt::PermissionRequest), Some(permit()));
        let file = fs::File::options().write(true).open(call.path(SESSION).unwrap()).unwrap();
        file.set_modified(SystemTime::now() - PERMIT_LIFETIME - Duration::from_secs(1)).unwrap();
        assert_eq!(call.claim(ClaimedAt::Use), None);
        call.permit(PermitScope::Session, &permit()).unwrap();
        forget("s");
        assert_eq!(call.claim(ClaimedAt::Use), None);
    }
}
