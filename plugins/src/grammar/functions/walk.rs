//! One walk over a tree: opens and closes functions, gives them names, and hands every node
//! to the shape and to complexity.

use owed_engine::function::{Function, FunctionKind};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::super::kinds::{Controls, Field, Kind, Kinds};
use super::super::parse::{Event, span};
use super::super::{Parsed, Role};
use super::names::{Bound, Called, Definition, Found};
use crate::measure::{Builder, ClassMark, Frames, Named, Opening, Tag, Target, hash};

/// What is to be done when a node is left.
#[derive(Default)]
struct Open {
    kind: Kind,
    number: u16,
    id: usize,
    /// Names in it are keys, which are said whatever they are bound to.
    key: bool,
    /// The sequence of logical operators that it belongs to.
    chain: Option<usize>,
    /// The block around, when the node is a block or a function.
    block: Option<u32>,
    statement: Option<usize>,
    class: Option<ClassMark>,
    frames: u32,
    is_function: bool,
    is_scope: bool,
    deeper: bool,
    erased: bool,
    end: bool,
}

pub(super) struct Walk<'k, 'p> {
    kinds: &'k Kinds,
    parsed: &'p Parsed<'p>,
    found: &'p Found,
    lines: Vec<u32>,
    builder: Builder,
    frames: Frames,
    open: Vec<Open>,
    block: u32,
    chains: Vec<Option<u16>>,
    /// The `if` that is the `else` of another.
    chained: Option<usize>,
    /// Names of values that are functions.
    pending: FxHashMap<usize, Named>,
    /// What a method's class is called, and its receiver's binding, innermost last.
    methods: Vec<(String, Option<u32>)>,
    scopes: Scopes<'p>,
}

impl<'k, 'p> Walk<'k, 'p> {
    pub(super) fn new(kinds: &'k Kinds, parsed: &'p Parsed<'p>, found: &'p Found) -> Self {
        let breaks = memchr::memchr_iter(b'\n', parsed.text().as_bytes());
        Self {
            kinds,
            parsed,
            found,
            lines: breaks.map(super::super::parse::offset).collect(),
            builder: Builder::default(),
            frames: Frames::separated(&kinds.nameless, &kinds.separator),
            open: Vec::new(),
            block: 0,
            chains: Vec::new(),
            chained: None,
            pending: FxHashMap::default(),
            methods: Vec::new(),
            scopes: Scopes::new(kinds.redeclared_is_new),
        }
    }

    /// Reads the file.
    pub(super) fn functions(mut self) -> Vec<Function> {
        let parsed = self.parsed;
        let mut events = parsed.events();
        while let Some(event) = events.next() {
            match event {
                Event::Enter(node) => {
                    let field = events.field_id();
                    if !self.enter(node, field) {
                        events.skip_children();
                    }
                }
                Event::Leave(node) => self.leave(node),
            }
        }
        let lines = self.lines;
        self.builder.finish(|at| line(&lines, at))
    }

    fn line(&self, at: u32) -> u32 {
        line(&self.lines, at)
    }

    /// Whether its children are looked at, too.
    fn enter(&mut self, node: Node<'p>, field: Option<u16>) -> bool {
        let number = node.kind_id();
        let kind = self.kinds.of(number);
        let mut open = Open { kind, number, id: node.id(), key: kind.key, ..Open::default() };
        if kind.comment || self.found.tests.contains(&node.id()) {
            self.open.push(open);
            return false;
        }
        let around = self.open.last();
        let place = around.map_or_else(Field::default, |around| self.kinds.field(around.number, field));
        open.chain =
            around.filter(|around| around.kind.logical || around.kind.transparent).and_then(|a| a.chain);
        let in_block = around.is_some_and(|around| around.kind.block);
        self.place(&mut open, node, place, in_block);
        self.control(&mut open, node);
        self.definition(&mut open, node);
        let inside = self.shape(&mut open, node);
        self.open.push(open);
        inside
    }

    /// What a node is from where it stands.
    fn place(&mut self, open: &mut Open, node: Node<'p>, place: Field, in_block: bool) {
        let kind = open.kind;
        let is_statement = in_block && node.is_named() && !kind.not_statement && !kind.block
            || place.statement && !kind.block;
        if is_statement {
            let at = span(node);
            let lines = (self.line(at.start), self.line(at.end.saturating_sub(1)));
            let block = if in_block { self.block } else { self.builder.block() };
            open.statement = self.builder.open_statement(block, lines);
        }
        if kind.block {
            open.block = Some(self.block);
            self.block = self.builder.block();
        }
        if place.erased || kind.erased {
            self.builder.erase();
            open.erased = true;
        }
        open.key |= place.key;
        if place.nests || kind.control == Some(Controls::Case) {
            open.deeper = true;
        }
        if place.alternative {
            match self.branch_in(node) {
                // It costs what an `else` costs, and no more.
                Some(branch) => {
                    self.builder.flat();
                    self.chained = Some(branch);
                }
                None => {
                    let is_else = self.open.last().is_none_or(|around| !around.kind.conditional);
                    if is_else {
                        self.builder.flat();
                    }
                    open.deeper = true;
                }
            }
        }
        if open.deeper {
            self.builder.deeper();
        }
    }

