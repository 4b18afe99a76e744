//! Words that a command needs besides its tests (`--require ts-node/register`). They
//! come from a script, are the name of the project they make, and go back into its
//! command.

use owed_engine::path;

use super::compiled::{Output, compiled};
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

/// `words` with the output that the tests are compiled to before they run.
pub fn with_output(words: &[String], output: Option<&Output>) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(output) = output {
        let or_dot = |dir: &str| if dir.is_empty() { ".".to_owned() } else { dir.to_owned() };
        words.extend([
            format!("--sources={}", or_dot(&output.from)),
            format!("--output={}", or_dot(&output.to)),
        ]);
    }
    words
}

/// The words for the command, and the output taken out of them.
pub fn without_output(mut words: Vec<String>) -> (Vec<String>, Option<Output>) {
    let mut take = |name: &str| {
        let at = words.iter().position(|w| w.starts_with(name))?;
        path::join("", &words.remove(at)[name.len()..])
    };
    let from = take("--sources=");
    let to = take("--output=");
    let output = from.zip(to).map(|(from, to)| Output { to, from });
    (words, output)
}

/// How the command in `cwd` names the test: its own path, or what it is compiled to.
pub fn run_as(cwd: &str, test: &str, output: Option<&Output>) -> String {
    match output.and_then(|output| compiled(test, output)) {
        Some(file) => path::relative(cwd, &file),
        None => path::relative(cwd, test),
    }
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
