//! One check for each kind of fact: source text on the left, facts as lines on the right.

use owed_engine::facts::{
    EffectClass, FileFacts, ImportKind, Names, Opaque, PathBase, PathExpr, Pin, Presence, TestKind, When,
};
use owed_engine::language::SourceFile;

use super::read;

fn facts_of(path: &str, source: &str) -> FileFacts {
    read(SourceFile { path, bytes: source.as_bytes() })
}

fn import_lines(facts: &FileFacts) -> Vec<String> {
    let line = |i: &owed_engine::facts::Import| {
        let kind = match i.kind {
            ImportKind::Static => "static",
            ImportKind::TypeOnly => "type",
            ImportKind::Dynamic => "dynamic",
            ImportKind::Resolve => "resolve",
            ImportKind::Mock => "mock",
            ImportKind::Star => "star",
            ImportKind::StringRef => "string",
            ImportKind::Script => "script",
            ImportKind::Computed => "computed",
            ImportKind::Glob => "glob",
            ImportKind::Require | ImportKind::ReExport => "not python",
        };
        let optional =
            if i.presence == Presence::Optional && i.kind != ImportKind::StringRef { "?" } else { "" };
        let names = match &i.names {
            Names::Effects => String::new(),
            Names::Namespace(local) => format!(" as {local}"),
            Names::List(list) => {
                let list: Vec<_> = list
                    .iter()
                    .map(|n| {
                        if n.imported == n.local {
                            n.local.clone()
                        } else {
                            format!("{}={}", n.local, n.imported)
                        }
                    })
                    .collect();
                format!(" {{{}}}", list.join(","))
            }
        };
        format!("{kind}{optional} {}{names}", i.specifier)
    };
    facts.imports.iter().map(line).collect()
}

fn place(path: &PathExpr) -> String {
    let base = match path.base {
        PathBase::Module => "here",
        PathBase::Cwd => "cwd",
        PathBase::Absolute => "abs",
    };
    format!("{base}:{}", path.path)
}

fn effect_lines(facts: &FileFacts) -> Vec<String> {
    let line = |e: &owed_engine::facts::Effect| {
        let class = match &e.class {
            EffectClass::Pinned(Pin::Env(name)) => format!("env {name}"),
            EffectClass::Pinned(Pin::File(path)) => format!("file {}", place(path)),
            EffectClass::Pinned(Pin::Listing { dir, glob }) => format!("list {} {glob}", place(dir)),
            EffectClass::Pinned(Pin::Named(name)) => format!("pin {name}"),
            EffectClass::Bounded(path) => format!("below {}", place(path)),
            EffectClass::Opaque(reason) => reason.word().to_owned(),
        };
        let when = match &e.when {
            When::Import => String::new(),
            When::Call(name) => format!(" in {name}"),
        };
        format!("{class}{when}")
    };
    facts.effects.iter().map(line).collect()
}

#[track_caller]
fn imports(source: &str, expected: &[&str]) {
    assert_eq!(import_lines(&facts_of("pkg/m.py", source)), expected, "{source}");
}

#[track_caller]
fn effects(source: &str, expected: &[&str]) {
    assert_eq!(effect_lines(&facts_of("tests/test_m.py", source)), expected, "{source}");
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
        &["static pytest as pytest", "string pytest.importorskip", "dynamic? numpy"],
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
        ("def f(n): importlib.import_module(f'pkg.plugins.{n}')", &["computed pkg.plugins.*"]),
        ("def f(n): importlib.import_module('pkg.plugins.' + n)", &["computed pkg.plugins.*"]),
        ("def f(n): importlib.import_module('pkg.%s.x' % n)", &["computed pkg.*"]),
        ("def f(n): importlib.import_module(f'{__package__}.{n}')", &["computed .*"]),
        ("def f(n): importlib.import_module(f'.{n}', package=__name__)", &["computed .*"]),
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
        ("exec(open('a/x.py').read())", &["script a/x.py"]),
        (
            "import os\nexec(compile(open(os.path.join(os.path.dirname(__file__), 'v.py')).read(), 'v', 'exec'))",
            &["script ./v.py"],
        ),
        ("exec(code)", &["eval"]),
        ("eval('1 + 1')", &[]),
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
    imports("import a\na.b.c()\na.b\na.b.c.__name__", &["static a as a", "string a.b.c"]);
    imports("import a.b\ndef f(x: a.b.T): a.x", &["static a.b as a", "string a.b.T", "string a.x"]);
    imports("from p import q\nq.r.s()", &["static p {q}", "string p.q.r.s"]);
    imports("from . import q\nq.r()", &["static . {q}", "string .q.r"]);
    imports("from p import Q\nQ.r()\nimport os\nos.path.join()", &["static p {Q}", "static os as os"]);
    imports("import a\ndef f(a): a.b.c()", &["static a as a"]);
}

