//! Import and re-export statements.

use owed_engine::facts::{
    Import, ImportKind, LoadMode, Name, Names, Opaque, PathBase, PathExpr, Pin, Presence,
};
use oxc_ast::ast::{
    ExportAllDeclaration, ExportFromDeclaration, ImportDeclaration, ImportDeclarationSpecifier,
    ImportOrExportKind, ModuleExportName, StringLiteral, TSImportEqualsDeclaration, TSImportType,
    TSModuleReference,
};
use oxc_semantic::SymbolId;
use oxc_span::Span;

use super::units::LINKS;
use super::walk::{Binding, Walk};

impl<'a> Walk<'_, 'a> {
    /// Adds an import as written at `span`; gives its index.
    pub(super) fn add_import(
        &mut self,
        specifier: &str,
        kind: ImportKind,
        names: Names,
        span: Span,
    ) -> usize {
        let mode = match kind {
            ImportKind::Require => LoadMode::Cjs,
            _ => LoadMode::Esm,
        };
        let kind = match kind {
            ImportKind::Static | ImportKind::ReExport | ImportKind::Star | ImportKind::Require
                if self.declarations =>
            {
                ImportKind::TypeOnly
            }
            other => other,
        };
        if kind != ImportKind::TypeOnly {
            self.on_scheme(specifier, span);
        }
        let (line, span) = self.place(span);
        self.imports.push(Import {
            specifier: specifier.to_owned(),
            kind,
            mode,
            presence: Presence::Required,
            names,
            line,
            span,
        });
        self.imports.len() - 1
    }

    /// Specifiers that say something by themselves.
    fn on_scheme(&mut self, specifier: &str, span: Span) {
        let starts = |list: &[&str]| list.iter().any(|scheme| specifier.starts_with(scheme));
        if specifier == "dotenv/config" {
            let path = PathExpr { base: PathBase::Cwd, path: ".env".to_owned() };
            self.pinned("dotenv.config", Pin::File(path), span);
        }
        self.held.queries |= specifier.starts_with("@testing-library/");
        if specifier.ends_with(".node") {
            self.opaque(specifier, Opaque::Native, span);
        } else if starts(&["http:", "https:"]) {
            self.opaque("import", Opaque::Network, span);
        } else if starts(&["data:", "blob:"]) {
            self.opaque("import", Opaque::Eval, span);
        } else if starts(&["node:", "bun:"]) && specifier != "bun:test" && self.module(specifier).is_none() {
            self.opaque(specifier, Opaque::Unlisted, span);
        }
    }

    /// An import statement that is linked before the file runs.
    fn link(&mut self, kind: ImportKind, span: Span) {
        if kind != ImportKind::TypeOnly && !self.declarations {
            self.units.extend(LINKS, span);
            self.units.at(super::units::MODULE).present = true;
        }
    }

    /// `import … from "x"`.
    pub(super) fn import_declaration(&mut self, it: &'a ImportDeclaration<'a>) {
        let kind = kind_of(it.import_kind, ImportKind::Static);
        self.link(kind, it.span);
        let source = it.source.value.as_str();
        let mut list = Vec::new();
        let first = self.imports.len();
        for specifier in it.specifiers.iter().flatten() {
            let symbol = specifier.local().symbol_id.get();
            let local = specifier.local().name.as_str();
            let imported = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
                    if specifier.import_kind == ImportOrExportKind::Type || !self.is_read(symbol) {
                        let span = self.with_comma(specifier.span);
                        self.erasures.add(span, false);
                    }
                    export_name(&specifier.imported)
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => "default",
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                    let import = self.add_import(source, kind, Names::Effects, it.span);
                    if let Some(symbol) = symbol {
                        self.known[symbol.index()].binding = Binding::Import { import, name: None };
                        self.hold(symbol, import, local);
                    }
                    continue;
                }
            };
            list.push(Name { imported: imported.to_owned(), local: local.to_owned() });
            if let Some(symbol) = symbol {
                // The list is added last, at the index it gets when a namespace came first.
                let import = first + usize::from(has_namespace(it));
                self.known[symbol.index()].binding = Binding::Import { import, name: Some(imported) };
            }
        }
        if !list.is_empty() || !has_namespace(it) {
            let names = if list.is_empty() { Names::Effects } else { Names::List(list) };
            self.add_import(source, kind, names, it.span);
        }
    }

    /// The import at `import` binds the whole module to `symbol`.
    pub(super) fn hold(&mut self, symbol: SymbolId, import: usize, local: &str) {
        if self.whole || self.declarations {
            self.imports[import].names = Names::Namespace(local.to_owned());
        } else {
            self.add_space(symbol, import, local.to_owned());
        }
    }

    /// A list item with the comma that goes with it.
    fn with_comma(&self, span: Span) -> Span {
        let after = &self.source[span.end as usize..];
        let before = &self.source[..span.start as usize];
        let step = |skipped: usize| u32::try_from(skipped + 1).unwrap_or(1);
        if after.trim_start().starts_with(',') {
            Span::new(span.start, span.end + step(after.len() - after.trim_start().len()))
        } else if before.trim_end().ends_with(',') {
            Span::new(span.start - step(before.len() - before.trim_end().len()), span.end)
        } else {
            span
        }
    }

    /// Whether anything but a type refers to an imported symbol. Without such a
    /// reference compilers drop the name.
    fn is_read(&self, symbol: Option<SymbolId>) -> bool {
        symbol.is_none_or(|symbol| {
            self.exported.contains(&symbol)
                || self.scoping.get_resolved_references(symbol).any(|reference| reference.is_value())
        })
    }

    /// An import or re-export statement inside `declare module "x" { … }`.
    pub(super) fn ambient_import(&mut self, source: &StringLiteral<'a>, span: Span) {
        self.add_import(&source.value, ImportKind::TypeOnly, Names::Effects, span);
    }

    /// `export * from "x"`, `export * as ns from "x"`.
    pub(super) fn export_all(&mut self, it: &'a ExportAllDeclaration<'a>) {
        let (kind, names) = match &it.exported {
            None => (ImportKind::Star, Names::Namespace("*".to_owned())),
            Some(name) => (ImportKind::ReExport, Names::Namespace(export_name(name).to_owned())),
        };
        let kind = kind_of(it.export_kind, kind);
        self.link(kind, it.span);
        let import = self.add_import(&it.source.value, kind, names, it.span);
        if kind != ImportKind::TypeOnly {
            self.on_reexport(import, None, it.span);
        }
    }

    /// `export { a as b } from "x"`.
    pub(super) fn export_from(&mut self, it: &'a ExportFromDeclaration<'a>) {
        let kind = kind_of(it.export_kind, ImportKind::ReExport);
        self.link(kind, it.span);
        let list: Vec<Name> = it
            .specifiers
            .iter()
            .map(|specifier| Name {
                imported: export_name(&specifier.local).to_owned(),
                local: export_name(&specifier.exported).to_owned(),
            })
            .collect();
        let names = if list.is_empty() { Names::Effects } else { Names::List(list) };
        let import = self.add_import(&it.source.value, kind, names, it.span);
        let values = it.specifiers.iter().filter(|specifier| {
            kind != ImportKind::TypeOnly && specifier.export_kind == ImportOrExportKind::Value
        });
        for specifier in values {
            self.on_reexport(import, Some(export_name(&specifier.local)), it.span);
        }
    }

    /// `import x = require("y")`.
    pub(super) fn import_equals(&mut self, it: &'a TSImportEqualsDeclaration<'a>) {
        let TSModuleReference::ExternalModuleReference(reference) = &it.module_reference else { return };
        let kind = kind_of(it.import_kind, ImportKind::Require);
        self.link(kind, it.span);
        let import = self.add_import(&reference.expression.value, kind, Names::Effects, it.span);
        if let Some(symbol) = it.id.symbol_id.get() {
            self.known[symbol.index()].binding = Binding::Import { import, name: None };
            self.hold(symbol, import, &it.id.name);
        }
    }

    /// JSX loads a runtime that no statement names. Which one is for the project to say,
    /// unless a comment of the file does; React's is the default of every compiler.
    pub(super) fn jsx_runtime(&mut self) {
        let Some(span) = self.jsx else { return };
        let pragma = memchr::memmem::find(self.source.as_bytes(), b"@jsxImportSource")
            .and_then(|at| self.source[at..].split_ascii_whitespace().nth(1))
            .unwrap_or("react");
        let specifier = format!("{pragma}/jsx-runtime");
        self.add_import(&specifier, ImportKind::StringRef, Names::Effects, Span::empty(span.start));
    }

    /// `import("x").T` in a type.
    pub(super) fn on_import_type(&mut self, it: &'a TSImportType<'a>) {
        self.add_import(&it.source.value, ImportKind::TypeOnly, Names::Effects, it.span);
    }
}

fn has_namespace(it: &ImportDeclaration<'_>) -> bool {
    it.specifiers
        .iter()
        .flatten()
        .any(|s| matches!(s, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_)))
}

fn kind_of(written: ImportOrExportKind, otherwise: ImportKind) -> ImportKind {
    match written {
        ImportOrExportKind::Type => ImportKind::TypeOnly,
        ImportOrExportKind::Value => otherwise,
    }
}

/// The text of an imported or exported name.
pub(super) fn export_name<'a>(name: &ModuleExportName<'a>) -> &'a str {
    name.name().as_str()
}
