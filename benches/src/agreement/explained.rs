//! The causes of differences that are known: `benches/conformance/agreement.txt`.

use std::collections::BTreeMap;

/// Causes, and how often each was the reason.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// Text in the line of source at which a grammar gives up, and the cause.
    lines: Vec<(String, String)>,
    /// How a difference starts, and the cause.
    starts: BTreeMap<String, String>,
}

impl Explained {
    /// Reads lines of a start, a tab and a cause. A start `line: TEXT` is any source with TEXT
    /// in the line at which the grammar gives up. `#` starts a comment.
    ///
    /// # Errors
    /// A line without a tab.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut explained = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (start, cause) = line.split_once('\t').ok_or_else(|| format!("no tab in: {line}"))?;
            match start.strip_prefix("line: ") {
                Some(text) => explained.lines.push((text.to_owned(), cause.to_owned())),
                None => drop(explained.starts.insert(start.to_owned(), cause.to_owned())),
            }
        }
        Ok(explained)
    }

    /// The cause of a difference that is shown as `difference`.
    pub fn difference(&self, difference: &str) -> Option<&str> {
        // The longest that fits: it sorts last.
        let mut starts = self.starts.iter().rev();
        starts.find(|(start, _)| difference.starts_with(start.as_str())).map(|(_, cause)| cause.as_str())
    }

    /// Why a grammar gives up at a line with this text, in the file shown as `name`.
    pub fn error(&self, name: &str, line: &str) -> Option<&str> {
        let known = self.lines.iter().find(|(text, _)| line.contains(text.as_str()));
        known.map(|(_, cause)| cause.as_str()).or_else(|| self.difference(name))
    }

    /// Starts that explain nothing of what is `shown`; those of other places are left alone.
    pub fn stale<'e>(&'e self, place: &'e str, shown: &'e [String]) -> impl Iterator<Item = &'e str> {
        let starts = self.starts.keys().filter(move |start| start.starts_with(place));
        let unused = starts.filter(|start| !shown.iter().any(|it| it.starts_with(start.as_str())));
        unused.map(String::as_str)
    }
}
