//! Declarations, tests, damage.

use owed_engine::facts::TestKind;

use super::{facts_of, import_lines};

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
            "suite Plain@15",
            "Plain::test_no@16",
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
            "f LIMIT,NAMES,os.path.join",
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
    for source in deep(700).into_iter().chain(deep(4_500)) {
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
