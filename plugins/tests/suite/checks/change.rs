//! What a change that means nothing does to an answer: nothing. And one file of a project
//! that was read can be replaced and asked about on its own.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::check::{Input, Policy, Report, Survey};
use owed_engine::tree::{MemoryTree, Tree};

use super::answer;

/// Files of two languages with claims, near misses and functions over their cap.
fn project() -> BTreeMap<String, Vec<u8>> {
    let script = |name: &str, more: &str| {
        format!(
            "export function {name}(input, options) {{\n  const file = open(input, options.mode);\n  check(file);\n  \
             file.seek(input.start);\n{more}  const rest = file.read(input.length);\n  log(\"read\", rest);\n  \
             notify(input, rest);\n  file.flush();\n  file.close();\n  return rest;\n}}\n"
        )
    };
    let python = |name: &str, word: &str| {
        format!(
            "def {name}(rows, limit=10):\n    total = 0\n    for row in rows[:limit]:\n        total += row.price * row.count\n    \
             save(total, \"{word}\")\n    audit(rows)\n    return total\n\n\n"
        )
    };
    let files = [
        ("src/a.ts", script("load", "") + &script("fetch", "")),
        ("src/b.ts", script("take", "  audit(file, options);\n") + "export const table = [1, 2, 3];\n"),
        ("src/c.ts", script("pick", "  audit(file, options);\n  verify(rest);\n")),
        ("app/x.py", python("users", "users") + &python("orders", "orders")),
        ("app/y.py", python("items", "items")),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect()
}

fn policy() -> Policy {
    let mut policy = Policy { across_files: true, advice: true, ..Policy::default() };
    policy.caps.default = 50;
    policy
}

fn input<'a>(tree: &'a dyn Tree, none: &'a BTreeSet<String>) -> Input<'a> {
    Input {
        tree,
        languages: owed_plugins::languages(),
        tests: none,
        unseen: &[],
        broken_links: &[],
        debt: None,
        base: None,
        coverage: None,
    }
}

fn report(files: &BTreeMap<String, Vec<u8>>) -> Report {
    let (tree, none) = (MemoryTree::new(files.clone()), BTreeSet::new());
    Survey::read(input(&tree, &none), policy()).report()
}

/// Groups and sizes without places: names of members, tier, and tokens of functions.
fn essence(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report
        .repeated
        .iter()
        .map(|group| {
            let mut names: Vec<&str> = group.members.iter().map(|member| member.name.as_str()).collect();
            names.sort_unstable();
            format!("{:?} {} {}", group.tier, group.statements, names.join(" "))
        })
        .collect();
    lines.extend(report.functions.iter().map(|function| format!("{} {}", function.name, function.own)));
    lines.sort();
    lines
}

fn with(change: impl Fn(&mut BTreeMap<String, Vec<u8>>)) -> Vec<String> {
    let mut files = project();
    change(&mut files);
    essence(&report(&files))
}

fn text(change: impl Fn(&str, String) -> String) -> Vec<String> {
    with(|files| {
        for (path, bytes) in files.iter_mut() {
            let old = String::from_utf8(bytes.clone()).unwrap();
            *bytes = change(path, old).into_bytes();
        }
    })
}

#[test]
fn what_means_nothing_changes_nothing() {
    let before = with(|_| {});
    assert!(before.iter().any(|line| line.starts_with("Claim")), "{before:#?}");
    assert!(before.iter().any(|line| line.contains("NearMiss")), "{before:#?}");
    assert_eq!(text(|_, text| text.replace('\n', "\r\n")), before, "CRLF");
    assert_eq!(text(|_, text| text.replace('\n', "\r")), before, "CR");
    assert_eq!(text(|_, text| format!("\u{feff}{text}")), before, "byte order mark");
    let comment = |path: &str| if path.ends_with(".py") { "# a comment\n" } else { "// a comment\n" };
    assert_eq!(text(|path, text| format!("{0}{0}\n{text}{0}", comment(path))), before, "comments");
    assert_eq!(text(|_, text| text.replace("  ", "    ").replace(" = ", "  =  ")), before, "layout");
    assert_eq!(
        text(|_, text| text.replace("rest", "remains").replace("total", "sum")),
        before,
        "names of variables"
    );
    let unrelated = |path: &str| {
        if path.ends_with(".py") {
            "def unrelated(a):\n    while a:\n        a = step(a)\n    return a\n\n\n"
        } else {
            "export function unrelated(a) {\n  while (a) a = step(a);\n  return a;\n}\n"
        }
    };
    assert_eq!(text(|path, text| unrelated(path).to_owned() + &text), before, "an unrelated function");
    let moved = |files: &mut BTreeMap<String, Vec<u8>>| {
        *files =
            std::mem::take(files).into_iter().map(|(path, text)| (format!("lib/z{path}"), text)).collect();
    };
    assert_eq!(with(moved), before, "other paths");
    let swapped = |files: &mut BTreeMap<String, Vec<u8>>| {
        let (a, b) = (files.remove("src/a.ts").unwrap(), files.remove("src/c.ts").unwrap());
        files.insert("src/a.ts".to_owned(), b);
        files.insert("src/c.ts".to_owned(), a);
    };
    assert_eq!(with(swapped), before, "other order");
    let more = |files: &mut BTreeMap<String, Vec<u8>>| {
        for at in 0..50 {
            let text = format!(
                "export function only{at}(a{at}) {{\n  return a{at}.field{at}.call{at}(a{at} + {at});\n}}\n"
            );
            files.insert(format!("other/f{at}.ts"), text.into_bytes());
        }
    };
    assert_eq!(with(more), before, "other files");
}

#[test]
fn any_number_of_threads_gives_one_answer() {
    let files = project();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| report(&files))
    };
    let one = with(1);
    for threads in [2, 8] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}

