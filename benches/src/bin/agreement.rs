//! try-out
#![allow(clippy::print_stdout, clippy::disallowed_methods, missing_docs)]
use benches::agreement::compare;
fn main() {
    let (mut files, mut err, mut refused) = (0, 0, 0);
    let mut imports = [0usize; 2];
    let mut functions = [0usize; 3];
    let quiet = std::env::var_os("QUIET").is_some();
    for dir in std::env::args().skip(1) {
        let walk = ignore::WalkBuilder::new(&dir)
            .filter_entry(|entry| entry.file_name() != "node_modules" && entry.file_name() != ".git")
            .build();
        let mut list: Vec<_> = walk
            .filter_map(|e| e.ok())
            .map(|e| e.into_path())
            .filter(|p| p.is_file() && !p.is_symlink())
            .collect();
        list.sort();
        for path in list {
            let name = path.to_str().unwrap().to_owned();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let Some(c) = compare(&name, &bytes) else { continue };
            files += 1;
            if let Some(r) = &c.refused {
                refused += 1;
                println!("R {name}: {r}");
                continue;
            }
            for i in 0..2 {
                imports[i] += c.imports[i];
            }
            for i in 0..3 {
                functions[i] += c.functions[i];
            }
            if let Some((line, text)) = &c.error {
                err += 1;
                println!("E {name}:{line}: {text}");
                if quiet {
                    continue;
                }
            }
            for d in &c.differences {
                println!("{} {name}:{}: {}", if c.error.is_some() { "e" } else { "D" }, d.line, d.what);
            }
        }
    }
    println!("files {files} refused {refused} errors {err} imports {imports:?} functions {functions:?}");
}
