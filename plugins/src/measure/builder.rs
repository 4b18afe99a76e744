//! The stack of open functions and the buffers that they share.

use owed_engine::facts::Span;
use owed_engine::function::{Function, FunctionKind, Shape, Statement, Symbol};

use super::calls::{Calls, Target};
use super::hash::{Tag, hash};
use super::tokens::shortened;

/// Expression-bodied functions are part of the shape around them up to this many levels.
const INLINED_LEVELS: u32 = 8;

/// What is known of a function before its body.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Qualified name.
    pub(crate) name: String,
    /// How it is written.
    pub(crate) kind: FunctionKind,
    /// From its first token to its last.
    pub(crate) span: Span,
    /// Whether its body is a block rather than an expression.
    pub(crate) block: bool,
}

/// A symbol whose names are not yet judged: whether a name is bound inside depends on the
/// function that is asked about.
#[derive(Clone, Copy, Debug)]
enum Raw {
    Ready(Symbol),
    Name { binding: u32, callee: bool },
}

/// A function while or after it is read.
#[derive(Debug)]
struct Draft {
    opening: Opening,
    parent: Option<u32>,
    /// Where its part of each buffer starts.
    raw: usize,
    format: usize,
    statements: usize,
    literals: usize,
    shape: Shape,
    format_digest: [u8; 16],
    /// Statements of its own.
    count: u32,
    has_nested: bool,
    /// Levels of functions inside that are part of its shape.
    levels: u32,
    delegate: bool,
    cyclomatic: u32,
    /// Nesting of control structures at the point that is read.
    nesting: u32,
    /// Nesting of the function around it where it stands.
    at: u32,
    /// Sum of its own increments.
    cognitive: u32,
    /// How many of them grow with nesting.
    nested: u32,
    /// How many erased nodes are around it.
    erased: u32,
    /// It only holds declarations, so that functions in it are not nested deeper.
    declarative: bool,
}

/// Where a class starts in the buffers.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct ClassMark {
    raw: usize,
    format: usize,
    statements: usize,
    literals: usize,
}

/// Collects the functions of one file.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    drafts: Vec<Draft>,
    open: Vec<u32>,
    raw: Vec<Raw>,
    format: Vec<u8>,
    statements: Vec<Statement>,
    literals: Vec<String>,
    blocks: u32,
    calls: Calls,
    /// How many erased nodes are around: types and annotations go to the format only.
    erased: u32,
}

