//! Project-relative paths: UTF-8, `/`-separated, without a leading or trailing
//! `/`, without `.` or `..` segments. The project root itself is `""`.
//!
//! Everything right of the reading door speaks only this form, so that answers
//! do not depend on where a checkout lies.

use memchr::{memrchr, memrchr2};

/// The directory of `path`: `"a/b.ts"` gives `"a"`, `"b.ts"` gives `""`.
pub fn dirname(path: &str) -> &str {
    memrchr(b'/', path.as_bytes()).map_or("", |i| &path[..i])
}

/// The last segment of `path`: `"a/b.ts"` gives `"b.ts"`.
pub fn basename(path: &str) -> &str {
    memrchr(b'/', path.as_bytes()).map_or(path, |i| &path[i + 1..])
}

/// The extension after the last dot of the last segment, without the dot;
/// `""` when there is none or the name only starts with a dot.
pub fn extension(path: &str) -> &str {
    let bytes = path.as_bytes();
    match memrchr2(b'.', b'/', bytes) {
        Some(i) if i > 0 && bytes[i] == b'.' && bytes[i - 1] != b'/' => &path[i + 1..],
        _ => "",
    }
}

/// The part of the sorted `files` that lies below the directory `dir`.
pub fn below<'f>(files: &'f [String], dir: &str) -> &'f [String] {
    if dir.is_empty() {
        return files;
    }
    let prefix = format!("{dir}/");
    let start = files.partition_point(|file| file.as_str() < prefix.as_str());
    let length = files[start..].partition_point(|file| file.starts_with(&prefix));
    &files[start..start + length]
}

/// Joins `relative` (which may hold `.` and `..`) to the directory `dir` and
/// normalises it. `None` when the result leaves the project, or when
/// `relative` is absolute.
pub fn join(dir: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = if dir.is_empty() { Vec::new() } else { dir.split('/').collect() };
    for segment in relative.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// Whether `path` is `dir` itself or lies anywhere below it; segment-wise, so
/// `app2/x` is not below `app`. Everything is below `""`.
pub fn is_within(path: &str, dir: &str) -> bool {
    dir.is_empty()
        || path == dir
        || (path.len() > dir.len() && path.starts_with(dir) && path.as_bytes()[dir.len()] == b'/')
}

/// `path` relative to the directory `dir`, which must contain it.
pub fn strip<'a>(path: &'a str, dir: &str) -> Option<&'a str> {
    if dir.is_empty() {
        return Some(path);
    }
    if path == dir {
        return Some("");
    }
    path.strip_prefix(dir)?.strip_prefix('/')
}

/// The directories from the one holding `path` up to the root, nearest first:
/// `"a/b/c.ts"` gives `"a/b"`, `"a"`, `""`.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(dirname(path));
    if path.is_empty() {
        next = None;
    }
    std::iter::from_fn(move || {
        let current = next?;
        next = if current.is_empty() { None } else { Some(dirname(current)) };
        Some(current)
    })
}

/// The shortest `../`-style path from the directory `dir` to `path`.
pub fn relative(dir: &str, path: &str) -> String {
    let from: Vec<&str> = if dir.is_empty() { Vec::new() } else { dir.split('/').collect() };
    let to: Vec<&str> = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec![".."; from.len() - common];
    parts.extend(&to[common..]);
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_refuses_to_leave() {
        assert_eq!(join("a/b", "../c.ts").as_deref(), Some("a/c.ts"));
        assert_eq!(join("a", "../../c.ts"), None);
        assert_eq!(join("a", "/c.ts"), None);
        assert_eq!(join("", "./x//y/.").as_deref(), Some("x/y"));
    }

    #[test]
    fn within_is_by_segment() {
        assert!(is_within("app/x", "app"));
        assert!(!is_within("app2/x", "app"));
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(relative("a/b", "a/c/d"), "../c/d");
    }
}
