//! What generated tests look at: each template is one way to reach a value, and a test is
//! made of one to three of them. `$i` is a number of its own, `$j` one of three that tests
//! share. A value is a text such as `v1`; the test fails when one is `bad`, and tells all of
//! them to the bare runner, so that a missed input is seen even where no verdict flips.

/// One way to reach a value.
pub(crate) struct Template {
    /// Lines at the head of the test.
    pub(crate) head: &'static str,
    /// The expression for the value.
    pub(crate) value: &'static str,
    /// Files that it needs, by path and text.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

const fn t(
    head: &'static str,
    value: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> Template {
    Template { head, value, files }
}

/// For node's runner, in ECMAScript modules below `src/`.
pub(crate) const NODE: &[Template] = &[
    t(
        "import { v as chain$i } from \"./chain$i.js\";",
        "chain$i",
        &[
            ("src/chain$i.js", "export { v } from \"./leaf$i.js\";\n"),
            ("src/leaf$i.js", "export const v = \"v1\";\n"),
        ],
    ),
    t(
        "import { v as hub$j } from \"./hub$j/index.js\";",
        "hub$j",
        &[
            ("src/hub$j/index.js", "export * from \"./inner.js\";\n"),
            ("src/hub$j/inner.js", "import { w } from \"../low$j.js\";\nexport const v = `v1${w}`;\n"),
            ("src/low$j.js", "export const w = \"v1\";\n"),
        ],
    ),
    t(
        "import { createRequire as cr$i } from \"node:module\";\nconst require$i = cr$i(import.meta.url);",
        "require$i(\"./common$i\")",
        &[
            ("src/common$i.cjs", "module.exports = \"unused\";\n"),
            ("src/common$i/package.json", "{ \"main\": \"./main.cjs\" }\n"),
            ("src/common$i/main.cjs", "module.exports = \"v1\";\n"),
            ("src/common$i/index.js", "module.exports = \"v2\";\n"),
        ],
    ),
    t(
        "import { v as old$i } from \"./old$i.cjs\";",
        "old$i",
        &[
            ("src/old$i.cjs", "exports.v = require(\"./deep$i\").v;\n"),
            ("src/deep$i.json", "{ \"v\": \"v1\" }\n"),
        ],
    ),
    t(
        "import { readFileSync as read$i } from \"node:fs\";",
        "read$i(new URL(\"./data$i.txt\", import.meta.url), \"utf8\")",
        &[("src/data$i.txt", "v1\n")],
    ),
    t(
        "import { readFileSync as read$i } from \"node:fs\";\nimport { join as join$i } from \"node:path\";",
        "read$i(join$i(import.meta.dirname, \"fix$j\", \"d.txt\"), \"utf8\")",
        &[("src/fix$j/d.txt", "v1\n")],
    ),
    t(
        "import { readFileSync as read$i } from \"node:fs\";",
        "read$i(\"fixtures/cwd$i.txt\", \"utf8\")",
        &[("fixtures/cwd$i.txt", "v1\n")],
    ),
    t(
        "import { readdirSync as list$i } from \"node:fs\";",
        "list$i(new URL(\"./pages$i\", import.meta.url)).sort().join()",
        &[("src/pages$i/v1.txt", "v1\n"), ("src/pages$i/other.md", "v1\n")],
    ),
    t(
        "import { readdirSync as list$i } from \"node:fs\";",
        "list$i(new URL(\"./deep$i\", import.meta.url), { recursive: true }).sort().join()",
        &[("src/deep$i/a/v1.txt", "v1\n"), ("src/deep$i/b.txt", "v1\n")],
    ),
    t(
        "import { existsSync as exists$i } from \"node:fs\";",
        "exists$i(new URL(\"./flag$i.txt\", import.meta.url)) ? \"there\" : \"none\"",
        &[("src/flag$i.txt", "v1\n")],
    ),
    t(
        "import { statSync as stat$i } from \"node:fs\";",
        "String(stat$i(new URL(\"./size$i.txt\", import.meta.url)).size)",
        &[("src/size$i.txt", "v1\n")],
    ),
    t(
        "import { statSync as stat$i } from \"node:fs\";",
        "String(stat$i(new URL(\"./mode$i.sh\", import.meta.url)).mode & 0o111)",
        &[("src/mode$i.sh", "v1\n")],
    ),
    t(
        "import { statSync as stat$i } from \"node:fs\";",
        "String(stat$i(new URL(\"./time$i.txt\", import.meta.url)).mtimeMs)",
        &[("src/time$i.txt", "v1\n")],
    ),
    t(
        "import { realpathSync as real$i } from \"node:fs\";",
        "real$i(new URL(\"./real$i.txt\", import.meta.url))",
        &[("src/real$i.txt", "v1\n")],
    ),
    t("", "process.env.LEVEL$j ?? \"unset\"", &[]),
    t("const { FLAG$j: flag$i = \"none\" } = process.env;", "flag$i", &[]),
    t("", "\"LEVEL$j\" in process.env ? \"in\" : \"out\"", &[]),
    t("", "String(new Date(0, 5, 1).getTime())", &[]),
    t("", "new Date(\"2020-06-01T12:00:00Z\").toString()", &[]),
    t("", "(1234.5).toLocaleString()", &[]),
    t("", "new Intl.NumberFormat().resolvedOptions().locale", &[]),
    t("import { dep as dep$i } from \"dep$j\";", "dep$i", &[]),
    t("import common$i from \"common$j\";", "common$i.v", &[]),
    t("import { v as sub$i } from \"dep$j/sub\";", "sub$i", &[]),
    t(
        "import { v as mapped$i } from \"#lib/m$j.js\";",
        "mapped$i",
        &[("lib/m$j.js", "export const v = \"v1\";\n")],
    ),
    t("import { v as picked$i } from \"#picked\";", "picked$i", &[]),
    t(
        "import { v as self$i } from \"fuzzed/self$j\";",
        "self$i",
        &[("lib/self$j.js", "export const v = \"v1\";\n")],
    ),
    t("import { ws as ws$i } from \"ws$j\";", "ws$i", &[]),
    t(
        "import json$i from \"./json$i.json\" with { type: \"json\" };",
        "json$i.v",
        &[("src/json$i.json", "{ \"v\": \"v1\" }\n")],
    ),
    t(
        "const opt$i = await import(\"./opt$i.js\").catch(() => ({ v: \"none\" }));",
        "opt$i.v",
        &[("src/opt$i.js", "export const v = \"v1\";\n")],
    ),
    t("", "process.version", &[]),
    t("", "process.execArgv.join()", &[]),
    t("", "process.execPath", &[]),
    t("", "process.platform", &[]),
    t("", "import.meta.url", &[]),
    t("", "String(globalThis.preset ?? \"none\")", &[]),
    t(
        "import { readFileSync as read$i } from \"node:fs\";\nconst name$i = [\"one\"].at(0);",
        "read$i(new URL(`./some$i/${name$i}.txt`, import.meta.url), \"utf8\")",
        &[("src/some$i/one.txt", "v1\n")],
    ),
];

/// For unittest and pytest, in the package `tests` with sources in `app`.
pub(crate) const PYTHON: &[Template] = &[
    t(
        "from app.chain$i import V as CHAIN$i",
        "CHAIN$i",
        &[("app/chain$i.py", "from .leaf$i import V\n"), ("app/leaf$i.py", "V = \"v1\"\n")],
    ),
    t(
        "from app.hub$j import V as HUB$j",
        "HUB$j",
        &[
            ("app/hub$j/__init__.py", "from .inner import V\n"),
            ("app/hub$j/inner.py", "from app import low$j\n\nV = \"v1\" + low$j.W\n"),
            ("app/low$j.py", "W = \"v1\"\n"),
        ],
    ),
    t("from app.ns$i import part as part$i", "part$i.V", &[("app/ns$i/part.py", "V = \"v1\"\n")]),
    t(
        "from pathlib import Path as Path$i",
        "(Path$i(__file__).parent / \"data$i.txt\").read_text()",
        &[("tests/data$i.txt", "v1\n")],
    ),
    t(
        "import os as os$i",
        "open(os$i.path.join(os$i.path.dirname(__file__), \"fix$j\", \"d.txt\")).read()",
        &[("tests/fix$j/d.txt", "v1\n")],
    ),
    t("", "open(\"fixtures/cwd$i.txt\").read()", &[("fixtures/cwd$i.txt", "v1\n")]),
    t(
        "import os as os$i",
        "\",\".join(sorted(os$i.listdir(os$i.path.join(os$i.path.dirname(__file__), \"pages$i\"))))",
        &[("tests/pages$i/v1.txt", "v1\n"), ("tests/pages$i/o.md", "v1\n")],
    ),
    t(
        "from pathlib import Path as Path$i",
        "\",\".join(sorted(p.name for p in (Path$i(__file__).parent / \"globbed$i\").glob(\"*.txt\")))",
        &[("tests/globbed$i/v1.txt", "v1\n"), ("tests/globbed$i/o.md", "v1\n")],
    ),
    t(
        "from pathlib import Path as Path$i",
        "str((Path$i(__file__).parent / \"flag$i.txt\").exists())",
        &[("tests/flag$i.txt", "v1\n")],
    ),
    t(
        "import os as os$i",
        "str(os$i.path.getsize(os$i.path.join(os$i.path.dirname(__file__), \"size$i.txt\")))",
        &[("tests/size$i.txt", "v1\n")],
    ),
    t(
        "import os as os$i",
        "str(os$i.path.getmtime(os$i.path.join(os$i.path.dirname(__file__), \"time$i.txt\")))",
        &[("tests/time$i.txt", "v1\n")],
    ),
    t(
        "import os as os$i",
        "str(os$i.access(os$i.path.join(os$i.path.dirname(__file__), \"mode$i.sh\"), os$i.X_OK))",
        &[("tests/mode$i.sh", "v1\n")],
    ),
    t("import os as os$i", "os$i.environ.get(\"LEVEL$j\", \"unset\")", &[]),
    t("import os as os$i", "os$i.getenv(\"FLAG$j\") or \"none\"", &[]),
    t("import os as os$i", "str(\"LEVEL$j\" in os$i.environ)", &[]),
    t("import time as time$i", "str(time$i.mktime((2020, 6, 1, 12, 0, 0, 0, 0, -1)))", &[]),
    t("import datetime as dt$i", "str(dt$i.datetime.fromtimestamp(0))", &[]),
    t("import locale as locale$i", "str(locale$i.getlocale())", &[]),
    t("import sys as sys$i", "sys$i.version", &[]),
    t("import sys as sys$i", "str(sys$i.flags.optimize)", &[]),
    t("", "str(__debug__)", &[]),
    t("", "str(hash(\"text\"))", &[]),
    t("", "__file__", &[]),
    t("import sys as sys$i", "sys$i.executable", &[]),
    t("import dep$j as dep$i", "dep$i.V", &[]),
    t("from dep$j.sub import V as sub$i", "sub$i", &[]),
    t(
        "try:\n    from app.opt$i import V as opt$i\nexcept ImportError:\n    opt$i = \"none\"",
        "opt$i",
        &[("app/opt$i.py", "V = \"v1\"\n")],
    ),
    t(
        "try:\n    import extra$j as extra$i\nexcept ImportError:\n    extra$i = None",
        "str(extra$i is None)",
        &[],
    ),
    t(
        "import json as json$i\nfrom pathlib import Path as Path$i",
        "json$i.loads((Path$i(__file__).parent / \"j$i.json\").read_text())[\"v\"]",
        &[("tests/j$i.json", "{ \"v\": \"v1\" }\n")],
    ),
    t(
        "from importlib import resources as res$i",
        "res$i.files(\"app\").joinpath(\"res$i.txt\").read_text()",
        &[("app/res$i.txt", "v1\n")],
    ),
    t("from tests.helper$j import V as helper$i", "helper$i", &[("tests/helper$j.py", "V = \"v1\"\n")]),
    t(
        "from pathlib import Path as Path$i",
        "[p.read_text() for p in [Path$i(__file__).parent / \"some$i\" / (n + \".txt\") for n in [\"one\"]]][0]",
        &[("tests/some$i/one.txt", "v1\n")],
    ),
];

/// For vitest and jest, in TypeScript or CommonJS without types, below `src/`.
pub(crate) const BUNDLED: &[Template] = &[
    t(
        "import { v as chain$i } from \"./chain$i\";",
        "chain$i",
        &[
            ("src/chain$i.js", "export { v } from \"./leaf$i\";\n"),
            ("src/leaf$i.js", "export const v = \"v1\";\n"),
        ],
    ),
    t(
        "import { v as hub$j } from \"./hub$j\";",
        "hub$j",
        &[
            ("src/hub$j/index.js", "export * from \"./inner\";\n"),
            ("src/hub$j/inner.js", "import { w } from \"../low$j\";\nexport const v = `v1${w}`;\n"),
            ("src/low$j.js", "export const w = \"v1\";\n"),
        ],
    ),
    t(
        "import { v as mapped$i } from \"@lib/m$j\";",
        "mapped$i",
        &[("lib/m$j.js", "export const v = \"v1\";\n")],
    ),
    t("import json$i from \"./json$i.json\";", "json$i.v", &[("src/json$i.json", "{ \"v\": \"v1\" }\n")]),
    t("import { dep as dep$i } from \"dep$j\";", "dep$i", &[]),
    t(
        "import { readFileSync as read$i } from \"node:fs\";",
        "read$i(\"fixtures/cwd$i.txt\", \"utf8\")",
        &[("fixtures/cwd$i.txt", "v1\n")],
    ),
    t(
        "import { existsSync as exists$i } from \"node:fs\";",
        "exists$i(\"fixtures/flag$i.txt\") ? \"there\" : \"none\"",
        &[("fixtures/flag$i.txt", "v1\n")],
    ),
    t("", "process.env.LEVEL$j ?? \"unset\"", &[]),
    t("", "String(process.env.NODE_ENV)", &[]),
    t("", "String(new Date(0, 5, 1).getTime())", &[]),
    t("", "(1234.5).toLocaleString()", &[]),
    t("", "String(globalThis.preset ?? \"none\")", &[]),
    t(
        "import { m as mocked$i } from \"./mocked$j\";\n$mock(\"./mocked$j\");",
        "String(mocked$i)",
        &[
            ("src/mocked$j.js", "export const m = \"v1\";\n"),
            ("src/__mocks__/mocked$j.js", "export const m = \"v2\";\n"),
        ],
    ),
];
