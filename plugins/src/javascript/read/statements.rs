//! Top-level statements: which bindings they make, which names they export, and what
//! is left for `<module>`.

use std::borrow::Cow;

use owed_engine::facts::{DeclarationKind, Export};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    BindingPattern, Class, Declaration, ExportDefaultDeclarationKind, Expression, Function, Program,
    Statement, TSModuleReference, TSType, VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::Visit;
use oxc_semantic::{ScopeFlags, SymbolFlags, SymbolId};
use oxc_span::{GetSpan, Span};

use super::units::{LINKS, MODULE};
use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// Walks a whole program.
    pub(super) fn program(&mut self, program: &'a Program<'a>) {
        self.stack.push(AstKind::Program(program));
        let common = self.common_exports(&program.body);
        self.prepare(&program.body);
        for directive in &program.directives {
            self.units.extend(LINKS, directive.span);
        }
        for statement in &program.body {
            if !(common && self.common_export(statement)) {
                self.statement(statement);
            }
        }
        self.stack.pop();
    }

    /// What must be known before the first reference is met: imports, top-level
    /// constants (functions use them before they are declared), and exported names.
    fn prepare(&mut self, body: &'a [Statement<'a>]) {
        for statement in body {
            match statement {
                Statement::ExportDeclaration(it) => {
                    self.note_exported(&it.declaration);
                    match &it.declaration {
                        Declaration::VariableDeclaration(it) => self.bind_all(it),
                        Declaration::ClassDeclaration(it) => self.bind_class(it),
                        it => self.note_shape(it),
                    }
                }
                Statement::VariableDeclaration(it) => self.bind_all(it),
                Statement::ClassDeclaration(it) => self.bind_class(it),
                Statement::TSInterfaceDeclaration(_) | Statement::TSTypeAliasDeclaration(_) => {
                    if let Some(it) = statement.as_declaration() {
                        self.note_shape(it);
                    }
                }
                Statement::ExportNamedDeclaration(it) => {
                    for specifier in &it.specifiers {
                        self.note_exported_name(specifier.local.name().as_str());
                    }
                }
                Statement::TSExportAssignment(it) => {
                    if let Expression::Identifier(it) = &it.expression {
                        self.note_exported_name(it.name.as_str());
                    }
                }
                Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                    ExportDefaultDeclarationKind::Identifier(it) => {
                        self.note_exported_name(it.name.as_str());
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(it) => {
                        self.bind_class(it);
                        self.exported.extend(it.id.as_ref().and_then(|id| id.symbol_id.get()));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        for statement in body {
            match statement {
                Statement::ImportDeclaration(it) => self.import_declaration(it),
                Statement::ExportAllDeclaration(it) => self.export_all(it),
                Statement::ExportFromDeclaration(it) => self.export_from(it),
                Statement::TSImportEqualsDeclaration(it) => self.import_equals(it),
                Statement::ExportDeclaration(it) => {
                    if let Declaration::TSImportEqualsDeclaration(it) = &it.declaration {
                        self.import_equals(it);
                    }
                }
                _ => {}
            }
        }
    }

    /// An interface or object type says which members its values have.
    fn note_shape(&mut self, it: &'a Declaration<'a>) {
        match it {
            Declaration::TSInterfaceDeclaration(it) if it.extends.is_empty() => {
                self.shapes.insert(it.id.name.as_str(), &it.body.body);
            }
            Declaration::TSTypeAliasDeclaration(it) => {
                if let TSType::TSTypeLiteral(literal) = &it.type_annotation {
                    self.shapes.insert(it.id.name.as_str(), &literal.members);
                }
            }
            _ => {}
        }
    }

    fn bind_all(&mut self, it: &'a VariableDeclaration<'a>) {
        for declarator in &it.declarations {
            self.bind(declarator, it.kind.is_const());
        }
    }

    /// The root-scope symbol of that name.
    pub(super) fn root_symbol(&self, name: &str) -> Option<SymbolId> {
        self.scoping.get_root_binding(name.into())
    }

    fn note_exported_name(&mut self, name: &str) {
        if let Some(symbol) = self.root_symbol(name) {
            self.exported.insert(symbol);
        }
    }

    fn note_exported(&mut self, it: &'a Declaration<'a>) {
        match it {
            Declaration::VariableDeclaration(it) => {
                let symbols = it.declarations.iter().flat_map(|d| d.id.get_symbol_ids());
                self.exported.extend(symbols);
            }
            _ => self.exported.extend(it.id().and_then(|id| id.symbol_id.get())),
        }
    }

    fn export(&mut self, name: &str, local: &str) {
        self.exports.push(Export { name: name.to_owned(), local: local.to_owned() });
    }

    fn statement(&mut self, statement: &'a Statement<'a>) {
        match statement {
            Statement::EmptyStatement(_)
            | Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::TSNamespaceExportDeclaration(_) => {}
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    let local = specifier.local.name();
                    self.export(&specifier.exported.name(), &local);
                }
            }
            Statement::ExportDefaultDeclaration(it) => self.default_export(&it.declaration, it.span),
            Statement::TSExportAssignment(it) => self.export_expression(&it.expression, it.span),
            Statement::ExportDeclaration(it) => {
                self.declaration(&it.declaration, it.span, true);
            }
            _ => match statement.as_declaration() {
                Some(declaration) => self.declaration(declaration, declaration.span(), false),
                None => {
                    self.units.extend(MODULE, statement.span());
                    self.units.current = MODULE;
                    self.visit_statement(statement);
                }
            },
        }
    }

    fn default_export(&mut self, it: &'a ExportDefaultDeclarationKind<'a>, span: Span) {
        match it {
            ExportDefaultDeclarationKind::FunctionDeclaration(it) => {
                let name = self.function(it, span);
                self.export("default", &name);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(it) => {
                let name = self.class(it, span);
                self.export("default", &name);
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => {
                let symbol = it.id.symbol_id.get();
                let unit = self.units.of_symbol(symbol, it.id.name.as_str(), DeclarationKind::Type);
                self.units.extend(unit, span);
                self.walk_types(unit, |walk| walk.visit_ts_interface_declaration(it));
                self.export("default", &it.id.name);
            }
            _ => {
                if let Some(expression) = it.as_expression() {
                    self.export_expression(expression, span);
                }
            }
        }
    }

    /// `export default x`, `export = x`.
    fn export_expression(&mut self, expression: &'a Expression<'a>, span: Span) {
        if let Expression::Identifier(it) = expression
            && self.symbol(it).is_some()
        {
            // The binding's own unit is what importers reach.
            self.export("default", &it.name);
            return;
        }
        let unit = self.units.add(Cow::Borrowed("default"), value_kind(expression));
        self.units.extend(unit, span);
        self.units.at(unit).effects = !self.is_pure(expression);
        self.units.current = unit;
        self.visit_expression(expression);
        self.export("default", "default");
    }

    fn declaration(&mut self, it: &'a Declaration<'a>, span: Span, exported: bool) {
        match it {
            Declaration::VariableDeclaration(it) => self.variables(it, span, exported),
            Declaration::FunctionDeclaration(it) => {
                let name = self.function(it, span);
                if exported {
                    self.export(&name, &name);
                }
            }
            Declaration::ClassDeclaration(it) => {
                let name = self.class(it, span);
                if exported {
                    self.export(&name, &name);
                }
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                let name = it.id.name.as_str();
                if exported {
                    self.export(name, name);
                }
                if !matches!(it.module_reference, TSModuleReference::ExternalModuleReference(_)) {
                    let unit = self.units.of_symbol(it.id.symbol_id.get(), name, DeclarationKind::Value);
                    self.units.extend(unit, span);
                    self.units.current = unit;
                    self.keep_types = true;
                    self.visit_ts_import_equals_declaration(it);
                    self.keep_types = false;
                }
            }
            _ => self.typescript(it, span, exported),
        }
    }

    fn typescript(&mut self, it: &'a Declaration<'a>, span: Span, exported: bool) {
        let name = match it {
            Declaration::TSExternalModuleDeclaration(it) => {
                Cow::Owned(format!("declare module \"{}\"", it.id.value))
            }
            Declaration::TSGlobalDeclaration(_) => Cow::Borrowed("declare global"),
            _ => Cow::Borrowed(it.id().map_or("", |id| id.name.as_str())),
        };
        let symbol = it.id().and_then(|id| id.symbol_id.get());
        let flags = symbol.map_or(SymbolFlags::empty(), |symbol| self.scoping.symbol_flags(symbol));
        let own = match it {
            Declaration::TSEnumDeclaration(it) if !it.declare || it.r#const => DeclarationKind::Value,
            Declaration::TSNamespaceDeclaration(it) if !it.declare => DeclarationKind::Value,
            _ => DeclarationKind::Type,
        };
        let own = if self.declarations { DeclarationKind::Type } else { own };
        let merged = own == DeclarationKind::Type && self.has_value(flags);
        let kind = if merged { self.value_kind_of(flags) } else { own };
        let unit = match (&name, symbol) {
            (Cow::Borrowed(name), Some(_)) => self.units.of_symbol(symbol, name, kind),
            _ => self.units.add(name.clone(), kind),
        };
        if exported {
            self.export(&name, &name);
        }
        if !merged {
            self.units.extend(unit, span);
        }
        match it {
            Declaration::TSEnumDeclaration(it) if own == DeclarationKind::Value => {
                let pure =
                    it.body.members.iter().all(|m| m.initializer.as_ref().is_none_or(|i| self.is_pure(i)));
                self.units.at(unit).effects |= !pure;
                self.units.current = unit;
                self.visit_ts_enum_declaration(it);
            }
            Declaration::TSNamespaceDeclaration(it) if own == DeclarationKind::Value => {
                self.units.at(unit).effects = true;
                self.units.current = unit;
                self.visit_ts_namespace_declaration(it);
            }
            _ => self.walk_types(unit, |walk| walk.visit_declaration(it)),
        }
    }

    fn walk_types(&mut self, unit: u32, walk: impl FnOnce(&mut Self)) {
        self.units.current = unit;
        self.keep_types = true;
        walk(self);
        self.keep_types = false;
    }

    /// Whether a symbol also names something that runs, so that its types are only
    /// part of it.
    fn has_value(&self, flags: SymbolFlags) -> bool {
        !self.declarations
            && flags.intersects(
                SymbolFlags::Variable | SymbolFlags::Function | SymbolFlags::Class | SymbolFlags::Enum,
            )
            && !flags.contains(SymbolFlags::Ambient)
    }

    fn value_kind_of(&self, flags: SymbolFlags) -> DeclarationKind {
        if flags.contains(SymbolFlags::Class) {
            DeclarationKind::Class
        } else if flags.contains(SymbolFlags::Function) {
            DeclarationKind::Function
        } else {
            DeclarationKind::Value
        }
    }

    fn function(&mut self, it: &'a Function<'a>, span: Span) -> Cow<'a, str> {
        let name = it.id.as_ref().map_or("default", |id| id.name.as_str());
        let symbol = it.id.as_ref().and_then(|id| id.symbol_id.get());
        let erased = self.declarations || it.declare;
        let kind = if erased { DeclarationKind::Type } else { DeclarationKind::Function };
        let unit = self.units.of_symbol(symbol, name, kind);
        self.units.current = unit;
        if erased {
            self.units.extend(unit, span);
            self.walk_types(unit, |walk| walk.visit_function(it, ScopeFlags::Function));
        } else {
            // An overload has no body and is erased; it still may name types by `import()`.
            if it.body.is_some() {
                self.units.extend(unit, span);
            }
            self.visit_function(it, ScopeFlags::Function);
        }
        Cow::Borrowed(name)
    }

    fn class(&mut self, it: &'a Class<'a>, span: Span) -> Cow<'a, str> {
        let name = it.id.as_ref().map_or("default", |id| id.name.as_str());
        let symbol = it.id.as_ref().and_then(|id| id.symbol_id.get());
        let erased = self.declarations || it.declare;
        let kind = if erased { DeclarationKind::Type } else { DeclarationKind::Class };
        let unit = self.units.of_symbol(symbol, name, kind);
        // `@dec export class A {}`: the decorators come first.
        let start = it.decorators.first().map_or(span.start, |d| d.span.start.min(span.start));
        self.units.extend(unit, Span::new(start, span.end));
        if erased {
            self.walk_types(unit, |walk| walk.visit_class(it));
        } else {
            self.units.at(unit).effects |= !self.is_pure_class(it);
            self.units.current = unit;
            self.visit_class(it);
        }
        Cow::Borrowed(name)
    }

    fn variables(&mut self, it: &'a VariableDeclaration<'a>, span: Span, exported: bool) {
        for declarator in &it.declarations {
            if exported {
                for id in declarator.id.get_binding_identifiers() {
                    self.export(&id.name, &id.name);
                }
            }
            let whole = if it.declarations.len() == 1 { span } else { declarator.span };
            if !it.declare && !self.declarations && self.is_import_shape(declarator) {
                self.units.extend(LINKS, whole);
                self.units.current = LINKS;
                self.units.at(MODULE).present = true;
                self.visit_variable_declarator(declarator);
                continue;
            }
            self.variable(declarator, whole, it.declare || self.declarations, it.kind.is_using());
        }
    }

    fn variable(&mut self, it: &'a VariableDeclarator<'a>, span: Span, erased: bool, using: bool) {
        let ids = it.id.get_binding_identifiers();
        let kind = match (&it.init, erased) {
            (_, true) => DeclarationKind::Type,
            (Some(init), _) if it.id.is_binding_identifier() => value_kind(init),
            _ => DeclarationKind::Value,
        };
        let plain = it.id.is_binding_identifier() && !using;
        let pure = plain && it.init.as_ref().is_none_or(|init| self.is_pure(init));
        let effects = !erased && !pure;
        let mut first = None;
        for id in &ids {
            let unit = self.units.of_symbol(id.symbol_id.get(), id.name.as_str(), kind);
            self.units.extend(unit, span);
            let entry = self.units.at(unit);
            entry.effects |= effects;
            if let Some(first) = first {
                entry.twin = Some(first);
            } else {
                first = Some(unit);
            }
        }
        let unit = first.unwrap_or(MODULE);
        if unit == MODULE {
            self.units.extend(MODULE, span);
        }
        self.units.current = unit;
        self.keep_types = erased;
        self.visit_variable_declarator(it);
        self.keep_types = false;
    }

    /// `const x = require("./a")`, `const { a } = await import("./b")`: bindings of
    /// another module, like those of an import statement.
    fn is_import_shape(&self, it: &VariableDeclarator<'a>) -> bool {
        let plain = match &it.id {
            BindingPattern::BindingIdentifier(_) => true,
            BindingPattern::ObjectPattern(it) => {
                it.rest.is_none()
                    && it.properties.iter().all(|property| {
                        super::walk::static_key(&property.key).is_some()
                            && property.value.is_binding_identifier()
                    })
            }
            _ => false,
        };
        let fixed = |symbol: SymbolId| !self.scoping.symbol_is_mutated(symbol);
        plain
            && it.init.as_ref().is_some_and(|init| self.is_load_shape(init))
            && it.id.get_symbol_ids().into_iter().all(fixed)
    }
}

/// What an initialiser makes of a binding.
pub(super) fn value_kind(init: &Expression<'_>) -> DeclarationKind {
    match init.get_inner_expression() {
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
            DeclarationKind::Function
        }
        Expression::ClassExpression(_) => DeclarationKind::Class,
        _ => DeclarationKind::Value,
    }
}
