//! Many real processes at one project. A test starts its own program again, and an
//! environment variable says that it is a child.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use owed_gates::ledger::{Admission, Exit, Options, RunId, Store};
use owed_gates::state::CallState;

use super::{Project, call_id, run_id};
use crate::simulation::real::{child, claim, kill_nine, observation, one_call, outcome, request};

const CHILD: &str = "OWED_TEST_CHILD";

/// What this process is to do as a child: the state directory and a number.
fn as_child() -> Option<(PathBuf, u64)> {
    let told = std::env::var_os(CHILD)?.into_string().ok()?;
    let (number, state) = told.split_once(' ')?;
    Some((state.into(), number.parse().ok()?))
}

/// The test of this name, again, as a child.
fn again(test: &str, project: &Project, number: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("ledger::processes::{test}"), "--nocapture"]);
    command.env(CHILD, format!("{number} {}", project.state().display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

#[test]
fn sixty_four_processes_append_to_one_project_and_nothing_is_lost() {
    const PROCESSES: u64 = 64;
    if let Some((state, number)) = as_child() {
        let run = RunId::new(format!("run{}", number % 4)).unwrap();
        let store = Store::at(state);
        let name = format!("call{number}");
        // A run has room for a few at once; the others are told, and come again.
        loop {
            match one_call(&store, &run, &name, 1, &|_| {}) {
                Ok(state) => return assert_eq!(state, CallState::Completed),
                Err(failure) => assert_eq!(failure.code(), "bytes_full"),
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    let project = Project::new();
    let name = "sixty_four_processes_append_to_one_project_and_nothing_is_lost";
    let children: Vec<Child> =
        (0..PROCESSES).map(|nth| again(name, &project, nth).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut seen = 0;
    for nth in 0..4 {
        let run = RunId::new(format!("run{nth}")).unwrap();
        let history = project.store.inspect(&run).unwrap().history;
        let calls = history.calls();
        // Each record was checked against the one before when it was read; here, that
        // everybody's calls are there, in one order, each complete.
        assert!(calls.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        assert!(calls.iter().all(|call| call.state() == CallState::Completed));
        let notes = history.refused().len() as u64;
        assert_eq!(history.records(), 2 + 5 * calls.len() as u64 + notes);
        seen += calls.len();
    }
    assert_eq!(seen, PROCESSES as usize);
}

#[test]
fn killing_at_any_moment_loses_no_acknowledged_outcome_and_dispatches_nothing_twice() {
    if let Some((state, seed)) = as_child() {
        return child(&state, seed);
    }
    let project = Project::new();
    let name = "killing_at_any_moment_loses_no_acknowledged_outcome_and_dispatches_nothing_twice";
    let killed = kill_nine(project.state(), 12, 7, &|seed| again(name, &project, seed)).unwrap();
    assert_eq!(killed.violations, Vec::<String>::new());
    assert_eq!(killed.kills, 24);
    assert!(killed.acknowledged > 24, "{killed:?}");
}

#[test]
fn a14_simultaneous_duplicates_execute_once() {
    if let Some((state, number)) = as_child() {
        let store = Store::at(&state);
        let wait = std::time::Duration::from_secs(60);
        let mut run = store.open(&run_id(), claim(), Options::default()).unwrap();
        let lease = store.call_lease(&run_id(), &call_id("a"), wait).unwrap();
        let code = match run.begin(&request("a", "true")).unwrap() {
            Admission::New(permit) => {
                let marks = state.join("executed");
                let mut file = std::fs::OpenOptions::new().append(true).create(true).open(marks).unwrap();
                std::io::Write::write_all(&mut file, b"x").unwrap();
                let fresh = run.complete_preflight(permit, outcome(0)).unwrap();
                let permit = run.intend(fresh, observation()).unwrap();
                let running = run.start(permit, store.host().me()).unwrap();
                run.complete(running, outcome(number as i32)).unwrap()
            }
            Admission::Replay(call) => *call,
        };
        drop(lease);
        let exit = code.command.unwrap().completed.unwrap().outcome.exit;
        let Exit::Code(code) = exit else { panic!("{exit:?}") };
        std::fs::write(state.join(format!("answer{number}")), code.to_string()).unwrap();
        return;
    }
    let project = Project::new();
    let name = "a14_simultaneous_duplicates_execute_once";
    let children: Vec<Child> = (1..9).map(|nth| again(name, &project, nth).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(std::fs::read(project.state().join("executed")).unwrap(), b"x");
    let answers: Vec<String> = (1..9)
        .map(|nth| std::fs::read_to_string(project.state().join(format!("answer{nth}"))).unwrap())
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}
