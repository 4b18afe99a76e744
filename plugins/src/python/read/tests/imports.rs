//! What makes other modules run or be consulted.

use super::{effect_lines, facts_of, import_lines};

#[track_caller]
fn imports(source: &str, expected: &[&str]) {
    assert_eq!(import_lines(&facts_of("pkg/m.py", source)), expected, "{source}");
}

#[test]
fn import_statements() {
    imports("import a.b as c, d.e", &["static a.b as c", "static d.e as d"]);
    imports("from . import x\nfrom ..a.b import c as d, e", &["static . {x}", "static ..a.b {d=c,e}"]);
    imports("from a import *", &["star a"]);
    imports("def f():\n    if 1:\n        import x\n", &["static x as x"]);
    imports("# import a\n'import b'\nx = 'import c'", &[]);
}

#[test]
fn type_only_imports() {
    let typing = "from typing import TYPE_CHECKING\n";
    imports(
        &format!("{typing}if TYPE_CHECKING:\n    from a import b\nelse:\n    import c\n"),
        &["static typing {TYPE_CHECKING}", "type a {b}", "static c as c"],
    );
    imports(
        &format!("{typing}if not TYPE_CHECKING:\n    import a\nelse:\n    import b\n"),
        &["static typing {TYPE_CHECKING}", "static a as a", "type b as b"],
    );
    imports(
        "import typing as t\nif t.TYPE_CHECKING and X:\n    import a\nelif X:\n    import b\n",
        &["static typing as t", "type a as a", "static b as b"],
    );
    // A name of that spelling from elsewhere runs.
    imports("TYPE_CHECKING = f()\nif TYPE_CHECKING:\n    import a\n", &["static a as a"]);
    imports(
        "from cfg import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n",
        &["static cfg {TYPE_CHECKING}", "static a as a"],
    );
    assert_eq!(import_lines(&facts_of("m.pyi", "from a import b\nimport c")), ["type a {b}", "type c as c"]);
}

#[test]
fn optional_imports() {
    for caught in ["ImportError", "ModuleNotFoundError", "(ValueError, ImportError)", "Exception as e"] {
        imports(
            &format!("try:\n    import a\nexcept {caught}:\n    import b\nelse:\n    import c\n"),
            &["static? a as a", "static? b as b", "static c as c"],
        );
    }
    imports("try:\n    import a\nexcept:\n    pass\n", &["static? a as a"]);
    imports("try:\n    import a\nexcept ValueError:\n    pass\n", &["static a as a"]);
    imports(
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import a\n",
        &["static contextlib as contextlib", "static? a as a"],
    );
    imports(
        "import pytest\nnp = pytest.importorskip('numpy')",
        &[
            "static pytest as pytest",
            "string pytest.importorskip {pytest.importorskip=importorskip}",
            "dynamic? numpy",
        ],
    );
}

