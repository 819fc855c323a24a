//! Texts that code computes from texts that it holds: `'vne.'[::-1]`, `"".join(['.e', 'nv'])`, `chr(46) + 'env'`, `atob('LmVudg==')`.
//! The code is not parsed. Its tokens are folded as long as what is next to each other is a known operation on known texts.

mod decoding;
mod file_patterns;
mod folding;
mod tokens;
mod values;

use std::collections::HashSet;

use self::file_patterns::{DELETING, SQL_READING, WALKING, listed, patterns};
use self::folding::fold;
use self::tokens::{Token, tokens};
use self::values::with_values;
use crate::percent::percent_decoded;

pub(crate) use self::file_patterns::is_whole_tree;
pub use self::file_patterns::written_patterns;

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
