//! Whether a use of the network names this machine, and says so literally.
//!
//! It is a note for people and lowers no class: another process answers all the same. A host
//! that is computed, left to a default, or could be overridden by a later argument, is not
//! literal.

use oxc_ast::ast::{Argument, Expression};

use super::operations::Op;
use super::usage::Usage;
use super::value::{Piece, Value};
use super::walk::{Walk, static_key};

impl<'a> Walk<'_, 'a> {
    /// Whether the operation, used so, only talks to this machine.
    pub(super) fn is_loopback(&self, op: &Op<'a>, usage: Usage<'a>) -> bool {
        let arguments = match usage {
            Usage::Call(call) => &call.arguments,
            Usage::New(new) => &new.arguments,
            _ => return false,
        };
        let first = arguments.first().and_then(Argument::as_expression);
        match (op.root.name.as_str(), op.path.as_slice()) {
            // What else is given to these cannot name another host.
            ("fetch" | "WebSocket" | "EventSource", []) => first.is_some_and(|e| self.is_local_url(e)),
            ("node:http" | "node:https", ["get" | "request"]) => match first {
                Some(Expression::ObjectExpression(_)) => first.is_some_and(|e| self.names_local_host(e)),
                _ => first.is_some_and(|e| self.is_local_url(e)) && arguments[1..].iter().all(is_function),
            },
            ("node:net" | "node:tls", ["connect" | "createConnection"]) => match first {
                Some(Expression::ObjectExpression(_)) => first.is_some_and(|e| self.names_local_host(e)),
                _ => match arguments.get(1).and_then(Argument::as_expression) {
                    Some(host) => {
                        self.literal(host).is_some_and(|host| is_local(&host))
                            && arguments[2..].iter().all(is_function)
                    }
                    None => false,
                },
            },
            _ => false,
        }
    }

    /// `http://localhost:3000/x`, also with a computed port or path.
    fn is_local_url(&self, it: &Expression<'a>) -> bool {
        let Value::Text(pieces) = self.value(it) else { return false };
        let [Piece::Text(start), rest @ ..] = pieces.as_slice() else { return false };
        let Some((scheme, after)) = start.split_once("://") else { return false };
        if !matches!(scheme, "http" | "https" | "ws" | "wss") {
            return false;
        }
        let end = after.find(['/', '?', '#', '\\']);
        let authority = &after[..end.unwrap_or(after.len())];
        let (host, port) = match authority.rfind(':').filter(|at| !authority[*at..].contains(']')) {
            Some(at) => (&authority[..at], Some(&authority[at + 1..])),
            None => (authority, None),
        };
        if !is_local(host) || !port.unwrap_or_default().bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        match (end, rest) {
            // The host was complete before anything is computed.
            (Some(_), _) | (None, []) => true,
            // `http://localhost:${port}`, and a path if anything.
            (None, [Piece::Hole]) => port == Some(""),
            (None, [Piece::Hole, Piece::Text(path), ..]) => port == Some("") && path.starts_with('/'),
            _ => false,
        }
    }

    /// `{ host: "127.0.0.1", port }`.
    fn names_local_host(&self, it: &Expression<'a>) -> bool {
        let Expression::ObjectExpression(object) = it else { return false };
        let mut named = false;
        for property in &object.properties {
            let Some(property) = property.as_property() else { return false };
            match static_key(&property.key) {
                Some("host" | "hostname") => {
                    if !self.literal(&property.value).is_some_and(|host| is_local(&host)) {
                        return false;
                    }
                    named = true;
                }
                Some("lookup" | "agent" | "createConnection" | "socketPath") | None => return false,
                _ => {}
            }
        }
        named
    }
}

fn is_function(argument: &Argument<'_>) -> bool {
    matches!(argument, Argument::ArrowFunctionExpression(_) | Argument::FunctionExpression(_))
}

/// Whether a host is this machine by its name or number.
fn is_local(host: &str) -> bool {
    if matches!(host, "localhost" | "[::1]" | "::1") {
        return true;
    }
    let parts: Vec<&str> = host.split('.').collect();
    parts.len() == 4 && parts[0] == "127" && parts.iter().all(|part| part.parse::<u8>().is_ok())
}
