//! Loads that are calls: `require`, `import()`, `require.resolve`, mocks,
//! `import.meta.glob`, `require.context`.
//!
//! What such a call takes from its module is called by the call's own text in
//! references: `import("./a")`, `require("./a").b`.
//!
//! A computed specifier becomes globs relative to the file's directory (or the runner's
//! root, with a leading `/`). Each hole may hold slashes:
//!
//! - between slashes or at the end: `./p/${x}` is `./p/**`;
//! - before a literal suffix: `./p/${x}.json` is `./p/**/*.json`; a suffix that is a
//!   script extension may stand for another one: `./p/${x}.js` is `./p/**/*.*`;
//! - after a literal prefix: `./l-${x}.json` is both `./l-*.json` and
//!   `./l-*/**/*.json`;
//! - anything else keeps only the directory before the first hole: `dir/**`.
//!
//! Special characters of the literal parts stand in brackets (`[[]id[]]`).

use owed_engine::facts::{ImportKind, LoadMode, Name, Names, Opaque, PathBase, Presence};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionExpression, BindingPattern, CallExpression, Expression,
    Function, ImportExpression,
};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};

use super::acts::{option, options};
use super::programs::anchored;
use super::value::{Piece, Value, normal};
use super::walk::{Walk, static_key};

/// What a load gives is used like this.
enum Taken<'a> {
    /// Not at all.
    Nothing,
    /// Whole.
    Whole,
    /// One member, bound to this symbol when it is a constant.
    Member(&'a str, Option<SymbolId>),
    /// Members, by a pattern.
    Members(Vec<(&'a str, SymbolId)>),
    /// Held by a variable.
    Held(SymbolId),
}

impl<'a> Walk<'_, 'a> {
    /// Whether an initialiser is a load of a literal module, or a member of one.
    pub(super) fn is_load_shape(&self, init: &Expression<'a>) -> bool {
        let mut at = init.get_inner_expression();
        if let Expression::StaticMemberExpression(it) = at {
            at = it.object.get_inner_expression();
        }
        if let Expression::AwaitExpression(it) = at {
            at = it.argument.get_inner_expression();
        }
        match at {
            Expression::CallExpression(it) => {
                matches!(&it.callee, Expression::Identifier(c) if self.is_global(c, "require"))
                    && matches!(it.arguments.as_slice(), [Argument::StringLiteral(_)])
            }
            Expression::ImportExpression(it) => matches!(it.source, Expression::StringLiteral(_)),
            _ => false,
        }
    }

    /// `import(x)`.
    pub(super) fn on_import_expression(&mut self, it: &'a ImportExpression<'a>) {
        self.load(ImportKind::Dynamic, "import", &it.source, it.span, LoadMode::Esm);
        if let Some(op) = match &it.source {
            Expression::StringLiteral(source) => self.module(&source.value),
            _ => None,
        } {
            self.on_root(op, 0);
        }
    }

    /// A call is being visited.
    pub(super) fn on_call(&mut self, it: &'a CallExpression<'a>) {
        if self.declarations {
            return;
        }
        match &it.callee {
            Expression::Identifier(_) | Expression::CallExpression(_) => {
                if self.is_require(&it.callee) {
                    return self.on_require(it);
                }
                self.on_named_call(it);
            }
            Expression::StaticMemberExpression(callee) => {
                let name = callee.property.name.as_str();
                match (name, &callee.object) {
                    ("require", _) if self.is_require(&it.callee) => return self.on_require(it),
                    ("resolve", Expression::ImportMeta(_)) => self.resolve(it, LoadMode::Esm),
                    ("resolve", object) if self.is_require(object) => self.resolve(it, LoadMode::Cjs),
                    ("glob" | "globEager", Expression::ImportMeta(_)) => self.meta_glob(it),
                    ("context", object) if self.is_require(object) => self.context(it),
                    ("toMatchFileSnapshot", _) => self.file_snapshot(it),
                    ("forEach" | "map" | "flatMap" | "filter" | "some" | "every" | "find", list) => {
                        self.bind_callback(it, list);
                    }
                    ("getBuiltinModule", _) => {
                        if let Some(op) = self.call_root(it) {
                            self.on_root(op, 0);
                        }
                    }
                    (name, object) => self.on_mock(it, name, object),
                }
            }
            _ => {}
        }
        self.on_path(it.span, None);
    }

    /// `["a", "b"].forEach((name) => require(`./${name}`))`.
    fn bind_callback(&mut self, it: &'a CallExpression<'a>, list: &'a Expression<'a>) {
        let Some(callback) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let parameter = match callback {
            Expression::ArrowFunctionExpression(it) => arrow_params(it),
            Expression::FunctionExpression(it) => function_params(it),
            _ => return,
        };
        if let Some(id) = parameter.and_then(BindingPattern::get_binding_identifier)
            && let Some(symbol) = id.symbol_id.get()
            && self.elements(list, 4).is_some()
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.known[symbol.index()].binding = super::walk::Binding::Each { list };
        }
    }

    /// `expect(x).toMatchFileSnapshot("./a.txt")`, relative to the test file.
    fn file_snapshot(&mut self, it: &'a CallExpression<'a>) {
        let Some(path) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let anchored = match self.value(path) {
            Value::Text(pieces) => Value::Path(PathBase::Module, pieces),
            other => other,
        };
        self.handed_on("toMatchFileSnapshot", &anchored, it.span);
    }

    fn call_root(&self, it: &'a CallExpression<'a>) -> Option<super::operations::Op<'a>> {
        let Some(Argument::StringLiteral(text)) = it.arguments.first() else { return None };
        self.module(&text.value)
    }

    fn on_require(&mut self, it: &'a CallExpression<'a>) {
        match it.arguments.first() {
            // AMD: `require(["./a"], (a) => …)`.
            Some(Argument::ArrayExpression(list)) => {
                for element in &list.elements {
                    if let Some(source) = element.as_expression() {
                        self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
                    }
                }
            }
            Some(argument) => match argument.as_expression() {
                Some(source) => self.load(ImportKind::Require, "require", source, it.span, LoadMode::Cjs),
                None => self.unbounded("require", ImportKind::Computed, it.span),
            },
            None => {}
        }
        if let Some(op) = self.call_root(it) {
            self.on_root(op, 0);
        }
    }

    /// Calls of functions that load modules by another name.
    fn on_named_call(&mut self, it: &'a CallExpression<'a>) {
        let Expression::Identifier(callee) = &it.callee else { return };
        let Some(source) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let symbol = self.symbol(callee);
        if symbol.is_none() && callee.name == "define" {
            let list = it.arguments.iter().find_map(|argument| match argument {
                Argument::ArrayExpression(list) => Some(list),
                _ => None,
            });
            for source in
                list.iter().flat_map(|list| &list.elements).filter_map(ArrayExpressionElement::as_expression)
            {
                if self.literal(source).is_some_and(|text| text != "require" && text != "exports") {
                    self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
                }
            }
            return;
        }
        let Some(symbol) = symbol else { return };
        let (module, _) = match self.origin(symbol) {
            Some(origin) => origin,
            None => return,
        };
        match module.as_str() {
            "proxyquire" | "rewire" | "import-fresh" | "require-uncached" | "esmock" => {
                self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
            }
            _ => {}
        }
    }

    /// The module and name that a symbol comes from.
    fn origin(&self, symbol: SymbolId) -> Option<(String, Option<&'a str>)> {
        match &self.known[symbol.index()].binding {
            super::walk::Binding::Import { import, name } => {
                Some((self.imports[*import].specifier.clone(), *name))
            }
            super::walk::Binding::Init { init, keys } => {
                let mut at = init.get_inner_expression();
                // `proxyquire = require("proxyquire").noCallThru()`.
                for _ in 0..8 {
                    at = match at {
                        Expression::CallExpression(call) if self.is_require(&call.callee) => {
                            return match call.arguments.first() {
                                Some(Argument::StringLiteral(text)) => {
                                    Some((text.value.to_string(), keys.first().copied()))
                                }
                                _ => None,
                            };
                        }
                        Expression::CallExpression(call) => call.callee.get_inner_expression(),
                        Expression::StaticMemberExpression(it) => it.object.get_inner_expression(),
                        _ => return None,
                    };
                }
                None
            }
            _ => None,
        }
    }

    /// `vi.mock("x")`, `jest.requireActual("x")`, `mock.module("x")`.
    fn on_mock(&mut self, it: &'a CallExpression<'a>, name: &str, object: &'a Expression<'a>) {
        let kind = match name {
            "mock"
            | "doMock"
            | "unmock"
            | "doUnmock"
            | "dontMock"
            | "setMock"
            | "deepUnmock"
            | "unstable_mockModule"
            | "unstable_unmockModule"
            | "createMockFromModule"
            | "genMockFromModule"
            | "requireMock"
            | "importMock" => ImportKind::Mock,
            "module" => ImportKind::Mock,
            "requireActual" => ImportKind::Require,
            "importActual" => ImportKind::Dynamic,
            "replaceEsm" | "replace" => ImportKind::Mock,
            "load" | "noCallThru" => ImportKind::Require,
            _ => return,
        };
        if !self.is_mocker(object, name, 32) {
            return;
        }
        let Some(source) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let mode = if self.is_jest(object) { LoadMode::Cjs } else { LoadMode::Esm };
        match source.get_inner_expression() {
            // `vi.mock(import("./x"))`
            Expression::ImportExpression(import) => {
                self.load_whole(kind, "mock", &import.source, it.span, mode);
            }
            _ if kind == ImportKind::Mock => self.load_whole(kind, "mock", source, it.span, mode),
            _ => self.load(kind, name, source, it.span, mode),
        }
    }

    fn is_jest(&self, object: &Expression<'a>) -> bool {
        matches!(object, Expression::Identifier(it) if it.name == "jest")
    }

    /// Whether an object is the mocking interface of a runner.
    fn is_mocker(&self, object: &'a Expression<'a>, method: &str, steps: u32) -> bool {
        match object {
            _ if steps == 0 => false,
            Expression::Identifier(it) => match self.symbol(it) {
                None => matches!(it.name.as_str(), "vi" | "jest" | "vitest" | "mock" | "td" | "proxyquire"),
                Some(symbol) => match (self.origin(symbol), it.name.as_str()) {
                    (Some((module, _)), _) => matches!(
                        module.as_str(),
                        "vitest" | "@jest/globals" | "node:test" | "bun:test" | "testdouble" | "proxyquire"
                    ),
                    // The test context: `t.mock.module`.
                    (None, "mock") => method == "module",
                    (None, _) => false,
                },
            },
            Expression::StaticMemberExpression(it) => it.property.name == "mock" && method == "module",
            // Chained: `vi.mock("./a").mock("./b")`.
            Expression::CallExpression(it) => match &it.callee {
                Expression::StaticMemberExpression(callee) => {
                    self.is_mocker(&callee.object, method, steps - 1)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn resolve(&mut self, it: &'a CallExpression<'a>, mode: LoadMode) {
        if let Some(source) = it.arguments.first().and_then(Argument::as_expression) {
            self.load_whole(ImportKind::Resolve, "resolve", source, it.span, mode);
        }
    }

    /// `import.meta.glob(patterns, options)`.
    fn meta_glob(&mut self, it: &'a CallExpression<'a>) {
        let Some(patterns) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let base = options(&it.arguments, 1).and_then(|o| option(o, "base")).and_then(|e| self.literal(e));
        let list = self.elements(patterns, 4).unwrap_or_else(|| vec![patterns]);
        for pattern in list {
            match self.literal(pattern) {
                Some(pattern) => {
                    let pattern = match (&base, pattern.starts_with('.')) {
                        (Some(base), true) => format!("./{}", normal(&format!("{base}/{pattern}"))),
                        _ => pattern,
                    };
                    self.add_load(&pattern, ImportKind::Glob, "glob", it.span, LoadMode::Esm);
                }
                None => self.unbounded("glob", ImportKind::Computed, it.span),
            }
        }
    }

    /// `require.context(directory, recursive, pattern)`: the pattern only narrows.
    fn context(&mut self, it: &'a CallExpression<'a>) {
        let directory = it.arguments.first().and_then(Argument::as_expression).and_then(|e| self.literal(e));
        let flat = matches!(it.arguments.get(1), Some(Argument::BooleanLiteral(deep)) if !deep.value);
        match directory {
            Some(directory) => {
                let glob = if flat { "*" } else { "**" };
                let specifier = format!("{}/{glob}", escaped(directory.trim_end_matches('/')));
                self.add_load(&specifier, ImportKind::Glob, "glob", it.span, LoadMode::Cjs);
            }
            None => self.unbounded("glob", ImportKind::Computed, it.span),
        }
    }

    /// A load whose result may be used in part.
    fn load(&mut self, kind: ImportKind, verb: &str, source: &'a Expression<'a>, span: Span, mode: LoadMode) {
        let values = self.values(source);
        let (taken, caught) = if values.len() == 1 { self.taken() } else { (Taken::Whole, false) };
        let optional = caught || self.tries.last().is_some_and(|depth| *depth > 0);
        for value in values {
            let first = self.imports.len();
            match specifier(&value) {
                Some(specifier) => self.take(&specifier, kind, verb, &taken, span, mode),
                None => self.computed(&value, verb, span, mode),
            }
            if optional {
                for import in &mut self.imports[first..] {
                    import.presence = Presence::Optional;
                }
            }
        }
    }

    /// A load whose target is an input as a whole.
    fn load_whole(
        &mut self,
        kind: ImportKind,
        verb: &str,
        source: &'a Expression<'a>,
        span: Span,
        mode: LoadMode,
    ) {
        let optional = self.tries.last().is_some_and(|depth| *depth > 0) && kind != ImportKind::Mock;
        for value in self.values(source) {
            let first = self.imports.len();
            match specifier(&value) {
                Some(specifier) => {
                    self.add_load(&specifier, kind, verb, span, mode);
                }
                None => self.computed(&value, verb, span, mode),
            }
            if optional {
                for import in &mut self.imports[first..] {
                    import.presence = Presence::Optional;
                }
            }
        }
    }

    fn add_load(&mut self, specifier: &str, kind: ImportKind, verb: &str, span: Span, mode: LoadMode) {
        let local = format!("{verb}({specifier:?})");
        let import = self.add_import(specifier, kind, Names::Namespace(local.clone()), span);
        self.imports[import].mode = mode;
        self.units.refer_text(local);
    }

    fn computed(&mut self, value: &Value, verb: &str, span: Span, mode: LoadMode) {
        let globs = globs(value);
        if globs.is_empty() {
            if !matches!(value, Value::Module) {
                self.unbounded(verb, ImportKind::Computed, span);
            }
            return;
        }
        for glob in globs {
            self.add_load(&glob, ImportKind::Computed, verb, span, mode);
        }
    }

    /// A load that may reach anything.
    fn unbounded(&mut self, verb: &str, kind: ImportKind, span: Span) {
        self.add_load("", kind, verb, span, LoadMode::Esm);
        self.opaque(verb, Opaque::ComputedLoad, span);
    }

    fn take(
        &mut self,
        specifier: &str,
        kind: ImportKind,
        verb: &str,
        taken: &Taken<'a>,
        span: Span,
        mode: LoadMode,
    ) {
        let call = format!("{verb}({specifier:?})");
        let root = self.scoping.root_scope_id();
        let mut list = Vec::new();
        match taken {
            Taken::Nothing => {
                let import = self.add_import(specifier, kind, Names::Effects, span);
                self.imports[import].mode = mode;
                return;
            }
            Taken::Whole => return self.add_load(specifier, kind, verb, span, mode),
            Taken::Held(symbol) => {
                let import = self.add_import(specifier, kind, Names::Effects, span);
                self.imports[import].mode = mode;
                let local = if self.scoping.symbol_scope_id(*symbol) == root {
                    self.scoping.symbol_name(*symbol).to_owned()
                } else {
                    call
                };
                return self.hold(*symbol, import, &local);
            }
            Taken::Member(name, symbol) => list.push((*name, *symbol)),
            Taken::Members(members) => {
                list.extend(members.iter().map(|(name, symbol)| (*name, Some(*symbol))))
            }
        }
        let mut names = Vec::new();
        for (name, symbol) in list {
            let local = match symbol.filter(|symbol| self.scoping.symbol_scope_id(*symbol) == root) {
                Some(symbol) => self.scoping.symbol_name(symbol).to_owned(),
                None => {
                    let local = format!("{call}.{name}");
                    self.units.refer_text(local.clone());
                    local
                }
            };
            names.push(Name { imported: name.to_owned(), local });
        }
        let names = if names.is_empty() { Names::Effects } else { Names::List(names) };
        let import = self.add_import(specifier, kind, names, span);
        self.imports[import].mode = mode;
    }

    /// How the value of the load being visited is used, and whether its failure is
    /// caught.
    fn taken(&self) -> (Taken<'a>, bool) {
        let mut up = 0;
        let mut caught = false;
        loop {
            let Some(node) = self.ancestor(up).map(|node| node.span()) else { return (Taken::Whole, caught) };
            match self.ancestor(up + 1) {
                Some(
                    AstKind::AwaitExpression(_)
                    | AstKind::TSAsExpression(_)
                    | AstKind::TSSatisfiesExpression(_)
                    | AstKind::TSNonNullExpression(_)
                    | AstKind::ChainExpression(_),
                ) => up += 1,
                Some(AstKind::StaticMemberExpression(member)) => {
                    let name = member.property.name.as_str();
                    let Some((call, method)) = self.call_above(up + 1) else {
                        return (self.member_taken(name, up + 1), caught);
                    };
                    match method {
                        "catch" | "finally" => {
                            caught |= method == "catch";
                            up += 2;
                        }
                        "then" => {
                            caught |= call.arguments.len() > 1
                                || matches!(self.call_above(up + 3), Some((_, "catch")));
                            return (self.callback(call), caught);
                        }
                        _ if self.is_target(up + 1) => return (Taken::Whole, caught),
                        // Called on the module: `this` is the module, for CommonJS.
                        name => return (Taken::Member(name, None), caught),
                    }
                }
                Some(AstKind::VariableDeclarator(it)) => return (self.pattern(&it.id), caught),
                Some(AstKind::ExpressionStatement(_)) => return (Taken::Nothing, caught),
                Some(AstKind::UnaryExpression(it)) if it.argument.span() == node => {
                    return (Taken::Nothing, caught);
                }
                _ => return (Taken::Whole, caught),
            }
        }
    }

    fn member_taken(&self, name: &'a str, up: usize) -> Taken<'a> {
        if self.is_target(up) {
            return Taken::Whole;
        }
        if let Some(AstKind::VariableDeclarator(it)) = self.ancestor(up + 1)
            && let Some(id) = it.id.get_binding_identifier()
            && let Some(symbol) = id.symbol_id.get()
            && !self.scoping.symbol_is_mutated(symbol)
        {
            return Taken::Member(name, Some(symbol));
        }
        Taken::Member(name, None)
    }

    fn pattern(&self, id: &'a BindingPattern<'a>) -> Taken<'a> {
        match id {
            BindingPattern::BindingIdentifier(it) => match it.symbol_id.get() {
                Some(symbol) if !self.scoping.symbol_is_mutated(symbol) => Taken::Held(symbol),
                _ => Taken::Whole,
            },
            BindingPattern::ObjectPattern(it) if it.rest.is_none() => {
                let members: Option<Vec<(&str, SymbolId)>> = it
                    .properties
                    .iter()
                    .map(|property| match &property.value {
                        BindingPattern::BindingIdentifier(id) => {
                            Some((static_key(&property.key)?, id.symbol_id.get()?))
                        }
                        _ => None,
                    })
                    .collect();
                match members {
                    Some(members) if members.iter().all(|m| !self.scoping.symbol_is_mutated(m.1)) => {
                        Taken::Members(members)
                    }
                    _ => Taken::Whole,
                }
            }
            _ => Taken::Whole,
        }
    }

    /// `import("./a").then((m) => …)`.
    fn callback(&self, call: &'a CallExpression<'a>) -> Taken<'a> {
        let Some(callback) = call.arguments.first().and_then(Argument::as_expression) else {
            return Taken::Whole;
        };
        let params = match callback.get_inner_expression() {
            Expression::ArrowFunctionExpression(it) => arrow_params(it),
            Expression::FunctionExpression(it) => function_params(it),
            _ => return Taken::Whole,
        };
        match params {
            Some(parameter) => self.pattern(parameter),
            None => Taken::Nothing,
        }
    }
}

fn arrow_params<'a>(it: &'a ArrowFunctionExpression<'a>) -> Option<&'a BindingPattern<'a>> {
    it.params.items.first().map(|parameter| &parameter.pattern)
}

fn function_params<'a>(it: &'a Function<'a>) -> Option<&'a BindingPattern<'a>> {
    it.params.items.first().map(|parameter| &parameter.pattern)
}

