//! `owed run` beside others: the queue, the lanes and `owed status`, with several processes
//! of the binary and the real runner of node. The rest of these rows is tested in the gates,
//! between processes that hold lanes and write requests.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Project, Ran, binary, fields, owed_in, texts};
use crate::schema;

/// A test that says that it has begun, and ends when `go` is there.
const SLOW: &str = "import { appendFileSync, existsSync, writeFileSync } from \"node:fs\";
import test from \"node:test\";
import { a } from \"./a.js\";

test(\"slow\", async () => {
  writeFileSync(\"began\", String(process.pid) + a);
  while (!existsSync(\"go\")) await new Promise((done) => setTimeout(done, 10));
  appendFileSync(\"count\", \"x\");
});
";

const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
    ),
    (".gitignore", "began\ngo\ncount\n.state/\n"),
    ("src/a.js", "export const a = 1;\n"),
    ("src/b.js", "export const b = 1;\n"),
    ("src/slow.test.js", SLOW),
    (
        "src/b.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\nimport { b } from \"./b.js\";\n\ntest(\"b\", () => assert.ok(b));\n",
    ),
];

fn project() -> Project {
    Project::new(FILES)
}

/// With a state directory of the project's own, so that tests do not meet.
fn command(project: &Project, state: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .current_dir(project.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn state(project: &Project) -> std::path::PathBuf {
    project.path().join(".state")
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    command(project, &state(project), &[arguments, &["--format", "json"]].concat()).spawn().unwrap()
}

/// Starts a run and waits until its slow test has begun.
fn begun(project: &Project, arguments: &[&str]) -> Child {
    let child = start(project, arguments);
    until(|| project.path().join("began").exists());
    child
}

fn until(mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !is() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn go(project: &Project) {
    project.write("go", "x");
}

/// The answer of a run, whatever its code.
fn answer(ran: &Ran) -> Value {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err));
    schema::check(answer["schema"].as_str().unwrap(), &answer);
    answer
}

fn end(child: Child) -> (i32, Value) {
    let ran = Ran::from(child.wait_with_output().unwrap());
    (ran.code, answer(&ran))
}

fn run(project: &Project, arguments: &[&str]) -> (i32, Value) {
    end(start(project, &[&["run"], arguments].concat()))
}

fn status(project: &Project) -> Value {
    let (code, status) = end(start(project, &["status"]));
    assert_eq!(code, 0);
    status
}

/// How often the slow test came to its end.
fn count(project: &Project) -> usize {
    std::fs::read_to_string(project.path().join("count")).unwrap_or_default().len()
}

fn reasons(answer: &Value) -> Vec<&str> {
    fields(&answer["no_verdict"], "reason")
}

fn outcome<'a>(answer: &'a Value, path: &str) -> &'a str {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .find(|result| result["path"] == path)
        .map_or("", |result| result["outcome"].as_str().unwrap())
}

#[test]
fn c01_what_differs_from_the_base_is_owed_and_what_was_put_off_as_well() {
    let project = project();
    go(&project);
    for (path, text) in [("src/staged.js", "1;\n"), ("src/gone.js", "1;\n")] {
        project.write(path, text);
    }
    project.commit("more");
    project.write("src/staged.js", "2;\n");
    project.git(&["add", "src/staged.js"]);
    project.append("src/b.js", "// unstaged\n");
    project.remove("src/gone.js");
    project.write("src/new.js", "1;\n");
    let plan = project.json(&["plan"]);
    let paths = ["src/b.js", "src/gone.js", "src/new.js", "src/staged.js"];
    assert_eq!(fields(&plan["changes"], "path"), paths);
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, fields(&answer["results"], "path")), (0, vec!["src/b.test.js"]));

    // A request is made while another run is at work, and its change is committed.
    project.remove("go");
    project.append("src/a.js", "// more\n");
    let first = begun(&project, &["run", "src/slow.test.js"]);
    project.append("src/b.js", "// put off\n");
    let (code, deferred) = run(&project, &["--defer", "src/b.js"]);
    assert_eq!((code, reasons(&deferred)), (75, vec!["busy-project"]));
    go(&project);
    assert_eq!(end(first).0, 0);
    project.commit("committed, and never tested");
    assert_eq!(status(&project)["pending"][0]["paths"], serde_json::json!(["src/b.js"]));
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, outcome(&answer, "src/b.test.js")), (0, "passed"), "{answer:#}");
    assert_eq!(answer["queue"]["discharged"][0], deferred["queue"]["request"]);
    assert_eq!(status(&project)["pending"], serde_json::json!([]));

    let bare = Project::bare(FILES);
    go(&bare);
    assert_eq!(run(&bare, &["--all"]).0, 0, "without git, too");
}

