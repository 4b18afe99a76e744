//! What pytest collects, and what its tests share.

use std::collections::BTreeMap;

use owed_engine::facts::{
    Declaration, DeclarationKind, Effect, EffectClass, FileFacts, ImportKind, PathBase, PathExpr, Span, Test,
    TestKind, When,
};
use owed_engine::resolve::Target;
use owed_engine::runner::{NoLoader, SharedRole};
use owed_engine::tree::MemoryTree;

use super::*;

/// Facts from a few words of a source, so that these tests need no reader:
/// `import x`, `def name`, `#case`, `#path dir`.
pub(crate) fn facts_of(source: &str) -> FileFacts {
    let mut facts = FileFacts::default();
    let words: Vec<&str> = source.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or("");
        match *word {
            "import" => facts.imports.push(shared::import(next, ImportKind::Static)),
            "def" => facts.declarations.push(Declaration {
                name: next.to_owned(),
                kind: DeclarationKind::Function,
                digest: [0; 16],
                references: Vec::new(),
                effects_at_import: false,
                line: 1,
                span: Span::default(),
            }),
            "#case" => facts.tests.push(Test {
                name: vec!["Case".to_owned(), "test_a".to_owned()],
                kind: TestKind::Case,
                skipped: false,
                only: false,
                line: 1,
                span: Span::default(),
            }),
            "#path" => facts.effects.push(Effect {
                operation: "sys.path".to_owned(),
                class: EffectClass::Bounded(PathExpr { base: PathBase::Module, path: next.to_owned() }),
                when: When::Import,
                line: 1,
                span: Span::default(),
            }),
            _ => {}
        }
    }
    facts
}

