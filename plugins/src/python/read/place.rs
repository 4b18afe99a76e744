//! Paths as values: what `Path(__file__).parent / "fixtures" / name` may be, without
//! running it. A value is exact, has a constant directory, or is unknown; nothing else.

use owed_engine::facts::{PathBase, PathExpr};

/// As many strings are told apart.
const MOST: usize = 64;

/// A path with a known start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: PathBase,
    /// Without `.` segments; `..` only in front. Empty for the base itself.
    pub(super) path: String,
    /// Otherwise something below `path`.
    pub(super) exact: bool,
    /// Written with a `/` at its end: what is appended is a new segment.
    pub(super) slash: bool,
    /// Unknown segments at the end at least, when it is not exact: as many parents may be
    /// taken without leaving `path`.
    pub(super) slack: u8,
}

/// What an expression may evaluate to, as far as paths are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Anything.
    Unknown,
    /// Something that is no path: an open file, a buffer, a number, `None`.
    Memory,
    /// Below a temporary directory.
    Tmp,
    /// Below the user's home.
    Home,
    Place(Place),
    /// A string; not exact: it begins with `text`. With `package`, the name of the
    /// module's package stands before it.
    Text {
        text: String,
        exact: bool,
        package: bool,
    },
    /// One of a few strings.
    OneOf(Vec<String>),
    /// A file of a package, by the package's dotted name.
    Package {
        name: String,
        path: String,
        exact: bool,
    },
    /// Something iterable whose elements are below the place.
    Entries(Place),
    /// `path.parents`.
    Parents(Place),
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), exact: true, package: false }
    }

    pub(super) fn some_text() -> Self {
        Self::Text { text: String::new(), exact: false, package: false }
    }

    /// Each value it may be, when they are few.
    pub(super) fn each(self) -> Vec<Self> {
        match self {
            Self::OneOf(texts) => texts.into_iter().map(Self::text).collect(),
            other => vec![other],
        }
    }

    /// A string used as a path.
    pub(super) fn into_path(self) -> Self {
        match self {
            Self::OneOf(texts) => texts
                .into_iter()
                .map(|text| Self::text(text).into_path())
                .reduce(Self::or)
                .unwrap_or(Self::Unknown),
            Self::Text { package: true, .. } => Self::Unknown,
            Self::Text { text, exact, .. } => {
                if text.starts_with('~') {
                    return Self::Home;
                }
                if text.contains("://") {
                    return Self::Memory;
                }
                let text = text.replace('\\', "/");
                let absolute = text.starts_with('/') || text.as_bytes().get(1) == Some(&b':');
                let base = if absolute { PathBase::Absolute } else { PathBase::Cwd };
                let kept = if exact { text.as_str() } else { text.rfind('/').map_or("", |at| &text[..at]) };
                let path = normal(kept, absolute);
                if !exact && path.trim_matches('/').is_empty() {
                    return Self::Unknown;
                }
                Self::Place(Place { base, path, exact, slash: text.ends_with('/'), slack: u8::from(!exact) })
            }
            other => other,
        }
    }

    /// `self / other` and `os.path.join(self, other)`.
    pub(super) fn join(self, other: Self) -> Self {
        let first = self.into_path();
        if let Self::OneOf(texts) = other {
            let joined = texts.into_iter().map(|text| first.clone().join(Self::text(text)));
            return joined.reduce(Self::or).unwrap_or(Self::Unknown);
        }
        match (first, other) {
            (Self::Memory, _) => Self::Unknown,
            (first @ (Self::Tmp | Self::Home), _) => first,
            (_, Self::Place(place)) if place.base != PathBase::Cwd => Self::Place(place),
            (_, other @ (Self::Tmp | Self::Home)) => other,
            (Self::Place(place), Self::Text { text, exact, package: false }) => {
                let text = text.replace('\\', "/");
                if text.starts_with('/') {
                    return Self::Text { text, exact, package: false }.into_path();
                }
                Self::Place(place.below(&text, exact))
            }
            (Self::Place(place), Self::Place(relative)) => {
                Self::Place(place.below(&relative.path, relative.exact))
            }
            (Self::Place(place), _) => Self::Place(place.inside()),
            (Self::Package { name, path, exact }, Self::Text { text, exact: also, .. }) => {
                let inner = Place { exact, ..Place::new(PathBase::Module, &path) }.below(&text, also);
                Self::Package { name, path: inner.path, exact: inner.exact }
            }
            (Self::Package { name, path, .. }, _) => Self::Package { name, path, exact: false },
            _ => Self::Unknown,
        }
    }

    /// `self + other` of strings.
    pub(super) fn concat(self, other: Self) -> Self {
        match (self, other) {
            (Self::OneOf(texts), other) => {
                let all = texts.into_iter().map(|text| Self::text(text).concat(other.clone()));
                all.reduce(Self::or).unwrap_or(Self::Unknown)
            }
            (first, Self::OneOf(texts)) => {
                let all = texts.into_iter().map(|text| first.clone().concat(Self::text(text)));
                all.reduce(Self::or).unwrap_or(Self::Unknown)
            }
            (Self::Text { text, exact: true, package }, Self::Text { text: more, exact, package: false }) => {
                Self::Text { text: text + &more, exact, package }
            }
            (
                Self::Text { text, exact: true, package: false },
                Self::Text { text: more, exact, package: true },
            ) if text.is_empty() => Self::Text { text: more, exact, package: true },
            (Self::Text { text, exact: true, package: false }, other) if text.is_empty() => match other {
                Self::Memory => Self::some_text(),
                other => other,
            },
            (Self::Text { text, package, .. }, _) => Self::Text { text, exact: false, package },
            (Self::Place(place), Self::Text { text, exact, .. }) if place.exact => {
                let text = text.replace('\\', "/");
                match text.strip_prefix('/') {
                    Some(rest) => Self::Place(place.below(rest, exact)),
                    None if text.is_empty() && exact => Self::Place(place),
                    None if place.slash => Self::Place(place.below(&text, exact)),
                    None if exact => Self::Place(Place { path: place.path + &text, ..place }),
                    // The last segment goes on with something unknown.
                    None => Self::Place(place.parent().inside()),
                }
            }
            (Self::Place(place), _) if place.exact => {
                Self::Place(if place.slash { place } else { place.parent() }.inside())
            }
            (place @ (Self::Place(_) | Self::Tmp | Self::Home), _) => place,
            _ => Self::Unknown,
        }
    }

    pub(super) fn parent(self) -> Self {
        match self.into_path() {
            Self::Place(place) => Self::Place(place.parent()),
            Self::Package { name, path, exact } => {
                let inner = Place { exact, ..Place::new(PathBase::Module, &path) }.parent();
                Self::Package { name, path: inner.path, exact: inner.exact }
            }
            other @ (Self::Tmp | Self::Home) => other,
            _ => Self::Unknown,
        }
    }

    fn texts(self) -> Option<Vec<String>> {
        match self {
            Self::Text { text, exact: true, package: false } => Some(vec![text]),
            Self::OneOf(texts) => Some(texts),
            _ => None,
        }
    }

    /// One value for what may be either.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Memory, other) | (other, Self::Memory) => other,
            (Self::Tmp, other @ Self::Place(_)) | (other @ Self::Place(_), Self::Tmp) => other,
            (Self::Place(a), Self::Place(b)) if a.base == b.base && a.base != PathBase::Absolute => {
                Self::Place(Place { exact: false, ..Place::new(a.base, &shared(&a.path, &b.path)) })
            }
            (a @ (Self::Text { .. } | Self::OneOf(_)), b @ (Self::Text { .. } | Self::OneOf(_))) => {
                match (a.texts(), b.texts()) {
                    (Some(mut texts), Some(more)) => {
                        for text in more {
                            if !texts.contains(&text) {
                                texts.push(text);
                            }
                        }
                        if texts.len() <= MOST { Self::OneOf(texts) } else { Self::some_text() }
                    }
                    _ => Self::some_text(),
                }
            }
            _ => Self::Unknown,
        }
    }
}