#[test]
fn dynamic_imports() {
    let rest = |source: &str| -> Vec<String> {
        let lines = import_lines(&facts_of("pkg/m.py", source));
        lines.into_iter().filter(|l| !l.starts_with("static")).collect()
    };
    let importlib = "import importlib\n";
    let cases: &[(&str, &[&str])] = &[
        ("importlib.import_module('a.b')", &["dynamic a.b"]),
        ("P = 'a.b'\nimportlib.import_module(P)", &["dynamic a.b"]),
        ("importlib.import_module('.x', __package__)", &["dynamic .x"]),
        ("importlib.import_module('.x', package='a.b')", &["dynamic a.b.x"]),
        ("importlib.import_module('..x', package='a.b')", &["dynamic a.x"]),
        ("def f(n): importlib.import_module(f'pkg.plugins.{n}')", &["computed pkg.plugins.**"]),
        ("def f(n): importlib.import_module('pkg.plugins.' + n)", &["computed pkg.plugins.**"]),
        ("def f(n): importlib.import_module('pkg.%s.x' % n)", &["computed pkg.**"]),
        ("def f(n): importlib.import_module(f'{__package__}.{n}')", &["computed .**"]),
        ("def f(n): importlib.import_module(f'.{n}', package=__name__)", &["computed .**"]),
        ("def f(n): importlib.import_module(n)", &[]),
        ("import a.b\ndef f(n): getattr(a, n)", &["star? a", "computed? a.*"]),
        ("__import__('a.b')", &["dynamic a.b"]),
        ("try:\n    importlib.import_module('a')\nexcept ImportError: pass", &["dynamic? a"]),
        ("from importlib import util\nutil.find_spec('a.b')", &["resolve? a.b"]),
        (
            "import pkgutil, pkg.sub as s\npkgutil.iter_modules(s.__path__)",
            &["string pkg.sub", "glob pkg.sub.*"],
        ),
        ("import pkgutil\npkgutil.walk_packages(__path__)", &["glob .**"]),
        ("import pkgutil\npkgutil.iter_modules(x)", &[]),
    ];
    for (source, expected) in cases {
        let expected: Vec<&&str> = expected.iter().filter(|l| !l.starts_with("string")).collect();
        let found = rest(&format!("{importlib}{source}"));
        let found: Vec<&String> = found.iter().filter(|l| !l.starts_with("string")).collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn scripts() {
    let script = |source: &str| -> Vec<String> {
        let facts = facts_of("tests/test_m.py", source);
        let imports = import_lines(&facts).into_iter().filter(|l| l.starts_with("script"));
        let opaque = effect_lines(&facts)
            .into_iter()
            .filter(|l| ["subprocess", "eval", "computed-load"].iter().any(|w| l.starts_with(w)));
        imports.chain(opaque).collect()
    };
    let cases: &[(&str, &[&str])] = &[
        (
            "import subprocess, sys\nsubprocess.run([sys.executable, 'tools/x.py', arg])",
            &["script tools/x.py"],
        ),
        (
            "import subprocess as s, sys\ns.check_output([sys.executable, '-u', '-m', 'pkg.mod'])",
            &["script pkg.mod"],
        ),
        (
            "import subprocess, sys\nfrom pathlib import Path\nX = Path(__file__).parent / 'x.py'\nsubprocess.run([sys.executable, str(X)])",
            &["script ./x.py"],
        ),
        ("import os\nos.system('python x.py')", &["script x.py"]),
        ("import subprocess\nsubprocess.run(['git', 'status'])", &["subprocess"]),
        ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', code])", &["subprocess"]),
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'x.py'], cwd=d)", &["subprocess"]),
        ("import runpy\nrunpy.run_path('a/x.py')\nrunpy.run_module('p.q')", &["script a/x.py", "script p.q"]),
        ("import runpy\ndef f(p): runpy.run_path(p)", &["computed-load in f"]),
        ("exec(open('a/x.py').read())", &["script a/x.py", "eval"]),
        (
            "import os\nexec(compile(open(os.path.join(os.path.dirname(__file__), 'v.py')).read(), 'v', 'exec'))",
            &["script ./v.py", "eval"],
        ),
        ("exec(code)", &["eval"]),
        ("eval('1 + 1')", &["eval"]),
        ("import importlib.util as u\nu.spec_from_file_location('m', '../tools/x.py')", &["computed-load"]),
        (
            "import importlib.util\nfrom pathlib import Path\nimportlib.util.spec_from_file_location('m', Path(__file__).parents[1] / 'x.py')",
            &["script ../x.py"],
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(script(source), *expected, "{source}");
    }
}

#[test]
fn strings_and_mocks() {
    imports(
        "x = 'a.b.c'\ny = 'pkg.mod:attr'\nz = 'no dots'\nw = '1.5'\nv = 'a..b'",
        &["string a.b.c", "string pkg.mod:attr"],
    );
    imports("'''a.b'''\ndef f():\n    'c.d'\n", &[]);
    imports("INSTALLED_APPS = ['app', 'x.y']\nOTHER = ['app2']", &["string app", "string x.y"]);
    imports("pytest_plugins = 'plug'", &["string plug"]);
    imports(
        "load('data/x.json')\nf('a/b', '/c/d.e', 'https://x.y/z.html', 'a b/c.d')",
        &["string data/x.json"],
    );
    imports(
        "from unittest import mock\n@mock.patch('a.b.c')\ndef test(m): pass",
        &["static unittest {mock}", "mock a.b.c"],
    );
    imports(
        "from mock import patch\nM = 'a.b'\nwith patch(f'{M}.c'): pass",
        &["static mock {patch}", "string a.b", "mock a.b.c"],
    );
    imports("def test(monkeypatch):\n    monkeypatch.setattr('a.b.c', 1)", &["mock a.b.c"]);
    imports("def test(mocker):\n    mocker.patch('a.b.c')", &["mock a.b.c"]);
    imports("def test(monkeypatch):\n    def monkeypatch(): pass\n    x.setattr('a.b')", &["string a.b"]);
}

#[test]
fn members_of_imported_modules() {
    imports("import a\na.b.c()\na.b\na.b.c.__name__", &["static a as a", "string a.b.c {a.b.c=c}"]);
    imports(
        "import a.b\ndef f(x: a.b.T): a.x",
        &["static a.b as a", "string a.b.T {a.b.T=T}", "string a.x {a.x=x}"],
    );
    imports("from p import q\nq.r.s()", &["static p {q}", "string p.q.r.s {p.q.r.s=s}"]);
    imports("from . import q\nq.r()", &["static . {q}", "string .q.r {.q.r=r}"]);
    imports("from p import Q\nQ.r()\nimport os\nos.path.join()", &["static p {Q}", "static os as os"]);
    imports("import a\ndef f(a): a.b.c()", &["static a as a"]);
}
