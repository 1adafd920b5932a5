//! By what the elements of a list are told apart.

use std::collections::HashSet;

use serde_json::Value;

use super::place::{Step, scalar};

/// Fields that tell objects of a list apart, the first that all of them have goes.
const KEYS: [&str; 9] = [
    "id",
    "object_id",
    "frame_id",
    "request",
    "position",
    "path",
    "key",
    "index",
    "name",
];

/// What the elements of a list are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    /// By a field.
    Key(&'static str),
    /// They are what they are called: texts and numbers.
    Element,
    /// By their number alone.
    Index,
}

impl Identity {
    /// By what the elements of all these lists are told apart, in each of them for itself.
    pub(super) fn of(lists: &[&[Value]]) -> Identity {
        let mut all = lists.iter().flat_map(|list| list.iter());
        let tells = |identity: &Identity| lists.iter().all(|list| identity.ids(list).is_some());
        if all.clone().next().is_none() {
            return Identity::Index;
        }
        if all.clone().all(|element| scalar(element).is_some()) {
            return match tells(&Identity::Element) {
                true => Identity::Element,
                false => Identity::Index,
            };
        }
        if !all.all(Value::is_object) {
            return Identity::Index;
        }
        let keys = KEYS.into_iter().map(Identity::Key);
        keys.into_iter().find(tells).unwrap_or(Identity::Index)
    }

    /// What each element of a list is called; `None` where one is called nothing, or two the same.
    pub(super) fn ids(self, list: &[Value]) -> Option<Vec<String>> {
        let id = |element: &Value| match self {
            Identity::Key(key) => element.get(key).and_then(scalar),
            Identity::Element => scalar(element),
            Identity::Index => None,
        };
        let ids: Vec<String> = list.iter().map(id).collect::<Option<_>>()?;
        let mut seen = HashSet::with_capacity(ids.len());
        ids.iter().all(|id| seen.insert(id)).then_some(ids)
    }

    /// The step to an element.
    pub(super) fn step(self, index: usize, id: &str) -> Step {
        match self {
            Identity::Key(key) => Step::Item {
                key: key.to_owned(),
                id: id.to_owned(),
            },
            Identity::Element => Step::Element(id.to_owned()),
            Identity::Index => Step::Index(index),
        }
    }
}
