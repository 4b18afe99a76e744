//! Reads lcov, coverage.py's JSON and istanbul's JSON (`coverage-final.json`, which vitest,
//! jest, c8 and nyc write). A text that is none of them is an error, never no coverage.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Coverage, FileCoverage};

/// Why a text is no coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageError {
    /// 1-based line, where there is one.
    pub line: Option<u32>,
    /// One sentence.
    pub message: String,
}

fn wrong(line: Option<usize>, message: impl Into<String>) -> CoverageError {
    CoverageError { line: line.and_then(|line| u32::try_from(line).ok()), message: message.into() }
}

/// Reads a coverage file of any of the formats.
///
/// # Errors
/// When it is none of them, or broken.
pub fn parse(text: &str) -> Result<Coverage, CoverageError> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if !start.starts_with('{') {
        return lcov(text);
    }
    let value: Value =
        serde_json::from_str(start).map_err(|error| wrong(Some(error.line()), error.to_string()))?;
    let Some(object) = value.as_object() else { return Err(wrong(None, "it is no JSON object")) };
    match object.get("files").and_then(Value::as_object) {
        Some(files) if object.contains_key("meta") || object.contains_key("totals") => coverage_py(files),
        _ => istanbul(object),
    }
}

fn lcov(text: &str) -> Result<Coverage, CoverageError> {
    let mut coverage = Coverage::default();
    let mut open: Option<(String, FileCoverage)> = None;
    let mut seen = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let broken =
            || wrong(Some(index + 1), format!("`{line}` is no line of lcov, coverage.py or istanbul"));
        if line == "end_of_record" {
            let (path, file) = open.take().ok_or_else(broken)?;
            merge(&mut coverage.files, path, file);
            continue;
        }
        let (word, rest) = line.split_once(':').ok_or_else(broken)?;
        match (word, &mut open) {
            ("SF", None) => open = Some((rest.replace('\\', "/"), FileCoverage::default())),
            ("TN", _) => {}
            ("DA", Some((_, file))) => {
                let mut parts = rest.split(',');
                let at = parts.next().and_then(|part| part.parse().ok()).ok_or_else(broken)?;
                // Some tools write hits as a float.
                let hits: f64 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(broken)?;
                file.units.push((at, hits > 0.0));
            }
            ("FN", Some((_, file))) => {
                // `line,name` or `line,end,name`.
                let (at, rest) = rest.split_once(',').ok_or_else(broken)?;
                let name = match rest.split_once(',') {
                    Some((end, name)) if end.bytes().all(|byte| byte.is_ascii_digit()) => name,
                    _ => rest,
                };
                file.functions.push((name.to_owned(), at.parse().map_err(|_| broken())?));
            }
            (_, Some(_)) if word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_uppercase()) => {}
            _ => return Err(broken()),
        }
        seen = true;
    }
    match open {
        Some((path, _)) => Err(wrong(None, format!("the record of {path} has no end: the file is cut off"))),
        None if !seen => Err(wrong(None, "it is empty")),
        None => Ok(coverage),
    }
}

/// Several records of one file (one a test run): a line that ran in one of them ran.
fn merge(files: &mut BTreeMap<String, FileCoverage>, path: String, file: FileCoverage) {
    let known = files.entry(path).or_default();
    known.functions.extend(file.functions);
    known.functions.sort();
    known.functions.dedup();
    let mut lines: BTreeMap<u32, bool> = known.units.iter().copied().collect();
    for (line, ran) in file.units {
        *lines.entry(line).or_default() |= ran;
    }
    known.units = lines.into_iter().collect();
}

