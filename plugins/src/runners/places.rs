//! From the places where a runner is started to its projects: each place's own, unless
//! another place lists it, and each test once where places lie in one another.
//!
//! What a place is, how its projects are read and which of them list another place is the
//! runner's; nothing here knows a configuration.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::problem::Problem;
use owed_engine::runner::{Discovery, RunnerProject, View};
use rayon::prelude::*;

use super::claims::Framework;
use super::manifest::Packages;
use super::outcome::{self, unlisted};

/// What a place says about the tests that it may have.
pub(super) struct Extent<'p> {
    /// The working directory.
    pub(super) dir: &'p str,
    /// Whether only files of its own package are its tests.
    pub(super) own_only: bool,
    /// Places below it that list their own tests.
    pub(super) nested: &'p [String],
}

/// A place where a runner is started.
pub(super) trait Place: Sync + PartialEq {
    /// What it says about its tests.
    fn extent(&self) -> Extent<'_>;
}

/// The projects of all places, which go by their numbers. `lists` gives the places that one
/// place lists; `read` its settled projects with all of their tests.
pub(super) fn projects<P: Place>(
    view: &View<'_>,
    packages: &Packages,
    (name, framework): (&str, Framework),
    (places, problems): (&[P], Vec<Problem>),
    lists: impl Fn(usize) -> Vec<usize> + Sync,
    read: impl Fn(usize) -> Vec<RunnerProject> + Sync,
) -> Discovery {
    let mut discovery = Discovery { projects: Vec::new(), problems };
    let listed: Vec<(usize, usize)> = (0..places.len())
        .into_par_iter()
        .flat_map_iter(|by| lists(by).into_iter().map(move |place| (by, place)))
        .collect();
    let listed_by_another =
        |number: usize| listed.iter().any(|(by, place)| *place == number && places[*by] != places[number]);
    let numbers: Vec<usize> = (0..places.len()).filter(|number| !listed_by_another(*number)).collect();
    let found: Vec<(usize, RunnerProject)> = numbers
        .par_iter()
        .flat_map_iter(|&number| read(number).into_iter().map(move |project| (number, project)))
        .map(|(number, mut project)| {
            project.resolve.types_erased = outcome::erases_types(&project);
            (number, project)
        })
        .collect();
    let below: Vec<(&str, BTreeSet<String>)> = found
        .iter()
        .map(|(number, p)| (places[*number].extent().dir, p.tests.iter().map(|t| t.path.clone()).collect()))
        .collect();
    for (number, mut project) in found {
        let extent = places[number].extent();
        // What a place below lists for itself is not run from here, when no script does.
        let theirs = below.iter().filter(|(dir, _)| extent.nested.iter().any(|nested| nested == dir));
        let theirs: BTreeSet<&String> = theirs.flat_map(|(_, tests)| tests).collect();
        project.tests.retain(|t| !theirs.contains(&t.path));
        if extent.own_only {
            let own = |file: &str| packages.nearest(path::dirname(file)).is_some_and(|p| p.dir == extent.dir);
            project.tests.retain(|t| own(&t.path));
        }
        discovery.projects.push(project);
    }
    let missing = unlisted(view, packages, name, framework, &discovery.projects);
    discovery.problems.extend(missing);
    discovery.projects.retain(outcome::says_something);
    discovery.projects.sort_by(|a, b| (&a.root, &a.name).cmp(&(&b.root, &b.name)));
    discovery
}
