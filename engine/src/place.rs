//! What a changed file is to the project: source, test, data, configuration, lock,
//! inert, or unknown. An unknown one widens the plan: it is better to run everything
//! than to guess what a configuration by convention does.
//!
//! Data that no closure can read owes nothing, and needs no list for that: every read is
//! either named in the graph or makes its test input-opaque. The lists here only tell
//! *conventional* files apart, which a tool may load without anybody naming them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use globset::GlobSet;

use crate::change::Change;
use crate::graph::{EdgeKind, NodeKey};
use crate::language::ManifestDiff;
use crate::path;
use crate::pieces::may_match;
use crate::project::{Delta, Project, globs};
use crate::runner::SharedRole;
use crate::selection::Placed;

/// Files that tools for people, editors, linters, formatters, documentation and hosting
/// read, and test runners do not. They owe nothing unless a closure contains them.
pub const INERT: &[&str] = &[
    "**/*.{md,markdown,mdx,rst,adoc,txt}",
    "**/{LICENSE,LICENCE,COPYING,NOTICE,AUTHORS,CONTRIBUTORS,CHANGELOG,CHANGES,HISTORY,README,CODEOWNERS,SECURITY,CITATION}{,.*}",
    "**/{LICENSE,LICENCE}-*",
    "**/.git{ignore,attributes,modules,keep,-blame-ignore-revs}",
    "**/.mailmap",
    "**/.{github,gitlab,circleci,vscode,idea,husky,changeset,devcontainer,buildkite,zed,cursor,claude,storybook,forgejo,gitea,woodpecker,semaphore}/**",
    "**/.editorconfig",
    "**/.{prettierrc,prettierignore,eslintrc,eslintignore,stylelintrc,stylelintignore,markdownlint,markdownlintignore,markdownlint-cli2,commitlintrc,lintstagedrc,huskyrc,npmignore,dockerignore,helmignore,codespellrc,codespellignore,pylintrc,flake8,isort.cfg,bandit,yamllint,hadolint,spellcheck,textlintrc,oxlintrc,remarkrc,remarkignore,knip,depcheckrc,syncpackrc,ncurc,czrc,cz,versionrc,release-it,releaserc,auto-changelog,all-contributorsrc,sourcery,codeclimate,deepsource,codecov,coveralls,lgtm,snyk,whitesource,mergify,renovaterc,dependabot,travis,appveyor,cirrus,readthedocs,pre-commit-config,pre-commit-hooks,gitpod,kodiak,typos,cspell,size-limit,bundlewatch,watchmanconfig,npmpackagejsonlintrc,ls-lint,shellcheckrc,rubocop,vale,lychee,linkcheckerrc,git-cliff,bumpversion,sonarcloud,nojekyll,cz-config}{,.*}",
    "**/{eslint,prettier,stylelint,commitlint,lint-staged,release,changelog,renovate,cspell,typedoc,vitepress,docusaurus,knip,prettierrc,oxlint,markdownlint,size-limit,semantic-release,playwright,cypress,storybook,wdio,karma,nightwatch,rollup,tsup,unbuild,tsdown,esbuild,webpack,rspack,gulpfile,Gruntfile,api-extractor,rslib}.config.{js,cjs,mjs,ts,cts,mts,json}",
    "**/{api-extractor,typedoc,renovate,cspell,biome,dprint,turbo,nx,lerna,vercel,netlify,now,firebase,crowdin,mkdocs,codecov,appveyor,sonar-project,tslint,deno.fmt,release-please-config,.release-please-manifest,project-words,jsr,knip,oxlintrc,context7}.{json,jsonc,json5,toml,yml,yaml,properties}",
    "**/{Dockerfile,Containerfile,Procfile,Vagrantfile,Jenkinsfile,Brewfile,Justfile,justfile,Makefile,GNUmakefile,Taskfile,Tiltfile,Earthfile}{,.*}",
    "**/{docker-compose,compose,azure-pipelines,cloudbuild,fly,render,app}{,.*}.{yml,yaml,toml}",
    "**/{.mypy.ini,mypy.ini,pyrightconfig.json,.pyre_configuration,ruff.toml,.ruff.toml,ty.toml,.pylintrc,pylintrc,.flake8,.isort.cfg,.style.yapf,.yapfignore,bandit.yaml,MANIFEST.in,.coveragerc,noxfile.py,tasks.py,fabfile.py,.python-black,codespell.txt}",
    "**/*.{svg,png,jpg,jpeg,gif,ico,webp,avif,pdf,mp4,webm,woff,woff2,ttf,eot,sketch,fig,excalidraw,drawio,po,pot,mo,map,log,patch,diff,asc,sig,pem,crt}",
];

