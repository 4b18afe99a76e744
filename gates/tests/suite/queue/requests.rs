//! Requests: what is kept, what covers what, and that nothing is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use owed_gates::queue::{
    Held, HeldFile, Kind, Look, MOST_REQUESTS, Outcome, Priority, Queue, Refused, Stay, Terms,
};

use super::{again, child, full, hasty, ids, log, paths, pending, project, submit, until, with_coverage};

#[test]
fn c06_writers_in_several_processes_lose_no_path() {
    const WRITERS: usize = 6;
    const EACH: usize = 20;
    if let Some((root, word)) = child() {
        let queue = Queue::of(&root).unwrap();
        for n in 0..EACH {
            // One alone, then one that is wider and takes its place, then one of many.
            let own = format!("{word}/{n}");
            let other = format!("{word}/more-{n}");
            submit(&queue, paths(&[&own]), Stay::Leaves);
            submit(&queue, paths(&[&own, &other]), Stay::Leaves);
            submit(&queue, paths(&[&own, "common"]), Stay::Leaves);
        }
        return;
    }
    let (root, queue) = project();
    let test = "queue::requests::c06_writers_in_several_processes_lose_no_path";
    let children: Vec<_> = (0..WRITERS).map(|n| again(test, root.path(), &n.to_string())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let kept: BTreeSet<String> =
        pending(&queue).iter().flat_map(|r| r.asks.changes.keys().cloned()).collect();
    let asked: BTreeSet<String> = (0..WRITERS)
        .flat_map(|w| (0..EACH).flat_map(move |n| [format!("{w}/{n}"), format!("{w}/more-{n}")]))
        .chain(["common".to_owned()])
        .collect();
    assert_eq!(kept, asked);
    // Every one that is gone is in the log, with one that has all of its paths.
    let lines = log(root.path());
    assert_eq!(lines.len(), WRITERS * EACH, "each narrow one was retired by its wider one");
    for line in lines {
        assert_eq!(line["event"], "superseded");
        let by = pending(&queue).into_iter().find(|request| line["by"] == request.id.as_str()).unwrap();
        for path in line["paths"].as_array().unwrap() {
            assert!(by.asks.changes.contains_key(path.as_str().unwrap()), "{line}");
        }
        assert!(by.replaces.iter().any(|id| line["request"] == id.as_str()));
    }
}

#[test]
fn c06_a_request_is_immutable_and_absorbs_the_paths_of_those_it_replaces() {
    let (root, queue) = project();
    let first = submit(&queue, paths(&["a", "b"]), Stay::Leaves);
    let file = root.path().join(".owed/queue/requests").join(&first.id);
    let before = std::fs::read(&file).unwrap();
    let second = submit(&queue, paths(&["a", "c"]), Stay::Leaves);
    assert_eq!(std::fs::read(&file).unwrap(), before, "another path is another file");
    assert_eq!(ids(&queue), [first.id.clone(), second.id.clone()]);
    // The full one names no path, and has to look at those of the others afterwards.
    let whole = submit(&queue, full(), Stay::Leaves);
    assert_eq!(whole.retired, [first.id.clone(), second.id.clone()]);
    let request = &pending(&queue)[0];
    assert!(request.asks.full);
    assert_eq!(request.asks.changes.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(log(root.path()).len(), 2);
}

#[test]
fn c07_a_covered_request_is_the_pending_one_and_wider_ones_retire_what_nobody_awaits() {
    let (root, queue) = project();
    let two = submit(&queue, paths(&["a", "b"]), Stay::Leaves);
    let one = submit(&queue, paths(&["b"]), Stay::Leaves);
    assert_eq!((one.id.as_str(), one.joined), (two.id.as_str(), true));
    // The same paths on other terms are other work.
    let strict = Terms { env_strict: true, ..Terms::default() };
    let other = queue.submit(paths(&["a"]), &strict, Priority::Interactive, Stay::Leaves).unwrap();
    assert!(!other.joined);

    // Two wait for it: the last one that leaves lets it go.
    let (first, second) =
        (submit(&queue, paths(&["a"]), Stay::Waits), submit(&queue, paths(&["b"]), Stay::Waits));
    assert_eq!(queue.awaited(&two.id).unwrap(), 2);
    drop(first);
    let wider = submit(&queue, paths(&["a", "b", "c"]), Stay::Leaves);
    assert_eq!(wider.retired, Vec::<String>::new());
    drop(second);
    let widest = submit(&queue, paths(&["a", "b", "c", "d"]), Stay::Leaves);
    assert_eq!(widest.retired, [two.id.clone(), wider.id.clone()]);
    let lines = log(root.path());
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["event"] == "superseded" && line["by"] == widest.id.as_str()));

    // A full one is retired by no selected one, however much that names.
    let whole = submit(&queue, full(), Stay::Leaves);
    assert_eq!(whole.retired, [widest.id.clone()]);
    let selected = submit(&queue, paths(&["a", "b", "c", "d", "e"]), Stay::Leaves);
    assert_eq!((selected.joined, selected.retired.len()), (false, 0), "nobody would look at e after the run");
    assert!(ids(&queue).contains(&whole.id));
    assert!(ids(&queue).contains(&other.id));
}

