//! Variables of the environment that make programs run something.

use super::Access;
use super::state::Field;
use super::walk::Walk;

/// Their value is code for a shell, which some program runs.
const CODE: [&str; 17] = [
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "SSH_ASKPASS",
    "VISUAL",
];
/// A shell runs the file that they name.
const SCRIPTS: [&str; 2] = ["BASH_ENV", "ENV"];

impl Walk<'_> {
    /// What programs run because of variables that they are given, as `NAME=value`; `command` is the one that is given them.
    pub(super) fn run_variables(&mut self, given: &[String], command: usize) {
        for variable in given {
            let Some((name, value)) = variable.split_once('=').filter(|(_, value)| *value != "…") else {
                continue;
            };
            let is_prompt = name == "PS4";
            if CODE.contains(&name) {
                let code = Field::literal(value.trim_start_matches(['|', '-', '@']));
                self.as_part(|walk| walk.subshell(|walk| walk.code(&code, "sh")));
            } else if SCRIPTS.contains(&name) {
                self.touch(Access::Read, &Field::literal(value), command);
            } else if is_prompt {
                self.as_part(|walk| walk.evaluate(value));
            }
        }
    }

    /// Runs something that is part of a command's text, and whose output nobody gets.
    pub(super) fn as_part(&mut self, run: impl FnOnce(&mut Self)) {
        let output = std::mem::take(&mut self.output);
        self.inside += 1;
        self.printing(run);
        self.inside -= 1;
        self.output = output;
    }
}
