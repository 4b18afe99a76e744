//! A real checkout instead of a generated project: it is changed in place and restored, so it
//! must be a copy that nobody needs. Its runner is pytest when it has a virtual environment of
//! its own, else vitest.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use fastrand::Rng;

use crate::mutate::{self, Done};
use crate::tally::Tally;
use crate::world::{Kind, World};
use crate::{Args, Known, Session};

/// Changes a checkout at random and checks each reuse.
pub(crate) fn fuzz(session: &Session, project: &Path, args: &Args, tally: &mut Tally) -> Result<()> {
    ensure!(project.join(".git").exists(), "{} is no checkout", project.display());
    let kind = if project.join(".venv").is_dir() { Kind::Pytest } else { Kind::Vitest };
    let mut rng = Rng::with_seed(args.seed);
    let mut world = World::adopt(kind, project, &session.machine)?;
    let (mut known, mut last) = (Known::new(), BTreeMap::new());
    let mut history: Vec<Done> = Vec::new();
    let mut step = 0;
    while tally.decisions < args.decisions && step <= args.steps {
        let mut done = Vec::new();
        if step > 0 {
            if rng.bool() {
                world.restore()?;
                history.push(Done { kind: "everything restored", what: String::new() });
            }
            done.push(mutate::mutate(&mut world, mutate::FETCHED, &session.machine, &mut rng)?);
        }
        let kinds: Vec<&'static str> = done.iter().map(|done| done.kind).collect();
        history.extend(done);
        let label = format!("--project {} --seed {} step {step}", project.display(), args.seed);
        session.step(&world, &session.dir, (&mut known, &mut last), &kinds, &label, &history, tally)?;
        let reused: u64 = tally.reused.values().map(|[_, reused]| reused).sum();
        eprintln!("step {step}: {} decisions, {reused} reuses, {} wrong", tally.decisions, tally.wrong.len());
        step += 1;
    }
    world.restore()
}
