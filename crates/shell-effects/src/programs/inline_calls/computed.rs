//! Texts that code computes from texts that it holds: `'vne.'[::-1]`, `"".join(['.e', 'nv'])`, `chr(46) + 'env'`, `atob('LmVudg==')`.
//! The code is not parsed. Its tokens are folded as long as what is next to each other is a known operation on known texts.

mod decoding;
mod folding;
mod tokens;

use std::collections::{HashMap, HashSet};

use self::folding::fold;
use self::tokens::{Token, tokens};
use crate::percent::percent_decoded;

/// Code with more tokens is not folded, which is a doubt.
const MAX_TOKENS: usize = 20_000;
/// Texts that are made of each other need a round each.
const MAX_ROUNDS: usize = 6;
/// A longer text is neither a name nor a command.
const MAX_TEXT: usize = 16 << 10;
/// Variables with longer texts are not replaced by them.
const MAX_VALUE: usize = 512;
/// Lists with more tokens are not known.
const MAX_LIST: usize = 64;
/// More text than this is a doubt.
const MAX_TOTAL: usize = 256 << 10;

/// What code computes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ComputedTexts {
    /// Texts that are not in the code as they are.
    pub(crate) texts: Vec<String>,
    /// Patterns whose matches the code asks for.
    pub(crate) patterns: Vec<String>,
    /// Patterns of the files in directories that it goes through and deletes something in.
    pub(crate) removed: Vec<String>,
    /// Whether a file is opened whose name is decoded or read, and not known.
    pub(crate) opens_hidden: bool,
    /// Not all of the code was looked at.
    pub(crate) is_cut: bool,
}

/// What code computes, as far as it can be known without running it.
pub(crate) fn computed(code: &str) -> ComputedTexts {
    let mut found = of_code(code);
    // Texts may be code, and addresses of files.
    for text in tokens(code, 0).iter().filter_map(Token::text) {
        if text.len() > 8 && text.contains(['"', '\'']) {
            found.texts.extend(of_code(text).texts);
        }
        if text.contains("file:") && text.contains('%') {
            found.texts.push(percent_decoded(text).into_owned());
        }
    }
    found.is_cut |= found.texts.iter().map(String::len).sum::<usize>() > MAX_TOTAL;
    found
}

fn of_code(code: &str) -> ComputedTexts {
    let mut items = tokens(code, 0);
    let written: HashSet<String> = items.iter().filter_map(Token::text).map(str::to_owned).collect();
    let mut is_cut = false;
    for _ in 0..MAX_ROUNDS {
        is_cut |= items.len() > MAX_TOKENS;
        items.truncate(MAX_TOKENS);
        let (folded, is_folded) = fold(&items);
        let (valued, is_valued) = with_values(&folded);
        items = valued;
        if !is_folded && !is_valued {
            break;
        }
    }
    let made = items.iter().filter_map(|item| match item {
        Token::Text { text, is_made: true } if !written.contains(text) => Some(text.clone()),
        _ => None,
    });
    let mut texts: Vec<String> = made.collect();
    texts.sort_unstable();
    texts.dedup();
    let mut patterns = patterns(&items);
    patterns.extend(listed(&items, &["fsdir"], SQL_READING));
    let removed = listed(&items, WALKING, DELETING);
    ComputedTexts { texts, patterns, removed, opens_hidden: opens_hidden(&items), is_cut }
}

/// What names were last set to.
#[derive(Default)]
struct Values {
    known: HashMap<String, Vec<Token>>,
    /// The value before, up to the end of the statement that sets another one: `c = c "x"`.
    before: Option<(String, Vec<Token>)>,
}

impl Values {
    fn get(&self, name: &str) -> Option<&Vec<Token>> {
        let old = || Some(&self.before.as_ref().filter(|(old, _)| old == name)?.1);
        self.known.get(name).or_else(old)
    }

