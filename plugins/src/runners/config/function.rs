//! Functions of a configuration file: finding them again by position, and what a call
//! returns. Bodies may declare constants, branch and return; a change of a local makes
//! what depends on it unknown.

use std::collections::BTreeMap;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, FormalParameters, Function, Program, Statement,
    VariableDeclaration,
};
use oxc_ast_visit::Visit;
use oxc_span::GetSpan;

use super::module::Module;
use super::pattern::{Step, bind};
use super::value::{FunctionRef, Value};

/// A function in the syntax tree.
#[derive(Clone, Copy)]
pub(super) enum FunctionNode<'a> {
    Arrow(&'a ArrowFunctionExpression<'a>),
    Function(&'a Function<'a>),
}

/// Every function of `program` by its first byte.
pub(super) fn collect<'a>(program: &Program<'a>) -> BTreeMap<u32, FunctionNode<'a>> {
    let mut finder = Finder { found: BTreeMap::new() };
    finder.visit_program(program);
    finder.found
}

struct Finder<'a> {
    found: BTreeMap<u32, FunctionNode<'a>>,
}

impl<'a> Visit<'a> for Finder<'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::ArrowFunctionExpression(f) => {
                self.found.insert(f.span.start, FunctionNode::Arrow(f));
            }
            AstKind::Function(f) => {
                self.found.insert(f.span.start, FunctionNode::Function(f));
            }
            _ => {}
        }
    }
}

/// Local names with their values, the innermost last.
pub(super) type Locals = [(String, Value)];

impl Module<'_, '_> {
    /// The function that starts at `start`, as a value that remembers its locals.
    pub(super) fn function_value(&self, start: u32, locals: &Locals) -> Value {
        Value::Function(Box::new(FunctionRef {
            path: self.path.to_owned(),
            start,
            captured: locals.to_vec(),
        }))
    }

    /// What the function `function` of this file returns for `arguments`.
    pub(super) fn call_at(&self, function: &FunctionRef, arguments: &[Value]) -> Value {
        self.reader.deeper(
            self.path,
            || self.line(function.start),
            || {
                let mut locals = function.captured.clone();
                match self.functions.get(&function.start) {
                    Some(FunctionNode::Arrow(f)) => {
                        self.parameters(&f.params, arguments, &mut locals);
                        match &f.body {
                            ArrowFunctionBody::FunctionBody(body) => self.body(&body.statements, &mut locals),
                            other => match other.as_expression() {
                                Some(expression) => self.value(expression, &locals),
                                None => self.unknown("a function", function.start),
                            },
                        }
                    }
                    Some(FunctionNode::Function(f)) if !f.generator => {
                        self.parameters(&f.params, arguments, &mut locals);
                        match &f.body {
                            Some(body) => self.body(&body.statements, &mut locals),
                            None => self.unknown("a function without a body", function.start),
                        }
                    }
                    _ => self.unknown("a function", function.start),
                }
            },
        )
    }

    fn parameters(
        &self,
        parameters: &FormalParameters<'_>,
        arguments: &[Value],
        locals: &mut Vec<(String, Value)>,
    ) {
        for (index, parameter) in parameters.items.iter().enumerate() {
            let at = parameter.span.start;
            let mut value = arguments.get(index).cloned().unwrap_or_default();
            if value == Value::Undefined
                && let Some(default) = &parameter.initializer
            {
                value = self.value(default, locals);
            }
            bind(&parameter.pattern, Vec::new(), &mut |name, steps| {
                self.local(name, value.clone(), &steps, at, locals);
            });
        }
        if let Some(rest) = &parameters.rest {
            let value = Value::Array(arguments.iter().skip(parameters.items.len()).cloned().collect());
            bind(&rest.rest.argument, Vec::new(), &mut |name, steps| {
                self.local(name, value.clone(), &steps, rest.span.start, locals);
            });
        }
    }