impl Builder {
    /// Whether nothing is open: what is read belongs to no function.
    pub(crate) fn outside(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost open function.
    pub(crate) fn current(&self) -> Option<u32> {
        self.open.last().copied()
    }

    fn top(&mut self) -> Option<&mut Draft> {
        let top = *self.open.last()?;
        self.drafts.get_mut(top as usize)
    }

    /// A function starts; its number.
    pub(crate) fn open(&mut self, opening: Opening) -> u32 {
        let number = u32::try_from(self.drafts.len()).expect("a file has fewer functions than bytes");
        let at = self.top().map_or(0, |around| around.nesting);
        self.drafts.push(Draft {
            opening,
            parent: self.current(),
            raw: self.raw.len(),
            format: self.format.len(),
            statements: self.statements.len(),
            literals: self.literals.len(),
            shape: Shape::default(),
            format_digest: [0; 16],
            count: 0,
            has_nested: false,
            levels: 0,
            delegate: false,
            cyclomatic: 1,
            nesting: 0,
            at,
            cognitive: 0,
            nested: 0,
            declarative: false,
            erased: std::mem::take(&mut self.erased),
        });
        self.open.push(number);
        number
    }

    /// The innermost function ends. `declared` tells of a binding where it is declared and
    /// the hash of its name.
    pub(crate) fn close(&mut self, declared: impl Fn(u32) -> (u32, u64)) {
        let Some(number) = self.open.pop() else { return };
        let draft = &mut self.drafts[number as usize];
        self.erased = draft.erased;
        let span = draft.opening.span;
        let judged = |raw: &Raw| match *raw {
            Raw::Ready(symbol) => symbol,
            Raw::Name { binding, callee } => match declared(binding) {
                (place, _) if span.start <= place && place < span.end => Symbol::Local(binding),
                (_, name) if callee => Symbol::Callee(name),
                (_, name) => Symbol::Fixed(name),
            },
        };
        let base = draft.raw;
        draft.shape.symbols = self.raw[base..].iter().map(judged).collect();
        let offset = u32::try_from(base).unwrap_or(u32::MAX);
        let moved = |s: &Statement| Statement { start: s.start - offset, end: s.end - offset, ..*s };
        draft.shape.statements = self.statements[draft.statements..].iter().map(moved).collect();
        draft.format_digest = shortened(&self.format[draft.format..]);
        let inlined = !draft.opening.block && !draft.has_nested && draft.levels < INLINED_LEVELS;
        let (format, digest) = (draft.format, draft.format_digest);
        let levels = draft.levels + 1;
        let nested = draft.opening.block || draft.has_nested;
        if inlined && !self.open.is_empty() && self.erased == 0 {
            draft.shape.literals = self.literals[draft.literals..].to_vec();
        } else {
            draft.shape.literals = self.literals.split_off(draft.literals);
            self.statements.truncate(draft.statements);
            self.raw.truncate(base);
            if !self.open.is_empty() {
                self.push(Raw::Ready(Symbol::Fixed(hash(Tag::Nested, &digest))));
            }
        }
        self.format.truncate(format);
        if let Some(around) = self.top() {
            around.has_nested |= nested;
            if inlined {
                around.levels = around.levels.max(levels);
            }
            self.format.push(6);
            self.format.extend_from_slice(&digest);
        }
    }

    /// A class starts inside a function.
    pub(crate) fn open_class(&mut self) -> ClassMark {
        ClassMark {
            raw: self.raw.len(),
            format: self.format.len(),
            statements: self.statements.len(),
            literals: self.literals.len(),
        }
    }

    /// It ends: one symbol for all of it.
    pub(crate) fn close_class(&mut self, mark: ClassMark) {
        if self.open.is_empty() {
            return;
        }
        let digest = shortened(&self.format[mark.format..]);
        self.raw.truncate(mark.raw);
        self.statements.truncate(mark.statements);
        self.literals.truncate(mark.literals);
        self.format.truncate(mark.format);
        self.raw.push(Raw::Ready(Symbol::Fixed(hash(Tag::Nested, &digest))));
        self.format.push(7);
        self.format.extend_from_slice(&digest);
    }

    /// Whether a class with a block body lies in the innermost function.
    pub(crate) fn holds_class(&mut self) {
        if let Some(top) = self.top() {
            top.has_nested = true;
        }
    }

    // Shape.

    /// What follows is a type or an annotation, until [`Builder::unerase`].
    pub(crate) fn erase(&mut self) {
        self.erased += 1;
    }

    /// And no longer.
    pub(crate) fn unerase(&mut self) {
        self.erased = self.erased.saturating_sub(1);
    }

    fn push(&mut self, raw: Raw) {
        if self.erased == 0 {
            self.raw.push(raw);
        }
    }

    fn fixed(&mut self, symbol: Symbol, value: u64) {
        if self.open.is_empty() {
            return;
        }
        self.push(Raw::Ready(symbol));
        self.format.push(1);
        self.format.extend_from_slice(&value.to_le_bytes());
    }

    /// A kind of node, an operator or a flag.
    pub(crate) fn node(&mut self, word: u64) {
        self.fixed(Symbol::Fixed(word), word);
    }

    /// A name without a binding in the file.
    pub(crate) fn free(&mut self, name: &str, callee: bool) {
        let value = hash(Tag::Name, name.as_bytes());
        self.fixed(if callee { Symbol::Callee(value) } else { Symbol::Fixed(value) }, value);
    }

    /// A member, key or keyword argument.
    pub(crate) fn member(&mut self, name: &str, callee: bool) {
        let value = hash(Tag::Member, name.as_bytes());
        self.fixed(if callee { Symbol::Callee(value) } else { Symbol::Fixed(value) }, value);
    }

    /// A name that is bound in the file.
    pub(crate) fn name(&mut self, binding: u32, name: &str, callee: bool) {
        if self.open.is_empty() {
            return;
        }
        self.push(Raw::Name { binding, callee });
        self.format.push(2);
        self.format.extend_from_slice(name.as_bytes());
        self.format.push(0);
    }

    /// A literal; `kind` as in [`Symbol::Literal`].
    pub(crate) fn literal(&mut self, kind: u8, text: String) {
        if self.open.is_empty() {
            return;
        }
        self.push(Raw::Ready(Symbol::Literal(kind)));
        self.format.push(3);
        self.format.push(kind);
        self.format.extend_from_slice(text.as_bytes());
        self.format.push(0);
        if self.erased == 0 {
            self.literals.push(text);
        }
    }

    /// The end of a node with a variable number of children.
    pub(crate) fn end(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.push(Raw::Ready(Symbol::End));
        self.format.push(4);
    }

    /// Something that only a formatter keeps and a shape does not: types, braces, modifiers.
    pub(crate) fn format_only(&mut self, bytes: &[u8]) {
        if self.open.is_empty() {
            return;
        }
        self.format.push(5);
        self.format.extend_from_slice(bytes);
        self.format.push(0);
    }

    // Statements.

    /// A number for a list of statements.
    pub(crate) fn block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    /// A statement starts; a number to close it with.
    pub(crate) fn open_statement(&mut self, block: u32, lines: (u32, u32)) -> Option<usize> {
        let start = u32::try_from(self.raw.len()).unwrap_or(u32::MAX);
        let top = self.top()?;
        top.count += 1;
        self.statements.push(Statement { start, end: start, block, lines });
        Some(self.statements.len() - 1)
    }

    /// It ends.
    pub(crate) fn close_statement(&mut self, number: Option<usize>) {
        let end = u32::try_from(self.raw.len()).unwrap_or(u32::MAX);
        if let Some(statement) = number.and_then(|number| self.statements.get_mut(number)) {
            statement.end = end;
        }
    }

    /// The innermost function only hands on to one call.
    pub(crate) fn delegates(&mut self) {
        if let Some(top) = self.top() {
            top.delegate = true;
        }
    }

    // Complexity.

    /// One more way through the innermost function.
    pub(crate) fn decision(&mut self) {
        if let Some(top) = self.top() {
            top.cyclomatic += 1;
        }
    }

    /// A control structure that costs more the deeper it stands.
    pub(crate) fn structure(&mut self) {
        if let Some(top) = self.top() {
            top.cognitive += 1 + top.nesting;
            top.nested += 1;
        }
    }

    /// A break in the flow that costs the same everywhere.
    pub(crate) fn flat(&mut self) {
        if let Some(top) = self.top() {
            top.cognitive += 1;
        }
    }

    /// What follows stands one level deeper.
    pub(crate) fn deeper(&mut self) {
        if let Some(top) = self.top() {
            top.nesting += 1;
        }
    }

    /// And no longer.
    pub(crate) fn shallower(&mut self) {
        if let Some(top) = self.top() {
            top.nesting = top.nesting.saturating_sub(1);
        }
    }

    /// The innermost function stands in for a class or a decorator: functions in it are not
    /// nested, unless it has control flow of its own.
    pub(crate) fn declarative(&mut self) {
        if let Some(top) = self.top() {
            top.declarative = true;
        }
    }

    /// `function` can be called by `target`.
    pub(crate) fn callable(&mut self, target: Target, function: u32) {
        self.calls.callable(target, function);
    }

    /// The innermost function calls `target`.
    pub(crate) fn calls(&mut self, target: Target) {
        if let Some(caller) = self.current() {
            self.calls.made(caller, target);
        }
    }

    /// The functions, sorted; tokens and digests are still to be measured. `line` gives
    /// the line of a byte.
    pub(crate) fn finish(mut self, line: impl Fn(u32) -> u32) -> Vec<Function> {
        let parents: Vec<Option<u32>> = self.drafts.iter().map(|draft| draft.parent).collect();
        for (draft, recursive) in self.drafts.iter_mut().zip(self.calls.recursive(&parents)) {
            draft.cognitive += u32::from(recursive);
        }
        // Whether there are increments of its own, before those of nested ones are added.
        let plain: Vec<bool> = self.drafts.iter().map(|d| d.declarative && d.cognitive == 0).collect();
        for at in (0..self.drafts.len()).rev() {
            let draft = &self.drafts[at];
            let (sum, nested, count) = (draft.cognitive, draft.nested, draft.count);
            let level = draft.at;
            if let Some(parent) = draft.parent {
                let deeper = u32::from(!plain[parent as usize]);
                let around = &mut self.drafts[parent as usize];
                around.cognitive += sum + nested * (level + deeper);
                around.nested += nested;
                around.count += count;
            }
        }
        let mut order: Vec<u32> = (0..).take(self.drafts.len()).collect();
        let key = |number: &u32| {
            let span = self.drafts[*number as usize].opening.span;
            (span.start, std::cmp::Reverse(span.end), *number)
        };
        order.sort_by_key(key);
        let mut place = vec![0_u32; order.len()];
        for (to, from) in (0..).zip(&order) {
            place[*from as usize] = to;
        }
        let mut drafts: Vec<Option<Draft>> = self.drafts.into_iter().map(Some).collect();
        let taken = order.iter().map(|from| {
            let draft = drafts[*from as usize].take().expect("every number occurs once");
            let span = draft.opening.span;
            Function {
                name: draft.opening.name,
                kind: draft.opening.kind,
                span,
                start_line: line(span.start),
                end_line: line(span.end.saturating_sub(1)),
                own_tokens: 0,
                total_tokens: 0,
                cyclomatic: draft.cyclomatic,
                cognitive: draft.cognitive,
                statements: draft.count,
                has_nested: draft.has_nested,
                delegate: draft.delegate,
                parent: draft.parent.map(|parent| place[parent as usize]),
                digest: [0; 16],
                format_digest: draft.format_digest,
                shape: draft.shape,
            }
        });
        taken.collect()
    }
}
