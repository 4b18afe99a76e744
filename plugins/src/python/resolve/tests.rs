//! One table: a tree in a line, the importing file, the import, and what it means.

use owed_engine::facts::{LoadMode, Span};
use owed_engine::tree::MemoryTree;

use super::*;

fn tree(files: &str) -> MemoryTree {
    MemoryTree::new(files.split_whitespace().map(|file| {
        let (path, text) = file.split_once('=').unwrap_or((file, ""));
        (path.to_owned(), text.replace('~', "\n").into_bytes())
    }))
}

fn options(roots: &str) -> ResolveOptions {
    let source_roots = roots.split(',').map(str::to_owned).collect();
    ResolveOptions { source_roots, ..ResolveOptions::default() }
}

/// `kind specifier names…`, kind being i(mport), f(rom), o(ptional from), t(ype only), s(tring),
/// m(ock), x (script), g(lob), *.
fn import(text: &str) -> Import {
    let mut words = text.split(' ');
    let kind = words.next().unwrap();
    let specifier = words.next().unwrap_or("").to_owned();
    let names: Vec<Name> = words.map(|n| Name { imported: n.to_owned(), local: n.to_owned() }).collect();
    Import {
        specifier,
        kind: match kind {
            "i" | "f" | "o" => ImportKind::Static,
            "t" => ImportKind::TypeOnly,
            "s" => ImportKind::StringRef,
            "m" => ImportKind::Mock,
            "x" => ImportKind::Script,
            "g" => ImportKind::Computed,
            "*" => ImportKind::Star,
            other => panic!("{other}"),
        },
        mode: LoadMode::Esm,
        presence: if kind == "o" { Presence::Optional } else { Presence::Required },
        names: if names.is_empty() { Names::Namespace("x".to_owned()) } else { Names::List(names) },
        line: 1,
        span: Span::default(),
    }
}

fn show(found: &Resolution) -> String {
    let mut parts: Vec<String> = found
        .targets
        .iter()
        .map(|t| match t {
            Target::File(f) => f.clone(),
            Target::Package(p) => p.clone(),
            Target::Listing(l) => format!("[{}:{}]", l.dir, l.glob),
            other => format!("{other:?}"),
        })
        .collect();
    parts.extend(found.unknown.as_ref().map(|u| format!("!{u:?}")));
    parts.join(" ")
}

fn check(files: &str, roots: &str, from: &str, text: &str, expected: &str) {
    let tree = tree(files);
    let resolver = PythonResolver::new(&tree, &options(roots));
    let found = resolver.resolve(from, &import(text));
    assert_eq!(show(&found), expected, "{text} in {from}; absent {:?}", found.absent);
}

#[test]
fn absolute_imports() {
    let files = "a/__init__.py a/b/__init__.py a/b/c.py a/b/d/__init__.py n/m.py n/deep/x.py t.py";
    for (text, expected) in [
        ("i a.b.c", "a/__init__.py a/b/__init__.py a/b/c.py"),
        ("f a.b c", "a/__init__.py a/b/__init__.py a/b/c.py"),
        ("f a.b d name", "a/__init__.py a/b/__init__.py a/b/d/__init__.py"),
        ("f a name", "a/__init__.py"),
        ("i a.gone", "a/__init__.py !Unresolved"),
        ("f a.gone x", "a/__init__.py !Unresolved"),
        ("o a.gone x", "a/__init__.py"),
        ("i a.b.c.attr", "a/__init__.py a/b/__init__.py a/b/c.py"),
        ("i n.m", "n/m.py pypi:n"),
        ("f n m", "n/m.py pypi:n"),
        ("f n gone", "pypi:n !Unresolved"),
        ("i n.gone", "pypi:n !Unresolved"),
        ("i t", "t.py"),
        ("i os.path", ""),
        ("i numpy.linalg", "pypi:numpy"),
        ("f google.cloud storage", "pypi:google"),
    ] {
        check(files, "", "x.py", text, expected);
    }
}

