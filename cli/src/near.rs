//! "Did you mean": names near to one that does not exist.

use std::cmp::Reverse;

/// At most `most` of `names`, nearest to `wrong` first. Names that merely share a few
/// letters are left out: a wrong suggestion is worse than none.
pub(crate) fn near<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let mut scored: Vec<(u32, &str)> =
        names.into_iter().filter_map(|name| Some((score(wrong, name)?, name))).collect();
    scored.sort_by_key(|&(score, name)| (Reverse(score), name));
    scored.dedup();
    scored.truncate(most);
    scored.into_iter().map(|(_, name)| name).collect()
}

fn score(wrong: &str, name: &str) -> Option<u32> {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let (wrong_base, name_base) = (base(wrong), base(name));
    if wrong_base.is_empty() {
        return None;
    }
    let whole = strsim::normalized_damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let last = strsim::normalized_damerau_levenshtein(&wrong_base, &name_base);
    let shared = if wrong_base.len() >= 3 && name.to_lowercase().contains(&wrong_base) { 0.85 } else { 0.0 };
    let best = whole.max(last).max(shared);
    // Two wrong letters in a short word, about a third of a long one.
    (best >= 0.6).then_some((best * 1000.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_nothing_far() {
        let names = ["src/cart.test.ts", "src/card.test.ts", "tests/test_cart.py", "src/price.ts"];
        assert_eq!(near("src/cart.tset.ts", names, 2), ["src/cart.test.ts", "src/card.test.ts"]);
        assert_eq!(near("cart.test.ts", names, 1), ["src/cart.test.ts"]);
        assert_eq!(near("exlude", ["cap", "caps", "exclude", "inert"], 1), ["exclude"]);
        assert!(near("zzz", names, 3).is_empty());
        assert!(near("", names, 3).is_empty());
    }
}
