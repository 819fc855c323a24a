//! Plays a session, and what came of it.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};

use crate::client::{Client, ClientKind};
use crate::model::{Model, Script, SentTurn};
use crate::project::Project;

/// A session takes seconds. One that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// What the user types.
const PROMPT: &str = "Please do the work.";

/// A session that is over. A test that fails while one is at hand prints it.
pub(crate) struct Session {
    client: &'static str,
    sent: Vec<SentTurn>,
    stdout: String,
    stderr: String,
}

impl Session {
    pub(crate) fn play(client: &Client, kind: &ClientKind, project: &Project, script: Script) -> Session {
        let model = Model::start(script);
        let mut command = client.command(kind, project, model.port, PROMPT);
        crate::registration::register(kind.name, project);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let with_us = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
        // SAFETY: the closure makes one system call and touches no memory.
        unsafe { command.pre_exec(with_us) };
        let mut child = command.spawn().expect("the client can be started");
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let exit = wait(&mut child);
        let read = |reader: JoinHandle<String>| reader.join().expect("a reader does not panic");
        let session =
            Session { client: kind.name, sent: model.sent(), stdout: read(stdout), stderr: read(stderr) };
        assert_eq!(exit, Some(0), "the exit code of {} (None: it took too long)", kind.name);
        session
    }

    /// What the main thread, or the agent, was sent in this turn.
    #[track_caller]
    pub(crate) fn sent(&self, is_of_agent: bool, turn: usize) -> &str {
        let is_this = |sent: &&SentTurn| sent.is_of_agent == is_of_agent && sent.turn == turn;
        let sent = self.sent.iter().rfind(is_this);
        &sent.unwrap_or_else(|| panic!("{}: nobody was asked for turn {turn}", self.client)).text
    }

    /// How many turns there were.
    pub(crate) fn turns(&self, is_of_agent: bool) -> usize {
        let turns = self.sent.iter().filter(|sent| sent.is_of_agent == is_of_agent).map(|sent| sent.turn + 1);
        turns.max().unwrap_or(0)
    }

    #[track_caller]
    pub(crate) fn expect(&self, is_of_agent: bool, turn: usize, part: &str) {
        let sent = self.sent(is_of_agent, turn);
        assert!(sent.contains(part), "{}: {part:?} was not sent in turn {turn}:\n{sent}", self.client);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for SentTurn { is_of_agent, turn, text } in &self.sent {
                let whose = if *is_of_agent { "the agent" } else { "the main thread" };
                eprintln!("--- {whose} was sent in turn {turn}:\n{}", end_of(text));
            }
            eprintln!("--- stdout:\n{}\n--- stderr:\n{}", end_of(&self.stdout), end_of(&self.stderr));
        }
    }
}

fn end_of(text: &str) -> String {
    const KEPT: usize = 3_000;
    let skipped = text.chars().count().saturating_sub(KEPT);
    text.chars().skip(skipped).collect()
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    let mut pipe = pipe.expect("the pipe was asked for");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The exit code; nothing if the client had to be killed.
fn wait(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    let ended = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status.code(),
            None if begin.elapsed() > LIMIT => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // What the client left in its group would hold the pipes.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    ended
}