#[test]
fn c09_a_waiter_takes_the_result_of_its_request_when_everything_is_as_it_was() {
    let project = project();
    project.append("src/a.js", "// changed\n");
    let first = begun(&project, &["run"]);
    let second = start(&project, &["run"]);
    until(|| !status(&project)["pending"].as_array().unwrap().is_empty() && awaited(&project) == 2);
    let stranger = {
        let mut command = command(&project, &state(&project), &["run", "--format", "json"]);
        command.env("TZ", "Asia/Tokyo").spawn().unwrap()
    };
    until(|| awaited(&project) == 3);
    go(&project);
    let (code, one) = end(first);
    assert_eq!((code, &one["queue"]["shared_by"]), (0, &Value::Null), "{one:#}");
    let (code, two) = end(second);
    assert_eq!((code, outcome(&two, "src/slow.test.js")), (0, "passed"), "{two:#}");
    assert!(two["queue"]["shared_by"].is_number(), "{two:#}");
    assert_eq!(two["queue"]["joined"], true);
    let result = &two["results"][0];
    assert_eq!((&result["runtime_verified"], &result["receipt"]), (&false.into(), &Value::Null));
    // Another time zone is another environment: it has run the test itself.
    let (code, other) = end(stranger);
    assert_eq!((code, &other["queue"]["shared_by"]), (0, &Value::Null), "{other:#}");
    assert_eq!(count(&project), 2);
}

fn awaited(project: &Project) -> u64 {
    status(project)["pending"].as_array().unwrap().iter().map(|one| one["awaited"].as_u64().unwrap()).sum()
}

#[test]
fn c10_a_waiter_that_gives_up_cancels_nothing_and_killed_runs_leave_their_request() {
    let project = project();
    project.append("src/a.js", "// changed\n");
    let mut first = begun(&project, &["run"]);
    let (code, waiter) = run(&project, &["--wait", "50ms"]);
    assert_eq!((code, reasons(&waiter)), (75, vec!["busy-project"]));
    assert!(first.try_wait().unwrap().is_none());
    // Nobody can tidy up after this.
    first.kill().unwrap();
    first.wait().unwrap();
    let seen = status(&project);
    assert_eq!(seen["pending"][0]["paths"], serde_json::json!(["src/a.js"]));
    assert_eq!((&seen["job"]["state"], &seen["job"]["pid"]), (&"running".into(), &first.id().into()));
    let human = project.owed(&["status"]);
    human.says(&["nobody has seen its end", "not known"]);
    go(&project);
    project.git(&["checkout", "-q", "--", "src/a.js"]);
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, outcome(&answer, "src/slow.test.js")), (0, "passed"), "{answer:#}");
    let seen = status(&project);
    assert_eq!((&seen["pending"], &seen["job"]["state"]), (&serde_json::json!([]), &"ended".into()));
}

#[test]
fn c11_between_batches_the_lanes_are_free_and_what_cannot_go_on_is_kept() {
    let project = project();
    // A request on other terms is a batch of its own.
    project.append("src/a.js", "// changed\n");
    let first = begun(&project, &["run"]);
    let terms = ["--defer", "src/b.js", "--", "--no-warnings"];
    assert_eq!(run(&project, &terms).0, 75);
    let (code, _) = run(&project, &["--defer", "src/b.js", "--", "--trace-warnings"]);
    assert_eq!(code, 75);
    go(&project);
    let (code, answer) = end(first);
    assert_eq!((code, &answer["queue"]["pending"]), (0, &serde_json::json!([])), "{answer:#}");
    assert_eq!(answer["queue"]["discharged"].as_array().unwrap().len(), 3);

    project.remove("go");
    project.remove("began");
    project.append("src/a.js", "// again\n");
    let first = begun(&project, &["run", "--wait", "1s"]);
    assert_eq!(run(&project, &terms).0, 75);
    // Whoever waits is in between the two batches, and stays.
    let between = start(&project, &["run", "--wait", "120s", "src/slow.test.js"]);
    until(|| awaited(&project) == 2);
    let lock = hold_the_lane_after(&project);
    go(&project);
    let (code, answer) = end(first);
    drop(lock);
    assert_eq!((code, reasons(&answer)), (75, vec!["busy-project"]), "{answer:#}");
    assert_eq!(outcome(&answer, "src/slow.test.js"), "passed", "what has a verdict keeps it");
    assert_eq!(answer["queue"]["pending"].as_array().unwrap().len(), 2);
    assert_eq!(end(between).0, 0);
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, &answer["queue"]["pending"]), (0, &serde_json::json!([])));
}

