//! Readers take the producer's records and nothing else. The files here are written by this
//! test, byte by byte from the description of the format, so that the format is held, too.

use owed_gates::ledger::{Forgery, Hold, Malformed, Refusal, RunId};

use super::{Project, call_id, completed, lost, refusal, run_id};
use crate::simulation::real::{claim, request};

/// BLAKE3 under a domain over parts that are preceded by their lengths.
fn digest(domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(domain);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// A run that is written by hand.
struct Written {
    frames: Vec<u8>,
    sequence: u64,
    chain: [u8; 32],
}

impl Written {
    fn new(run: &str) -> Self {
        let chain = digest("owed ledger 1: run", &[run.as_bytes()]);
        Self { frames: Vec::new(), sequence: 0, chain }
    }

    fn frame(&mut self, version: u8, kind: u8, payload: &str) -> &mut Self {
        self.sequence += 1;
        let mut frame = b"owf1".to_vec();
        frame.extend([version, kind, 0, 0]);
        frame.extend((payload.len() as u32).to_le_bytes());
        frame.extend(self.sequence.to_le_bytes());
        frame.extend(self.chain);
        let check = digest("owed ledger 1: header", &[&frame]);
        frame.extend(&check[..8]);
        frame.extend(payload.as_bytes());
        self.chain = digest("owed ledger 1: frame", &[&frame]);
        frame.extend(self.chain);
        self.frames.extend(frame);
        self
    }

    /// The frames, and the second place saying that all of them were acknowledged.
    fn save(&self, project: &Project) {
        let slot = |sequence: u64, end: u64, chain: [u8; 32]| {
            let mut slot = b"owa1\0\0\0\0".to_vec();
            slot.extend(sequence.to_le_bytes());
            slot.extend(end.to_le_bytes());
            slot.extend(chain);
            let check = digest("owed ledger 1: acknowledgement", &[b"run", &slot]);
            slot.extend(check);
            slot
        };
        let mut ack = vec![0; 2 * 4096];
        for (sequence, end, chain) in
            [(self.sequence - 1, 0, [0; 32]), (self.sequence, self.frames.len() as u64, self.chain)]
        {
            let at = (sequence % 2) as usize * 4096;
            let slot = slot(sequence, end, chain);
            ack[at..at + slot.len()].copy_from_slice(&slot);
        }
        for path in [project.frames(), project.ack()] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        std::fs::write(project.frames(), &self.frames).unwrap();
        std::fs::write(project.ack(), &ack).unwrap();
    }
}

const OPENED: &str = r#"{"format":1,"run":"run","at_ms":1}"#;
const CLAIMED: &str = r#"{"claim":{"owner":"owner","unit":null,"thread":"thread","workspace":"workspace","resource":"resource","fence":1},"process":{"pid":1,"start":1,"boot":"b","namespace":"n"},"at_ms":2}"#;
const STARTED: &str =
    r#"{"call":"a","phase":"preflight","process":{"pid":1,"start":1,"boot":"b","namespace":"n"},"at_ms":4}"#;

fn intent() -> String {
    let request = serde_json::to_string(&request("a", "true")).unwrap();
    let process = r#"{"pid":1,"start":1,"boot":"b","namespace":"n"}"#;
    format!(r#"{{"request":{request},"fence":1,"reserved":72000,"process":{process},"at_ms":3}}"#)
}

/// Frames of the given types and payloads, after an opening and a claim.
fn held(frames: &[(u8, &str)]) -> Hold {
    let project = Project::new();
    let mut written = Written::new("run");
    written.frame(1, 1, OPENED).frame(1, 2, CLAIMED);
    for (kind, payload) in frames {
        written.frame(1, *kind, payload);
    }
    written.save(&project);
    let before = [std::fs::read(project.frames()).unwrap(), std::fs::read(project.ack()).unwrap()];
    let read = project.store.inspect(&run_id()).unwrap_err();
    let opened = refusal(project.store.open(&run_id(), claim(), Default::default()));
    assert_eq!(read, opened, "reader and writer agree");
    let after = [std::fs::read(project.frames()).unwrap(), std::fs::read(project.ack()).unwrap()];
    assert!(before == after, "no byte of history changed");
    match read {
        Refusal::Held(hold) => hold,
        other => panic!("{other}"),
    }
}

#[test]
fn the_format_is_what_its_description_says() {
    let project = Project::new();
    let mut written = Written::new("run");
    written.frame(1, 1, OPENED).frame(1, 2, CLAIMED).frame(1, 3, &intent()).frame(1, 5, STARTED);
    written.save(&project);
    let snapshot = project.store.inspect(&run_id()).unwrap();
    assert_eq!((snapshot.history.records(), snapshot.unacknowledged, snapshot.torn), (4, 0, false));
    assert!(snapshot.history.call(&call_id("a")).unwrap().preflight.started.is_some());
}

#[test]
fn a37_malformed_records_are_rejected() {
    let intent = intent();
    for (kind, payload, why) in [
        (3, intent.replace(r#""fence":1"#, r#""fence":1,"exit":0"#), "an unknown field"),
        (3, intent.replace(r#""fence":1,"#, ""), "a missing field"),
        (3, intent.replace(r#""fence":1,"#, r#""fence":1,"fence":1,"#), "a repeated field"),
        (3, intent.replace(r#""timeout":"omitted""#, r#""timeout":{"explicit":0}"#), "a timeout of 0"),
        (3, intent.replace(r#""call":"a""#, r#""call":"""#), "an empty id"),
        (5, STARTED.replace(r#""call":"a""#, r#""call":null"#), "an absent id"),
        (5, STARTED.replace("preflight", "postflight"), "another phase"),
        (5, STARTED[..20].to_owned(), "half a value"),
        (5, String::new(), "nothing"),
    ] {
        let hold = held(&[(kind, &payload)]);
        let malformed = matches!(hold, Hold::Malformed { sequence: 3, what: Malformed::Value(_) });
        assert!(malformed, "{why}: {hold}");
    }
    assert_eq!(held(&[(99, "{}")]), Hold::Malformed { sequence: 3, what: Malformed::Type(99) });
}

#[test]
fn a37_a_record_is_read_only_as_it_is_written() {
    let spaced = intent().replace(r#""fence":1"#, r#""fence": 1"#);
    assert_eq!(held(&[(3, &spaced)]), Hold::Malformed { sequence: 3, what: Malformed::Spelling });
    // A field that is null when it is absent has to be there.
    let absent = STARTED.replace(r#","namespace":"n""#, "");
    assert!(matches!(held(&[(3, &intent()), (5, &absent)]), Hold::Malformed { sequence: 4, .. }));
}

#[test]
fn a38_an_empty_unit_stays_held() {
    let project = Project::new();
    let mut written = Written::new("run");
    written.frame(1, 1, OPENED).frame(1, 2, &CLAIMED.replace("null", r#""""#));
    written.save(&project);
    let refused = project.store.inspect(&run_id()).unwrap_err();
    assert!(matches!(refused, Refusal::Held(Hold::Malformed { sequence: 2, .. })), "{refused}");
}

#[test]
fn a37_duplicate_and_forged_records_are_rejected() {
    let intent = intent();
    let call = call_id("a");
    let completed = r#"{"call":"a","phase":"command","outcome":{"exit":{"code":0},"output":{"stdout":{"text":"","bytes":0,"truncated":false,"lossy":false},"stderr":{"text":"","bytes":0,"truncated":false,"lossy":false}},"supervisor":null},"at_ms":5}"#;
    let settled = r#"{"call":"a","phase":"preflight","proof":{"owner_gone":{"pid":2,"start":1,"boot":"b","namespace":"n"}},"at_ms":6}"#;
    let other_payload = intent.replace("verification", "baseline");
    let other_command = intent.replace(r#""text":"true""#, r#""text":"rm -rf .""#);
    let cases: [(&[(u8, &str)], Forgery); 8] = [
        (&[(3, &intent), (3, &intent)], Forgery::DuplicateCall(call.clone())),
        (&[(5, STARTED)], Forgery::NoSuchCall(call.clone())),
        (&[(3, &intent), (6, completed)], Forgery::PreflightUnresolved(call.clone())),
        (&[(3, &intent), (9, settled)], Forgery::Process(call.clone())),
        (&[(3, &other_payload)], Forgery::Digest(call.clone())),
        (&[(3, &other_command)], Forgery::Digest(call.clone())),
        (&[(3, &intent.replace(r#""fence":1"#, r#""fence":2"#))], Forgery::Fence(call)),
        (&[(1, OPENED)], Forgery::Opening),
    ];
    for (frames, expected) in cases {
        match held(frames) {
            Hold::Forged { what, .. } => assert_eq!(what, expected),
            other => panic!("{other}, not {expected}"),
        }
    }
}

#[test]
fn a37_a_foreign_run_is_rejected_even_under_the_right_name() {
    let project = Project::new();
    completed(&mut project.open(), "a", "true", 0);
    let other = RunId::new("other").unwrap();
    let mut run = project.store.open(&other, claim(), Default::default()).unwrap();
    completed(&mut run, "a", "true", 1);
    for place in ["ledger/other/frames", "acks/other"] {
        let own = place.replace("other", "run");
        std::fs::copy(project.state().join(place), project.state().join(own)).unwrap();
    }
    let refused = project.store.inspect(&run_id()).unwrap_err();
    assert!(matches!(refused, Refusal::Held(Hold::Foreign { offset: 0, .. })), "{refused}");
}

#[test]
fn a_run_of_a_newer_version_is_refused_as_such() {
    for (version, opened) in [(1, OPENED.replace(r#""format":1"#, r#""format":2"#)), (2, OPENED.to_owned())] {
        let project = Project::new();
        Written::new("run").frame(version, 1, &opened).save(&project);
        let before = std::fs::read(project.frames()).unwrap();
        let newer = Refusal::Newer { found: 2, known: 1 };
        assert_eq!(project.store.inspect(&run_id()).unwrap_err(), newer);
        assert_eq!(refusal(project.store.open(&run_id(), claim(), Default::default())), newer);
        assert_eq!(std::fs::read(project.frames()).unwrap(), before);
    }
}

#[test]
fn a10_the_supervisors_word_about_another_process_is_no_outcome() {
    use owed_gates::ledger::{Exit, ExitRecord, Failure};
    let project = Project::new();
    let mut run = project.open();
    let running = super::running(&mut run, "a", "true");
    let other = owed_gates::lease::ProcessIdentity { pid: 1, ..super::dead() };
    let mut outcome = crate::simulation::real::outcome(0);
    outcome.supervisor = Some(ExitRecord { process: other, exit: Exit::Code(0), at_ms: 1 });
    match run.complete(running, outcome) {
        Err(Failure::Persistence(failure)) => assert!(failure.dispatched, "{failure}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(project.call("a").unwrap().state().word(), "pending");
    lost(&mut run, "b", "false");
}
