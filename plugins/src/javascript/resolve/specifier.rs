//! What kind of thing a specifier is, from its text alone.

/// Modules of Node.js that need no `node:` prefix (Node.js 24, `module.builtinModules`).
const BUILTIN: &[&str] = &[
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_wrap",
    "_stream_writable",
    "_tls_common",
    "_tls_wrap",
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// A specifier, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Specifier<'s> {
    /// Starts with `./` or `../`, or is `.` or `..`.
    Relative(&'s str),
    /// Starts with `/`: below a root, or absolute.
    Rooted(&'s str),
    /// `#name`: the importing package's own `imports`.
    Internal(&'s str),
    /// Names a package or an alias.
    Bare(&'s str),
    /// A `file:` URL, without the scheme and host.
    FileUrl(&'s str),
    /// Part of the runtime (`node:fs`), or bytes in the text itself (`data:`).
    Runtime,
    /// Bytes from elsewhere, as a package: `npm:x`, `jsr:@s/x`, `url:https://…`.
    External(&'s str),
    /// Made by a bundler plugin (`virtual:x`), or in a scheme nobody here knows.
    Virtual,
    /// Nothing that can be resolved: empty, or a path of another system.
    Nothing,
}

/// Takes `text` apart; loader prefixes (`raw-loader!./x`) are dropped. A query or fragment
/// is kept: see [`without_query`].
pub(super) fn parse(text: &str) -> Specifier<'_> {
    let text = text.rsplit('!').next().unwrap_or(text);
    let bytes = text.as_bytes();
    match bytes {
        [] => Specifier::Nothing,
        [0, ..] => Specifier::Virtual,
        [b'.'] | [b'.', b'.'] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..] => Specifier::Relative(text),
        [b'/', b'/', ..] => Specifier::External(text),
        [b'/', ..] => Specifier::Rooted(text),
        [b'#', ..] => Specifier::Internal(text),
        _ => match scheme(text) {
            None => Specifier::Bare(text),
            Some((scheme, _)) if scheme.len() == 1 => Specifier::Nothing,
            Some(("node" | "bun" | "deno" | "data" | "blob" | "cloudflare" | "workerd" | "electron", _)) => {
                Specifier::Runtime
            }
            Some(("npm" | "jsr" | "http" | "https", _)) => Specifier::External(text),
            Some(("file", rest)) => {
                let rest = rest.strip_prefix("//").unwrap_or(rest);
                Specifier::FileUrl(rest.find('/').map_or(rest, |at| &rest[at..]))
            }
            Some(_) => Specifier::Virtual,
        },
    }
}

/// Whether `name` is loaded from Node.js itself although it has no scheme.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTIN.binary_search(&name).is_ok()
}

/// Bare specifiers that bundler plugins answer, by their customary spelling.
pub(super) fn is_virtual(bare: &str) -> bool {
    ["virtual-", "~icons/", "~build/", "$app/", "$env/", "$service-worker"]
        .iter()
        .any(|p| bare.starts_with(p))
}

/// `text` up to its query or fragment, when it has one. A leading `#` is no fragment.
pub(super) fn without_query(text: &str) -> Option<&str> {
    let at = text.char_indices().skip(1).find(|(_, c)| matches!(c, '?' | '#'))?.0;
    Some(&text[..at])
}

/// A bare specifier as package name and the rest (`""`, or `/sub/path`). `None` when npm
/// has no such name, so that it can only be an alias: `@/x`, `~/x`, `$lib/x`.
pub(super) fn package(bare: &str) -> Option<(&str, &str)> {
    let slashes = if bare.starts_with('@') { 2 } else { 1 };
    let end = bare.match_indices('/').nth(slashes - 1).map_or(bare.len(), |(at, _)| at);
    let (name, rest) = bare.split_at(end);
    let parts: Vec<&str> = match name.strip_prefix('@') {
        Some(scoped) => scoped.split('/').collect(),
        None => vec![name],
    };
    let valid = parts.len() == slashes
        && parts.iter().all(|part| {
            !part.is_empty()
                && !part.starts_with(['.', '_', '~', '$'])
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~$".contains(&b))
        });
    valid.then_some((name, rest))
}

/// `scheme:rest`, when `text` starts with a URL scheme.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let valid = bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b));
    valid.then_some((scheme, rest))
}

/// The package of an [`Specifier::External`] as a target's name.
pub(super) fn external_package(text: &str) -> String {
    let Some((scheme @ ("npm" | "jsr"), rest)) = scheme(text) else { return format!("url:{text}") };
    let rest = rest.trim_start_matches('/');
    // `name@1.2/sub`: the version starts at the first `@` after the name's own.
    let name = match rest.get(1..).and_then(|tail| tail.find('@')) {
        Some(at) => &rest[..=at],
        None => rest,
    };
    let name = package(name).map_or(name, |(name, _)| name);
    format!("{scheme}:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_sorted() {
        assert!(BUILTIN.is_sorted());
        assert!(is_builtin("fs/promises") && !is_builtin("test") && !is_builtin("events/"));
    }

    #[test]
    fn kinds() {
        for (text, want) in [
            ("./a", Specifier::Relative("./a")),
            ("..", Specifier::Relative("..")),
            (".hidden", Specifier::Bare(".hidden")),
            ("raw-loader!./a.md", Specifier::Relative("./a.md")),
            ("/src/a", Specifier::Rooted("/src/a")),
            ("#a", Specifier::Internal("#a")),
            ("@/a", Specifier::Bare("@/a")),
            ("node:fs", Specifier::Runtime),
            ("data:text/javascript,1", Specifier::Runtime),
            ("npm:x@1", Specifier::External("npm:x@1")),
            ("virtual:x", Specifier::Virtual),
            ("\0x", Specifier::Virtual),
            ("astro:content", Specifier::Virtual),
            ("file:///a/b.js", Specifier::FileUrl("/a/b.js")),
            ("C:\\a", Specifier::Nothing),
            ("", Specifier::Nothing),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn packages() {
        for (text, want) in [
            ("lodash", Some(("lodash", ""))),
            ("lodash/get", Some(("lodash", "/get"))),
            ("@s/n/sub/x", Some(("@s/n", "/sub/x"))),
            ("@s", None),
            ("@/x", None),
            ("~/x", None),
            ("$lib/x", None),
            ("_x", None),
        ] {
            assert_eq!(package(text), want, "{text}");
        }
        for (text, want) in [
            ("npm:lodash@4/get", "npm:lodash"),
            ("npm:@s/n@1.0/x", "npm:@s/n"),
            ("jsr:@std/path", "jsr:@std/path"),
            ("npm:/x", "npm:x"),
            ("https://h/x.ts", "url:https://h/x.ts"),
        ] {
            assert_eq!(external_package(text), want);
        }
        assert_eq!(without_query("./a.svg?raw#x"), Some("./a.svg"));
        assert_eq!(without_query("#a"), None);
    }
}
