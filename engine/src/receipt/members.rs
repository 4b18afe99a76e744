//! Numbers of entries, small on disk: a closure of a thousand files is a thousand numbers
//! that mostly follow one another.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Sorted numbers of entries of a table, each once. On disk it is a text of runs: `3-17,20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(Vec<u32>);

/// A set of numbers below a limit, one bit each.
#[derive(Clone, Debug)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// None of the numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        Self(vec![0; limit.div_ceil(64)])
    }

    /// Puts numbers in, each below the limit.
    pub fn set(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.0[number as usize / 64] |= 1 << (number % 64);
        }
    }

    /// Whether a number is in it.
    pub fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// All of them, sorted.
    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.0.iter().map(|word| word.count_ones() as usize).sum());
        for (at, &word) in (0_u32..).zip(&self.0) {
            let mut rest = word;
            while rest != 0 {
                numbers.push(at * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        numbers
    }
}

impl From<&Marks> for Members {
    fn from(marks: &Marks) -> Self {
        Self(marks.numbers())
    }
}

impl Members {
    /// Of these numbers, in any order.
    pub fn new(mut numbers: Vec<u32>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }

    /// The numbers, sorted.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut at = 0;
        while at < self.0.len() {
            let start = self.0[at];
            let mut end = start;
            while self.0.get(at + 1) == Some(&(end + 1)) {
                at += 1;
                end += 1;
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&if start == end { start.to_string() } else { format!("{start}-{end}") });
            at += 1;
        }
        text
    }

    /// `None` when the text is not what [`Members::text`] writes. `limit` bounds the numbers.
    fn parse(text: &str, limit: u32) -> Option<Self> {
        let mut numbers: Vec<u32> = Vec::new();
        for run in text.split(',').filter(|_| !text.is_empty()) {
            let (start, end) = run.split_once('-').unwrap_or((run, run));
            let (start, end): (u32, u32) = (start.parse().ok()?, end.parse().ok()?);
            if end < start || end > limit || numbers.last().is_some_and(|last| start <= *last) {
                return None;
            }
            numbers.extend(start..=end);
        }
        let members = Self(numbers);
        (members.text() == text).then_some(members)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // More entries than this no table has; a forged range must not eat the memory.
        Self::parse(&text, 16 << 20).ok_or_else(|| D::Error::custom("not a list of members"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_a_sorted_set() {
        let mut marks = Marks::new(130);
        marks.set([129, 0, 64, 63, 0]);
        assert_eq!(marks.numbers(), [0, 63, 64, 129]);
        assert_eq!(Members::from(&marks), Members::new(vec![129, 0, 64, 63]));
        assert!(marks.has(129) && !marks.has(1) && !marks.has(500));
    }

    #[test]
    fn texts_and_back() {
        for (numbers, text) in
            [(vec![], ""), (vec![3], "3"), (vec![5, 4, 3, 9, 9], "3-5,9"), (vec![0, 2, 3], "0,2-3")]
        {
            let members = Members::new(numbers);
            assert_eq!(members.text(), text);
            assert_eq!(Members::parse(text, 100), Some(members));
        }
        for text in ["3-", "5-3", "3,3", "3,2", "1-2-3", "x", "0-4000000000", "03", "1,2", ","] {
            assert_eq!(Members::parse(text, 100), None, "{text}");
        }
    }
}
