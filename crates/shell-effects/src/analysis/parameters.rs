//! What `$name` and `${name…}` stand for.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::assignments::unknown_value;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::side_effects;
use crate::analysis::variables::{MAX_VARIABLES, Value};
use crate::programs::system;
use crate::syntax::tree::{Operation, Piece, Word};

/// Longer values are not trimmed: the pattern is compared with each length.
const MAX_TRIMMED: usize = 256;

/// What a parameter stands for.
pub(crate) enum ParameterValue {
    Fields(Vec<Field>),
    /// The word of `${name:-word}`, whose quotes count.
    Default(Field),
    /// What matches a pattern of the shell.
    Like(&'static str),
    Unknown,
}

impl Analyzer<'_> {
    /// `$name`, or `${name…}` with an operation. `assigning` says that the value becomes a part of another one.
    pub(crate) fn parameter(
        &mut self,
        name: &str,
        operation: Option<&Operation>,
        assigning: bool,
    ) -> ParameterValue {
        // Its flags make zsh run what is in it.
        if name.is_empty() {
            self.side_effect("${…}".to_owned());
        }
        if operation.is_some() {
            self.operates_on(name);
        }
        // What is cut off is a part of the whole path.
        let is_cut = matches!(operation, Some(Operation::Trim { .. })) && matches!(name, "PWD" | "OLDPWD");
        let is_list = matches!(operation, Some(Operation::All | Operation::Joined));
        let found = self.value(name, is_list, assigning || is_cut);
        match operation {
            None | Some(Operation::All | Operation::Joined) => found,
            Some(Operation::Length) => ParameterValue::Like(system::NUMBER),
            Some(Operation::Default(word) | Operation::Assign(word) | Operation::Alternative(word)) => {
                self.with_default(name, operation, word, found)
            }
            Some(Operation::Trim { suffix, longest, pattern }) => {
                let pattern = self.scalar(pattern);
                self.trimmed(name, found, |field| trim(field, &pattern, *suffix, *longest))
            }
            Some(Operation::Index(word)) if name == "BASH_SOURCE" && is_zero(word) => found,
            Some(Operation::Index(word)) => {
                self.substitutions(word);
                self.evaluate_index(word);
                self.assigned_by_arithmetic(word);
                // `${a[x]:=value}`.
                if side_effects::shown(word).contains('=') {
                    self.give_value(name, Value::Unknown, Vec::new());
                }
                // The first element has the index 0 or 1, depending on the shell.
                ParameterValue::Unknown
            }
            Some(Operation::Indirect(word)) => {
                self.substitutions(word);
                self.evaluate_index(word);
                if is_prompt(word) {
                    let value = self.indirect(name, &found);
                    self.expand_prompt(name, &value);
                }
                if word.is_empty() { self.indirect(name, &found) } else { ParameterValue::Unknown }
            }
            Some(Operation::Other(word)) => self.with_other_operation(name, word, &found),
        }
    }

    /// `${name#pattern}` and the like: the values without what `trim` removes.
    fn trimmed(
        &mut self,
        name: &str,
        found: ParameterValue,
        trim: impl Fn(&Field) -> Option<Field>,
    ) -> ParameterValue {
        let ParameterValue::Fields(fields) = found else { return found };
        // The directory of the shell is unknown.
        if matches!(name, "0" | "BASH") && !fields.iter().any(|field| field.text.contains('/')) {
            return ParameterValue::Unknown;
        }
        // The pattern is compared with each length of the value.
        self.work(fields.iter().map(|field| field.text.len().pow(2) / 8).sum());
        let trimmed: Option<Vec<Field>> = fields.iter().map(trim).collect();
        trimmed.map_or(ParameterValue::Unknown, ParameterValue::Fields)
    }

