//! What the nodes of a grammar mean for measuring functions: `queries/<language>/functions.toml`.
//!
//! Queries say where something is; this says what kinds of nodes *are*: a comment, a
//! literal, a loop. Every word must be a kind or a field of the grammar, so that a new
//! release of it cannot make a rule silently void.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use tree_sitter::Language;

/// The file, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    names: Names,
    tokens: Tokens,
    control: Control,
    shape: Shape,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Names {
    /// What stands between the parts of a name.
    separator: String,
    /// What a function without a name is called.
    nameless: String,
    /// What a class with two names is called; `{0}` and `{1}` stand for them.
    #[serde(default)]
    of_two: Option<String>,
    /// Words that stand for the value whose method is read.
    #[serde(default)]
    receivers: Vec<String>,
    /// Whether the first name bound in a method stands for that value.
    #[serde(default)]
    first_is_receiver: bool,
    /// Whether a name in a pattern that starts with a capital letter is a constant.
    #[serde(default)]
    capitals_are_constants: bool,
    /// Whether a name that is declared twice in one scope is two things.
    #[serde(default)]
    redeclared_is_new: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Tokens {
    comments: Vec<String>,
    whole: Vec<String>,
    joined: Vec<String>,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    decimals: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Control {
    branches: Vec<String>,
    loops: Vec<String>,
    switches: Vec<String>,
    cases: Vec<String>,
    /// Cases that always match.
    #[serde(default)]
    defaults: Vec<String>,
    /// Patterns that always match, as they are written.
    #[serde(default)]
    catch_all: Vec<String>,
    #[serde(default)]
    decisions: Vec<String>,
    #[serde(default)]
    conditional: Vec<String>,
    nests: Vec<String>,
    alternatives: Vec<String>,
    logical: Vec<String>,
    operators: Vec<String>,
    jumps: Vec<String>,
    labels: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Shape {
    blocks: Vec<String>,
    #[serde(default)]
    not_statements: Vec<String>,
    #[serde(default)]
    also_statements: Vec<String>,
    names: Vec<String>,
    members: Vec<String>,
    /// Where a name is that of a field, whatever it is bound to.
    #[serde(default)]
    keys: Vec<String>,
    strings: Vec<String>,
    numbers: Vec<String>,
    constants: Vec<String>,
    erased: Vec<String>,
    transparent: Vec<String>,
    punctuation: Vec<String>,
    calls: Vec<String>,
    handing: Vec<String>,
    simple: Vec<String>,
}

/// What a kind of node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) comment: bool,
    pub(super) whole: bool,
    /// Control structure: one of these, or none.
    pub(super) control: Option<Controls>,
    /// One more way through the function.
    pub(super) decides: bool,
    /// Only when it has this part.
    pub(super) conditional: bool,
    pub(super) logical: bool,
    pub(super) jump: bool,
    pub(super) label: bool,
    pub(super) block: bool,
    pub(super) not_statement: bool,
    pub(super) name: bool,
    pub(super) member: bool,
    pub(super) key: bool,
    /// As in `Symbol::Literal`.
    pub(super) literal: Option<u8>,
    pub(super) erased: bool,
    pub(super) transparent: bool,
    pub(super) punctuation: bool,
    pub(super) operator: bool,
    pub(super) call: bool,
    pub(super) handing: bool,
    pub(super) simple: bool,
    /// Some of its fields mean something.
    pub(super) fields: bool,
}

/// Kinds of control structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controls {
    /// `if`
    Branch,
    /// Loops.
    Loop,
    /// `match`, `switch`
    Switch,
    /// A case of one; costs nothing, and decides unless it always matches.
    Case,
}

/// What a field of a kind of node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// What is in it stands one level deeper.
    pub(super) nests: bool,
    /// It is the `else` of its node.
    pub(super) alternative: bool,
    pub(super) erased: bool,
    pub(super) key: bool,
    /// What is in it is a statement, unless it is a block.
    pub(super) statement: bool,
}

/// The file, checked against a grammar.
#[derive(Debug)]
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    fields: FxHashMap<(u16, u16), Field>,
    pub(super) separator: String,
    pub(super) nameless: String,
    pub(super) of_two: Option<String>,
    pub(super) receivers: Vec<String>,
    pub(super) first_is_receiver: bool,
    pub(super) capitals_are_constants: bool,
    pub(super) redeclared_is_new: bool,
    pub(super) catch_all: FxHashSet<String>,
    /// Punctuators of several characters, longest first.
    pub(super) joined: Vec<String>,
    pub(super) prefixes: Vec<u16>,
    pub(super) decimals: Option<u16>,
}

