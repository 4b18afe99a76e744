//! What a name taken out of a module stands for: through re-exports, stars and imports of
//! imports, to the declarations behind it.
//!
//! When some step of the way has no module that is known to offer the name, all modules
//! of that step are taken whole: they may offer it in a way that was not understood.

use rustc_hash::FxHashMap;

use super::module::{Module, Part, Taken, UnitId};

/// One question: a name in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Question<'p> {
    module: u32,
    name: &'p str,
    /// What is read of it, when that is all.
    member: Option<Member<'p>>,
    offer: Offer,
}

/// Whether an operation that a module has under a name, but not on purpose, is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Offer {
    /// It is only named.
    No,
    /// Members of it are read, which the reader judges if the module keeps its name.
    Members,
    /// It is used as a value.
    Whole,
}

/// An attribute that is read of an import: `a.b.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member<'p> {
    /// The local name of the import: `a`.
    pub(crate) local: &'p str,
    /// What comes after it: `b.c`.
    pub(crate) chain: &'p str,
}

impl<'p> Member<'p> {
    /// The name that is read of a module imported by `specifier`: `import a.b` binds `a`,
    /// and what comes after `a.b` is read of the module. `None`: the module itself.
    fn first_after(self, specifier: &str) -> Option<&'p str> {
        let inner = specifier.strip_prefix(self.local).and_then(|rest| rest.strip_prefix('.')).unwrap_or("");
        match after(self.chain, inner) {
            Some("") => None,
            Some(rest) => rest.split('.').next(),
            None => self.chain.split('.').next(),
        }
    }
}

/// Modules that together should answer one question.
struct Step {
    /// Numbers of questions, one a module.
    asked: Vec<usize>,
}

/// A search for names.
pub(crate) struct Lookup<'m, 'p> {
    modules: &'m [Module<'p>],
    questions: Vec<Question<'p>>,
    numbers: FxHashMap<Question<'p>, usize>,
    answered: Vec<bool>,
    askers: Vec<Vec<usize>>,
    steps: Vec<Step>,
    found: Vec<UnitId>,
}