/// A constant specifier.
fn specifier(value: &Value) -> Option<String> {
    match value {
        Value::Path(base, pieces) => match pieces.as_slice() {
            [] => Some(anchored(*base, "")),
            [Piece::Text(path)] => Some(anchored(*base, path)),
            _ => None,
        },
        _ => value.literal(),
    }
}

/// The globs of a computed specifier; none when nothing bounds it.
fn globs(value: &Value) -> Vec<String> {
    let (prefix, pieces) = match value {
        Value::Text(pieces) => (String::new(), pieces.as_slice()),
        Value::Path(base, pieces) => {
            let start = match base {
                PathBase::Module => "./",
                PathBase::Cwd => "/",
                PathBase::Absolute => "",
            };
            (start.to_owned(), pieces.as_slice())
        }
        Value::Outside | Value::Module => return Vec::new(),
    };
    let first = match pieces.first() {
        Some(Piece::Text(text)) if prefix.is_empty() => text.clone(),
        Some(Piece::Text(text)) => format!("{prefix}{}", text.trim_start_matches('/')),
        Some(Piece::Hole) if !prefix.is_empty() => prefix,
        _ => return Vec::new(),
    };
    let Some(slash) = first.rfind('/') else { return Vec::new() };
    let (directory, stem) = first.split_at(slash + 1);
    let directory = match directory.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => {
            format!("./{}/", normal(rest)).replace(".//", "./").replace("./../", "../")
        }
        _ => directory.to_owned(),
    };
    if directory == "/" || directory.is_empty() {
        return Vec::new();
    }
    let tail = &pieces[usize::from(matches!(pieces.first(), Some(Piece::Text(_))))..];
    let mut tail = tail.to_vec();
    if let Some(Piece::Text(last)) = tail.last_mut()
        && let Some(query) = last.find('?')
    {
        last.truncate(query);
    }
    let directory = escaped(&directory);
    let stem = escaped(stem);
    match tail.as_slice() {
        [Piece::Hole] if stem.is_empty() => vec![format!("{directory}**")],
        [Piece::Hole] => vec![format!("{directory}{stem}*"), format!("{directory}{stem}*/**")],
        [Piece::Hole, Piece::Text(suffix)] => match suffix.strip_prefix('/') {
            Some(rest) if stem.is_empty() && has_extension(rest) => {
                vec![format!("{directory}**/{}", open_extension(rest))]
            }
            Some(_) => vec![format!("{directory}**")],
            None if suffix.contains('/') || !has_extension(suffix) => vec![format!("{directory}**")],
            None => {
                let suffix = open_extension(suffix);
                if stem.is_empty() {
                    vec![format!("{directory}**/*{suffix}")]
                } else {
                    vec![format!("{directory}{stem}*{suffix}"), format!("{directory}{stem}*/**/*{suffix}")]
                }
            }
        },
        _ => vec![format!("{directory}**")],
    }
}

fn has_extension(suffix: &str) -> bool {
    let name = suffix.rsplit('/').next().unwrap_or(suffix);
    name.rfind('.').is_some_and(|at| at + 1 < name.len())
}

/// A suffix as a glob; a script extension may be written for another one.
fn open_extension(suffix: &str) -> String {
    for script in [".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts"] {
        if let Some(stem) = suffix.strip_suffix(script) {
            return format!("{}.*", escaped(stem));
        }
    }
    escaped(suffix)
}

/// A literal part of a glob.
fn escaped(text: &str) -> String {
    if !text.contains(['*', '?', '[', ']', '{', '}', '!']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => {
                out.push('[');
                out.push(c);
                out.push(']');
            }
            other => out.push(other),
        }
    }
    out
}