#[test]
fn one_replaced_file_gives_the_answer_of_a_project_read_anew() {
    let files = project();
    let (tree, none) = (MemoryTree::new(files.clone()), BTreeSet::new());
    let mut survey = Survey::read(input(&tree, &none), policy());
    let copy = [files["src/a.ts"].clone(), files["src/b.ts"].clone()].concat();
    for text in [&copy[..], b"export const = 1;\n", b"", &files["src/b.ts"]] {
        survey.replace("src/b.ts", Some(text.to_vec()));
        let mut changed = files.clone();
        changed.insert("src/b.ts".to_owned(), text.to_vec());
        let anew = report(&changed);
        assert_eq!(survey.report(), anew);
        let about = survey.report_about("src/b.ts");
        let mine = |path: &str| path == "src/b.ts";
        let functions: Vec<_> = anew.functions.iter().filter(|f| mine(&f.path)).cloned().collect();
        assert_eq!(about.functions, functions);
        let claims = |report: &Report| -> Vec<String> {
            let groups = report.repeated.iter().filter(|group| group.is_claim());
            groups
                .filter(|group| group.members.iter().any(|m| mine(&m.path)))
                .map(|group| group.id.clone())
                .collect()
        };
        assert_eq!(claims(&about), claims(&anew));
        assert_eq!(about.files.not_checked, anew.files.not_checked);
    }
    survey.replace("src/b.ts", None);
    let mut changed = files;
    changed.remove("src/b.ts");
    assert_eq!(survey.report(), report(&changed));
}

#[test]
fn four_hundred_copies_are_one_group_of_linear_size() {
    let body = String::from_utf8(project().remove("src/a.ts").unwrap()).unwrap();
    let body = body.split("export function fetch").next().unwrap();
    let files = (0..400).map(|at| {
        // Every other one is exact; the rest differ in one statement.
        let text = if at % 2 == 0 {
            body.to_owned()
        } else {
            body.replace("check(file)", &format!("check{at}(file, {at})"))
        };
        (format!("src/f{at}.ts"), text.into_bytes())
    });
    let report = report(&files.collect());
    let claims: Vec<usize> =
        report.repeated.iter().filter(|g| g.is_claim()).map(|g| g.members.len()).collect();
    assert_eq!(claims, [200]);
    let members: usize = report.repeated.iter().map(|group| group.members.len()).sum();
    assert!(members <= 402, "{members} members");
    assert!(report.repeated.len() <= 3, "{} groups", report.repeated.len());
}

#[test]
fn the_harness_judges_what_it_says() {
    // A case with a wrong answer fails: the harness is no rubber stamp.
    let text = "# A title\n\nA paragraph that says why.\n\n`a.ts`:\n```ts\nexport const a = 1;\n```\n```files\na.ts | excluded test\n```\n";
    let case = super::case::Case::parse(text, BTreeMap::new()).unwrap();
    let answer = answer::ask(&case, &answer::Pools::new()).unwrap();
    assert_eq!(answer.block("files"), ["a.ts | checked"]);
    for wrong in
        ["```fils\nnone\n```\n", "```files\n```\n", "```options\nacross-file\n```\n```files\nnone\n```\n"]
    {
        let text = format!("# A title\n\nA paragraph that says why.\n\n{wrong}");
        assert!(super::case::Case::parse(&text, BTreeMap::new()).is_err(), "{wrong}");
    }
}