impl Kinds {
    /// Reads the file.
    pub(super) fn new(language: &Language, text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut making = Making { language, kinds: vec![Kind::default(); language.node_kind_count()] };
        let mut fields = FxHashMap::default();
        let Written { names, tokens, control, shape } = written;
        making.mark(&tokens.comments, |kind| kind.comment = true)?;
        making.mark(&tokens.whole, |kind| kind.whole = true)?;
        let controls = [
            (&control.branches, Controls::Branch, true),
            (&control.loops, Controls::Loop, true),
            (&control.switches, Controls::Switch, false),
            (&control.cases, Controls::Case, true),
            (&control.defaults, Controls::Case, false),
        ];
        for (list, what, decides) in controls {
            making.mark(list, |kind| {
                kind.control = Some(what);
                kind.decides = decides;
            })?;
        }
        making.mark(&control.decisions, |kind| kind.decides = true)?;
        making.mark(&control.conditional, |kind| {
            kind.control = Some(Controls::Branch);
            kind.decides = true;
            kind.conditional = true;
        })?;
        making.mark(&control.logical, |kind| kind.logical = true)?;
        making.mark(&control.operators, |kind| kind.operator = true)?;
        making.mark(&control.jumps, |kind| kind.jump = true)?;
        making.mark(&control.labels, |kind| kind.label = true)?;
        making.mark(&shape.blocks, |kind| kind.block = true)?;
        making.mark(&shape.not_statements, |kind| kind.not_statement = true)?;
        making.mark(&shape.names, |kind| kind.name = true)?;
        making.mark(&shape.members, |kind| kind.member = true)?;
        for (list, literal) in [(&shape.strings, 0), (&shape.numbers, 1), (&shape.constants, 4)] {
            making.mark(list, |kind| kind.literal = Some(literal))?;
        }
        making.mark(&shape.transparent, |kind| kind.transparent = true)?;
        making.mark(&shape.punctuation, |kind| kind.punctuation = true)?;
        making.mark(&shape.calls, |kind| kind.call = true)?;
        making.mark(&shape.handing, |kind| kind.handing = true)?;
        making.mark(&shape.simple, |kind| kind.simple = true)?;
        making.either(&shape.erased, &mut fields, |kind| kind.erased = true, |field| field.erased = true)?;
        making.either(&shape.keys, &mut fields, |kind| kind.key = true, |field| field.key = true)?;
        making.fields(&control.nests, &mut fields, |field| field.nests = true)?;
        making.fields(&control.alternatives, &mut fields, |field| field.alternative = true)?;
        making.fields(&shape.also_statements, &mut fields, |field| field.statement = true)?;
        let mut joined = tokens.joined;
        joined.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let prefixes: Result<Vec<Vec<u16>>, String> =
            tokens.prefixes.iter().map(|word| making.ids(word)).collect();
        let decimals = match &tokens.decimals {
            Some(word) => making.ids(word)?.first().copied(),
            None => None,
        };
        Ok(Self {
            kinds: making.kinds,
            fields,
            separator: names.separator,
            nameless: names.nameless,
            of_two: names.of_two,
            receivers: names.receivers,
            first_is_receiver: names.first_is_receiver,
            capitals_are_constants: names.capitals_are_constants,
            redeclared_is_new: names.redeclared_is_new,
            catch_all: control.catch_all.into_iter().collect(),
            joined,
            prefixes: prefixes?.concat(),
            decimals,
        })
    }

    /// What a kind is.
    pub(super) fn of(&self, kind: u16) -> Kind {
        // The kind of errors is beyond the table, and means nothing.
        self.kinds.get(usize::from(kind)).copied().unwrap_or_default()
    }

    /// What a field of a kind is.
    pub(super) fn field(&self, kind: u16, field: Option<u16>) -> Field {
        match field {
            Some(field) if self.of(kind).fields => {
                self.fields.get(&(kind, field)).copied().unwrap_or_default()
            }
            _ => Field::default(),
        }
    }
}

struct Making<'l> {
    language: &'l Language,
    kinds: Vec<Kind>,
}

impl Making<'_> {
    /// All numbers of a kind: a grammar has several for one name where it renames rules.
    fn ids(&self, word: &str) -> Result<Vec<u16>, String> {
        let count = u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
        let is_it = |id: &u16| self.language.node_kind_for_id(*id) == Some(word);
        let found: Vec<u16> = (0..count).filter(is_it).collect();
        if found.is_empty() { Err(format!("`{word}` is no kind of node")) } else { Ok(found) }
    }

    fn mark(&mut self, words: &[String], set: impl Fn(&mut Kind)) -> Result<(), String> {
        for word in words {
            for id in self.ids(word)? {
                set(&mut self.kinds[usize::from(id)]);
            }
        }
        Ok(())
    }

    /// `kind.field` each.
    fn fields(
        &mut self,
        words: &[String],
        fields: &mut FxHashMap<(u16, u16), Field>,
        set: impl Fn(&mut Field),
    ) -> Result<(), String> {
        for word in words {
            let (kind, field) =
                word.split_once('.').ok_or_else(|| format!("`{word}` is not `kind.field`"))?;
            let number = self.language.field_id_for_name(field);
            let number = number.ok_or_else(|| format!("`{field}` of `{word}` is no field"))?;
            for id in self.ids(kind)? {
                self.kinds[usize::from(id)].fields = true;
                set(fields.entry((id, number.get())).or_default());
            }
        }
        Ok(())
    }

    fn either(
        &mut self,
        words: &[String],
        fields: &mut FxHashMap<(u16, u16), Field>,
        kind: impl Fn(&mut Kind),
        field: impl Fn(&mut Field),
    ) -> Result<(), String> {
        let (some, others): (Vec<String>, Vec<String>) =
            words.iter().cloned().partition(|word| word.contains('.') && word.len() > 1);
        self.fields(&some, fields, field)?;
        self.mark(&others, kind)
    }
}
