//! What code that only reads files may call.

/// The words and functions of a language that change no file.
pub(super) struct HarmlessNames {
    /// Words of the language, which a parenthesis may follow.
    pub(super) words: &'static [&'static str],
    /// Functions, which are only called.
    pub(super) functions: &'static [&'static str],
    /// What is called after a dot.
    pub(super) methods: &'static [&'static str],
    /// Names with the only members that may follow them after a dot.
    pub(super) owners: &'static [(&'static str, &'static [&'static str])],
}

#[rustfmt::skip]
pub(super) const PYTHON: HarmlessNames = HarmlessNames {
    words: &["and", "assert", "elif", "else", "for", "if", "in", "is", "not", "or", "return", "while", "with"],
    functions: &[
        "Counter", "all", "any", "bool", "defaultdict", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "open", "print", "range", "repr",
        "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip", "Path",
    ],
    methods: &[
        "Counter", "abspath", "add", "append", "basename", "close", "count", "decode", "defaultdict", "dirname", "elements", "getcwd", "getsize", "glob",
        "isdigit", "isdir", "isfile", "is_dir", "iterdir", "listdir", "ljust", "most_common", "pop", "relative_to", "relpath", "rglob", "rjust",
        "setdefault", "sort", "splitext", "stat", "sub", "update", "walk", "zfill", "finditer", "dumps", "encode", "endswith", "exists", "exit", "extend", "find", "findall", "format", "get",
        "group", "groups", "index", "is_file", "items", "join", "keys", "load", "loads", "lower", "lstrip", "match", "partition", "read", "read_bytes",
        "read_text", "readline", "readlines", "replace", "rsplit", "rstrip", "safe_load", "search", "split", "splitlines", "startswith", "strip",
        "title", "upper", "values",
    ],
    owners: &[
        ("json", &["load", "loads", "dumps"]), ("yaml", &["safe_load"]), ("tomllib", &["load", "loads"]), ("sys", &["stdin", "argv", "exit"]),
        ("re", &["findall", "finditer", "search", "match", "split", "sub"]), ("collections", &["Counter", "defaultdict"]), ("glob", &["glob"]),
        ("os", &["getcwd", "listdir", "path", "walk"]),
    ],
};

#[rustfmt::skip]
pub(super) const JAVASCRIPT: HarmlessNames = HarmlessNames {
    words: &["const", "else", "false", "for", "if", "in", "let", "null", "of", "true", "typeof", "undefined", "var"],
    functions: &["Number", "String", "parseInt", "require"],
    methods: &[
        "concat", "endsWith", "entries", "error", "existsSync", "includes", "join", "keys", "log", "padEnd", "padStart", "parse", "readFileSync",
        "slice", "split", "startsWith", "stringify", "table", "toLowerCase", "toString", "toUpperCase", "trim", "values",
    ],
    owners: &[
        ("JSON", &["parse", "stringify"]), ("Object", &["keys", "values", "entries"]), ("console", &["log", "error", "table"]), ("fs", FS),
        ("process", &["argv", "version"]),
    ],
};

#[rustfmt::skip]
pub(super) const PERL: HarmlessNames = HarmlessNames {
    words: &["and", "else", "elsif", "for", "foreach", "if", "last", "my", "next", "not", "or", "unless", "while"],
    functions: &["chomp", "defined", "join", "keys", "lc", "length", "print", "printf", "scalar", "split", "uc", "values"],
    methods: &[],
    owners: &[],
};

#[rustfmt::skip]
pub(super) const RUBY: HarmlessNames = HarmlessNames {
    words: &["and", "else", "end", "false", "if", "nil", "not", "or", "true", "unless"],
    functions: &["p", "print", "puts", "require"],
    methods: &[
        "chomp", "count", "dig", "fetch", "first", "include", "join", "keys", "last", "length", "lines", "parse", "read", "readlines", "size", "sort",
        "split", "strip", "to_a", "to_s", "uniq", "values",
    ],
    owners: &[("File", &["read", "readlines"]), ("JSON", &["parse"])],
};

#[rustfmt::skip]
pub(super) const PHP: HarmlessNames = HarmlessNames {
    words: &["as", "echo", "else", "elseif", "false", "foreach", "if", "null", "print", "true", "while"],
    functions: &[
        "array_keys", "array_values", "count", "explode", "file_get_contents", "implode", "isset", "json_decode", "json_encode", "print_r", "strlen",
        "substr", "trim", "var_dump",
    ],
    methods: &[],
    owners: &[],
};

#[rustfmt::skip]
pub(super) const AWK: HarmlessNames = HarmlessNames {
    words: &["else", "for", "if", "in", "print", "printf", "while"],
    functions: &["gsub", "index", "length", "match", "split", "sprintf", "sub", "substr", "tolower", "toupper"],
    methods: &[],
    owners: &[],
};

/// What is called of Python's `os.path`.
pub(super) const OS_PATH: &[&str] = &[
    "abspath", "basename", "dirname", "exists", "getsize", "isdir", "isfile", "join", "relpath", "splitext",
];

/// What is called of node's `fs`.
pub(super) const FS: &[&str] = &["readFileSync", "existsSync"];

/// Modes of opening a file for reading.
pub(super) const READ_MODES: &[&str] = &["r", "rb", "rt"];

/// Named arguments that are not functions, files or modes.
pub(super) const NAMED: &[&str] = &["encoding", "end", "errors", "indent", "newline", "reverse", "sep"];