impl Place {
    pub(super) fn new(base: PathBase, path: &str) -> Self {
        Self { base, path: normal(path, base == PathBase::Absolute), exact: true, slash: false, slack: 0 }
    }

    /// Something unknown in this directory or below.
    pub(super) fn inside(self) -> Self {
        Self { exact: false, slash: false, slack: self.slack.saturating_add(1), ..self }
    }

    /// `text` relative to this; not exact: beginning with `text`.
    pub(super) fn below(self, text: &str, exact: bool) -> Self {
        if !self.exact {
            // Going up again may leave the constant part.
            return match text.split('/').filter(|s| *s == "..").count() {
                0 => Self { slack: self.slack.saturating_add(1), ..self },
                ups => (0..ups).fold(self, |place, _| place.parent()),
            };
        }
        let kept = if exact { text } else { text.rfind('/').map_or("", |at| &text[..at]) };
        let joined = if self.path.is_empty() { kept.to_owned() } else { format!("{}/{kept}", self.path) };
        Self {
            path: normal(&joined, self.base == PathBase::Absolute),
            exact,
            slash: text.ends_with('/'),
            slack: u8::from(!exact),
            ..self
        }
    }

    pub(super) fn parent(self) -> Self {
        if let Some(slack) = self.slack.checked_sub(1)
            && !self.exact
        {
            return Self { slack, ..self };
        }
        let path = normal(&format!("{}/..", self.path), self.base == PathBase::Absolute);
        Self { path, slash: false, ..self }
    }

