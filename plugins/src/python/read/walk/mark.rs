//! Places whose meaning depends on what surrounds them: aliases, operands that are only
//! compared, what is iterated over or shown as text, and strings that name modules.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::TextRange;

use super::{Walk, What, root_of};

impl<'a> Walk<'a> {
    /// A value that a name becomes an alias of: it is followed, not handed on.
    pub(super) fn aliased(&mut self, value: &'a Expr) {
        self.followed(value, What::Alias(value), false);
    }

    /// An operand of `is` or `==`.
    pub(super) fn compared(&mut self, operand: &'a Expr) {
        if self.annotation {
            self.expr(operand, false);
        } else {
            self.followed(operand, What::Compared(operand), true);
        }
    }

    /// A name or a chain of attributes that is looked at as `what`; anything else is walked.
    fn followed(&mut self, value: &'a Expr, what: What<'a>, orderless: bool) {
        match value {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                self.use_symbol(symbol, None, name.range);
                self.site(what, orderless);
                if let Some(site) = self.sites.last_mut() {
                    site.root = Some(symbol);
                }
            }
            Expr::Attribute(attribute)
                if root_of(value).is_some_and(|root| !matches!(root.as_str(), "self" | "cls"))
                    && attribute.attr.as_str() != "__doc__" =>
            {
                self.rooted(what, orderless, &attribute.value, Some(attribute.attr.as_str()));
            }
            other => self.expr(other, false),
        }
    }

    /// Notes something whose elements are taken one after the other.
    pub(super) fn in_order(&mut self, expr: &'a Expr) {
        if matches!(
            expr,
            Expr::Name(_)
                | Expr::Set(_)
                | Expr::SetComp(_)
                | Expr::BinOp(_)
                | Expr::Call(_)
                | Expr::If(_)
                | Expr::Named(_)
        ) {
            self.site(What::Ordered(expr), false);
        }
    }

    /// Notes something that becomes text.
    pub(super) fn shown(&mut self, expr: &'a Expr) {
        if matches!(
            expr,
            Expr::Name(_)
                | Expr::Set(_)
                | Expr::SetComp(_)
                | Expr::BinOp(_)
                | Expr::Call(_)
                | Expr::Lambda(_)
                | Expr::List(_)
                | Expr::Tuple(_)
        ) {
            self.site(What::Shown(expr), false);
        }
    }

    /// A subscript or a key: classes in it are looked up by, not handed on.
    pub(super) fn slice(&mut self, slice: &'a Expr) {
        match slice {
            Expr::Name(_) | Expr::Attribute(_) => self.compared(slice),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.slice(element)),
            other => self.expr(other, false),
        }
    }

    pub(super) fn string(&mut self, string: &'a ast::ExprStringLiteral) {
        let [literal] = string.value.as_slice() else { return };
        let text: &'a str = &literal.value;
        if self.annotation {
            self.forward_reference(text);
        }
        let named = is_dotted(text) || is_file(text) || (self.modules && is_identifier(text));
        if named && self.seen_strings.insert(text) {
            self.strings.push((text, string.range));
        }
    }

    /// A quoted annotation uses the names in it.
    pub(super) fn forward_reference(&mut self, text: &'a str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            let mut parts = word.split('.');
            let root = parts.next().unwrap_or("");
            if !root.is_empty() && !root.starts_with(|c: char| c.is_ascii_digit()) {
                let symbol = self.names.intern(root);
                let kept = self.members.is_some();
                let chain = parts.filter(|part| kept && !part.is_empty()).collect();
                self.use_members(symbol, chain, TextRange::default());
            }
        }
    }
}

/// `a.b`, `a.b:c`: at least two identifiers, at most one colon.
fn is_dotted(text: &str) -> bool {
    if text.len() > 256 {
        return false;
    }
    let (mut dots, mut colons, mut fresh) = (0, 0, true);
    for byte in text.bytes() {
        match byte {
            b'.' | b':' if fresh => return false,
            b'.' => {
                dots += 1;
                fresh = true;
            }
            b':' => {
                colons += 1;
                fresh = true;
            }
            b'0'..=b'9' if fresh => return false,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => fresh = false,
            _ => return false,
        }
    }
    !fresh && colons <= 1 && dots + colons > 0
}

/// `dir/name.ext`: a relative path with a directory and an extension.
fn is_file(text: &str) -> bool {
    if text.len() > 256 {
        return false;
    }
    let Some(slash) = memchr::memrchr(b'/', text.as_bytes()) else { return false };
    let (dir, name) = (&text[..slash], &text[slash + 1..]);
    !dir.is_empty()
        && !text.starts_with('/')
        && !text.contains("//")
        && name.find('.').is_some_and(|at| at > 0 && at + 1 < name.len())
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+' | b'@') || b >= 0x80
        })
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
