//! Parsing with a grammar: bounded in time and depth, and what the parser could not read
//! is named.
//!
//! tree-sitter's parser, its cursors and the release of its trees are iterative, so that
//! no nesting overflows a stack as long as nobody walks a tree by recursion or asks a node
//! for its parent at every level ([`Events`] is how a tree is walked).

use std::cell::RefCell;
use std::ops::ControlFlow;

use owed_engine::facts::{Damage, Span};
use tree_sitter::{Language, Node, ParseOptions, Parser, Tree, TreeCursor};

/// Steps that a parser may take for a byte of source, on average. Real files were seen to
/// take fewer than 4; a file that takes this many is refused, by count and not by clock, so
/// that the answer does not depend on the machine.
const STEPS_A_BYTE: usize = 200;
/// The same for a file of no length.
const STEPS: usize = 1_000_000;
/// How often the parser calls back, in steps (`OP_COUNT_PER_PARSER_CALLBACK_CHECK`).
const STEPS_A_CALL: usize = 100;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Levels of a tree that is used at all. A query cursor counts levels in 16 bits and loses
/// matches beyond them without a word, and its time grows with the square of the depth.
const LEVELS: u32 = 10_000;
/// Brackets open at once beyond which parsing would only cost time and memory. Those in
/// strings and comments count, too, so it is far away.
const BRACKETS: usize = 20_000;

/// One file's tree.
#[derive(Debug)]
pub struct Parsed<'s> {
    tree: Tree,
    text: &'s str,
}

/// Why there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The parser took too many steps; it had read up to this byte.
    Steps(u32),
    /// A byte offset does not fit in 32 bits.
    TooLarge,
    /// It is nested too deep, at this byte.
    Depth(u32),
}

impl Refused {
    /// Why, in words.
    pub fn cause(self) -> &'static str {
        match self {
            Self::Steps(_) => "timeout: the grammar takes too many steps to read it",
            Self::TooLarge => "too large to be read",
            Self::Depth(_) => "depth: nested too deep for the grammar",
        }
    }

    /// The byte where it shows.
    pub fn at(self) -> u32 {
        match self {
            Self::Steps(at) | Self::Depth(at) => at,
            Self::TooLarge => 0,
        }
    }
}

/// Parses `text`. Parsers belong to threads.
pub(super) fn parse<'s>(language: &Language, text: &'s str) -> Result<Parsed<'s>, Refused> {
    if u32::try_from(text.len()).is_err() {
        return Err(Refused::TooLarge);
    }
    if let Some(at) = many_brackets(text.as_bytes()) {
        return Err(Refused::Depth(at));
    }
    let parsed = PARSER.with_borrow_mut(|parser| {
        parser.set_language(language).expect("a grammar's version was checked when it was made");
        let bytes = text.as_bytes();
        let most = (STEPS + bytes.len().saturating_mul(STEPS_A_BYTE)) / STEPS_A_CALL;
        let (mut calls, mut reached) = (0_usize, 0_usize);
        let mut progress = |state: &tree_sitter::ParseState| {
            calls += 1;
            reached = reached.max(state.current_byte_offset());
            if calls > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let read = &mut |at: usize, _| bytes.get(at..).unwrap_or_default();
        match parser.parse_with_options(read, None, Some(options)) {
            Some(tree) => Ok(Parsed { tree, text }),
            None => {
                parser.reset();
                Err(Refused::Steps(offset(reached)))
            }
        }
    })?;
    let mut events = parsed.events();
    while let Some(event) = events.next() {
        if let Event::Enter(node) = event
            && events.depth() > LEVELS
        {
            return Err(Refused::Depth(offset(node.start_byte())));
        }
    }
    drop(events);
    Ok(parsed)
}

/// Where so many brackets are open, counted by blocks.
fn many_brackets(bytes: &[u8]) -> Option<u32> {
    const BLOCK: usize = 128;
    if bytes.len() <= BRACKETS {
        return None;
    }
    let mut open = 0_usize;
    for (at, block) in bytes.chunks(BLOCK).enumerate() {
        let opened: u8 = block.iter().map(|b| u8::from(matches!(b, b'(' | b'[' | b'{'))).sum();
        let closed: u8 = block.iter().map(|b| u8::from(matches!(b, b')' | b']' | b'}'))).sum();
        open = (open + usize::from(opened)).saturating_sub(closed.into());
        if open > BRACKETS {
            return Some(offset(at * BLOCK));
        }
    }
    None
}

