//! One table a kind: two sides and what the difference means.

use owed_engine::tree::MemoryTree;

use super::*;

/// `shared`, packages, `any`, `broken` in one line.
fn show(found: &ManifestDiff) -> String {
    let mut parts = Vec::new();
    if found.shared {
        parts.push("shared".to_owned());
    }
    parts.extend(found.packages.iter().map(|p| p.trim_start_matches("pypi:").to_owned()));
    parts.extend(found.any_package.as_ref().map(|_| "any".to_owned()));
    parts.extend(found.broken.as_ref().map(|_| "broken".to_owned()));
    parts.join(" ")
}

fn check_in(files: &[(&str, &str)], path: &str, base: &str, head: &str, expected: &str) {
    let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
    let found = diff(&tree, path, Some(base.as_bytes()), Some(head.as_bytes())).unwrap();
    assert_eq!(show(&found), expected, "{path}: {base:?} to {head:?}");
}

fn check(path: &str, base: &str, head: &str, expected: &str) {
    check_in(&[], path, base, head, expected);
}

#[test]
fn pyproject_by_table() {
    for (base, head, expected) in [
        ("[project]\nversion='1'\n", "[project]\nversion = '2' # new\n", ""),
        ("[tool.ruff]\nline-length=1\n", "", ""),
        ("[tool.ruff.lint]\nselect=['A']\n", "[tool.ruff.lint]\nselect=['B']\n", ""),
        (
            "[project]\ndependencies=['pyyaml>=1']\n",
            "[project]\ndependencies=['pyyaml>=2']\n",
            "_yaml pyyaml yaml",
        ),
        ("[project]\ndependencies=['a','b']\n", "[project]\ndependencies=['b','a']\n", ""),
        ("[project.optional-dependencies]\nx=['foo']\n", "", "foo"),
        (
            "[dependency-groups]\nt=['foo']\ndev=[]\n",
            "[dependency-groups]\nt=['foo']\ndev=[{include-group='t'}]\n",
            "foo",
        ),
        ("[dependency-groups]\ndev=['pytest-cov']\n", "[dependency-groups]\ndev=[]\n", "pytest_cov"),
        (
            "[tool.poetry.dependencies]\npython='^3.8'\n",
            "[tool.poetry.dependencies]\npython='^3.9'\n",
            "shared",
        ),
        ("[tool.poetry.dependencies]\nfoo='1'\n", "[tool.poetry.dependencies]\nfoo='2'\n", "foo"),
        ("[tool.pytest.ini_options]\naddopts='-q'\n", "", "shared"),
        ("[build-system]\nrequires=['a']\n", "", "shared"),
        ("[project]\nrequires-python='>=3.8'\n", "", "shared"),
        ("[project.scripts]\na='b:c'\n", "", "shared"),
        ("[tool.unheard-of]\na=1\n", "", "shared"),
        ("[tool.coverage.report]\nfail_under=1\n", "", ""),
        ("[tool.coverage.run]\nbranch=true\n", "", "shared"),
        ("[[tool.uv.index]]\nurl='a'\n", "[[tool.uv.index]]\nurl='b'\n", "any"),
        ("[project]\n", "[project\n", "broken"),
        ("[project\n", "[project]\n", "broken"),
    ] {
        check("pyproject.toml", base, head, expected);
    }
    let tree = MemoryTree::new([]);
    assert!(diff(&tree, "pyproject.toml", None, Some(b"[project]\n")).unwrap().shared);
    assert!(diff(&tree, "pkg/mod.py", None, Some(b"")).is_none());
    assert!(diff(&tree, "pyproject.toml", None, Some(b"\xff")).unwrap().broken.is_some());
}

#[test]
fn ini_files_by_section() {
    for (path, base, head, expected) in [
        ("setup.cfg", "[metadata]\nversion=1\n", "[metadata]\nversion=2\n", ""),
        (
            "setup.cfg",
            "[options]\ninstall_requires=\n  foo\n",
            "[options]\ninstall_requires=\n  foo>1\n",
            "foo",
        ),
        ("setup.cfg", "[options]\npackages=find:\n", "[options]\n", "shared"),
        ("setup.cfg", "[flake8]\na=1\n", "[flake8]\na=2\n[mypy-x.*]\nb=1\n", ""),
        ("setup.cfg", "[tool:pytest]\na=1\n", "[tool:pytest]\na=2\n", "shared"),
        ("setup.cfg", "a\n", "[x]\n", "broken"),
        ("tox.ini", "[testenv]\ndeps=\n  foo\n", "[testenv]\ndeps=\n  bar\n", "bar foo"),
        ("tox.ini", "[testenv]\ncommands=a\n", "[testenv]\ncommands=b\n", "shared"),
        ("tox.ini", "[testenv:lint]\ncommands=a\n", "[testenv:lint]\ncommands=b\n", ""),
        ("tox.ini", "[tox]\nenvlist=a\n", "[tox]\nenvlist=b\n", ""),
        ("tox.ini", "[pytest]\n", "", "shared"),
        ("pytest.ini", "[pytest]\nx=1\n", "[pytest]\n# c\nx = 1\n", ""),
        ("pytest.ini", "[pytest]\nx=1\n", "[pytest]\nx=2\n", "shared"),
        ("setup.py", "setup()\n", "setup()\n# c\n", ""),
        ("setup.py", "setup()\n", "setup(x=1)\n", "shared"),
        ("mypy.ini", "[mypy]\n", "", ""),
    ] {
        check(path, base, head, expected);
    }
}

