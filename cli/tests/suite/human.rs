//! What people see: widths, colours, shortened lists.

use crate::harness::{Project, owed_in};

#[test]
fn no_line_is_wider_than_80_columns_unless_one_name_is() {
    let shop = Project::shop();
    let mut inner = String::from("export const deep0 = 1;\n");
    shop.write("src/a_rather_long_directory_name/deep0.ts", &inner);
    for depth in 1..6 {
        inner = format!("export * from \"./deep{}\";\n", depth - 1);
        shop.write(&format!("src/a_rather_long_directory_name/deep{depth}.ts"), &inner);
    }
    shop.write(
        "src/deep.test.ts",
        "import { test } from \"vitest\";\nimport \"./a_rather_long_directory_name/deep5\";\ntest(\"d\", () => {});\n",
    );
    shop.commit("deep");
    shop.append("src/a_rather_long_directory_name/deep0.ts", "export const z = 1;\n");
    for command in [&["plan"][..], &["plan", "--all"], &["why", "src/deep.test.ts"], &["doctor"]] {
        for line in shop.owed(command).out.lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
    shop.owed(&["plan"])
        .says(&["src/deep.test.ts\n    <- src/a_rather_long_directory_name/deep5.ts\n      <- src/"]);
}

#[test]
fn a_short_chain_stands_beside_its_test() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    shop.owed(&["plan"]).says(&[
        "working tree against HEAD (",
        "1 change, 2 of 3 test files owed",
        "  M src/a.ts  source, owes 2",
        "vitest (2)",
        "  src/barrel.test.ts  <- src/index.ts <- src/a.ts",
        "Left out: 1 test file",
        "Next: owed why src/a.test.ts | owed plan --format argv",
    ]);
    let quiet = shop.owed(&["plan", "-q"]);
    assert!(!quiet.out.contains("Next:"), "{}", quiet.out);
}

#[test]
fn long_lists_are_shortened_and_say_how_to_see_all() {
    let shop = Project::shop();
    for number in 0..40 {
        shop.write(
            &format!("src/many{number}.test.ts"),
            "import { test } from \"vitest\";\nimport \"./a\";\ntest(\"m\", () => {});\n",
        );
    }
    shop.commit("many");
    shop.append("src/a.ts", "export const y = 1;\n");
    let short = shop.owed(&["plan"]);
    short.says(&[
        "42 of 43 test files owed",
        "… and 35 more (-v or --format json shows all)",
        "    <- src/a.ts",
    ]);
    let long = shop.owed(&["plan", "-v"]);
    assert!(!long.out.contains("more (-v"), "{}", long.out);
    assert_eq!(long.out.matches("src/many").count(), 40);
    assert!(long.err.contains("project") && long.err.contains("ms"), "{}", long.err);
}

#[test]
fn colours_follow_flags_and_environment() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    let escapes = |arguments: &[&str], variables: &[(&str, &str)]| {
        owed_in(shop.path(), &[&["plan"], arguments].concat(), variables).out.contains('\u{1b}')
    };
    assert!(!escapes(&[], &[]), "a pipe is no terminal");
    assert!(escapes(&["--color", "always"], &[]));
    assert!(escapes(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&[], &[("NO_COLOR", "1")]));
    assert!(escapes(&["--color", "always"], &[("NO_COLOR", "1")]), "a flag outweighs the environment");
    assert!(!escapes(&["--format", "json", "--color", "always"], &[]), "JSON is never coloured");
}

#[test]
fn a_file_name_cannot_write_on_the_terminal() {
    let shop = Project::shop();
    shop.write("src/\u{1b}[31mred\n.ts", "export {};\n");
    let ran = shop.owed(&["plan"]);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    ran.says(&["src/\\u{1b}[31mred\\n.ts"]);
    // Programs get the name as it is, and a name with a line break not as a line.
    shop.write("src/\u{1b}[31mred.test.ts", "import { test } from \"vitest\";\ntest(\"r\", () => {});\n");
    assert_eq!(shop.planned(&[]), ["src/\u{1b}[31mred.test.ts"]);
    shop.write("src/a\nb.test.ts", "import { test } from \"vitest\";\ntest(\"r\", () => {});\n");
    shop.owed(&["plan", "--format", "paths"]).refused("holds a line break", "--format json");
}
