//! Which grammar goes with which folder of `queries/`. A test holds that every `.scm` file
//! of the repository is named here, compiles, and that every pattern has a corpus case.

use tree_sitter_language::LanguageFn;

use super::{Grammar, GrammarError};

/// A folder of `queries/`.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'q> {
    /// Its name.
    pub name: &'static str,
    /// The stem of each file of queries, and its text.
    pub queries: &'q [(&'q str, &'q str)],
}

/// A grammar and the queries that belong to it, embedded.
#[derive(Clone, Copy)]
pub struct Source {
    /// The language's name.
    pub name: &'static str,
    /// Its folders below `queries/`: what several dialects share comes first.
    pub folders: &'static [&'static Folder<'static>],
    /// How the names of files in it end, without the dot.
    pub extensions: &'static [&'static str],
    /// How the names of its packages start in answers, with the colon.
    pub package_prefix: &'static str,
    /// Changes whenever the facts or functions of equal bytes may change.
    pub reader_version: &'static str,
    /// The grammar.
    pub grammar: LanguageFn,
    /// `functions.toml`, for languages whose functions are measured by data.
    pub functions: Option<&'static str>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source {
    /// The grammar with its queries.
    ///
    /// # Errors
    /// What [`Grammar::new`] refuses.
    pub fn compile(&self) -> Result<Grammar, GrammarError> {
        let grammar = Grammar::new(self.name, self.grammar, self.folders)?;
        match self.functions {
            Some(text) => grammar.with_functions(text),
            None => Ok(grammar),
        }
    }
}

/// A folder of `queries/` with files of these stems.
macro_rules! folder {
    ($name:literal: $($stem:ident),+ $(,)?) => {
        Folder {
            name: $name,
            queries: &[$((
                stringify!($stem),
                include_str!(concat!("../../../queries/", $name, "/", stringify!($stem), ".scm")),
            )),+],
        }
    };
}

/// Rust.
pub static RUST: Source = Source {
    name: "rust",
    folders: &[&folder!("rust": definitions, references, imports, tests)],
    extensions: &["rs"],
    package_prefix: "cargo:",
    reader_version: "rust/1",
    grammar: tree_sitter_rust::LANGUAGE,
    functions: Some(include_str!("../../../queries/rust/functions.toml")),
};

/// Go.
pub static GO: Source = Source {
    name: "go",
    folders: &[&folder!("go": definitions, references, imports)],
    extensions: &["go"],
    package_prefix: "go:",
    reader_version: "go/1",
    grammar: tree_sitter_go::LANGUAGE,
    functions: Some(include_str!("../../../queries/go/functions.toml")),
};

/// Python 3: the second reader of another language's plugin, whose version counts.
pub static PYTHON: Source = Source {
    name: "python",
    folders: &[&folder!("python": definitions, imports, exports, tests)],
    extensions: &["py", "pyi"],
    package_prefix: "pypi:",
    reader_version: "",
    grammar: tree_sitter_python::LANGUAGE,
    functions: None,
};

const ECMASCRIPT: &Folder<'static> = &folder!("ecmascript": definitions, imports, exports, tests);
const TYPED: &Folder<'static> = &folder!("typescript": definitions, imports, exports);

/// JavaScript, with JSX: a second reader, too.
pub static JAVASCRIPT: Source = SCRIPT;

const SCRIPT: Source = Source {
    name: "javascript",
    folders: &[ECMASCRIPT, &folder!("javascript": definitions)],
    extensions: &["js", "jsx", "mjs", "cjs"],
    package_prefix: "npm:",
    reader_version: "",
    grammar: tree_sitter_javascript::LANGUAGE,
    functions: None,
};

/// TypeScript without JSX.
pub static TYPESCRIPT: Source = Source {
    name: "typescript",
    folders: &[ECMASCRIPT, TYPED],
    extensions: &["ts", "mts", "cts"],
    grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    ..SCRIPT
};

/// TypeScript with JSX.
pub static TSX: Source = Source {
    name: "tsx",
    folders: &[ECMASCRIPT, TYPED],
    extensions: &["tsx"],
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    ..SCRIPT
};

/// All of them.
pub static ALL: &[&Source] = &[&RUST, &GO, &TYPESCRIPT, &TSX, &JAVASCRIPT, &PYTHON];
