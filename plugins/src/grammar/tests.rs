//! The vocabulary is closed, matches are groups, damage is named, depth is no danger.

use super::*;

const HEADER: &str = "; What a test defines.\n";

fn python(queries: &str) -> Result<Grammar, GrammarError> {
    of(&[&Folder { name: "python", queries: &[("definitions", queries)] }])
}

fn of(folders: &[&Folder<'_>]) -> Result<Grammar, GrammarError> {
    Grammar::new("python", tree_sitter_python::LANGUAGE, folders)
}

#[test]
fn what_tree_sitter_would_ignore_is_refused() {
    let shown = |pattern: &str| python(&format!("{HEADER}\n; x\n{pattern}\n")).unwrap_err().cause;
    assert_eq!(shown("(identifier) @definition.thing"), "@definition.thing is no capture of definitions");
    assert_eq!(
        shown("(call function: (_) @receiver) @definition.function"),
        "@receiver is no capture of definitions"
    );
    assert_eq!(shown("(identifier) @name"), "line 4: a pattern without a role");
    assert_eq!(
        shown("(call (_) @definition.type) @definition.function"),
        "line 4: a pattern with several roles: @definition.type, @definition.function"
    );
    assert_eq!(
        shown("(module (_)* @definition.function)"),
        "line 4: @definition.function is not there exactly once"
    );
    assert_eq!(
        shown("((identifier) @definition.variable (#looks-like? @definition.variable \"x\"))"),
        "line 4: #looks-like? does nothing"
    );
    assert_eq!(
        shown("((identifier) @definition.variable (#set! priority 1))"),
        "line 4: properties do nothing"
    );
    assert!(shown("(no_such_node) @definition.type").contains("no_such_node"));
}

#[test]
fn a_file_of_queries_says_what_it_is_for() {
    let pattern = "(identifier) @definition.variable";
    let cause = |text: &str| python(text).unwrap_err().cause;
    assert_eq!(
        cause(&format!("; x\n{pattern}")),
        "the first line is not a comment with a sentence on its purpose"
    );
    assert_eq!(
        cause(&format!("{HEADER}{pattern}")),
        "line 2: no comment above the pattern shows what it matches"
    );
    python(&format!("{HEADER}\n; x\n{pattern}")).unwrap();
    let twice = [("definitions", HEADER), ("definitions", HEADER)];
    assert!(of(&[&Folder { name: "python", queries: &twice }]).is_err());
    assert!(of(&[&Folder { name: "python", queries: &[("defs", HEADER)] }]).is_err());
}

#[test]
fn folders_are_read_as_one() {
    let file = |pattern: &str| format!("{HEADER}\n; x\n{pattern} @definition.type\n");
    let (first, second) = (file("(module)"), file("(identifier)"));
    let folder = |text| [("definitions", text)];
    let (first, second) = (folder(first.as_str()), folder(second.as_str()));
    let folders = [Folder { name: "a", queries: &first }, Folder { name: "b", queries: &second }];
    let grammar = of(&[&folders[0], &folders[1]]).unwrap();
    assert_eq!(grammar.sheets(), [(SheetKind::Definitions, 2)]);
    let parsed = grammar.parse("x\n").unwrap();
    let found = grammar.matches(SheetKind::Definitions, &parsed).unwrap();
    assert_eq!(found.iter().map(|one| one.pattern).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn captures_are_grouped_by_match() {
    let grammar = python(&format!(
        "{HEADER}\n; def f(): pass\n(function_definition name: (_) @name body: (_) @body) @definition.function\n\
         \n; class A:\n;     def f(): pass\n(class_definition name: (_) @name body: (block \
         (function_definition name: (_) @name body: (_) @body) @definition.method))\n"
    ))
    .unwrap();
    let text = "def f(): pass\nclass A:\n    def g(self): pass\n    def h(self): pass\n";
    let parsed = grammar.parse(text).unwrap();
    let found = grammar.matches(SheetKind::Definitions, &parsed).unwrap();
    let shown: Vec<(Role, String)> = found
        .iter()
        .map(|one| (one.role, one.all(Part::Name).map(|n| parsed.of(n)).collect::<Vec<_>>().join(".")))
        .collect();
    assert_eq!(
        shown,
        [
            (Role::Function, "f".to_owned()),
            (Role::Function, "g".to_owned()),
            (Role::Method, "A.g".to_owned()),
            (Role::Function, "h".to_owned()),
            (Role::Method, "A.h".to_owned()),
        ]
    );
}

#[test]
fn damage_is_every_outermost_place() {
    let grammar = python(HEADER).unwrap();
    let of = |text: &str| {
        let parsed = grammar.parse(text).unwrap();
        parsed.damage().into_iter().map(|it| (it.line, it.cause)).collect::<Vec<_>>()
    };
    assert_eq!(of("x = 1\n"), []);
    let broken = of("x = 1\n\ny = )\nz = 2\nw = (\n");
    assert!(!broken.is_empty());
    assert_eq!(broken[0].0, 3);
    // A missing token has no width, and is damage all the same.
    let rust = sources::RUST.compile().unwrap();
    let parsed = rust.parse("fn f() {\n    let x = 1\n}\n").unwrap();
    assert_eq!(parsed.damage().len(), 1);
    assert_eq!((parsed.damage()[0].cause.as_str(), parsed.damage()[0].line), ("expected `;`", 2));
}

#[test]
fn depth_is_walked_or_refused() {
    let grammar = python(&format!("{HEADER}\n; (x)\n(parenthesized_expression) @definition.type\n")).unwrap();
    let nested = |levels: usize| format!("{}x{}\n", "(".repeat(levels), ")".repeat(levels));
    let text = nested(2_000);
    let parsed = grammar.parse(&text).unwrap();
    assert_eq!(parsed.damage(), []);
    let (mut deepest, mut entered, mut left) = (0, 0, 0);
    let mut events = parsed.events();
    while let Some(event) = events.next() {
        match event {
            Event::Enter(_) => {
                deepest = deepest.max(events.depth());
                entered += 1;
            }
            Event::Leave(_) => left += 1,
        }
    }
    assert!(deepest > 2_000 && entered == left);
    assert_eq!(grammar.matches(SheetKind::Definitions, &parsed).unwrap().len(), 2_000);
    let refused = |text: &str| matches!(grammar.parse(text), Err(Refused::Depth(_)));
    assert!(refused(&nested(15_000)));
    assert!(refused(&nested(100_000)));
    assert!(refused(&"[{(".repeat(100_000)));
    assert!(refused(&format!("x = 1{}\n", " + 1".repeat(100_000))));
    assert!(grammar.parse(&format!("x = [{}]\n", "(1), ".repeat(100_000))).is_ok());
}

#[test]
fn every_grammar_is_of_a_version_that_runs() {
    let grammars = [
        ("rust", tree_sitter_rust::LANGUAGE),
        ("go", tree_sitter_go::LANGUAGE),
        ("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
        ("tsx", tree_sitter_typescript::LANGUAGE_TSX),
        ("javascript", tree_sitter_javascript::LANGUAGE),
        ("python", tree_sitter_python::LANGUAGE),
    ];
    for (name, language) in grammars {
        Grammar::new(name, language, &[]).unwrap();
    }
    for source in sources::ALL {
        source.compile().unwrap();
    }
}
