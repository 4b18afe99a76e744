//! Scripts that start node's test runner, and what they say.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::tree::Tree;

use crate::runners::compiled::{self, Output};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::manifest::Packages;
use crate::runners::shell::{self, Command};

/// What `node --test` runs when it is given no pattern.
const DEFAULT: &[&str] = &["**/{test,test/**/*,test-*,*[-._]test}.?(c|m)[jt]s"];
const VALUED: &[&str] = &[
    "--import",
    "--require",
    "-r",
    "--loader",
    "--experimental-loader",
    "--env-file",
    "--env-file-if-exists",
    "--test-reporter",
    "--test-reporter-destination",
    "--test-name-pattern",
    "--test-skip-pattern",
    "--test-concurrency",
    "--test-timeout",
    "--test-shard",
    "--test-global-setup",
    "--conditions",
    "-C",
    "--test-coverage-include",
    "--test-coverage-exclude",
    "--tsconfig",
    "--max-old-space-size",
    "--input-type",
];

/// One way in which node's test runner is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start {
    /// The working directory.
    pub(super) dir: String,
    /// What goes back into the command.
    pub(super) flags: Vec<String>,
    /// Files, directories and globs.
    pub(super) patterns: Vec<String>,
    /// `--import`, `--require`, `--loader`, and the program when it is a package.
    pub(super) modules: Vec<String>,
    /// Local reporters.
    pub(super) reporters: Vec<String>,
    /// `--test-global-setup`.
    pub(super) setups: Vec<String>,
    /// `--env-file`.
    pub(super) env_files: Vec<String>,
    /// `--conditions`.
    pub(super) conditions: Vec<String>,
    /// Whether a pattern cannot be read.
    pub(super) unclear: bool,
}

impl Start {
    /// A start that no script writes down, for files of the package in `dir`.
    pub(super) fn without_script(packages: &Packages, dir: &str, typed: bool) -> Self {
        let tsx = typed && packages.declared(dir, "tsx").is_some();
        let words = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        Self {
            dir: dir.to_owned(),
            flags: if tsx { words(&["--import", "tsx"]) } else { Vec::new() },
            modules: if tsx { words(&["tsx"]) } else { Vec::new() },
            ..Self::default()
        }
    }

    /// The directory below which its tests lie.
    pub(super) fn base(&self) -> String {
        if self.patterns.iter().any(|p| p.starts_with("../")) { String::new() } else { self.dir.clone() }
    }

    /// The rule that lists its tests, and the output they are compiled to before they run.
    pub(super) fn globs(&mut self, tree: &dyn Tree, outputs: &[Output]) -> (Globs, Option<Output>) {
        let given = !self.patterns.is_empty();
        let patterns: Vec<&str> =
            if given { self.patterns.iter().map(String::as_str).collect() } else { DEFAULT.to_vec() };
        let mut inside = Vec::new();
        for pattern in patterns {
            let plain = path::join(&self.dir, pattern.trim_end_matches('/'));
            match plain {
                Some(plain) if !pattern.contains(['*', '{', '[', '?', '(']) => {
                    let file = glob::escape(&plain);
                    // Older versions take a directory for everything below it.
                    if tree.is_dir(&plain) {
                        let slash = if file.is_empty() { "" } else { "/" };
                        inside.push(format!("{file}{slash}**/*.?(c|m)[jt]s"));
                    }
                    inside.push(file);
                }
                _ => inside.extend(glob::at(&self.dir, pattern)),
            }
        }
        let mut output = None;
        for pattern in inside.clone() {
            if !given || !compiled::is_missing(tree, &pattern) {
                continue;
            }
            let sources = compiled::sources(tree, outputs, &pattern);
            self.unclear |= sources.is_empty();
            for (source, from) in sources {
                inside.push(source);
                output.get_or_insert(from);
            }
        }
        (Globs::new(&inside, Style { dot: true }), output)
    }
}

/// Every start, sorted.
pub(super) fn all(packages: &Packages) -> BTreeSet<Start> {
    let mut starts = BTreeSet::new();
    for package in packages.running() {
        for (_, script) in package.scripts() {
            for command in shell::commands(&script) {
                let command = globbed(command);
                starts.extend(start(&package.dir, &command));
            }
        }
    }
    starts
}

/// `glob -c "tsx --test" "test/**/*.ts"` runs its command with the files that match.
fn globbed(command: Command) -> Command {
    if command.program != "glob" {
        return command;
    }
    let Some(inner) = command.value(&["-c", "--cmd"]).and_then(|c| shell::commands(c).into_iter().next())
    else {
        return command;
    };
    let mut arguments = inner.arguments;
    arguments.extend(command.positional(&["-c", "--cmd"]).into_iter().map(str::to_owned));
    Command { program: inner.program, arguments, dir: command.dir, environment: command.environment }
}

fn start(dir: &str, command: &Command) -> Option<Start> {
    let tests = command.has(&["--test", "--experimental-test"]);
    let (program, implied): (Option<&str>, &[&str]) = match command.program.as_str() {
        "node" | "node.exe" if tests => (None, &[]),
        "tsx" if tests => (Some("tsx"), &["tsx"]),
        "ts-node" | "ts-node-esm" if tests => (Some("ts-node"), &["ts-node"]),
        "borp" => (None, &["borp"]),
        _ => return None,
    };
    let dir = path::join(dir, command.dir.as_deref().unwrap_or(""))?;
    let own = |names: &[&str]| command.values(names).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let mut flags: Vec<String> = program.into_iter().map(str::to_owned).collect();
    let options: [(&str, &[&str]); 6] = [
        ("--import", &["--import"]),
        ("--require", &["--require", "-r"]),
        ("--loader", &["--loader", "--experimental-loader"]),
        ("--conditions", &["--conditions", "-C"]),
        ("--env-file", &["--env-file"]),
        ("--test-global-setup", &["--test-global-setup"]),
    ];
    for (name, names) in options {
        for value in own(names) {
            // With `=`, for node takes some of them in no other form.
            flags.push(format!("{name}={value}"));
        }
    }
    for flag in [
        "--experimental-strip-types",
        "--experimental-transform-types",
        "--experimental-test-module-mocks",
        "--no-warnings",
        "--experimental-vm-modules",
    ] {
        if command.has(&[flag]) {
            flags.push(flag.to_owned());
        }
    }
    let patterns: Vec<String> = command.positional(VALUED).into_iter().map(str::to_owned).collect();
    let mut modules = own(&["--import", "--require", "-r", "--loader", "--experimental-loader"]);
    modules.extend(command.preloaded());
    modules.extend(implied.iter().map(|s| (*s).to_owned()));
    Some(Start {
        unclear: patterns.iter().any(|p| p.contains(['$', '`'])),
        reporters: own(&["--test-reporter"]).into_iter().filter(|r| r.starts_with('.')).collect(),
        setups: own(&["--test-global-setup"]),
        env_files: own(&["--env-file", "--env-file-if-exists"]),
        conditions: own(&["--conditions", "-C"]),
        dir,
        flags,
        patterns,
        modules,
    })
}
