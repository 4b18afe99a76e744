//! Reads INI files as `configparser` and `iniconfig` do: sections, keys, values that go
//! on over indented lines. It does not interpolate (`%(x)s`, tox's `{x}`); a line that
//! neither parser accepts is an error with its number.

use std::collections::BTreeMap;

/// An INI file: section, key, value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    sections: BTreeMap<String, BTreeMap<String, String>>,
}

impl Ini {
    /// Reads `text`.
    ///
    /// # Errors
    /// A sentence with the number of the first line that is no INI.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut ini = Self::default();
        let mut section: Option<String> = None;
        let mut key: Option<String> = None;
        for (number, raw) in text.lines().enumerate() {
            let line = raw.trim_end();
            let start = line.trim_start();
            if start.is_empty() || start.starts_with('#') || start.starts_with(';') {
                continue;
            }
            let indented = start.len() != line.len();
            if indented && let (Some(section), Some(key)) = (&section, &key) {
                let value = ini.sections.entry(section.clone()).or_default().entry(key.clone()).or_default();
                value.push('\n');
                value.push_str(start);
                continue;
            }
            if let Some(rest) = start.strip_prefix('[') {
                let Some(end) = rest.find(']') else {
                    return Err(format!("line {}: a section without `]`", number + 1));
                };
                let name = rest[..end].trim().to_owned();
                ini.sections.entry(name.clone()).or_default();
                (section, key) = (Some(name), None);
                continue;
            }
            let Some(current) = &section else {
                return Err(format!("line {}: a value before the first section", number + 1));
            };
            let Some(at) = start.find(['=', ':']) else {
                return Err(format!("line {}: neither a section nor `key = value`", number + 1));
            };
            let name = start[..at].trim().to_owned();
            let value = start[at + 1..].trim().to_owned();
            ini.sections.entry(current.clone()).or_default().insert(name.clone(), value);
            key = Some(name);
        }
        Ok(ini)
    }

    /// Whether the section is there, even empty.
    pub(crate) fn has(&self, section: &str) -> bool {
        self.sections.contains_key(section)
    }

    /// The value of `key`, in which `-` and `_` are the same and case does not count
    /// (as in `setup.cfg`).
    pub(crate) fn get(&self, section: &str, key: &str) -> Option<&str> {
        let section = self.sections.get(section)?;
        if let Some(value) = section.get(key) {
            return Some(value);
        }
        let wanted = fold(key);
        section.iter().find(|(name, _)| fold(name) == wanted).map(|(_, value)| value.as_str())
    }

    /// Its sections in order of name.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        self.sections.iter().map(|(name, keys)| (name.as_str(), keys))
    }

    /// The keys of one section.
    pub(crate) fn section(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.sections.get(name)
    }
}

fn fold(key: &str) -> String {
    key.to_ascii_lowercase().replace('-', "_")
}

/// Splits as a POSIX shell would: white space, single and double quotes, backslash.
/// An open quote ends with the text.
pub(crate) fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next()
                    && next != '\n'
                {
                    word.get_or_insert_default().push(next);
                }
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The non-empty lines of a value, trimmed, inline ` #` comments dropped.
pub(crate) fn lines(value: &str) -> impl Iterator<Item = &str> {
    value.lines().map(|line| line.split(" #").next().unwrap_or("").trim()).filter(|line| !line.is_empty())
}

/// A list written over lines or with commas, as `setup.cfg` allows.
pub(crate) fn list(value: &str) -> Vec<&str> {
    let many: Vec<&str> = lines(value).collect();
    if many.len() > 1 {
        return many;
    }
    value.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sections_continuations_and_comments() {
        let ini =
            Ini::parse("# top\n[tool:pytest]\ntestpaths =\n    tests\n\n    # no\n    more\n[x]\nA-b: c\n")
                .unwrap();
        assert_eq!(ini.get("tool:pytest", "testpaths"), Some("\ntests\nmore"));
        assert_eq!(ini.get("x", "a_b"), Some("c"));
        assert!(ini.has("x") && !ini.has("y"));
    }

    #[test]
    fn says_where_it_is_no_ini() {
        assert!(Ini::parse("a = b\n").unwrap_err().contains("line 1"));
        assert!(Ini::parse("[a]\nwhat\n").unwrap_err().contains("line 2"));
        assert!(Ini::parse("[a\n").is_err());
    }

    #[test]
    fn splits_like_a_shell() {
        assert_eq!(shell_words("-p 'a b' \"c\\\"d\" e\\ f\n--x=1"), ["-p", "a b", "c\"d", "e f", "--x=1"]);
        assert_eq!(list("a, b"), ["a", "b"]);
        assert_eq!(list("\na\nb # c"), ["a", "b"]);
    }
}
