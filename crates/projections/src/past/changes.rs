//! What differs between two documents, as an RFC 6902 patch.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::identity::Identity;
use super::place::{Place, Step};

/// What an operation of a patch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchOp {
    /// Adds a field or an element.
    Add,
    /// Removes one.
    Remove,
    /// Puts another value into its place.
    Replace,
}

/// One difference. It serialises as an operation of an RFC 6902 patch, with members more, which such a patch
/// may have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What the patch does.
    pub op: PatchOp,
    /// Where, as a JSON Pointer into the document as the operations before it left it.
    pub path: String,
    /// The new value; none where it was removed.
    #[serde(rename = "value", skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// The old value; none where it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// Where, in words that do not depend on what comes and goes beside it.
    #[serde(rename = "field")]
    pub place: Place,
}

impl Change {
    /// A whole value in the place of another one.
    pub fn whole(old: &Value, new: &Value) -> Change {
        Change {
            op: PatchOp::Replace,
            path: String::new(),
            new: Some(new.clone()),
            old: Some(old.clone()),
            place: Place::ROOT,
        }
    }
}

/// What differs between two documents. The operations, applied in their order to the old one, give the new one.
///
/// Lists whose elements have ids are compared by them. What differs is named as deep down as it differs.
///
/// ```
/// use annals_projections::past::changes;
/// use serde_json::json;
///
/// let old = json!({ "items": [{ "id": 1, "n": 1 }, { "id": 2, "n": 2 }], "status": "created" });
/// let new = json!({ "items": [{ "id": 2, "n": 3 }], "status": "failed" });
/// let changes = changes(&old, &new);
/// let said: Vec<String> = changes.iter().map(|it| format!("{:?} {} {}", it.op, it.path, it.place)).collect();
/// assert_eq!(said, [
///     "Remove /items/0 items[id=1]",
///     "Replace /items/0/n items[id=2].n",
///     "Replace /status status",
/// ]);
/// ```
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Found::default();
    if let (Value::Null, Value::Object(fields)) = (old, new) {
        // The object came to be: each of its fields has a cause of its own.
        let empty = Value::Object(Map::new());
        found.add(
            PatchOp::Add,
            "",
            &Place::ROOT,
            Some(Value::Null),
            Some(empty),
        );
        found.objects(&Map::new(), fields, "", &Place::ROOT);
    } else {
        found.values(old, new, "", &Place::ROOT);
    }
    found.changes
}

#[derive(Default)]
struct Found {
    changes: Vec<Change>,
}

impl Found {
    fn add(
        &mut self,
        op: PatchOp,
        path: &str,
        place: &Place,
        old: Option<Value>,
        new: Option<Value>,
    ) {
        self.changes.push(Change {
            op,
            path: path.to_owned(),
            new,
            old,
            place: place.clone(),
        });
    }

    fn values(&mut self, old: &Value, new: &Value, path: &str, place: &Place) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.objects(old, new, path, place),
            (Value::Array(old_list), Value::Array(new_list)) => {
                self.lists(
                    (old, old_list.as_slice()),
                    (new, new_list.as_slice()),
                    path,
                    place,
                );
            }
            _ if old != new => self.replace(old, new, path, place),
            _ => {}
        }
    }

    fn replace(&mut self, old: &Value, new: &Value, path: &str, place: &Place) {
        let (old, new) = (Some(old.clone()), Some(new.clone()));
        self.add(PatchOp::Replace, path, place, old, new);
    }

    fn objects(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        path: &str,
        place: &Place,
    ) {
        for (name, was) in old {
            let (path, place) = member(path, place, name);
            match new.get(name) {
                Some(is) => self.values(was, is, &path, &place),
                None => self.add(PatchOp::Remove, &path, &place, Some(was.clone()), None),
            }
        }
        for (name, is) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let (path, place) = member(path, place, name);
            self.add(PatchOp::Add, &path, &place, None, Some(is.clone()));
        }
    }

    fn lists(
        &mut self,
        (old, old_list): (&Value, &[Value]),
        (new, new_list): (&Value, &[Value]),
        path: &str,
        place: &Place,
    ) {
        let identity = Identity::of(&[old_list, new_list]);
        let (Some(old_ids), Some(new_ids)) = (identity.ids(old_list), identity.ids(new_list))
        else {
            return self.by_number(old_list, new_list, path, place);
        };
        let known: HashSet<&String> = old_ids.iter().collect();
        let staying: HashSet<&String> = new_ids.iter().filter(|id| known.contains(id)).collect();
        let of_old = old_ids.iter().filter(|id| staying.contains(id));
        let of_new = new_ids.iter().filter(|id| staying.contains(id));
        if !of_old.eq(of_new) {
            // What stays changed its order: the list as a whole is another one.
            return self.replace(old, new, path, place);
        }
        // From the end, so that the numbers of what is before stay what they are.
        for (index, (id, was)) in old_ids.iter().zip(old_list).enumerate().rev() {
            if !staying.contains(id) {
                let place = place.then(identity.step(index, id));
                let path = format!("{path}/{index}");
                self.add(PatchOp::Remove, &path, &place, Some(was.clone()), None);
            }
        }
        let mut stayed = old_ids
            .iter()
            .zip(old_list)
            .filter(|(id, _)| staying.contains(id));
        for (index, (id, is)) in new_ids.iter().zip(new_list).enumerate() {
            let place = place.then(identity.step(index, id));
            let path = format!("{path}/{index}");
            match staying.contains(id).then(|| stayed.next()).flatten() {
                Some((_, was)) => self.values(was, is, &path, &place),
                None => self.add(PatchOp::Add, &path, &place, None, Some(is.clone())),
            }
        }
    }

    fn by_number(&mut self, old: &[Value], new: &[Value], path: &str, place: &Place) {
        for (index, (was, is)) in old.iter().zip(new).enumerate() {
            let place = place.then(Step::Index(index));
            self.values(was, is, &format!("{path}/{index}"), &place);
        }
        for (index, was) in old.iter().enumerate().skip(new.len()).rev() {
            let place = place.then(Step::Index(index));
            let path = format!("{path}/{index}");
            self.add(PatchOp::Remove, &path, &place, Some(was.clone()), None);
        }
        for (index, is) in new.iter().enumerate().skip(old.len()) {
            let place = place.then(Step::Index(index));
            let path = format!("{path}/{index}");
            self.add(PatchOp::Add, &path, &place, None, Some(is.clone()));
        }
    }
}

/// A field's pointer and place.
fn member(path: &str, place: &Place, name: &str) -> (String, Place) {
    let escaped = name.replace('~', "~0").replace('/', "~1");
    (
        format!("{path}/{escaped}"),
        place.then(Step::Field(name.to_owned())),
    )
}