#[test]
fn files_by_literal_paths() {
    effects("open('data/a.json')", &["file cwd:data/a.json"]);
    effects("open('a', 'w')\nopen('b', mode='rb')", &["fs-meta", "file cwd:b"]);
    effects("from pathlib import Path\nPath('a/b.txt').read_text()", &["file cwd:a/b.txt"]);
    let here = "from pathlib import Path\nHERE = Path(__file__).resolve().parent\n";
    let cases: &[(&str, &[&str])] = &[
        ("(HERE / 'fixtures' / 'a.json').read_text()", &["file here:fixtures/a.json"]),
        ("def f(n): return (HERE / 'fixtures' / n).read_text()", &["below here:fixtures in f"]),
        ("def f(n): return open(HERE / f'x/{n}.json')", &["below here:x in f"]),
        ("def f(n): return HERE.joinpath('x', n).open()", &["below here:x in f"]),
        ("Path(__file__).parents[1].joinpath('x.txt').read_bytes()", &["file here:../x.txt"]),
        ("A = HERE / 'a.txt'\nopen(A)", &["file here:a.txt"]),
        (
            "A = HERE / 'a'\nfor p in sorted(A.glob('*.json')):\n    p.read_text()",
            &["list here:a *.json", "below here:a"],
        ),
        ("list(HERE.iterdir())", &["list here:. *", "fs-order"]),
        ("sorted(HERE.rglob('*.py'))", &["list here:. **/*.py"]),
        (
            "class T:\n    D = HERE / 'd'\n    def t(self): return (self.D / 'x').read_text()",
            &["file here:d/x in T"],
        ),
        (
            "class T:\n    def setUp(self): self.d = HERE / 'd'\n    def t(self, n): return open(self.d / n)",
            &["below here:d in T"],
        ),
        (
            "def d(n): return HERE / 'd' / n\ndef t(): open(d('x'))",
            &["below here:d in d", "below here:d in t"],
        ),
        (
            "p = HERE / 'a.txt'\nload(p)\nload(HERE / 'b.bin')\nload(HERE)",
            &["file here:a.txt", "file here:b.bin", "below here:."],
        ),
        ("X = {'DIRS': [HERE / 'templates']}", &["below here:templates"]),
        ("import json\nwith open(HERE / 'a.json') as f:\n    json.load(f)", &["file here:a.json"]),
        ("(HERE / 'x').exists()", &["file here:x"]),
        ("(HERE / 'x').write_text('')", &["fs-meta"]),
    ];
    for (source, expected) in cases {
        effects(&format!("{here}{source}"), expected);
    }
    let os = "import os, os.path as osp\nHERE = os.path.dirname(os.path.abspath(__file__))\n";
    let strip = |source: &str| -> Vec<String> {
        let lines = effect_lines(&facts_of("tests/test_m.py", &format!("{os}{source}")));
        lines.into_iter().filter(|l| l != "pin cwd").collect()
    };
    assert_eq!(strip("open(os.path.join(HERE, 'a', 'b.txt'))"), ["file here:a/b.txt"]);
    assert_eq!(strip("def f(n): open(osp.join(HERE, 'a', n))"), ["below here:a in f"]);
    assert_eq!(strip("def f(n): open(HERE + '/a/' + n)"), ["below here:a in f"]);
    assert_eq!(strip("sorted(os.listdir(HERE))"), ["list here:. *"]);
    assert_eq!(
        strip("for root, dirs, files in os.walk(HERE):\n    for f in files: open(os.path.join(root, f))"),
        ["list here:. **", "fs-order", "below here:."]
    );
    assert_eq!(
        strip("import glob\nsorted(glob.glob(os.path.join(HERE, 'x', '*.json')))"),
        ["list here:x *.json"]
    );
    assert_eq!(strip("os.path.exists('a/b')"), ["file cwd:a/b"]);
    assert_eq!(strip("open(os.path.split(__file__)[0] + '/x')"), ["file here:x"]);
}

