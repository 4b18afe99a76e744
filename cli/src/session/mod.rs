//! One question to one project: its files, its configuration, what changed, and what
//! went wrong on the way.
//!
//! The project is read while git is asked what changed: neither needs the other, and
//! they take about as long.

mod change;
mod loader;
mod store;
mod timings;
mod tree;

use owed_engine::cache::{Cache, Time};
use owed_engine::problem::{NotChecked, Problem, Unchecked};
use owed_engine::project::{Delta, Plugins, Project, Reading};
use owed_engine::recall::look_ahead;
use owed_engine::runner::ConfigLoader;
use owed_engine::tree::Tree as _;
use owed_engine::vcs::VcsError;
use owed_gates::runs::digests::Digests;

pub(crate) use change::Question;
use timings::Timings;
use tree::SiteTree;

use crate::answer::{Base, NotCheckedFile, ProblemSeen};
use crate::args::{Against, Global};
use crate::complaint::Complaint;
use crate::config::{self, Config};
use crate::host;
use crate::output::Output;
use crate::progress::Spinner;
use crate::render::count;
use crate::site::{Git, Site};

/// A project that questions can be asked about.
pub(crate) struct Session {
    /// Where it is.
    pub site: Site,
    /// Its configuration.
    pub config: Config,
    tree: SiteTree,
    loader: Box<dyn ConfigLoader>,
    output: Output,
    timings: Timings,
    /// What earlier runs have kept, and when this one began, by the clock of the disk.
    cache: Option<(Cache, Time)>,
}

/// What changed, and between what.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// The changes.
    pub delta: Delta,
    /// The revisions; `None` when there is nothing that was compared with.
    pub base: Option<Base>,
    /// Between what, for people.
    pub sentence: String,
    /// What could not be told.
    pub trouble: Trouble,
}

/// What could not be told outside of the engine.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    /// In words.
    pub problems: Vec<Problem>,
    /// Files that were not looked at.
    pub not_checked: Vec<NotChecked>,
}

impl Trouble {
    fn say(&mut self, code: &str, path: &str, detail: String) {
        self.problems.push(Problem { code: code.to_owned(), path: path.to_owned(), line: None, detail });
    }
}

impl Session {
    /// Finds the project and its files, and reads its configuration.
    pub(crate) fn open(global: &Global, against: &Against, output: &Output) -> anyhow::Result<Self> {
        Self::open_to(global, against, output, None)
    }

    /// The same; while git looks at the working tree, what is kept of a `reading` is opened.
    pub(crate) fn open_to(
        global: &Global,
        against: &Against,
        output: &Output,
        reading: Option<Reading>,
    ) -> anyhow::Result<Self> {
        let timings = Timings::start(global.timings, output);
        let site = timings.step("site", || Site::open(&global.cwd), |_| String::new())?;
        let of_objects = against.staged || against.revision.is_some();
        let cache = if global.no_cache { None } else { store::open(&site.root, of_objects) };
        if !of_objects && let Some(repository) = site.repository() {
            repository.ask_ahead();
            if let (Some((cache, _)), Some(reading), "") = (&cache, reading, site.prefix.as_str()) {
                let look = || look_ahead(cache, &site.root, reading, config::default_limit());
                timings.step("ahead", look, |()| String::new());
            }
        }
        let tree_of = |limit| SiteTree::new(&site, against, limit, cache.as_ref().map(|(cache, _)| cache));
        let (config, tree) = timings.step(
            "files",
            || -> anyhow::Result<(Config, SiteTree)> {
                if against.staged || against.revision.is_some() {
                    // The configuration is judged like every other file: by the bytes in git.
                    let tree = tree_of(config::default_limit())?;
                    let config = config::load(|name| text_in(&tree, name))?;
                    let same = config.settings.file_size == config::default_limit();
                    let tree = if same { tree } else { tree_of(config.settings.file_size)? };
                    Ok((config, tree))
                } else {
                    let config = config::load(|name| text_on_disk(&site, name))?;
                    let tree = tree_of(config.settings.file_size)?;
                    Ok((config, tree))
                }
            },
            |opened| {
                opened.as_ref().map_or_else(|_| String::new(), |(_, tree)| count(tree.files().len(), "file"))
            },
        )?;
        let loader = loader::choose(&site, against, global.is_static);
        Ok(Self { site, config, tree, loader, output: *output, timings, cache })
    }

    /// The inventory.
    pub(crate) fn files(&self) -> &[String] {
        self.tree.files()
    }

