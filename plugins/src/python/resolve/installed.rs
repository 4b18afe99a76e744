//! Into installed packages: Python's path finder over the `site-packages` of the project's
//! own environment, for whoever follows a closure through their bytes.
//!
//! Selection does not need this (the lock file says when a package changes). An environment
//! that lies outside of the project is not seen; its packages count as not installed.

use owed_engine::facts::{Import, ImportKind, Names};
use owed_engine::path;
use owed_engine::resolve::{Installed, InstalledModule};
use owed_engine::tree::{Kind, Tree};

use super::PythonResolver;
use super::index::join;
use crate::python::project::names::{is_identifier, is_stdlib};

/// Where environments lie in a project, by custom of their tools.
const ENVIRONMENTS: &[&str] = &[".venv", "venv", "env", ".env", "virtualenv"];

/// The `site-packages` of the environments that lie in these directories.
pub(crate) fn environments<'d>(tree: &dyn Tree, bases: impl IntoIterator<Item = &'d str>) -> Vec<String> {
    let mut bases: Vec<&str> = bases.into_iter().collect();
    bases.sort_unstable();
    bases.dedup();
    let mut sites = Vec::new();
    for base in bases {
        for environment in ENVIRONMENTS.iter().map(|name| join(base, name)) {
            sites.push(join(&environment, "Lib/site-packages"));
            for lib in ["lib", "lib64"] {
                let lib = join(&environment, lib);
                let versions = tree.list(&lib).into_iter().filter(|(name, _)| name.starts_with("python"));
                sites.extend(versions.map(|(name, _)| join(&lib, &format!("{name}/site-packages"))));
            }
        }
        sites.push(join(base, "site-packages"));
    }
    sites.retain(|site| tree.is_dir(site));
    // `lib64` is mostly a link to `lib`.
    let mut seen = Vec::new();
    sites.retain(|site| {
        let real = tree.real(site);
        let new = !seen.contains(&real);
        seen.push(real);
        new
    });
    sites
}