    /// A statement sets a name: `n = 'a'`, `n += 'a'`, `n = ['a', 'b']`.
    fn set(&mut self, name: &str, adds: bool, rest: &[Token]) {
        let old = self.known.remove_entry(name);
        let Some(value) = value_at(rest) else {
            self.before = old;
            return;
        };
        let value = match (adds, old, value) {
            (true, Some((_, old)), [Token::Text { text, .. }]) => match old.as_slice() {
                [Token::Text { text: old, .. }] => vec![Token::made(format!("{old}{text}"))],
                _ => return,
            },
            (true, ..) => return,
            (false, _, value) => value.to_vec(),
        };
        let length: usize = value.iter().filter_map(Token::text).map(str::len).sum();
        if length <= MAX_VALUE && value.len() <= MAX_LIST {
            self.known.insert(name.to_owned(), value);
        }
    }
}

/// The text or the list of texts that a statement starts with, if that is all of its value.
fn value_at(rest: &[Token]) -> Option<&[Token]> {
    let length = match rest.first()? {
        Token::Text { .. } => 1,
        Token::Sign('[' | '(') => {
            let is_item =
                |item: &&Token| matches!(item, Token::Text { .. } | Token::Number(_) | Token::Sign(','));
            let count = rest.iter().skip(1).take(MAX_LIST).take_while(is_item).count();
            if !matches!(rest.get(count + 1), Some(Token::Sign(']' | ')'))) {
                return None;
            }
            count + 2
        }
        _ => return None,
    };
    match rest.get(length) {
        None | Some(Token::Sign(';' | '\n' | ',' | ')' | '}')) => rest.get(..length),
        Some(_) => None,
    }
}

/// Replaces names by what they were last set to. Also says whether there were any.
fn with_values(items: &[Token]) -> (Vec<Token>, bool) {
    let mut values = Values::default();
    let mut out: Vec<Token> = Vec::with_capacity(items.len());
    let mut is_changed = false;
    for (at, item) in items.iter().enumerate() {
        let Token::Name(name) = item else {
            if matches!(item, Token::Sign(';' | '\n' | '}')) {
                values.before = None;
            }
            out.push(item.clone());
            continue;
        };
        let is_sign = |at: usize, sign: char| items.get(at) == Some(&Token::Sign(sign));
        let adds = (is_sign(at + 1, '+') || is_sign(at + 1, '.')) && is_sign(at + 2, '=');
        let equals = at + 1 + usize::from(adds);
        let is_set = is_sign(equals, '=') && !is_sign(equals + 1, '=') && !is_sign(equals + 1, '>');
        let is_member = at.checked_sub(1).is_some_and(|before| is_sign(before, '.'));
        if is_set && !is_member {
            values.set(name, adds, items.get(equals + 1..).unwrap_or_default());
        }
        match values.get(name) {
            Some(value) if !is_set && !is_member && !is_sign(at + 1, '(') => {
                is_changed = true;
                // `@list` of Perl is its items.
                let is_list = out.last() == Some(&Token::Sign('@')) && value.len() > 2;
                if is_list {
                    out.pop();
                    out.extend(value.get(1..value.len() - 1).unwrap_or_default().iter().cloned());
                } else {
                    out.extend(value.iter().cloned());
                }
            }
            _ => out.push(item.clone()),
        }
        if out.len() > 4 * MAX_TOKENS {
            break;
        }
    }
    (out, is_changed)
}

/// Functions that list the files that a pattern matches.
const LISTING: &[&str] = &["glob", "iglob", "rglob", "globSync", "bsd_glob"];

/// Whether a pattern of code finds each file of a tree. Reading these is a search, as by `grep -r`.
pub(crate) fn is_whole_tree(pattern: &str) -> bool {
    matches!(pattern.trim_start_matches("./"), "**" | "**/*" | "**/*.*")
}

