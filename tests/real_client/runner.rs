//! Picks the scenarios, plays them one after the other, and says how each went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use crate::client::Client;
use crate::namespace;
use crate::scenarios::{ALL, Scenario};

const USAGE: &str = "usage: cargo test --test real_client [-- [--list] [PART OF A NAME …]]";

/// Does what the arguments ask for. An error says what is missing to play anything at all.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let (options, parts): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with('-'));
    let wanted = |scenario: &&Scenario| {
        parts.is_empty() || parts.iter().any(|part| scenario.name.contains(part.as_str()))
    };
    let chosen: Vec<&Scenario> = ALL.iter().filter(wanted).collect();
    match options.first().map(|option| option.as_str()) {
        Some("--list") => {
            chosen.iter().for_each(|scenario| println!("{:<20} {}", scenario.name, scenario.about));
            return Ok(ExitCode::SUCCESS);
        }
        Some(other) => return Err(format!("unknown option {other}\n{USAGE}")),
        None if chosen.is_empty() => {
            return Err(format!("no scenario has such a name; --list shows them\n{USAGE}"));
        }
        None => {}
    }
    if !namespace::is_inside() {
        // The client is fetched here, where there still is a network.
        let client = Client::fetch()?;
        return namespace::enter(&client, arguments);
    }
    namespace::prepare()?;
    Ok(play(&chosen, &Client::given()?))
}

/// The client has timers of its own, which this suite cannot control: what fails is played once more, and its first failure
/// stays in the output.
const TRIES: usize = 2;

fn play(chosen: &[&Scenario], client: &Client) -> ExitCode {
    let begin = Instant::now();
    let failed: Vec<&str> =
        chosen.iter().filter(|scenario| !passes(scenario, client)).map(|scenario| scenario.name).collect();
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "real_client: {} of {} scenarios passed in {seconds:.1} s",
        chosen.len() - failed.len(),
        chosen.len()
    );
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("real_client: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

fn passes(scenario: &Scenario, client: &Client) -> bool {
    (1..=TRIES).any(|_| {
        let start = Instant::now();
        let went = catch_unwind(AssertUnwindSafe(|| (scenario.play)(client)));
        let word = if went.is_ok() { "ok" } else { "FAILED" };
        println!("{word:<6} {:<20} {:>5.1} s", scenario.name, start.elapsed().as_secs_f64());
        went.is_ok()
    })
}