    fn local(&self, name: String, value: Value, steps: &[Step], at: u32, locals: &mut Vec<(String, Value)>) {
        let value = match self.changes_local(&name) {
            Some(at) => self.unknown(format!("`{name}`, which is changed after its declaration"), at),
            None => self.taken(value, steps, at),
        };
        locals.push((name, value));
    }

    fn body(&self, statements: &[Statement<'_>], locals: &mut Vec<(String, Value)>) -> Value {
        let mut results = Vec::new();
        if !self.run(statements, locals, &mut results) {
            results.push(Value::Undefined);
        }
        Value::either(results)
    }

    /// Runs `statements`, adding every value they may return. Whether they surely return.
    fn run(
        &self,
        statements: &[Statement<'_>],
        locals: &mut Vec<(String, Value)>,
        results: &mut Vec<Value>,
    ) -> bool {
        for statement in statements {
            if self.run_one(statement, locals, results) {
                return true;
            }
        }
        false
    }

    fn run_one(
        &self,
        statement: &Statement<'_>,
        locals: &mut Vec<(String, Value)>,
        results: &mut Vec<Value>,
    ) -> bool {
        match statement {
            Statement::ReturnStatement(it) => {
                results.push(it.argument.as_ref().map_or(Value::Undefined, |a| self.value(a, locals)));
                true
            }
            Statement::ThrowStatement(_) => true,
            Statement::VariableDeclaration(it) => {
                self.declare_locals(it, locals);
                false
            }
            Statement::FunctionDeclaration(it) => {
                if let Some(id) = &it.id {
                    let value = self.function_value(it.span.start, locals);
                    locals.push((id.name.to_string(), value));
                }
                false
            }
            Statement::BlockStatement(it) => {
                let outer = locals.len();
                let returned = self.run(&it.body, locals, results);
                locals.truncate(outer);
                returned
            }
            Statement::IfStatement(it) => {
                let outer = locals.len();
                let taken = self.value(&it.test, locals).truthy();
                let mut branch = |one: &Statement<'_>, locals: &mut Vec<(String, Value)>| {
                    let returned = self.run_one(one, locals, results);
                    locals.truncate(outer);
                    returned
                };
                let first = taken != Some(false) && branch(&it.consequent, locals);
                let second = match &it.alternate {
                    Some(alternate) if taken != Some(true) => branch(alternate, locals),
                    _ => false,
                };
                match taken {
                    Some(true) => first,
                    Some(false) => second,
                    None => first && second,
                }
            }
            Statement::TryStatement(it) => {
                let outer = locals.len();
                let returned = self.run(&it.block.body, locals, results);
                locals.truncate(outer);
                if let Some(handler) = &it.handler {
                    // Whether it fails is not known: both ways count.
                    self.run(&handler.body.body, locals, results);
                    locals.truncate(outer);
                }
                returned
            }
            Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_)
            | Statement::SwitchStatement(_)
            | Statement::LabeledStatement(_)
            | Statement::WithStatement(_) => {
                if returns(statement) {
                    results.push(self.unknown("a return inside a loop or switch", statement.span().start));
                }
                false
            }
            _ => false,
        }
    }

    fn declare_locals(&self, declaration: &VariableDeclaration<'_>, locals: &mut Vec<(String, Value)>) {
        for variable in &declaration.declarations {
            let at = variable.span.start;
            let value = match &variable.init {
                Some(init) => self.value(init, locals),
                None => self.unknown("a variable without a value", at),
            };
            bind(&variable.id, Vec::new(), &mut |name, steps| {
                self.local(name, value.clone(), &steps, at, locals);
            });
        }
    }
}

/// Whether a `return` of the same function stands inside.
fn returns(statement: &Statement<'_>) -> bool {
    struct Returns(bool);
    impl<'a> Visit<'a> for Returns {
        fn visit_return_statement(&mut self, _: &oxc_ast::ast::ReturnStatement<'a>) {
            self.0 = true;
        }
        fn visit_function(&mut self, _: &Function<'a>, _: oxc_syntax::scope::ScopeFlags) {}
        fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    }
    let mut returns = Returns(false);
    returns.visit_statement(statement);
    returns.0
}
