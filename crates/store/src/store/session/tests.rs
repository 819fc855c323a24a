use std::time::SystemTime;

use super::super::{MAX_OUTPUTS, touch_last};
use super::*;

fn agent(id: &str) -> Agent {
    Agent { name: "coder".into(), kind: None, id: Some(id.into()), description: None, transcript: None }
}

#[test]
fn blocks_are_counted_per_session_and_agent_up_to_the_limit() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s1");
    assert_eq!(session.count_block(&agent("a"), 2, &BlockCause::default()).unwrap(), BlockCount::Blocks(1));
    assert_eq!(session.count_block(&agent("a"), 2, &BlockCause::default()).unwrap(), BlockCount::Blocks(2));
    assert_eq!(session.count_block(&agent("a"), 2, &BlockCause::default()).unwrap(), BlockCount::Exhausted);
    assert_eq!(session.count_block(&agent("b"), 2, &BlockCause::default()).unwrap(), BlockCount::Blocks(1));
    let other = Session::new(root.path(), "s2");
    assert_eq!(other.count_block(&agent("a"), 2, &BlockCause::default()).unwrap(), BlockCount::Blocks(1));
    assert_eq!(fs::read_to_string(root.path().join(".conclaude/.gitignore")).unwrap(), "*\n");
}

#[test]
fn what_blocked_an_agent_is_reported_once_and_a_timeout_is_remembered() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s");
    assert_eq!(session.take_blocks(&agent("a")).unwrap(), None);
    let cause = |check: &str, obstacles: Vec<Obstacle>| BlockCause { checks: vec![check.into()], obstacles };
    session.count_block(&agent("a"), 9, &cause("lint", Vec::new())).unwrap();
    session.count_block(&agent("a"), 9, &cause("lint", Vec::new())).unwrap();
    assert!(!session.was_blocked_by(Obstacle::Timeout, &agent("a")));
    session.count_block(&agent("a"), 9, &cause("test", vec![Obstacle::Timeout])).unwrap();
    assert!(
        session.was_blocked_by(Obstacle::Timeout, &agent("a"))
            && !session.was_blocked_by(Obstacle::Timeout, &agent("b"))
    );
    let taken = session.take_blocks(&agent("a")).unwrap();
    assert_eq!(taken, Some((3, vec!["lint".into(), "test".into()])));
    assert_eq!(session.take_blocks(&agent("a")).unwrap(), None);
    session.count_block(&agent("a"), 9, &cause("lint", Vec::new())).unwrap();
    assert_eq!(session.take_blocks(&agent("a")).unwrap(), Some((1, vec!["lint".into()])));
    assert!(session.was_blocked_by(Obstacle::Timeout, &agent("a")));
}

#[test]
fn ids_cannot_lead_out_of_the_folder() {
    let root = tempfile::tempdir().unwrap();
    Session::new(root.path(), "../../etc")
        .count_block(&agent("../../passwd"), 1, &BlockCause::default())
        .unwrap();
    let names: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [FOLDER]);
}

#[test]
fn concurrent_blocks_are_all_counted() {
    let root = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                Session::new(root.path(), "s").count_block(&agent("a"), 100, &BlockCause::default()).unwrap()
            });
        }
    });
    let last = Session::new(root.path(), "s").count_block(&agent("a"), 100, &BlockCause::default()).unwrap();
    assert_eq!(last, BlockCount::Blocks(17));
}

