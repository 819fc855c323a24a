//! Texts by chance, from the seeds: acts in forms in forms, with small changes, and tokens in no order.

use std::sync::LazyLock;

use crate::project::Mode;

/// A text, how it is run, and whether nothing that is guarded is named in it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) mode: Mode,
    pub(crate) is_innocent: bool,
}

/// What texts are made of.
struct Seeds {
    acts: Vec<String>,
    innocent: Vec<String>,
    forms: Vec<String>,
    whole: Vec<String>,
    tokens: Vec<String>,
}

static SEEDS: LazyLock<Seeds> = LazyLock::new(|| {
    let section = |name: &str| {
        let lines = section(include_str!("seeds.txt"), name);
        lines.map(|line| line.replace('⏎', "\n")).collect::<Vec<String>>()
    };
    Seeds {
        acts: section("acts"),
        innocent: section("innocent"),
        forms: section("forms"),
        whole: section("whole"),
        tokens: section("tokens"),
    }
});

fn section<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (_, rest) = text.split_once(&format!("== {name}\n")).expect("a section of the seeds");
    let lines = rest.split("\n== ").next().unwrap_or_default().lines();
    lines.filter(|line| !line.is_empty())
}

/// Numbers by chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn new(seed: u64, index: u64) -> Chance {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index.wrapping_add(1));
        for _ in 0..4 {
            chance.below(2);
        }
        chance
    }

    /// A number from 0 to `end`, without it.
    fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    fn one<'t>(&mut self, from: &'t [String]) -> &'t str {
        let at = self.below(from.len());
        &from[at]
    }
}

/// The text of this index. Each seed comes once as it is, before chance begins.
pub(crate) fn case(seed: u64, index: u64) -> Case {
    let mut chance = Chance::new(seed, index);
    let mode = if chance.below(2) == 0 { Mode::Direct } else { Mode::Evaluated };
    if let Some((text, is_innocent)) = listed(index as usize, &mut chance) {
        return Case { text, mode: Mode::Evaluated, is_innocent };
    }
    let (mut text, is_innocent) = match chance.below(100) {
        0..15 => return Case { text: tokens(&mut chance), mode, is_innocent: false },
        15..35 => (chance.one(&SEEDS.innocent).to_owned(), true),
        35..60 => (chance.one(&SEEDS.whole).to_owned(), false),
        _ => (chance.one(&SEEDS.acts).to_owned(), false),
    };
    for _ in 0..chance.below(4) {
        let form = chance.one(&SEEDS.forms);
        text = filled(form, &text);
    }
    for _ in 0..chance.below(4) {
        text = changed(&text, &mut chance);
    }
    Case { is_innocent: is_innocent && is_free(&text), text, mode }
}

/// The seeds themselves: all but the forms as they are, the forms with one act each.
fn listed(index: usize, chance: &mut Chance) -> Option<(String, bool)> {
    let seeds = &*SEEDS;
    let mut at = index;
    for (texts, is_innocent) in [(&seeds.whole, false), (&seeds.innocent, true), (&seeds.acts, false)] {
        match texts.get(at) {
            Some(text) => return Some((text.clone(), is_innocent)),
            None => at -= texts.len(),
        }
    }
    let form = seeds.forms.get(at)?;
    Some((filled(form, chance.one(&seeds.acts)), false))
}

/// Whether nothing that is guarded is named: a form may name something itself.
fn is_free(text: &str) -> bool {
    !["env", "forbidden", "locked", "push", "-f", ".gitconfig", "list.txt"]
        .iter()
        .any(|word| text.contains(word))
}

/// A form with a command in it.
fn filled(form: &str, command: &str) -> String {
    let single = format!("'{}'", command.replace('\'', "'\\''"));
    let mut double = String::from("\"");
    for c in command.chars() {
        if matches!(c, '"' | '$' | '`' | '\\') {
            double.push('\\');
        }
        double.push(c);
    }
    double.push('"');
    form.replace("«c»", command).replace("«w»", command).replace("«q»", &single).replace("«d»", &double)
}

fn tokens(chance: &mut Chance) -> String {
    let mut text = String::new();
    for _ in 0..3 + chance.below(12) {
        text.push_str(chance.one(&SEEDS.tokens));
        if chance.below(3) > 0 {
            text.push(' ');
        }
    }
    text
}

/// A text with one small change.
fn changed(text: &str, chance: &mut Chance) -> String {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = places.get(chance.below(places.len())).copied().unwrap_or(0);
    let (before, after) = text.split_at(at);
    let blank = after.find(' ').map(|blank| at + blank);
    match chance.below(14) {
        0 => format!("{before}\\\n{after}"),
        1 => format!("{before}''{after}"),
        2 => format!("{before}\"\"{after}"),
        3 => format!("{before}\\{after}"),
        4 => format!("{before}{}{after}", chance.one(&SEEDS.tokens)),
        5 => quoted_word(text, chance),
        6 => format!("{before}{}", after.chars().skip(1).collect::<String>()),
        7 => format!("A=1 {text}"),
        8 => format!("{}; {text}", chance.one(&SEEDS.innocent)),
        9 => format!("{text}; {}", chance.one(&SEEDS.innocent)),
        10 => format!("{text} #"),
        kind => match blank {
            Some(blank) => {
                let spaces = ["  ", "\t", " \\\n"][kind - 11];
                format!("{}{spaces}{}", &text[..blank], &text[blank + 1..])
            }
            None => format!(" {text}"),
        },
    }
}

/// One word in other quotes.
fn quoted_word(text: &str, chance: &mut Chance) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let chosen = chance.below(words.len());
    let quoted = |word: &str, kind: usize| match kind {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("$'{word}'"),
        _ => format!("\\{word}"),
    };
    let kind = chance.below(4);
    let words = words
        .iter()
        .enumerate()
        .map(|(at, word)| if at == chosen { quoted(word, kind) } else { (*word).to_owned() });
    words.collect::<Vec<_>>().join(" ")
}
