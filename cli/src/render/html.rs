//! The graph as one self-contained page: a layered SVG picture, a search field, and
//! the way up and down from a node on a click. Nothing is loaded from anywhere.

use std::fmt::Write as _;

use super::layout::layout;
use super::{style, trouble};
use crate::answer::graph::GraphAnswer;

const ROW: usize = 26;
const BOX: usize = 20;
const GAP: usize = 70;
const MARGIN: usize = 16;
const CHAR: usize = 7;

/// The whole page.
pub(crate) fn html(answer: &GraphAnswer) -> String {
    let mut page = String::with_capacity(answer.nodes.len() * 200 + 8000);
    page.push_str(include_str!("graph_head.html"));
    let _ = writeln!(
        page,
        "<header><h1>owed graph</h1><input id=\"search\" type=\"search\" placeholder=\"search a path\" \
         aria-label=\"search a path\" autofocus><output id=\"said\">{} nodes, {} edges</output></header>",
        answer.nodes.len(),
        answer.edges.len()
    );
    trouble(&mut page, answer);
    picture(&mut page, answer);
    page.push_str(include_str!("graph_tail.html"));
    page
}

fn trouble(page: &mut String, answer: &GraphAnswer) {
    if answer.not_checked.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<details class=\"trouble\"><summary>NOT CHECKED: {} (edges out of these may be missing)</summary><ul>",
        super::count(answer.not_checked.len(), "file")
    );
    for file in &answer.not_checked {
        let _ = write!(page, "<li>{} ({})</li>", text(&trouble::place(&file.path, file.line)), file.reason);
    }
    page.push_str("</ul></details>\n");
}

fn picture(page: &mut String, answer: &GraphAnswer) {
    let layout = layout(answer);
    let widths: Vec<usize> = layout
        .columns
        .iter()
        .map(|column| {
            let widest = column.iter().map(|&node| style::width(&answer.nodes[node].id)).max();
            widest.unwrap_or(0) * CHAR + 16
        })
        .collect();
    let left: Vec<usize> = widths
        .iter()
        .scan(MARGIN, |x, width| {
            let at = *x;
            *x += width + GAP;
            Some(at)
        })
        .collect();
    let wide = left.last().zip(widths.last()).map_or(0, |(x, width)| x + width) + GAP / 2 + MARGIN;
    let rows = layout.columns.iter().map(Vec::len).max().unwrap_or(0);
    let high = rows * ROW + 2 * MARGIN;
    // Short columns stand in the middle, so that edges do not all run upwards.
    let top = |node: usize| {
        let column = &layout.columns[layout.column[node]];
        MARGIN + (rows - column.len()) * ROW / 2 + layout.place[node] * ROW
    };
    let _ = writeln!(
        page,
        "<main><svg id=\"graph\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\" aria-label=\"dependency graph\">\n<g fill=\"none\">"
    );
    for (edge, ends) in answer.edges.iter().zip(&layout.edges) {
        let Some((from, to)) = *ends else { continue };
        let (a, b) = (layout.column[from], layout.column[to]);
        let (x1, y1) = (left[a] + widths[a], top(from) + BOX / 2);
        // Backwards and within a column, an edge leaves and arrives on the right side.
        let (x2, bend1, bend2) = if b > a {
            (left[b], x1 + GAP / 2, left[b] - GAP / 2)
        } else {
            let x2 = left[b] + widths[b];
            (x2, x1 + GAP / 2, x2 + GAP / 2)
        };
        let y2 = top(to) + BOX / 2;
        let line = edge.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let _ = writeln!(
            page,
            "<path class=\"edge\" data-from=\"{from}\" data-to=\"{to}\" \
             d=\"M{x1} {y1}C{bend1} {y1} {bend2} {y2} {x2} {y2}\"><title>{} -> {} ({}{line})</title></path>",
            text(&edge.from),
            text(&edge.to),
            text(edge.kind)
        );
    }
    page.push_str("</g>\n");
    for (number, node) in answer.nodes.iter().enumerate() {
        let column = layout.column[number];
        let (x, y) = (left[column], top(number));
        let _ = writeln!(
            page,
            "<g class=\"node {}\" data-node=\"{number}\" tabindex=\"0\"><rect x=\"{x}\" y=\"{y}\" width=\"{}\" \
             height=\"{BOX}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{}</text><title>{} ({})</title></g>",
            text(node.kind),
            widths[column],
            x + 8,
            y + 14,
            text(&node.id),
            text(&node.id),
            text(node.kind)
        );
    }
    page.push_str("</svg></main>\n");
}

/// Text that no browser takes for markup.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in style::plain(raw).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