/// The patterns that such functions get, and those in `<*.c>` of Perl and `Dir['*.c']` of Ruby.
fn patterns(items: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Token::Text { text, .. } = item else { continue };
        if !text.contains(['*', '?', '[', '{']) {
            continue;
        }
        let before = items.get(at.saturating_sub(2)..at).unwrap_or_default();
        let (name, is_called) = match before {
            [.., Token::Name(name)] => (name.as_str(), false),
            [.., Token::Name(name), Token::Sign('(' | '[')] => (name.as_str(), true),
            _ => continue,
        };
        if LISTING.contains(&name) || is_called && matches!(name, "Dir" | "Glob") {
            let is_all = name == "rglob" && text == "*";
            found.push(if is_all { "**/*".to_owned() } else { text.clone() });
        }
    }
    if uses_files(items) { found } else { Vec::new() }
}

/// Words of code that it may expand like a shell: those in quotes, if it names such a function or `Dir[` of Ruby, and `<.x*>` of Perl.
/// Unlike `patterns`, this reads the bare text and may find too much.
#[must_use]
pub fn written_patterns(code: &str) -> Vec<String> {
    // `Dir[` is followed by a text.
    let without_open = |word| match str::rsplit_once(word, '[') {
        Some((before, after)) if !after.contains(']') => before.to_owned(),
        _ => word.to_owned(),
    };
    let is_pattern = |word: &String| {
        word.contains(['*', '?', '['])
            && word.chars().all(|c| c.is_alphanumeric() || "./_-~*?[]{}".contains(c))
    };
    let lower = code.to_ascii_lowercase();
    let expands = LISTING.iter().any(|name| lower.contains(name)) || code.contains("Dir[");
    let quoted = if expands { code } else { "" }.split(['"', '\'', ' ', ',', '(', ')', '\n']);
    let angled = code.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    quoted.chain(angled).map(without_open).filter(is_pattern).collect()
}

/// Whether code does more than list files.
fn uses_files(items: &[Token]) -> bool {
    const USING: &[&str] = &[
        "ARGV",
        "Popen",
        "call",
        "check_output",
        "execFileSync",
        "execSync",
        "fileinput",
        "read",
        "read_bytes",
        "read_text",
        "run",
        "spawnSync",
        "system",
        "touch",
        "write_bytes",
        "write_text",
    ];
    items.iter().any(|item| {
        matches!(item, Token::Name(name) if name != "Path" && (USING.contains(&name.as_str()) || OPENERS.contains(&name.as_str())))
    })
}

/// Functions that go through a directory, and those that delete or move what they are given.
const WALKING: &[&str] = &["iterdir", "listdir", "opendir", "readdir", "readdirSync", "scandir"];
const DELETING: &[&str] = &["renameSync", "rmSync", "rmdirSync", "rmtree", "unlink", "unlinkSync"];
/// What gives the contents of the files that sqlite lists: `select data from fsdir('.')`.
const SQL_READING: &[&str] = &["data", "readfile"];

/// Patterns of the files in the directories that code lists by one of the first functions, if it also uses one of the others.
fn listed(items: &[Token], listing: &[&str], using: &[&str]) -> Vec<String> {
    // `remove` alone is also a method of lists.
    let is_owned = |part: &[Token]| {
        matches!(part, [Token::Name(owner), Token::Sign('.'), Token::Name(name)]
            if owner == "os" && matches!(name.as_str(), "remove" | "rename"))
    };
    let is_used =
        items.iter().any(|item| matches!(item, Token::Name(name) if using.contains(&name.as_str())))
            || using == DELETING && items.windows(3).any(is_owned);
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if !is_used || !matches!(item, Token::Name(name) if listing.contains(&name.as_str())) {
            continue;
        }
        let near = items.get(at.saturating_sub(3)..items.len().min(at + 4)).unwrap_or_default();
        let directory = near.iter().rev().find_map(Token::text).unwrap_or(".").trim_end_matches('/');
        found.extend([format!("{directory}/*"), format!("{directory}/.*")]);
    }
    found
}

