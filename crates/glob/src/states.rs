//! Follows all states of a program at once.

use super::program::Instruction;

/// Whether a program takes the whole text.
pub(super) fn run(program: &[Instruction], text: &str) -> bool {
    let mut now = States::start(program);
    let mut spare = States::new(program.len());
    text.chars().all(|c| now.advance(&mut spare, program, c)) && now.has_end(program)
}

/// A set of positions in a program.
pub(super) struct States {
    pub(super) list: Vec<usize>,
    has: Vec<bool>,
    /// Positions that are still to be added.
    open: Vec<usize>,
}

impl States {
    pub(super) fn new(size: usize) -> States {
        States { list: Vec::new(), has: vec![false; size], open: Vec::new() }
    }

    pub(super) fn start(program: &[Instruction]) -> States {
        let mut states = States::new(program.len());
        states.add(program, 0);
        states
    }

    /// Moves past a character and returns whether anything takes it. `spare` is empty before and after.
    pub(super) fn advance(&mut self, spare: &mut States, program: &[Instruction], c: char) -> bool {
        for at in &self.list {
            match program.get(*at) {
                Some(Instruction::Many { slash }) if *slash || c != '/' => spare.add(program, *at),
                Some(op) if op.takes(c) => spare.add(program, at + 1),
                _ => {}
            }
        }
        std::mem::swap(self, spare);
        spare.clear();
        !self.list.is_empty()
    }

    /// Whether the text may end here.
    pub(super) fn has_end(&self, program: &[Instruction]) -> bool {
        self.list.iter().any(|at| matches!(program.get(*at), Some(Instruction::End)))
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            if let Some(has) = self.has.get_mut(at) {
                *has = false;
            }
        }
    }

    /// Adds a position, and all positions that it reaches without a character.
    pub(super) fn add(&mut self, program: &[Instruction], at: usize) {
        self.open.push(at);
        while let Some(at) = self.open.pop() {
            match self.has.get_mut(at) {
                Some(has) if !*has => *has = true,
                _ => continue,
            }
            self.list.push(at);
            match program.get(at) {
                Some(Instruction::Split(one, other)) => self.open.extend([*other, *one]),
                Some(Instruction::Jump(to)) => self.open.push(*to),
                Some(Instruction::Many { .. }) => self.open.push(at + 1),
                _ => {}
            }
        }
    }
}
