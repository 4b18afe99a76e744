//! `.owed/cache` on a real disk: no answer depends on it, whatever became of it and of the
//! files, and however soon after each other they were written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Project, SHOP, owed_in};

const PLAN: [&str; 3] = ["plan", "--format", "json"];

/// The answer with the cache and without it, which are the same.
#[track_caller]
fn both(project: &Project, why: &str) -> String {
    let warm = project.owed(&PLAN);
    let cold = project.owed(&[&PLAN[..], &["--no-cache"]].concat());
    assert_eq!(warm.code, cold.code, "{why}: {}", warm.err);
    assert_eq!(warm.out, cold.out, "{why}");
    warm.out
}

/// What came of a phase, as `--timings=json` says it; `None` when it did not happen.
fn phase(project: &Path, arguments: &[&str], name: &str) -> Option<String> {
    let ran = owed_in(project, &[&["plan", "--timings=json"], arguments].concat(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let timings: serde_json::Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!(timings["schema"], "owed.timings/1");
    let phases = timings["phases"].as_array().unwrap();
    let found = phases.iter().find(|phase| phase["phase"] == name)?;
    Some(found["found"].as_str().unwrap_or_default().to_owned())
}

fn cache_of(project: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(project.join(".owed/cache")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_second_plan_reads_nothing_again_and_git_sees_nothing_of_it() {
    let shop = Project::shop();
    let first = both(&shop, "cold");
    assert_eq!(first, both(&shop, "warm"));
    assert_eq!(phase(shop.path(), &[], "recall").unwrap(), "as it was");
    assert_eq!(phase(shop.path(), &[], "read"), None);
    assert_eq!(shop.git(&["status", "--porcelain"]), "");
    // A question about a commit knows the contents, too.
    let read = phase(shop.path(), &["--revision", "HEAD"], "read").unwrap();
    assert!(read.ends_with(" 0 parsed"), "{read}");
}

#[test]
fn without_a_cache_nothing_is_written() {
    let shop = Project::shop();
    assert_eq!(phase(shop.path(), &["--no-cache"], "recall"), None);
    assert!(!shop.path().join(".owed").exists());
    // Where nothing can be written, the answer is the same.
    shop.write(".git/info/exclude", ".owed\n");
    shop.write(".owed", "a file is in the way\n");
    both(&shop, "no place for a cache");
}

#[test]
fn every_kind_of_edit_is_seen_however_soon() {
    let shop = Project::shop();
    let edits: &[(&str, &dyn Fn())] = &[
        ("as committed", &|| ()),
        ("a body", &|| shop.append("src/a.ts", "export const b = 2;\n")),
        ("the same length in the same moment", &|| shop.write("src/a.ts", "export const a = 2;\n")),
        ("and again", &|| shop.write("src/a.ts", "export const c = 2;\n")),
        ("another import of the same length", &|| {
            shop.write("src/index.ts", "export { a } from \"./b\";\n");
        }),
        ("the file it names", &|| shop.write("src/b.ts", "export const a = 1;\n")),
        ("a name that shadows", &|| shop.write("src/b.js", "export const a = 1;\n")),
        ("a folder of that name", &|| shop.write("src/b/index.ts", "export const a = 1;\n")),
        ("a rename over it", &|| {
            fs::rename(shop.path().join("src/b.js"), shop.path().join("src/b.ts")).unwrap();
        }),
        ("its end", &|| shop.remove("src/b.ts")),
        ("a staged file", &|| drop(shop.git(&["add", "-A"]))),
        ("a test", &|| {
            shop.write("src/new.test.ts", "import { test } from \"vitest\";\ntest(\"n\", () => {});\n")
        }),
        ("a test without tests", &|| {
            shop.write("src/new.test.ts", "export const nothing = \"...............\";\n")
        }),
        ("a broken source", &|| shop.write("src/lone.ts", "export const lone = ;\n")),
        ("a binary one", &|| shop.write("src/lone.ts", "export \0const lone = 1;\n")),
        ("a link to a source", &|| {
            shop.remove("src/lone.ts");
            shop.link("a.ts", "src/lone.ts");
        }),
        ("a link elsewhere", &|| {
            shop.remove("src/lone.ts");
            shop.link("index.ts", "src/lone.ts");
        }),
        ("a link out of the project", &|| {
            shop.remove("src/lone.ts");
            shop.link("/dev/null", "src/lone.ts");
        }),
        ("a source again", &|| {
            shop.remove("src/lone.ts");
            shop.write("src/lone.ts", "export const lone = 1;\n");
        }),
        ("an ignored folder", &|| {
            shop.write(".gitignore", "out/\nnode_modules/\n");
            shop.write("out/made.ts", "export const made = 1;\n");
            shop.append("src/lone.ts", "export * from \"../out/made\";\n");
        }),
        ("a change in it", &|| shop.write("out/made.ts", "export * from '../src/a'\n")),
        ("another name in it", &|| {
            fs::rename(shop.path().join("out/made.ts"), shop.path().join("out/more.ts")).unwrap();
        }),
        ("an installed package", &|| {
            shop.write(
                "node_modules/vitest/package.json",
                "{ \"name\": \"vitest\", \"version\": \"3.2.4\" }\n",
            );
        }),
        ("a manifest", &|| {
            shop.write("package.json", "{ \"name\": \"shop\", \"imports\": { \"#a\": \"./src/a.ts\" } }\n")
        }),
        ("paths", &|| {
            shop.write(
                "tsconfig.json",
                "{ \"compilerOptions\": { \"paths\": { \"@/*\": [\"./src/*\"] } } }\n",
            );
        }),
        ("a use of them", &|| shop.append("src/lone.ts", "import \"@/index\";\n")),
        ("a configuration", &|| {
            shop.write("vitest.config.ts", "export default { test: { include: [\"src/l*.test.ts\"] } };\n");
        }),
        ("its own configuration", &|| shop.write("owed.toml", "exclude = [\"src/barrel.test.ts\"]\n")),
        ("none of it", &|| shop.remove("owed.toml")),
        ("a commit", &|| shop.commit("more")),
        ("an older commit", &|| drop(shop.git(&["checkout", "-q", "HEAD~1"]))),
        ("a file that git was told not to look at", &|| {
            shop.git(&["update-index", "--assume-unchanged", "src/a.ts"]);
            shop.write("src/a.ts", "import './lone';\nexport const a = 1;\n");
        }),
        ("an older time", &|| {
            let file = fs::File::options().write(true).open(shop.path().join("src/a.ts")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
        }),
        ("other bytes with that time", &|| {
            shop.write("src/a.ts", "import './line';\nexport const a = 1;\n");
            let file = fs::File::options().write(true).open(shop.path().join("src/a.ts")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
        }),
        ("other ends of lines", &|| {
            shop.write(".gitattributes", "* text=auto\n");
            shop.write("src/index.ts", "export { a } from \"./a\";\r\n// `\n\r\n");
        }),
        ("moved ends of lines", &|| shop.write("src/index.ts", "export { a } from \"./a\";\n// `\r\n\r\n")),
    ];
    for (why, edit) in edits {
        edit();
        both(&shop, why);
        both(&shop, why);
    }
}

#[test]
fn the_index_and_commits_are_remembered_beside_the_disk() {
    let shop = Project::shop();
    let both = |arguments: &[&str], why: &str| {
        let warm = shop.owed(&[&PLAN[..], arguments].concat());
        let cold = shop.owed(&[&PLAN[..], arguments, &["--no-cache"]].concat());
        assert_eq!((warm.code, warm.out), (cold.code, cold.out), "{why}");
    };
    for (why, path, text) in [
        ("as committed", "README.md", "# shop\n"),
        ("a body", "src/a.ts", "export const a = 1;\nexport const b = 1;\n"),
        ("another import", "src/index.ts", "export { lone as a } from \"./lone\";\n"),
        ("a new file", "src/lone.js", "export const lone = 2;\n"),
        ("a broken one", "src/lone.ts", "export const = 1;\n"),
    ] {
        shop.write(path, text);
        both(&["--staged"], &format!("{why}, on the disk only"));
        shop.git(&["add", "-A"]);
        both(&["--staged"], &format!("{why}, staged"));
        both(&["--staged"], &format!("{why}, staged and asked again"));
        both(&[], why);
    }
    assert_eq!(phase(shop.path(), &["--staged"], "recall").unwrap(), "as it was");
    assert_eq!(phase(shop.path(), &[], "recall").unwrap(), "as it was");
    shop.commit("more");
    both(&["--revision", "HEAD"], "the last commit");
    both(&["--revision", "HEAD~1"], "the first commit");
    both(&["--revision", "HEAD"], "the last commit again");
}

#[test]
fn a_cache_of_another_checkout_is_as_good() {
    let shop = Project::shop();
    both(&shop, "cold");
    let other = tempfile::tempdir().unwrap();
    let there = other.path().join("elsewhere");
    shop.git(&["clone", "-q", ".", there.to_str().unwrap()]);
    fs::create_dir_all(there.join(".owed/cache")).unwrap();
    for file in cache_of(shop.path()) {
        fs::copy(&file, there.join(".owed/cache").join(file.file_name().unwrap())).unwrap();
    }
    fs::write(there.join("src/a.ts"), "export const a = 7;\n").unwrap();
    let cold = owed_in(&there, &[&PLAN[..], &["--no-cache"]].concat(), &[]);
    assert_eq!(phase(&there, &[], "recall").unwrap(), "as it was");
    assert_eq!(owed_in(&there, &PLAN, &[]).out, cold.out);
    assert!(cold.out.contains("src/a.test.ts"));
    for file in cache_of(&there) {
        let text = fs::read(&file).unwrap();
        let place = shop.path().to_str().unwrap().as_bytes();
        assert!(!text.windows(place.len()).any(|part| part == place), "{} names a place", file.display());
    }
}

#[test]
fn a_damaged_cache_is_made_anew_and_said_to_be() {
    let shop = Project::shop();
    both(&shop, "cold");
    shop.write("src/lone.ts", "export const lone = 3;\n");
    let whole: Vec<(PathBuf, Vec<u8>)> =
        cache_of(shop.path()).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    let answer = both(&shop, "warm");
    for (file, bytes) in &whole {
        let flipped = |at: usize| {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            flipped
        };
        let cut = bytes[..bytes.len() / 2].to_vec();
        for damaged in [cut, flipped(bytes.len() - 1), flipped(bytes.len() / 3), Vec::new()] {
            for (file, bytes) in &whole {
                fs::write(file, bytes).unwrap();
            }
            fs::write(file, damaged).unwrap();
            assert_eq!(shop.owed(&PLAN).out, answer, "{}", file.display());
        }
    }
    fs::write(shop.path().join(".owed/cache/graph"), "no cache").unwrap();
    let said = shop.owed(&["plan", "-v"]).err;
    assert!(said.contains("cache file graph is damaged"), "{said}");
    fs::remove_dir_all(shop.path().join(".owed")).unwrap();
    assert_eq!(both(&shop, "removed"), answer);
}

#[test]
fn many_processes_at_once_give_one_answer() {
    let shop = Project::new(SHOP);
    let cold = shop.owed(&[&PLAN[..], &["--no-cache"]].concat()).out;
    for round in 0..3 {
        let answers: Vec<String> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| shop.owed(&PLAN).out)).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == cold), "round {round}");
        assert!(cache_of(shop.path()).iter().all(|file| !file.to_str().unwrap().contains(".new-")));
    }
}
