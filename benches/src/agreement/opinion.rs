//! What other parsers say: rustpython's about Python, in this process; TypeScript's and
//! CPython's own in theirs (`benches/conformance/`).

use std::collections::BTreeSet;

use owed_engine::facts::{Import, ImportKind, Span};
use owed_engine::function::Function;
use rustpython_ast::Visitor;
use rustpython_parser::Parse as _;
use rustpython_parser::ast::{
    MatchCase, StmtAsyncFunctionDef, StmtFunctionDef, StmtImport, StmtImportFrom, Suite,
};

/// Functions and import statements by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opinion {
    /// First byte and end of each function.
    pub functions: BTreeSet<(u32, u32)>,
    /// First byte, end and module of each import; in Python of each name that `import` lists.
    pub imports: BTreeSet<(u32, u32, String)>,
}

impl Opinion {
    /// What owed's first reader says, as far as the others can.
    pub fn of_first(functions: &[Function], imports: &[Import], bytes: &[u8], python: bool) -> Self {
        let statement = |import: &&Import| {
            let Span { start, end } = import.span;
            let text = bytes.get(start as usize..end as usize).unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            let text = text.trim_start();
            let word = |word: &str| {
                let rest = text.strip_prefix(word).map(str::trim_start);
                rest.is_some_and(|rest| !rest.starts_with('('))
            };
            let plain = matches!(import.kind, ImportKind::Static | ImportKind::TypeOnly | ImportKind::Star);
            if python {
                let named: String = text.chars().filter(|it| !it.is_whitespace() && *it != '\\').collect();
                return plain && (word("from") || named.starts_with(&import.specifier));
            }
            (plain || matches!(import.kind, ImportKind::ReExport | ImportKind::Require))
                && (word("import") || word("export"))
        };
        let place = |import: &Import| (import.span.start, import.span.end, import.specifier.clone());
        Self {
            functions: functions.iter().map(|it| (it.span.start, it.span.end)).collect(),
            imports: imports.iter().filter(statement).map(place).collect(),
        }
    }

    /// The same without lambdas of Python.
    #[must_use]
    pub fn without_lambdas(mut self, bytes: &[u8]) -> Self {
        self.functions.retain(|(start, _)| {
            !bytes.get(*start as usize..).is_some_and(|rest| rest.starts_with(b"lambda"))
        });
        self
    }

    /// How this differs from `other`, which is somebody else's: one line for each difference.
    pub fn differences(&self, other: &Self, who: &str) -> Vec<String> {
        let mut found = Vec::new();
        let place = |(start, end): &(u32, u32)| format!("function at {start}..{end}");
        let only = |what: String, ours: bool| match ours {
            true => format!("{what}: not for {who}"),
            false => format!("{what}: for {who} only"),
        };
        found.extend(self.functions.difference(&other.functions).map(|it| only(place(it), true)));
        found.extend(other.functions.difference(&self.functions).map(|it| only(place(it), false)));
        let import = |(start, end, module): &(u32, u32, String)| format!("{module:?} at {start}..{end}");
        found.extend(self.imports.difference(&other.imports).map(|it| only(import(it), true)));
        found.extend(other.imports.difference(&self.imports).map(|it| only(import(it), false)));
        found
    }
}

/// rustpython's opinion on a text, or what it refuses it for: of functions those with `def`,
/// because its visitor leaves out expressions in many places. `offset` is added to all places.
///
/// # Errors
/// The words of the parser.
pub fn rustpython(text: &str, offset: u32) -> Result<Opinion, String> {
    // Its parser and its visitors recurse.
    const STACK: usize = 256 << 20;
    std::thread::scope(|scope| {
        let work = || {
            let suite = Suite::parse(text, "<source>").map_err(|fault| fault.to_string())?;
            let mut collector = Collector { opinion: Opinion::default(), offset };
            for statement in suite {
                collector.visit_stmt(statement);
            }
            Ok(collector.opinion)
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|fault| fault.to_string())?;
        thread.join().unwrap_or_else(|_| Err("rustpython's parser panicked".to_owned()))
    })
}

struct Collector {
    opinion: Opinion,
    offset: u32,
}

type Range = rustpython_parser::text_size::TextRange;

impl Collector {
    fn place(&self, range: Range) -> (u32, u32) {
        (u32::from(range.start()) + self.offset, u32::from(range.end()) + self.offset)
    }
}

impl Visitor for Collector {
    fn visit_stmt_function_def(&mut self, node: StmtFunctionDef) {
        let place = self.place(node.range);
        self.opinion.functions.insert(place);
        self.generic_visit_stmt_function_def(node);
    }

    fn visit_stmt_async_function_def(&mut self, node: StmtAsyncFunctionDef) {
        let place = self.place(node.range);
        self.opinion.functions.insert(place);
        self.generic_visit_stmt_async_function_def(node);
    }

    fn visit_match_case(&mut self, node: MatchCase) {
        for statement in node.body {
            self.visit_stmt(statement);
        }
    }

    fn visit_stmt_import(&mut self, node: StmtImport) {
        for alias in node.names {
            let (start, end) = self.place(alias.range);
            self.opinion.imports.insert((start, end, alias.name.to_string()));
        }
    }

    fn visit_stmt_import_from(&mut self, node: StmtImportFrom) {
        let (start, end) = self.place(node.range);
        let level = node.level.map_or(0, |level| level.to_usize());
        let mut module = ".".repeat(level);
        module.push_str(node.module.as_ref().map_or("", |module| module.as_str()));
        self.opinion.imports.insert((start, end, module));
    }
}
