//! The project of the table: a test for each way to have an input.

pub(super) const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" },\n  \"dependencies\": { \"dep\": \"1.0.0\" } }\n",
    ),
    (".gitignore", "node_modules/\nignored.js\n"),
    ("owed.toml", "[[inputs]]\ntests = [\"src/lone.test.js\"]\nfiles = [\"schema/**\"]\n"),
    ("schema/a.txt", "1\n"),
    ("src/a.js", "export const a = 1;\n"),
    ("src/index.js", "export { a } from \"./a.js\";\n"),
    (
        "src/a.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\nimport { a } from \"./index.js\";\n\ntest(\"a\", () => assert.equal(typeof a, \"number\"));\n",
    ),
    (
        "src/data.test.js",
        "import assert from \"node:assert\";\nimport { readFileSync } from \"node:fs\";\nimport test from \"node:test\";\n\ntest(\"d\", () => assert.ok(readFileSync(new URL(\"./data.txt\", import.meta.url), \"utf8\")));\n",
    ),
    ("src/data.txt", "data\n"),
    (
        "src/list.test.js",
        "import assert from \"node:assert\";\nimport { readdirSync } from \"node:fs\";\nimport test from \"node:test\";\n\ntest(\"l\", () => assert.ok(readdirSync(new URL(\"./pages\", import.meta.url)).length));\n",
    ),
    ("src/pages/one.txt", "1\n"),
    (
        "src/env.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n\ntest(\"e\", () => assert.ok((process.env.LEVEL ?? \"\") !== \"bad\"));\n",
    ),
    (
        "src/dep.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\nimport { dep } from \"dep\";\n\ntest(\"p\", () => assert.ok(dep));\n",
    ),
    (
        "src/clock.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n\ntest(\"c\", () => assert.ok(Date.now() > 0));\n",
    ),
    (
        "src/bound.test.js",
        "import assert from \"node:assert\";\nimport { readFileSync } from \"node:fs\";\nimport test from \"node:test\";\n\nconst name = [\"one\"].at(0);\ntest(\"b\", () => assert.ok(readFileSync(new URL(`./pages/${name}.txt`, import.meta.url))));\n",
    ),
    (
        "src/zone.test.js",
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n\ntest(\"z\", () => assert.ok(new Date(2020, 1, 1).getTime()));\n",
    ),
    ("src/lone.test.js", "import test from \"node:test\";\n\ntest(\"nothing\", () => {});\n"),
    ("src/only-skipped.test.js", "import test from \"node:test\";\n\ntest.skip(\"nothing\", () => {});\n"),
    (
        "node_modules/dep/package.json",
        "{ \"name\": \"dep\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./index.js\", \"dependencies\": { \"inner\": \"1\" } }\n",
    ),
    ("node_modules/dep/index.js", "export { inner as dep } from \"inner\";\n"),
    (
        "node_modules/inner/package.json",
        "{ \"name\": \"inner\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./index.js\" }\n",
    ),
    ("node_modules/inner/index.js", "export const inner = 1;\n"),
    ("node_modules/other/package.json", "{ \"name\": \"other\", \"version\": \"1.0.0\" }\n"),
    ("py/pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n"),
    ("py/mod/__init__.py", ""),
    ("py/mod/a.py", "A = 1\n"),
    (
        "py/tests/test_a.py",
        "import unittest\n\nfrom mod.a import A\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(A)\n",
    ),
    (
        "py/tests/test_place.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_place(self):\n        self.assertTrue(__file__)\n",
    ),
    ("py/tests/__init__.py", ""),
];