#[test]
fn c07_who_waits_is_a_process_that_lives_and_not_a_number() {
    let name = "queue::requests::c07_who_waits_is_a_process_that_lives_and_not_a_number";
    if let Some((root, _)) = child() {
        let queue = Queue::of(&root).unwrap();
        let _ticket = submit(&queue, paths(&["a"]), Stay::Waits);
        std::fs::write(root.join("waits"), "").unwrap();
        std::thread::sleep(Duration::from_secs(600));
    }
    let (root, queue) = project();
    let mut waiter = again(name, root.path(), "");
    until("the other process waits", || root.path().join("waits").exists());
    let narrow = pending(&queue)[0].id.clone();
    assert_eq!(queue.awaited(&narrow).unwrap(), 1);
    assert_eq!(submit(&queue, paths(&["a", "b"]), Stay::Leaves).retired, Vec::<String>::new());
    waiter.kill().unwrap();
    waiter.wait().unwrap();
    assert_eq!(queue.awaited(&narrow).unwrap(), 0);
    assert!(submit(&queue, paths(&["a", "b", "c"]), Stay::Leaves).retired.contains(&narrow));
    // A file among those who wait that cannot be read may be somebody's.
    let request = ids(&queue).remove(0);
    std::fs::write(root.path().join(format!(".owed/queue/awaiting/{request}.x")), "?").unwrap();
    assert_eq!(queue.awaited(&request).unwrap(), 1);
}

