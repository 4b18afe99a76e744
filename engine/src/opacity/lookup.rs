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
    pub(crate) fn take(&mut self, from: u32, taken: Taken<'p>) {
        self.take_for(from, taken, None);
    }

    /// Asks the star imports of `from` for a name that it may have from one of them.
    pub(crate) fn star(&mut self, from: u32, name: &'p str) {
        let modules = self.modules;
        let module = &modules[from as usize];
        for &star in module.stars() {
            for target in module.targets(star) {
                self.ask(target, name, None);
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

    fn take_for(&mut self, from: u32, taken: Taken<'p>, asker: Option<usize>) {
        let modules = self.modules;
        let module = &modules[from as usize];
        let targets: Vec<u32> = module.targets(taken.import).collect();
        let specifier = &module.facts.imports[taken.import as usize].specifier;
        let Some(name) = taken.name else {
            self.found.extend(targets.iter().map(|&target| modules[target as usize].unit(Part::Whole)));
            return;
        };
        let mut asked = Vec::with_capacity(targets.len());
        let mut itself = false;
        for &target in &targets {
            let module = &modules[target as usize];
            if module.may_be(name, specifier, targets.len()) {
                self.found.push(module.unit(Part::Whole));
                itself = true;
            }
            asked.push(self.ask(target, name, asker));
        }
        if !asked.is_empty() && !itself {
            self.steps.push(Step { asked });
        }
    }

    fn ask(&mut self, module: u32, name: &'p str, asker: Option<usize>) -> usize {
        let question = Question { module, name };
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
        let Question { module: at, name } = self.questions[number];
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
            let imported = module.imported(local);
            for &taken in imported {
                self.take_for(at, taken, None);
            }
            if declared.is_none() && imported.is_empty() {
                self.found.push(module.unit(Part::Whole));
            }
        }
        for &taken in reexports {
            self.answered[number] = true;
            self.take_for(at, taken, None);
        }
        if locals.is_empty() && reexports.is_empty() {
            if module.is_open() {
                self.found.push(module.unit(Part::Whole));
                self.answered[number] = true;
            }
            for &star in module.stars() {
                for target in module.targets(star) {
                    self.ask(target, name, Some(number));
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
