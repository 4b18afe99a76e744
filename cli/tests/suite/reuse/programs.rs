//! Programs under the same name: other bytes, scripts that start them, what such scripts
//! read. `PATH` stays the same throughout.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::said;
use crate::harness::{Project, owed_in};

const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
    ),
    (
        "a.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n\ntest(\"a\", () => assert.ok(1));\n",
    ),
    ("py/pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n"),
    (
        "py/tests/test_a.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(1)\n",
    ),
    ("py/tests/__init__.py", ""),
];

const JS: &str = "a.test.js";
const PY: &str = "py/tests/test_a.py";

/// Programs of this machine, and a folder that is first on `PATH`.
struct Bin {
    dir: tempfile::TempDir,
    node: PathBuf,
    python: PathBuf,
}

impl Bin {
    fn new() -> Self {
        let bin = Self {
            dir: tempfile::tempdir().unwrap(),
            node: real("node", &["-p", "process.execPath"]),
            python: real("python3", &["-c", "import os, sys; print(os.path.realpath(sys.executable))"]),
        };
        bin.link("node", &bin.node);
        bin.link("python3", &bin.python);
        bin
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn link(&self, name: &str, to: &Path) {
        let _ = fs::remove_file(self.at(name));
        symlink(to, self.at(name)).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        let _ = fs::remove_file(self.at(name));
        fs::write(self.at(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn text(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    /// node with a byte more at its end.
    fn other_node(&self) -> PathBuf {
        let other = self.at("other/node");
        fs::create_dir(self.at("other")).unwrap();
        fs::copy(&self.node, &other).unwrap();
        let mut bytes = fs::read(&other).unwrap();
        bytes.push(b'\n');
        fs::write(&other, bytes).unwrap();
        other
    }
}

fn real(program: &str, arguments: &[&str]) -> PathBuf {
    let output = Command::new(program).args(arguments).output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

pub(super) struct Case {
    name: &'static str,
    before: fn(&Bin),
    after: fn(&Bin),
    test: &'static str,
    want: &'static str,
}

fn nothing(_: &Bin) {}

fn starts_what_a_file_names(bin: &Bin) {
    bin.script("node", "exec \"$(cat \"$(dirname \"$0\")/chosen\")\" \"$@\"");
    bin.text("chosen", &bin.node.to_string_lossy());
}

fn sets_what_a_file_says(bin: &Bin) {
    let text = format!("LEVEL=$(cat \"$(dirname \"$0\")/level\") exec {} \"$@\"", bin.python.display());
    bin.script("python3", &text);
    bin.text("level", "1");
}

pub(super) const CASES: &[Case] = &[
    Case { name: "the same programs", before: nothing, after: nothing, test: JS, want: "reused" },
    Case {
        name: "another node behind the same link",
        before: nothing,
        after: |bin| bin.link("node", &bin.other_node()),
        test: JS,
        want: "passed inputs-differ toolchain node changed",
    },
    Case {
        name: "a script in the place of node",
        before: nothing,
        after: |bin| bin.script("node", &format!("exec {} \"$@\"", bin.node.display())),
        test: JS,
        want: "passed inputs-differ toolchain node",
    },
    Case {
        name: "a script that starts node, the same",
        before: starts_what_a_file_names,
        after: nothing,
        test: JS,
        want: "reused",
    },
    Case {
        name: "a script starts another node",
        before: starts_what_a_file_names,
        after: |bin| bin.text("chosen", &bin.other_node().to_string_lossy()),
        test: JS,
        want: "passed inputs-differ toolchain node in the end changed",
    },
    Case {
        name: "a script gives node other options",
        before: |bin| {
            let text = format!("exec {} $(cat \"$(dirname \"$0\")/options\") \"$@\"", bin.node.display());
            bin.script("node", &text);
            bin.text("options", "--no-warnings");
        },
        after: |bin| bin.text("options", "--no-deprecation"),
        test: JS,
        want: "passed inputs-differ pin what node says changed",
    },
    Case {
        name: "a script that says nothing when it is asked",
        before: |bin| {
            bin.script("node", &format!("[ \"$1\" = -e ] && exit 3\nexec {} \"$@\"", bin.node.display()));
        },
        after: nothing,
        test: JS,
        want: "passed not-looked-at",
    },
    Case {
        name: "a script that starts Python, the same",
        before: sets_what_a_file_says,
        after: nothing,
        test: PY,
        want: "reused",
    },
    Case {
        name: "a script gives Python another environment",
        before: sets_what_a_file_says,
        after: |bin| bin.text("level", "2"),
        test: PY,
        want: "passed inputs-differ pin what python3 adds to the environment changed",
    },
    Case {
        name: "the other program changes nothing",
        before: nothing,
        after: |bin| bin.link("node", &bin.other_node()),
        test: PY,
        want: "reused",
    },
];

#[test]
fn a_program_is_what_it_starts_in_the_end() {
    super::in_parallel(CASES, |case| {
        let bin = Bin::new();
        let project = Project::new(FILES);
        let path = format!("{}:{}", bin.dir.path().display(), std::env::var("PATH").unwrap());
        let run = || {
            let environment = [("PATH", path.as_str()), ("VIRTUAL_ENV", ""), ("TMPDIR", "/tmp")];
            owed_in(project.path(), &["run", "--all", "--format", "json"], &environment)
        };
        (case.before)(&bin);
        let first = run();
        if first.code != 0 {
            return Some(format!(
                "{}: the first run gave {}\n{}{}",
                case.name, first.code, first.out, first.err
            ));
        }
        (case.after)(&bin);
        let said = said(&run(), case.test);
        (!said.starts_with(case.want)).then(|| format!("{}: wanted `{}`, got `{said}`", case.name, case.want))
    });
}
