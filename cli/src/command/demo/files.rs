//! The files of the demo: a shop in TypeScript and its stock in Python.

/// Every file, by path.
pub(super) const ALL: &[(&str, &str)] = &[
    ("package.json", PACKAGE),
    ("shop/index.ts", INDEX),
    ("shop/price.ts", PRICE),
    ("shop/cart.ts", CART),
    ("shop/tax.ts", TAX),
    ("shop/greeting.ts", GREETING),
    ("shop/rates.json", RATES),
    ("shop/price.test.ts", PRICE_TEST),
    ("shop/cart.test.ts", CART_TEST),
    ("shop/tax.test.ts", TAX_TEST),
    ("shop/greeting.test.ts", GREETING_TEST),
    ("stock/__init__.py", ""),
    ("stock/levels.py", LEVELS),
    ("stock/report.py", REPORT),
    ("tests/__init__.py", ""),
    ("tests/test_report.py", REPORT_TEST),
];

/// The change: a file, a text in it, and what takes its place.
pub(super) const CHANGE: (&str, &str, &str) =
    ("shop/price.ts", "return Math.round(euros * 100);", "return Math.floor(euros * 100);");

/// A test that the change reaches through others.
pub(super) const REACHED: &str = "shop/cart.test.ts";

/// A test that it does not reach.
pub(super) const UNTOUCHED: &str = "shop/greeting.test.ts";

/// A data file that a test depends on.
pub(super) const DATA: &str = "shop/rates.json";

const PACKAGE: &str = r#"{
  "name": "owed-demo",
  "private": true,
  "type": "module",
  "engines": { "node": ">=22.18" },
  "scripts": { "test": "node --test" }
}
"#;

const INDEX: &str = r#"export { cents } from "./price.ts";
export { total } from "./cart.ts";
export { tax } from "./tax.ts";
"#;

const PRICE: &str = r#"/** A price in whole cents. */
export function cents(euros: number): number {
  return Math.round(euros * 100);
}
"#;

const CART: &str = r#"import { cents } from "./price.ts";

export function total(prices: number[]): number {
  return prices.map(cents).reduce((sum, price) => sum + price, 0);
}
"#;

const TAX: &str = r#"import { readFileSync } from "node:fs";

const rates = JSON.parse(readFileSync(new URL("./rates.json", import.meta.url), "utf8"));

export function tax(cents: number, kind: string): number {
  return Math.round((cents * rates[kind]) / 100);
}
"#;

const GREETING: &str = r#"export function greeting(name: string): string {
  return `Welcome, ${name}!`;
}
"#;

const RATES: &str = r#"{ "books": 7, "other": 19 }
"#;

const PRICE_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { cents } from "./price.ts";

test("a price in cents", () => assert.equal(cents(1.5), 150));
"#;

const CART_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./index.ts";

test("the sum of a cart", () => assert.equal(total([1, 2.5]), 350));
"#;

const TAX_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { tax } from "./tax.ts";

test("books are taxed less", () => assert.equal(tax(1000, "books"), 70));
"#;

const GREETING_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { greeting } from "./greeting.ts";

test("a greeting", () => assert.equal(greeting("Ada"), "Welcome, Ada!"));
"#;

const LEVELS: &str = r#"def missing(wanted, stocked):
    return max(0, wanted - stocked)
"#;

const REPORT: &str = r#"from stock.levels import missing


def line(name, wanted, stocked):
    return f"{name}: {missing(wanted, stocked)} missing"
"#;

const REPORT_TEST: &str = r#"import unittest

from stock.report import line


class ReportTest(unittest.TestCase):
    def test_line(self):
        self.assertEqual(line("pens", 5, 3), "pens: 2 missing")
"#;