fn coverage_py(files: &Map<String, Value>) -> Result<Coverage, CoverageError> {
    let mut coverage = Coverage::default();
    for (path, file) in files {
        let lines = |key: &str, ran: bool| {
            let list = file.get(key).and_then(Value::as_array);
            let list = list.ok_or_else(|| wrong(None, format!("{path} has no `{key}`")))?;
            list.iter()
                .map(|line| Some((u32::try_from(line.as_u64()?).ok()?, ran)))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| wrong(None, format!("`{key}` of {path} holds something else than lines")))
        };
        let mut units = lines("executed_lines", true)?;
        units.extend(lines("missing_lines", false)?);
        units.sort_unstable();
        let path = path.replace('\\', "/");
        coverage.files.insert(path, FileCoverage { units, functions: Vec::new() });
    }
    Ok(coverage)
}

fn istanbul(object: &Map<String, Value>) -> Result<Coverage, CoverageError> {
    let mut coverage = Coverage::default();
    for (path, file) in object {
        let none = || wrong(None, format!("`{path}` is no file as istanbul or coverage.py describe one"));
        let map = file.get("statementMap").and_then(Value::as_object).ok_or_else(none)?;
        let hits = file.get("s").and_then(Value::as_object).ok_or_else(none)?;
        let line = |value: &Value| u32::try_from(value.get("start")?.get("line")?.as_u64()?).ok();
        let mut units = Vec::with_capacity(map.len());
        for (id, place) in map {
            let ran = hits.get(id).and_then(Value::as_f64).ok_or_else(none)? > 0.0;
            units.push((line(place).ok_or_else(none)?, ran));
        }
        units.sort_unstable();
        let functions = file.get("fnMap").and_then(Value::as_object).into_iter().flatten();
        let mut functions: Vec<(String, u32)> = functions
            .filter_map(|(_, function)| {
                let name = function.get("name")?.as_str()?;
                Some((name.to_owned(), line(function.get("loc").or_else(|| function.get("decl"))?)?))
            })
            // Where the tool had no name of its own, the line is all there is.
            .filter(|(name, _)| !name.starts_with('('))
            .collect();
        functions.sort();
        // One list with and one without names cannot be told apart from a stale one.
        if functions.len() < file.get("fnMap").and_then(Value::as_object).map_or(0, Map::len) {
            functions.clear();
        }
        let path = file.get("path").and_then(Value::as_str).unwrap_or(path).replace('\\', "/");
        coverage.files.insert(path, FileCoverage { units, functions });
    }
    Ok(coverage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_read() {
        let lcov =
            "TN:\nSF:src/a.ts\nFN:3,total\nFNDA:1,total\nDA:3,1\nDA:4,0\nBRDA:1,0,0,1\nLF:2\nend_of_record\n";
        let py = r#"{"meta": {"format": 3}, "files": {"src/a.ts": {"executed_lines": [3], "missing_lines": [4]}}}"#;
        let istanbul = r#"{"src/a.ts": {"path": "src/a.ts",
            "statementMap": {"0": {"start": {"line": 3}}, "1": {"start": {"line": 4}}},
            "fnMap": {"0": {"name": "total", "loc": {"start": {"line": 3}}}}, "s": {"0": 7, "1": 0}, "f": {"0": 7}}}"#;
        for text in [lcov, py, istanbul] {
            let coverage = parse(text).unwrap();
            assert_eq!(coverage.files["src/a.ts"].units, [(3, true), (4, false)], "{text}");
        }
        assert_eq!(parse(lcov).unwrap().files["src/a.ts"].functions, [("total".to_owned(), 3)]);
    }

    #[test]
    fn what_is_no_coverage_is_an_error() {
        for text in [
            "",
            "hello",
            "{",
            "[]",
            "{\"a\": 1}",
            "SF:a\nDA:1,1\n",
            "DA:1,1\nend_of_record\n",
            "SF:a\nDA:x\nend_of_record",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert_eq!(parse("SF:a\nDA:1\nend_of_record").unwrap_err().line, Some(2));
    }

    #[test]
    fn records_of_one_file_are_added() {
        let text = "SF:a\nDA:1,0\nDA:2,1\nend_of_record\nSF:a\nDA:1,1\nDA:2,0\nend_of_record\n";
        assert_eq!(parse(text).unwrap().files["a"].units, [(1, true), (2, true)]);
    }
}