#[test]
fn files_by_computed_paths() {
    effects("def f(p): return open(p)", &["computed-load in f"]);
    effects("from pathlib import Path\ndef f(p): return Path(p).read_text()", &["computed-load in f"]);
    effects("from pathlib import Path\ndef f(p: Path): return p.open()", &["computed-load in f"]);
    effects("from cfg import BASE\nopen(BASE / 'x')", &["computed-load"]);
    effects("import os\nopen(os.environ['X'])", &["computed-load", "env X"]);
    effects("list(map(open, names))", &["computed-load"]);
    effects("import pandas as pd\ndef f(p): pd.read_csv(p)", &["computed-load in f"]);
    effects("import pandas as pd, io\npd.read_csv(io.StringIO('a'))\nb = io.BytesIO()\npd.read_csv(b)", &[]);
    effects("import sqlite3\nsqlite3.connect(':memory:')\nsqlite3.connect('x.db')", &["file cwd:x.db"]);
}

#[test]
fn temporary_files_are_no_inputs() {
    effects(
        "def test(tmp_path):\n    (tmp_path / 'x').write_text('')\n    open(tmp_path / 'x')",
        &["tmp in test"],
    );
    effects(
        "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/x', 'w')\n    open(d + '/x')",
        &["tmp", "tmp"],
    );
    effects("def test(tmpdir):\n    tmpdir.join('x').read_text('utf8')", &["tmp in test"]);
}

#[test]
fn package_resources() {
    let rest = |source: &str| -> Vec<String> {
        let facts = facts_of("pkg/m.py", source);
        let lines = import_lines(&facts).into_iter().filter(|l| !l.starts_with("static"));
        lines.chain(effect_lines(&facts)).collect()
    };
    let files = "from importlib.resources import files, read_text\n";
    assert_eq!(
        rest(&format!("{files}files('p.q').joinpath('a.json').read_text()")),
        ["glob p.q/a.json", "string p.q", "string a.json"]
    );
    assert_eq!(rest(&format!("{files}read_text('p.q', 'a.txt')")), ["glob p.q/a.txt"]);
    assert_eq!(
        rest(&format!("{files}(files(__package__) / 'a.txt').read_text()")),
        ["string a.txt", "file here:a.txt"]
    );
    assert_eq!(rest("import pkgutil\npkgutil.get_data(__name__, 'd/x.bin')"), ["glob ./d/x.bin"]);
    assert_eq!(rest(&format!("{files}def f(p): files(p).joinpath('x').read_text()")), ["computed-load in f"]);
}

#[test]
fn environment_and_process() {
    let os = "import os, sys\nfrom os import environ\n";
    let cases: &[(&str, &[&str])] = &[
        ("os.environ['A']", &["env A"]),
        ("os.environ.get('A', '')", &["env A"]),
        ("environ.get('A')", &["env A"]),
        ("os.getenv('A')", &["env A"]),
        ("'A' in os.environ", &["env A"]),
        ("os.environ['A'] = '1'\ndel os.environ['A']", &[]),
        ("os.environ.update(x)", &[]),
        ("def f(k): return os.environ[k]", &["pin whole-env in f"]),
        ("dict(os.environ)", &["pin whole-env"]),
        ("sys.argv[1]", &["pin argv"]),
        ("sys.platform", &[]),
        ("sys.stdin.read()", &["stdin"]),
        ("sys.path.insert(0, 'lib')", &["below cwd:lib"]),
        ("sys.path.insert(0, os.path.dirname(__file__))", &["below here:."]),
        ("def f(p): sys.path.append(p)", &["loader in f"]),
        ("sys.path += ['lib']", &["below cwd:lib"]),
        ("sys.modules[__name__]", &[]),
        ("def f(n): return sys.modules[n]", &["loader in f"]),
        ("def f(monkeypatch): monkeypatch.setattr(os, 'getcwd', g)", &[]),
        ("f(os)", &["subprocess"]),
        ("os.sep.join(x)\nos.path.basename(x)", &[]),
    ];
    for (source, expected) in cases {
        effects(&format!("{os}{source}"), expected);
    }
}

