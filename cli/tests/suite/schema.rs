//! The committed schemas are those of the types, and real answers satisfy them.
//!
//! The validator knows the keywords that the schemas use and fails on any other.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::harness::owed_in;

const COMMANDS: &[&str] = &[
    "audit", "plan", "matrix", "why", "opacity", "check", "receipts", "record", "records", "suggest", "run",
    "status", "graph", "doctor",
];

fn file(command: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{command}.json"))
}

#[test]
fn committed_schemas_are_those_of_the_types() {
    for command in COMMANDS {
        let ran = owed_in(Path::new("."), &["schema", command], &[]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::create_dir_all(file(command).parent().unwrap()).unwrap();
            fs::write(file(command), &ran.out).unwrap();
        }
        let committed = fs::read_to_string(file(command)).unwrap_or_default();
        assert!(
            committed == ran.out,
            "cli/schemas/{command}.json is not current; UPDATE_SCHEMAS=1 cargo test -p owed rewrites it"
        );
    }
}

#[test]
fn the_validator_finds_faults() {
    let graph = |text: &str| {
        let schema: Value = serde_json::from_str(&fs::read_to_string(file("graph")).unwrap()).unwrap();
        validate(&schema, &schema, &serde_json::from_str(text).unwrap(), "$")
    };
    let good = r#"{"schema":"owed.graph/1","nodes":[{"id":"a","kind":"test"}],"edges":[],"not_checked":[],"problems":[]}"#;
    assert_eq!(graph(good), Ok(()));
    for (from, to) in [
        ("owed.graph/1", "owed.graph/2"),
        (r#""edges":[],"#, ""),
        (r#""id":"a","#, ""),
        (r#""kind":"test""#, r#""kind":3"#),
        (r#""edges":[]"#, r#""edges":null"#),
    ] {
        assert!(graph(&good.replace(from, to)).is_err(), "{from} -> {to}");
    }
}

/// Fails unless `answer` satisfies the committed schema of its tag (`owed.plan/1`).
#[track_caller]
pub(crate) fn check(tag: &str, answer: &Value) {
    let command =
        tag.strip_prefix("owed.").and_then(|rest| rest.split('/').next()).expect("owed.COMMAND/MAJOR");
    let text = fs::read_to_string(file(command)).unwrap_or_else(|_| panic!("there is no schema of {tag}"));
    let schema: Value = serde_json::from_str(&text).unwrap();
    if let Err(fault) = validate(&schema, &schema, answer, "$") {
        panic!("{tag}: {fault}\n{answer:#}");
    }
}

/// Fails unless `log` satisfies the schema of SARIF 2.1.0.
#[track_caller]
pub(crate) fn check_sarif(log: &Value) {
    let schema: Value = serde_json::from_str(include_str!("sarif-2.1.0.json")).unwrap();
    if let Err(fault) = validate(&schema, &schema, log, "$") {
        panic!("SARIF: {fault}\n{log:#}");
    }
}

fn validate(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(true) {
            Ok(())
        } else {
            Err(format!("{at}: nothing is allowed here"))
        };
    };
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$schema" | "$id" | "$comment" | "title" | "description" | "$defs" | "definitions" | "format"
            | "items" | "properties" | "default" => {}
            "uniqueItems" if rule == &Value::Bool(false) => {}
            "uniqueItems" => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                if (1..items.len()).any(|at| items[..at].contains(&items[at])) {
                    return Err(format!("{at}: an item is there twice"));
                }
            }
            "minItems" => {
                let least = rule.as_u64().unwrap();
                if value.as_array().is_some_and(|items| (items.len() as u64) < least) {
                    return Err(format!("{at}: fewer than {least} items"));
                }
            }
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').expect("references are local");
                validate(root, root.pointer(path).expect("and lead somewhere"), value, at)?;
            }
            "type" => has_type(rule, value, at)?,
            "const" if rule == value => {}
            "const" => return Err(format!("{at}: {value} is not {rule}")),
            "enum" if rule.as_array().unwrap().contains(value) => {}
            "enum" => return Err(format!("{at}: {value} is none of {rule}")),
            "anyOf" => {
                let tried = rule.as_array().unwrap().iter().map(|one| validate(root, one, value, at));
                let faults: Vec<String> = tried.filter_map(Result::err).collect();
                if faults.len() == rule.as_array().unwrap().len() {
                    return Err(faults.join("; or "));
                }
            }
            "required" => {
                let object = value.as_object();
                let missing =
                    rule.as_array().unwrap().iter().find(|name| {
                        object.is_some_and(|object| !object.contains_key(name.as_str().unwrap()))
                    });
                if let Some(name) = missing {
                    return Err(format!("{at}: {name} is missing"));
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < rule.as_f64().unwrap()) {
                    return Err(format!("{at}: {value} is less than {rule}"));
                }
            }
            "additionalProperties" => {}
            other => return Err(format!("{at}: the validator does not know `{other}`")),
        }
    }
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            let rule = rules.get("items").unwrap_or(&Value::Bool(true));
            validate(root, rule, item, &format!("{at}[{index}]"))?;
        }
    }
    if let Some(object) = value.as_object() {
        properties(root, rules, object, at)?;
    }
    Ok(())
}

fn properties(
    root: &Value,
    rules: &Map<String, Value>,
    object: &Map<String, Value>,
    at: &str,
) -> Result<(), String> {
    let known = rules.get("properties").and_then(Value::as_object);
    // A schema that only refers to another has its properties there.
    if known.is_none() && !rules.contains_key("additionalProperties") {
        return Ok(());
    }
    for (name, value) in object {
        let rule = known.and_then(|known| known.get(name)).or_else(|| rules.get("additionalProperties"));
        match rule {
            Some(rule) => validate(root, rule, value, &format!("{at}.{name}"))?,
            None => return Err(format!("{at}: `{name}` is not in the schema")),
        }
    }
    Ok(())
}

fn has_type(rule: &Value, value: &Value, at: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let fits = match rule {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{at}: {value} is not of type {rule}")) }
}