/// Takes the project's lane as soon as it is free, in a thread, and holds it.
fn hold_the_lane_after(project: &Project) -> LaneHolder {
    let lanes = owed_gates::lease::lanes::Lanes::of(
        &project.path().canonicalize().unwrap(),
        None,
        owed_gates::queue::Priority::Interactive,
    );
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        loop {
            if let Ok(place) = lanes.enter() {
                let _ = stopped.recv();
                drop(place);
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    });
    LaneHolder { stop: Some(stop), thread: Some(thread) }
}

struct LaneHolder {
    stop: Option<std::sync::mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for LaneHolder {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn c12_background_work_makes_room_and_is_kept_and_can_be_overridden() {
    let project = project();
    let other = project_elsewhere();
    project.append("src/a.js", "// changed\n");
    let hook = begun(&project, &["run", "--background", "src/slow.test.js"]);
    // Foreground work in another project of the same user.
    let ran = Ran::from(command(&other, &state(&project), &["run", "--all"]).output().unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let (code, answer) = end(hook);
    assert_eq!(code, 75, "{answer:#}");
    assert!(reasons(&answer).contains(&"deferred"), "{answer:#}");
    assert_eq!(status(&project)["pending"][0]["priority"], "background");
    go(&project);
    let (code, answer) = run(&project, &["--background", "--foreground"]);
    assert_eq!((code, &answer["queue"]["pending"]), (0, &serde_json::json!([])), "{answer:#}");
}

fn project_elsewhere() -> Project {
    Project::new(&[
        (
            "package.json",
            "{ \"name\": \"m\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
        ),
        ("x.test.js", "import test from \"node:test\";\n\ntest(\"x\", () => {});\n"),
    ])
}

#[test]
fn c13_hooks_are_put_off_at_once_and_a_status_claims_nothing_about_a_process() {
    let project = project();
    project.append("src/a.js", "// changed\n");
    let first = begun(&project, &["run"]);
    let begin = Instant::now();
    let (code, hook) = run(&project, &["--background", "--defer", "src/b.js"]);
    assert_eq!((code, hook["results"].as_array().unwrap().len()), (75, 0));
    assert!(begin.elapsed() < Duration::from_secs(60), "it did not wait for its turn");
    let seen = status(&project);
    let put_off =
        seen["pending"].as_array().unwrap().iter().find(|one| one["priority"] == "background").unwrap();
    assert!(put_off["deferred"]["reason"].as_str().unwrap().len() > 3, "{seen:#}");
    let job = &seen["job"];
    assert_eq!((&job["state"], &job["pid"]), (&"running".into(), &first.id().into()));
    let words = project.owed(&["status"]).out;
    assert!(words.contains("is not known") && !words.contains("is running"), "{words}");
    go(&project);
    assert_eq!(end(first).0, 0);
    assert_eq!(status(&project)["job"]["state"], "ended");
}

#[test]
fn c14_background_work_takes_on_neither_everything_nor_more_than_its_cap() {
    let project = project();
    go(&project);
    project.append("src/a.js", "// changed\n");
    project.append("src/b.js", "// changed\n");
    let (code, over) = run(&project, &["--background", "--most", "1", "src/a.js"]);
    assert_eq!((code, reasons(&over)), (0, vec![]), "one is within it");
    project.write("src/lone.test.js", "import test from \"node:test\";\n\ntest(\"l\", () => {});\n");
    let (code, over) = run(&project, &["--background", "--most", "1", "src/a.js", "src/b.js"]);
    assert_eq!((code, reasons(&over)), (75, vec!["over-cap"]), "{over:#}");
    assert_eq!(status(&project)["pending"][0]["paths"], serde_json::json!(["src/a.js", "src/b.js"]));
    let (code, whole) = run(&project, &["--background", "--all"]);
    assert_eq!((code, reasons(&whole)), (75, vec!["full-scope"]), "{whole:#}");
    let pending = &status(&project)["pending"];
    assert_eq!(pending.as_array().unwrap().len(), 1, "the wider one has taken the paths over");
    assert_eq!(
        (&pending[0]["full"], &pending[0]["paths"]),
        (&true.into(), &serde_json::json!(["src/a.js", "src/b.js"]))
    );
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, answer["results"].as_array().unwrap().len()), (0, 3), "{answer:#}");
}

#[test]
fn c16_a_second_run_has_no_verdict_and_code_75_and_planning_goes_on() {
    let project = project();
    let first = begun(&project, &["run", "--all"]);
    let (code, second) = run(&project, &["--all", "--defer"]);
    assert_eq!(
        (code, &second["verdict"], reasons(&second)),
        (75, &"no-verdict".into(), vec!["busy-project"])
    );
    assert_eq!(second["queue"]["joined"], true);
    // What starts no test needs no lane.
    for light in [&["plan", "--all"][..], &["opacity"], &["check"], &["receipts", "list"]] {
        assert_eq!(project.owed(light).code, 0, "{light:?}");
    }
    let other = project_elsewhere();
    assert_eq!(run(&other, &["--all"]).0, 0, "another project is independent");
    go(&project);
    // Somebody joined it meanwhile and left, so that every file counts: none was written.
    let (code, answer) = end(first);
    assert_eq!((code, &answer["queue"]["pending"]), (0, &serde_json::json!([])), "{answer:#}");
}

#[test]
fn c20_put_off_work_has_no_verdict_outlives_everything_and_is_asked_for_before_a_commit() {
    let project = project();
    let gate = |project: &Project| project.owed(&["status", "--gate"]).code;
    assert_eq!(gate(&project), 0);
    project.append("src/b.js", "// changed\n");
    let (code, deferred) = run(&project, &["--reserve", "99999999"]);
    assert_eq!((code, &deferred["verdict"]), (75, &"no-verdict".into()));
    assert_eq!(gate(&project), 3);
    let id = deferred["queue"]["request"].as_str().unwrap();
    let file = project.path().join(".owed/queue/requests").join(id);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("src/b.js", "src/a.js")).unwrap();
    assert_eq!(gate(&project), 3, "an edited one is held, and not nothing");
    assert_eq!(status(&project)["held"][0]["why"], "damaged");
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, reasons(&answer)), (75, vec!["held"]), "{answer:#}");
    assert_eq!(outcome(&answer, "src/b.test.js"), "passed");
    let word = project.owed(&["status", "--acknowledge", id, "--because", "edited by hand", "--gate"]);
    assert_eq!(word.code, 2, "looking and vouching are two things");
    assert_eq!(project.owed(&["status", "--acknowledge", id, "--because", "edited by hand"]).code, 0);
    assert_eq!((gate(&project), run(&project, &[]).0), (0, 0));
    project.owed(&["status"]).says(&["acknowledged", "edited by hand"]);
    project.owed(&["status", "--acknowledge", "nobody"]).refused("no pending request", "owed status");
}

