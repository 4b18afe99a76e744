//! Both readers agree about every source of the corpus, or the cause is written down.

use std::fs;
use std::path::Path;

use super::corpus::sources;
use super::explained::Explained;
use super::{Compared, compare};

#[test]
fn readers_agree_about_the_corpus() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let causes = fs::read_to_string(here.join("conformance/agreement.txt")).unwrap();
    let causes = Explained::parse(&causes).unwrap();
    let (mut shown, mut unexplained) = (Vec::new(), Vec::new());
    let mut total = Compared::default();
    for source in sources(&here.join("../corpus")).unwrap() {
        let Some(compared) = compare(&source.path, &source.bytes) else { continue };
        total.imports[0] += compared.imports[0];
        total.functions[0] += compared.functions[0];
        let name = format!("corpus/{}", source.name);
        if let Some((line, text)) = &compared.error {
            shown.push(format!("{name}:{line}: {text}"));
            if causes.error(shown.last().unwrap(), text).is_none() {
                unexplained.push(format!("{name}:{line}: the grammar gives up at: {text}"));
            }
            continue;
        }
        for difference in &compared.differences {
            let line = format!("{name}:{}: {}", difference.line, difference.what);
            if causes.difference(&line).is_none() {
                unexplained.push(line.clone());
            }
            shown.push(line);
        }
    }
    assert!(unexplained.is_empty(), "differences without a cause:\n{}", unexplained.join("\n"));
    // What rustpython says is asked for by the program only.
    let of_others = |cause: &&str| !cause.ends_with(": rustpython");
    let stale: Vec<&str> = causes.stale("corpus/", &shown).filter(of_others).collect();
    assert!(stale.is_empty(), "causes of nothing:\n{}", stale.join("\n"));
    // The corpus does not shrink to nothing, and is found.
    assert!(
        total.imports[0] > 2_000 && total.functions[0] > 2_000,
        "{:?} {:?}",
        total.imports,
        total.functions
    );
}

#[test]
fn a_difference_is_seen() {
    // What the readers cannot agree about: a text of which one sees nothing.
    let compared =
        compare("a.ts", b"import a from './a';\nexport type * from './b';\nfunction f() {}\n").unwrap();
    assert!(compared.error.is_some_and(|(line, text)| line == 2 && text == "export type * from './b';"));
    assert_eq!(compared.refused, None);
    let same = compare("a.py", b"import a\ndef f():\n    return a\n").unwrap();
    assert_eq!((same.imports, same.functions), ([1, 1], [1, 1, 1]));
    assert!(compare("a.py", b"def f(:\n").unwrap().refused.is_some());
    assert_eq!(compare("a.rs", b""), None);
}
