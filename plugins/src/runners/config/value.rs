//! What a configuration file says, as a tree of values in which every piece that is not
//! known is there as [`Value::Unknown`], with the reason and the place.
//!
//! A value may be several things at once ([`Value::Either`]): a ternary on the
//! environment has two possible results, and a caller takes their union where that is
//! the safe side. Nothing here decides which side is safe.

use std::collections::BTreeMap;

/// Why a piece of configuration has no known value, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// What was met, for a person: ``a call of `load` ``.
    pub reason: String,
    /// Project-relative path of the file it is written in.
    pub path: String,
    /// 1-based line.
    pub line: u32,
}

/// A function written in a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionRef {
    /// The file it is written in.
    pub path: String,
    /// Its first byte there.
    pub start: u32,
    /// The local names it can see, with their values.
    pub captured: Vec<(String, Value)>,
}

/// The result of calling something of a package that is not evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The package's specifier as imported.
    pub module: String,
    /// The name called (`default`, or `*` for a CommonJS module called itself).
    pub name: String,
    /// What it was given.
    pub arguments: Vec<Value>,
    /// Where it is called.
    pub at: Unknown,
}

/// One piece of configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Left out, or `undefined`.
    #[default]
    Undefined,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(String),
    /// A regular expression: source and flags.
    Regex(String, String),
    /// An array; elements that may or may not be there are `Either` with `Undefined`.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
    /// A function of a configuration file.
    Function(Box<FunctionRef>),
    /// Something a package exports: specifier and name (`*` for the namespace).
    Package(String, String),
    /// A module of the project as a namespace.
    Module(String),
    /// What a package's function gave.
    Call(Box<Call>),
    /// One of these.
    Either(Vec<Value>),
    /// Not known.
    Unknown(Unknown),
}

/// Keys in the order of evaluation; a later entry wins over an earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub Vec<Entry>);

/// One step of an object's construction.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A key with its value.
    Key(String, Value),
    /// Unknown keys: a spread of something that is not known.
    Open(Unknown),
}

impl Object {
    /// The value of `key` when it is exactly one that stands here as it is.
    fn simply(&self, key: &str) -> Option<&Value> {
        for entry in self.0.iter().rev() {
            match entry {
                Entry::Key(name, value) if name == key => {
                    return Some(value).filter(|value| !matches!(value, Value::Either(_)));
                }
                Entry::Key(..) => {}
                Entry::Open(_) => return None,
            }
        }
        Some(&Value::Undefined)
    }

    /// The value of `key`: everything it may be.
    pub fn get(&self, key: &str) -> Value {
        if let Some(value) = self.simply(key) {
            return value.clone();
        }
        let mut possible = Vec::new();
        for entry in self.0.iter().rev() {
            match entry {
                Entry::Key(name, value) if name == key => {
                    possible.push(value.clone());
                    return Value::either(possible);
                }
                Entry::Key(..) => {}
                Entry::Open(unknown) => possible.push(Value::Unknown(unknown.clone())),
            }
        }
        if !possible.is_empty() {
            possible.push(Value::Undefined);
        }
        Value::either(possible)
    }

    /// The keys that are written, in the order in which they first appear.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for entry in &self.0 {
            if let Entry::Key(key, _) = entry
                && !keys.contains(&key.as_str())
            {
                keys.push(key);
            }
        }
        keys
    }

    /// What makes keys possible that are not written.
    pub fn open(&self) -> Option<&Unknown> {
        self.0.iter().find_map(|e| match e {
            Entry::Open(unknown) => Some(unknown),
            Entry::Key(..) => None,
        })
    }

    /// Sets the value at `path`, over what is there.
    pub fn set(&mut self, path: &[String], value: Value) {
        let Some((first, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            self.0.push(Entry::Key(first.clone(), value));
            return;
        }
        let inner = match self.get(first) {
            Value::Object(mut object) => {
                object.set(rest, value);
                Value::Object(object)
            }
            Value::Undefined => {
                let mut object = Object::default();
                object.set(rest, value);
                Value::Object(object)
            }
            // What stands there is not known to be an object: both are possible.
            other => Value::either(vec![other, value]),
        };
        self.0.push(Entry::Key(first.clone(), inner));
    }
}

impl Value {
    /// One value for several possible ones: flattened, without repetitions.
    pub fn either(values: Vec<Value>) -> Value {
        let mut flat: Vec<Value> = Vec::new();
        for value in values {
            match value {
                Value::Either(inner) => {
                    for one in inner {
                        if !flat.contains(&one) {
                            flat.push(one);
                        }
                    }
                }
                one => {
                    if !flat.contains(&one) {
                        flat.push(one);
                    }
                }
            }
        }
        match flat.len() {
            0 => Value::Undefined,
            1 => flat.remove(0),
            _ => Value::Either(flat),
        }
    }

    /// Everything it may be.
    pub fn alternatives(&self) -> &[Value] {
        match self {
            Value::Either(values) => values,
            one => std::slice::from_ref(one),
        }
    }

