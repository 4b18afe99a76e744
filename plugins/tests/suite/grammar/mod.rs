//! Languages by data: the steps of CONTRIBUTING.md suffice, every pattern has a case, and the
//! tokens of Rust are those of rustc's own scanner.

mod patterns;
mod rust_tokens;

use owed_engine::facts::ImportKind;
use owed_engine::language::{Language, SourceFile};
use owed_plugins::grammar::language::ByData;
use owed_plugins::grammar::sources::{Folder, Source};

/// Java, as CONTRIBUTING.md says: a grammar crate, a folder of queries, and this.
static JAVA: ByData = ByData::new(&Source {
    name: "java",
    folders: &[&Folder {
        name: "java",
        queries: &[
            ("definitions", include_str!("java/definitions.scm")),
            ("references", include_str!("java/references.scm")),
            ("imports", include_str!("java/imports.scm")),
            ("tests", include_str!("java/tests.scm")),
        ],
    }],
    extensions: &["java"],
    package_prefix: "maven:",
    reader_version: "java/1",
    grammar: tree_sitter_java::LANGUAGE,
    functions: Some(include_str!("java/functions.toml")),
});

const CART: &str = r#"package shop;

import java.util.List;
import java.util.function.*;

class Cart {
    Cart(int size) { this.size = size; }

    /** Documented. */
    int total(List<List<Integer>> lists) {
        int sum = 0; // nothing yet
        for (var list : lists) {
            if (list.isEmpty() && sum > 1) { sum += 1; } else { sum = this.total(null); }
        }
        return sum >>> 1;
    }

    int length() { return items.size(); }

    static class Inner {
        Runnable make() {
            Runnable run = () -> { load("a\"b"); };
            return run;
        }
    }

    @Test
    void adds() { new Cart(1); }
}

interface Shape { double area(); default double twice() { return area() * 2; } }
"#;

#[test]
fn a_grammar_and_a_folder_of_queries_make_a_language() {
    let file = SourceFile { path: "shop/Cart.java", bytes: CART.as_bytes() };
    assert!(JAVA.reads("shop/Cart.java") && !JAVA.reads("shop/Cart.jav"));
    let facts = JAVA.functions(file).unwrap();
    assert_eq!(facts.damage, []);
    let shown: Vec<String> = facts
        .functions
        .iter()
        .map(|it| {
            format!(
                "{} | {} | {}-{} | own {} | cyclomatic {} | cognitive {} | statements {}{}",
                it.name,
                it.kind.word(),
                it.start_line,
                it.end_line,
                it.own_tokens,
                it.cyclomatic,
                it.cognitive,
                it.statements,
                if it.delegate { " | delegate" } else { "" },
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "Cart.Cart | method | 7-7 | own 13 | cyclomatic 1 | cognitive 0 | statements 1",
            "Cart.total | method | 10-16 | own 62 | cyclomatic 4 | cognitive 6 | statements 6",
            "Cart.length | method | 18-18 | own 13 | cyclomatic 1 | cognitive 0 | statements 1 | delegate",
            "Cart.Inner.make | method | 21-24 | own 13 | cyclomatic 1 | cognitive 0 | statements 3",
            "run in Cart.Inner.make | closure | 22-22 | own 10 | cyclomatic 1 | cognitive 0 | statements 1 | delegate",
            "Shape.twice | method | 31-31 | own 14 | cyclomatic 1 | cognitive 0 | statements 1",
        ]
    );
    let imports = JAVA.read(file).imports;
    let shown: Vec<(&str, ImportKind, u32)> =
        imports.iter().map(|it| (it.specifier.as_str(), it.kind, it.line)).collect();
    assert_eq!(
        shown,
        [("java.util.List", ImportKind::Static, 3), ("java.util.function", ImportKind::Star, 4)]
    );
}

#[test]
fn a_language_by_data_refuses_what_it_cannot_read() {
    let broken = SourceFile { path: "A.java", bytes: b"class A {\n    int f() { return ; ) }\n}\n" };
    let facts = JAVA.functions(broken).unwrap();
    assert!(facts.functions.is_empty());
    assert_eq!(facts.damage[0].line, 2);
    assert!(!JAVA.read(broken).damage.is_empty());
    let nul = JAVA.functions(SourceFile { path: "A.java", bytes: b"class A {\n\0}\n" }).unwrap();
    assert_eq!((nul.damage[0].cause.as_str(), nul.damage[0].line), ("a NUL byte in the source", 2));
    let deep = format!("class A {{ int x = {}1{}; }}", "(".repeat(1_200), ")".repeat(1_200));
    let facts = JAVA.functions(SourceFile { path: "A.java", bytes: deep.as_bytes() }).unwrap();
    assert!(facts.damage[0].cause.starts_with("depth"));
}