impl<'m, 'p> Lookup<'m, 'p> {
    /// A search over these modules.
    pub(crate) fn new(modules: &'m [Module<'p>]) -> Self {
        Self {
            modules,
            questions: Vec::new(),
            numbers: FxHashMap::default(),
            answered: Vec::new(),
            askers: Vec::new(),
            steps: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Asks for what an import of `from` gives.
    pub(crate) fn take(&mut self, from: u32, taken: Taken<'p>, offer: Offer) {
        self.take_for(from, taken, None, offer);
    }

    /// Asks for an attribute of what an import of `from` gives, when that is all that is
    /// used of it.
    pub(crate) fn take_member(&mut self, from: u32, taken: Taken<'p>, member: Member<'p>) {
        // Members of `helpers.time` are judged where they are read; those of a `time` that is
        // taken out of `helpers` are not: it may be anything there.
        let offer = if taken.name.is_some() { Offer::Whole } else { Offer::Members };
        self.take_for(from, taken, Some(member), offer);
    }

    /// Asks for what a dotted name in a string stands for, in the modules it leads to.
    pub(crate) fn dotted(&mut self, specifier: &'p str, targets: &[u32]) {
        let parts: Vec<&'p str> = specifier.split(['.', ':']).filter(|part| !part.is_empty()).collect();
        let place = |target: &u32| {
            let names = self.modules[*target as usize].names();
            names.iter().find_map(|name| parts.iter().rposition(|part| part == name))
        };
        let places: Vec<Option<usize>> = targets.iter().map(place).collect();
        let deepest = places.iter().flatten().max().copied();
        for (&target, place) in targets.iter().zip(places) {
            let module = &self.modules[target as usize];
            match place {
                Some(at) if Some(at) < deepest => {}
                Some(at) if at + 1 < parts.len() => {
                    let name = parts[at + 1];
                    let asked =
                        self.ask(Question { module: target, name, member: None, offer: Offer::No }, None);
                    self.steps.push(Step { asked: vec![asked] });
                }
                _ => self.found.push(module.unit(Part::Whole)),
            }
        }
    }

    /// Asks the star imports of `from` for a name that it may have from one of them.
    pub(crate) fn star(&mut self, from: u32, name: &'p str) {
        let modules = self.modules;
        let module = &modules[from as usize];
        for &star in module.stars() {
            for target in module.targets(star) {
                let offer = Offer::Members;
                self.ask(Question { module: target, name, member: None, offer }, None);
            }
        }
    }

    /// The units that answer all that was asked, sorted.
    pub(crate) fn answer(mut self) -> Vec<UnitId> {
        let mut at = 0;
        while at < self.questions.len() {
            self.look(at);
            at += 1;
        }
        self.spread();
        for step in &self.steps {
            if !step.asked.iter().any(|&question| self.answered[question]) {
                for &question in &step.asked {
                    let module = &self.modules[self.questions[question].module as usize];
                    self.found.push(module.unit(Part::Whole));
                }
            }
        }
        self.found.sort_unstable();
        self.found.dedup();
        self.found
    }

    fn take_for(&mut self, from: u32, taken: Taken<'p>, member: Option<Member<'p>>, offer: Offer) {
        let modules = self.modules;
        let module = &modules[from as usize];
        let specifier = &module.facts.imports[taken.import as usize].specifier;
        let targets: Vec<u32> = module.targets(taken.import).collect();
        // Of a namespace, the attribute is a name of the module.
        let (name, member, offer) = match (taken.name, member) {
            (None, Some(member)) => {
                let name = member.first_after(specifier);
                let last = name.is_some_and(|name| member.chain.rsplit('.').next() == Some(name));
                (name, None, if last && offer != Offer::No { Offer::Whole } else { offer })
            }
            (name, member) => (name, member, offer),
        };
        let Some(name) = name else {
            self.found.extend(targets.iter().map(|&target| modules[target as usize].unit(Part::Whole)));
            return;
        };
        let mut asked = Vec::with_capacity(targets.len());
        let mut itself = false;
        for &target in &targets {
            let module = &modules[target as usize];
            if module.may_be(name, specifier) {
                itself = true;
                match member.and_then(|member| member.chain.split('.').next()) {
                    // `from package import module`, of which an attribute is read.
                    Some(first) => {
                        let own =
                            self.ask(Question { module: target, name: first, member: None, offer }, None);
                        self.steps.push(Step { asked: vec![own] });
                        continue;
                    }
                    None => self.found.push(module.unit(Part::Whole)),
                }
            }
            asked.push(self.ask(Question { module: target, name, member, offer }, None));
        }
        if !asked.is_empty() && !itself {
            self.steps.push(Step { asked });
        }
    }

    fn ask(&mut self, question: Question<'p>, asker: Option<usize>) -> usize {
        let number = *self.numbers.entry(question).or_insert_with(|| {
            self.questions.push(question);
            self.answered.push(false);
            self.askers.push(Vec::new());
            self.questions.len() - 1
        });
        self.askers[number].extend(asker);
        number
    }

    fn look(&mut self, number: usize) {
        let modules = self.modules;
        let Question { module: at, name, member, offer } = self.questions[number];
        let module = &modules[at as usize];
        if !module.split {
            self.found.push(module.unit(Part::Whole));
            self.answered[number] = true;
            return;
        }
        let (locals, reexports) = module.exported(name);
        for local in locals {
            self.answered[number] = true;
            let declared = module.declaration(local);
            self.found.extend(declared.map(|part| module.unit(part)));
            if offer == Offer::Whole || offer == Offer::Members && !module.is_own_name(local) {
                self.found.extend(module.offered(local).map(|part| module.unit(part)));
            }
            let imported = module.imported(local);
            for &taken in imported {
                self.take_for(at, taken, member.map(|member| Member { local, ..member }), offer);
            }
            if declared.is_none() && imported.is_empty() {
                self.found.push(module.unit(Part::Whole));
            }
        }
        for &taken in reexports {
            self.answered[number] = true;
            self.take_for(at, taken, member, offer);
        }
        if locals.is_empty() && reexports.is_empty() {
            if module.is_open() {
                self.found.push(module.unit(Part::Whole));
                self.answered[number] = true;
            }
            for &star in module.stars() {
                for target in module.targets(star) {
                    self.ask(Question { module: target, name, member, offer }, Some(number));
                }
            }
        }
    }

    /// A question is answered when one that it was passed on to is.
    fn spread(&mut self) {
        let mut open: Vec<usize> =
            (0..self.questions.len()).filter(|&number| self.answered[number]).collect();
        while let Some(number) = open.pop() {
            for &asker in &self.askers[number] {
                if !std::mem::replace(&mut self.answered[asker], true) {
                    open.push(asker);
                }
            }
        }
    }
}

/// What is left of a dotted name after `inner`; `None` when it does not begin with it. A
/// name that ends before `inner` does leaves nothing.
fn after<'t>(chain: &'t str, inner: &str) -> Option<&'t str> {
    if inner.is_empty() {
        return Some(chain);
    }
    if let Some(rest) = chain.strip_prefix(inner) {
        return rest.strip_prefix('.').or_else(|| rest.is_empty().then_some(""));
    }
    inner.strip_prefix(chain).filter(|rest| rest.starts_with('.')).map(|_| "")
}