    /// The branch that an `else` consists of.
    fn branch_in(&self, node: Node<'p>) -> Option<usize> {
        let is_branch = |node: &Node<'_>| {
            let kind = self.kinds.of(node.kind_id());
            kind.control == Some(Controls::Branch) && !kind.conditional
        };
        if is_branch(&node) {
            return Some(node.id());
        }
        let kind = self.kinds.of(node.kind_id());
        if kind.block {
            return None;
        }
        let mut cursor = node.walk();
        let mut said = node.named_children(&mut cursor).filter(|part| !self.kinds.of(part.kind_id()).comment);
        let (Some(only), None) = (said.next(), said.next()) else { return None };
        is_branch(&only).then(|| only.id())
    }

    fn control(&mut self, open: &mut Open, node: Node<'p>) {
        let kind = open.kind;
        let chained = self.chained.take_if(|branch| *branch == node.id()).is_some();
        if kind.conditional && node.child_by_field_name("alternative").is_none() {
            return;
        }
        match kind.control {
            Some(Controls::Branch | Controls::Loop | Controls::Switch) if !chained => {
                self.builder.structure()
            }
            Some(Controls::Case) => {
                let pattern = node.child_by_field_name("pattern").map(|pattern| self.parsed.of(pattern));
                if pattern.is_some_and(|pattern| self.kinds.catch_all.contains(pattern)) {
                    return;
                }
            }
            _ => {}
        }
        if kind.decides {
            self.builder.decision();
        }
        if kind.jump && node.child(1).is_some_and(|label| self.kinds.of(label.kind_id()).label) {
            self.builder.flat();
        }
        if kind.logical && open.chain.is_none() {
            self.chains.push(None);
            open.chain = Some(self.chains.len() - 1);
        }
        if kind.operator
            && let Some(around) = self.open.last()
            && around.kind.logical
            && let Some(chain) = around.chain
        {
            self.builder.decision();
            if self.chains[chain] != Some(open.number) {
                self.builder.flat();
                self.chains[chain] = Some(open.number);
            }
        }
    }

    /// A function, a class, a value with a name, a scope.
    fn definition(&mut self, open: &mut Open, node: Node<'p>) {
        let id = node.id();
        let found = self.found;
        if let Some(valued) = found.valued.get(&id) {
            let name = self.declared(&valued.name);
            if self.frames.outside() && !self.frames.in_variable() {
                self.frames.variable(&name);
                open.frames += 1;
            }
            self.pending.insert(valued.value, name);
        }
        if let Some(class) = found.classes.get(&id) {
            let name = self.declared(class);
            self.builder.holds_class();
            open.class = Some(self.builder.open_class());
            self.frames.class(name);
            open.frames += 1;
        }
        if let Some(definition) = found.functions.get(&id) {
            self.function(open, node, definition);
        } else if found.scopes.contains(&id) {
            self.scopes.open();
            open.is_scope = true;
        }
    }

    /// Something that is declared here.
    fn declared(&self, name: &str) -> Named {
        if self.frames.in_class() { self.frames.member(name, true) } else { self.frames.named(name) }
    }

    fn function(&mut self, open: &mut Open, node: Node<'p>, definition: &'p Definition) {
        let name = match (&definition.name, self.pending.remove(&node.id())) {
            (Some(name), _) => self.declared(name),
            (None, Some(name)) => name,
            (None, None) => self.frames.anonymous(),
        };
        let method = definition.role == Role::Method;
        let kind = match (&definition.name, method) {
            (None, _) => FunctionKind::Closure,
            (_, true) => FunctionKind::Method,
            (_, false) => FunctionKind::Function,
        };
        let class =
            name.display.rsplit_once(self.kinds.separator.as_str()).map(|(class, _)| class.to_owned());
        let target = match &definition.name {
            Some(_) if method => Some(member(&name.display)),
            Some(free) if class.is_none() => Some(Target::Member(FREE, hash(Tag::Name, free.as_bytes()))),
            _ => None,
        };
        self.frames.function(&name);
        open.frames += 1;
        open.is_function = true;
        open.block = open.block.or(Some(self.block));
        let opening = Opening { name: name.full(), kind, span: span(node), block: definition.block };
        let function = self.builder.open(opening);
        if let Some(target) = target {
            self.builder.callable(target, function);
        }
        self.scopes.open();
        if let (Some(own), false) = (&definition.name, method) {
            // What a function says when it calls itself.
            self.scopes.bind_own(own, span(node).start);
        }
        if method {
            self.methods.push((class.unwrap_or_default(), None));
        }
        if self.hands_on(node, definition) {
            self.builder.delegates();
        }
    }

    fn leave(&mut self, node: Node<'p>) {
        let Some(open) = self.open.pop() else { return };
        if open.end {
            self.builder.end();
        }
        if open.is_function {
            if self.found.functions.get(&node.id()).is_some_and(|it| it.role == Role::Method) {
                self.methods.pop();
            }
            self.scopes.close();
            let bindings = &self.scopes.bindings;
            self.builder.close(|binding| bindings[binding as usize]);
        }
        if open.is_scope {
            self.scopes.close();
        }
        for _ in 0..open.frames {
            self.frames.pop();
        }
        if let Some(mark) = open.class {
            self.builder.close_class(mark);
        }
        if open.deeper {
            self.builder.shallower();
        }
        if open.erased {
            self.builder.unerase();
        }
        if let Some(block) = open.block {
            self.block = block;
        }
        self.builder.close_statement(open.statement);
        self.scopes.left(node.id());
    }

    /// What a node says for the shape; whether its children say more.
    fn shape(&mut self, open: &mut Open, node: Node<'p>) -> bool {
        let kind = open.kind;
        let text = || self.parsed.of(node);
        if let Some(literal) = kind.literal {
            let text = text().to_owned();
            self.builder.literal(literal, text);
            return false;
        }
        if kind.whole {
            let word = hash(Tag::Node, text().as_bytes());
            self.builder.node(word);
            return false;
        }
        if kind.name {
            self.name(node);
            return false;
        }
        if kind.member {
            let called = self.found.called.get(&node.id());
            if let Some(called) = called {
                self.calls(called, text());
            }
            let (text, callee) = (text(), called.is_some());
            if self.names_function(node) {
                self.builder.format_only(text.as_bytes());
            } else {
                self.builder.member(text, callee);
            }
            return false;
        }
        if node.child_count() == 0 {
            let text = text();
            if !kind.punctuation && !text.trim().is_empty() {
                self.builder.node(hash(Tag::Node, text.as_bytes()));
            }
            return false;
        }
        if !kind.transparent {
            self.builder.node(hash(Tag::Node, node.kind().as_bytes()));
            open.end = true;
        }
        true
    }

    /// Whether the node is the name of the function around it.
    fn names_function(&self, node: Node<'p>) -> bool {
        let around = self.open.last().filter(|around| around.is_function);
        let definition = around.and_then(|around| self.found.functions.get(&around.id));
        definition.is_some_and(|definition| definition.name_nodes.last() == Some(&node.id()))
    }

    fn name(&mut self, node: Node<'p>) {
        let text = self.parsed.of(node);
        if self.names_function(node) {
            self.builder.format_only(text.as_bytes());
            return;
        }
        let is_key = self.open.last().is_some_and(|around| around.key);
        if is_key || self.kinds.of(node.kind_id()).member {
            self.builder.member(text, false);
        }
        let callee = match self.found.called.get(&node.id()) {
            Some(called) => {
                self.calls(called, text);
                true
            }
            None => false,
        };
        if let Some(when) = self.found.bound.get(&node.id()).filter(|_| !is_key) {
            let binding = self.scopes.bind(text, span(node).start, *when);
            if self.kinds.first_is_receiver
                && let Some((_, receiver @ None)) = self.methods.last_mut()
            {
                *receiver = Some(binding);
            }
            self.builder.name(binding, text, false);
            return;
        }
        match self.scopes.find(text) {
            Some(binding) => self.builder.name(binding, text, callee),
            None => self.builder.free(text, callee),
        }
    }

    /// A call of something that may be a function of the file.
    fn calls(&mut self, called: &Called, name: &str) {
        match called {
            Called::Name => {
                self.builder.calls(Target::Member(FREE, hash(Tag::Name, name.as_bytes())));
            }
            Called::Member(receiver) => {
                let Some((class, own)) = self.methods.last() else { return };
                let is_own = self.kinds.receivers.iter().any(|word| word == receiver)
                    || own.is_some() && self.scopes.find(receiver) == *own;
                if is_own {
                    let whole = format!("{class}{}{name}", self.kinds.separator);
                    self.builder.calls(member(&whole));
                }
            }
        }
    }

    /// Whether a function's body is nothing but a call with what it was given.
    fn hands_on(&self, node: Node<'p>, definition: &Definition) -> bool {
        let mut cursor = node.walk();
        let body = node.children(&mut cursor).find(|child| child.id() == definition.body);
        let Some(mut at) = body else { return false };
        loop {
            let kind = self.kinds.of(at.kind_id());
            if kind.call {
                break;
            }
            if !(kind.block || kind.handing || kind.transparent) {
                return false;
            }
            let mut inner = at.walk();
            let mut said =
                at.named_children(&mut inner).filter(|child| !self.kinds.of(child.kind_id()).not_statement);
            let (Some(only), None) = (said.next(), said.next()) else { return false };
            drop(said);
            at = only;
        }
        // Everything that is named in the call is a name, a literal or a way to one.
        let mut calls = 0;
        let mut stack = vec![at];
        while let Some(part) = stack.pop() {
            let kind = self.kinds.of(part.kind_id());
            calls += u32::from(kind.call);
            let plain = kind.name || kind.member || kind.literal.is_some() || kind.simple || kind.comment;
            if calls > 1 || part.is_named() && !plain {
                return false;
            }
            if kind.literal.is_none() {
                let mut inner = part.walk();
                stack.extend(part.children(&mut inner));
            }
        }
        true
    }
}

