//! `owed graph` in every format.

use serde_json::Value;

use crate::harness::{Project, fields};

#[test]
fn json_holds_nodes_and_edges_with_lines() {
    let shop = Project::shop();
    let graph = shop.json(&["graph", "--from", "src/barrel.test.ts"]);
    let nodes = fields(&graph["nodes"], "id");
    assert!(nodes.contains(&"src/index.ts") && nodes.contains(&"src/a.ts"), "{nodes:?}");
    assert!(!nodes.contains(&"src/lone.ts"));
    let edges = graph["edges"].as_array().unwrap();
    let edge = edges.iter().find(|edge| edge["from"] == "src/index.ts" && edge["to"] == "src/a.ts").unwrap();
    assert_eq!((edge["kind"].as_str(), &edge["line"]), (Some("re-export"), &Value::from(1)));
}

#[test]
fn between_two_files_only_the_ways_remain() {
    let shop = Project::shop();
    let graph = shop.json(&["graph", "--from", "src/barrel.test.ts", "--to", "src/a.ts"]);
    assert_eq!(fields(&graph["nodes"], "id"), ["src/a.ts", "src/barrel.test.ts", "src/index.ts"]);
    let who = shop.json(&["graph", "--to", "src/a.ts"]);
    assert!(fields(&who["nodes"], "id").contains(&"src/a.test.ts"));
    assert!(!fields(&who["nodes"], "id").contains(&"src/lone.test.ts"));
}

#[test]
fn the_tree_is_limited_in_depth() {
    let shop = Project::shop();
    let ran = shop.owed(&["graph", "--from", "src/barrel.test.ts", "--depth", "1"]);
    ran.says(&["src/barrel.test.ts\n", "  src/index.ts"]);
    assert!(!ran.out.contains("    src/a.ts"), "{}", ran.out);
    shop.owed(&["graph", "--from", "src/barrel.test.ts"]).says(&["\n    src/a.ts"]);
}

#[test]
fn dot_and_mermaid_name_every_node() {
    let shop = Project::shop();
    shop.write(
        "src/say \"hi\".test.ts",
        "import { test } from \"vitest\";\nimport \"./a\";\ntest(\"h\", () => {});\n",
    );
    let dot = shop.owed(&["graph", "--format", "dot"]);
    dot.says(&[
        "digraph owed {",
        "\"src/index.ts\" -> \"src/a.ts\"",
        "\"src/say \\\"hi\\\".test.ts\" -> \"src/a.ts\"",
    ]);
    let mermaid = shop.owed(&["graph", "--format", "mermaid"]);
    mermaid.says(&["flowchart LR", "src/say #quot;hi#quot;.test.ts", "-- re-export -->"]);
}

#[test]
fn html_is_one_page_that_loads_nothing() {
    let shop = Project::shop();
    shop.write(
        "src/<b>.test.ts",
        "import { test } from \"vitest\";\nimport \"./a\";\ntest(\"h\", () => {});\n",
    );
    let page = shop.owed(&["graph", "--format", "html"]).out;
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for outside in ["http://", "https://", "src=\"", "@import", "<b>", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("src/&lt;b&gt;.test.ts"));
    let graph = shop.json(&["graph"]);
    let kinds = fields(&graph["nodes"], "kind");
    assert_eq!(page.matches("data-node=").count(), kinds.iter().filter(|kind| **kind != "absent").count());
    let whole = shop.owed(&["graph", "--format", "html", "-v"]).out;
    assert_eq!(whole.matches("data-node=").count(), kinds.len());
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let shop = Project::shop();
    shop.owed(&["graph", "--from", "src/indx.ts"]).refused("there is no file src/indx.ts", "src/index.ts");
}