#[test]
fn time_and_chance_by_scope() {
    let cases: &[(&str, &[&str])] = &[
        ("import time\ntime.time()", &["clock"]),
        ("import time as t\nnow = t.time\ndef f(): return now()", &["clock", "clock in f"]),
        ("from time import time\ndef f(): return time()", &["clock in f"]),
        ("from time import time as t\nf(default=t)", &["clock"]),
        (
            "from datetime import datetime, date\ndatetime.now()\ndate.today()\ndatetime(2020, 1, 1)",
            &["clock", "clock"],
        ),
        ("import datetime as dt\ndt.datetime.now(dt.timezone.utc)", &["clock"]),
        ("import time\ntime.gmtime(0)\ntime.gmtime(None)\ntime.localtime(x())", &["clock", "pin TZ"]),
        ("import random\nrandom.Random(1).random()\nrandom.shuffle(x)", &["random"]),
        ("from uuid import uuid4, UUID\nuuid4()\nUUID('a')", &["random"]),
        ("import socket\nsocket.create_connection(a)", &["network"]),
        ("import pickle\npickle.loads(pickle.dumps(x))\npickle.loads(y)", &["eval"]),
        ("import ctypes\nctypes.CDLL('x')", &["native"]),
        (
            "import json, os, random\ngetattr(json, n)\ngetattr(random, n)\ngetattr(os, n)",
            &["random", "subprocess"],
        ),
        ("from cfg import settings\ngetattr(settings, n)", &[]),
        ("import importlib\ndef f(n): importlib.import_module(n)", &["computed-load in f"]),
        ("import types, socket\nX = (types.FunctionType, socket.herror, socket.SocketError)", &["network"]),
        ("import os\ngetattr(os, 'getcwd')", &["pin cwd"]),
        ("import time\ntime.time = f", &["mutate-global"]),
        // Same spelling, other things.
        ("# time.time()\n'time.time()'", &[]),
        ("o.time()\nself.open()\nx.now()", &[]),
        ("def open(x): pass\nopen(y)", &[]),
        ("import time\ndef f(time): time.time()", &[]),
        ("import time\ndef f():\n    time.time()\n    time = g()", &[]),
        ("import time\nclass A:\n    time = B()\n    x = time.time()", &[]),
        ("import time\nclass A:\n    time = B()\n    def f(self): time.time()", &["clock in A"]),
        ("import time\n[time.time() for time in x]\n", &[]),
        ("from a import time\ntime.time()", &[]),
        ("import re\nre.compile('x')\nx.compile()\nmodel.eval()", &[]),
        ("def f():\n    global time\n    import time\ndef g(): time.time()", &["clock in g"]),
        ("import time\ndef f(x: time.struct_time): pass", &[]),
        ("if __name__ == '__main__':\n    import time\n    time.time()", &["clock in <main>"]),
    ];
    for (source, expected) in cases {
        effects(source, expected);
    }
}

#[test]
fn tests_as_written() {
    let source = "\
import pytest, unittest
def test_a(): pass
@pytest.mark.skip(reason='x')
def test_b(): pass
def helper(): pass
class TestC:
    def test_d(self): pass
    class TestE:
        async def test_f(self): pass
class Other(unittest.TestCase):
    @unittest.skip('x')
    def test_g(self): pass
    @unittest.skipIf(x, 'y')
    def test_h(self): pass
class Plain:
    def test_no(self): pass
if x:
    def test_i(): pass
";
    let lines: Vec<String> = facts_of("test_m.py", source)
        .tests
        .iter()
        .map(|t| {
            let kind = if t.kind == TestKind::Suite { "suite " } else { "" };
            format!("{kind}{}{}@{}", t.name.join("::"), if t.skipped { " skipped" } else { "" }, t.line)
        })
        .collect();
    assert_eq!(
        lines,
        [
            "test_a@2",
            "test_b skipped@4",
            "suite TestC@6",
            "TestC::test_d@7",
            "suite TestC::TestE@8",
            "TestC::TestE::test_f@9",
            "suite Other@10",
            "Other::test_g skipped@12",
            "Other::test_h@14",
            "test_i@18",
        ]
    );
}

fn digest(source: &str, name: &str) -> Option<[u8; 16]> {
    facts_of("m.py", source).declarations.iter().find(|d| d.name == name).map(|d| d.digest)
}

