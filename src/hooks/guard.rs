//! A panic anywhere ends in a documented answer: never in a silent allow where a gate applies.

use std::cell::Cell;
use std::panic::PanicHookInfo;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dialect::claude::Answer;
use crate::event::{Blocking, Event};

static GATE_APPLIES: AtomicBool = AtomicBool::new(false);

/// The gates were looked at.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// What came on stdin.
static PAYLOAD: Mutex<&'static [u8]> = Mutex::new(&[]);

thread_local! {
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// Says whether a gate was found to apply, and may still block. One that does is not taken back by another.
pub(super) fn gate_applies(applies: bool) {
    GATE_APPLIES.fetch_or(applies, Ordering::SeqCst);
}

/// Keeps the payload where a panic finds it, for the rest of the process.
pub(super) fn keep(payload: Vec<u8>) -> &'static [u8] {
    let payload: &'static [u8] = payload.leak();
    if let Ok(mut kept) = PAYLOAD.lock() {
        *kept = payload;
    }
    payload
}

/// Says that the gates were looked at: `gate_applies` tells the rest.
pub(super) fn gates_are_known() {
    IS_KNOWN.store(true, Ordering::SeqCst);
}

/// Whether a gate that can still block may apply, as far as the bare payload tells: until it is known, a panic must not open it.
/// A stop is blocked the first time alone.
fn gate_may_apply(event: Event) -> bool {
    let payload = PAYLOAD.try_lock().map_or_else(|_| Vec::new(), |payload| payload.to_vec());
    let payload = String::from_utf8_lossy(&payload);
    match event {
        Event::SubagentStop => {
            payload.contains("\"stop_hook_active\":false") || payload.contains("\"stop_hook_active\": false")
        }
        Event::PreToolUse => payload.contains("\"agent_id\"") || payload.contains("DES-VALIDATION"),
        _ => false,
    }
}

/// Answers for a panic. The release build aborts on one, so the answer is given from the hook itself.
pub(super) fn install(event: Event) {
    // A mark of our own: std's handle of a thread costs a first call of the system's allocator.
    IS_MAIN.set(true);
    std::panic::set_hook(Box::new(move |info| {
        if !IS_MAIN.get() {
            // A courtesy failed, such as a notification: the main thread goes on without it.
            loop {
                std::thread::park();
            }
        }
        let answer = answer(event, info);
        answer.emit();
        #[expect(clippy::exit, reason = "after a panic there is nothing to return to")]
        std::process::exit(answer.exit.code().into());
    }));
}

fn answer(event: Event, info: &PanicHookInfo<'_>) -> Answer {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("no message");
    let text = format!(
        "internal error at {place}: {what}. This is a bug in conclaude {}; please report it with this message",
        env!("CARGO_PKG_VERSION")
    );
    let is_open = !IS_KNOWN.load(Ordering::SeqCst) && gate_may_apply(event);
    if GATE_APPLIES.load(Ordering::SeqCst) || is_open {
        let reason = format!("conclaude: {text}. It is blocked, since a gate could not be evaluated.");
        match event.row().blocking {
            Blocking::Tool => Answer::deny(event, &reason),
            _ => Answer::block(&reason),
        }
    } else {
        Answer::failure(event, &text)
    }
}

/// Debug builds panic on request, so that the answer can be tested: at this point of the path.
pub(super) fn panic_here_in_tests(point: &str) {
    #[cfg(debug_assertions)]
    if std::env::var("CONCLAUDE_TEST_PANIC").is_ok_and(|asked| asked == point) {
        #[expect(clippy::panic, reason = "this is its purpose")]
        {
            panic!("asked for by CONCLAUDE_TEST_PANIC");
        }
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
}
