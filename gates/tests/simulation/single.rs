//! One call from nothing to its outcome, once for each call that it makes of the machine, with
//! one fault at that one.

use std::sync::Arc;

use owed_gates::ledger::{Admission, CallId, Exit, Failure, Options, RunId, Store};
use owed_gates::state::CallState;

use super::disk::SimDisk;
use super::real::{claim, observation, outcome, request};
use super::world::{Fault, Faults, SimHost, World};

/// Puts the fault at each call in turn; gives how many calls there are.
///
/// # Errors
/// What did not hold, and after which fault.
pub(crate) fn fault_at_each_call(fault: Fault) -> Result<u64, String> {
    let mut nth = 0;
    loop {
        nth += 1;
        let world = World::new(nth);
        world.state().faults = Faults { at: Some((nth, fault)), ..Faults::default() };
        let (process, store) = life(&world);
        let seen = whole_call(&store);
        if world.state().calls < nth {
            let completed = seen.acknowledged == Some(CallState::Completed);
            return if completed { Ok(nth - 1) } else { Err(format!("without a fault: {seen:?}")) };
        }
        world.state().faults = Faults::default();
        world.state().end(process);
        let (_, store) = life(&world);
        afterwards(&store, &seen).map_err(|what| format!("{fault:?} at {nth}, {seen:?}: {what}"))?;
    }
}

fn life(world: &Arc<World>) -> (usize, Store) {
    let process = world.spawn();
    let disk = SimDisk { world: Arc::clone(world), process };
    let host = SimHost { world: Arc::clone(world), process };
    (process, Store::on("/p/.owed", Arc::new(disk), Arc::new(host)))
}

/// What the caller saw: the last state that was acknowledged, and whether its command was
/// let go.
#[derive(Debug, Default)]
struct Seen {
    acknowledged: Option<CallState>,
    dispatched: bool,
}

fn run_id() -> RunId {
    RunId::new("run").expect("a plain name")
}

fn whole_call(store: &Store) -> Seen {
    let mut seen = Seen::default();
    let mut steps = || -> Result<(), Failure> {
        let mut run = store.open(&run_id(), claim(), Options::default())?;
        let Admission::New(permit) = run.begin(&request("a", "true"))? else { return Ok(()) };
        seen.acknowledged = Some(CallState::Pending);
        let fresh = run.complete_preflight(permit, outcome(0))?;
        let permit = run.intend(fresh, observation())?;
        let running = run.start(permit, store.host().me())?;
        seen = Seen { acknowledged: Some(CallState::Running), dispatched: true };
        run.complete(running, outcome(5))?;
        seen.acknowledged = Some(CallState::Completed);
        Ok(())
    };
    // What it was refused for is not the question, but what holds afterwards.
    let _ = steps();
    seen
}

fn afterwards(store: &Store, seen: &Seen) -> Result<(), String> {
    let words = |failure: Failure| failure.to_string();
    let mut run = store.open(&run_id(), claim(), Options::default()).map_err(words)?;
    let id = CallId::new("a").expect("a plain id");
    let there = run.history().call(&id).map(|call| call.state());
    if there < seen.acknowledged {
        return Err(format!("{there:?} is there"));
    }
    run.lose_abandoned().map_err(words)?;
    match run.begin(&request("a", "true")) {
        Ok(Admission::New(_)) if there.is_some() || seen.dispatched => Err("granted again".to_owned()),
        Ok(Admission::New(_)) => Ok(()),
        Ok(Admission::Replay(call)) => {
            let completed = call.command.and_then(|command| command.completed);
            let exit = completed.map(|completed| completed.outcome.exit);
            let real = seen.dispatched && exit == Some(Exit::Code(5));
            if real { Ok(()) } else { Err(format!("an outcome that nobody observed: {exit:?}")) }
        }
        Err(failure) if seen.acknowledged == Some(CallState::Completed) => Err(words(failure)),
        Err(_) => Ok(()),
    }
}
