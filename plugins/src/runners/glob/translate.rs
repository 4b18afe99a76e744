//! From a glob to a regular expression.

use super::Style;

/// `pattern` as a regular expression; `None` when it cannot be read.
pub(super) fn translate(pattern: &str, style: Style) -> Option<Translated> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut translator = Translator { chars: &chars, at: 0, out: String::from("^"), ahead: false, style };
    translator.sequence(0, &[])?;
    if translator.at != chars.len() {
        return None;
    }
    translator.out.push('$');
    Some(Translated { text: translator.out, ahead: translator.ahead })
}

/// A translated pattern.
pub(super) struct Translated {
    /// The regular expression.
    pub(super) text: String,
    /// Whether it needs look-ahead, or letters in classes.
    pub(super) ahead: bool,
}

struct Translator<'a> {
    chars: &'a [char],
    at: usize,
    out: String,
    ahead: bool,
    style: Style,
}

impl Translator<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Translates up to one of `ends` (not consumed) at this level.
    fn sequence(&mut self, depth: u32, ends: &[char]) -> Option<()> {
        if depth > 20 {
            return None;
        }
        while let Some(c) = self.peek(0) {
            if ends.contains(&c) {
                return Some(());
            }
            match c {
                '?' | '*' | '+' | '@' | '!' if self.peek(1) == Some('(') => self.extended(c, depth)?,
                '*' => self.stars(ends),
                '?' => {
                    self.at += 1;
                    self.out.push_str("(?:[^/\\x80-\\xff]|[\\xc0-\\xff][\\x80-\\xbf]*)");
                }
                '[' => self.class(),
                '{' => self.braces(depth)?,
                '\\' => {
                    self.at += 1;
                    if let Some(c) = self.peek(0) {
                        self.at += 1;
                        self.literal(c);
                    }
                }
                '(' => {
                    self.at += 1;
                    self.out.push_str("(?:");
                    self.alternatives(depth, &['|', ')'])?;
                    self.out.push(')');
                }
                c => {
                    self.at += 1;
                    self.literal(c);
                }
            }
        }
        ends.is_empty().then_some(())
    }

    fn literal(&mut self, c: char) {
        if !(c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | ' ' | '@' | '~' | ',' | ':'))
            && c.is_ascii()
        {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// Whether a name starts here.
    fn at_start(&self) -> bool {
        self.at == 0 || matches!(self.chars[self.at - 1], '/')
    }

    fn stars(&mut self, ends: &[char]) {
        let start = self.at_start();
        let mut count = 0;
        while self.peek(0) == Some('*') {
            self.at += 1;
            count += 1;
        }
        let closed = self.peek(0).is_none_or(|c| c == '/' || ends.contains(&c));
        if count >= 2 && start && closed {
            if self.peek(0) == Some('/') {
                self.at += 1;
                self.out.push_str(if self.style.dot { "(?:[^/]+/)*" } else { "(?:[^./][^/]*/)*" });
            } else {
                self.out.push_str(if self.style.dot { ".*" } else { "(?:[^./][^/]*(?:/[^./][^/]*)*)?" });
            }
        } else if start && !self.style.dot {
            self.out.push_str(if closed { "[^./][^/]*" } else { "(?:[^./][^/]*)?" });
        } else {
            self.out.push_str(if start && closed { "[^/]+" } else { "[^/]*" });
        }
    }

    fn class(&mut self) {
        let mut end = self.at + 1;
        if matches!(self.chars.get(end), Some('!' | '^')) {
            end += 1;
        }
        if self.chars.get(end) == Some(&']') {
            end += 1;
        }
        while end < self.chars.len() && self.chars[end] != ']' {
            end += 1;
        }
        if end >= self.chars.len() {
            self.at += 1;
            self.out.push_str("\\[");
            return;
        }
        // In byte mode a class cannot hold other letters: such patterns are run slowly.
        self.ahead |= self.chars[self.at..end].iter().any(|c| !c.is_ascii());
        self.out.push('[');
        let mut at = self.at + 1;
        if matches!(self.chars[at], '!' | '^') {
            self.out.push('^');
            at += 1;
        }
        for c in &self.chars[at..end] {
            if matches!(c, '[' | ']' | '\\' | '&' | '~' | '^') {
                self.out.push('\\');
            }
            self.out.push(*c);
        }
        self.out.push(']');
        self.at = end + 1;
    }

    fn braces(&mut self, depth: u32) -> Option<()> {
        let open = self.at;
        let mut level = 0;
        let mut close = None;
        let mut comma = false;
        for (i, c) in self.chars.iter().enumerate().skip(open) {
            match c {
                '{' => level += 1,
                '}' => {
                    level -= 1;
                    if level == 0 {
                        close = Some(i);
                        break;
                    }
                }
                ',' if level == 1 => comma = true,
                _ => {}
            }
        }
        let Some(close) = close else {
            self.at += 1;
            self.out.push_str("\\{");
            return Some(());
        };
        if comma {
            self.at += 1;
            self.out.push_str("(?:");
            self.alternatives(depth, &[',', '}'])?;
            self.out.push(')');
            return Some(());
        }
        let inner: String = self.chars[open + 1..close].iter().collect();
        if let Some((from, to)) = inner.split_once("..")
            && let (Ok(from), Ok(to)) = (from.parse::<u32>(), to.parse::<u32>())
            && from <= to
            && to - from < 1000
        {
            let numbers: Vec<String> = (from..=to).map(|n| n.to_string()).collect();
            self.out.push_str(&format!("(?:{})", numbers.join("|")));
            self.at = close + 1;
            return Some(());
        }
        // Braces around one thing are that thing with its braces, except to minimatch's
        // siblings that drop them: both readings count.
        self.at = close + 1;
        let escaped: String = inner.chars().flat_map(escaped).collect();
        self.out.push_str(&format!("(?:\\{{{escaped}\\}}|{escaped})"));
        Some(())
    }

    fn extended(&mut self, kind: char, depth: u32) -> Option<()> {
        self.at += 2;
        if kind != '!' {
            self.out.push_str("(?:");
            self.alternatives(depth, &['|', ')'])?;
            self.out.push(')');
            match kind {
                '?' => self.out.push('?'),
                '*' => self.out.push('*'),
                '+' => self.out.push('+'),
                _ => {}
            }
            return Some(());
        }
        self.ahead = true;
        let before = std::mem::take(&mut self.out);
        self.alternatives(depth, &['|', ')'])?;
        let inner = std::mem::replace(&mut self.out, before);
        // What follows decides where the negated part ends.
        let (at, kept) = (self.at, std::mem::take(&mut self.out));
        let mut rest =
            Translator { chars: self.chars, at, out: String::new(), ahead: false, style: self.style };
        let tail = match rest.sequence(depth + 1, &['/', '|', ',', '}', ')']) {
            Some(()) => rest.out,
            None if rest.at == self.chars.len() => rest.out,
            None => return None,
        };
        self.out = kept;
        let stop = if rest.at == self.chars.len() { "$" } else { "(?:/|$)" };
        self.out.push_str(&format!("(?!(?:{inner}){tail}{stop})[^/]*?"));
        Some(())
    }

    /// Translates alternatives separated by `ends[0]` up to and over `ends[1]`.
    fn alternatives(&mut self, depth: u32, ends: &[char; 2]) -> Option<()> {
        loop {
            self.sequence(depth + 1, ends)?;
            let c = self.peek(0)?;
            self.at += 1;
            if c == ends[1] {
                return Some(());
            }
            self.out.push('|');
        }
    }
}

fn escaped(c: char) -> Vec<char> {
    if c.is_alphanumeric() || matches!(c, '/' | '_' | '-') { vec![c] } else { vec!['\\', c] }
}
