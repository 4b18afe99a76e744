//! The commands that scripts and CI of a repository run tests with, read as text: which
//! paths they name, and which directories they put on `PYTHONPATH`. A hint, never a
//! proof: what is not found here is found by convention.

use owed_engine::path;
use owed_engine::tree::Tree;

/// Which test program a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `pytest`, `python -m pytest`.
    Pytest,
    /// `python -m unittest`.
    Unittest,
}

/// A command found in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Directory of the script; where its relative paths may start.
    pub(crate) dir: String,
    /// What it starts.
    pub(crate) program: Program,
    /// Its arguments as words.
    pub(crate) arguments: Vec<String>,
}

/// What the scripts of a repository say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Test commands, in order of file and line.
    pub(crate) found: Vec<Command>,
    /// Directories put on `PYTHONPATH`, project-relative.
    pub(crate) python_path: Vec<String>,
    /// Values of `DJANGO_SETTINGS_MODULE`, with the directory of the script.
    pub(crate) settings: Vec<(String, String)>,
}

fn is_script(file: &str) -> bool {
    let name = path::basename(file);
    let dir = path::dirname(file);
    let shallow = dir.split('/').count() <= 2;
    matches!(
        name,
        "tox.ini"
            | "noxfile.py"
            | "Makefile"
            | "makefile"
            | "GNUmakefile"
            | "justfile"
            | "Justfile"
            | "Taskfile.yml"
            | "tasks.py"
            | ".gitlab-ci.yml"
            | ".travis.yml"
            | "azure-pipelines.yml"
            | "hatch.toml"
            | "pyproject.toml"
            | "setup.cfg"
            | "Pipfile"
            | "runtests.sh"
    ) || (dir == ".github/workflows" && matches!(path::extension(name), "yml" | "yaml"))
        || file == ".circleci/config.yml"
        || (shallow && path::extension(name) == "sh")
}

impl Commands {
    /// Reads the scripts of `tree`.
    pub(crate) fn read(tree: &dyn Tree) -> Self {
        let mut commands = Self::default();
        for file in tree.files().iter().filter(|file| is_script(file)) {
            let words = ["pytest", "py.test", "unittest", "PYTHONPATH", "DJANGO_SETTINGS_MODULE"];
            if let Some(text) = tree.text_with(file, &words) {
                commands.scan(tree, file, &text);
            }
        }
        commands
    }

    /// Arguments that name something that exists, of commands of `program`: project-relative.
    pub(crate) fn paths(&self, tree: &dyn Tree, program: Program) -> Vec<String> {
        let mut paths = Vec::new();
        for command in self.found.iter().filter(|c| c.program == program) {
            for argument in command.arguments.iter().filter(|a| !a.starts_with('-')) {
                let found = place(tree, &command.dir, argument);
                paths.extend(found.filter(|p| !paths.contains(p)));
            }
        }
        paths
    }

    fn scan(&mut self, tree: &dyn Tree, file: &str, text: &str) {
        let dir = match path::dirname(file) {
            ".github/workflows" | ".circleci" => "",
            dir => dir,
        };
        let code = file.ends_with(".py") || file.ends_with(".toml");
        for line in text.replace("\\\n", " ").lines() {
            let line = line.trim();
            if line.starts_with('#') || line.starts_with("//") {
                continue;
            }
            let cleaned: String = line
                .chars()
                .map(|c| {
                    if matches!(c, '"' | '\'' | '`') || (code && matches!(c, ',' | '(' | ')' | '[' | ']')) {
                        ' '
                    } else {
                        c
                    }
                })
                .collect();
            let words: Vec<&str> = cleaned.split_whitespace().collect();
            self.python_path(tree, dir, line);
            for (at, word) in words.iter().enumerate() {
                let program = match *word {
                    "pytest" | "py.test" => Program::Pytest,
                    word if word.ends_with("/pytest") => Program::Pytest,
                    "unittest" if at > 0 && words[at - 1] == "-m" => Program::Unittest,
                    _ => continue,
                };
                let arguments = words[at + 1..]
                    .iter()
                    .take_while(|w| !matches!(**w, "&&" | "||" | ";" | "|" | "&" | ">" | "#"))
                    .map(|w| w.trim_end_matches(';').to_owned())
                    .collect();
                self.found.push(Command { dir: dir.to_owned(), program, arguments });
            }
        }
    }

    fn python_path(&mut self, tree: &dyn Tree, dir: &str, line: &str) {
        if let Some(module) = assigned(line, "DJANGO_SETTINGS_MODULE")
            && module.split('.').all(super::names::is_identifier)
        {
            self.settings.push((dir.to_owned(), module.to_owned()));
        }
        let Some(value) = assigned(line, "PYTHONPATH") else { return };
        for part in value.split(':').filter(|part| !part.is_empty()) {
            if let Some(found) = place(tree, dir, part)
                && tree.is_dir(&found)
                && !self.python_path.contains(&found)
            {
                self.python_path.push(found);
            }
        }
    }
}

/// The value that a line gives the variable `name`, in a shell's, YAML's, TOML's, tox's
/// or Python's way.
fn assigned<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = &line[line.find(name)? + name.len()..];
    let rest = rest.trim_start_matches(['"', '\'', ' ', ']']);
    let value = rest.strip_prefix(['=', ':', '+', '?', ','])?;
    let value = value.trim_start_matches(['=', ' ', '"', '\'']);
    value.split([' ', '"', '\'', ',', ')']).next().filter(|value| !value.is_empty())
}

/// The existing path that `written` means, from the script's directory or the root.
fn place(tree: &dyn Tree, dir: &str, written: &str) -> Option<String> {
    let mut text = written.split("::").next().unwrap_or(written);
    for variable in
        ["{toxinidir}", "{tox_root}", "$(CURDIR)", "$(PWD)", "${PWD}", "$PWD", "$(pwd)", "{[tox]toxinidir}"]
    {
        text = text.strip_prefix(variable).unwrap_or(text);
    }
    let text = text.trim_start_matches('/').trim_end_matches('/');
    if text.contains(['$', '{', '*']) {
        return None;
    }
    if text.is_empty() || text == "." {
        // `.` names the whole directory; an empty rest came from a variable.
        return (!written.is_empty()).then(|| dir.to_owned());
    }
    [dir, ""].iter().filter_map(|base| path::join(base, text)).find(|found| tree.kind(found).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use owed_engine::tree::MemoryTree;

    #[test]
    fn finds_commands_and_their_paths() {
        let files = [
            ("Makefile", "test:\n\tPYTHONPATH=lib:src python -m pytest tests -x && echo done\n"),
            ("noxfile.py", "session.run(\"pytest\", \"more\", *session.posargs)\n"),
            (".github/workflows/ci.yml", "      - run: python -m unittest discover -s unit -p 't*.py'\n"),
            ("tests/a.py", ""),
            ("more/a.py", ""),
            ("unit/a.py", ""),
            ("lib/a.py", ""),
        ];
        let tree = MemoryTree::new(files.map(|(p, t)| (p.to_owned(), t.as_bytes().to_vec())));
        let commands = Commands::read(&tree);
        assert_eq!(commands.paths(&tree, Program::Pytest), ["tests", "more"]);
        assert_eq!(commands.python_path, ["lib"]);
        let unittest = commands.found.iter().find(|c| c.program == Program::Unittest).unwrap();
        assert_eq!(unittest.arguments, ["discover", "-s", "unit", "-p", "t*.py"]);
        assert_eq!(unittest.dir, "");
    }
}
