//! The graph for Graphviz.

use std::fmt::Write as _;

use super::trouble;
use crate::answer::graph::GraphAnswer;

/// A `digraph`. What was not checked stands in it as comments.
pub(crate) fn dot(answer: &GraphAnswer) -> String {
    let mut out = String::from(
        "digraph owed {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
    );
    for file in &answer.not_checked {
        let at = trouble::place(&file.path, file.line);
        let _ = writeln!(out, "  // NOT CHECKED: {} ({})", at.replace(['\n', '\r'], " "), file.reason);
    }
    for node in &answer.nodes {
        let _ = writeln!(out, "  {}{};", text(&node.id), look(node.kind));
    }
    for edge in &answer.edges {
        let line = edge.line.map(|line| format!(":{line}")).unwrap_or_default();
        let label =
            if edge.kind == "static" { String::new() } else { format!(" [label={}]", text(edge.kind)) };
        let _ = writeln!(out, "  {} -> {}{label};{}", text(&edge.from), text(&edge.to), comment(&line));
    }
    out.push_str("}\n");
    out
}

fn comment(line: &str) -> String {
    line.strip_prefix(':').map(|line| format!(" // line {line}")).unwrap_or_default()
}

/// A quoted text; only quotes and backslashes have a meaning in it.
fn text(id: &str) -> String {
    format!("\"{}\"", id.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn look(kind: &str) -> &'static str {
    match kind {
        "test" => " [style=\"rounded,filled\", fillcolor=\"#d9ead3\"]",
        "package" => " [shape=ellipse, color=gray]",
        "data" => " [shape=note]",
        "listing" => " [shape=folder]",
        "absent" => " [style=\"rounded,dashed\", color=gray]",
        "manifest" => " [shape=component]",
        "env" => " [shape=diamond]",
        _ => "",
    }
}
