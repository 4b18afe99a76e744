//! A temporary project, and the binary run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::schema;

/// A folder with a project in it, removed when the test ends.
pub(crate) struct Project {
    dir: tempfile::TempDir,
}

/// What one run of the binary did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Two modules, a barrel, three vitest tests and a Python package with its test.
pub(crate) const SHOP: &[(&str, &str)] = &[
    (
        "package.json",
        r#"{ "name": "shop", "private": true, "type": "module",
  "scripts": { "test": "vitest run" }, "devDependencies": { "vitest": "3.2.4" } }
"#,
    ),
    (
        "vitest.config.ts",
        "import { defineConfig } from \"vitest/config\";\nexport default defineConfig({});\n",
    ),
    (
        "tsconfig.json",
        "{ \"compilerOptions\": { \"module\": \"esnext\", \"moduleResolution\": \"bundler\" } }\n",
    ),
    ("src/index.ts", "export { a } from \"./a\";\n"),
    ("src/a.ts", "export const a = 1;\n"),
    ("src/lone.ts", "export const lone = 1;\n"),
    (
        "src/a.test.ts",
        "import { expect, test } from \"vitest\";\nimport { a } from \"./a\";\ntest(\"a\", () => expect(a).toBe(1));\n",
    ),
    (
        "src/barrel.test.ts",
        "import { expect, test } from \"vitest\";\nimport { a } from \"./index\";\ntest(\"b\", () => expect(a).toBe(1));\n",
    ),
    (
        "src/lone.test.ts",
        "import { expect, test } from \"vitest\";\nimport { lone } from \"./lone\";\ntest(\"l\", () => expect(lone).toBe(1));\n",
    ),
    ("README.md", "# shop\n"),
];

impl Project {
    /// A folder that is no repository.
    pub(crate) fn bare(files: &[(&str, &str)]) -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A repository with one commit that holds `files`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self::bare(files);
        project.git(&["init", "-q"]);
        project.commit("start");
        project
    }

    /// [`SHOP`], committed.
    pub(crate) fn shop() -> Self {
        Self::new(SHOP)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn append(&self, path: &str, text: &str) {
        let file = self.dir.path().join(path);
        let before = fs::read_to_string(&file).unwrap();
        fs::write(file, before + text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.dir.path().join(path)).unwrap();
    }

    pub(crate) fn link(&self, to: &str, at: &str) {
        std::os::unix::fs::symlink(to, self.dir.path().join(at)).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"])
            .args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs `owed` in the project's folder.
    pub(crate) fn owed(&self, arguments: &[&str]) -> Ran {
        owed_in(self.dir.path(), arguments, &[])
    }

    /// Runs `owed` in a folder of the project.
    pub(crate) fn owed_below(&self, dir: &str, arguments: &[&str]) -> Ran {
        owed_in(&self.dir.path().join(dir), arguments, &[])
    }

    /// The JSON answer of a command, checked against its committed schema.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.owed(&[arguments, &["--format", "json"]].concat());
        ran.json()
    }

    /// The paths of the tests that `owed plan ARGUMENTS` names.
    pub(crate) fn planned(&self, arguments: &[&str]) -> Vec<String> {
        let ran = self.owed(&[&["plan", "--format", "paths"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.lines().map(str::to_owned).collect()
    }
}

/// The binary under test.
pub(crate) fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_owed"))
}

/// Runs `owed` in `dir` with a clean environment and these variables.
pub(crate) fn owed_in(dir: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(dir).stdin(Stdio::null());
    for name in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]
    {
        command.env_remove(name);
    }
    // The answer must not depend on the user's own git configuration.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").envs(variables.iter().copied());
    Ran::from(command.output().unwrap())
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it was not killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The JSON answer, checked against its committed schema.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        let answer: Value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out));
        let tag = answer["schema"].as_str().expect("every answer names its schema");
        schema::check(tag, &answer);
        answer
    }

    /// Fails unless the command refused with code 2, said `what` and how to go on (`next`).
    #[track_caller]
    pub(crate) fn refused(&self, what: &str, next: &str) {
        assert_eq!(self.code, 2, "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(self.err.contains(what), "{:?} is not in: {}", what, self.err);
        assert!(self.err.contains(next), "{:?} is not in: {}", next, self.err);
        assert!(self.out.is_empty(), "an error prints no answer: {}", self.out);
    }

    /// Fails unless standard output holds every one of `texts`.
    #[track_caller]
    pub(crate) fn says(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.out.contains(text), "{text:?} is not in:\n{}\n{}", self.out, self.err);
        }
        self
    }
}

/// The texts in a JSON array.
pub(crate) fn texts(array: &Value) -> Vec<&str> {
    array.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// One field of each object in a JSON array.
pub(crate) fn fields<'a>(array: &'a Value, field: &str) -> Vec<&'a str> {
    array.as_array().unwrap().iter().map(|object| object[field].as_str().unwrap()).collect()
}
