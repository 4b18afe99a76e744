//! Test cases and suites.

use super::module;

fn shown(text: &str) -> Vec<String> {
    module(text)
        .tests
        .iter()
        .map(|t| {
            let mark = match (t.skipped, t.only) {
                (true, _) => "-",
                (_, true) => "!",
                _ => "",
            };
            format!("{mark}{:?} {}", t.kind, t.name.join(" > "))
        })
        .collect()
}

#[test]
fn names_and_modifiers() {
    let cases: &[(&str, &[&str])] = &[
        (
            "describe('a', () => { it('b', f); describe('c', () => { test('d', f) }) }); it('e', f)",
            &["Suite a", "Case a > b", "Suite a > c", "Case a > c > d", "Case e"],
        ),
        (
            "it.skip('a', f); xit('b', f); it.todo('c'); test.only('d', f); fit('e', f)",
            &["-Case a", "-Case b", "-Case c", "!Case d", "!Case e"],
        ),
        ("describe.skip('a', () => { it('b', f) })", &["-Suite a", "-Case a > b"]),
        ("it.each([1, 2])('a %s', f); test.each`x`('b', f)", &["Case a %s", "Case b"]),
        ("describe.each([1])('a', () => { it('b', f) }); it('c', f)", &["Suite a", "Case a > b", "Case c"]),
        (
            "it(`a${b}`, f); it(name, f); it(`plain`, f)",
            &["Case <computed>", "Case <computed>", "Case plain"],
        ),
        ("it.skipIf(c)('a', f); it.concurrent.only('b', f)", &["Case a", "!Case b"]),
        (
            "import test from 'node:test'; test('a', { skip: true }, f); test('b', (t) => t.test('c', f))",
            &["-Case a", "Case b", "Case c"],
        ),
        ("import { test as base } from 'vitest'; const it = base.extend({}); it('a', f)", &["Case a"]),
        ("test.describe('a', () => { test('b', f) })", &["Suite a", "Case a > b"]),
        ("function it(a, b) {} it('a', f)", &[]),
        ("const r = /x/; r.test('a'); o.it('a', f)", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text}");
    }
}
