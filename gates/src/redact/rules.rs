//! What secrets look like. Forms of tokens are those their issuers document (prefix,
//! alphabet, least length); the lengths are kept a little below them, for a form that
//! grew shorter costs nothing and a missed one does.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// One form.
pub(super) struct Rule {
    /// The word that takes the secret's place.
    pub(super) kind: &'static str,
    pub(super) regex: Regex,
    /// The group that is the secret; 0 is all of the match.
    pub(super) group: usize,
    /// A second look at what was matched.
    pub(super) is_secret: fn(&str) -> bool,
}

/// Headers that carry credentials.
const HEADERS: &str = "set-cookie2?|cookie2?|authorization|proxy-authorization|x-api-key|api-key|x-auth-token|x-access-token|x-csrf-token|x-xsrf-token|x-amz-security-token|x-vault-token|private-token|x-goog-api-key|x-goog-iam-authorization-token|www-authenticate|authentication-info";

/// Parts of names whose values are secret.
const NAMES: &str = "passwords?|passwd|passphrase|[a-z0-9]+[_-]pwd|secrets?|token|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|signing[_-]?keys?|encryption[_-]?keys?|account[_-]?keys?|credentials?|session[_-]?id|sessid|auth[_-]?key|sas[_-]?url|connection[_-]?string|database[_-]?url|dsn";

pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |kind, pattern: &str, group, is_secret| Rule {
        kind,
        regex: Regex::new(pattern).expect("the patterns of this file are tested"),
        group,
        is_secret,
    };
    let any: fn(&str) -> bool = |_| true;
    vec![
        rule(
            "private-key",
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
            0,
            any,
        ),
        // A header in quotes ends with its quote; any other goes to the end of its line.
        rule("header", &format!(r#"(?i)"(?:{HEADERS})\s*:\s*((?:[^"\\\r\n]|\\.)+)"#), 1, any),
        rule("header", &format!(r"(?i)'(?:{HEADERS})\s*:\s*([^'\r\n]+)"), 1, any),
        // As a key of JSON, Python or a debug print.
        rule(
            "header",
            &format!(r#"(?i)["'](?:{HEADERS})["']\s*(?::|=>|,)\s*\[?\s*b?"((?:[^"\\\r\n]|\\.)+)"#),
            1,
            any,
        ),
        rule(
            "header",
            &format!(r"(?i)['\x22](?:{HEADERS})['\x22]\s*(?::|=>|,)\s*\[?\s*b?'((?:[^'\\\r\n]|\\.)+)"),
            1,
            any,
        ),
        rule(
            "header",
            &format!(r"(?im)(?:^|[^A-Za-z0-9_\x22'-])(?:{HEADERS})\s*:\s*([^\r\n]+)"),
            1,
            is_telling,
        ),
        rule(
            "header",
            r"(?i)(?:^|[\s;=,(\x22'])(?:bearer|basic|digest|negotiate|token)\s+([A-Za-z0-9._~+/=-]{8,})",
            1,
            is_mixed,
        ),
        rule("cookie", r#"(?i)(?:^|\s)(?:--cookie)(?:=|\s+)("[^"]+"|'[^']+'|\S+)"#, 1, any),
        rule("cookie", r#"(?i)\bcurl\b[^\r\n]*?\s-b\s*("[^"]+"|'[^']+'|\S*=\S+)"#, 1, any),
        rule(
            "password",
            r#"(?i)\bcurl\b[^\r\n]*?\s(?:-u|--user|--proxy-user)(?:=|\s*)("[^"]+"|'[^']+'|\S+)"#,
            1,
            any,
        ),
        rule("password", r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']*:([^/\s@"']+)@"#, 1, any),
        rule("token", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})", 0, any),
        rule("token", r"\bgl(?:pat|dt|rt|ft|cbt|ptt|agent|imt|soat|oas)-[A-Za-z0-9_-]{16,}", 0, any),
        rule(
            "token",
            r"\b(?:xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|https://hooks\.slack\.com/services/[A-Za-z0-9/]{16,})",
            0,
            any,
        ),
        rule("token", r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}\b", 0, any),
        rule(
            "token",
            r"\b(?:AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{16,}|GOCSPX-[0-9A-Za-z_-]{16,})",
            0,
            any,
        ),
        rule("token", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{16,}", 0, any),
        rule("token", r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}", 0, any),
        rule(
            "token",
            r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{16,}|dckr_pat_[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|do[opr]_v1_[a-f0-9]{32,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|SK[0-9a-f]{32}|lin_api_[A-Za-z0-9]{16,}|dp\.(?:pt|st|ct)\.[A-Za-z0-9]{16,}|hvs\.[A-Za-z0-9_-]{16,}|rubygems_[a-f0-9]{32,}|cio[A-Za-z0-9]{32}|ATATT3[A-Za-z0-9_=-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{32,}|sntry[su]_[A-Za-z0-9+/=_-]{16,}|glsa_[A-Za-z0-9_]{16,}|figd_[A-Za-z0-9_-]{16,}|PMAK-[a-f0-9-]{32,}|EAA[A-Za-z0-9]{60,})",
            0,
            any,
        ),
        rule("token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*", 0, any),
        rule("token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}", 0, any),
        // `--token x`, `--password=x`.
        rule(
            "secret",
            &format!(
                r#"(?i)(?:^|[\s"'\[,])--?[a-z0-9-]*(?:{NAMES})[a-z0-9-]*(?:=|["']?\s*,?\s+["']?)([^\s"',;&|]+|"[^"\r\n]+"|'[^'\r\n]+')"#
            ),
            1,
            |value| !value.starts_with('-') && is_value(value),
        ),
        // `SECRET=x`, `"secret": "x"`, `secret = 'x'`.
        rule(
            "secret",
            &format!(
                r#"(?i)\b[a-z0-9_.-]*(?:{NAMES})[a-z0-9_.-]*["']?\s*(?::|=>|=)\s*b?"((?:[^"\\\r\n]|\\.)+)"#
            ),
            1,
            is_value,
        ),
        rule(
            "secret",
            &format!(
                r"(?i)\b[a-z0-9_.-]*(?:{NAMES})[a-z0-9_.-]*['\x22]?\s*(?::|=>|=)\s*b?'((?:[^'\\\r\n]|\\.)+)"
            ),
            1,
            is_value,
        ),
        rule(
            "secret",
            &format!(r#"(?i)\b[a-z0-9_.-]*(?:{NAMES})[a-z0-9_.-]*=([^\s"'&;|,)}}\]]+)"#),
            1,
            is_value,
        ),
        // After a colon or a spaced `=` words are likely, so that a digit is asked for.
        rule(
            "secret",
            &format!(
                r#"(?i)\b[a-z0-9_.-]*(?:{NAMES})[a-z0-9_.-]*(?:\s*:\s*|\s+=\s+)([^\s"'&;|,)}}\]]{{6,}})"#
            ),
            1,
            |value| is_value(value) && is_mixed(value),
        ),
    ]
});

/// Words that say that there is no value.
fn is_value(value: &str) -> bool {
    let plain = value.trim_matches(['"', '\'']).to_ascii_lowercase();
    let none = [
        "true",
        "false",
        "null",
        "none",
        "undefined",
        "nil",
        "yes",
        "no",
        "",
        "***",
        "<redacted>",
        "redacted",
    ];
    // A reference to a variable is no secret, its value is.
    !none.contains(&plain.as_str()) && !plain.starts_with('$') && !plain.chars().all(|c| c == '*')
}

/// Prose behind the name of a header: a few plain words.
fn is_telling(value: &str) -> bool {
    is_value(value) && !value.starts_with("[redacted")
}

/// Letters only are a word; a credential holds a digit, or both cases and a sign.
fn is_mixed(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    has(char::is_ascii_digit)
        || (value.len() >= 12 && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
        || value.contains(['=', '+', '/'])
}

/// Whether the name of a variable says that its value is secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"(?i)(?:^|[_.-])(?:{NAMES}|pass|key|cookie|authorization|auth|bearer|jwt|pat|otp|salt)(?:[_.-]|$)"))
            .expect("the pattern is tested")
    });
    // Where something lies is no secret, and its place may be the place of everything.
    let ends = ["_path", "_dir", "_directory", "_file", "_home", "_root", "_sock", "_socket"];
    let lower = name.to_ascii_lowercase();
    NAME.is_match(name) && !ends.iter().any(|end| lower.ends_with(end))
}

/// What follows the end of a private key whose beginning is missing.
pub(super) fn after_key_end(text: &str) -> Option<&str> {
    static END: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
            .expect("the pattern is tested")
    });
    let found = END.find(text)?;
    text[found.start()..].starts_with("-----END").then(|| &text[found.end()..])
}
