//! What a file depends on besides imports, and what never counts.

use owed_engine::facts::{EffectClass, Opaque};

use super::{effect_lines, facts_of, import_lines};

#[track_caller]
fn effects(source: &str, expected: &[&str]) {
    let mut facts = facts_of("tests/test_m.py", source);
    // Names that a snippet leaves unbound are another matter.
    facts.effects.retain(|e| e.class != EffectClass::Opaque(Opaque::Unlisted) || e.operation.contains('.'));
    assert_eq!(effect_lines(&facts), expected, "{source}");
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
        // A base class elsewhere may read what a subclass sets.
        ("from base import Case\nclass T(Case):\n    data = HERE / 'd'", &["below here:d"]),
        ("def t(monkeypatch): monkeypatch.chdir(HERE / 'd')", &["below here:d in t", "cwd in t"]),
        ("import os\ndef t(p): os.chdir(p)", &["computed-load in t", "cwd in t"]),
        ("def t(monkeypatch, tmp_path): monkeypatch.chdir(tmp_path)", &["cwd in t"]),
        ("def t(request): return open(request.path.parent / 'x.txt')", &["file here:x.txt in t"]),
        ("def t(request): return open(request.config.rootpath / 'x.txt')", &["file cwd:x.txt in t"]),
        ("A, B = lambda p: open(p), 1", &["computed-load"]),
        ("(HERE / 'x').write_text('')", &["fs-meta"]),
    ];
    for (source, expected) in cases {
        // `Path.resolve` takes the working directory.
        let expected: Vec<&str> = std::iter::once("pin cwd").chain(expected.iter().copied()).collect();
        effects(&format!("{here}{source}"), &expected);
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
    let flask = "from flask import Flask, Blueprint\n";
    effects(&format!("{flask}Flask(__name__)"), &["below here:templates", "below here:static"]);
    effects(&format!("{flask}Blueprint('a', __name__, template_folder='t')"), &["below here:t"]);
    effects("list(map(open, names))", &["computed-load"]);
    effects("import pandas as pd\ndef f(p): pd.read_csv(p)", &["computed-load in f"]);
    effects("import pandas as pd, io\npd.read_csv(io.StringIO('a'))\nb = io.BytesIO()\npd.read_csv(b)", &[]);
    effects(
        "import configparser\nc = configparser.ConfigParser()\nc.read(['a.ini', 'b.ini'])\nx.read('c.ini')",
        &["file cwd:a.ini", "file cwd:b.ini"],
    );
    effects(
        "import sqlite3\nsqlite3.connect(':memory:')\nsqlite3.connect('x.db')",
        &["file cwd:x.db", "fs-meta"],
    );
}

#[test]
fn temporary_files_are_no_inputs() {
    effects(
        "def test(tmp_path):\n    (tmp_path / 'x').write_text('')\n    open(tmp_path / 'x')",
        &["tmp in test", "tmp in test"],
    );
    effects(
        "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/x', 'w')\n    open(d + '/x')",
        &["tmp", "tmp"],
    );
    effects("def test(tmpdir):\n    tmpdir.join('x').read_text('utf8')", &["tmp in test", "tmp in test"]);
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
    assert_eq!(
        rest("import p.q as m\nfrom pathlib import Path\n(Path(m.__file__).parent / 'd').read_text()"),
        ["glob p.q/d"]
    );
    assert_eq!(rest(&format!("{files}read_text('p.q', 'a.txt')")), ["glob p.q/a.txt"]);
    assert_eq!(
        rest(&format!("{files}(files(__package__) / 'a.txt').read_text()")),
        ["string a.txt", "file here:a.txt"]
    );
    assert_eq!(rest("import pkgutil\npkgutil.get_data(__name__, 'd/x.bin')"), ["glob ./d/x.bin"]);
    assert_eq!(
        rest(&format!("{files}def f(p): files(p).joinpath('x').read_text()")),
        ["computed-load in f", "computed-load in f"]
    );
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
        ("sys.path.insert(0, 'lib')", &["below cwd:lib", "mutate-global"]),
        ("sys.path.insert(0, os.path.dirname(__file__))", &["below here:.", "mutate-global"]),
        ("def f(p): sys.path.append(p)", &["loader in f"]),
        ("sys.path += ['lib']", &["below cwd:lib", "mutate-global"]),
        ("sys.modules[__name__]", &["host"]),
        ("def f(n): return sys.modules[n]", &["loader in f"]),
        ("def f(monkeypatch): monkeypatch.setattr(os, 'getcwd', g)", &["mutate-global in f"]),
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
        ("import time\ntime.gmtime(0)\ntime.gmtime(None)\ntime.localtime(int(x))", &["clock", "pin TZ"]),
        ("import random\nrandom.Random(1).random()\nrandom.shuffle(x)", &["random"]),
        ("from uuid import uuid4, UUID\nuuid4()\nUUID('a')", &["random"]),
        ("import socket\nsocket.create_connection(a)", &["network"]),
        ("import pickle\npickle.loads(pickle.dumps(x))\npickle.loads(y)", &["eval"]),
        ("import ctypes\nctypes.CDLL('x')", &["native"]),
        ("import json, os, random\ngetattr(json, n)\ngetattr(random, n)\ngetattr(os, n)", &["eval"]),
        ("from cfg import settings\ngetattr(settings, n)", &[]),
        ("import importlib\ndef f(n): importlib.import_module(n)", &["computed-load in f"]),
        ("import types, socket\nX = (types.FunctionType, socket.herror, socket.socket)", &["network"]),
        ("import os\ngetattr(os, 'getcwd')", &["pin cwd"]),
        ("import time\ntime.time = f", &["mutate-global"]),
        // Same spelling, other things.
        ("# time.time()\n'time.time()'", &[]),
        ("o.time()\nself.open()\nx.now()", &[]),
        ("def open(x): pass\nopen(y)", &[]),
        ("import time\ndef f(time): time.time()", &[]),
        ("import time\ndef f():\n    time.time()\n    time = g()", &[]),
        ("import time\nclass A:\n    time = B()\n    x = time.time()", &[]),
        ("import time\nclass A:\n    time = time.time()", &["clock"]),
        ("import time\nclass A:\n    if c:\n        time = B()\n    x = time.time()", &["clock"]),
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
