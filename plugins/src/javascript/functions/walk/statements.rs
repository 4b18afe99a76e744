//! Statements: blocks of equal rank, control structures, and jumps.

use oxc_ast::AstKind;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::super::super::read::parse::Fault;
use super::{Branch, Walk};
use crate::measure::{Tag, hash};

impl<'t, 'a> Walk<'t, 'a> {
    /// A jump must have somewhere to go in its own function.
    pub(super) fn jump(
        &mut self,
        word: &str,
        label: Option<&LabelIdentifier<'a>>,
        possible: bool,
        span: Span,
    ) {
        let known = match label {
            Some(label) => self.jumps.labels.iter().any(|known| *known == label.name.as_str()),
            None => possible,
        };
        if !known {
            let cause = format!("`{word}` has nothing to leave in its function");
            self.faults.push(Fault { cause, start: span.start, end: span.end });
        }
    }

    pub(super) fn structure(&mut self) {
        self.builder.structure();
        self.builder.decision();
    }

    /// A loop: what stands in its body is nested.
    pub(super) fn looped(&mut self, body: &Statement<'a>) {
        self.jumps.loops += 1;
        self.nested(body);
        self.jumps.loops -= 1;
    }

    /// A branch that stands one level deeper.
    pub(super) fn nested(&mut self, body: &Statement<'a>) {
        self.builder.deeper();
        self.branch(body);
        self.builder.shallower();
    }

    /// The statement of a branch; one without braces is a block of one.
    pub(super) fn branch(&mut self, body: &Statement<'a>) {
        self.branch = Branch::Alone;
        self.visit_statement(body);
    }

    pub(super) fn statement(&mut self, it: &Statement<'a>) {
        let branch = std::mem::replace(&mut self.branch, Branch::Alone);
        if let Statement::LabeledStatement(labelled) = it {
            let block = match branch {
                Branch::Listed(block) | Branch::Labelled(block) => block,
                Branch::Alone => self.builder.block(),
            };
            let node = AstKind::LabeledStatement(self.alloc(labelled));
            self.enter_node(node);
            self.visit_label_identifier(&labelled.label);
            self.branch = Branch::Labelled(block);
            self.jumps.labels.push(labelled.label.name.to_string());
            self.visit_statement(&labelled.body);
            self.jumps.labels.pop();
            self.leave_node(node);
            return;
        }
        let plain = matches!(it, Statement::BlockStatement(_) | Statement::EmptyStatement(_));
        let wrapped = branch == Branch::Alone && !matches!(it, Statement::BlockStatement(_));
        let wrapped = wrapped && !self.else_if && !self.builder.outside();
        if wrapped {
            self.builder.node(const { hash(Tag::Node, b"block") });
        }
        let erased =
            matches!(it, Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_))
                || matches!(it, Statement::FunctionDeclaration(function) if function.body.is_none());
        let number = if plain || erased || self.builder.outside() {
            None
        } else {
            let block = match branch {
                Branch::Listed(block) | Branch::Labelled(block) => block,
                Branch::Alone => self.builder.block(),
            };
            let span = it.span();
            let lines = (self.lines.line(span.start), self.lines.line(span.end.saturating_sub(1)));
            self.builder.open_statement(block, lines)
        };
        walk::walk_statement(self, it);
        self.builder.close_statement(number);
        if wrapped {
            self.builder.end();
        }
    }

    pub(super) fn if_statement(&mut self, it: &IfStatement<'a>) {
        let chained = std::mem::take(&mut self.else_if);
        self.builder.decision();
        if chained {
            self.builder.flat()
        } else {
            self.builder.structure()
        }
        let node = AstKind::IfStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.test);
        self.nested(&it.consequent);
        match &it.alternate {
            Some(chain @ Statement::IfStatement(_)) => {
                self.else_if = true;
                self.branch(chain);
                self.else_if = false;
            }
            Some(other) => {
                self.builder.flat();
                self.nested(other);
            }
            None => {}
        }
        self.leave_node(node);
    }

    pub(super) fn for_statement(&mut self, it: &ForStatement<'a>) {
        self.structure();
        let node = AstKind::ForStatement(self.alloc(it));
        self.enter_node(node);
        if let Some(init) = &it.init {
            self.visit_for_statement_init(init);
        }
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        if let Some(update) = &it.update {
            self.visit_expression(update);
        }
        self.looped(&it.body);
        self.leave_node(node);
    }

    pub(super) fn for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.structure();
        let node = AstKind::ForInStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.looped(&it.body);
        self.leave_node(node);
    }

    pub(super) fn for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.structure();
        let node = AstKind::ForOfStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.looped(&it.body);
        self.leave_node(node);
    }

    pub(super) fn while_statement(&mut self, it: &WhileStatement<'a>) {
        self.structure();
        let node = AstKind::WhileStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.test);
        self.looped(&it.body);
        self.leave_node(node);
    }

    pub(super) fn do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.structure();
        let node = AstKind::DoWhileStatement(self.alloc(it));
        self.enter_node(node);
        self.looped(&it.body);
        self.visit_expression(&it.test);
        self.leave_node(node);
    }

    pub(super) fn switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.builder.structure();
        let node = AstKind::SwitchStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.discriminant);
        self.builder.deeper();
        self.jumps.switches += 1;
        for case in &it.cases {
            if case.test.is_some() {
                self.builder.decision();
            }
            self.visit_switch_case(case);
        }
        self.jumps.switches -= 1;
        self.builder.shallower();
        self.leave_node(node);
    }

    pub(super) fn break_statement(&mut self, it: &BreakStatement<'a>) {
        let possible = self.jumps.loops + self.jumps.switches > 0;
        self.jump("break", it.label.as_ref(), possible, it.span);
        if it.label.is_some() {
            self.builder.flat();
        }
        walk::walk_break_statement(self, it);
    }

    pub(super) fn continue_statement(&mut self, it: &ContinueStatement<'a>) {
        let possible = self.jumps.loops > 0;
        self.jump("continue", it.label.as_ref(), possible, it.span);
        if it.label.is_some() {
            self.builder.flat();
        }
        walk::walk_continue_statement(self, it);
    }
}