    /// `${name:offset}`, `${name@P}` and others. Only slices of the arguments are known.
    fn with_other_operation(&mut self, name: &str, word: &Word, found: &ParameterValue) -> ParameterValue {
        self.substitutions(word);
        self.evaluate_hidden(word, true);
        if matches!(word.first(), Some(Piece::Plain(text)) if text.starts_with(':')) {
            self.assigned_by_arithmetic(word);
        }
        if let Some(fields) = self.slice(name, word) {
            return ParameterValue::Fields(fields);
        }
        if is_prompt(word) {
            self.expand_prompt(name, found);
        }
        ParameterValue::Unknown
    }

    /// Arithmetic in an index or an offset may set a variable: `${a[PATH=1]}`.
    fn assigned_by_arithmetic(&mut self, word: &Word) {
        if side_effects::assigns(word) && !self.is_harmless_arithmetic(word) {
            self.side_effect(side_effects::shown(word));
        }
    }

    /// `${name:-word}`, `${name:=word}`, `${name:+word}`.
    fn with_default(
        &mut self,
        name: &str,
        operation: Option<&Operation>,
        word: &Word,
        found: ParameterValue,
    ) -> ParameterValue {
        let is_empty = matches!(&found, ParameterValue::Fields(fields) if fields.iter().all(|field| field.text.is_empty()));
        let assigns = matches!(operation, Some(Operation::Assign(_)));
        if assigns {
            self.side_effect(format!("${{{name}:=…}}"));
        }
        let other = self.scalar(word);
        let takes_other = !matches!(operation, Some(Operation::Alternative(_))) == is_empty;
        if assigns && !matches!(&found, ParameterValue::Fields(_) if !is_empty) {
            self.assign_default(name, &found, &other);
        }
        // The assigned value is a value of the variable, without quotes.
        let taken = |other: Field| {
            if assigns { ParameterValue::Fields(vec![other]) } else { ParameterValue::Default(other) }
        };
        match found {
            // It is never set.
            ParameterValue::Unknown
                if !matches!(operation, Some(Operation::Alternative(_))) && self.is_unset_outside(name) =>
            {
                taken(other)
            }
            // It is one or the other.
            ParameterValue::Unknown | ParameterValue::Like(_) => {
                match self.combinations.pick(&format!("{name}-"), 2) {
                    Some(1) if other.kind != FieldKind::Unknown => taken(other),
                    _ => ParameterValue::Unknown,
                }
            }
            ParameterValue::Fields(_) if takes_other => taken(other),
            ParameterValue::Fields(_) if is_empty => ParameterValue::Fields(Vec::new()),
            found => found,
        }
    }

    /// The variable is used with an operation.
    fn operates_on(&mut self, name: &str) {
        if self.operated.len() < MAX_VARIABLES && !self.is_operated(name) {
            self.operated.push(name.to_owned());
        }
    }

    /// Whether more than the value of a variable is used. If there are too many such variables, every variable counts.
    pub(super) fn is_operated(&self, name: &str) -> bool {
        self.operated.len() >= MAX_VARIABLES || self.operated.iter().any(|known| known == name)
    }

    /// `${!name}`: the value is the name of another variable. `${!#}` is the last argument.
    fn indirect(&mut self, name: &str, value: &ParameterValue) -> ParameterValue {
        if name == "#" {
            let last = self.state.positional.as_ref().map(|fields| fields.last().cloned());
            return match (last, &self.state.zero) {
                (Some(Some(last)), _) => ParameterValue::Fields(vec![last]),
                (Some(None), Some(zero)) => ParameterValue::Fields(vec![(**zero).clone()]),
                _ => ParameterValue::Unknown,
            };
        }
        let ParameterValue::Fields(fields) = value else { return ParameterValue::Unknown };
        match fields.as_slice() {
            [field] if field.is_literal() && field.text.contains('[') => {
                self.evaluate_number(&field.text.clone());
                ParameterValue::Unknown
            }
            [field] if field.is_literal() => self.value(&field.text.clone(), false, true),
            _ => ParameterValue::Unknown,
        }
    }