#[test]
fn c07_what_is_no_request_is_held_by_name_and_never_taken_for_nothing() {
    let (root, queue) = project();
    let whole = submit(&queue, paths(&["a"]), Stay::Leaves);
    let dir = root.path().join(".owed/queue/requests");
    let text = std::fs::read_to_string(dir.join(&whole.id)).unwrap();
    std::fs::write(dir.join("cut"), &text[..text.len() / 2]).unwrap();
    std::fs::write(dir.join("edited"), text.replace("\"a\"", "\"b\"")).unwrap();
    std::fs::write(dir.join("empty"), "").unwrap();
    std::fs::write(dir.join("foreign"), "{}").unwrap();
    std::fs::write(dir.join("newer"), text.replacen("owed.request/1", "owed.request/2", 1)).unwrap();
    std::fs::write(dir.join("renamed"), &text).unwrap();
    std::fs::create_dir(dir.join("folder")).unwrap();
    std::os::unix::fs::symlink(dir.join(&whole.id), dir.join("link")).unwrap();
    // Being written when its process was ended: nobody was told that it is there.
    std::fs::write(dir.join(".draft-1-0"), &text[..9]).unwrap();
    let held = [
        ("cut", Held::Damaged),
        ("edited", Held::Damaged),
        ("empty", Held::Damaged),
        ("folder", Held::Unreadable),
        ("foreign", Held::Foreign),
        ("link", Held::Unreadable),
        ("newer", Held::Newer),
        ("renamed", Held::Foreign),
    ]
    .map(|(name, why)| HeldFile { name: name.to_owned(), why });
    let seen = queue.pending().unwrap();
    assert_eq!((seen.held, seen.requests.len()), (held.to_vec(), 1));
    // Neither a wider request nor a completed batch touches them.
    queue.submit(full(), &Terms::default(), Priority::Interactive, Stay::Leaves).unwrap();
    let batch = queue.take(None, (&full_of(&queue), &Terms::default()), Priority::Interactive).unwrap();
    queue.complete(&batch, &outcome(true, true), &Look::at(root.path(), &["a"])).unwrap();
    let seen = queue.pending().unwrap();
    assert_eq!((seen.held, seen.requests.len()), (held.to_vec(), 0));
    assert!(!dir.join(".draft-1-0").exists());
}

#[test]
fn c08_coverage_joins_only_what_produces_it_and_only_its_production_discharges_it() {
    let (root, queue) = project();
    let plain = submit(&queue, paths(&["a"]), Stay::Leaves);
    let covering = submit(&queue, with_coverage(paths(&["a"])), Stay::Leaves);
    assert!(!covering.joined);
    assert_eq!(covering.retired, [plain.id.clone()], "a producer of coverage runs the tests as well");
    assert!(submit(&queue, paths(&["a"]), Stay::Leaves).joined, "and is good for one who wants none");
    let more = submit(&queue, paths(&["a", "b"]), Stay::Leaves);
    assert_eq!((more.joined, more.retired.len()), (false, 0), "coverage never gives way to a plain run");

    // A batch produces what any of its requests wants.
    let (_, asks) = queue.next(None, &BTreeSet::new()).unwrap().unwrap();
    assert!(asks.coverage);
    let take = || queue.take(None, (&asks, &Terms::default()), Priority::Interactive).unwrap();
    let batch = take();
    assert_eq!(batch.requests.len(), 2);
    let look = Look::at(root.path(), &["a", "b"]);
    let settled = queue.complete(&batch, &outcome(false, false), &look).unwrap();
    assert_eq!(settled.discharged, [more.id.clone()]);
    assert_eq!(
        (settled.kept[0].request.as_str(), settled.kept[0].reason.as_str()),
        (covering.id.as_str(), "no-coverage")
    );
    let settled = queue.complete(&take(), &outcome(false, true), &look).unwrap();
    assert_eq!(settled.discharged, [covering.id.clone()]);
    assert_eq!(ids(&queue), Vec::<String>::new());
}

#[test]
fn c10_requests_outlive_kills_and_restarts() {
    let name = "queue::requests::c10_requests_outlive_kills_and_restarts";
    if let Some((root, _)) = child() {
        let queue = Queue::of(&root).unwrap();
        submit(&queue, paths(&["a"]), Stay::Waits).leave();
        queue.take(None, (&paths(&["a"]), &Terms::default()), Priority::Interactive).unwrap();
        std::process::abort();
    }
    let (root, queue) = project();
    assert!(!again(name, root.path(), "").wait().unwrap().success());
    let kept = pending(&queue);
    assert_eq!(kept.len(), 1);
    // What was seen at work is still said to have been seen; it is in flight no more, so that
    // a wider request may take the place of its requests.
    let taken = queue.taken().unwrap().unwrap();
    assert_eq!(taken.requests, [kept[0].id.clone()]);
    assert_eq!(submit(&queue, paths(&["a", "b"]), Stay::Leaves).retired, taken.requests);
}

