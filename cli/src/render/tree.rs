//! `owed graph` for people: an indented tree, limited in depth, each file opened once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{View, count, style, trouble};
use crate::answer::graph::GraphAnswer;

const ROOTS: usize = 15;
const CHILDREN: usize = 20;
/// Steps shown when none are asked for.
const DEPTH: usize = 3;

/// The whole answer. Roots are `from`, or the tests, or whatever nothing points to.
pub(crate) fn tree(answer: &GraphAnswer, from: &[String], depth: Option<usize>, view: View) -> String {
    let mut out = format!(
        "{}, {}\n",
        style::bold(&count(answer.nodes.len(), "node")),
        style::bold(&count(answer.edges.len(), "edge"))
    );
    let kinds: BTreeMap<&str, &str> = answer.nodes.iter().map(|node| (node.id.as_str(), node.kind)).collect();
    let below = children(answer, &kinds);
    let limit = depth.unwrap_or(if view.verbose { usize::MAX } else { DEPTH });
    let mut walk =
        Walk { kinds, below, opened: BTreeSet::new(), limit, cut: false, view, out: String::new() };
    let roots = roots(answer, from);
    let shown = view.shown(roots.len(), ROOTS);
    for root in &roots[..shown] {
        walk.descend(root);
    }
    let (text, cut) = (walk.out, walk.cut);
    out += &text;
    out.extend(view.rest(roots.len(), shown, ""));
    out += &trouble::not_checked(&answer.not_checked, view);
    if cut && !view.quiet {
        let _ = writeln!(
            out,
            "\n{}",
            style::dim(&format!("Deeper: --depth {} | as a picture: --format html > graph.html", limit + 3))
        );
    }
    out
}

/// What each node points to: sources first, then what only its bytes count of. Several
/// edges to one node are one child.
fn children<'a>(answer: &'a GraphAnswer, kinds: &BTreeMap<&str, &str>) -> BTreeMap<&'a str, Vec<Child<'a>>> {
    let mut below: BTreeMap<&str, Vec<Child<'_>>> = BTreeMap::new();
    for edge in &answer.edges {
        let list = below.entry(&edge.from).or_default();
        match list.last_mut().filter(|child| child.id == edge.to) {
            Some(child) if child.kinds.contains(&edge.kind) => {}
            Some(child) => child.kinds.push(edge.kind),
            None => list.push(Child { id: &edge.to, kinds: vec![edge.kind] }),
        }
    }
    for list in below.values_mut() {
        list.sort_by_key(|child| {
            let is_code = matches!(kinds.get(child.id), Some(&"source" | &"test"));
            (!is_code, child.id)
        });
    }
    below
}

/// A node below another, with every way in which it is there.
struct Child<'a> {
    id: &'a str,
    kinds: Vec<&'static str>,
}

fn roots<'a>(answer: &'a GraphAnswer, from: &'a [String]) -> Vec<&'a str> {
    let present = |id: &str| answer.nodes.binary_search_by(|node| node.id.as_str().cmp(id)).is_ok();
    let asked: Vec<&str> = from.iter().map(String::as_str).filter(|id| present(id)).collect();
    if !asked.is_empty() {
        return asked;
    }
    let tests: Vec<&str> =
        answer.nodes.iter().filter(|node| node.kind == "test").map(|node| node.id.as_str()).collect();
    if !tests.is_empty() {
        return tests;
    }
    let targets: BTreeSet<&str> = answer.edges.iter().map(|edge| edge.to.as_str()).collect();
    answer.nodes.iter().map(|node| node.id.as_str()).filter(|id| !targets.contains(id)).collect()
}

struct Walk<'a> {
    kinds: BTreeMap<&'a str, &'a str>,
    below: BTreeMap<&'a str, Vec<Child<'a>>>,
    opened: BTreeSet<&'a str>,
    limit: usize,
    cut: bool,
    view: View,
    out: String,
}

/// A line that still has to be written.
enum Pending<'a> {
    Node { id: &'a str, how: String, depth: usize },
    Rest { left: usize, depth: usize },
}

impl<'a> Walk<'a> {
    /// Writes the tree below `root`; its own stack, because chains may be long.
    fn descend(&mut self, root: &'a str) {
        let mut stack = vec![Pending::Node { id: root, how: String::new(), depth: 0 }];
        while let Some(pending) = stack.pop() {
            match pending {
                Pending::Rest { left, depth } => {
                    let line = format!("… and {left} more (-v shows all)");
                    let _ = writeln!(self.out, "{}{}", indent(depth), style::dim(&line));
                }
                Pending::Node { id, how, depth } => self.line(id, how, depth, &mut stack),
            }
        }
    }

    fn line(&mut self, id: &'a str, how: String, depth: usize, stack: &mut Vec<Pending<'a>>) {
        let children = self.below.get(id).map_or(&[][..], Vec::as_slice);
        let again = !children.is_empty() && !self.opened.insert(id);
        let mut note = how;
        let kind = self.kinds.get(id).copied().unwrap_or("");
        if !matches!(kind, "source" | "test" | "") {
            let _ = write!(note, " [{kind}]");
        }
        if again {
            note += " (see above)";
        } else if depth >= self.limit && !children.is_empty() {
            self.cut = true;
            let _ = write!(note, " (+{})", children.len());
        }
        let name = if depth == 0 { style::bold(id) } else { style::plain(id) };
        let _ = writeln!(self.out, "{}{name}{}", indent(depth), style::dim(&note));
        if again || depth >= self.limit {
            return;
        }
        let shown = self.view.shown(children.len(), CHILDREN);
        if children.len() > shown {
            stack.push(Pending::Rest { left: children.len() - shown, depth: depth + 1 });
        }
        for child in children[..shown].iter().rev() {
            let words: Vec<&str> = child.kinds.iter().copied().filter(|kind| *kind != "static").collect();
            let how = if words.is_empty() { String::new() } else { format!(" {}", words.join(", ")) };
            stack.push(Pending::Node { id: child.id, how, depth: depth + 1 });
        }
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(30))
}
