//! Whether a path may match one of some globs, told without compiling them: compiling the lists of
//! this program takes longer than a small plan, and most changed files are like nothing on them.
//!
//! `false` is certain. `true` means that the compiled globs must be asked: only what stands
//! between the stars is looked for, and what this module does not understand may match.

/// Whether one of `globs` may match `path`.
pub(crate) fn may_match(globs: &[&str], path: &str) -> bool {
    globs.iter().any(|glob| any_way(&mut String::new(), glob, path))
}

/// Whether one of the ways to read the braces in `rest` may match behind `before`.
fn any_way(before: &mut String, rest: &str, path: &str) -> bool {
    let start = before.len();
    let may = match rest.split_once('{') {
        None => {
            before.push_str(rest);
            pieces_lie_in(before, path)
        }
        Some((plain, behind)) => match behind.split_once('}') {
            Some((ways, rest)) if !ways.contains('{') => {
                before.push_str(plain);
                ways.split(',').filter(|way| way.split('*').all(|piece| path.contains(piece))).any(|way| {
                    let end = before.len();
                    before.push_str(way);
                    let may = any_way(before, rest, path);
                    before.truncate(end);
                    may
                })
            }
            _ => true,
        },
    };
    before.truncate(start);
    may
}

/// Whether what stands between the stars of `glob` lies in `path`, in order, the first at the
/// start of a name and the last at the end.
fn pieces_lie_in(glob: &str, path: &str) -> bool {
    if glob.contains(['?', '[', '\\', '{', '}']) {
        return true;
    }
    let Some(glob) = glob.strip_prefix("**/") else { return true };
    let mut pieces = glob.split('*');
    let first = pieces.next().unwrap_or_default();
    let is_start = |at: &usize| *at == 0 || path.as_bytes().get(at - 1) == Some(&b'/');
    let Some(at) = path.match_indices(first).map(|(at, _)| at).find(is_start) else { return false };
    let Some(last) = pieces.next_back() else {
        // No star: the whole name.
        return path.ends_with(first);
    };
    let mut end = at + first.len();
    for piece in pieces {
        let Some(at) = path[end..].find(piece) else { return false };
        end += at + piece.len();
    }
    path[end..].ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{CONVENTIONAL, INERT};
    use crate::project::globs;

    /// Every way to read the braces.
    fn ways(glob: &str) -> Vec<String> {
        let Some((before, behind)) = glob.split_once('{') else { return vec![glob.to_owned()] };
        let (list, rest) = behind.split_once('}').unwrap();
        let rest = ways(rest);
        list.split(',').flat_map(|way| rest.iter().map(move |rest| format!("{before}{way}{rest}"))).collect()
    }

    #[test]
    fn what_matches_may_match() {
        for list in [INERT, CONVENTIONAL] {
            let compiled = globs(list);
            for way in list.iter().flat_map(|glob| ways(glob)) {
                let name = way.strip_prefix("**/").unwrap();
                for name in [name.replace('*', "x"), name.replace('*', ""), name.replace('*', "a.b/c-")] {
                    for path in [
                        name.clone(),
                        format!("src/{name}"),
                        format!("{name}{name}"),
                        format!("a/{name}/{name}"),
                    ] {
                        assert!(!compiled.is_match(&path) || may_match(list, &path), "{way} {path}");
                    }
                    assert!(may_match(list, &format!("src/{name}")), "{way}");
                }
            }
        }
    }

    #[test]
    fn a_source_like_no_other_does_not() {
        for path in
            ["packages/bench/arktype-morph-test.ts", "src/a.py", "x/src/readme_of.ts", "src/rc.test.tsx"]
        {
            assert!(!may_match(INERT, path), "{path}");
            assert!(!may_match(CONVENTIONAL, path), "{path}");
        }
        assert!(may_match(&["**/[ab].ts"], "c.ts"), "not understood");
    }
}