/// The holder of functions that are called by their name alone.
const FREE: u32 = 0;
/// The holder of methods, which are told apart by their whole name.
const METHODS: u32 = 1;

fn member(name: &str) -> Target {
    Target::Member(METHODS, hash(Tag::Member, name.as_bytes()))
}

fn line(breaks: &[u32], at: u32) -> u32 {
    super::super::parse::offset(breaks.partition_point(|end| *end < at) + 1)
}

/// Names and what they are bound to, by lexical scope, in the order of the source.
struct Scopes<'p> {
    /// Where each is declared, and the hash of its name.
    bindings: Vec<(u32, u64)>,
    /// For each name the bindings that are in force, innermost last, with their level.
    names: FxHashMap<&'p str, Vec<(u32, u32)>>,
    open: Vec<Vec<&'p str>>,
    /// Bindings that come into force when a node is left.
    waiting: Vec<(usize, &'p str, u32)>,
    /// Whether a name that is declared twice in one scope is two things.
    redeclared_is_new: bool,
}

impl<'p> Scopes<'p> {
    fn new(redeclared_is_new: bool) -> Self {
        Self {
            bindings: Vec::new(),
            names: FxHashMap::default(),
            open: vec![Vec::new()],
            waiting: Vec::new(),
            redeclared_is_new,
        }
    }

