//! Names bound by a pattern, and the way to each.

use oxc_ast::ast::BindingPattern;

/// One step into a value that is taken apart.
#[derive(Clone)]
pub(super) enum Step {
    /// `{ key }`.
    Key(String),
    /// `[, x]`.
    Index(usize),
    /// A rest or a default value, which are not followed.
    Unknown,
}

/// Calls `found` for each name bound by `pattern`, with the way into the value.
pub(super) fn bind(
    pattern: &BindingPattern<'_>,
    steps: Vec<Step>,
    found: &mut impl FnMut(String, Vec<Step>),
) {
    match pattern {
        BindingPattern::BindingIdentifier(id) => found(id.name.to_string(), steps),
        BindingPattern::ObjectPattern(object) => {
            for property in &object.properties {
                let mut steps = steps.clone();
                steps.push(match property.key.static_name() {
                    Some(name) => Step::Key(name.into_owned()),
                    None => Step::Unknown,
                });
                bind(&property.value, steps, found);
            }
            if let Some(rest) = &object.rest {
                let mut steps = steps;
                steps.push(Step::Unknown);
                bind(&rest.argument, steps, found);
            }
        }
        BindingPattern::ArrayPattern(array) => {
            for (index, element) in array.elements.iter().enumerate() {
                if let Some(element) = element {
                    let mut steps = steps.clone();
                    steps.push(Step::Index(index));
                    bind(element, steps, found);
                }
            }
            if let Some(rest) = &array.rest {
                let mut steps = steps;
                steps.push(Step::Unknown);
                bind(&rest.argument, steps, found);
            }
        }
        BindingPattern::AssignmentPattern(assignment) => {
            let mut steps = steps;
            steps.push(Step::Unknown);
            bind(&assignment.left, steps, found);
        }
    }
}
