//! A file whose names lie in too many scopes is refused, by a count of steps and no clock.

use owed_engine::function::{FunctionFacts, Limits};
use owed_engine::language::SourceFile;

fn read(path: &str, text: &str, limits: &Limits) -> FunctionFacts {
    let languages = owed_plugins::languages();
    let language = languages.iter().find(|language| language.reads(path)).unwrap();
    language.functions_within(SourceFile { path, bytes: text.as_bytes() }, limits).unwrap()
}

/// `names` free names in `scopes` functions in each other, on the third line.
fn nested(path: &str, scopes: usize, names: usize) -> String {
    let names: Vec<String> = (0..names).map(|at| format!("n{at}")).collect();
    let names = names.join(", ");
    if path.ends_with(".py") {
        format!("x = 1\n\ny = {}[{names}]\n", "lambda a: ".repeat(scopes))
    } else {
        format!("let x = 1;\n\nlet y = {}[{names}];\n", "a => ".repeat(scopes))
    }
}

#[test]
fn names_times_scopes_have_a_budget() {
    let limits = Limits { work: 10_000, ..Limits::default() };
    for path in ["a.ts", "a.py"] {
        let wide = read(path, &nested(path, 2, 1_000), &limits);
        assert!(wide.damage.is_empty(), "{path}: {:?}", wide.damage);
        assert_eq!(wide.functions.len(), 2);
        for _ in 0..3 {
            let both = read(path, &nested(path, 100, 1_000), &limits);
            assert!(both.functions.is_empty(), "{path}");
            assert!(both.damage[0].cause.starts_with(Limits::WORK_CAUSE), "{path}: {:?}", both.damage);
            assert_eq!(both.damage[0].line, 3, "{path}");
        }
        let usual = read(path, &nested(path, 100, 1_000), &Limits::default());
        assert!(usual.damage.is_empty(), "{path}: {:?}", usual.damage);
    }
}

#[test]
fn a_script_is_refused_before_it_costs_anything() {
    // 40,000 names in 9,000 scopes: 360 million steps, which nobody makes.
    let facts = read("a.ts", &nested("a.ts", 9_000, 40_000), &Limits::default());
    let cause = &facts.damage.first().expect("refused").cause;
    assert!(cause.starts_with(Limits::WORK_CAUSE), "{cause}");
}
