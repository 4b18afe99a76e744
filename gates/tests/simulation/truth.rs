//! What really happened, kept outside the machine, and what must therefore hold.

use std::collections::BTreeMap;

use owed_gates::ledger::{Call, CallId, Digest, Exit, History};
use owed_gates::state::{CallState, Phase};

/// What really happened to one half of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// How often it was let go.
    pub(crate) dispatched: u32,
    /// The last state that the ledger acknowledged.
    pub(crate) acknowledged: Option<CallState>,
    /// States that were asked for and may be durable without having been acknowledged.
    pub(crate) attempted: Vec<CallState>,
    /// The exit codes that an executor really gave.
    pub(crate) exits: Vec<i32>,
    /// The process of the machine that runs it.
    pub(crate) child: Option<usize>,
}

impl Half {
    /// Whether it was let go and nobody ever tried to say how it ended.
    fn open(&self) -> bool {
        let ends = [CallState::Completed, CallState::NotStarted, CallState::Settled];
        self.dispatched > 0 && !ends.iter().any(|end| self.attempted.contains(end))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) payload: Digest,
    pub(crate) command: Digest,
    pub(crate) halves: [Half; 2],
}

/// What really happened in one schedule.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) calls: BTreeMap<(String, CallId), Known>,
    /// Records acknowledged, per run.
    pub(crate) records: BTreeMap<String, u64>,
    /// Bytes of a file were changed behind the ledger's back: held is the right answer.
    pub(crate) corrupted: bool,
    /// The process that has the lease.
    pub(crate) holder: Option<usize>,
    pub(crate) violations: Vec<String>,
    pub(crate) dispatches: u64,
    pub(crate) replays: u64,
    pub(crate) held: u64,
    pub(crate) settled: u64,
    pub(crate) suppressed: u64,
}

pub(crate) fn index(phase: Phase) -> usize {
    match phase {
        Phase::Preflight => 0,
        Phase::Command => 1,
    }
}

impl Truth {
    pub(crate) fn half(&mut self, run: &str, call: &CallId, phase: Phase) -> &mut Half {
        let known = self.calls.get_mut(&(run.to_owned(), call.clone()));
        &mut known.expect("a step follows its intent").halves[index(phase)]
    }

    pub(crate) fn attempt(&mut self, run: &str, call: &CallId, phase: Phase, state: CallState) {
        self.half(run, call, phase).attempted.push(state);
    }

    pub(crate) fn acknowledge(&mut self, run: &str, call: &CallId, phase: Phase, state: CallState) {
        self.half(run, call, phase).acknowledged = Some(state);
    }

    /// An intent of a call was granted.
    pub(crate) fn granted(&mut self, run: &str, call: &CallId, payload: Digest, command: Digest) {
        if self.calls.contains_key(&(run.to_owned(), call.clone())) {
            self.violation(format!("{call} was granted twice"));
        }
        let open: Vec<String> = self
            .calls
            .iter()
            .filter(|((other, _), known)| other == run && known.command == command)
            .filter(|(_, known)| known.halves.iter().any(Half::open))
            .map(|((_, id), _)| id.to_string())
            .collect();
        if !open.is_empty() {
            self.violation(format!("{call} was granted while {open:?} had the same command open"));
        }
        let known = Known { payload, command, halves: Default::default() };
        self.calls.entry((run.to_owned(), call.clone())).or_insert(known);
        self.acknowledge(run, call, Phase::Preflight, CallState::Pending);
    }

    /// A half of a call is let go.
    pub(crate) fn dispatch(&mut self, run: &str, call: &CallId, phase: Phase) {
        self.dispatches += 1;
        let half = self.half(run, call, phase);
        half.dispatched += 1;
        if half.dispatched > 1 {
            self.violation(format!("the {} of {call} was dispatched twice", phase.word()));
        }
    }

    pub(crate) fn violation(&mut self, what: String) {
        self.violations.push(what);
    }

    /// A saved result was given for a request.
    pub(crate) fn replayed(&mut self, run: &str, call: &Call, payload: Digest) {
        self.replays += 1;
        if call.request.payload_hash != payload {
            self.violation("another payload was answered".to_owned());
        }
        self.believes(run, call);
    }

    /// Whether what the ledger says of a call can be true.
    fn believes(&mut self, run: &str, call: &Call) {
        let id = &call.request.call;
        let halves = self.calls.get(&(run.to_owned(), id.clone())).map(|known| known.halves.clone());
        let halves = halves.unwrap_or_default();
        for phase in [Phase::Preflight, Phase::Command] {
            let Some(record) = call.phase(phase) else { continue };
            let half = &halves[index(phase)];
            match record.state {
                CallState::Completed => {
                    let exit = record.completed.as_ref().map(|completed| completed.outcome.exit);
                    let real = half.exits.iter().any(|code| exit == Some(Exit::Code(*code)));
                    if !real {
                        self.violation(format!("{id} has an outcome that nobody observed: {exit:?}"));
                    }
                }
                CallState::NotStarted if half.dispatched > 0 => {
                    self.violation(format!("{id} was dispatched and is said not to have started"));
                }
                _ => {}
            }
        }
    }

    /// Whether a run's history holds everything that was acknowledged, and nothing made up.
    pub(crate) fn holds(&mut self, run: &str, history: &History) {
        let acknowledged = self.records.get(run).copied().unwrap_or(0);
        if history.records() < acknowledged {
            let there = history.records();
            self.violation(format!("{acknowledged} records were acknowledged, {there} are there"));
        }
        let known: Vec<(CallId, Known)> = self
            .calls
            .iter()
            .filter(|((other, _), _)| other == run)
            .map(|((_, id), known)| (id.clone(), known.clone()))
            .collect();
        for (id, known) in known {
            let Some(call) = history.call(&id) else {
                self.violation(format!("{id} was acknowledged and is not there"));
                continue;
            };
            if call.request.payload_hash != known.payload {
                self.violation(format!("{id} has another payload"));
            }
            for phase in [Phase::Preflight, Phase::Command] {
                let half = &known.halves[index(phase)];
                let there = call.phase(phase).map(|record| record.state);
                if !follows(half, there) {
                    let acknowledged = half.acknowledged;
                    let word = phase.word();
                    self.violation(format!(
                        "the {word} of {id} was acknowledged as {acknowledged:?} and is {there:?}"
                    ));
                }
            }
        }
        for call in history.calls() {
            self.believes(run, call);
        }
    }
}

/// Whether a state can be what an acknowledged one has become.
fn follows(half: &Half, there: Option<CallState>) -> bool {
    use CallState as S;
    let tried = |state| half.attempted.contains(&state);
    match (half.acknowledged, there) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(S::Completed), Some(now)) => now == S::Completed,
        (Some(S::NotStarted), Some(now)) => now == S::NotStarted,
        (Some(S::Settled), Some(now)) => now == S::Settled,
        (Some(S::Unknown), Some(now)) => now == S::Unknown || (now == S::Settled && tried(now)),
        (Some(S::Running), Some(S::Pending | S::NotStarted)) => false,
        (Some(S::Pending | S::Running), Some(now)) => match now {
            // Whoever opens a run may mark what is abandoned.
            S::Pending | S::Running | S::Unknown => true,
            end => tried(end),
        },
    }
}
