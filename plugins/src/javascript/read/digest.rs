//! Digests of declarations: tokens without comments, white space and erased types.
//!
//! A line break between two tokens is left out too, except where it may end a
//! statement (`return⏎x`, `a⏎++b`): there it is part of the meaning.

use oxc_parser::{Kind, Token};
use oxc_span::Span;

/// Spans that do not count.
#[derive(Debug, Default)]
pub(super) struct Erasures {
    list: Vec<Erasure>,
    end: u32,
    sorted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Erasure {
    start: u32,
    end: u32,
    /// The token before it (`as`, `satisfies`) goes too.
    keyword: bool,
}

impl Erasures {
    /// Leaves out everything in `span`, and the token before it when `keyword`.
    pub(super) fn add(&mut self, span: Span, keyword: bool) {
        if span.start < self.end && span.end <= self.end {
            return;
        }
        self.list.push(Erasure { start: span.start, end: span.end, keyword });
        self.end = self.end.max(span.end);
        self.sorted = false;
    }

    fn sort(&mut self) {
        if !self.sorted {
            self.list.sort_unstable();
            self.sorted = true;
        }
    }
}

/// Hashes token sequences of one file.
pub(super) struct Digester<'t> {
    source: &'t str,
    tokens: &'t [Token],
    erasures: &'t [Erasure],
    buffer: Vec<u8>,
}

impl<'t> Digester<'t> {
    /// A digester over the tokens of `source`, in source order.
    pub(super) fn new(source: &'t str, tokens: &'t [Token], erasures: &'t mut Erasures) -> Self {
        erasures.sort();
        Self { source, tokens, erasures: &erasures.list, buffer: Vec::with_capacity(1024) }
    }

    /// Adds the tokens in `span`.
    pub(super) fn tokens(&mut self, span: Span) {
        let first = self.tokens.partition_point(|token| token.start() < span.start);
        let mut next = self.erasures.partition_point(|erasure| erasure.end <= span.start);
        let mut before = Kind::Eof;
        for (at, token) in self.tokens.iter().enumerate().skip(first) {
            if token.end() > span.end {
                break;
            }
            while self.erasures.get(next).is_some_and(|erasure| erasure.end <= token.start()) {
                next += 1;
            }
            if let Some(erasure) = self.erasures.get(next) {
                let inside = token.start() >= erasure.start;
                let keyword = erasure.keyword
                    && self.tokens.get(at + 1).is_some_and(|after| after.start() == erasure.start);
                if inside || keyword {
                    continue;
                }
            }
            if token.is_on_new_line() && break_counts(before, token.kind()) {
                self.buffer.push(1);
            }
            before = token.kind();
            self.buffer
                .extend_from_slice(&self.source.as_bytes()[token.start() as usize..token.end() as usize]);
            self.buffer.push(0);
        }
        self.buffer.push(2);
    }

    /// Adds a text that is not in the source.
    pub(super) fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(3);
    }

    /// The digest of what was added; starts anew.
    pub(super) fn finish(&mut self) -> [u8; 16] {
        let hash = blake3::hash(&self.buffer);
        self.buffer.clear();
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash.as_bytes()[..16]);
        digest
    }
}

/// Whether a line break between these tokens can change what the program means.
fn break_counts(before: Kind, after: Kind) -> bool {
    matches!(after, Kind::Plus2 | Kind::Minus2 | Kind::Bang | Kind::As | Kind::Satisfies | Kind::Is)
        || matches!(
            before,
            Kind::Return
                | Kind::Throw
                | Kind::Break
                | Kind::Continue
                | Kind::Yield
                | Kind::Async
                | Kind::Await
                | Kind::Get
                | Kind::Set
                | Kind::Accessor
                | Kind::Static
                | Kind::Type
                | Kind::Declare
                | Kind::Abstract
                | Kind::Namespace
                | Kind::Module
                | Kind::Interface
                | Kind::Global
                | Kind::Using
                | Kind::Let
                | Kind::Readonly
                | Kind::Public
                | Kind::Private
                | Kind::Protected
                | Kind::Override
                | Kind::Asserts
                | Kind::Of
        )
}
