//! What a literal says.

use tree_sitter::Node;

use super::Dialect;

/// The value of a string or of a template without holes; `None` for anything else.
pub(super) fn value(dialect: Dialect, node: Node<'_>, text: &str) -> Option<String> {
    let written = &text[node.byte_range()];
    match dialect {
        Dialect::Python => python(node, written),
        Dialect::TypeScript | Dialect::Tsx | Dialect::JavaScript => {
            if !matches!(node.kind(), "string" | "template_string") || written.len() < 2 {
                return None;
            }
            let mut children = (0..node.child_count()).filter_map(|at| node.child(at));
            let holes = children.any(|child| child.kind() == "template_substitution");
            (!holes).then(|| unescaped(&written[1..written.len() - 1]))
        }
    }
}

fn python(node: Node<'_>, written: &str) -> Option<String> {
    if node.kind() != "string" {
        return None;
    }
    let quote = written.find(['"', '\''])?;
    let (prefix, body) = written.split_at(quote);
    if prefix.contains(['f', 'F', 'b', 'B', 't', 'T']) {
        return None;
    }
    let mark = &body[..1];
    let tripled = mark.repeat(3);
    let mark = if body.starts_with(&tripled) && body.len() >= 6 { tripled.as_str() } else { mark };
    let inner = body.strip_prefix(mark)?.strip_suffix(mark)?;
    Some(if prefix.contains(['r', 'R']) { inner.to_owned() } else { unescaped(inner) })
}

/// Escapes as they occur in the names of modules: of quotes, slashes and code points.
fn unescaped(inner: &str) -> String {
    let mut value = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('0') => value.push('\0'),
            Some(kind @ ('x' | 'u')) => {
                let rest = letters.as_str();
                let (digits, length) = match rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
                    Some((digits, _)) if kind == 'u' => (digits, digits.len() + 2),
                    _ => {
                        let length = if kind == 'x' { 2 } else { 4 };
                        (rest.get(..length).unwrap_or_default(), length)
                    }
                };
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                if let Some(code) = code {
                    value.push(code);
                    letters = rest.get(length..).unwrap_or_default().chars();
                } else {
                    value.push(kind);
                }
            }
            Some('\n') | None => {}
            Some(other) => value.push(other),
        }
    }
    value
}