#[test]
fn digests_change_with_what_runs() {
    let base = "import a\ndef f(x):\n    '''doc'''\n    return x + 1\nX = f(1)\nprint(X)\n";
    let same = [
        "import a\n\n# note\ndef f( x ):\n  '''other'''\n  # more\n  return (x\n    + 1)\nX = f(1)  # c\nprint(X)\n",
        "import a\ndef f(x):\n    return x + 1\nX = f(1)\nprint(X)\n",
    ];
    for name in ["X", "<module>"] {
        for other in same {
            assert_eq!(digest(base, name), digest(other, name), "{name}: {other}");
        }
    }
    assert_eq!(digest(base, "f"), digest(same[1], "f"));
    let differs = [
        ("f", "import a\ndef f(x):\n    return x + 2\nX = f(1)\nprint(X)\n"),
        ("X", "import a\ndef f(x):\n    return x + 1\nX = f(2)\nprint(X)\n"),
        ("<module>", "import b\ndef f(x):\n    return x + 1\nX = f(1)\nprint(X)\n"),
    ];
    for (name, other) in differs {
        assert_ne!(digest(base, name), digest(other, name), "{name}: {other}");
    }
    // A docstring that is read counts; so does one with examples, and one a decorator sees.
    assert_ne!(digest("def f():\n 'a'\nf.__doc__", "f"), digest("def f():\n 'b'\nf.__doc__", "f"));
    assert_ne!(digest("def f():\n '>>> 1'", "f"), digest("def f():\n '>>> 2'", "f"));
    assert_ne!(digest("@d\ndef f():\n 'a'", "f"), digest("@d\ndef f():\n 'b'", "f"));
    // What an imported name stands for is part of its users.
    assert_ne!(digest("from a import x\ndef f(): x", "f"), digest("from b import x\ndef f(): x", "f"));
    assert_eq!(digest("from a import x\ndef f(): x", "f"), digest("from a import x, y\ndef f(): x", "f"));
}

#[test]
fn declarations_and_their_references() {
    let source = "\
import os
from lib import helper, Base
from typing import NamedTuple
LIMIT = 3
NAMES = ['a', 'b']
MADE = helper()
def f(a, b=LIMIT):
    def g(LIMIT): return LIMIT
    return os.path.join(a, NAMES)
@helper
def h(): pass
class A(Base):
    x = LIMIT
class N(NamedTuple):
    x: 'A'
if LIMIT:
    def k(): return f
else:
    k = None
for i in NAMES: pass
def w():
    global STATE
    STATE = 1
print(LIMIT)
def __getattr__(name): pass
";
    let facts = facts_of("m.py", source);
    let lines: Vec<String> = facts
        .declarations
        .iter()
        .map(|d| {
            format!("{}{} {}", d.name, if d.effects_at_import { "!" } else { "" }, d.references.join(","))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "<module>! LIMIT,NAMES",
            "A! Base,LIMIT",
            "LIMIT ",
            "MADE! helper",
            "N A,NamedTuple",
            "NAMES ",
            "STATE <module>,w",
            "__getattr__ ",
            "f LIMIT,NAMES,os",
            "h! helper",
            "i <module>",
            "k f",
            "w ",
        ]
    );
    let all = facts_of("m.py", "import a\nX = 1\ndef f(n): return globals()[n]\ndef g(globals): globals()");
    let references =
        |name: &str| all.declarations.iter().find(|d| d.name == name).unwrap().references.join(",");
    assert_eq!((references("f"), references("g")), ("X,a,g".to_owned(), String::new()));
    let exports: Vec<&str> = facts.exports.iter().map(|e| e.name.as_str()).collect();
    assert!(
        ["os", "helper", "LIMIT", "f", "i", "k", "STATE"].iter().all(|n| exports.contains(n)),
        "{exports:?}"
    );
}