/// Functions that open the file that their first argument names, or change it.
const OPENERS: &[&str] = &[
    "FileIO",
    "Path",
    "copy",
    "copyFileSync",
    "copyfile",
    "cpSync",
    "createReadStream",
    "createWriteStream",
    "file_get_contents",
    "file_put_contents",
    "getlines",
    "open",
    "openSync",
    "readFile",
    "readFileSync",
    "remove",
    "rename",
    "renameSync",
    "rmSync",
    "rmtree",
    "sysopen",
    "truncate",
    "unlink",
    "unlinkSync",
    "writeFile",
    "writeFileSync",
];

/// Functions whose results say nothing of what is in the code: they decode, or read a name from somewhere.
const HIDING: &[&str] = &[
    "a85decode",
    "atob",
    "b16decode",
    "b32decode",
    "b64decode",
    "b85decode",
    "base64_decode",
    "chr",
    "decode_base64",
    "decodeURIComponent",
    "decompress",
    "fromCharCode",
    "fromCodePoint",
    "fromhex",
    "input",
    "maketrans",
    NAMED_CHARACTER,
    "open",
    "pack",
    "readFileSync",
    "read_text",
    "readline",
    "reverse",
    "reversed",
    "rot13",
    "str_rot13",
    "stdin",
    "strrev",
    "translate",
    "unhexlify",
    "unpack",
    "tr",
    "unquote",
];

/// Stands for `\N{FULL STOP}` in a text.
const NAMED_CHARACTER: &str = "named character";