#[test]
fn relative_imports() {
    let files = "a/__init__.py a/b/__init__.py a/b/c.py a/e.py s/x.py s/y.py";
    for (from, text, expected) in [
        ("a/b/c.py", "f . name", "a/b/__init__.py"),
        ("a/b/__init__.py", "f . c", "a/b/c.py"),
        ("a/b/__init__.py", "f .c x", "a/b/c.py"),
        ("a/b/c.py", "f ..e x", "a/e.py"),
        ("a/b/__init__.py", "f .. e", "a/__init__.py a/e.py"),
        ("a/b/c.py", "f .gone x", "!Unresolved"),
        ("a/b/c.py", "f ...t x", "!Unresolved"),
        ("a/b/c.py", "f ....t x", "!Unresolved"),
        ("s/x.py", "f . y", "s/y.py"),
        ("s/x.py", "f . gone", "!Unresolved"),
    ] {
        check(files, "", from, text, expected);
    }
}

#[test]
fn several_roots_are_a_union() {
    let st2 = "st2a/tests/__init__.py st2a/tests/base.py st2b/tests/__init__.py st2b/tests/base.py";
    check(
        st2,
        "st2a,st2b",
        "st2a/tests/test_x.py",
        "f tests.base X",
        "st2a/tests/__init__.py st2a/tests/base.py st2b/tests/__init__.py st2b/tests/base.py",
    );
    let namespace = "p/ns/a.py q/ns/b.py";
    check(namespace, "p,q", "x.py", "f ns a b", "p/ns/a.py q/ns/b.py pypi:ns");
    let only_one = "p/t/__init__.py q/t/__init__.py q/t/h.py";
    check(only_one, "p,q", "x.py", "i t.h", "q/t/__init__.py q/t/h.py");
}

#[test]
fn the_standard_library_is_shadowed_only_from_a_root() {
    let files = "src/example/typing.py src/example/user.py src/json.py";
    check(files, "src,", "src/example/user.py", "f typing Any", "");
    check(files, "src,", "src/example/user.py", "i json", "src/json.py");
    check(files, "src,src/example", "src/example/user.py", "i typing", "src/example/typing.py");
}

#[test]
fn test_and_script_directories_are_searched() {
    let files = "tests/conftest.py tests/helpers.py tests/unit/test_a.py scripts/run.py scripts/lib.py other/test_z.py other/zed.py";
    check(files, "", "tests/unit/test_a.py", "i helpers", "tests/helpers.py");
    check(files, "", "tests/unit/test_a.py", "f conftest x", "tests/conftest.py");
    check(files, "", "scripts/run.py", "i lib", "scripts/lib.py pypi:lib");
    check(files, "", "tests/unit/test_a.py", "i zed", "other/zed.py pypi:zed");
}

#[test]
fn an_undeclared_name_is_searched_everywhere() {
    let files = "odd/place/lib/__init__.py odd/place/lib/m.py app/__init__.py app/x.py";
    check(files, "", "app/x.py", "i lib.m", "odd/place/lib/__init__.py odd/place/lib/m.py pypi:lib");
    check(files, "", "app/x.py", "i lib.gone", "pypi:lib");
    let declared = format!("{files} requirements.txt=lib");
    check(&declared, "", "app/x.py", "i lib.m", "pypi:lib");
}

#[test]
fn native_modules_are_native() {
    let files = "a/__init__.py a/_x.pyx a/_y.pyi a/z.py a/z.pyi a/_v.cpython-311-x86_64-linux-gnu.so";
    for (text, expected) in [
        ("f a._x f", "a/__init__.py !Native"),
        ("f a _x", "a/__init__.py !Native"),
        ("f a._y f", "a/__init__.py !Native"),
        ("o a._v f", "a/__init__.py !Native"),
        ("f a.z f", "a/__init__.py a/z.py"),
        ("t a.z f", "a/__init__.py a/z.py a/z.pyi"),
        ("t a.gone f", "a/__init__.py"),
    ] {
        check(files, "", "x.py", text, expected);
    }
    let maturin = "pyproject.toml=[build-system]~build-backend=\"maturin\" a/__init__.py";
    check(maturin, "", "x.py", "f a._core f", "a/__init__.py !Native");
}

#[test]
fn a_version_file_of_the_build_is_no_riddle() {
    let files = "pyproject.toml=[tool.setuptools_scm]~write_to=\"a/_version.py\" a/__init__.py";
    check(files, "", "a/__init__.py", "f ._version v", "");
    check(files, "", "a/__init__.py", "f ._other v", "!Unresolved");
}

