//! Words that a command needs besides its tests (`--require ts-node/register`). They
//! come from a script, are the name of the project they make, and go back into its
//! command.

use super::shell;

/// The words as one name; `None` when there are none.
pub fn name(words: &[String]) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let plain = word.chars().all(|c| c.is_alphanumeric() || "-_./@=:,+^~#*".contains(c));
            if plain && !word.is_empty() { word.clone() } else { format!("'{}'", word.replace('\'', "")) }
        })
        .collect();
    Some(quoted.join(" "))
}

/// The words of such a name.
pub fn words(name: Option<&str>) -> Vec<String> {
    shell::split(name.unwrap_or_default()).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_words() {
        let words_in = ["--require", "ts-node/register", "a b"].map(str::to_owned);
        assert_eq!(words(name(&words_in).as_deref()), words_in);
        assert_eq!(name(&[]), None);
    }
}