/// Names of files that tools load by convention, so that nobody has to name them: when
/// such a file is in no closure and on no list, the plan cannot tell what it does.
pub(crate) const CONVENTIONAL: &[&str] = &[
    "**/*.config.{js,cjs,mjs,ts,cts,mts,json,jsonc,yaml,yml,toml}",
    "**/.*rc",
    "**/.*rc.{js,cjs,mjs,ts,json,jsonc,json5,yaml,yml,toml}",
    "**/.env{,.*}",
    "**/.{npmrc,yarnrc,nvmrc,node-version,python-version,tool-versions,babelrc,swcrc,pnpmfile.cjs}",
    "**/{setup,sitecustomize,usercustomize,conftest,manage,noxfile}.py",
    "**/*.{ini,cfg,pth}",
    "**/__mocks__/**",
    "**/{jest,vitest,vite,mocha,babel}.*",
    "**/.mocharc*",
    "**/vitest.workspace.*",
    "**/__snapshots__/.*",
];

// Compiling them takes longer than a small plan, and they never change.
static DEFAULT_INERT: LazyLock<GlobSet> = LazyLock::new(|| globs(INERT));
static CONVENTIONAL_GLOBS: LazyLock<GlobSet> = LazyLock::new(|| globs(CONVENTIONAL));

/// The place of one change, and what a manifest's change means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What it is.
    pub(crate) placed: Placed,
    /// For manifests and lock files.
    pub(crate) manifest: Option<ManifestDiff>,
    /// Why it is unknown.
    pub(crate) why: Option<&'static str>,
}

/// Compiled lists for placing many changes.
pub(crate) struct Placer<'p> {
    /// The owner's list of inert files, if there is one.
    inert: Option<GlobSet>,
    /// Where runners look for tests and shared setup: what appears there is placed. Most
    /// changes are placed without, or lie elsewhere.
    listings: Vec<(&'p str, BTreeSet<&'p str>, OnceLock<GlobSet>)>,
}

impl<'p> Placer<'p> {
    /// Compiles the lists.
    pub(crate) fn new(project: &'p Project<'_>) -> Self {
        let inert = project.settings.inert.as_ref().map(|list| globs(list));
        let mut by_dir: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for listing in project.suites.iter().flat_map(|s| &s.project.listings) {
            by_dir.entry(&listing.dir).or_default().insert(&listing.glob);
        }
        let listings = by_dir.into_iter().map(|(dir, list)| (dir, list, OnceLock::new())).collect();
        Self { inert, listings }
    }

