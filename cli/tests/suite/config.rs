//! Configuration: where it may stand, what it does, and what is wrong with it.

use crate::harness::{Project, fields};

#[test]
fn each_of_the_three_places_works() {
    for (file, text) in [
        ("owed.toml", "exclude = [\"src/lone.test.ts\"]\n"),
        ("pyproject.toml", "[tool.owed]\nexclude = [\"src/lone.test.ts\"]\n"),
    ] {
        let shop = Project::shop();
        shop.write(file, text);
        assert_eq!(shop.planned(&["--all"]), ["src/a.test.ts", "src/barrel.test.ts"], "{file}");
    }
    let shop = Project::shop();
    shop.write(
        "package.json",
        r#"{ "name": "shop", "type": "module", "devDependencies": { "vitest": "3.2.4" }, "scripts": { "test": "vitest run" }, "owed": { "exclude": ["src/lone.test.ts"] } }"#,
    );
    assert_eq!(shop.planned(&["--all"]), ["src/a.test.ts", "src/barrel.test.ts"]);
}

#[test]
fn two_places_are_refused_by_name() {
    let shop = Project::shop();
    shop.write("owed.toml", "");
    shop.write("pyproject.toml", "[tool.owed]\n");
    shop.owed(&["plan"]).refused("owed.toml and [tool.owed] in pyproject.toml", "keep one of them");
}

#[test]
fn every_error_names_file_place_and_way_out() {
    for (text, what, next) in [
        ("exlude = []\n", "owed.toml:1:1: unknown key `exlude`", "did you mean `exclude`?"),
        ("[limits]\nfile_sise = 1\n", "owed.toml:2:1: unknown key `file_sise`", "did you mean `file_size`?"),
        ("exclude = [\"a[\"]\n", "owed.toml:1:", "owed.toml"),
        ("exclude = \"x\"\n", "owed.toml:1:11", "owed.toml"),
        ("exclude = [\"../x\"]\n", "leaves the project", "owed.toml"),
        ("[limits]\nfile_size = \"many\"\n", "owed.toml:2:13", "owed.toml"),
        ("= 3\n", "owed.toml:1:1", "owed.toml"),
        ("[[inputs]]\ntests = [\"x\"]\n", "missing field `files`", "owed.toml"),
    ] {
        let shop = Project::shop();
        shop.write("owed.toml", text);
        for command in ["plan", "doctor", "graph"] {
            shop.owed(&[command]).refused(what, next);
        }
    }
}

#[test]
fn declared_inputs_are_owed() {
    let shop = Project::shop();
    shop.write("owed.toml", "[[inputs]]\ntests = [\"src/lone.*\"]\nfiles = [\"schema/*.graphql\"]\n");
    shop.write("schema/shop.graphql", "type Shop { id: ID }\n");
    shop.commit("schema");
    shop.append("schema/shop.graphql", "type More { id: ID }\n");
    let plan = shop.json(&["plan"]);
    assert_eq!(fields(&plan["tests"], "path"), ["src/lone.test.ts"]);
    assert_eq!(plan["tests"][0]["reasons"][0]["kind"], "declared");
}

#[test]
fn keys_without_effect_are_said() {
    let shop = Project::shop();
    shop.write("owed.toml", "[policy]\nany = 1\n");
    let plan = shop.json(&["plan", "src/a.ts"]);
    assert!(fields(&plan["problems"], "code").contains(&"setting-without-effect"), "{plan:#}");
}

#[test]
fn the_staged_configuration_counts_for_the_index() {
    let shop = Project::shop();
    shop.write("owed.toml", "exclude = [\"src/lone.test.ts\"]\n");
    shop.commit("config");
    shop.write("owed.toml", "nonsense = true\n");
    assert_eq!(shop.planned(&["--staged", "--all"]).len(), 2);
    shop.owed(&["plan"]).refused("unknown key `nonsense`", "next:");
}