/// A byte offset of a tree; a text of more than `u32::MAX` bytes has none.
pub(crate) fn offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// Where a node stands.
pub(crate) fn span(node: Node<'_>) -> Span {
    Span { start: offset(node.start_byte()), end: offset(node.end_byte()) }
}

/// What a node says.
pub(crate) fn text_of<'s>(node: Node<'_>, text: &'s str) -> &'s str {
    text.get(node.byte_range()).unwrap_or("")
}

impl<'s> Parsed<'s> {
    /// The whole file.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The source.
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// What a node says.
    pub fn of(&self, node: Node<'_>) -> &'s str {
        text_of(node, self.text)
    }

    /// Where a node stands.
    pub fn span(&self, node: Node<'_>) -> Span {
        span(node)
    }

    /// Its nodes, outer before inner, in order: each is entered and left once.
    pub fn events(&self) -> Events<'_> {
        Events { cursor: self.tree.walk(), state: State::Enter }
    }

    /// What the parser skipped, or made up: the outermost places only, in order. Empty means
    /// that every byte was read by the grammar.
    pub fn damage(&self) -> Vec<Damage> {
        let mut damage = Vec::new();
        if !self.root().has_error() {
            return damage;
        }
        let mut events = self.events();
        // Lines are counted from one fault to the next.
        let (mut at, mut line) = (0, 1_u32);
        while let Some(event) = events.next() {
            let Event::Enter(node) = event else { continue };
            if !node.is_error() && !node.is_missing() {
                if !node.has_error() {
                    events.skip_children();
                }
                continue;
            }
            events.skip_children();
            let span = span(node);
            let start = span.start as usize;
            line += offset(memchr::memchr_iter(b'\n', &self.text.as_bytes()[at..start.max(at)]).count());
            at = start.max(at);
            let cause = if node.is_missing() {
                format!("expected {}", quoted(node.kind()))
            } else {
                match self.of(node).split_whitespace().next() {
                    Some(word) => format!("unexpected {}", quoted(&shortened(word))),
                    None => "a syntax error".to_owned(),
                }
            };
            damage.push(Damage { cause: crate::measure::shown(&cause), line, span });
        }
        damage
    }
}

fn quoted(word: &str) -> String {
    format!("`{word}`")
}

fn shortened(word: &str) -> String {
    match word.char_indices().nth(24) {
        Some((at, _)) => format!("{}…", &word[..at]),
        None => word.to_owned(),
    }
}

/// A step of a walk.
#[derive(Clone, Copy, Debug)]
pub enum Event<'t> {
    /// A node, before what is in it.
    Enter(Node<'t>),
    /// The same node, after what is in it.
    Leave(Node<'t>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The cursor's node is next.
    Enter,
    /// It was entered; its children are next.
    Inside,
    /// It was left.
    Left,
    /// The root was left.
    Done,
}

/// The walk over a tree: no recursion, and no list of what is still to come.
pub struct Events<'t> {
    cursor: TreeCursor<'t>,
    state: State,
}

impl std::fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("node", &self.cursor.node()).field("state", &self.state).finish()
    }
}

impl<'t> Events<'t> {
    /// Leaves out what is in the node that was just entered; it is left next.
    pub fn skip_children(&mut self) {
        if self.state == State::Inside {
            self.state = State::Left;
        }
    }

    /// The name of the field in which the node that was just entered stands.
    pub fn field(&self) -> Option<&'t str> {
        self.cursor.field_name()
    }

    /// The number of that field.
    pub(super) fn field_id(&self) -> Option<u16> {
        self.cursor.field_id().map(std::num::NonZeroU16::get)
    }

    /// How many nodes are around the one that was just entered.
    pub fn depth(&self) -> u32 {
        self.cursor.depth()
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Event<'t>;

    fn next(&mut self) -> Option<Event<'t>> {
        loop {
            match self.state {
                State::Enter => {
                    self.state = State::Inside;
                    return Some(Event::Enter(self.cursor.node()));
                }
                State::Inside => {
                    self.state = if self.cursor.goto_first_child() { State::Enter } else { State::Left };
                }
                State::Left => {
                    let node = self.cursor.node();
                    if self.cursor.goto_next_sibling() {
                        self.state = State::Enter;
                    } else if !self.cursor.goto_parent() {
                        self.state = State::Done;
                    }
                    return Some(Event::Leave(node));
                }
                State::Done => return None,
            }
        }
    }
}