    /// Places one change.
    pub(crate) fn place(
        &self,
        project: &Project<'_>,
        delta: &Delta,
        tests: &BTreeSet<&str>,
        change: &Change,
    ) -> Place {
        let path = change.path.as_str();
        let known = |placed| Place { placed, manifest: None, why: None };
        if let Some(diff) = manifest_diff(project, delta, change) {
            let placed = if diff.lock { Placed::Lock } else { Placed::Config };
            return Place { placed, manifest: Some(diff), why: None };
        }
        if tests.contains(path) {
            return known(Placed::Test);
        }
        if let Some(placed) = self.in_graph(project, change) {
            return known(placed);
        }
        if project.tree.is_dir(path) {
            return Place {
                placed: Placed::Unknown,
                manifest: None,
                why: Some("a submodule or linked directory"),
            };
        }
        let is_listed = |rest: &str, list: &BTreeSet<&str>, compiled: &OnceLock<GlobSet>| {
            compiled.get_or_init(|| globs(&list.iter().collect::<Vec<_>>())).is_match(rest)
        };
        if self.listings.iter().any(|(dir, list, compiled)| {
            change.paths().any(|p| path::strip(p, dir).is_some_and(|rest| is_listed(rest, list, compiled)))
        }) {
            return known(Placed::Config);
        }
        let is_inert = match &self.inert {
            Some(inert) => inert.is_match(path),
            None => may_match(INERT, path) && DEFAULT_INERT.is_match(path),
        };
        if is_inert {
            return known(Placed::Inert);
        }
        if may_match(CONVENTIONAL, path) && CONVENTIONAL_GLOBS.is_match(path) {
            let why = "a tool may load it by convention, and no closure names it";
            return Place { placed: Placed::Unknown, manifest: None, why: Some(why) };
        }
        if project.plugins.language_of(path).is_some() {
            return known(Placed::Source);
        }
        if path::extension(path).is_empty() && change.vanished().is_some() && !project.tree.is_file(path) {
            // It may have been a link to a directory that closures went through.
            let why = "it is gone, and may have been a link";
            return Place { placed: Placed::Unknown, manifest: None, why: Some(why) };
        }
        known(Placed::Data)
    }

    /// The place of a path that some closure holds.
    fn in_graph(&self, project: &Project<'_>, change: &Change) -> Option<Placed> {
        let graph = &project.graph;
        let mut best = None;
        for path in change.paths() {
            let manifest = graph.node(&NodeKey::Manifest(path.into()));
            for &node in graph.nodes_of(path).iter().chain(&manifest) {
                let shared = graph.dependents_direct(node).any(|edge| match edge.kind {
                    EdgeKind::Shared(role) => !matches!(role, SharedRole::Snapshot | SharedRole::Program),
                    _ => false,
                });
                let placed = match graph.key(node) {
                    _ if shared => Placed::Config,
                    NodeKey::Manifest(_) => Placed::Config,
                    NodeKey::Source { .. } => Placed::Source,
                    _ if project.plugins.language_of(path).is_some() => Placed::Source,
                    _ => Placed::Data,
                };
                if best.is_none() || placed == Placed::Config {
                    best = Some(placed);
                }
            }
            if best.is_none() && graph.waiting_for(path).next().is_some() {
                best = Some(Placed::Source);
            }
        }
        best
    }

    /// Whether the owner's own list says that the file owes nothing.
    pub(crate) fn is_declared_inert(&self, project: &Project<'_>, place: &Place) -> bool {
        project.settings.inert.is_some() && place.placed == Placed::Inert
    }
}

/// What a change of a manifest or lock file means; `None` when it is neither.
fn manifest_diff(project: &Project<'_>, delta: &Delta, change: &Change) -> Option<ManifestDiff> {
    let mut merged: Option<ManifestDiff> = None;
    let mut seen = false;
    for path in change.paths() {
        let base = delta.base.get(path).map(Vec::as_slice);
        let head = project.tree.read(path).ok();
        for language in project.plugins.languages {
            let Some(diff) = language.manifest(project.tree, path, base, head.as_deref()) else { continue };
            let into = merged.get_or_insert_with(ManifestDiff::default);
            // Two ecosystems that claim one file: every package of both may differ.
            into.ecosystem = if seen { None } else { Some(language.package_prefix()) };
            seen = true;
            into.lock |= diff.lock;
            into.shared |= diff.shared;
            into.packages.extend(diff.packages);
            into.any_package = into.any_package.take().or(diff.any_package);
            into.broken = into.broken.take().or(diff.broken);
            if delta.lost.contains(path) {
                let lost = || {
                    format!(
                        "the repository lacks what {path} was before (a partial clone?), so what changed in it is not known"
                    )
                };
                into.broken.get_or_insert_with(lost);
            }
        }
    }
    if let Some(diff) = &mut merged {
        diff.packages.sort();
        diff.packages.dedup();
    }
    merged
}
