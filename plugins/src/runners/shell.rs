//! Commands of `package.json` scripts, as words. A small part of the shell: quotes,
//! escapes, `&&`, `||`, `;`, `|`, leading assignments and the wrappers that only set the
//! environment. It expands nothing; a word with `$` stays as it is.

use owed_engine::path;

/// One command of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program, without directory: `vitest`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The directory it is started in, when the script changes to one first.
    pub dir: Option<String>,
    /// Names it sets for the command, with their values.
    pub environment: Vec<(String, String)>,
}

/// The option with which jest runs ECMAScript modules as such.
pub const VM_MODULES: &str = "--experimental-vm-modules";

/// Programs that run the command that follows them.
const WRAPPERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "cross-env",
    "cross-env-shell",
    "env",
    "dotenv",
    "time",
    "nice",
    "command",
    "exec",
    "c8",
    "nyc",
    "wireit",
    "doppler",
    "infisical",
    "varlock",
    "dotenvx",
    "env-cmd",
];

/// The commands of `script`, with wrappers taken off.
pub fn commands(script: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut dir: Option<String> = None;
    for words in split(script) {
        let all = words;
        let words = unwrapped(&all);
        let Some((program, arguments)) = words.split_first() else { continue };
        if program == "cd" {
            dir = arguments.first().cloned();
            continue;
        }
        commands.push(Command {
            program: program.rsplit('/').next().unwrap_or(program).to_owned(),
            arguments: arguments.to_vec(),
            dir: dir.clone(),
            environment: environment(&all[..all.len() - words.len()]),
        });
    }
    commands
}