#[test]
fn strings_and_mocks_take_the_longest_prefix() {
    let files = "a/__init__.py a/b.py";
    for (text, expected) in [
        ("s a.b.Class.method", "a/__init__.py a/b.py"),
        ("s a.b:attr", "a/__init__.py a/b.py"),
        ("s a.gone", "a/__init__.py"),
        ("s other.thing", ""),
        ("s not a module", ""),
        ("s os.path", ""),
        ("m a.b.f", "a/__init__.py a/b.py"),
        ("m requests.get", "pypi:requests"),
        ("m time.time", ""),
    ] {
        check(files, "", "x.py", text, expected);
    }
}

#[test]
fn scripts_and_globs() {
    let files = "a/__init__.py a/__main__.py a/run.py a/p/__init__.py a/p/one.py a/p/two/__init__.py tool.py";
    for (from, text, expected) in [
        ("a/run.py", "x ./p/one.py", "a/p/one.py"),
        ("a/run.py", "x tool.py", "tool.py"),
        ("a/run.py", "x ./gone.py", "!Unresolved"),
        ("x.py", "x a", "a/__init__.py a/__main__.py"),
        ("x.py", "x a.p.one", "a/__init__.py a/p/__init__.py a/p/one.py"),
        ("x.py", "x json.tool", ""),
        ("x.py", "g", "!Computed"),
        ("x.py", "g *", "!Computed"),
        (
            "x.py",
            "g a.p.*",
            "a/__init__.py a/p/__init__.py a/p/one.py [a/p:*.py] a/p/two/__init__.py [a/p:*/__init__.py]",
        ),
        ("a/run.py", "g .p.o*", "a/p/__init__.py a/p/one.py [a/p:o*.py] [a/p:o*/__init__.py]"),
        ("x.py", "g django.*", "pypi:django"),
        ("x.py", "g a.p/one.py", "a/__init__.py a/p/__init__.py a/p/one.py"),
        ("x.py", "g a.p.one/d.json", "a/__init__.py a/p/__init__.py a/p/one.py"),
        ("x.py", "g a/*.py", "a/__init__.py a/__main__.py a/run.py [a:*.py]"),
        ("x.py", "g a/p", "a/__init__.py [a/p:**]"),
        ("a/run.py", "g ./p/one.py", "a/__init__.py a/p/one.py"),
        ("a/p/one.py", "g ../run.py", "a/__init__.py a/run.py"),
        ("x.py", "x /project/tool.py", "tool.py"),
    ] {
        check(files, "", from, text, expected);
    }
    let all = "a/__init__.py=__all__=['p'] a/p.py a/q.py";
    check(all, "", "x.py", "* a", "a/__init__.py a/p.py");
}

#[test]
fn absent_candidates_are_named() {
    let tree = tree("src/a/__init__.py src/a/b.py n/x.py");
    let resolver = PythonResolver::new(&tree, &options("src,"));
    for (text, absent) in [
        ("f a.b c", "src/a/b/__init__.py a/__init__.py a.py"),
        ("f a c", "src/a/c/__init__.py src/a/c.py"),
        ("i n.x", "n/__init__.py n.py n/x/__init__.py src/n.py"),
        ("i numpy", "src/numpy.py numpy/__init__.py"),
        ("t numpy", "src/numpy.pyi"),
        ("s a.gone", "src/a/gone.py"),
    ] {
        let found = resolver.resolve("x.py", &import(text));
        for path in absent.split(' ') {
            assert!(found.absent.iter().any(|a| a == path), "{text}: {path} not in {:?}", found.absent);
        }
    }
}

#[test]
fn ignored_files_and_links_are_seen() {
    let tree = MemoryTree::new(["a/__init__.py", "real/m.py"].map(|p| (p.to_owned(), Vec::new())))
        .with_link("a/linked", "real");
    let resolver = PythonResolver::new(&tree, &options(""));
    let found = resolver.resolve("x.py", &import("f a.linked m"));
    assert!(show(&found).contains("real/m.py"), "{found:?}");
}

#[test]
fn renamed_packages_follow_their_alias() {
    let tree = tree("lib/__init__.py lib/m.py");
    let mut with = options("");
    with.aliases.push(owed_engine::resolve::Alias {
        find: AliasFind::Prefix("pkg".to_owned()),
        replacement: "/lib".to_owned(),
    });
    let resolver = PythonResolver::new(&tree, &with);
    assert_eq!(show(&resolver.resolve("x.py", &import("f pkg.m f"))), "lib/__init__.py lib/m.py");
}
