//! Which grammar goes with which folder of `queries/`. A test holds that every `.scm` file
//! of the repository is named here, compiles, and that every pattern has a corpus case.

use std::sync::LazyLock;

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
    /// The grammar.
    pub grammar: LanguageFn,
    /// The stem of each file of queries, and its text.
    pub queries: &'static [(&'static str, &'static str)],
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
        Grammar::new(self.name, self.grammar, self.queries)
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
pub const RUST: Source = Source {
    name: "rust",
    folder: "rust",
    extensions: &["rs"],
    grammar: tree_sitter_rust::LANGUAGE,
    queries: queries!("rust": definitions),
};

/// TypeScript without JSX.
pub const TYPESCRIPT: Source = Source {
    name: "typescript",
    folder: "typescript",
    extensions: &["ts", "mts", "cts"],
    grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    queries: queries!("typescript": definitions, imports, exports, tests),
};

/// TypeScript with JSX.
pub const TSX: Source =
    Source { name: "tsx", extensions: &["tsx"], grammar: tree_sitter_typescript::LANGUAGE_TSX, ..TYPESCRIPT };

/// JavaScript, with JSX.
pub const JAVASCRIPT: Source = Source {
    name: "javascript",
    folder: "javascript",
    extensions: &["js", "jsx", "mjs", "cjs"],
    grammar: tree_sitter_javascript::LANGUAGE,
    queries: queries!("javascript": definitions, imports, exports, tests),
};

/// Python 3.
pub const PYTHON: Source = Source {
    name: "python",
    folder: "python",
    extensions: &["py", "pyi"],
    grammar: tree_sitter_python::LANGUAGE,
    queries: queries!("python": definitions, imports, exports, tests),
};

/// All of them.
pub const ALL: &[Source] = &[RUST, TYPESCRIPT, TSX, JAVASCRIPT, PYTHON];

fn compiled(source: &Source) -> Grammar {
    source.compile().expect("a test compiles every embedded file of queries")
}

/// [`RUST`], compiled on first use.
pub static RUST_GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| compiled(&RUST));
