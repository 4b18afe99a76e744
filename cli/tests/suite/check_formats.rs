//! The formats of `owed check`: each holds the ledger of files, and satisfies its schema.

use serde_json::Value;

use crate::check::{function, project};
use crate::harness::Project;
use crate::schema::check_sarif;

/// Something of everything, with names that need escaping.
fn everything() -> Project {
    let project = project();
    project.write("src/größe & \"x\", 1%.ts", &(function("one", 6) + &function("two", 6)));
    project.write("src/broken.ts", "export const a = 1;\nexport const = 2;\n");
    project.write("src/other.rb", "x = 1\n");
    project
}

fn print(project: &Project, format: &str) -> String {
    let ran = project.owed(&["check", "--format", format]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.out
}

#[test]
fn sarif_satisfies_its_schema_and_is_not_successful_when_something_was_not_checked() {
    let project = everything();
    let log: Value = serde_json::from_str(&print(&project, "sarif")).unwrap();
    check_sarif(&log);
    let run = &log["runs"][0];
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
    let text = |note: &Value| note["message"]["text"].as_str().unwrap().to_owned();
    let broken = notes.iter().find(|note| text(note).contains("src/broken.ts")).expect("it is named");
    assert_eq!(broken["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    assert!(notes.iter().any(|note| text(note).contains("`test`")), "{notes:#?}");
    assert!(
        notes
            .iter()
            .any(|note| text(note).contains("2 files checked") || text(note).contains("3 files checked"))
    );
    let results = run["results"].as_array().unwrap();
    let uris: Vec<&str> = results
        .iter()
        .map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .collect();
    assert!(uris.contains(&"src/gr%C3%B6%C3%9Fe%20%26%20%22x%22%2C%201%25.ts"), "{uris:?}");
    let group = results.iter().find(|result| result["ruleId"] == "repeated-implementation").unwrap();
    assert_eq!(group["relatedLocations"].as_array().unwrap().len(), 1);
    // A sound run says so.
    project.remove("src/broken.ts");
    project.remove("src/other.rb");
    let log: Value = serde_json::from_str(&print(&project, "sarif")).unwrap();
    check_sarif(&log);
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn github_annotations_are_escaped() {
    let out = print(&everything(), "github");
    for line in [
        "::error file=src/broken.ts,line=2,title=NOT CHECKED::NOT CHECKED (unparsable): ",
        "::error file=src/other.rb,title=NOT CHECKED::NOT CHECKED (unsupported-language): ",
        "::error file=src/größe & \"x\"%2C 1%25.ts,line=1,endLine=9,title=function over its cap::one has ",
        "::notice file=src/größe & \"x\"%2C 1%25.ts,line=1,endLine=9,title=repeated implementation::The same ",
        "::notice title=owed check::3 files checked, 2 NOT CHECKED, 3 excluded (test 1, not-source 2)",
    ] {
        assert!(out.lines().any(|found| found.starts_with(line)), "{line:?} begins no line of\n{out}");
    }
    assert!(out.lines().all(|line| line.starts_with("::")), "{out}");
}

#[test]
fn code_climate_issues_have_what_the_format_asks_for() {
    let issues: Value = serde_json::from_str(&print(&everything(), "codeclimate")).unwrap();
    let issues = issues.as_array().unwrap();
    let mut prints = Vec::new();
    for issue in issues {
        assert_eq!(issue["type"], "issue");
        for key in ["check_name", "description", "severity", "fingerprint"] {
            assert!(issue[key].is_string(), "{key}: {issue:#}");
        }
        assert!(
            issue["categories"][0].is_string() && issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1
        );
        prints.push(issue["fingerprint"].as_str().unwrap());
    }
    let all = prints.len();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), all, "fingerprints are unique");
    let named = |check: &str| issues.iter().filter(|issue| issue["check_name"] == check).count();
    let counts =
        ["not-checked", "function-tokens", "repeated-implementation", "excluded", "checked"].map(named);
    assert_eq!(counts, [2, 3, 1, 2, 1]);
}

#[test]
fn junit_counts_what_it_lists() {
    let out = print(&everything(), "junit");
    assert!(out.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{out}");
    let count = |text: &str| out.matches(text).count();
    let counts = [count("<testcase "), count("<failure "), count("<error "), count("<skipped ")];
    let [tests, failures, errors, skipped] = counts;
    let said = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    assert_eq!(count(&said), 2, "{said}\n{out}");
    assert_eq!(counts, [9, 3, 2, 2]);
    assert!(out.contains("classname=\"src/größe &amp; &quot;x&quot;, 1%.ts\""), "{out}");
}

#[test]
fn every_format_is_the_same_for_any_number_of_threads() {
    let project = everything();
    for format in ["human", "json", "sarif", "github", "codeclimate", "junit"] {
        let with = |threads: &str| {
            project
                .owed(&["check", "--across", "files", "--advice", "--threads", threads, "--format", format])
                .out
        };
        let one = with("1");
        assert!(!one.is_empty());
        for threads in ["2", "8"] {
            assert_eq!(with(threads), one, "{format} with {threads} threads");
        }
    }
}