#[test]
fn c11_a_batch_has_at_most_a_thousand_requests_and_the_next_one_has_the_rest() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join(".owed/queue")).unwrap();
    let queue = hasty(root.path());
    let all = MOST_REQUESTS + 7;
    for n in 0..all {
        // Written as they are, because a thousand acknowledgements take their time.
        let made = submit(&queue, paths(&[&format!("f{n}")]), Stay::Leaves);
        assert!(!made.joined);
        if n == 3 {
            break;
        }
    }
    let dir = root.path().join(".owed/queue/requests");
    let request = pending(&queue).remove(0);
    for n in 4..all {
        let mut request = request.clone();
        request.id = format!("{:013x}-{n:016x}", request.created_ms + 1);
        request.created_ms += 1;
        request.asks = paths(&[&format!("f{n}")]);
        let body = serde_json::to_string(&request).unwrap();
        let mut hasher = blake3::Hasher::new();
        for part in ["owed.request/1", &body] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let text = format!("owed.request/1 {}\n{body}\n", hasher.finalize().to_hex());
        std::fs::write(dir.join(&request.id), text).unwrap();
    }
    assert_eq!(pending(&queue).len(), all);
    let mut sizes = Vec::new();
    let mut paths_run = BTreeSet::new();
    while let Some((terms, asks)) = queue.next(None, &BTreeSet::new()).unwrap() {
        let batch = queue.take(None, (&asks, &terms), Priority::Interactive).unwrap();
        sizes.push(batch.requests.len());
        paths_run.extend(asks.changes.into_keys());
        queue.complete(&batch, &outcome(false, false), &Look::at(root.path(), &[])).unwrap();
    }
    assert_eq!((sizes, paths_run.len()), (vec![MOST_REQUESTS, 7], all));
}

#[test]
fn c19_a_persons_word_is_bound_to_the_bytes_and_is_no_evidence() {
    let (root, queue) = project();
    std::fs::write(root.path().join("a"), "1").unwrap();
    let made = submit(&queue, paths(&["a"]), Stay::Leaves);
    queue.acknowledge(&made.id, "only a comment").unwrap();
    let seen = queue.pending().unwrap();
    assert_eq!((seen.requests.len(), seen.acknowledged[0].1.because.as_str()), (0, "only a comment"));
    assert!(queue.result(&made.id).is_none(), "nobody can take it for a result");
    assert_eq!(log(root.path())[0]["event"], "acknowledged");
    std::fs::write(root.path().join("a"), "2").unwrap();
    assert_eq!(ids(&queue), [made.id.clone()], "other bytes, and it is pending again");
    std::fs::write(root.path().join("a"), "1").unwrap();
    assert_eq!(queue.pending().unwrap().requests.len(), 0);
    // Every test can only be vouched for where the checkout can be observed as a whole.
    let whole = submit(&queue, full(), Stay::Leaves);
    assert!(matches!(queue.acknowledge(&whole.id, ""), Err(Refused::Unbound(_))));
    assert!(matches!(queue.acknowledge("nobody", ""), Err(Refused::Unknown)));
    // The same for a file that is no request.
    let file = root.path().join(".owed/queue/requests/odd");
    std::fs::write(&file, "?").unwrap();
    queue.acknowledge("odd", "not ours").unwrap();
    assert_eq!(queue.pending().unwrap().held, []);
    std::fs::write(&file, "??").unwrap();
    assert_eq!(queue.pending().unwrap().held.len(), 1);
}

fn outcome(full: bool, coverage: bool) -> Outcome {
    Outcome { verdict: "passed", full, coverage, shared: None }
}

/// Everything, with every path that some request names.
fn full_of(queue: &Queue) -> owed_gates::queue::Asks {
    let mut asks = full();
    for request in queue.pending().unwrap().requests {
        asks.absorb(&request.asks);
    }
    asks.changes.entry("a".to_owned()).or_insert(Kind::Any);
    asks
}
