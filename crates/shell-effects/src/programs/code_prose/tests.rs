use super::*;
use crate::{CodeAccess, CodeLanguage};

#[test]
fn sentences_and_patterns_in_code_are_not_files() {
    for code in [
        "import re\ns = re.sub(r'\\.env\\b', 'settings', s)",
        "import re, sys\ns = re.subn('x.env', \"y\", s)[0]",
        "import re\nprint(re.findall(r'process\\.env\\.(\\w+)', s))",
        "import os, re\nprint(re.findall(r'import\\.meta\\.env', s))",
        "s = s.replace('load .env first', 'load it')",
        "s = open('a').read()\nassert 'see .env here' in s\nopen('a', 'w').write(s)",
        "notes = '''# Notes\n\nSee .env\n'''\nwith open('a.md', 'w') as f:\n    f.write(notes)",
        "old = \"\"\"a\n.env\"\"\"\nnew = \"\"\"b .env\"\"\"\nassert old in s\ns = s.replace(old, new, 1)",
        "from pathlib import Path\np = Path('a.md')\nif 'x .env' not in p.read_text():\n    p.write_text('a .env' + p.read_text())",
        "print('never commit .env')",
        "i = s.index('## A')\ns = s[:i] + 'see .env' + s[i:]",
        "old = '''\n  a.env\n'''\ns = s.replace(old, '')",
        "a = 'see .env'  # x\nif a not in s:\n    s = s.replace('x', a + b)",
        "print('done,', len('a .env'), 'and .env')",
        "s = open('a.md').read()\ns += '''\n## See .env\n'''\nopen('a.md', 'w').write(s)",
        "s=''\ns+='a b'\ns+='see .env'\ns = s.replace('a', 'b')\nprint(s)",
    ] {
        let kept = without_prose("python3", code);
        assert!(!kept.contains(".env") && !kept.contains("\\.env"), "{code}\n{kept}");
    }
    let kept =
        without_prose("python3", "import re, glob\nre.sub(r'print\\((.*?)\\)', f, s)\nre.match('a.*', s)");
    assert!(!kept.contains('*'), "{kept}");
}

#[test]
fn code_that_names_a_file_of_a_build_may_change_the_build() {
    let names = |text: &str| {
        names_build_file(&Doubt::InlineCode {
            interpreter: "python3".into(),
            language: CodeLanguage::Other,
            text: format!("open('{text}', 'w').write(s)"),
            access: CodeAccess { writes: true, moves: false, runs: false },
            bases: Vec::new(),
        })
    };
    for file in [
        ".cargo/config",
        ".cargo/config.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
        "Directory.Build.props",
        "settings.gradle.kts",
        "GNUmakefile",
        "Makefile",
        "CMakeLists.txt",
        "tox.ini",
        "pyproject.toml",
        "vite.config.ts",
        "setup.py",
        "setup.cfg",
        "jest.setup.js",
        "src/setupTests.ts",
    ] {
        assert!(names(file), "{file}");
    }
    for file in ["docs/setup.md", "src/lib.rs", "the setup of the tests"] {
        assert!(!names(file), "{file}");
    }
}

#[test]
fn what_may_be_opened_stays() {
    for code in [
        "open('.env')",
        "print(open('.env').read())",
        "print('a b', open('.env').read())",
        "s = s.replace('x', '.env'); open(s)",
        "s = s.replace('x y', '.env'); open(s)",
        "open('a .env'.split()[1])",
        "s = ''\ns += 'a .env'\nopen(s[2:])",
        "s = ''\ns += 'a .env'\nt = s\nopen(t[2:])",
        "s = ''\ns += 'a .env'\nopen(s.replace('a ', ''))",
        "s = ''\ns += 'a .env'[2:]\nprint(s)",
        "s = ''\ns += 'a .env'\ns = s[2:]\nopen(s)",
        "s = ''\ns += 'a .env'\ns += t\nfor c in s: open(c)",
        "s = t = ''\ns += 'a .env'\nt.s += 'a .env'\nopen(t.s)",
        "x = 'a .env'\nopen(x.split()[1])",
        "x = 'a .env'\nopen(x[2:])",
        "x = 'a .env'\nprint(x)\nopen(x[2:])",
        "x = 'a .env'\ny = x",
        "old = '''\n.env\n'''\ns = s.replace('x', old)\nopen(s.strip())",
        "x = [s + 'a .env' + s][0]",
        "x = open(s + 'a .env' + s)",
        "open(mode='r', file=d + '/my .env' + e)",
        "x = 'a .env'\nfor p in x: open(p)",
        "x = 'a .env' if y else z\nprint(x)",
        "x: str = 'a .env'\nopen(x[2:])",
        "for p in ['a', '.env']: open(p)",
        "for p in ['a b', 'c .env']: open(p[2:])",
        "s = s.replace('x', 'a .env')\nopen(s.split()[1])",
        "s = 'x'.replace('x', 'cat .env')\nos.system(s)",
        "import x\nopen('x.py', 'w').write('import os\n.env')",
        "import os\nexec(s.replace('x', 'open .env'))",
        "from os import open as print\nprint('a .env')",
        "print = open\nprint('a .env')",
        "def replace(a): open(a)\nx.replace('a .env')",
        "print('a .env'[2:])",
        "print('a {}'.format('.env'))",
        "import re\nre.sub(r'.env', lambda m: open(m[0]).read(), s)",
        "import re\nre.sub(r'.env', f, s)",
        "import re\nfor f in fs:\n    if re.match(r'.env$', f): print(open(f).read())",
        "import re\nre.sub('a', '.env', s)",
        "import x as re\nre.sub('.env', 'a', s)",
        "class re: sub = open\nre.sub('.env', 'r', 1)",
        "import re\nre.sub = open\nre.sub('.env', 'r', 1)",
        "for re in [x]: re.sub('.env', 'r', 1)",
        "re = x\nre.sub('.env', 'r', 1)",
    ] {
        let kept = without_prose("python3", code);
        assert!(kept.contains(".env"), "{code}\n{kept}");
    }
    for interpreter in ["node", "ruby", "perl"] {
        assert_eq!(without_prose(interpreter, "print('a .env')"), "print('a .env')");
    }
    assert_eq!(without_prose("python3", "print('a b')\u{1e}a .env"), "print('')\u{1e}a .env");
}