#[test]
fn effects_at_import() {
    let cases: &[(&str, bool)] = &[
        ("X = 1 + 2", false),
        ("X = Y", false),
        ("X = Y + 1", true),
        ("X = [Y, {'a': 1}]", false),
        ("X = lambda: f()", false),
        ("X = f()", true),
        ("X = a.b", true),
        ("import re\nX = re.compile('a', re.I)", false),
        ("import re\nX = re.compile(Y)", true),
        ("from pathlib import Path\nX = Path(__file__).parent / 'x'", false),
        ("from typing import Optional\nX = Optional[int]", false),
        ("import logging\nX = logging.getLogger(__name__)", false),
        ("def X(a=f()): pass", true),
        ("def X(a=None): f()", false),
        ("from functools import lru_cache\n@lru_cache(maxsize=None)\ndef X(): pass", false),
        ("@app.route('/')\ndef X(): pass", true),
        ("class X: pass", false),
        ("class X(Exception):\n    a = 1\n    def f(self): g()", false),
        ("from a import B\nclass X(B): pass", true),
        ("class B: pass\nclass X(B): pass", false),
        ("class B:\n    def __init_subclass__(cls): pass\nclass X(B): pass", true),
        ("class X(metaclass=M): pass", true),
        ("from abc import ABCMeta\nclass X(metaclass=ABCMeta): pass", false),
        ("import enum\nclass X(enum.Enum):\n    A = 1\n    B = enum.auto()", false),
        ("class X:\n    a = f()", true),
        ("class X:\n    @property\n    def a(self): pass\n    @a.setter\n    def a(self, v): pass", false),
        (
            "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass X:\n    a: list = field(default_factory=list)",
            false,
        ),
        ("import pytest\n@pytest.mark.parametrize('a', [1, 2])\ndef X(a): pass", false),
        ("import pytest\n@pytest.fixture\ndef X(): pass", false),
    ];
    for (source, expected) in cases {
        let facts = facts_of("m.py", source);
        let found = facts.declarations.iter().find(|d| d.name == "X").map(|d| d.effects_at_import);
        assert_eq!(found, Some(*expected), "{source}");
    }
}

#[test]
fn damage_is_named_and_the_rest_is_kept() {
    let facts = facts_of("m.py", "import a\ndef f(:\n    pass\nimport b\n");
    assert_eq!(facts.damage.len(), 1);
    assert_eq!(facts.damage[0].line, 2);
    let lines = import_lines(&facts);
    assert!(
        lines.contains(&"static a as a".to_owned()) && lines.contains(&"static b as b".to_owned()),
        "{lines:?}"
    );
    let valid = [
        "",
        "\u{feff}import a\n",
        "import a\rimport b\r",
        "\u{c}import a\r\n",
        "match x:\n    case {'a': [1, *_], **rest}: pass\n",
        "type A[T: int = str] = list[T]\n",
        "try: pass\nexcept* E: pass\n",
        "f'{x!r:>{w}} {y=}' f\"{d[\"k\"]}\"",
        "with (a as b, c as d): pass\n",
        "def f[T](x: T) -> T: ...\n",
        "t'{x}'",
        "try: pass\nexcept A, B: pass\n",
    ];
    for source in valid {
        assert_eq!(facts_of("m.py", source).damage, [], "{source}");
    }
    for source in ["print 'x'", "x = 1 +\n", "def f():\npass", "x = 'a", "(", "f(a=1, 2)", "1 = x"] {
        assert_eq!(facts_of("m.py", source).damage.len(), 1, "{source}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |n: usize| {
        [
            format!("import a\nx = {}1{}\n", "(".repeat(n), ")".repeat(n)),
            format!("import a\nx = {}1{}\n", "f([".repeat(n), "])".repeat(n)),
            format!("import a\nx = 1{}\n", " + 1".repeat(n)),
            format!("import a\nx = a{}\n", ".b".repeat(n)),
            format!("import a\nx = a{}\n", ".b()".repeat(n)),
            format!("import a\nx = {}1\n", "not ".repeat(n)),
            format!("import a\nx = {}1\n", "lambda: ".repeat(n)),
            format!("import a\nx = {}1\n", "1 if y else ".repeat(n)),
            format!("import a\nx = {}\n", "'a' 'b' ".repeat(n)),
        ]
    };
    for source in deep(700) {
        let facts = facts_of("m.py", &source);
        assert_eq!(facts.damage, [], "{}", &source[..40]);
        assert_eq!(import_lines(&facts)[0], "static a as a");
    }
    for source in deep(12_000) {
        let facts = facts_of("m.py", &source);
        assert!(facts.damage.iter().all(|d| d.cause == "depth"), "{}: {:?}", &source[..40], facts.damage);
    }
    assert_eq!(facts_of("m.py", &"(".repeat(200_000)).damage[0].cause, "depth");
}

#[test]
fn input_opacity_words_agree_with_the_table() {
    // The walk may only be left out of selection for reasons the engine calls time-opaque.
    assert!(Opaque::ComputedLoad.is_input_opaque() && !Opaque::Tmp.is_input_opaque());
}
