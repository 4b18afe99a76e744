//! `owed record` when somebody ends it: signals, kills, and what is left behind.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Project, Ran, binary};
use crate::record::{QUIET, answer, count, json, project};

/// Starts a recorded command and waits until it has written `begun`.
fn start(project: &Project, arguments: &[&str], command: &str) -> Child {
    let all =
        [&["record", "run", "--run", "r", "--purpose", "verification"], QUIET, arguments, &["--", command]];
    let child = Command::new(binary())
        .args(all.concat())
        .current_dir(project.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&project.path().join("begun"));
    child
}

fn wait_for(file: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(file).unwrap_or_default().is_empty() {
        assert!(Instant::now() < until, "{} was not written", file.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

fn runs(project: &Project, file: &str) -> bool {
    let pid = std::fs::read_to_string(project.path().join(file)).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Runs until `go` is there, with a daemon beside it.
const SLOW: &str = "echo x >> count; echo $$ > pid; setsid sleep 600 & echo $! > deep; echo x > begun; \
                    test -f go || sleep 600";

#[test]
fn killed_midway_is_unknown_and_suppressed_until_it_is_settled() {
    let project = project();
    let mut child = start(&project, &["--id", "c"], SLOW);
    send("-KILL", child.id());
    child.wait().unwrap();
    // The same id again: never repeated. Whoever was left has ended the command and all it
    // started, and said so in its exit record.
    let (code, same) = json(&project, &["--id", "c"], SLOW);
    assert_eq!(code, 75, "{same:#}");
    assert_eq!(same["state"], "unknown");
    assert_eq!(same["reason"], "owner_lost");
    assert_eq!(same["refusal"]["code"], "unresolved");
    assert!(!runs(&project, "pid") && !runs(&project, "deep"));
    assert_eq!(count(&project), 1);

    project.write("go", "x");
    let (code, other) = json(&project, &["--id", "d"], SLOW);
    assert_eq!((code, count(&project)), (2, 1));
    assert_eq!(other["refusal"]["code"], "suppressed");
    assert_eq!(other["open"], serde_json::json!(["c"]));
    assert_eq!(other["state"], "not_started");
    let (code, open) = json(&project, &["--id", "e"], "true");
    assert_eq!((code, &open["open"]), (0, &serde_json::json!(["c"])), "other commands go on, and are told");

    let settled = project.owed(&["record", "settle", "c", "--run", "r", "--format", "json"]);
    assert_eq!(settled.code, 0, "{}", settled.out);
    let settled = answer(&settled);
    assert_eq!((&settled["state"], &settled["settled"]), (&"unknown".into(), &true.into()));
    let (code, retired) = json(&project, &["--id", "c"], SLOW);
    assert_eq!((code, &retired["refusal"]["code"]), (75, &"retired".into()));
    let (code, again) = json(&project, &["--id", "d"], SLOW);
    assert_eq!((code, count(&project)), (0, 2), "{again:#}");
    project.owed(&["record", "settle", "c", "--run", "r"]).says(&["refused", "nothing_to_settle"]);
}

#[test]
fn signals_to_owed_end_the_group_and_are_recorded() {
    for signal in ["-TERM", "-INT"] {
        let project = project();
        let child = start(&project, &["--id", "c", "--format", "json"], SLOW);
        send(signal, child.id());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 75, "{}", ran.err);
        let answer = answer(&ran);
        assert_eq!(answer["state"], "unknown", "{answer:#}");
        assert_eq!((&answer["reason"], &answer["abort"]), (&"interrupted".into(), &"call_signal".into()));
        assert!(!runs(&project, "pid") && !runs(&project, "deep"));
        // It was recorded, so that looking needs nobody's memory.
        let show = project.owed(&["record", "show", "c", "--run", "r", "--format", "json"]);
        assert_eq!(show.code, 75);
        assert_eq!(crate::record::answer(&show)["reason"], "interrupted");
    }
}

#[test]
fn killed_at_any_moment_a_command_runs_at_most_once_an_id() {
    let project = project();
    let command = |n: usize| format!("echo {n} >> count; sleep 0.1 #{n}");
    for n in 0..12 {
        let id = format!("c{n}");
        let all = [&["record", "run", "--run", "r", "--purpose", "baseline", "--id", &id], QUIET];
        let mut child = Command::new(binary())
            .args(all.concat())
            .args(["--", &command(n)])
            .current_dir(project.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(n as u64 * 40));
        let _ = child.kill();
        let killed = child.wait().unwrap();
        let executed = |text: &str| text.lines().filter(|line| *line == n.to_string()).count();
        let all = [
            &["record", "run", "--run", "r", "--purpose", "baseline", "--id", &id, "--format", "json"],
            QUIET,
        ];
        let ran = project.owed(&[&all.concat()[..], &["--", &command(n)]].concat());
        let answer = answer(&ran);
        let times = executed(&std::fs::read_to_string(project.path().join("count")).unwrap_or_default());
        assert!(times <= 1, "{n}: {killed} {answer:#}");
        match (answer["state"].as_str().unwrap(), answer["refusal"].is_null()) {
            // Either the first one got through, or nothing of it was written down.
            ("completed", true) => assert_eq!((ran.code, times), (0, 1), "{answer:#}"),
            ("not_started", true) => assert_eq!(times, 0, "{answer:#}"),
            _ => {
                assert!([2, 75].contains(&ran.code), "{answer:#}");
                let code = answer["refusal"]["code"].as_str().unwrap();
                assert!(["unresolved", "metadata_revalidation_required"].contains(&code), "{answer:#}");
                if code == "unresolved" {
                    let settled = project.owed(&["record", "settle", &id, "--run", "r"]);
                    assert_eq!(settled.code, 0, "{}", settled.out);
                }
            }
        }
    }
}

#[test]
fn a22_what_outlives_owed_and_its_supervisor_is_not_settled_before_it_has_ended() {
    let project = project();
    let mut child = start(&project, &["--id", "c"], SLOW);
    let supervisor = parent_of(&std::fs::read_to_string(project.path().join("pid")).unwrap());
    assert_eq!(parent_of(&supervisor.to_string()), child.id(), "the supervisor is a child of owed");
    // Neither of them can tidy up: the one is stopped while the other is killed.
    send("-STOP", supervisor);
    send("-KILL", child.id());
    child.wait().unwrap();
    send("-KILL", supervisor);
    let settle = || project.owed(&["record", "settle", "c", "--run", "r", "--format", "json"]);
    for _ in 0..2 {
        let ran = settle();
        assert_eq!(ran.code, 75, "{}", ran.out);
        assert_eq!(answer(&ran)["refusal"]["code"], "still_runs");
        let (code, other) = json(&project, &["--id", "d"], SLOW);
        assert_eq!((code, &other["refusal"]["code"]), (2, &"suppressed".into()));
        assert!(runs(&project, "pid") && runs(&project, "deep"), "settling signals nobody");
    }
    for file in ["pid", "deep"] {
        let pid = std::fs::read_to_string(project.path().join(file)).unwrap();
        send("-KILL", pid.trim().parse().unwrap());
    }
    // The shell's own child has the same temporary directory, and so is found.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let ran = settle();
        if ran.code == 0 {
            assert_eq!(answer(&ran)["settled"], true);
            break;
        }
        assert!(Instant::now() < until, "{}", ran.out);
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let root = project.path().canonicalize().unwrap();
            let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            if cwd == root && String::from_utf8_lossy(&environment).contains("owed-") {
                send("-KILL", entry.file_name().to_str().unwrap().parse().unwrap());
            }
        }
    }
}

fn parent_of(pid: &str) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap();
    status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap()
}