    /// `${@:2}` and `${@: -1}`, if the arguments are known.
    fn slice(&self, name: &str, word: &Word) -> Option<Vec<Field>> {
        let ([Piece::Plain(text)], "@" | "*") = (word.as_slice(), name) else { return None };
        let mut parts = text.strip_prefix(':')?.split(':').map(|part| part.trim().parse::<isize>());
        let (start, length) = (parts.next()?.ok()?, parts.next());
        let fields = self.state.positional.as_ref()?;
        let skipped = match usize::try_from(start) {
            Ok(start) => start.checked_sub(1)?,
            Err(_) => fields.len().checked_add_signed(start)?,
        };
        let length = match length {
            Some(length) if !fields.iter().any(Field::may_be_several) => {
                usize::try_from(length.ok()?).ok()?
            }
            _ => fields.len(),
        };
        let mut found = self.state.arguments_after(skipped)?;
        found.truncate(length);
        Some(found)
    }

    /// `${name:=word}`, if the variable may be unset or empty.
    fn assign_default(&mut self, name: &str, found: &ParameterValue, word: &Field) {
        let value = match found {
            _ if word.kind == FieldKind::Unknown => Value::Unknown,
            ParameterValue::Fields(_) => Value::one(word.clone()),
            _ => Value::one_of([unknown_value(name), word.clone()]),
        };
        // A variable with other values may keep them.
        let value = match self.state.get(name) {
            Some(old) if old.single().is_none() => old.join(&value),
            _ => value,
        };
        self.give_value(name, value, Vec::new());
    }

    /// `${name@P}`: the value is expanded once more.
    fn expand_prompt(&mut self, name: &str, value: &ParameterValue) {
        match value {
            ParameterValue::Fields(fields) => {
                for field in fields {
                    self.evaluate(&field.text);
                }
            }
            ParameterValue::Default(field) => self.evaluate(&field.text),
            ParameterValue::Like(_) => {}
            ParameterValue::Unknown if self.state.get(name).is_some() => {
                self.doubt_script(&format!("${{{name}@P}}"))
            }
            ParameterValue::Unknown => {}
        }
    }

    /// The value of a variable, without an operation.
    fn value(&mut self, name: &str, all: bool, assigning: bool) -> ParameterValue {
        if let ("0", Some(zero)) = (name, &self.state.zero) {
            return ParameterValue::Fields(vec![(**zero).clone()]);
        }
        if let Ok(index) = name.parse::<usize>() {
            return self.positional(index);
        }
        if matches!(name, "@" | "*") {
            let arguments = self.state.positional.as_ref();
            return arguments
                .map_or(ParameterValue::Unknown, |fields| ParameterValue::Fields(fields.to_vec()));
        }
        match self.state.get(name) {
            Some(Value::Unknown) => ParameterValue::Unknown,
            Some(Value::Array(fields)) if all => ParameterValue::Fields(fields.clone()),
            Some(Value::Array(fields)) => {
                ParameterValue::Fields(fields.first().cloned().into_iter().collect())
            }
            // The known part of such a value counts only if it becomes a part of another one.
            Some(Value::Options(options)) if !assigning && are_unknown(options.as_slice()) => {
                ParameterValue::Unknown
            }
            Some(Value::Options(options)) => {
                let options = options.as_slice();
                let picked =
                    if options.len() == 1 { Some(0) } else { self.combinations.pick(name, options.len()) };
                match picked.and_then(|index| options.get(index)) {
                    Some(field) if assigning || field.kind != FieldKind::Unknown => {
                        ParameterValue::Fields(vec![field.clone()])
                    }
                    _ => ParameterValue::Unknown,
                }
            }
            // Then it is empty, or a program uses its default.
            None if name == "TMPDIR" && self.is_unset(name) => {
                let Some(picked) = self.combinations.pick(name, 2) else { return ParameterValue::Unknown };
                self.without_tmpdir = picked == 1;
                ParameterValue::Fields(vec![Field::literal(if self.without_tmpdir { "" } else { "/tmp" })])
            }
            None => self.unassigned(name, assigning),
        }
    }

