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

/// A change in the stock: the file, the text before and after.
pub(super) const RECOUNT: (&str, &str, &str) =
    ("stock/levels.py", "return max(0, wanted - stocked)", "return max(wanted - stocked, 0)");

/// Files that come last: tests that a plan about the shop need not show.
pub(super) const EXTRAS: &[(&str, &str)] = &[
    ("extras/labels/pens.txt", "Pens"),
    ("extras/labels.test.ts", LABELS_TEST),
    ("extras/today.ts", TODAY),
    ("extras/today.test.ts", TODAY_TEST),
    ("extras/plugin.test.ts", PLUGIN_TEST),
    ("extras/generated.test.ts", GENERATED_TEST),
];

/// One test of each class, best first.
pub(super) const CLASSES: &[&str] = &["shop/greeting.test.ts", "shop/tax.test.ts", "extras"];

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

const LABELS_TEST: &str = r#"import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const label = (name: string) => readFileSync(join(import.meta.dirname, "labels", `${name}.txt`), "utf8");

test("the label of a product", () => assert.equal(label("pens"), "Pens"));
"#;

const TODAY: &str = r#"export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

export function year(day: string): string {
  return day.slice(0, 4);
}
"#;

const TODAY_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { today, year } from "./today.ts";

test("today has a year", () => assert.equal(year(today()).length, 4));
"#;

const PLUGIN_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";

const name: string = process.argv[2] ?? "node:os";

test("a plugin loads", async () => assert.ok(await import(name)));
"#;

const GENERATED_TEST: &str = r#"import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "./generated.ts";

test("the table is not empty", () => assert.ok(table.length > 0));
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
