//! One walk over a program: opens and closes functions, gives them names, and hands every
//! node to the shape and to complexity.

mod expressions;
mod functions;
mod judge;
mod naming;
mod statements;

use oxc_ast::AstKind;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Token;
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use owed_engine::function::{Function as Measured, FunctionKind};

use super::super::read::lines::Lines;
use super::super::read::parse::Fault;
use crate::measure::{Builder, Frames, Named, Target};

/// The name that the expression at a place gets from where it stands.
struct Pending {
    span: Span,
    name: Named,
    /// What it can be called by.
    target: Option<Target>,
}

/// How a function is met.
struct Met<'n> {
    kind: FunctionKind,
    /// From its first token to its last.
    span: Span,
    name: Named,
    target: Option<Target>,
    block: bool,
    head: Head<'n>,
}

/// What is written before the parameters and types of a function.
#[derive(Clone, Copy)]
enum Head<'n> {
    None,
    /// Its own name.
    Name(&'n str),
    /// The modifiers and the key of a member.
    Tokens(Span),
}

/// Where `break` and `continue` can go.
#[derive(Clone, Debug, Default)]
struct Jumps {
    loops: u32,
    switches: u32,
    labels: Vec<String>,
}

/// State of the expression that is read, which a function in it does not share.
struct Around<'t> {
    branch: Branch,
    logic: Option<LogicalOperator>,
    in_logic: bool,
    element: Option<&'t str>,
    jumps: Jumps,
}

/// What a branch of a statement is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// A statement of a list.
    Listed(u32),
    /// The only statement of a branch.
    Alone,
    /// What a label stands at.
    Labelled(u32),
}

pub(super) struct Walk<'t, 'a> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    pub(super) scoping: &'t Scoping,
    lines: &'t Lines,
    pub(super) builder: Builder,
    frames: Frames,
    pending: Option<Pending>,
    /// Starts of the names that are called, innermost last.
    callees: Vec<u32>,
    branch: Branch,
    else_if: bool,
    /// The last operator of the logical expression that is read.
    logic: Option<LogicalOperator>,
    in_logic: bool,
    /// The class or object that `this` is, if it is one of this file.
    this: Option<u32>,
    /// The element whose attributes are read.
    element: Option<&'t str>,
    /// A `return` outside any function.
    pub(super) lone_return: Option<Span>,
    /// Jumps out of nothing; the scope analysis does not see that an arrow is a border.
    pub(super) faults: Vec<Fault>,
    jumps: Jumps,
    marker: std::marker::PhantomData<&'a ()>,
}

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn new(text: &'t str, tokens: &'t [Token], scoping: &'t Scoping, lines: &'t Lines) -> Self {
        Self {
            text,
            tokens,
            scoping,
            lines,
            builder: Builder::default(),
            frames: Frames::new("<anonymous>"),
            pending: None,
            callees: Vec::new(),
            branch: Branch::Alone,
            else_if: false,
            logic: None,
            in_logic: false,
            this: None,
            element: None,
            lone_return: None,
            faults: Vec::new(),
            jumps: Jumps::default(),
            marker: std::marker::PhantomData,
        }
    }

    pub(super) fn program(&mut self, program: &Program<'a>) {
        self.visit_program(program);
    }

    pub(super) fn finish(self) -> Vec<Measured> {
        let lines = self.lines;
        self.builder.finish(|offset| lines.line(offset))
    }

    /// Whether the name at `span` is the one that is called; asked once for each.
    pub(super) fn is_callee(&mut self, span: Span) -> bool {
        self.callees.pop_if(|start| *start == span.start).is_some()
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if !self.builder.outside() {
            self.enter(kind);
        } else if let AstKind::IdentifierReference(it) = kind {
            self.is_callee(it.span);
        } else if let AstKind::IdentifierName(it) = kind {
            self.is_callee(it.span);
        } else if let AstKind::PrivateIdentifier(it) = kind {
            self.is_callee(it.span);
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if !self.builder.outside() {
            self.leave(kind);
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        self.any_function(it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.arrow_function_expression(it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.method_definition(it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.object_property(it);
    }

    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        let name = self.taken(it.span).map(|pending| pending.name);
        self.frames.object(name);
        walk::walk_object_expression(self, it);
        self.frames.pop();
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.property_definition(it);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.accessor_property(it);
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.static_block(it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.variable_declarator(it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.formal_parameter(it);
    }

    fn visit_assignment_pattern(&mut self, it: &AssignmentPattern<'a>) {
        self.assignment_pattern(it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.assignment_expression(it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.export_default_declaration(it);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        let name = self.frames.named("export=");
        self.initialised(&it.expression, name, None);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.frames.namespace(&it.id.name);
        self.visit_ts_namespace_declaration_body(&it.body);
        self.frames.pop();
    }

    fn visit_jsx_opening_element(&mut self, it: &JSXOpeningElement<'a>) {
        let element = self.element.replace(it.name.span().source_text(self.text));
        walk::walk_jsx_opening_element(self, it);
        self.element = element;
    }

    fn visit_jsx_closing_element(&mut self, _: &JSXClosingElement<'a>) {
        self.builder.format_only(b"</");
    }

    fn visit_jsx_children(&mut self, it: &oxc_allocator::Vec<'a, JSXChild<'a>>) {
        self.children(it);
    }

    fn visit_jsx_attribute(&mut self, it: &JSXAttribute<'a>) {
        self.jsx_attribute(it);
    }

    fn visit_jsx_expression_container(&mut self, it: &JSXExpressionContainer<'a>) {
        self.jsx_expression_container(it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.called(&it.callee);
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.called(&it.callee);
        walk::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.called(&it.tag);
        walk::walk_tagged_template_expression(self, it);
    }

    fn visit_statements(&mut self, it: &oxc_allocator::Vec<'a, Statement<'a>>) {
        let block = self.builder.block();
        for statement in it {
            self.branch = Branch::Listed(block);
            self.visit_statement(statement);
        }
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.statement(it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.builder.outside() && self.lone_return.is_none() {
            self.lone_return = Some(it.span);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.if_statement(it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.for_statement(it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.for_in_statement(it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.for_of_statement(it);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.while_statement(it);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.do_while_statement(it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.switch_statement(it);
    }

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        self.structure();
        self.builder.deeper();
        walk::walk_catch_clause(self, it);
        self.builder.shallower();
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.conditional_expression(it);
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        self.break_statement(it);
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        self.continue_statement(it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        self.expression(it);
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.logical_expression(it);
    }

    fn visit_ts_type(&mut self, it: &TSType<'a>) {
        self.format_text(it.span());
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.format_text(it.span);
    }
}
