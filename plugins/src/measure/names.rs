//! Qualified names of functions, as a person would say them.
//!
//! - A member of a class is `Cart.total`, `Cart.#total`, `Cart.constructor`; of a namespace
//!   `A.f`; of a class in a class `Outer.Inner.f`.
//!   Rust writes `Cart::total`.
//! - A function that is the value or a method of a property is `onClick@handlers`, where
//!   `handlers` is what the object or dictionary is assigned to (`a.b` for one in another);
//!   in one without a name it is `onClick`. An attribute of JSX is `onClick@Button`, a
//!   keyword argument `key@sorted`.
//! - A function that initialises or is assigned to something has that name: `load`,
//!   `exports.load`, `this.load`, `Cart.prototype.total`; else the name of its own; the
//!   default export without one is `default`.
//! - Any other is `<anonymous>#1` (`<lambda>#1` in Python), counted in the function around
//!   it, or outside any function in the variable, field or export that it helps to
//!   initialise.
//! - What lies in a function says so: `<anonymous>#2 in load`, `Cart.total in make`. After
//!   three functions ` in …` stands for the rest.
//!
//! Names are not unique (`get` and `set` of one property, functions declared twice); what
//! must tell them apart counts equal names in order.

use std::rc::Rc;

/// A name in two parts: `Cart.total` and ` in make`.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// What is said first.
    pub(crate) display: String,
    /// Where it lies.
    pub(crate) suffix: Rc<str>,
}

impl Named {
    /// Both parts.
    pub(crate) fn full(&self) -> String {
        format!("{}{}", self.display, self.suffix)
    }
}

/// What names can lie in.
#[derive(Debug)]
enum Kind {
    Module,
    Function,
    /// A variable or field outside any function, for the anonymous functions in it.
    Variable,
    /// A class or an object with its name, if it has one.
    Class(String),
    Object(Option<String>),
    Namespace(String),
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    /// What is added to names in it.
    suffix: Rc<str>,
    /// Anonymous functions in it so far.
    anonymous: u32,
    /// Number among all frames, for members called by `this`.
    number: u32,
}

/// The frames around the place that is read.
#[derive(Debug)]
pub(crate) struct Frames {
    list: Vec<Frame>,
    /// Places in the list of functions, and of what counts nameless functions.
    functions: Vec<usize>,
    counters: Vec<usize>,
    numbers: u32,
    /// What a function without a name is called.
    nameless: Rc<str>,
    /// What stands between a class and its member.
    separator: Rc<str>,
}

impl Frames {
    /// The module alone; `nameless` is what a function without a name is called.
    pub(crate) fn new(nameless: &str) -> Self {
        let module = Frame { kind: Kind::Module, suffix: Rc::from(""), anonymous: 0, number: 0 };
        Self {
            list: vec![module],
            functions: Vec::new(),
            counters: vec![0],
            numbers: 0,
            nameless: Rc::from(nameless),
            separator: Rc::from("."),
        }
    }

    /// The same with another word than a point between a class and its member.
    pub(crate) fn separated(nameless: &str, separator: &str) -> Self {
        Self { separator: Rc::from(separator), ..Self::new(nameless) }
    }

    fn push(&mut self, kind: Kind, suffix: Rc<str>) -> u32 {
        self.numbers += 1;
        let place = self.list.len();
        if matches!(kind, Kind::Function) {
            self.functions.push(place);
        }
        if matches!(kind, Kind::Function | Kind::Variable) {
            self.counters.push(place);
        }
        self.list.push(Frame { kind, suffix, anonymous: 0, number: self.numbers });
        self.numbers
    }

    /// The innermost frame ends.
    pub(crate) fn pop(&mut self) {
        self.list.pop();
        self.functions.pop_if(|place| *place == self.list.len());
        self.counters.pop_if(|place| *place == self.list.len());
    }

    /// A function.
    pub(crate) fn function(&mut self, name: &Named) {
        let mut suffix = format!(" in {}{}", name.display, name.suffix);
        if let Some((at, _)) = suffix.match_indices(" in ").nth(3) {
            suffix.truncate(at);
            suffix.push_str(" in …");
        }
        self.push(Kind::Function, Rc::from(suffix));
    }

    /// A variable, field or export outside functions.
    pub(crate) fn variable(&mut self, name: &Named) {
        self.push(Kind::Variable, Rc::from(format!(" in {}{}", name.display, name.suffix)));
    }

    /// A class; its number.
    pub(crate) fn class(&mut self, name: Named) -> u32 {
        self.push(Kind::Class(name.display), name.suffix)
    }

    /// An object literal; its number.
    pub(crate) fn object(&mut self, name: Option<Named>) -> u32 {
        let suffix = name.as_ref().map_or_else(|| self.suffix(), |name| Rc::clone(&name.suffix));
        self.push(Kind::Object(name.map(|name| name.display)), suffix)
    }

    /// A namespace.
    pub(crate) fn namespace(&mut self, name: &str) {
        let display = match &self.top().kind {
            Kind::Namespace(around) => format!("{around}.{name}"),
            _ => name.to_owned(),
        };
        let suffix = Rc::clone(&self.top().suffix);
        self.push(Kind::Namespace(display), suffix);
    }

    fn top(&self) -> &Frame {
        self.list.last().expect("the module is always there")
    }

    /// Whether no function is around.
    pub(crate) fn outside(&self) -> bool {
        self.functions.is_empty()
    }

    /// Where something lies that has a name of its own: in the nearest function.
    fn suffix(&self) -> Rc<str> {
        let function = self.functions.last();
        function.map_or_else(|| Rc::from(""), |place| Rc::clone(&self.list[*place].suffix))
    }

    /// Something that is declared, assigned or named here.
    pub(crate) fn named(&self, name: &str) -> Named {
        match &self.top().kind {
            Kind::Namespace(around) => {
                Named { display: format!("{around}.{name}"), suffix: Rc::clone(&self.top().suffix) }
            }
            _ => Named { display: name.to_owned(), suffix: self.suffix() },
        }
    }

    /// A member of the class or object around this place. `holder` says that it is an
    /// object or a class itself (`handlers.inner`, not `inner@handlers`).
    pub(crate) fn member(&self, name: &str, holder: bool) -> Named {
        let top = self.top();
        let display = match &top.kind {
            Kind::Class(class) => match name.starts_with('[') {
                true => format!("{class}{name}"),
                false => format!("{class}{}{name}", self.separator),
            },
            Kind::Object(Some(path)) if holder => format!("{path}.{name}"),
            Kind::Object(Some(path)) => format!("{name}@{path}"),
            _ => name.to_owned(),
        };
        Named { display, suffix: Rc::clone(&top.suffix) }
    }

    /// The next function without any name.
    pub(crate) fn anonymous(&mut self) -> Named {
        let place = *self.counters.last().expect("the module is always there");
        let frame = &mut self.list[place];
        frame.anonymous += 1;
        Named { display: format!("{}#{}", self.nameless, frame.anonymous), suffix: Rc::clone(&frame.suffix) }
    }

    /// Whether the place is directly in a variable or field.
    pub(crate) fn in_variable(&self) -> bool {
        matches!(self.top().kind, Kind::Variable)
    }

    /// Whether the place is directly in a class.
    pub(crate) fn in_class(&self) -> bool {
        matches!(self.top().kind, Kind::Class(_))
    }

    /// The number of the class or object whose member is read.
    pub(crate) fn holder(&self) -> Option<u32> {
        matches!(self.top().kind, Kind::Class(_) | Kind::Object(_)).then_some(self.top().number)
    }
}
