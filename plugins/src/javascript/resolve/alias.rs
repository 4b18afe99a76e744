//! The aliases of a runner's configuration, as rewrites of a specifier.
//!
//! Regular expressions are JavaScript's own (`regress`), because jest's
//! `moduleNameMapper` may hold look-aheads. One that cannot be compiled may match anything:
//! both readings are followed.

use owed_engine::resolve::{Alias, AliasFind};

/// A compiled alias.
pub(super) enum Rewrite {
    Prefix {
        find: String,
        replacement: String,
    },
    Exact {
        find: String,
        replacement: String,
    },
    Regex {
        find: regress::Regex,
        replacement: String,
    },
    /// An expression that cannot be compiled: it may match anything.
    Broken {
        replacement: String,
    },
}

/// What one alias makes of a specifier.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rewritten {
    /// It does not match.
    No,
    /// These specifiers, the likeliest first.
    To(Vec<String>),
    /// Whether it matches is not known; this is where it would lead, unless that depends
    /// on the match.
    Unknown(Option<String>),
}

/// Compiles `aliases`, keeping their order.
pub(super) fn compile(aliases: &[Alias]) -> Vec<Rewrite> {
    let compile = |alias: &Alias| {
        let replacement = alias.replacement.clone();
        match &alias.find {
            AliasFind::Prefix(find) => Rewrite::Prefix { find: find.clone(), replacement },
            AliasFind::Exact(find) => Rewrite::Exact { find: find.clone(), replacement },
            AliasFind::Regex(source) => {
                let (pattern, flags) = source_and_flags(source);
                match regress::Regex::with_flags(pattern, flags) {
                    Ok(find) => Rewrite::Regex { find, replacement },
                    Err(_) => Rewrite::Broken { replacement },
                }
            }
        }
    };
    aliases.iter().map(compile).collect()
}

/// `/…/i` as written in a source is its pattern and flags; anything else is a pattern.
fn source_and_flags(source: &str) -> (&str, &str) {
    let literal = source.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    match literal {
        Some((pattern, flags)) if !pattern.is_empty() && flags.bytes().all(|b| b"dgimsuvy".contains(&b)) => {
            (pattern, flags)
        }
        _ => (source, ""),
    }
}

impl Rewrite {
    /// What this alias makes of `specifier`.
    pub(super) fn apply(&self, specifier: &str) -> Rewritten {
        match self {
            Self::Prefix { find, replacement } => match specifier.strip_prefix(find.as_str()) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') || find.ends_with('/') => {
                    Rewritten::To(vec![format!("{replacement}{rest}")])
                }
                _ => Rewritten::No,
            },
            Self::Exact { find, replacement } if find == specifier => {
                Rewritten::To(vec![replacement.clone()])
            }
            Self::Exact { .. } => Rewritten::No,
            Self::Broken { replacement } => {
                Rewritten::Unknown((!replacement.contains('$')).then(|| replacement.clone()))
            }
            Self::Regex { find, replacement } => {
                let Some(found) = find.find(specifier) else { return Rewritten::No };
                let group = |n: usize| match n {
                    0 => Some(&specifier[found.range()]),
                    _ if n > found.captures.len() => None,
                    _ => Some(found.group(n).map_or("", |range| &specifier[range])),
                };
                let text = expand(replacement, group);
                // vite replaces what matched; jest replaces the whole specifier.
                let part = format!("{}{text}{}", &specifier[..found.start()], &specifier[found.end()..]);
                let mut to = vec![part];
                if to[0] != text && !text.is_empty() {
                    to.push(text);
                }
                Rewritten::To(to)
            }
        }
    }
}

/// `template` with `$1`…`$99`, `$&` and `$$` replaced; a group that does not exist stays.
fn expand<'s>(template: &str, group: impl Fn(usize) -> Option<&'s str>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = after.bytes().take(2).take_while(u8::is_ascii_digit).count();
        // `$12` is group 12 when there is one, else group 1 and a `2`.
        let hit = (1..=digits).rev().find_map(|len| {
            let number: usize = after[..len].parse().ok().filter(|n| *n > 0)?;
            group(number).map(|text| (len, text))
        });
        let (taken, text) = match (hit, after.bytes().next()) {
            (Some((len, text)), _) => (len, text),
            (None, Some(b'&')) => (1, group(0).unwrap_or("")),
            (None, Some(b'$')) => (1, "$"),
            (None, _) => (0, "$"),
        };
        out.push_str(text);
        rest = &after[taken..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(all: &[&str]) -> Rewritten {
        Rewritten::To(all.iter().map(|s| (*s).to_owned()).collect())
    }

    #[test]
    fn matches_as_vite_and_jest_do() {
        let prefix = |s: &str| AliasFind::Prefix(s.to_owned());
        let exact = |s: &str| AliasFind::Exact(s.to_owned());
        let regex = |s: &str| AliasFind::Regex(s.to_owned());
        for (find, replacement, specifier, want) in [
            (prefix("@"), "/src", "@", to(&["/src"])),
            (prefix("@"), "/src", "@/a", to(&["/src/a"])),
            (prefix("@"), "/src", "@scope/a", Rewritten::No),
            (prefix("@/"), "/src/", "@/a", to(&["/src/a"])),
            (prefix("@foo/bar"), "/bar", "@foo/bar-core/x", Rewritten::No),
            (exact("vue"), "/vue.js", "vue", to(&["/vue.js"])),
            (exact("vue"), "/vue.js", "vue/x", Rewritten::No),
            (regex("^@/(.*)$"), "/src/$1", "@/a/b", to(&["/src/a/b"])),
            (regex("\\.css$"), "/mock.js", "./a.css", to(&["./a/mock.js", "/mock.js"])),
            (regex("^~"), "", "~/a", to(&["/a"])),
            (regex("/^~/"), "", "~/a", to(&["/a"])),
            (regex("^(?!.*skip).*\\.svg$"), "svg", "./a.svg", to(&["svg"])),
            (regex("^(?!.*skip).*\\.svg$"), "svg", "./skip.svg", Rewritten::No),
            (regex("^(a)(b)?"), "$1$2$3$$$&", "a", to(&["a$3$a"])),
            (regex("("), "x", "a", Rewritten::Unknown(Some("x".to_owned()))),
            (regex("("), "$1", "a", Rewritten::Unknown(None)),
        ] {
            let alias = Alias { find, replacement: replacement.to_owned() };
            assert_eq!(
                compile(std::slice::from_ref(&alias))[0].apply(specifier),
                want,
                "{alias:?} {specifier}"
            );
        }
    }
}