pub(crate) fn with_view(files: &[(&str, &str)], check: impl FnOnce(&View<'_>)) {
    let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
    let facts: BTreeMap<&str, FileFacts> =
        files.iter().filter(|(p, _)| p.ends_with(".py")).map(|(p, t)| (*p, facts_of(t))).collect();
    let lookup = |path: &str| facts.get(path);
    check(&View { tree: &tree, facts: &lookup, loader: &NoLoader, only: None });
}

/// Each project as `root: test test …`.
fn tests_of(files: &[(&str, &str)]) -> Vec<String> {
    let mut shown = Vec::new();
    with_view(files, |view| {
        for project in Pytest.discover(view).projects {
            let tests: Vec<_> = project.tests.iter().map(|t| t.path.as_str()).collect();
            shown.push(format!("{}: {}", project.root, tests.join(" ")));
        }
    });
    shown
}

const INI: (&str, &str) = ("pytest.ini", "[pytest]\n");

#[test]
fn collects_by_configuration() {
    let tests =
        [("tests/test_a.py", ""), ("tests/b_test.py", ""), ("tests/helper.py", ""), ("other/test_c.py", "")];
    let with = |extra: &[(&'static str, &'static str)]| {
        let mut files = tests.to_vec();
        files.extend_from_slice(extra);
        tests_of(&files)
    };
    for (extra, expected) in [
        (vec![INI], ": other/test_c.py tests/b_test.py tests/test_a.py"),
        (vec![("pytest.ini", "[pytest]\ntestpaths = tests\n")], ": tests/b_test.py tests/test_a.py"),
        (
            vec![("pytest.ini", "[pytest]\ntestpaths = tests\n"), ("Makefile", "t:\n\tpytest other\n")],
            ": other/test_c.py tests/b_test.py tests/test_a.py",
        ),
        (vec![("pytest.ini", "[pytest]\npython_files = h*.py\n")], ": tests/helper.py"),
        (vec![("pytest.ini", "[pytest]\nnorecursedirs = oth*\n")], ": tests/b_test.py tests/test_a.py"),
        (vec![("pytest.ini", "[pytest]\naddopts = --ignore=other\n")], ": tests/b_test.py tests/test_a.py"),
        (vec![INI, ("conftest.py", "collect_ignore = ['other']\n")], ": tests/b_test.py tests/test_a.py"),
        (
            vec![INI, ("conftest.py", "collect_ignore = ['other']\nif x: collect_ignore.clear()\n")],
            ": other/test_c.py tests/b_test.py tests/test_a.py",
        ),
        (
            vec![
                ("pytest.ini", "[pytest]\ntestpaths = pkg\naddopts = --doctest-modules\n"),
                ("pkg/m.py", "'''>>> 1'''"),
                ("pkg/n.py", ""),
            ],
            ": pkg/m.py",
        ),
        (
            vec![
                ("pytest.ini", "[pytest]\ntestpaths = doc\naddopts=--doctest-glob=*.rst\n"),
                ("doc/a.rst", ">>> 1"),
                ("doc/b.rst", "no"),
            ],
            ": doc/a.rst",
        ),
        (vec![("requirements.txt", "pytest\n")], ": other/test_c.py tests/b_test.py tests/test_a.py"),
        (vec![("tests/conftest.py", "")], ": other/test_c.py tests/b_test.py tests/test_a.py"),
    ] {
        assert_eq!(with(&extra), [expected], "{extra:?}");
    }
    assert!(with(&[]).is_empty());
}

#[test]
fn the_nearest_configuration_claims_a_test() {
    let files = [
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("test_root.py", ""),
        ("sub/pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("sub/tests/test_s.py", ""),
        ("sub/tests/data/x/pytest.ini", "[pytest]\npython_files = c.py\n"),
        ("sub/tests/data/x/c.py", ""),
        ("plain/setup.py", ""),
        ("plain/test_p.py", ""),
    ];
    assert_eq!(tests_of(&files), [": plain/test_p.py test_root.py", "sub: sub/tests/test_s.py"]);
}

#[test]
fn conftests_packages_and_configuration_are_shared() {
    let files = [
        ("setup.cfg", "[tool:pytest]\naddopts = -p pkg.plug -p xdist --ds=pkg.settings\n"),
        ("pkg/__init__.py", ""),
        ("pkg/plug.py", ""),
        ("pkg/settings.py", ""),
        ("tests/conftest.py", ""),
        ("tests/unit/__init__.py", ""),
        ("tests/unit/test_a.py", ""),
    ];
    with_view(&files, |view| {
        let project = Pytest.discover(view).projects.remove(0);
        let file = |path: &str| Target::File(path.to_owned());
        let has = |list: &[owed_engine::runner::Shared], target: Target, role: SharedRole| {
            assert!(list.iter().any(|s| s.target == target && s.role == role), "{target:?} {list:?}");
        };
        has(&project.shared, file("pkg/plug.py"), SharedRole::Plugin);
        has(&project.shared, file("pkg/settings.py"), SharedRole::Setup);
        has(&project.shared, Target::Package("pypi:xdist".to_owned()), SharedRole::Plugin);
        has(&project.shared, Target::Package("pypi:pytest".to_owned()), SharedRole::Toolchain);
        has(&project.shared, Target::Manifest("setup.cfg".to_owned()), SharedRole::Config);
        has(&project.shared, Target::Manifest("pytest.ini".to_owned()), SharedRole::Config);
        let own = &project.tests[0].shared;
        for conftest in ["conftest.py", "tests/conftest.py", "tests/unit/conftest.py"] {
            has(own, file(conftest), SharedRole::Conftest);
        }
        has(own, file("tests/unit/__init__.py"), SharedRole::Setup);
        has(own, file("tests/__init__.py"), SharedRole::Setup);
        assert_eq!(Pytest.command(&project, &["tests/unit/test_a.py"])[0].argv[3], "tests/unit/test_a.py");
    });
}

#[test]
fn a_nested_test_has_the_outer_conftest_when_the_outer_project_collects_it() {
    for (root_ini, outer) in [("[pytest]\n", true), ("[pytest]\ntestpaths = tests\n", false)] {
        let files = [
            ("pytest.ini", root_ini),
            ("conftest.py", ""),
            ("tests/test_a.py", ""),
            ("sub/pytest.ini", "[pytest]\n"),
            ("sub/test_s.py", ""),
        ];
        with_view(&files, |view| {
            let project = Pytest.discover(view).projects.remove(1);
            let shared = &project.tests[0].shared;
            let conftest = Target::File("conftest.py".to_owned());
            assert_eq!(shared.iter().any(|s| s.target == conftest), outer, "{shared:?}");
        });
    }
}

#[test]
fn scripts_add_plugins_and_settings() {
    let files = [
        INI,
        (
            "tox.ini",
            "[testenv]\nsetenv =\n  DJANGO_SETTINGS_MODULE = conf.test\ncommands = pytest -p own.plug\n",
        ),
        ("own/plug.py", ""),
        ("conf/test.py", ""),
        ("test_a.py", ""),
    ];
    with_view(&files, |view| {
        let project = Pytest.discover(view).projects.remove(0);
        for file in ["own/plug.py", "conf/test.py"] {
            assert!(project.shared.iter().any(|s| s.target == Target::File(file.to_owned())), "{file}");
        }
    });
}

#[test]
fn roots_come_from_configuration_manifests_and_sources() {
    let files = [
        ("pytest.ini", "[pytest]\npythonpath = tools\n"),
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere=['lib']\n"),
        ("tests/conftest.py", "#path ../extra"),
        ("extra/e.py", ""),
        ("lib/a.py", ""),
        ("tools/t.py", ""),
        ("member/pyproject.toml", "[project]\nname='m'\n"),
        ("member/src/m/__init__.py", ""),
        ("tests/test_a.py", ""),
    ];
    with_view(&files, |view| {
        let project = Pytest.discover(view).projects.remove(0);
        assert_eq!(project.resolve.source_roots, ["tools", "lib", "", "member/src", "member", "extra"]);
    });
}

#[test]
fn what_is_not_understood_is_unsettled() {
    for (files, reason) in [
        (vec![("pyproject.toml", "[tool.pytest"), ("tests/test_a.py", "import pytest")], "config-unreadable"),
        (vec![INI, ("conftest.py", "def pytest_collect_file"), ("test_a.py", "")], "collection-hook"),
        (vec![INI, ("conftest.py", "def pytest_addoption"), ("test_a.py", "")], ""),
    ] {
        with_view(&files, |view| {
            let project = Pytest.discover(view).projects.remove(0);
            let reasons: Vec<_> = project.unsettled.iter().map(|w| w.reason.as_str()).collect();
            assert_eq!(reasons.join(" "), reason, "{files:?}");
        });
    }
}