    fn open(&mut self) {
        self.open.push(Vec::new());
    }

    fn close(&mut self) {
        for name in self.open.pop().unwrap_or_default() {
            if let Some(list) = self.names.get_mut(name) {
                list.pop();
            }
        }
    }

    fn find(&self, name: &str) -> Option<u32> {
        Some(self.names.get(name)?.last()?.0)
    }

    fn made(&mut self, name: &str, at: u32) -> u32 {
        self.bindings.push((at, hash(Tag::Name, name.as_bytes())));
        super::super::parse::offset(self.bindings.len() - 1)
    }

    fn enter(&mut self, name: &'p str, binding: u32) {
        let level = super::super::parse::offset(self.open.len());
        self.names.entry(name).or_default().push((binding, level));
        if let Some(scope) = self.open.last_mut() {
            scope.push(name);
        }
    }

    fn bind_own(&mut self, name: &'p str, at: u32) {
        let binding = self.made(name, at);
        self.enter(name, binding);
    }

    fn bind(&mut self, name: &'p str, at: u32, when: Bound) -> u32 {
        let level = super::super::parse::offset(self.open.len());
        let known = self.names.get(name).and_then(|list| list.last()).filter(|(_, at)| *at == level);
        if let Some((binding, _)) = known
            && !self.redeclared_is_new
        {
            return *binding;
        }
        let binding = self.made(name, at);
        match when {
            Bound::Here => self.enter(name, binding),
            Bound::After(node) => self.waiting.push((node, name, binding)),
        }
        binding
    }

    /// A node was left: what it declares is in force from here.
    fn left(&mut self, node: usize) {
        let first = self.waiting.iter().rposition(|(of, ..)| *of != node).map_or(0, |at| at + 1);
        for (_, name, binding) in self.waiting.split_off(first) {
            self.enter(name, binding);
        }
    }
}
