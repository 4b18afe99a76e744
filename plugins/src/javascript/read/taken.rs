//! What a load gives, and what of it is used.

use owed_engine::facts::{ImportKind, LoadMode, Name, Names};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, ArrowFunctionExpression, BindingPattern, CallExpression, Expression, Function};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};

use super::walk::{Walk, static_key};

/// What a load gives is used like this.
pub(super) enum Taken<'a> {
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
    pub(super) fn take(
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
    pub(super) fn taken(&self) -> (Taken<'a>, bool) {
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

pub(super) fn arrow_params<'a>(it: &'a ArrowFunctionExpression<'a>) -> Option<&'a BindingPattern<'a>> {
    it.params.items.first().map(|parameter| &parameter.pattern)
}

pub(super) fn function_params<'a>(it: &'a Function<'a>) -> Option<&'a BindingPattern<'a>> {
    it.params.items.first().map(|parameter| &parameter.pattern)
}