impl PythonResolver<'_> {
    /// What `import`, written in the file `from`, runs of an installed package.
    pub(super) fn package_of(&self, from: &str, import: &Import) -> Installed {
        let string = match import.kind {
            ImportKind::TypeOnly | ImportKind::Script => return Installed::Nothing,
            ImportKind::StringRef | ImportKind::Mock => true,
            _ => false,
        };
        let specifier = import.specifier.split([':', '/']).next().unwrap_or_default();
        let glob = specifier.find('*');
        let dotted = &specifier[..glob.unwrap_or(specifier.len())];
        let rest = dotted.trim_start_matches('.');
        let dots = dotted.len() - rest.len();
        let names: Vec<&str> = rest.split('.').filter(|name| !name.is_empty()).collect();
        if !names.iter().all(|name| is_identifier(name)) {
            return Installed::Nothing;
        }
        let sites = self.sites.get_or_init(|| self.find_sites());
        let site = sites.iter().find(|site| path::is_within(from, site));
        if dots > 0 {
            // Relative imports of the project are its own files.
            let Some(site) = site else { return Installed::Nothing };
            let Some(start) = path::ancestors(from).nth(dots - 1) else { return Installed::Nothing };
            let top = path::strip(from, site).and_then(|inside| inside.split('/').next()).unwrap_or_default();
            let mut module = Found::new(top, site);
            self.walk_site(start, &names, string, &mut module);
            if names.is_empty() {
                module.take_init(self, start);
            }
            return self.complete(module, import, glob.is_some());
        }
        let Some(&top) = names.first() else { return Installed::Nothing };
        // What the effect table has rows for is judged by them.
        if is_stdlib(top) || crate::python::read::models(top) {
            return Installed::Nothing;
        }
        for site in sites {
            let mut module = Found::new(top, site);
            if self.walk_site(site, &names, string, &mut module) {
                return self.complete(module, import, glob.is_some());
            }
        }
        let own = || self.trails(from, &names, false).iter().any(|trail| trail.depth > 0);
        if string || (site.is_some() && own()) {
            return Installed::Nothing;
        }
        let package = format!("pypi:{top}");
        match site {
            Some(site) if !self.sees_others(site) => Installed::Absent(package),
            _ => Installed::Missing(package),
        }
    }

    /// Whether the environment of a `site-packages` also uses packages of the system.
    fn sees_others(&self, site: &str) -> bool {
        path::ancestors(site).any(|dir| {
            let config = self.index.tree().text(&join(dir, "pyvenv.cfg"));
            config.is_some_and(|text| {
                let lines = text.lines().filter_map(|line| line.split_once('='));
                let mut lines = lines.map(|(key, value)| (key.trim(), value.trim()));
                lines.any(|line| line == ("include-system-site-packages", "true"))
            })
        })
    }

    /// The directories with installed packages.
    fn find_sites(&self) -> Vec<String> {
        let mut bases: Vec<&str> = self.starts.iter().map(String::as_str).collect();
        bases.push("");
        environments(self.index.tree(), bases)
    }

    /// Follows `names` from `start`. Whether the first of them is there, and, unless the
    /// rest may be attributes, all of them.
    fn walk_site(&self, start: &str, names: &[&str], attributes: bool, module: &mut Found) -> bool {
        let tree = self.index.tree();
        module.end = Some(start.to_owned());
        for (at, name) in names.iter().enumerate() {
            let Some(dir) = module.end.clone() else { return attributes };
            let inner = join(&dir, name);
            if tree.is_file(&join(&inner, "__init__.py")) {
                module.take_init(self, &inner);
                module.end = Some(inner);
            } else if self.is_native(&dir, name) {
                module.native = true;
                module.end = None;
            } else if tree.is_file(&format!("{inner}.py")) {
                module.files.push(format!("{inner}.py"));
                module.end = None;
            } else if tree.is_dir(&inner) {
                module.end = Some(inner);
            } else {
                module.end = None;
                return at > 0 && (attributes || module.native);
            }
        }
        true
    }

    fn is_native(&self, dir: &str, name: &str) -> bool {
        let is = |entry: &str| {
            entry.strip_prefix(name).is_some_and(|rest| {
                rest.starts_with('.') && (rest.ends_with(".so") || rest.ends_with(".pyd"))
            })
        };
        self.index.tree().list(dir).iter().any(|(entry, kind)| *kind == Kind::File && is(entry))
    }

    /// Adds the modules among the names that are taken, or all of them for a glob.
    fn complete(&self, mut module: Found, import: &Import, glob: bool) -> Installed {
        let tree = self.index.tree();
        if let (Names::List(list), Some(dir)) = (&import.names, module.end.clone())
            && import.kind != ImportKind::StringRef
        {
            for name in list.iter().map(|name| name.imported.as_str()) {
                let mut inner = Found::new("", "");
                self.walk_site(&dir, &[name], true, &mut inner);
                module.files.append(&mut inner.files);
                module.native |= inner.native;
            }
        }
        if let (true, Some(dir)) = (glob, module.end.clone()) {
            let mut open = vec![dir];
            while let Some(dir) = open.pop() {
                for (entry, kind) in tree.list(&dir) {
                    match kind {
                        Kind::Dir if entry != "__pycache__" => open.push(join(&dir, &entry)),
                        Kind::File if entry.ends_with(".py") => module.files.push(join(&dir, &entry)),
                        _ => {}
                    }
                }
            }
        }
        let real = |file: String| tree.real(&file).unwrap_or(file);
        let mut files: Vec<String> = module.files.into_iter().map(real).collect();
        files.sort();
        files.dedup();
        Installed::Module(InstalledModule {
            package: module.package,
            root: module.root,
            files,
            native: module.native,
        })
    }
}

/// What a walk into a package found.
struct Found {
    package: String,
    root: String,
    files: Vec<String>,
    native: bool,
    /// The directory it ended in; `None` when it ended in a file.
    end: Option<String>,
}

impl Found {
    fn new(top: &str, site: &str) -> Self {
        let stem = top.strip_suffix(".py").unwrap_or(top);
        Self {
            package: format!("pypi:{stem}"),
            root: join(site, top),
            files: Vec::new(),
            native: false,
            end: None,
        }
    }

    fn take_init(&mut self, resolver: &PythonResolver<'_>, dir: &str) {
        let init = join(dir, "__init__.py");
        if resolver.index.tree().is_file(&init) {
            self.files.push(init);
        }
    }
}
