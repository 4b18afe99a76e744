//! The table: what is done to a project whose tests have all passed, and what the next run
//! must say about one of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::run;
use crate::harness::Project;

pub(super) struct Case {
    pub(super) name: &'static str,
    /// What is done to the project.
    pub(super) does: fn(&Project),
    /// More environment, arguments before.
    pub(super) environment: &'static [(&'static str, &'static str)],
    pub(super) arguments: &'static [&'static str],
    /// Which test is asked about, and how the answer begins.
    pub(super) test: &'static str,
    pub(super) want: &'static str,
}

const A: &str = "src/a.test.js";
const PY: &str = "py/tests/test_a.py";

pub(super) const fn case(
    name: &'static str,
    test: &'static str,
    want: &'static str,
    does: fn(&Project),
) -> Case {
    Case { name, does, environment: &[], arguments: &[], test, want }
}

const fn env(
    name: &'static str,
    test: &'static str,
    want: &'static str,
    environment: &'static [(&'static str, &'static str)],
) -> Case {
    Case { name, does: |_| {}, environment, arguments: &[], test, want }
}

fn touch_old(project: &Project, path: &str) {
    let file = fs::File::options().write(true).open(project.path().join(path)).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1)).unwrap();
}

/// Replaces a text in a file.
fn replace(project: &Project, path: &str, from: &str, to: &str) {
    let file = project.path().join(path);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

fn mode(project: &Project, path: &str, bits: u32) {
    fs::set_permissions(project.path().join(path), fs::Permissions::from_mode(bits)).unwrap();
}

/// Edits every stored receipt.
fn receipts(project: &Project, edit: impl Fn(&Path)) {
    for folder in ["passed", "last"] {
        for entry in fs::read_dir(project.path().join(".owed/receipts").join(folder)).unwrap() {
            edit(&entry.unwrap().path());
        }
    }
}

pub(super) const CASES: &[Case] = &[
    // what must not cost a receipt
    case("nothing changed", A, "reused", |_| {}),
    case("nothing changed, Python", PY, "reused", |_| {}),
    case("only times differ", A, "reused", |p| touch_old(p, "src/a.js")),
    case("edited and restored before the run", A, "reused", |p| {
        p.write("src/a.js", "export const a = 2;\n");
        p.write("src/a.js", "export const a = 1;\n");
    }),
    case("a file that no closure holds", A, "reused", |p| p.write("README.md", "# n\n")),
    case("another test", A, "reused", |p| p.append("src/lone.test.js", "// x\n")),
    case("data of another test", A, "reused", |p| p.write("src/data.txt", "other\n")),
    case("an installed package of nobody", A, "reused", |p| p.write("node_modules/other/index.js", "1;\n")),
    case("an ignored file of nobody", A, "reused", |p| p.write("ignored.js", "1;\n")),
    case("a commit", A, "reused", |p| p.commit("more")),
    case("a replaced object", A, "reused", |p| {
        p.commit("more");
        let (old, new) = (p.git(&["rev-parse", "HEAD~1"]), p.git(&["rev-parse", "HEAD"]));
        p.git(&["replace", &old, &new]);
    }),
    case("assume-unchanged, and unchanged", A, "reused", |p| {
        p.git(&["update-index", "--assume-unchanged", "src/a.js"]);
    }),
    env(
        "the shell's own bookkeeping",
        A,
        "reused",
        &[("SHLVL", "9"), ("_", "/x"), ("OLDPWD", "/"), ("GIT_PREFIX", "x/")],
    ),
    case("the time zone is read, and is the same", "src/zone.test.js", "reused", |_| {}),
    case("a listing, a literal path, a name: the same", "src/list.test.js", "reused", |_| {}),
    case("content of a listed file nobody reads", "src/list.test.js", "reused", |p| {
        p.write("src/pages/one.txt", "2\n")
    }),
    // sources
    case("the source", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = 2;\n")
    }),
    case("the source, same size and time", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = 7;\n");
        touch_old(p, "src/a.js");
    }),
    case("the test itself", A, "passed inputs-differ file src/a.test.js", |p| {
        p.append("src/a.test.js", "\n")
    }),
    case("a comment", A, "passed inputs-differ file src/a.js", |p| p.append("src/a.js", "// x\n")),
    case("line ends", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = 1;\r\n")
    }),
    case("a byte order mark", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "\u{feff}export const a = 1;\n");
    }),
    case("the executable bit", A, "passed inputs-differ file src/a.js", |p| mode(p, "src/a.js", 0o755)),
    case("a link in the place of the file", A, "passed inputs-differ file src/a.js", |p| {
        fs::rename(p.path().join("src/a.js"), p.path().join("src/real.js")).unwrap();
        p.link("real.js", "src/a.js");
    }),
    case("a link to other bytes", A, "passed inputs-differ", |p| {
        p.write("src/b.js", "export const a = 3;\n");
        p.remove("src/a.js");
        p.link("b.js", "src/a.js");
    }),
    case("assume-unchanged hides nothing", A, "passed inputs-differ file src/a.js", |p| {
        p.git(&["update-index", "--assume-unchanged", "src/a.js"]);
        p.write("src/a.js", "export const a = 2;\n");
    }),
    case("skip-worktree hides nothing", A, "passed inputs-differ file src/a.js", |p| {
        p.git(&["update-index", "--skip-worktree", "src/a.js"]);
        p.write("src/a.js", "export const a = 2;\n");
    }),
    case("a clean filter hides nothing", A, "passed inputs-differ file src/a.js", |p| {
        p.git(&["config", "filter.x.clean", "git show HEAD:src/a.js"]);
        p.write(".git/info/attributes", "src/a.js filter=x\n");
        p.write("src/a.js", "export const a = 2;\n");
    }),
    case("committed, so that git sees no change", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = 2;\n");
        p.commit("more");
    }),
    case("another file of the chain", A, "passed inputs-differ file src/index.js", |p| {
        p.append("src/index.js", "export const more = 1;\n");
    }),
    case("a new import", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/n.js", "export const n = 1;\n");
        p.write("src/a.js", "import { n } from \"./n.js\";\nexport const a = n;\n");
    }),
    case("the import is gone", A, "failed class unknown: src/index.js:1 ./a.js (unresolved)", |p| {
        p.remove("src/a.js")
    }),
    case("it fails now", A, "failed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = \"1\";\n")
    }),
    case("it does not parse now", A, "failed class", |p| p.write("src/a.js", "export const a = ;\n")),
    case("Python source", PY, "passed inputs-differ file py/mod/a.py", |p| p.write("py/mod/a.py", "A = 2\n")),
    case("Python package file", PY, "passed inputs-differ file py/mod/__init__.py", |p| {
        p.write("py/mod/__init__.py", "X = 1\n")
    }),
    case("stale byte code does not count", PY, "failed inputs-differ file py/mod/a.py", |p| {
        let status = std::process::Command::new("python3")
            .args(["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "py/mod"])
            .current_dir(p.path())
            .status();
        assert!(status.unwrap().success());
        p.write("py/mod/a.py", "A = 0\n");
    }),
    case("a Python module that shadows", PY, "passed", |p| {
        p.write("py/mod/a/__init__.py", "A = 2\n");
    }),
    // data, listings
    case("data", "src/data.test.js", "passed inputs-differ file src/data.txt", |p| {
        p.write("src/data.txt", "atad\n")
    }),
    case(
        "data is gone",
        "src/data.test.js",
        "failed inputs-differ file src/data.txt: was file, is absent",
        |p| p.remove("src/data.txt"),
    ),
    case(
        "data is a directory now",
        "src/data.test.js",
        "failed inputs-differ file src/data.txt: was file, is dir",
        |p| {
            p.remove("src/data.txt");
            p.write("src/data.txt/x", "");
        },
    ),
    case("a new entry", "src/list.test.js", "passed inputs-differ listing src/pages: *", |p| {
        p.write("src/pages/two.txt", "")
    }),
    case("an entry is gone", "src/list.test.js", "passed inputs-differ listing src/pages: *", |p| {
        p.write("src/pages/two.txt", "");
        p.remove("src/pages/one.txt");
    }),
    case("an entry by another case", "src/list.test.js", "passed inputs-differ listing src/pages: *", |p| {
        fs::rename(p.path().join("src/pages/one.txt"), p.path().join("src/pages/One.txt")).unwrap();
    }),
    case("an ignored entry counts", "src/list.test.js", "passed inputs-differ listing src/pages: *", |p| {
        p.write(".git/info/exclude", "*.log\n");
        p.write("src/pages/x.log", "");
    }),
    // declared inputs
    case("a declared input", "src/lone.test.js", "passed inputs-differ file schema/a.txt", |p| {
        p.write("schema/a.txt", "2\n");
    }),
    case("a new declared input", "src/lone.test.js", "passed inputs-differ file schema/b.txt", |p| {
        p.write("schema/b.txt", "");
    }),
    case("a declared input is gone", "src/lone.test.js", "passed inputs-differ file schema/a.txt", |p| {
        p.remove("schema/a.txt");
    }),
    case("a declared input of another test", A, "reused", |p| p.write("schema/a.txt", "2\n")),
    // packages
    case(
        "a package of the project behind an installed one",
        "src/dep.test.js",
        "passed not-looked-at",
        |p| {
            fs::rename(p.path().join("node_modules/inner"), p.path().join("inner")).unwrap();
            p.link("../inner", "node_modules/inner");
        },
    ),
    case("a patched package", "src/dep.test.js", "passed inputs-differ package npm:dep", |p| {
        p.append("node_modules/dep/index.js", "// patched\n");
    }),
    case("a patched package of a package", "src/dep.test.js", "passed inputs-differ package npm:dep", |p| {
        p.write("node_modules/inner/index.js", "export const inner = 2;\n");
    }),
    case("a nested copy takes over", "src/dep.test.js", "passed inputs-differ package npm:dep", |p| {
        p.write("node_modules/dep/node_modules/inner/package.json", "{ \"name\": \"inner\", \"version\": \"2.0.0\", \"type\": \"module\", \"exports\": \"./index.js\" }\n");
        p.write("node_modules/dep/node_modules/inner/index.js", "export const inner = 9;\n");
    }),
    case("another version, same code", "src/dep.test.js", "passed inputs-differ package npm:dep", |p| {
        replace(p, "node_modules/dep/package.json", "1.0.0", "1.0.1");
    }),
    case(
        "a linked package is not a copied one",
        "src/dep.test.js",
        "passed inputs-differ package npm:dep",
        |p| {
            fs::rename(p.path().join("node_modules/dep"), p.path().join("node_modules/.store-dep")).unwrap();
            p.link(".store-dep", "node_modules/dep");
        },
    ),
    case(
        "the package is gone",
        "src/dep.test.js",
        "failed class input-opaque: src/dep.test.js:3 dep (unresolved)",
        |p| {
            fs::remove_dir_all(p.path().join("node_modules/dep")).unwrap();
        },
    ),
    case("a file of the project in its place", "src/dep.test.js", "passed inputs-differ", |p| {
        p.write(
            "src/node_modules/dep/package.json",
            "{ \"name\": \"dep\", \"type\": \"module\", \"exports\": \"./index.js\" }\n",
        );
        p.write("src/node_modules/dep/index.js", "export const dep = 5;\n");
    }),
    // manifests
    case("the manifest", A, "passed inputs-differ file package.json", |p| {
        replace(p, "package.json", "\"name\": \"n\"", "\"name\": \"m\"")
    }),
    case("a nearer manifest", A, "passed inputs-differ", |p| {
        p.write("src/package.json", "{ \"type\": \"module\" }\n")
    }),
    case("other settings of owed", A, "passed inputs-differ policy settings", |p| {
        p.write("owed.toml", "[limits]\nfile_size = 4000000\n")
    }),
    // environment
    env(
        "a name that is read",
        "src/env.test.js",
        "passed inputs-differ environment LEVEL: was empty, is other",
        &[("LEVEL", "2")],
    ),
    env(
        "a name that makes it fail",
        "src/env.test.js",
        "failed inputs-differ environment LEVEL",
        &[("LEVEL", "bad")],
    ),
    env(
        "a name that nobody is known to read",
        A,
        "passed inputs-differ environment SOMETHING: was unset",
        &[("SOMETHING", "")],
    ),
    env("the time zone", "src/zone.test.js", "passed inputs-differ environment TZ", &[("TZ", "Asia/Tokyo")]),
    env("the locale", A, "passed inputs-differ environment LC_ALL", &[("LC_ALL", "de_DE.UTF-8")]),
    env(
        "options of node",
        A,
        "passed inputs-differ environment NODE_OPTIONS",
        &[("NODE_OPTIONS", "--no-warnings")],
    ),
    env("CI", A, "passed inputs-differ environment CI", &[("CI", "1")]),
    env("NODE_ENV", A, "passed inputs-differ environment NODE_ENV", &[("NODE_ENV", "test")]),
    env("TMPDIR", A, "passed inputs-differ environment TMPDIR", &[("TMPDIR", "/var/tmp")]),
    env(
        "the seed of Python's hashes",
        PY,
        "passed inputs-differ environment PYTHONHASHSEED",
        &[("PYTHONHASHSEED", "7")],
    ),
    env("Python's path", PY, "passed inputs-differ environment PYTHONPATH", &[("PYTHONPATH", "/nowhere")]),
    env(
        "warnings of Python",
        PY,
        "passed inputs-differ environment PYTHONWARNINGS",
        &[("PYTHONWARNINGS", "default")],
    ),
    // the command line
    case("the owner wants it run", A, "passed policy policy.reuse.never `src/a.*`: it pays", |p| {
        p.append("owed.toml", "[[policy.reuse.never]]\ntests = [\"src/a.*\"]\nreason = \"it pays\"\n");
    }),
    case("the owner wants another one run", "src/data.test.js", "reused", |p| {
        p.append("owed.toml", "[[policy.reuse.never]]\ntests = [\"src/a.*\"]\n");
    }),
    Case {
        name: "a lower deadline",
        does: |_| {},
        environment: &[],
        arguments: &["--timeout", "5m"],
        test: A,
        want: "passed inputs-differ command timeout",
    },
    Case {
        name: "words for the runner",
        does: |_| {},
        environment: &[],
        arguments: &["--", "--no-warnings"],
        test: A,
        want: "passed inputs-differ command arguments",
    },
    Case {
        name: "a strict environment",
        does: |_| {},
        environment: &[],
        arguments: &["--env-strict"],
        test: A,
        want: "passed inputs-differ command strict environment",
    },
    Case {
        name: "reuse switched off",
        does: |_| {},
        environment: &[],
        arguments: &["--no-reuse"],
        test: A,
        want: "passed",
    },
    case("another script", A, "passed inputs-differ", |p| {
        replace(p, "package.json", "node --test", "node --test --test-concurrency=1")
    }),
    // classes that are never reused
    case("the clock", "src/clock.test.js", "passed class time-opaque", |_| {}),
    case("a computed path", "src/bound.test.js", "passed class bounded", |_| {}),
    case("it reads the clock now", A, "passed class time-opaque", |p| {
        p.write("src/a.js", "export const a = Date.now();\n")
    }),
    case("it loads what is computed now", A, "passed class input-opaque", |p| {
        p.write(
            "src/a.js",
            "export const a = 1;\nexport const load = (x) => import(x);\nload(\"node:fs\");\n",
        );
    }),
    // receipts
    case("all skipped is no pass", "src/only-skipped.test.js", "passed no-receipt", |_| {}),
    case("no receipts", A, "passed no-receipt", |p| {
        fs::remove_dir_all(p.path().join(".owed/receipts")).unwrap()
    }),
    case("truncated receipts", A, "passed receipt-fault malformed", |p| {
        receipts(p, |file| {
            let text = fs::read(file).unwrap();
            fs::write(file, &text[..text.len() / 2]).unwrap();
        });
    }),
    case("empty receipts", A, "passed receipt-fault malformed", |p| {
        receipts(p, |file| fs::write(file, "").unwrap())
    }),
    case("receipts of version 1", A, "passed receipt-fault other-form", |p| {
        receipts(p, |file| {
            let text = fs::read_to_string(file).unwrap();
            fs::write(file, text.replace("owed.receipt/2", "owed.receipt/1")).unwrap();
        });
    }),
    case("an edited receipt", A, "passed receipt-fault tampered", |p| {
        receipts(p, |file| {
            let text = fs::read_to_string(file).unwrap();
            fs::write(file, text.replace("\"failed\":0", "\"failed\":1")).unwrap();
        });
    }),
    case("the table is gone", A, "passed receipt-fault", |p| {
        fs::remove_dir_all(p.path().join(".owed/receipts/tables")).unwrap()
    }),
    case("the table was edited", A, "passed receipt-fault tampered", |p| {
        for entry in fs::read_dir(p.path().join(".owed/receipts/tables")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("src/a.js", "src/b.js")).unwrap();
        }
    }),
    case("the receipt of another test under this name", A, "passed receipt-fault tampered", |p| {
        let dir = p.path().join(".owed/receipts/passed");
        let mut files: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        let texts: Vec<String> = files.iter().map(|f| fs::read_to_string(f).unwrap()).collect();
        for (file, text) in files.iter().zip(texts.iter().cycle().skip(1)) {
            fs::write(file, text).unwrap();
        }
    }),
    case("a receipt of an older state, the source of then", A, "reused", |p| {
        p.write("src/a.js", "export const a = 2;\n");
        assert_eq!(run(p, &[], &[]).code, 0);
        p.write("src/a.js", "export const a = 1;\n");
    }),
    // what hides, what is edited behind its name, what moves
    case("a hard link, edited behind it", A, "passed inputs-differ file src/a.js", |p| {
        fs::hard_link(p.path().join("src/a.js"), p.path().join("ignored.js")).unwrap();
        p.write("ignored.js", "export const a = 4;\n");
    }),
    case("a link retargeted", A, "passed", |p| {
        p.write("src/one.js", "export const a = 1;\n");
        p.write("src/two.js", "export const a = 2;\n");
        p.remove("src/a.js");
        p.link("one.js", "src/a.js");
        assert_eq!(run(p, &[], &[]).code, 0);
        p.remove("src/a.js");
        p.link("two.js", "src/a.js");
    }),
    case("a source by another case", A, "failed class unknown", |p| {
        fs::rename(p.path().join("src/a.js"), p.path().join("src/A.js")).unwrap();
    }),
    case("two files swapped", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/b.js", "export const a = 9;\n");
        fs::rename(p.path().join("src/a.js"), p.path().join("src/between")).unwrap();
        fs::rename(p.path().join("src/b.js"), p.path().join("src/a.js")).unwrap();
        fs::rename(p.path().join("src/between"), p.path().join("src/b.js")).unwrap();
    }),
    case("edited twice within a second", A, "passed inputs-differ file src/a.js", |p| {
        p.write("src/a.js", "export const a = 5;\n");
        assert_eq!(run(p, &[], &[]).code, 0);
        p.write("src/a.js", "export const a = 6;\n");
    }),
    case("a file where a folder may be", A, "passed", |p| {
        p.write("src/index/index.js", "export const a = 1;\n");
        replace(p, "src/a.test.js", "./index.js", "./index/index.js");
    }),
    case(
        "a listed file is a link now",
        "src/list.test.js",
        "passed inputs-differ listing src/pages: *",
        |p| {
            fs::rename(p.path().join("src/pages/one.txt"), p.path().join("src/real.txt")).unwrap();
            p.link("../real.txt", "src/pages/one.txt");
        },
    ),
    case("no access", "src/data.test.js", "failed", |p| {
        p.remove("src/data.txt");
        p.link("data.txt", "src/data.txt");
    }),
    case(
        "a module that hides one of the standard library",
        PY,
        "passed inputs-differ file py/colorsys.py: was no input",
        |p| {
            p.write("py/colorsys.py", "");
        },
    ),
    case("a package that hides one of the standard library", PY, "passed inputs-differ", |p| {
        p.write("py/wave/__init__.py", "");
    }),
    case("a module that hides nothing", PY, "reused", |p| p.write("py/colours.py", "")),
    case(
        "a moved project shows in a path of its own",
        "py/tests/test_place.py",
        "passed class bounded",
        |_| {},
    ),
    case("a module of Python's own startup", PY, "reused", |p| {
        p.write("py/usercustomize.py", "raise SystemExit\n")
    }),
    case("the cache is gone", A, "reused", |p| fs::remove_dir_all(p.path().join(".owed/cache")).unwrap()),
    case("the index is gone", A, "reused", |p| p.remove(".git/index")),
    case("the receipt of the same test in another state", A, "passed", |p| {
        p.write("src/a.js", "export const a = 8;\n");
        assert_eq!(run(p, &[], &[]).code, 0);
        let dir = p.path().join(".owed/receipts/last");
        let now: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
        for file in now {
            fs::write(&file, b"{}").unwrap();
        }
        p.write("src/a.js", "export const a = 10;\n");
    }),
    case("NUL bytes after a receipt", A, "passed receipt-fault", |p| {
        receipts(p, |file| {
            let mut text = fs::read(file).unwrap();
            text.extend([0; 512]);
            fs::write(file, text).unwrap();
        });
    }),
    // what the environment or the command line loads
    Case {
        name: "a module that options of node load",
        does: |p| p.write("more.mjs", "globalThis.more = 1;\n"),
        environment: &[("NODE_OPTIONS", "--import ./more.mjs")],
        arguments: &[],
        test: A,
        want: "passed not-looked-at NODE_OPTIONS has `--import`",
    },
    env(
        "conditions that options of node set",
        A,
        "passed not-looked-at NODE_OPTIONS has `--conditions=x`",
        &[("NODE_OPTIONS", "--conditions=x")],
    ),
    env(
        "options of node are nothing to Python",
        PY,
        "passed inputs-differ environment NODE_OPTIONS",
        &[("NODE_OPTIONS", "--conditions=x")],
    ),
    env(
        "a library that is put before all",
        A,
        "passed not-looked-at LD_PRELOAD is set",
        &[("LD_PRELOAD", "libnothing.so")],
    ),
    env(
        "links that node is to keep",
        A,
        "passed not-looked-at NODE_PRESERVE_SYMLINKS",
        &[("NODE_PRESERVE_SYMLINKS", "1")],
    ),
    Case {
        name: "a module that the command line loads",
        does: |p| p.write("more.mjs", "globalThis.more = 1;\n"),
        environment: &[],
        arguments: &["--", "--import", "./more.mjs"],
        test: A,
        want: "passed not-looked-at the command line has `--import`",
    },
    Case {
        name: "a filter on the command line",
        does: |_| {},
        environment: &[],
        arguments: &["--", "--test-name-pattern=nothing"],
        test: A,
        want: "passed not-looked-at the command line has",
    },
    Case {
        name: "a module on the path of the environment",
        does: |p| {
            p.write("more/extra.py", "V = 1\n");
            assert_eq!(run(p, &[], &[("PYTHONPATH", "../more")]).code, 0);
            p.write("more/extra.py", "V = 2\n");
        },
        environment: &[("PYTHONPATH", "../more")],
        arguments: &[],
        test: PY,
        want: "passed inputs-differ pin ../more of PYTHONPATH changed",
    },
    Case {
        name: "a path of the environment, the same",
        does: |p| {
            p.write("more/extra.py", "V = 1\n");
            assert_eq!(run(p, &[], &[("PYTHONPATH", "../more")]).code, 0);
        },
        environment: &[("PYTHONPATH", "../more")],
        arguments: &[],
        test: PY,
        want: "reused",
    },
];