/// What words that stand before a command say about its environment: assignments, and
/// options of a node that runs the command's file.
fn environment(words: &[String]) -> Vec<(String, String)> {
    words
        .iter()
        .filter(|w| is_assignment(w))
        .filter_map(|w| w.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .chain(words.iter().filter(|w| *w == VM_MODULES).map(|w| ("NODE_OPTIONS".to_owned(), w.clone())))
        .collect()
}

/// Takes assignments and wrappers off the front.
fn unwrapped(words: &[String]) -> &[String] {
    let mut words = words;
    for _ in 0..8 {
        let Some(first) = words.first() else { return words };
        let name = first.rsplit('/').next().unwrap_or(first);
        if is_assignment(first) {
            words = &words[1..];
        } else if WRAPPERS.contains(&name) {
            words = after_options(&words[1..]);
        } else if matches!(name, "pnpm" | "yarn" | "bun" | "npm") {
            match words.get(1).map(String::as_str) {
                Some("exec" | "dlx" | "x") => words = after_options(&words[2..]),
                // `yarn vitest`, `pnpm vitest`: the name of a program or of a script.
                Some("vitest" | "jest" | "mocha") if name != "npm" => words = &words[1..],
                Some("node") if name == "yarn" => words = &words[1..],
                _ => return words,
            }
        } else if name == "node" && words.iter().skip(1).any(|w| is_entry(w)) {
            // `node ./node_modules/vitest/vitest.mjs run`, `node --flag node_modules/.bin/jest`.
            let at = words.iter().position(|w| is_entry(w)).unwrap_or(0);
            return &words[at..];
        } else {
            return words;
        }
    }
    words
}

/// Whether a word is a runner's own file, so that what follows are its arguments.
fn is_entry(word: &str) -> bool {
    word.contains("node_modules/")
        && matches!(
            word.rsplit('/').next().unwrap_or(""),
            "vitest.mjs" | "vitest" | "jest.js" | "jest" | "mocha" | "mocha.js" | "_mocha"
        )
}

fn after_options(mut words: &[String]) -> &[String] {
    while let Some(first) = words.first() {
        if first == "--" {
            return &words[1..];
        }
        // `dotenv -e .env.test`, `npx -p x`: the option's value goes with it.
        if matches!(first.as_str(), "-e" | "-f" | "-p" | "--package" | "-c" | "-r") && words.len() > 1 {
            words = &words[2..];
        } else if first.starts_with('-') || is_assignment(first) {
            words = &words[1..];
        } else {
            return words;
        }
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The directories that `NODE_PATH` names for `command` in `dir`, project-relative.
pub fn node_path(command: &Command, dir: &str) -> Vec<String> {
    let value = command.set("NODE_PATH").unwrap_or_default();
    value.split([':', ';']).filter(|d| !d.is_empty()).filter_map(|d| path::join(dir, d)).collect()
}

/// The words of each simple command of `script`.
pub fn split(script: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            // An extended glob that nobody quoted: `test/+(a|b).js`.
            '(' if word.is_some() => {
                let word = word.get_or_insert_default();
                word.push('(');
                for c in chars.by_ref() {
                    word.push(c);
                    if c == ')' {
                        break;
                    }
                }
            }
            '&' | '|' | ';' | '\n' | '(' | ')' => {
                words.extend(word.take());
                if !words.is_empty() {
                    commands.push(std::mem::take(&mut words));
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        commands.push(words);
    }
    commands
}

impl Command {
    /// Every value of the option with one of `names` (`--config`, `-c`), in order.
    pub fn values(&self, names: &[&str]) -> Vec<&str> {
        let mut values = Vec::new();
        let mut at = 0;
        while let Some(word) = self.arguments.get(at) {
            if word == "--" {
                break;
            }
            if names.contains(&word.as_str()) {
                if let Some(value) = self.arguments.get(at + 1) {
                    values.push(value.as_str());
                    at += 1;
                }
            } else if let Some((name, value)) = word.split_once('=')
                && names.contains(&name)
            {
                values.push(value);
            }
            at += 1;
        }
        values
    }

    /// The last value of such an option.
    pub fn value(&self, names: &[&str]) -> Option<&str> {
        self.values(names).pop()
    }

    /// What the name `name` is set to for the command.
    pub fn set(&self, name: &str) -> Option<&str> {
        self.environment.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Modules that `NODE_OPTIONS` has node load first.
    pub fn preloaded(&self) -> Vec<String> {
        let arguments = split(self.set("NODE_OPTIONS").unwrap_or_default()).into_iter().flatten().collect();
        let node = Self { arguments, ..Self::default() };
        let values = node.values(&["--require", "-r", "--import", "--loader", "--experimental-loader"]);
        values.into_iter().map(str::to_owned).collect()
    }

    /// Whether a flag with one of `names` is given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.arguments.iter().any(|w| names.contains(&w.as_str()))
    }

    /// The arguments that are no options, when `with_value` are the options that take one.
    pub fn positional(&self, with_value: &[&str]) -> Vec<&str> {
        let mut positional = Vec::new();
        let mut at = 0;
        while let Some(word) = self.arguments.get(at) {
            if word == "--" {
                positional.extend(self.arguments[at + 1..].iter().map(String::as_str));
                break;
            }
            if with_value.contains(&word.as_str()) {
                at += 1;
            } else if !word.starts_with('-') {
                positional.push(word.as_str());
            }
            at += 1;
        }
        positional
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_become_commands() {
        let cases: &[(&str, &[&str])] = &[
            ("vitest run", &["vitest run"]),
            ("CI=1 cross-env NODE_ENV=test npx vitest --config x.ts", &["vitest --config x.ts"]),
            (
                "tsc && mocha -r ts-node/register 'test/**/*.spec.ts'",
                &["tsc ", "mocha -r ts-node/register test/**/*.spec.ts"],
            ),
            ("cd packages/a; jest", &["packages/a: jest "]),
            (
                "node --import ./setup.mjs --test \"src/**/*.test.js\"",
                &["node --import ./setup.mjs --test src/**/*.test.js"],
            ),
            ("pnpm exec jest --ci | tee x", &["jest --ci", "tee x"]),
            ("node ./node_modules/vitest/vitest.mjs run", &["vitest.mjs run"]),
            ("dotenv -e .env -- vitest", &["vitest "]),
            ("yarn jest", &["jest "]),
            ("pnpm -r test", &["pnpm -r test"]),
            ("c8 mocha", &["mocha "]),
            ("(vitest run)", &["vitest run"]),
            ("mocha test/+(a|b).js", &["mocha test/+(a|b).js"]),
        ];
        for (script, expected) in cases {
            let shown: Vec<String> = commands(script)
                .iter()
                .map(|c| {
                    let dir = c.dir.as_ref().map_or(String::new(), |d| format!("{d}: "));
                    format!("{dir}{} {}", c.program, c.arguments.join(" "))
                })
                .collect();
            assert_eq!(shown, *expected, "{script}");
        }
        let command = &commands("mocha --require a -r b --spec=c d")[0];
        assert_eq!(command.values(&["--require", "-r"]), ["a", "b"]);
        assert_eq!(command.positional(&["--require", "-r"]), ["d"]);
        let command =
            &commands("cross-env NODE_PATH=src NODE_OPTIONS='--import ./x.mjs --no-warnings' jest")[0];
        assert_eq!(command.set("NODE_PATH"), Some("src"));
        assert_eq!(command.preloaded(), ["./x.mjs"]);
    }
}