    /// [`Value::get`] where that is exactly one value that stands here as it is.
    pub fn simply(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(object) => object.simply(key),
            _ => None,
        }
    }

    /// The value of `key` of everything it may be. A thing without keys has none.
    pub fn get(&self, key: &str) -> Value {
        if let Some(value) = self.simply(key) {
            return value.clone();
        }
        Value::either(
            self.alternatives()
                .iter()
                .map(|value| match value {
                    Value::Object(object) => object.get(key),
                    Value::Unknown(unknown) => Value::Unknown(unknown.clone()),
                    Value::Call(call) => Value::Unknown(call.at.clone()),
                    _ => Value::Undefined,
                })
                .collect(),
        )
    }

    /// [`Value::get`], key after key.
    pub fn at(&self, path: &[&str]) -> Value {
        let (mut value, mut rest) = (self, path);
        while let Some((key, more)) = rest.split_first()
            && let Some(inner) = value.simply(key)
        {
            (value, rest) = (inner, more);
        }
        match rest.split_first() {
            None => value.clone(),
            Some((key, more)) => more.iter().fold(value.get(key), |value, key| value.get(key)),
        }
    }

    /// Whether a condition on it holds; `None` when that is not known.
    pub fn truthy(&self) -> Option<bool> {
        match self {
            Value::Undefined | Value::Null => Some(false),
            Value::Bool(b) => Some(*b),
            Value::Number(n) => Some(*n != 0.0 && !n.is_nan()),
            Value::String(s) => Some(!s.is_empty()),
            Value::Regex(..)
            | Value::Array(_)
            | Value::Object(_)
            | Value::Function(_)
            | Value::Package(..)
            | Value::Module(_) => Some(true),
            Value::Call(_) | Value::Unknown(_) => None,
            Value::Either(values) => {
                let first = values.first()?.truthy()?;
                values.iter().all(|v| v.truthy() == Some(first)).then_some(first)
            }
        }
    }

    /// The string, when it is exactly one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(s) => Some(s),
            _ => None,
        }
    }

    /// The strings of a string or an array of strings.
    pub fn strings(&self) -> Strings {
        let mut strings = Strings::default();
        let alternatives = self.alternatives();
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for value in alternatives {
            let mut seen: Vec<(String, bool)> = Vec::new();
            match value {
                Value::Undefined | Value::Null => strings.absent = true,
                Value::Bool(false) => {}
                Value::String(s) => seen.push((s.clone(), true)),
                Value::Array(items) => {
                    for item in items {
                        let sure = item.alternatives().len() == 1;
                        for one in item.alternatives() {
                            match one {
                                Value::String(s) => seen.push((s.clone(), sure)),
                                Value::Undefined | Value::Null | Value::Bool(false) => {}
                                other => strings.unknown.push(other.unknown("an entry")),
                            }
                        }
                    }
                }
                other => strings.unknown.push(other.unknown("a value")),
            }
            for (s, sure) in seen {
                if sure {
                    *count.entry(s.clone()).or_default() += 1;
                }
                if !strings.possible.contains(&s) {
                    strings.possible.push(s);
                }
            }
        }
        let all = alternatives.len();
        strings.sure =
            strings.possible.iter().filter(|s| count.get(*s).is_some_and(|n| *n >= all)).cloned().collect();
        strings
    }

    /// The reason for which this is not a known value of the kind that is asked for.
    pub fn unknown(&self, what: &str) -> Unknown {
        match self {
            Value::Unknown(unknown) => unknown.clone(),
            Value::Call(call) => call.at.clone(),
            Value::Either(values) => values.first().map_or_else(
                || Unknown { reason: what.to_owned(), path: String::new(), line: 0 },
                |v| v.unknown(what),
            ),
            Value::Function(function) => {
                Unknown { reason: format!("{what} that is a function"), path: function.path.clone(), line: 0 }
            }
            Value::Package(module, name) => Unknown {
                reason: format!("`{name}` of the package `{module}`"),
                path: String::new(),
                line: 0,
            },
            _ => Unknown {
                reason: format!("{what} of another kind than expected"),
                path: String::new(),
                line: 0,
            },
        }
    }
}

/// A list of strings as a configuration gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strings {
    /// In every possible value.
    pub sure: Vec<String>,
    /// In some possible value (the sure ones included), in order.
    pub possible: Vec<String>,
    /// Possibly left out altogether, so that the default holds.
    pub absent: bool,
    /// What may add more.
    pub unknown: Vec<Unknown>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(s: &str) -> Value {
        Value::String(s.to_owned())
    }

    #[test]
    fn a_spread_of_something_unknown_hides_only_what_stands_before_it() {
        let open = Unknown { reason: "x".into(), path: "c.ts".into(), line: 1 };
        let object = Object(vec![
            Entry::Key("a".into(), string("1")),
            Entry::Open(open.clone()),
            Entry::Key("b".into(), string("2")),
        ]);
        assert_eq!(object.get("b"), string("2"));
        assert_eq!(object.get("a"), Value::Either(vec![Value::Unknown(open.clone()), string("1")]));
        assert_eq!(object.get("c"), Value::Either(vec![Value::Unknown(open), Value::Undefined]));
    }

    #[test]
    fn strings_of_two_possible_lists() {
        let list = |items: &[&str]| Value::Array(items.iter().map(|s| string(s)).collect());
        let both = Value::either(vec![list(&["a", "b"]), list(&["a", "c"])]);
        let strings = both.strings();
        assert_eq!(strings.sure, ["a"]);
        assert_eq!(strings.possible, ["a", "b", "c"]);
        assert!(!strings.absent);
        let maybe = Value::Array(vec![string("a"), Value::either(vec![string("b"), Value::Undefined])]);
        assert_eq!(maybe.strings().sure, ["a"]);
    }
}
