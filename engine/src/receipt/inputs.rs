//! Which inputs a test has: everything its node reaches in the graph, each named once.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::members::Marks;
use crate::graph::{Graph, NodeId, NodeKey};
use crate::opacity::PinName;
use crate::project::{Project, globs};
use crate::resolve::Listing;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// A file of the project, or a path at which none is.
    File(String),
    /// Which files there are.
    Listing(Listing),
    /// Everything below a directory, with contents.
    Below(Listing),
    /// An installed package, with its ecosystem.
    Package(String),
    /// An environment name.
    Environment(String),
    /// Anything else with a name.
    Pin(String),
    /// What the imports of a file led to under a resolution class: known here, so it comes
    /// with its digest.
    Resolution {
        /// The file, with the number of the class when it is not the first.
        name: String,
        /// Of its targets and absent candidates.
        digest: String,
    },
}

/// Inputs of some tests.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Every input of some of the tests, sorted, each once.
    pub all: Vec<Input>,
    /// By place in the question: numbers in [`Inputs::all`], sorted.
    pub of: Vec<Vec<u32>>,
}

/// The inputs of the tests with these numbers (in [`Project::tests`]); `pins` names more of
/// them by number, as the classes found them.
pub fn inputs(project: &Project<'_>, tests: &[usize], pins: &BTreeMap<usize, Vec<PinName>>) -> Inputs {
    let graph = &project.graph;
    let nodes: Vec<NodeId> = tests
        .iter()
        .map(|&number| {
            let number = u32::try_from(number).expect("test numbers were made from u32");
            graph.node(&NodeKey::Test(number)).expect("every test has a node")
        })
        .collect();
    let closures = graph.closures(&nodes);
    let mut is_used = vec![false; graph.size().0];
    for node in closures.iter().flatten() {
        is_used[node.index()] = true;
    }
    let of_node = |(at, used): (usize, &bool)| used.then(|| of_node(graph, NodeId::new(at)));
    let named: Vec<Option<Vec<Input>>> = is_used.par_iter().enumerate().map(of_node).collect();
    let pinned: BTreeMap<usize, Vec<Input>> =
        pins.iter().map(|(test, pins)| (*test, pins.iter().map(of_pin).collect())).collect();
    let declared = declared(project, tests);
    let mut all: Vec<Input> =
        named.iter().flatten().chain(pinned.values()).chain(declared.values()).flatten().cloned().collect();
    all.par_sort_unstable();
    all.dedup();
    let number = |input: &Input| {
        let at = all.binary_search(input).expect("it was put in above");
        u32::try_from(at).expect("there are fewer than four thousand million inputs")
    };
    let numbers_of = |inputs: &Vec<Input>| inputs.iter().map(number).collect::<Vec<u32>>();
    let numbers: Vec<Vec<u32>> =
        named.par_iter().map(|inputs| inputs.as_ref().map(numbers_of).unwrap_or_default()).collect();
    let of = tests
        .par_iter()
        .zip(&closures)
        .map(|(test, closure)| {
            // Tests share most of what they reach: marking is cheaper than sorting.
            let mut marks = Marks::new(all.len());
            marks.set(closure.iter().flat_map(|node| &numbers[node.index()]).copied());
            marks.set(pinned.get(test).into_iter().flatten().map(number));
            marks.set(declared.get(test).into_iter().flatten().map(number));
            marks.numbers()
        })
        .collect();
    Inputs { all, of }
}

/// What the owner has declared for tests: each file of the inventory that matches. One that
/// appears or vanishes makes another list.
fn declared(project: &Project<'_>, tests: &[usize]) -> BTreeMap<usize, Vec<Input>> {
    let mut found: BTreeMap<usize, Vec<Input>> = BTreeMap::new();
    for input in &project.settings.inputs {
        let (of, matching) = (globs(&input.tests), globs(&input.files));
        let files: Vec<Input> =
            project.files.iter().filter(|file| matching.is_match(file)).cloned().map(Input::File).collect();
        for &test in tests {
            if of.is_match(project.test_path(project.tests[test])) {
                found.entry(test).or_default().extend(files.iter().cloned());
            }
        }
    }
    found
}

fn of_node(graph: &Graph, node: NodeId) -> Vec<Input> {
    match graph.key(node) {
        NodeKey::Test(_) | NodeKey::Suite(_) | NodeKey::Sources { .. } => Vec::new(),
        NodeKey::Source { class, path } => {
            let name = if *class == 0 { path.to_string() } else { format!("{path} ({class})") };
            vec![
                Input::File(path.to_string()),
                Input::Resolution { name, digest: graph.resolution_digest(node) },
            ]
        }
        NodeKey::Data(path) | NodeKey::Manifest(path) => vec![Input::File(path.to_string())],
        NodeKey::Listing { listing, contents: false } => vec![Input::Listing(listing.clone())],
        NodeKey::Listing { listing, contents: true } => vec![Input::Below(listing.clone())],
        NodeKey::Package(name) => vec![Input::Package(name.to_string())],
        NodeKey::Env(name) => vec![Input::Environment(name.to_string())],
    }
}

fn of_pin(pin: &PinName) -> Input {
    match pin {
        PinName::Env(name) => Input::Environment(name.clone()),
        PinName::File(path) => Input::File(path.clone()),
        PinName::Listing { dir, glob } => Input::Listing(Listing { dir: dir.clone(), glob: glob.clone() }),
        PinName::Directory(dir) => Input::Below(Listing { dir: dir.clone(), glob: "**".to_owned() }),
        PinName::Named(name) => Input::Pin(name.clone()),
    }
}
