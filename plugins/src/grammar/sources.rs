//! Which grammar goes with which folder of `queries/`. A test holds that every `.scm` file
//! of the repository is named here, compiles, and that every pattern has a corpus case.

use tree_sitter_language::LanguageFn;

use super::{Grammar, GrammarError};

/// A grammar and the queries that belong to it, embedded.
#[derive(Clone, Copy)]
pub struct Source {
    /// The language's name.
    pub name: &'static str,
    /// The folder below `queries/`.
    pub folder: &'static str,
    /// How the names of files in it end, without the dot.
    pub extensions: &'static [&'static str],
    /// How the names of its packages start in answers, with the colon.
    pub package_prefix: &'static str,
    /// Changes whenever the facts or functions of equal bytes may change.
    pub reader_version: &'static str,
    /// The grammar.
    pub grammar: LanguageFn,
    /// The stem of each file of queries, and its text.
    pub queries: &'static [(&'static str, &'static str)],
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
        let grammar = Grammar::new(self.name, self.grammar, self.queries)?;
        match self.functions {
            Some(text) => grammar.with_functions(text),
            None => Ok(grammar),
        }
    }
}

/// The files of a folder of `queries/` by their stems.
macro_rules! queries {
    ($folder:literal: $($stem:ident),+ $(,)?) => {
        &[$((
            stringify!($stem),
            include_str!(concat!("../../../queries/", $folder, "/", stringify!($stem), ".scm")),
        )),+]
    };
}

/// Rust.
pub static RUST: Source = Source {
    name: "rust",
    folder: "rust",
    extensions: &["rs"],
    package_prefix: "cargo:",
    reader_version: "rust/1",
    grammar: tree_sitter_rust::LANGUAGE,
    queries: queries!("rust": definitions, references, imports, tests),
    functions: Some(include_str!("../../../queries/rust/functions.toml")),
};

/// Go.
pub static GO: Source = Source {
    name: "go",
    folder: "go",
    extensions: &["go"],
    package_prefix: "go:",
    reader_version: "go/1",
    grammar: tree_sitter_go::LANGUAGE,
    queries: queries!("go": definitions, references, imports),
    functions: Some(include_str!("../../../queries/go/functions.toml")),
};

/// TypeScript without JSX.
pub static TYPESCRIPT: Source = Source {
    name: "typescript",
    folder: "typescript",
    extensions: &["ts", "mts", "cts"],
    package_prefix: "npm:",
    // The second reader of another language's plugin, whose version counts.
    reader_version: "",
    grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    queries: queries!("typescript": definitions, imports, exports, tests),
    functions: None,
};

/// TypeScript with JSX.
pub static TSX: Source = Source {
    name: "tsx",
    folder: "typescript",
    extensions: &["tsx"],
    package_prefix: "npm:",
    // The second reader of another language's plugin, whose version counts.
    reader_version: "",
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    queries: queries!("typescript": definitions, imports, exports, tests),
    functions: None,
};

/// JavaScript, with JSX.
pub static JAVASCRIPT: Source = Source {
    name: "javascript",
    folder: "javascript",
    extensions: &["js", "jsx", "mjs", "cjs"],
    package_prefix: "npm:",
    // The second reader of another language's plugin, whose version counts.
    reader_version: "",
    grammar: tree_sitter_javascript::LANGUAGE,
    queries: queries!("javascript": definitions, imports, exports, tests),
    functions: None,
};

/// Python 3.
pub static PYTHON: Source = Source {
    name: "python",
    folder: "python",
    extensions: &["py", "pyi"],
    package_prefix: "pypi:",
    // The second reader of another language's plugin, whose version counts.
    reader_version: "",
    grammar: tree_sitter_python::LANGUAGE,
    queries: queries!("python": definitions, imports, exports, tests),
    functions: None,
};

/// All of them.
pub static ALL: &[&Source] = &[&RUST, &GO, &TYPESCRIPT, &TSX, &JAVASCRIPT, &PYTHON];
