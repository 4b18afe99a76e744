//! What the checker of compile-time errors asks about the place that is read.

use ruff_python_ast::PythonVersion;
use ruff_python_parser::semantic_errors::{LazyImportContext, SemanticSyntaxContext, SemanticSyntaxError};
use ruff_text_size::TextRange;

use super::scopes::{Kind, Scope};
use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// The scopes around, innermost first.
    fn around(&self) -> impl Iterator<Item = &Scope<'a>> {
        self.open
            .iter()
            .rev()
            .take_while(|_| self.scopes.step())
            .map(|scope| &self.scopes.list[*scope as usize])
    }

    fn here(&self) -> &Scope<'a> {
        &self.scopes.list[self.scope() as usize]
    }
}

impl SemanticSyntaxContext for Walk<'_, '_> {
    fn future_annotations_or_stub(&self) -> bool {
        self.stub || self.scopes.future_annotations
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        match self.here().kind {
            Kind::Function { .. } | Kind::Lambda => Some(LazyImportContext::Function),
            Kind::Class => Some(LazyImportContext::Class),
            _ => self.in_try.then_some(LazyImportContext::TryExceptBlocks),
        }
    }

    fn python_version(&self) -> PythonVersion {
        PythonVersion::latest_preview()
    }

    fn source(&self) -> &str {
        self.text
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        self.here().globals.get(name).copied()
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        self.scopes.has_nonlocal(name, self.scope())
    }

    fn in_async_context(&self) -> bool {
        for scope in self.around() {
            match scope.kind {
                Kind::Class | Kind::Lambda | Kind::Module => return false,
                Kind::Function { is_async } => return is_async,
                Kind::Comprehension { .. } | Kind::Generator | Kind::TypeParameters => {}
            }
        }
        false
    }

    fn in_await_allowed_context(&self) -> bool {
        for scope in self.around() {
            match scope.kind {
                Kind::Class | Kind::Module => return false,
                Kind::Function { .. } | Kind::Lambda => return true,
                Kind::Comprehension { .. } | Kind::Generator | Kind::TypeParameters => {}
            }
        }
        false
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.here().kind, Kind::Function { .. } | Kind::Lambda)
    }

    fn in_sync_comprehension(&self) -> bool {
        self.around().any(|scope| scope.kind == Kind::Comprehension { is_async: false })
    }

    fn in_class_body_comprehension(&self) -> bool {
        for scope in self.around() {
            match scope.kind {
                Kind::Comprehension { .. } | Kind::Generator => {}
                Kind::Class => return true,
                _ => return false,
            }
        }
        false
    }

    fn in_module_scope(&self) -> bool {
        self.here().kind == Kind::Module
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.here().kind, Kind::Function { .. } | Kind::Lambda)
    }

    fn in_generator_context(&self) -> bool {
        self.around().any(|scope| scope.kind == Kind::Generator)
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        self.errors.borrow_mut().push(error);
    }

    fn in_loop_context(&self) -> bool {
        self.loops > 0
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.here().parameters.contains(&name)
    }
}