    /// Reads and resolves the project.
    pub(crate) fn read(&self, reading: Reading) -> Project<'_> {
        let _spinner = Spinner::start("reading the project", self.output.view.quiet);
        self.load(reading)
    }

    /// The same with every language, those that no runner runs included, and with what
    /// `files` depend on although no test reaches them. Nothing of it is kept.
    pub(crate) fn read_beyond(&self, files: &[String]) -> Project<'_> {
        let _spinner = Spinner::start("reading the project", self.output.view.quiet);
        let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
        let mut project = Project::read(&self.tree, plugins, self.config.settings.clone(), Reading::Files);
        project.discover(&*self.loader);
        project.followed = files.to_vec();
        project.resolve();
        project
    }

    /// Reads the project and, at the same time, finds out what changed.
    pub(crate) fn compare(
        &self,
        question: &Question<'_>,
        reading: Reading,
    ) -> anyhow::Result<(Project<'_>, Compared)> {
        question.needs(&self.site)?;
        let _spinner = Spinner::start("reading the project", self.output.view.quiet);
        std::thread::scope(|scope| {
            let changes = scope.spawn(|| self.timed("changes", || change::find(&self.site, question)));
            let project = self.load(reading);
            let found = changes.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let compared = change::settle(&self.site, &project, question, found)?;
            Ok((project, compared))
        })
    }

    fn load(&self, reading: Reading) -> Project<'_> {
        let plugins = Plugins { languages: owed_plugins::selecting(), runners: owed_plugins::runners() };
        let settings = || self.config.settings.clone();
        let cache = self.cache.as_ref().map(|(cache, _)| cache);
        let recalled = cache.and_then(|cache| {
            self.timings.step(
                "recall",
                || Project::recall(&self.tree, plugins, settings(), reading, &*self.loader, cache),
                |project| project.as_ref().map_or("not as it was", |_| "as it was").to_owned(),
            )
        });
        let project = recalled.unwrap_or_else(|| {
            let mut project = self.timings.step(
                "read",
                || Project::read_with(&self.tree, plugins, settings(), reading, cache),
                |project| {
                    let sources = count(project.facts.len(), "source");
                    match cache.map(Cache::hits_and_misses) {
                        Some((hits, misses)) => format!("{sources}, {hits} known, {misses} parsed"),
                        None => sources,
                    }
                },
            );
            self.timings.step("discover", || project.discover(&*self.loader), |()| String::new());
            self.timings.step("resolve", || project.resolve(), |()| String::new());
            self.timings.step("keep", || project.keep(), |()| String::new());
            project
        });
        if let Some((cache, opened)) = &self.cache {
            self.tree.keep(cache, *opened);
            for note in cache.notes() {
                self.timings.remark(&note);
            }
        }
        let (nodes, edges) = project.graph.size();
        self.timings.remark(&format!(
            "graph      {}, {}, {}, {nodes} nodes, {edges} edges",
            count(project.suites.len(), "runner project"),
            count(project.tests.len(), "test"),
            match project.classes.len() {
                1 => "1 resolution class".to_owned(),
                n => format!("{n} resolution classes"),
            }
        ));
        project
    }

    /// Adds what this session and a comparison could not tell to an answer's lists.
    pub(crate) fn add_trouble(
        &self,
        trouble: &Trouble,
        not_checked: &mut Vec<NotCheckedFile>,
        problems: &mut Vec<ProblemSeen>,
    ) {
        let own = self.own_trouble();
        for trouble in [&own, trouble] {
            not_checked.extend(trouble.not_checked.iter().cloned().map(NotCheckedFile::from));
            problems.extend(trouble.problems.iter().cloned().map(ProblemSeen::from));
        }
        not_checked.sort_by(|a, b| (&a.path, a.reason, a.line).cmp(&(&b.path, b.reason, b.line)));
        not_checked.dedup();
        problems.sort();
        problems.dedup();
    }

    /// The files of the project.
    pub(crate) fn tree(&self) -> &dyn owed_engine::tree::Tree {
        &self.tree
    }

    /// Links of the project that lead nowhere, or in circles.
    pub(crate) fn broken_links(&self) -> Vec<String> {
        self.tree.broken_links()
    }

    /// What could not be looked at, and what is odd about the place.
    pub(crate) fn trouble(&self) -> Trouble {
        self.own_trouble()
    }

    fn own_trouble(&self) -> Trouble {
        let mut trouble = self.tree.trouble(&self.site);
        if let Some(source) = self.config.source {
            for (key, purpose) in &self.config.without_effect {
                let detail = format!("`{key}` has no effect on plans: it sets {purpose}");
                trouble.say("setting-without-effect", source, detail);
            }
        }
        if let Git::Failed(error) = &self.site.git {
            trouble.say("git-unavailable", "", error.to_string());
        }
        trouble
    }

    /// Digests of files that earlier calls have read.
    pub(crate) fn digests(&self) -> Digests {
        let of = |(_, start): &(Cache, Time)| Digests::of(&self.site.root, *start);
        self.cache.as_ref().map_or_else(Digests::none, of)
    }

    /// Keeps those that were read now.
    pub(crate) fn keep_digests(&self, digests: &Digests) {
        if let Err(error) = digests.keep(&self.site.root) {
            self.timings.remark(&format!("digests could not be kept: {error}"));
        }
    }

    /// Runs `work`, and notes how long it took.
    pub(crate) fn timed<T>(&self, phase: &str, work: impl FnOnce() -> T) -> T {
        self.timings.step(phase, work, |_| String::new())
    }
}

fn text_on_disk(site: &Site, name: &str) -> anyhow::Result<Option<String>> {
    host::read_text(&site.root.join(name)).map_err(|error| unreadable(name, &error.to_string()))
}

fn text_in(tree: &SiteTree, name: &str) -> anyhow::Result<Option<String>> {
    match tree.read(name) {
        Ok(_) => tree.text(name).map(Some).ok_or_else(|| unreadable(name, "it is not UTF-8")),
        Err(Unchecked::TooLarge) => Err(unreadable(name, "it is too large")),
        // In a tree of objects, what cannot be read is not there.
        Err(_) => Ok(None),
    }
}

fn unreadable(name: &str, why: &str) -> anyhow::Error {
    let next = "make it readable, or remove it; it may hold the configuration";
    Complaint::new(format!("{name} cannot be read: {why}"), next).into()
}

/// What git could not do, and its remedy.
fn git_failed(error: &VcsError) -> Complaint {
    Complaint::new(error.sentence(), error.remedy())
}