#[test]
fn d1_no_verdict_is_75_and_a_failure_is_1_whatever_was_printed() {
    let project = project();
    go(&project);
    project.write("src/b.js", "export const b = 0;\n");
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, &answer["verdict"]), (1, &"failed".into()));
    assert_eq!(status(&project)["pending"], serde_json::json!([]), "a failure is a verdict");
    project.remove("go");
    let child = begun(&project, &["run", "--all"]);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let (code, answer) = end(child);
    assert_eq!(outcome(&answer, "src/slow.test.js"), "interrupted", "{answer:#}");
    assert_ne!(code, 0);
    assert_eq!(status(&project)["pending"][0]["full"], true);
}

#[test]
fn d3_a_run_over_its_memory_is_interrupted_keeps_its_request_and_leaves_no_receipt() {
    let project = project();
    project.write(
        "src/fat.test.js",
        "import test from \"node:test\";\n\ntest(\"fat\", async () => {\n  globalThis.kept = Buffer.alloc(700 << 20, 1);\n  await new Promise((done) => setTimeout(done, 60_000));\n});\n",
    );
    let (code, answer) = run(&project, &["--memory", "500", "src/fat.test.js"]);
    assert_eq!((code, &answer["verdict"]), (75, &"no-verdict".into()), "{answer:#}");
    assert_eq!(outcome(&answer, "src/fat.test.js"), "interrupted");
    assert_eq!(answer["results"][0]["receipt"], Value::Null);
    assert_eq!(status(&project)["pending"][0]["paths"], serde_json::json!(["src/fat.test.js"]));
    assert_eq!(status(&project)["receipts"]["kept"], 0);
    // Reading and planning count with what they start.
    let (code, answer) = run(&project, &["--memory", "1", "src/fat.test.js"]);
    assert_eq!((code, reasons(&answer)), (75, vec!["tree-memory"]), "{answer:#}");
}

