//! What is seen around what is broken, and that recovery only adds.

use owed_engine::facts::{FileFacts, ImportKind, Presence};
use owed_engine::language::{Language, SourceFile};

use super::{Dialect, read};

fn imports(dialect: Dialect, text: &str) -> Vec<(ImportKind, String)> {
    let read = read(dialect, text).unwrap();
    read.imports.into_iter().map(|it| (it.kind, it.specifier)).collect()
}

#[test]
fn imports_are_seen_around_what_is_broken() {
    use ImportKind::{Dynamic, Mock, ReExport, Require, Star, Static, TypeOnly};
    let text = "import a, { b as c } from './a';\nexport * from './s';\nexport { default } from './d';\n\
                const x = (;\nimport type { T } from './t';\nconst r = require('./r');\n\
                vi.mock('./m');\nasync function f() { return import(`./l`) }\n";
    let seen = imports(Dialect::TypeScript, text);
    let expected = [
        (Static, "./a"),
        (Star, "./s"),
        (ReExport, "./d"),
        (TypeOnly, "./t"),
        (Require, "./r"),
        (Mock, "./m"),
        (Dynamic, "./l"),
    ];
    assert_eq!(seen, expected.map(|(kind, specifier)| (kind, specifier.to_owned())));
    let text = "import a.b, c as d\nfrom . import e\nx = )\ndef f():\n    from ..g import *\n";
    let seen = imports(Dialect::Python, text);
    let expected = [(Static, "a.b"), (Static, "c"), (Static, "."), (Star, "..g")];
    assert_eq!(seen, expected.map(|(kind, specifier)| (kind, specifier.to_owned())));
}

#[test]
fn tests_and_functions_are_seen_with_their_names() {
    let text = "describe('cart', () => {\n  it('adds', () => {});\n  it.skip(`pays`, async () => {});\n});\n\
                class Cart { total = () => 1; get size() { return 2 } }\nfunction load(;\n";
    let seen = read(Dialect::TypeScript, text).unwrap();
    let tests: Vec<_> = seen.tests.iter().map(|it| (it.name.join(" > "), it.skipped)).collect();
    let expected = [("cart", false), ("cart > adds", false), ("cart > pays", true)];
    assert_eq!(tests, expected.map(|(name, skipped)| (name.to_owned(), skipped)));
    let names: Vec<&str> = seen.functions.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"Cart.total") && names.contains(&"Cart.size"), "{names:?}");
    assert_eq!(seen.classes[0].name, "Cart");
    assert!(!seen.damage.is_empty());
    let text =
        "@fixture\ndef one(): pass\nclass TestCart:\n    @skip\n    def test_total(self): pass\nx = (\n";
    let seen = read(Dialect::Python, text).unwrap();
    let tests: Vec<_> = seen.tests.iter().map(|it| (it.name.join("."), it.skipped)).collect();
    assert_eq!(tests, [("TestCart".to_owned(), false), ("TestCart.test_total".to_owned(), true)]);
    let names: Vec<&str> = seen.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["one", "TestCart.test_total"]);
    assert_eq!(seen.functions[0].line, 2);
}

#[test]
fn recovery_only_adds_and_what_it_adds_may_be_absent() {
    let cases = [
        (
            Dialect::TypeScript,
            "import a from './a';\nconst b = (;\nimport c from './c';\ntest('x', () => {});\n",
        ),
        (Dialect::Python, "import a\nx = (\ndef pytest_ignore_collect():\n    import c\n"),
    ];
    for (dialect, text) in cases {
        let whole = read(dialect, text).unwrap();
        for kept in 0..=whole.imports.len() {
            let before = FileFacts { imports: whole.imports[..kept].to_vec(), ..FileFacts::default() };
            let mut after = before.clone();
            super::recover(&mut after, dialect, text, true);
            assert!(before.imports.iter().all(|it| after.imports.contains(it)));
            assert_eq!(after.imports.len(), whole.imports.len());
            let possible = after.imports.iter().filter(|it| it.presence == Presence::Optional).count();
            assert_eq!(possible, whole.imports.len() - kept);
            let again = after.clone();
            super::recover(&mut after, dialect, text, true);
            assert_eq!(after, again);
        }
    }
}

#[test]
fn a_file_that_is_too_deep_is_damaged_and_bounded() {
    let text = format!("import a\nx = {}\n", "(".repeat(100_000));
    assert_eq!(read(Dialect::Python, &text), None);
    let facts = crate::python::Python.read(SourceFile { path: "a.py", bytes: text.as_bytes() });
    assert_eq!(facts.damage[0].cause, "depth");
    // Nested deeper than the first reader measures, and still seen by the second.
    let text = format!("import a\nx = {}{}\nimport b = (\n", "(".repeat(300), ")".repeat(300));
    let facts = crate::python::Python.read(SourceFile { path: "a.py", bytes: text.as_bytes() });
    assert!(!facts.damage.is_empty());
    assert!(facts.imports.iter().any(|it| it.specifier == "a"));
}

#[test]
fn lone_carriage_returns_end_lines_of_python() {
    let seen = read(Dialect::Python, "# first\rimport a\rdef f():\r    return a\r").unwrap();
    assert_eq!((seen.imports.len(), seen.imports[0].line), (1, 2));
    assert_eq!((seen.functions.len(), seen.functions[0].line), (1, 3));
}
