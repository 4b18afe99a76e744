//! What must go and, as much, what must stay.

use super::*;

fn redacted(text: &str) -> String {
    Redactor::new().field(text).text
}

/// Joined here, so that no scanner takes this file for a leak.
fn token(parts: &[&str]) -> String {
    parts.concat()
}

#[test]
fn cookies_and_authorization_headers_go() {
    for (text, clean) in [
        ("Cookie: sid=abc; theme=dark\nnext", "Cookie: [redacted:header]\nnext"),
        ("set-cookie: sid=\"a b\"; Path=/\r\nok", "set-cookie: [redacted:header]\r\nok"),
        ("> Authorization: Basic dXNlcjpwYXNz", "> Authorization: [redacted:header]"),
        (
            "curl -H 'Cookie: a=b; c=d' https://x.test/y",
            "curl -H 'Cookie: [redacted:header]' https://x.test/y",
        ),
        (
            "curl -H \"Cookie: a=\\\"b\\\"; c=d\" https://x.test && echo done",
            "curl -H \"Cookie: [redacted:header]\" https://x.test && echo done",
        ),
        ("curl --cookie a=b https://x.test", "curl --cookie [redacted:cookie] https://x.test"),
        ("curl -s -b 'a=b' https://x.test", "curl -s -b [redacted:cookie] https://x.test"),
        ("curl -u user:pw https://x.test", "curl -u [redacted:password] https://x.test"),
        (r#"{"cookie": "sid=abc", "n": 1}"#, r#"{"cookie": "[redacted:header]", "n": 1}"#),
        ("{'Authorization': 'Token abc'}", "{'Authorization': '[redacted:header]'}"),
        ("X-Api-Key: 123", "X-Api-Key: [redacted:header]"),
        ("sent bearer abcDEF123456 twice", "sent bearer [redacted:header] twice"),
    ] {
        assert_eq!(redacted(text), clean, "{text}");
    }
}

#[test]
fn known_forms_of_tokens_go_wherever_they_stand() {
    let tokens = [
        token(&["ghp", "_", &"aB3".repeat(12)]),
        token(&["github", "_pat_", &"aB3_".repeat(10)]),
        token(&["glpat", "-", &"aB3-".repeat(5)]),
        token(&["xoxb", "-123456789-", "abcdefghij"]),
        token(&["AKIA", &"ABCD1234".repeat(2)]),
        token(&["AIza", &"aB3".repeat(12)]),
        token(&["sk", "_live_", &"aB3".repeat(8)]),
        token(&["sk", "-proj-", &"aB3".repeat(10)]),
        token(&["npm", "_", &"aB3".repeat(12)]),
        token(&["pypi", "-", &"aB3".repeat(12)]),
        token(&["hf", "_", &"aB3".repeat(10)]),
        token(&["eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxIn0", ".", "c2lnbmF0dXJl"]),
    ];
    for secret in tokens {
        for text in
            [format!("x {secret} y"), format!("\"{secret}\""), format!("({secret})\n"), secret.clone()]
        {
            let clean = redacted(&text);
            assert!(clean.contains("[redacted:token]") && !clean.contains(&secret), "{text} -> {clean}");
        }
    }
}

#[test]
fn values_behind_telling_names_go() {
    for (text, clean) in [
        ("export DB_PASSWORD=hunter2", "export DB_PASSWORD=[redacted:secret]"),
        ("API_KEY='a b' run", "API_KEY='[redacted:secret]' run"),
        (r#"{"client_secret": "x"}"#, r#"{"client_secret": "[redacted:secret]"}"#),
        ("tool --token abc --verbose", "tool --token [redacted:secret] --verbose"),
        ("tool --api-key=abc", "tool --api-key=[redacted:secret]"),
        ("GET /a?access_token=abc&x=1", "GET /a?access_token=[redacted:secret]&x=1"),
        ("postgres://u:p4ss@db.test/x", "postgres://u:[redacted:password]@db.test/x"),
        ("password: s3cr3tvalue", "password: [redacted:secret]"),
    ] {
        assert_eq!(redacted(text), clean, "{text}");
    }
}

#[test]
fn private_keys_go_whole_and_in_part() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----";
    assert_eq!(redacted(&format!("a\n{key}\nb")), "a\n[redacted:private-key]\nb");
    assert_eq!(redacted("a\n-----BEGIN PRIVATE KEY-----\nMIIabc"), "a\n[redacted:private-key]");
    let tail = Redactor::new().part("abc\ndef\n-----END PRIVATE KEY-----\nb", Edge::Start);
    assert_eq!(tail.text, "[redacted:private-key]\nb");
}

#[test]
fn values_of_secret_variables_go() {
    let environment = [
        ("MY_TOKEN", "correct horse"),
        ("DB_PWD", "battery-staple"),
        ("LANG", "C.UTF-8-long"),
        ("KEY", "short"),
        // Places: everything a command prints may begin with one of them.
        ("PWD", "/src/checkout"),
        ("OLDPWD", "/src/checkout"),
        ("SSH_AUTH_SOCK", "/src/checkout"),
        ("TOKEN_DIR", "/src/checkout"),
    ]
    .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let redactor = Redactor::knowing(&environment);
    let done = redactor.field("a correct horse in C.UTF-8-long, short; correct horse");
    assert_eq!(done.text, "a [redacted:environment] in C.UTF-8-long, short; [redacted:environment]");
    assert_eq!(done.count, 2);
    assert_eq!(redactor.field("battery-staple").text, "[redacted:environment]");
    assert_eq!(redactor.field("at /src/checkout/a.ts:1").count, 0);
}

#[test]
fn ordinary_output_stays_as_it_is() {
    for text in [
        "Tests  3 passed (3)\n  Duration 1.2s",
        "SyntaxError: Unexpected token: identifier",
        "expected token to be undefined",
        "tests/test_auth.py::test_token PASSED",
        "error[E0425]: cannot find value `secret` in this scope",
        "password=$PASSWORD and token = None",
        "https://example.test:8080/path?x=1",
        "commit 3f2a91c0000000000000000000000000000000aa",
        "basic usage of the bearer: see below",
        "Set the cookie jar before authorization",
        "assert tokens == 12",
        "PWD=/src/checkout\nOLDPWD=/src",
    ] {
        assert_eq!(Redactor::new().field(text), Redacted { text: text.to_owned(), count: 0 });
    }
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let once = redacted("Authorization: Bearer abc123\nAPI_TOKEN=abc");
    assert_eq!(Redactor::new().field(&once), Redacted { text: once.clone(), count: 0 });
}