#[test]
fn requirement_files_by_line() {
    for (base, head, expected) in [
        ("foo>=1\nbar\n", "bar\nfoo>=2\n", "foo"),
        ("a==1\nb==1\n", "a==2\nb==1\n", "a any"),
        ("a==1 # via b\nb==1\n", "a==2 # via b\nb==1\n", "a b"),
        ("a==1 \\\n  --hash=x\n", "a==1 \\\n  --hash=y\n", "a any"),
        ("-r other.txt\n", "", "other_dep"),
        ("-r gone.txt\n", "", "any"),
        ("--index-url a\n", "--index-url b\n", "any"),
        ("# comment\nfoo\n", "foo\n", ""),
    ] {
        check_in(&[("other.txt", "other-dep\n")], "requirements.txt", base, head, expected);
    }
    let installed = [
        (
            ".venv/lib/python3.12/site-packages/top-1.dist-info/METADATA",
            "Name: Top\nRequires-Dist: a (>=1)\n\nText",
        ),
        (".venv/lib/python3.12/site-packages/top-1.dist-info/top_level.txt", "topmod\n"),
        (".venv/lib/python3.12/site-packages/a-1.dist-info/METADATA", "Name: a\n"),
    ];
    check_in(&installed, "requirements.txt", "a==1\nb==1\n", "a==2\nb==1\n", "a top topmod");
}

#[test]
fn locks_by_package_and_upward() {
    let uv = |a: u32, b: u32| {
        format!(
            "version = 1\n[[package]]\nname='a'\nversion='{a}'\n[[package]]\nname='mid'\nversion='1'\ndependencies=[{{name='a'}}]\n[[package]]\nname='b'\nversion='{b}'\n[[package]]\nname='me'\nversion='{b}'\nsource={{editable='.'}}\n"
        )
    };
    check("uv.lock", &uv(1, 1), &uv(2, 1), "a mid");
    check("uv.lock", &uv(1, 1), &uv(1, 2), "b");
    check("uv.lock", &uv(1, 1), "[[package]", "broken");
    let poetry = |hash: &str| {
        format!(
            "[[package]]\nname='A'\nversion='1'\n[[package]]\nname='top'\nversion='1'\n[package.dependencies]\nA='*'\n[metadata]\ncontent-hash='{hash}'\n[metadata.files]\na=['{hash}']\n"
        )
    };
    check("poetry.lock", &poetry("x"), &poetry("y"), "a top");
    let pdm = |v: u32| {
        format!(
            "[[package]]\nname='a'\nversion='{v}'\n[[package]]\nname='t'\nversion='1'\ndependencies=['a>=1']\n"
        )
    };
    check("pdm.lock", &pdm(1), &pdm(2), "a t");
    let pipfile = |v: u32| {
        format!("{{\"_meta\": {{\"hash\": {v}}}, \"default\": {{\"a\": {{\"version\": \"=={v}\"}}}}}}")
    };
    check("Pipfile.lock", &pipfile(1), &pipfile(2), "a any");
    check("Pipfile.lock", &pipfile(1), "{", "broken");
    check("Pipfile", "[packages]\na='*'\n", "[packages]\na='1'\n[scripts]\nx='y'\n", "a");
    check("environment.yml", "dependencies:\n - a=1\n", "dependencies:\n - a=2\n", "a");
    check(
        "environment.yml",
        "channels: [x]\ndependencies:\n - a\n",
        "channels: [y]\ndependencies:\n - a\n",
        "any",
    );
    check("pixi.lock", "a", "b", "any");
    check("hatch.toml", "[envs.t]\ndependencies=['a']\n", "[envs.t]\ndependencies=['b']\n", "a b");
    check("uv.toml", "index-url='a'\n", "index-url='b'\n", "any");
    // A manifest's change is closed over the lock beside it.
    check_in(
        &[("uv.lock", uv(1, 1).as_str())],
        "pyproject.toml",
        "[project]\ndependencies=['a']\n",
        "[project]\ndependencies=['a>1']\n",
        "a mid",
    );
}
