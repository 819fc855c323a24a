//! A panic anywhere leads to a documented answer: never to a silent allow if a gate or a guard applies.

use std::panic::PanicHookInfo;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::call::AnsweredEvent;
use super::stdio;
use conclaude_core::config::PreToolUseConfig;
use conclaude_core::decide::HookResult;
use conclaude_core::dialect::{Answer, HookCall, claude};
use conclaude_core::error::HookError;
use conclaude_core::event::{Blocking, EventKind};
use conclaude_core::plan::Plan;

/// The facts of a call at the time of a panic.
struct PanicState {
    /// Whether a configured or planned step may block.
    can_block: AtomicBool,
    /// The plan was made.
    is_planned: AtomicBool,
    /// The payload from stdin.
    payload: Mutex<&'static [u8]>,
    /// How to answer it, once the client is known.
    event: Mutex<Option<AnsweredEvent>>,
}

/// Static, because a panic hook has no other access to the call.
static STATE: PanicState = PanicState {
    can_block: AtomicBool::new(false),
    is_planned: AtomicBool::new(false),
    payload: Mutex::new(&[]),
    event: Mutex::new(None),
};

/// Stores the payload for the panic hook, for the rest of the process.
pub(super) fn keep(payload: Vec<u8>) -> &'static [u8] {
    let payload: &'static [u8] = payload.leak();
    if let Ok(mut kept) = STATE.payload.lock() {
        *kept = payload;
    }
    payload
}

/// From here on a panic is answered in the client's form.
pub(super) fn event_is_known(event: &AnsweredEvent) {
    if let Ok(mut known) = STATE.event.lock() {
        *known = Some(event.clone());
    }
}

/// From here on a panic does not bypass a guard, while the other steps are still unknown.
pub(super) fn guards_are_known(event: EventKind, guards: &PreToolUseConfig) {
    let can_block = event.blocking() == Blocking::Tool && guards.has_any();
    STATE.can_block.store(can_block, Ordering::SeqCst);
}

/// From here on the plan decides whether a panic must block.
pub(super) fn plan_is_known(plan: &Plan, is_first_stop: bool) {
    let may_block = match plan.event.blocking() {
        Blocking::Stop(_) => is_first_stop,
        Blocking::Never => false,
        _ => true,
    };
    STATE.can_block.store(may_block && plan.can_block(), Ordering::SeqCst);
    STATE.is_planned.store(true, Ordering::SeqCst);
}

/// Whether a gate that can still block may apply, judging by the payload alone. Until it is known, a panic must not bypass it. A
/// stop is blocked only the first time.
fn gate_may_apply(event: EventKind) -> bool {
    let payload = STATE.payload.try_lock().map_or_else(|_| Vec::new(), |payload| payload.to_vec());
    let payload = String::from_utf8_lossy(&payload);
    match event {
        EventKind::SubagentStop => {
            payload.contains("\"stop_hook_active\":false") || payload.contains("\"stop_hook_active\": false")
        }
        EventKind::PreToolUse => payload.contains("\"agent_id\"") || payload.contains("DES-VALIDATION"),
        _ => false,
    }
}

/// Answers for a panic. The release build aborts on one, so the hook itself answers.
pub(super) fn install(call: &HookCall) {
    event_is_known(&AnsweredEvent::of_call(call, call.client.unwrap_or(&claude::DIALECT)));
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != main {
            // Only a side task failed, such as a notification: the main thread continues without it.
            loop {
                std::thread::park();
            }
        }
        let answer = answer(info);
        stdio::write(&answer);
        #[expect(clippy::exit, reason = "after a panic there is nothing to return to")]
        std::process::exit(answer.exit.code().into());
    }));
}

fn answer(info: &PanicHookInfo<'_>) -> Answer {
    let known = STATE.event.try_lock().ok().and_then(|known| known.clone());
    let event =
        known.unwrap_or_else(|| AnsweredEvent::of_call(&HookCall::of(EventKind::Stop), &claude::DIALECT));
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("no message");
    let text = format!(
        "internal error at {location}: {what}. This is a bug in conclaude {}; please report it with this message",
        env!("CARGO_PKG_VERSION")
    );
    let is_open = !STATE.is_planned.load(Ordering::SeqCst) && gate_may_apply(event.called);
    if STATE.can_block.load(Ordering::SeqCst) || is_open {
        let reason =
            format!("conclaude: {text}. It is blocked, since a gate, guard or check could not be evaluated.");
        event.render(&Ok(HookResult::blocked(reason)), &[])
    } else {
        event.render(&Err(HookError::Interrupted(text)), &[])
    }
}

/// Debug builds panic here on request, so that the answer can be tested.
pub(super) fn panic_here_in_tests(point: &str) {
    #[cfg(debug_assertions)]
    if conclaude_os::environment::text("CONCLAUDE_TEST_PANIC").is_some_and(|asked| asked == point) {
        #[expect(clippy::panic, reason = "this is its purpose")]
        {
            panic!("requested by CONCLAUDE_TEST_PANIC");
        }
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
}