/// Whether the first argument of such a function is made by one of those.
fn opens_hidden(items: &[Token]) -> bool {
    items.iter().enumerate().any(|(at, item)| {
        let Token::Name(name) = item else { return false };
        if !OPENERS.contains(&name.as_str()) {
            return false;
        }
        // Perl needs no parenthesis, and opens what comes after the handle.
        let has_parenthesis = items.get(at + 1) == Some(&Token::Sign('('));
        let mut depth = 0_usize;
        let argument = items.iter().skip(at + 1 + usize::from(has_parenthesis)).take_while(|item| {
            match item {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') if depth == 0 => return false,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                Token::Sign(';' | '\n') if depth == 0 => return false,
                Token::Sign(',') if depth == 0 => return !has_parenthesis,
                _ => {}
            }
            true
        });
        argument.into_iter().any(|item| matches!(item, Token::Name(name) if HIDING.contains(&name.as_str())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_computes_is_known() {
        for (code, expected) in [
            ("open('vne.'[::-1])", ".env"),
            ("open(''.join(['.e','nv']))", ".env"),
            ("open('.'.join(['keep','txt']))", "keep.txt"),
            ("open(chr(46)+'env')", ".env"),
            ("open(bytes.fromhex('2e656e76'))", ".env"),
            ("open(base64.b64decode('LmVudg=='))", ".env"),
            ("open(base64.b64decode('LmVudg==').decode())", ".env"),
            ("open(codecs.decode('.rai','rot13'))", ".env"),
            ("open('.%s' % 'env')", ".env"),
            ("open('%senv' % chr(46))", ".env"),
            ("open('.{}'.format('env'))", ".env"),
            ("open(f'.{\"env\"}')", ".env"),
            ("open('.xenv'.replace('x',''))", ".env"),
            ("open('.ENV'.lower())", ".env"),
            ("open('a/.env'[2:])", ".env"),
            ("a='.e';b='nv';open(a+b)", ".env"),
            ("n='.e';n+='nv';open(n)", ".env"),
            ("n=['.e','nv'];open(''.join(n))", ".env"),
            ("n=('.e','nv');open('%s%s'%n)", ".env"),
            ("@n=(\".e\",\"nv\");open F,join\"\",@n", ".env"),
            ("open('{a}env'.format(a='.'))", ".env"),
            ("open(re.sub('x','e','.xnv'))", ".env"),
            ("open(os.extsep+'env')", ".env"),
            ("open(bytes((46,101,110,118)))", ".env"),
            ("urlopen('file:///%2eenv')", "file:///.env"),
            ("new Worker('f(\\'.e\\'+\\'nv\\')',{eval:true})", ".env"),
            ("select readfile(x'2e656e76')", ".env"),
            ("a = '.e'\nb = 'nv'\nopen(a + b)", ".env"),
            ("os.path.join('gen','a')", "gen/a"),
            ("Path('gen') / 'a'", "gen/a"),
            ("readFileSync(String.fromCharCode(46)+'env')", ".env"),
            ("readFileSync(['.e','nv'].join(''))", ".env"),
            ("readFileSync(Buffer.from('LmVudg==','base64').toString())", ".env"),
            ("readFileSync(atob('LmVudg=='))", ".env"),
            ("readFileSync('vne.'.split('').reverse().join(''))", ".env"),
            ("readFileSync([...'vne.'].reverse().join(''))", ".env"),
            ("readFileSync(`.${'env'}`)", ".env"),
            ("readFileSync('.'.concat('env'))", ".env"),
            ("readFileSync(decodeURIComponent('%2eenv'))", ".env"),
            ("open F, scalar reverse \"vne.\"; print <F>", ".env"),
            ("open F, join(\"\",\".e\",\"nv\")", ".env"),
            ("@ARGV=(join \"\",\".e\",\"nv\")", ".env"),
            ("open F, pack(\"H*\",\"2e656e76\")", ".env"),
            ("open F, chr(46).\"env\"", ".env"),
            ("open F, sprintf(\"%cenv\",46)", ".env"),
            ("f=sprintf(\"%cenv\",46); getline < f", ".env"),
            ("c=\"cat .e\"; c=c \"nv\"; c|getline", "cat .env"),
            ("select readfile('.'||'env')", ".env"),
            ("select readfile(char(46,101,110,118))", ".env"),
            ("File.read('vne.'.reverse)", ".env"),
            ("File.read(46.chr+'env')", ".env"),
            ("File.read('LmVudg=='.unpack1('m'))", ".env"),
            ("file_get_contents(strrev('vne.'))", ".env"),
        ] {
            let texts = computed(code).texts;
            assert!(texts.iter().any(|text| text == expected), "{code}: {texts:?}");
        }
    }

    #[test]
    fn a_name_that_is_decoded_or_read_is_hidden() {
        for code in [
            "open(input())",
            "open(sys.stdin.readline().strip())",
            "open(base64.b64decode(x))",
            "fs.readFileSync(Buffer.from(x, 'hex') + atob(y))",
            "Path(codecs.decode(x[::-1]).translate(t))",
            "open(open('list').read())",
            "open('\\N{FULL STOP}env')",
            "open F, unpack(\"u\", $x);",
        ] {
            assert!(computed(code).opens_hidden, "{code}");
        }
        for code in [
            "import sys,json;print(json.load(sys.stdin)['x'])",
            "open(sys.argv[1]).read()[::-1]",
            "fs.writeFileSync('a.png', Buffer.from(x, 'base64'))",
            "open('a', 'wb').write(base64.b64decode(x))",
            "for f in os.listdir('src'): open(os.path.join('src', f))",
            "print(''.join(reversed(open('a').read())))",
        ] {
            assert!(!computed(code).opens_hidden, "{code}");
        }
    }

    #[test]
    fn patterns_of_code_are_those_that_it_lists_files_by() {
        for (code, expected) in [
            ("open(glob.glob('.e*')[0])", vec![".e*"]),
            ("print(glob.glob('.e*'))", vec![]),
            ("[p.unlink() for p in Path('.').rglob('kee' + 'p*')]", vec!["keep*"]),
            ("[p.read_text() for p in Path('.').rglob('*')]", vec!["**/*"]),
            ("unlink glob \"kee*\"", vec!["kee*"]),
            ("unlink <kee*>", vec!["kee*"]),
            ("File.read(open Dir['*.rb'][0])", vec!["*.rb"]),
            ("re.sub('.*', '', x)", vec![]),
            ("print(a < 3 and b*2 > 1)", vec![]),
        ] {
            assert_eq!(computed(code).patterns, expected, "{code}");
        }
    }
}
