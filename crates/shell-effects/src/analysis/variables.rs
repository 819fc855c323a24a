//! The variables of a shell, as far as their values are known.

use std::rc::Rc;

use crate::analysis::field::Field;

/// The limit on variables. Further ones are unknown, and so is every variable without an entry.
pub(crate) const MAX_VARIABLES: usize = 256;
/// Longer values are not stored.
pub(crate) const MAX_VALUE: usize = 4096;
/// A variable with more possible values is unknown.
pub(crate) const MAX_OPTIONS: usize = 64;

/// A set in order of insertion. Sets with the same members are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alternatives<T>(Vec<T>);

impl<T: PartialEq> Alternatives<T> {
    pub(crate) fn one(member: T) -> Alternatives<T> {
        Alternatives(vec![member])
    }

    pub(crate) fn insert(&mut self, member: T) {
        if !self.0.contains(&member) {
            self.0.push(member);
        }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The members of both.
    pub(crate) fn union(&self, other: &Alternatives<T>) -> Alternatives<T>
    where
        T: Clone,
    {
        let mut all = self.clone();
        for member in &other.0 {
            all.insert(member.clone());
        }
        all
    }

    #[cfg(test)]
    pub(crate) fn contains_all(&self, other: &Alternatives<T>) -> bool {
        other.0.iter().all(|member| self.0.contains(member))
    }
}

impl<T: PartialEq> FromIterator<T> for Alternatives<T> {
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Alternatives<T> {
        let mut all = Alternatives(Vec::new());
        for member in members {
            all.insert(member);
        }
        all
    }
}

impl<T: PartialEq> PartialEq for Alternatives<T> {
    fn eq(&self, other: &Alternatives<T>) -> bool {
        self.0 == other.0
            || self.0.len() == other.0.len() && self.0.iter().all(|member| other.0.contains(member))
    }
}

impl<T: Eq> Eq for Alternatives<T> {}

/// What a variable may hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Value {
    /// One of these.
    Options(Alternatives<Field>),
    Array(Vec<Field>),
    Unknown,
}

impl Value {
    pub(crate) fn one(field: Field) -> Value {
        Value::Options(Alternatives::one(field))
    }

    /// One of several fields. Unknown if there are too many.
    pub(crate) fn one_of(fields: impl IntoIterator<Item = Field>) -> Value {
        let options: Alternatives<Field> = fields.into_iter().collect();
        if options.as_slice().len() > MAX_OPTIONS { Value::Unknown } else { Value::Options(options) }
    }

    /// The value, if there is only one.
    pub(crate) fn single(&self) -> Option<&Field> {
        match self {
            Value::Options(options) => match options.as_slice() {
                [field] => Some(field),
                _ => None,
            },
            Value::Array(_) | Value::Unknown => None,
        }
    }