#[test]
fn d5_a_host_without_memory_puts_work_off() {
    let project = project();
    project.append("src/b.js", "// changed\n");
    let (code, answer) = run(&project, &["--reserve", "99999999"]);
    assert_eq!((code, reasons(&answer)), (75, vec!["memory-low"]));
    assert_eq!(outcome(&answer, "src/b.test.js"), "not-run");
    let note = &status(&project)["pending"][0]["deferred"];
    assert_eq!(note["reason"], "memory-low");
    assert_eq!(run(&project, &[]).0, 0);
    // With everything paid for, nothing is started, and no memory is asked for.
    assert_eq!(run(&project, &["--reserve", "99999999"]).0, 0);
}

#[test]
fn d7_workers_follow_the_memory_that_is_free_when_the_runner_starts() {
    let project = project();
    project.write(
        "src/words.test.js",
        "import { readFileSync, writeFileSync } from \"node:fs\";\nimport test from \"node:test\";\n\ntest(\"w\", () => writeFileSync(\"began\", readFileSync(`/proc/${process.ppid}/cmdline`, \"utf8\")));\n",
    );
    let words = || std::fs::read_to_string(project.path().join("began")).unwrap().replace('\0', " ");
    assert_eq!(run(&project, &["--workers", "3", "src/words.test.js"]).0, 0);
    assert!(words().contains("--test-concurrency=3"), "{}", words());
    // What is left above the reserve holds one worker, and not two.
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    let available: u64 = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10;
    let reserve = available.saturating_sub(1_900).to_string();
    let (code, answer) = run(&project, &["--memory", "1024", "--reserve", &reserve, "src/words.test.js"]);
    assert_eq!(code, 0, "{answer:#}");
    assert!(words().contains("--test-concurrency=1"), "{}", words());
}

#[test]
fn d8_an_interrupted_full_run_is_not_made_good_by_a_smaller_one() {
    let project = project();
    let mut child = begun(&project, &["run", "--all"]);
    child.kill().unwrap();
    child.wait().unwrap();
    go(&project);
    let (code, answer) = run(&project, &["src/b.js"]);
    assert_eq!((code, outcome(&answer, "src/b.test.js")), (0, "passed"));
    assert_eq!(answer["queue"]["pending"].as_array().unwrap().len(), 1);
    assert_eq!(status(&project)["pending"][0]["full"], true);
    let (code, answer) = run(&project, &[]);
    assert_eq!((code, answer["results"].as_array().unwrap().len()), (0, 2), "all of them: {answer:#}");
    assert_eq!(status(&project)["pending"], serde_json::json!([]));
}

#[test]
fn d9_a_report_with_findings_ends_with_0_and_only_a_gate_makes_them_fail() {
    let body: String = (0..400).map(|n| format!("  const v{n} = {n};\n")).collect();
    let project = Project::new(&[("src/long.js", &format!("export function long() {{\n{body}}}\n"))]);
    let ran = project.owed(&["check", "--cap", "100", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fields(&ran.json()["functions"], "name"), ["long"]);
    assert_ne!(project.owed(&["check", "--cap", "100", "--gate"]).code, 0);
    assert_eq!(project.owed(&["check", "--cap", "nothing"]).code, 2);
}

#[test]
fn c02_a_plan_runs_no_assertion() {
    let project = project();
    let plan = project.json(&["plan", "--all"]);
    assert_eq!(plan["tests"].as_array().unwrap().len(), 2);
    assert!(!project.path().join("began").exists());
    assert!(!project.path().join(".owed/queue").exists(), "nor does it make a queue");
    let ran = owed_in(project.path(), &["status", "--format", "json"], &[]);
    assert_eq!((ran.code, &answer(&ran)["job"]), (0, &Value::Null));
    assert!(!project.path().join(".owed/queue").exists());
    assert_eq!(texts(&answer(&ran)["pending"]), Vec::<&str>::new());
}
