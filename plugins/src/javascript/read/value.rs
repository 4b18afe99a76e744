//! Texts and paths with holes, and where they lead.
//!
//! What is not constant is a hole. A hole may hold anything, slashes included.

use owed_engine::facts::{PathBase, PathExpr};

/// A constant piece of a text, or a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// These characters.
    Text(String),
    /// Anything.
    Hole,
}

/// What an expression holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A text (a relative path is a text until something anchors it).
    Text(Vec<Piece>),
    /// A path below a base, or a `file:` URL of it.
    Path(PathBase, Vec<Piece>),
    /// A place outside the project that the program makes for itself (`os.tmpdir()`).
    Outside,
    /// The file of a module that is an import already (`require.resolve("x")`).
    Module,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Exactly here.
    At(PathExpr),
    /// Somewhere below.
    Below(PathExpr),
    /// Not into the project.
    Outside,
    /// To a module that is an import already.
    Module,
    /// Nothing bounds it.
    Unknown,
}

impl Value {
    /// Nothing is known.
    pub(super) fn unknown() -> Self {
        Self::Text(vec![Piece::Hole])
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(vec![Piece::Text(text.to_owned())])
    }

    /// The text, when all of it is constant and it is no path.
    pub(super) fn literal(&self) -> Option<String> {
        match self {
            Self::Text(pieces) => constant(pieces),
            _ => None,
        }
    }

    /// Whether both are certainly the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        match (self.place(), other.place()) {
            (Place::Outside, Place::Outside) => true,
            (Place::At(one), Place::At(two)) => one == two && self.literal() == other.literal(),
            _ => false,
        }
    }

    pub(super) fn pieces(self) -> Vec<Piece> {
        match self {
            Self::Text(pieces) | Self::Path(_, pieces) => pieces,
            Self::Outside | Self::Module => vec![Piece::Hole],
        }
    }

    /// `self` followed by `next`.
    pub(super) fn then(self, next: Self) -> Self {
        match self {
            Self::Text(mut pieces) => {
                append(&mut pieces, next.pieces());
                Self::Text(pieces)
            }
            Self::Path(base, mut pieces) => {
                append(&mut pieces, next.pieces());
                Self::Path(base, pieces)
            }
            Self::Outside | Self::Module => Self::Outside,
        }
    }

    /// `self/next`, as `path.join` does it.
    pub(super) fn join(self, next: Self) -> Self {
        if matches!(&self, Self::Text(pieces) if pieces.is_empty()) {
            return next;
        }
        self.then(Self::text("/")).then(next)
    }

    /// The directory of it.
    pub(super) fn directory(self) -> Self {
        match self {
            Self::Text(pieces) => Self::Text(directory(pieces)),
            Self::Path(base, pieces) => Self::Path(base, directory(pieces)),
            other => other,
        }
    }

    /// Where it leads when the file system is asked for it.
    pub(super) fn place(&self) -> Place {
        let (base, pieces) = match self {
            Self::Outside => return Place::Outside,
            Self::Module => return Place::Module,
            Self::Path(base, pieces) => (*base, pieces.as_slice()),
            Self::Text(pieces) => match pieces.first() {
                Some(Piece::Text(text)) if text.starts_with('/') => (PathBase::Absolute, pieces.as_slice()),
                Some(Piece::Text(_)) => (PathBase::Cwd, pieces.as_slice()),
                Some(Piece::Hole) | None => return Place::Unknown,
            },
        };
        if let Some(path) = constant(pieces) {
            return Place::At(PathExpr { base, path: below(base, &path) });
        }
        let prefix = match pieces.first() {
            Some(Piece::Text(text)) => text.rfind('/').map_or("", |at| &text[..at]),
            _ => "",
        };
        let path = below(base, prefix);
        let everything = path.is_empty() || path == ".." || path.ends_with("/..");
        if everything && base != PathBase::Module {
            return Place::Unknown;
        }
        Place::Below(PathExpr { base, path })
    }
}

pub(super) fn constant(pieces: &[Piece]) -> Option<String> {
    match pieces {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

fn append(pieces: &mut Vec<Piece>, more: Vec<Piece>) {
    for piece in more {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (Some(Piece::Hole), Piece::Hole) => {}
            (_, piece) => pieces.push(piece),
        }
    }
}

/// Drops the last segment; above the base it adds `..`.
fn directory(mut pieces: Vec<Piece>) -> Vec<Piece> {
    if let [Piece::Text(text)] = pieces.as_mut_slice() {
        let path = normal(text);
        let parent = match path.rfind('/') {
            _ if path.is_empty() || path == ".." || path.ends_with("/..") => format!("{path}/.."),
            Some(at) => path[..at].to_owned(),
            None => String::new(),
        };
        *text = parent;
        return pieces;
    }
    if let Some(Piece::Text(last)) = pieces.last_mut()
        && let Some(at) = last.rfind('/')
    {
        last.truncate(at);
    }
    pieces
}

/// A path as facts want it: relative to a base it has no leading `/`.
pub(super) fn below(base: PathBase, path: &str) -> String {
    let path = normal(path);
    match base {
        PathBase::Absolute => path,
        PathBase::Module | PathBase::Cwd => path.trim_start_matches('/').to_owned(),
    }
}

/// Resolves `.`, and `..` where a segment precedes it; keeps a leading `/`.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}
