//! The graph for Mermaid, which Markdown viewers draw.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::trouble;
use crate::answer::graph::GraphAnswer;

/// A `flowchart`. What was not checked stands in it as comments.
pub(crate) fn mermaid(answer: &GraphAnswer) -> String {
    let mut out = String::from("flowchart LR\n");
    for file in &answer.not_checked {
        let at = trouble::place(&file.path, file.line);
        let _ = writeln!(out, "  %% NOT CHECKED: {} ({})", at.replace(['\n', '\r'], " "), file.reason);
    }
    // Mermaid's own names are narrow; paths go into the labels.
    let numbers: BTreeMap<&str, usize> =
        answer.nodes.iter().enumerate().map(|(number, node)| (node.id.as_str(), number)).collect();
    for (number, node) in answer.nodes.iter().enumerate() {
        let (open, close) = brackets(node.kind);
        let _ = writeln!(out, "  n{number}{open}\"{}\"{close}", label(&node.id));
    }
    for edge in &answer.edges {
        let (Some(from), Some(to)) = (numbers.get(edge.from.as_str()), numbers.get(edge.to.as_str())) else {
            continue;
        };
        let arrow = match edge.kind {
            "static" => "-->".to_owned(),
            kind => format!("-- {kind} -->"),
        };
        let _ = writeln!(out, "  n{from} {arrow} n{to}");
    }
    let tests: Vec<String> = answer
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.kind == "test")
        .map(|(number, _)| format!("n{number}"))
        .collect();
    if !tests.is_empty() {
        out.push_str("  classDef test fill:#d9ead3,stroke:#6aa84f,color:#000\n");
        let _ = writeln!(out, "  class {} test", tests.join(","));
    }
    out
}

fn label(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn brackets(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "package" => ("([", "])"),
        "data" | "listing" => ("[/", "/]"),
        "absent" | "env" => ("{{", "}}"),
        _ => ("[", "]"),
    }
}
