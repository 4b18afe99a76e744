//! Sources that nobody writes: every construct nested as deep as it goes, thousands of
//! functions beside and in each other. None may crash, on the stack of an ordinary thread;
//! what is not measured says why.

use owed_engine::function::FunctionFacts;

use super::facts;

/// Levels of each construct.
const LEVELS: usize = 10_000;

/// Asks on a stack as small as that of a thread of a pool.
fn asked(path: &'static str, text: String) -> FunctionFacts {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let worker = thread.spawn(move || facts(path, text.as_bytes())).unwrap();
    worker.join().unwrap_or_else(|_| panic!("{path} crashed"))
}

/// Nests and says what must come of it: `true` for a file that is refused for its depth.
fn nested(path: &'static str, before: &str, open: &str, middle: &str, close: &str, refused: bool) {
    let text = format!("{before}{}{middle}{}\n", open.repeat(LEVELS), close.repeat(LEVELS));
    let answer = asked(path, text);
    let cause = answer.damage.first().map(|damage| damage.cause.as_str());
    if refused {
        assert!(cause.is_some_and(|cause| cause.starts_with("depth")), "{open} {close}: {cause:?}");
    }
    assert!(cause.is_none() || answer.functions.is_empty(), "{open} {close}: both measured and not");
    // What does not end must be refused, too.
    if !close.is_empty() {
        let unclosed = asked(path, format!("{before}{}", open.repeat(LEVELS)));
        assert!(!unclosed.damage.is_empty(), "{open} without an end is accepted");
    }
}

#[test]
fn no_nesting_of_javascript_crashes() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{", "", "}"),
        ("({a:", "1", "})"),
        ("(function(){", "", "})"),
        ("(class{a=", "1", "})"),
        ("a(", "", ")"),
        ("a[", "1", "]"),
        ("[...", "a", "]"),
        ("if(a){", "", "}"),
        ("switch(a){case 1:", "", "}"),
        ("try{", "", "}catch{}"),
        ("`${", "a", "}`"),
    ] {
        let before = if matches!(open, "{" | "if(a){" | "switch(a){case 1:" | "try{") { "" } else { "x=" };
        nested("a.js", before, open, middle, close, true);
    }
    for (before, open, middle) in [
        ("x=", "a=>", "1"),
        ("x=", "!", "1"),
        ("x=", "- ", "1"),
        ("x=", "typeof ", "1"),
        ("x=", "new ", "A"),
        ("x=", "a?b:", "1"),
        ("x=", "a+", "1"),
        ("x=", "a**", "1"),
        ("x=", "a&&", "1"),
        ("x=", "a??", "1"),
        ("x=", "a,", "1"),
        ("x=", "a.", "a"),
        ("x=", "a?.", "a"),
        ("", "x=", "1"),
        ("", "if(a)", "b"),
        ("", "if(a)b;else ", "c"),
        ("", "for(;;)", "b;"),
        ("", "for(a of b)", "c;"),
        ("", "while(a)", "b;"),
        ("", "a:", "b"),
        ("", "do ", "b"),
    ] {
        nested("a.js", before, open, middle, "", false);
    }
    nested("a.tsx", "x=", "<a>", "b", "</a>", false);
    nested("a.ts", "let x:", "Array<", "a", ">", false);
    nested("a.ts", "let x:", "(", "a", ")", true);
    nested("a.ts", "let x=a", " as b", "", "", false);
    nested("a.ts", "let x:a", "|a", "", "", false);
}

#[test]
fn no_nesting_of_python_crashes() {
    for (open, middle, close) in [
        ("(", "", ")"),
        ("[", "", "]"),
        ("{1:", "1", "}"),
        ("a(", "", ")"),
        ("a[", "1", "]"),
        ("(a:=", "1", ")"),
    ] {
        nested("a.py", "x=", open, middle, close, true);
    }
    for (before, open, middle) in [
        ("x=", "not ", "1"),
        ("x=", "-", "1"),
        ("x=", "~", "1"),
        ("x=", "lambda:", "1"),
        ("x=", "a if b else ", "c"),
        ("x=", "a+", "1"),
        ("x=", "a**", "1"),
        ("x=", "a.", "a"),
        ("x=", "a and ", "1"),
        ("x=", "a==", "1"),
        ("x=", "a,", "1"),
        ("x=", "\"a\" ", "\"b\""),
        ("x=", "await ", "a"),
        ("", "x=", "1"),
        ("if a: b\n", "elif a: b\n", ""),
        ("", "@a\n", "def f(): pass"),
        ("match x:\n    case ", "a|", "a: pass"),
        ("x=f'", "{a}", "'"),
    ] {
        nested("a.py", before, open, middle, "", false);
    }
    let indented: String = (0..500).map(|level| format!("{}if a:\n", " ".repeat(level))).collect();
    let answer = asked("a.py", format!("{indented}{}b\n", " ".repeat(500)));
    assert!(answer.damage[0].cause.starts_with("depth"), "{:?}", answer.damage);
}

#[test]
fn thousands_of_functions_are_measured() {
    let wide: String =
        (0..5_000).map(|n| format!("function f{n}(a) {{ return a.map((x) => x + {n}); }}\n")).collect();
    assert_eq!(asked("a.js", wide.clone()).functions.len(), 10_000);
    let inside = asked("a.js", format!("function outer() {{ {wide} }}"));
    assert_eq!(inside.functions.len(), 10_001);
    assert_eq!(inside.functions[0].own_tokens, 6);
    // As deep as is measured, with most of the text at the bottom.
    let deep = format!("{}{}{}", "function f() {".repeat(490), "x();".repeat(20_000), "}".repeat(490));
    let deep = asked("a.js", deep);
    assert_eq!(deep.functions.len(), 490);
    let symbols: usize = deep.functions.iter().map(|function| function.shape.symbols.len()).sum();
    assert!(symbols < 200_000, "{symbols} symbols: every level repeats what is in it");
    let curried = asked("a.js", format!("x = {}[{}];", "a => ".repeat(900), "x + 1,".repeat(20_000)));
    assert_eq!(curried.functions.len(), 900);
    let symbols: usize = curried.functions.iter().map(|function| function.shape.symbols.len()).sum();
    assert!(symbols < 2_000_000, "{symbols} symbols: every level repeats what is in it");
    let methods: String =
        (0..5_000).map(|n| format!("    def f{n}(self): return self.f{}()\n", n + 1)).collect();
    assert_eq!(asked("a.py", format!("class A:\n{methods}")).functions.len(), 5_000);
}
