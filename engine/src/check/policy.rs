//! What a check is asked: which caps hold where, what is left out, and which of the three
//! questions are asked. Pure values; reading `owed.toml` is the caller's work.

use globset::GlobSet;

use crate::function::Limits;
use crate::project::{Settings, globs};

/// The cap on own tokens where nothing else is configured. The 99th percentile of public
/// code lies at 620 tokens for Python and 1,382 for JavaScript and TypeScript, the 90th at
/// 157 and 188: a function over 400 is far from the usual in either.
pub const DEFAULT_CAP: u32 = 400;

/// One `[[caps]]` table: a cap for some paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCap {
    /// Globs of the paths it holds for.
    pub paths: Vec<String>,
    /// The cap, in own tokens.
    pub cap: u32,
}

/// The caps of a project. Of several tables that hold for a path the last one counts, so
/// that exceptions can stand below the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Where no table holds.
    pub default: u32,
    /// The tables, in order.
    pub paths: Vec<PathCap>,
}

impl Default for Caps {
    fn default() -> Self {
        Self { default: DEFAULT_CAP, paths: Vec::new() }
    }
}

impl Caps {
    /// The caps with their globs compiled.
    pub fn compile(&self) -> CompiledCaps {
        let tables = self.paths.iter().map(|table| (globs(&table.paths), table.cap)).collect();
        CompiledCaps { default: self.default, tables }
    }
}

/// [`Caps`], ready to be asked.
#[derive(Clone, Debug)]
pub struct CompiledCaps {
    default: u32,
    tables: Vec<(GlobSet, u32)>,
}

impl CompiledCaps {
    /// The cap of the functions in the file at `path`.
    pub fn of(&self, path: &str) -> u32 {
        let hit = self.tables.iter().rev().find(|(paths, _)| paths.is_match(path));
        hit.map_or(self.default, |(_, cap)| *cap)
    }
}

/// Which questions are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Questions {
    /// Functions over their cap, and the ratchet.
    pub tokens: bool,
    /// Implementations written twice.
    pub repeated: bool,
    /// Cyclomatic and cognitive complexity, and CRAP where coverage is given.
    pub complexity: bool,
}

impl Default for Questions {
    fn default() -> Self {
        Self { tokens: true, repeated: true, complexity: true }
    }
}

/// What is asked of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The caps.
    pub caps: Caps,
    /// Globs of files to leave out (`exclude` of the configuration).
    pub exclude: Vec<String>,
    /// Files over this many bytes are not parsed.
    pub file_size: u64,
    /// How far readers go into one file.
    pub limits: Limits,
    /// Which questions.
    pub questions: Questions,
    /// Whether repeated implementations are looked for across files, not only inside one.
    pub across_files: bool,
    /// Whether near misses, repeated blocks and callee-blinded matches are looked for, too.
    pub advice: bool,
    /// Whether every function is listed, not only those over their cap.
    pub all_functions: bool,
    /// Only these files and folders (project-relative); empty for everything.
    pub within: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            caps: Caps::default(),
            exclude: Vec::new(),
            file_size: crate::read::DEFAULT_SIZE_LIMIT,
            limits: Limits::default(),
            questions: Questions::default(),
            across_files: false,
            advice: false,
            all_functions: false,
            within: Vec::new(),
        }
    }
}

impl Policy {
    /// What the settings of a project say, and the defaults for the rest.
    pub fn of(settings: &Settings) -> Self {
        Self { exclude: settings.exclude.clone(), file_size: settings.file_size, ..Self::default() }
    }

    /// Whether `path` lies in what is asked about.
    pub fn holds(&self, path: &str) -> bool {
        self.within.is_empty() || self.within.iter().any(|dir| crate::path::is_within(path, dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_table_that_holds_counts() {
        let table = |glob: &str, cap| PathCap { paths: vec![glob.to_owned()], cap };
        let caps =
            Caps { default: 400, paths: vec![table("src/**", 200), table("src/old/**", 900)] }.compile();
        assert_eq!(caps.of("src/a.ts"), 200);
        assert_eq!(caps.of("src/old/a.ts"), 900);
        assert_eq!(caps.of("lib/a.ts"), 400);
    }

    #[test]
    fn a_folder_is_no_prefix_of_its_neighbour() {
        let policy = Policy { within: vec!["app".to_owned()], ..Policy::default() };
        assert!(policy.holds("app/x.ts"));
        assert!(!policy.holds("app2/x.ts"));
    }
}