    /// Either this value or another one.
    pub(crate) fn join(&self, other: &Value) -> Value {
        match (self, other) {
            (mine, theirs) if mine == theirs => mine.clone(),
            (Value::Options(mine), Value::Options(theirs)) => {
                let all = mine.union(theirs);
                if all.as_slice().len() > MAX_OPTIONS { Value::Unknown } else { Value::Options(all) }
            }
            _ => Value::Unknown,
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Variable {
    name: Rc<str>,
    value: Value,
    /// The commands that printed what it holds, in ascending order.
    printed_by: Vec<usize>,
}

/// A variable at an earlier point. It has no entry if the script had not set it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SavedVariable {
    pub(crate) name: String,
    entry: Option<Rc<Variable>>,
}

/// The variables that a script sets. A variable without an entry has its value from before the script.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Variables {
    /// Sorted by name.
    entries: Rc<Vec<Rc<Variable>>>,
    /// Whether a variable without an entry may have been set: there were too many.
    is_full: bool,
    /// Whether any variable may change through a reference with another name.
    is_opaque: bool,
}

impl Variables {
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| (*entry.name).cmp(name))
    }

    fn entry(&self, name: &str) -> Option<&Variable> {
        self.entries.get(self.position(name).ok()?).map(|entry| &**entry)
    }

    /// The value that the script gave a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        if self.is_opaque {
            return Some(&Value::Unknown);
        }
        match self.entry(name) {
            Some(entry) => Some(&entry.value),
            None if self.is_full => Some(&Value::Unknown),
            None => None,
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        match self.position(name) {
            Ok(at) => {
                if let Some(entry) = Rc::make_mut(&mut self.entries).get_mut(at) {
                    *entry =
                        Rc::new(Variable { name: Rc::clone(&entry.name), value, printed_by: Vec::new() });
                }
            }
            Err(at) if self.entries.len() < MAX_VARIABLES => {
                let entry = Variable { name: name.into(), value, printed_by: Vec::new() };
                Rc::make_mut(&mut self.entries).insert(at, Rc::new(entry));
            }
            Err(_) => self.is_full = true,
        }
    }

    /// A variable's current value, to restore it later.
    pub(crate) fn saved(&self, name: &str) -> SavedVariable {
        let at = self.position(name).ok();
        SavedVariable { name: name.to_owned(), entry: at.and_then(|at| self.entries.get(at)).map(Rc::clone) }
    }

    /// Restores a variable.
    pub(crate) fn put_back(&mut self, saved: &SavedVariable) {
        match (self.position(&saved.name), &saved.entry) {
            (Ok(at), Some(entry)) => {
                if let Some(old) = Rc::make_mut(&mut self.entries).get_mut(at) {
                    *old = Rc::clone(entry);
                }
            }
            (Ok(at), None) => drop(Rc::make_mut(&mut self.entries).remove(at)),
            (Err(at), Some(entry)) if self.entries.len() < MAX_VARIABLES => {
                Rc::make_mut(&mut self.entries).insert(at, Rc::clone(entry));
            }
            (Err(_), Some(_)) => self.is_full = true,
            (Err(_), None) => {}
        }
    }

    /// The variables with other values than before.
    pub(crate) fn changed(&self, before: &Variables) -> Vec<String> {
        let entries = self.entries.iter();
        let changed = entries.filter(|entry| before.get(&entry.name) != Some(&entry.value));
        changed.map(|entry| entry.name.as_ref().to_owned()).collect()
    }

    /// From now on any of them may have any value.
    pub(crate) fn make_opaque(&mut self) {
        self.is_opaque = true;
    }

    /// The commands that printed the value of a variable.
    pub(crate) fn printed_by(&self, name: &str) -> &[usize] {
        self.entry(name).map_or(&[], |entry| &entry.printed_by)
    }

    pub(crate) fn set_printed_by(&mut self, name: &str, mut commands: Vec<usize>) {
        let Ok(at) = self.position(name) else { return };
        commands.sort_unstable();
        commands.dedup();
        if let Some(entry) = Rc::make_mut(&mut self.entries).get_mut(at)
            && entry.printed_by != commands
        {
            Rc::make_mut(entry).printed_by = commands;
        }
    }

    /// The variables as another shell sees them: they are set, but their values are not followed. That shell sets `IFS` itself.
    pub(crate) fn forgotten(&self) -> Variables {
        let mut child = Variables { is_full: self.is_full || self.is_opaque, ..Variables::default() };
        for entry in self.entries.iter().filter(|entry| *entry.name != *"IFS") {
            child.set(&entry.name, Value::Unknown);
        }
        child
    }

    /// Either these variables or others.
    pub(crate) fn join(&self, other: &Variables) -> Variables {
        let is_full = self.is_full || other.is_full;
        let is_opaque = self.is_opaque || other.is_opaque;
        if Rc::ptr_eq(&self.entries, &other.entries) {
            return Variables { entries: Rc::clone(&self.entries), is_full, is_opaque };
        }
        let (mut mine, mut theirs) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        let mut entries = Vec::with_capacity(self.entries.len());
        loop {
            let order = match (mine.peek(), theirs.peek()) {
                (Some(a), Some(b)) => a.name.cmp(&b.name),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            let a = if order.is_le() { mine.next() } else { None };
            let b = if order.is_ge() { theirs.next() } else { None };
            entries.extend(joined_entry(a, b));
        }
        let is_full = is_full || entries.len() > MAX_VARIABLES;
        entries.truncate(MAX_VARIABLES);
        Variables { entries: Rc::new(entries), is_full, is_opaque }
    }

    /// What differs from others becomes unknown.
    pub(crate) fn widen(&mut self, other: &Variables) {
        let names: Vec<Rc<str>> = self.entries.iter().map(|entry| Rc::clone(&entry.name)).collect();
        for name in names {
            if self.get(&name) != other.get(&name) {
                let printed_by = self.printed_by(&name).to_vec();
                self.set(&name, Value::Unknown);
                self.set_printed_by(&name, printed_by);
            }
        }
    }

    /// The commands that printed the values.
    pub(crate) fn commands(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().flat_map(|entry| entry.printed_by.iter().copied())
    }

    /// Replaces the references to commands.
    pub(crate) fn refer(&mut self, to: impl Fn(usize) -> usize) {
        for at in 0..self.entries.len() {
            let Some(entry) = self.entries.get(at) else { return };
            let printed_by = referred(&entry.printed_by, &to);
            if printed_by != entry.printed_by
                && let Some(entry) = Rc::make_mut(&mut self.entries).get_mut(at)
            {
                Rc::make_mut(entry).printed_by = printed_by;
            }
        }
    }

    /// Whether each value that others allow is possible here too.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &Variables) -> bool {
        let names = self.entries.iter().chain(other.entries.iter()).map(|entry| &entry.name);
        let is_covered = |name: &Rc<str>| {
            let value_covers = match (self.get(name), other.get(name)) {
                (Some(Value::Unknown), _) => true,
                (Some(Value::Options(mine)), Some(Value::Options(theirs))) => mine.contains_all(theirs),
                (mine, theirs) => mine == theirs,
            };
            let printed =
                other.printed_by(name).iter().all(|command| self.printed_by(name).contains(command));
            value_covers && (printed || self.is_full)
        };
        let mut names = names;
        names.all(is_covered) && self.is_full >= other.is_full && self.is_opaque >= other.is_opaque
    }
}

/// One entry of the joined variables. A variable that only one side sets is unknown.
fn joined_entry(mine: Option<&Rc<Variable>>, theirs: Option<&Rc<Variable>>) -> Option<Rc<Variable>> {
    let one = mine.or(theirs)?;
    let (Some(mine), Some(theirs)) = (mine, theirs) else {
        return Some(Rc::new(Variable { value: Value::Unknown, ..(**one).clone() }));
    };
    if Rc::ptr_eq(mine, theirs) {
        return Some(Rc::clone(mine));
    }
    let mut printed_by = [mine.printed_by.as_slice(), theirs.printed_by.as_slice()].concat();
    printed_by.sort_unstable();
    printed_by.dedup();
    let value = mine.value.join(&theirs.value);
    Some(Rc::new(Variable { name: Rc::clone(&one.name), value, printed_by }))
}

/// The new indices of commands, in ascending order.
pub(crate) fn referred(commands: &[usize], to: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut commands: Vec<usize> = commands.iter().map(|command| to(*command)).collect();
    commands.sort_unstable();
    commands.dedup();
    commands
}