    /// As facts write it.
    pub(super) fn expr(&self) -> PathExpr {
        let path = if self.path.is_empty() { ".".to_owned() } else { self.path.clone() };
        PathExpr { base: self.base, path }
    }

    /// The last segment.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }
}

/// The longest directory that holds both.
fn shared(a: &str, b: &str) -> String {
    let ups = |path: &str| path.split('/').take_while(|s| *s == "..").count();
    if ups(a) != ups(b) {
        return vec![".."; ups(a).max(ups(b))].join("/");
    }
    let same = a.split('/').zip(b.split('/')).take_while(|(x, y)| x == y);
    same.map(|(x, _)| x).collect::<Vec<_>>().join("/")
}

/// `path` without `.` and inner `..` segments, as text: links are for the reader of facts.
fn normal(path: &str, absolute: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute && path.as_bytes().get(1).is_none_or(|&b| b != b':') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_stay_below_their_constant_part() {
        let here = || Value::Place(Place::new(PathBase::Module, ""));
        let cases = [
            (here().join(Value::text("a/b.json")), "a/b.json", true),
            (here().join(Value::text("a")).join(Value::Unknown), "a", false),
            (here().join(Value::text("a")).join(Value::Unknown).join(Value::text("c")), "a", false),
            (here().parent().join(Value::text("x")), "../x", true),
            (here().concat(Value::text("/data/")).concat(Value::Unknown), "data", false),
            (here().concat(Value::text("/data_")).concat(Value::Unknown), "", false),
            (here().join(Value::Text { text: "f/x_".into(), exact: false, package: false }), "f", false),
        ];
        for (value, path, exact) in cases {
            let Value::Place(place) = value else { panic!("{value:?}") };
            assert_eq!((place.path.as_str(), place.exact), (path, exact));
        }
        let place = |path: &str| Value::Place(Place::new(PathBase::Module, path));
        let unions = [("a/x", "a/y", "a"), ("../a", "b", ".."), ("a", "b", ""), ("../a", "../b", "..")];
        for (a, b, expected) in unions {
            let Value::Place(union) = place(a).or(place(b)) else { panic!("{a} {b}") };
            assert_eq!((union.path.as_str(), union.exact), (expected, false));
        }
        let Value::Place(up) = place("a").join(Value::Unknown).parent().parent() else { panic!() };
        assert_eq!(up.path, "");
        assert_eq!(Value::some_text().into_path(), Value::Unknown);
        assert_eq!(Value::text("/etc/x").into_path(), Value::Place(Place::new(PathBase::Absolute, "/etc/x")));
    }
}