#[test]
fn fields_of_a_newer_version_are_kept() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s");
    session.count_block(&agent("a"), 9, &BlockCause::default()).unwrap();
    let path = session.folder.join(format!("{}.json", hash("a")));
    fs::write(&path, r#"{"blocks":4,"novelty":{"x":1}}"#).unwrap();
    assert_eq!(session.count_block(&agent("a"), 9, &BlockCause::default()).unwrap(), BlockCount::Blocks(5));
    assert!(fs::read_to_string(&path).unwrap().contains(r#""novelty":{"x":1}"#));
}

#[test]
fn a_damaged_count_is_an_error_not_a_zero() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s");
    session.count_block(&agent("a"), 9, &BlockCause::default()).unwrap();
    fs::write(session.folder.join(format!("{}.json", hash("a"))), "{truncated").unwrap();
    assert!(session.count_block(&agent("a"), 9, &BlockCause::default()).is_err());
}

#[cfg(unix)]
#[test]
fn symlinks_instead_of_our_folders_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), root.path().join(FOLDER)).unwrap();
    assert!(Session::new(root.path(), "s").count_block(&agent("a"), 1, &BlockCause::default()).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Nor is anything written or removed through it.
    let old = elsewhere.path().join("state").join("0".repeat(64));
    fs::create_dir_all(&old).unwrap();
    fs::create_dir_all(elsewhere.path().join("state/last")).unwrap();
    File::open(&old).unwrap().set_times(fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    touch_last(root.path(), &conclaude_core::dialect::claude::DIALECT, "Stop");
    Session::new(root.path(), "s").end();
    assert!(old.exists() && !elsewhere.path().join("state/last/Stop").exists());
}

#[test]
fn sessions_that_ended_long_ago_are_removed_and_others_stay() {
    let root = tempfile::tempdir().unwrap();
    let age = |session: &Session, name: &str, days: u64| {
        let path = session.folder.join(name);
        let then = SystemTime::now() - Duration::from_hours(days * 24);
        File::open(path).unwrap().set_times(fs::FileTimes::new().set_modified(then)).unwrap();
    };
    let sessions: Vec<Session> = (0..3).map(|n| Session::new(root.path(), &format!("s{n}"))).collect();
    for session in &sessions {
        session.count_block(&agent("a"), 9, &BlockCause::default()).unwrap();
    }
    sessions[0].end();
    age(&sessions[0], "ended", 8);
    sessions[1].end();
    age(&sessions[1], "ended", 6);
    sessions[2].end();
    let left: Vec<bool> = sessions.iter().map(|s| s.folder.exists()).collect();
    assert_eq!(left, [false, true, true]);
}

#[test]
fn a_test_has_a_state_of_its_own() {
    let state = user_state_folder().unwrap();
    assert!(state.starts_with(std::env::temp_dir()), "{}", state.display());
    assert_eq!(user_state_folder().unwrap(), state);
    assert_ne!(std::thread::spawn(user_state_folder).join().unwrap().unwrap(), state);
    let root = tempfile::tempdir().unwrap();
    assert!(Session::new(root.path(), "s").outside.unwrap().starts_with(state));
}

#[test]
fn a_resumed_session_keeps_its_counts() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s");
    session.count_block(&agent("a"), 9, &BlockCause::default()).unwrap();
    session.end();
    assert!(session.folder.join("ended").exists());
    session.resume();
    assert!(!session.folder.join("ended").exists());
}

#[test]
fn a_folder_that_the_user_created_ignores_itself_too() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(FOLDER)).unwrap();
    Session::new(root.path(), "s").count_block(&agent("a"), 1, &BlockCause::default()).unwrap();
    assert!(
        root.path().join(".conclaude/.gitignore").exists()
            && root.path().join(".conclaude/state/last").is_dir()
    );
}

#[test]
fn long_outputs_do_not_pile_up() {
    let root = tempfile::tempdir().unwrap();
    let session = Session::new(root.path(), "s");
    for _ in 0..MAX_OUTPUTS + 5 {
        session.output_file("stdout").unwrap();
    }
    assert_eq!(fs::read_dir(session.folder.join("output")).unwrap().count(), MAX_OUTPUTS);
}

#[test]
fn arrivals_are_recorded_once_the_folder_exists() {
    let root = tempfile::tempdir().unwrap();
    touch_last(root.path(), &conclaude_core::dialect::claude::DIALECT, "Stop");
    assert!(!root.path().join(FOLDER).exists());
    fs::create_dir_all(root.path().join(".conclaude/state/last")).unwrap();
    touch_last(root.path(), &conclaude_core::dialect::claude::DIALECT, "Stop");
    assert!(root.path().join(".conclaude/state/last/Stop").is_file());
}