    /// `$1` and following.
    fn positional(&mut self, index: usize) -> ParameterValue {
        let Some(fields) = self.state.arguments_at(index) else { return ParameterValue::Unknown };
        if fields.len() < 2 {
            return ParameterValue::Fields(fields);
        }
        let picked = self.combinations.pick(&index.to_string(), fields.len());
        one_or_unknown(picked.and_then(|picked| fields.into_iter().nth(picked)))
    }

    fn unassigned(&self, name: &str, assigning: bool) -> ParameterValue {
        match (name, self.home()) {
            // By `env HOME=x bash -c …`.
            _ if self.state.exports.has(name) => ParameterValue::Unknown,
            ("BASH_SOURCE", _) if !self.state.options.has_sourced => match &self.state.source {
                Some(source) => ParameterValue::Fields(vec![(**source).clone()]),
                None => ParameterValue::Unknown,
            },
            ("BASH", _) => ParameterValue::Fields(vec![Field::literal("bash")]),
            ("HOME", Some(home)) => ParameterValue::Fields(vec![Field::literal(home)]),
            ("IFS", _) => ParameterValue::Fields(vec![Field::literal(" \t\n")]),
            // It changes with `cd`, so it is replaced only when it is used.
            ("PWD", _) if !assigning => ParameterValue::Fields(vec![Field::literal(".")]),
            ("PWD", _) => one_or_unknown(self.current_directory()),
            ("OLDPWD", _) => one_or_unknown(self.previous_directory(assigning)),
            // `CLAUDE_PROJECT_DIR` is set for hooks, but not for commands: there it may be empty.
            ("TMPDIR", _) => one_or_unknown(self.variable_outside(name)),
            (
                "?" | "$" | "!" | "#" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID" | "LINENO"
                | "EPOCHSECONDS",
                _,
            ) => ParameterValue::Like(system::NUMBER),
            ("USER" | "LOGNAME" | "HOSTNAME" | "HOSTTYPE", _) => ParameterValue::Like(system::NAME),
            _ => ParameterValue::Unknown,
        }
    }
}

fn one_or_unknown(field: Option<Field>) -> ParameterValue {
    field.map_or(ParameterValue::Unknown, |field| ParameterValue::Fields(vec![field]))
}

fn is_zero(index: &[Piece]) -> bool {
    matches!(index, [Piece::Plain(text) | Piece::Quoted(text)] if text == "0")
}

fn are_unknown(fields: &[Field]) -> bool {
    fields.iter().all(|field| field.kind == FieldKind::Unknown)
}

/// The value without the part that the pattern matches at its start or end. `None` if that is unknown.
fn trim(value: &Field, pattern: &Field, suffix: bool, longest: bool) -> Option<Field> {
    let is_unknown = |field: &Field| matches!(field.kind, FieldKind::Unknown | FieldKind::Tree);
    if is_unknown(pattern) || is_unknown(value) {
        return None;
    }
    let text = value.text.as_str();
    if text.len() > MAX_TRIMMED || pattern.text.len() > MAX_TRIMMED || pattern.text.contains(['[', '\\']) {
        return None;
    }
    if value.kind == FieldKind::Glob {
        // A literal end of a pattern is also the end of what it matches.
        if pattern.text.contains(['*', '?']) {
            return None;
        }
        let rest = if suffix { text.strip_suffix(&pattern.text) } else { text.strip_prefix(&pattern.text) };
        return rest.map(|rest| value.with(rest));
    }
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // The shortest match first: from the end for a suffix, from the start for a prefix.
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (start, end) = text.split_at_checked(cut)?;
        let (matched, rest) = if suffix { (end, start) } else { (start, end) };
        if matches(pattern.text.as_bytes(), matched.as_bytes()) {
            return Some(value.with(rest));
        }
    }
    Some(value.clone())
}

/// `*` and `?`, in the time of the product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == b'*')
}

/// Whether an operation expands the value once more: `${name@P}`.
fn is_prompt(word: &Word) -> bool {
    matches!(word.first(), Some(Piece::Plain(text)) if text == "@P")
}
