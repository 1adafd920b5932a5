//! Which event changed which place: documents are given one after the other, and what is watched is compared.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use serde_json::value::RawValue;

use super::document::{document, document_text};
use super::place::{Place, Step, scalar};
use crate::ObjectView;

/// A list with at least so many watched elements gets an index of them.
const INDEXED: usize = 8;

/// Places of a document that are watched while the object goes on. Only fields that something is watched in
/// are looked at, and of those only the ones whose text changed.
#[derive(Debug, Default)]
pub struct Watch {
    /// The whole document: whether it is there at all.
    roots: Vec<usize>,
    exists: bool,
    fields: BTreeMap<String, Field>,
}

/// A watched place whose value changed.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The number of the place, in the order in which they were given.
    pub place: usize,
    /// What was there before; none where nothing was.
    pub old: Option<&'a Value>,
    /// What is there now; none where nothing is.
    pub new: Option<&'a Value>,
}

/// A field of the document.
#[derive(Debug, Default)]
struct Field {
    text: Option<Box<RawValue>>,
    value: Option<Value>,
    watched: Node,
}

/// What is watched at a value and in it.
#[derive(Debug, Default)]
struct Node {
    places: Vec<usize>,
    below: BTreeMap<Step, Node>,
}

impl Node {
    fn add(&mut self, number: usize, steps: &[Step]) {
        match steps.split_first() {
            None => self.places.push(number),
            Some((step, rest)) => self
                .below
                .entry(step.clone())
                .or_default()
                .add(number, rest),
        }
    }

    fn compare<'a>(
        &self,
        old: Option<&'a Value>,
        new: Option<&'a Value>,
        seen: &mut dyn FnMut(Seen<'a>),
    ) {
        if old.is_none() && new.is_none() {
            return;
        }
        if !self.places.is_empty() && old != new {
            for place in &self.places {
                seen(Seen {
                    place: *place,
                    old,
                    new,
                });
            }
        }
        let (of_old, of_new) = (Elements::of(old, self), Elements::of(new, self));
        for (step, node) in &self.below {
            node.compare(of_old.find(step), of_new.find(step), seen);
        }
    }
}

/// A value whose parts are looked up, a list with an index where many of its elements are.
struct Elements<'a> {
    value: Option<&'a Value>,
    by_id: HashMap<String, &'a Value>,
}

impl<'a> Elements<'a> {
    fn of(value: Option<&'a Value>, node: &Node) -> Elements<'a> {
        let mut by_id = HashMap::new();
        let key = match node.below.first_key_value() {
            Some((Step::Item { key, .. }, _)) => Some(Some(key)),
            Some((Step::Element(_), _)) => Some(None),
            _ => None,
        };
        if let (Some(key), Some(Value::Array(list))) = (key, value)
            && node.below.len() >= INDEXED
        {
            for element in list {
                let id = match key {
                    Some(key) => element.get(key).and_then(scalar),
                    None => scalar(element),
                };
                if let Some(id) = id {
                    by_id.entry(id).or_insert(element);
                }
            }
        }
        Elements { value, by_id }
    }

    fn find(&self, step: &Step) -> Option<&'a Value> {
        match step {
            Step::Item { id, .. } | Step::Element(id) if !self.by_id.is_empty() => {
                self.by_id.get(id).copied()
            }
            step => step.find(self.value?),
        }
    }
}

impl Watch {
    /// Watches places of an object that does not exist yet.
    pub fn new<'a>(places: impl IntoIterator<Item = &'a Place>) -> Watch {
        let mut watch = Watch::default();
        for (number, place) in places.into_iter().enumerate() {
            match place.0.split_first() {
                None => watch.roots.push(number),
                Some((Step::Field(name), rest)) => watch
                    .fields
                    .entry(name.clone())
                    .or_default()
                    .watched
                    .add(number, rest),
                // A document is an object: nothing is there, and nothing ever will be.
                Some(_) => {}
            }
        }
        watch
    }

    /// Looks at the object as it is now, and gives each watched place whose value is another one than it was.
    /// Of the whole document that is whether the object exists.
    ///
    /// # Errors
    /// serde_json's; for a view that came out of a fold there are none.
    pub fn see(
        &mut self,
        view: Option<&ObjectView>,
        mut seen: impl FnMut(Seen<'_>),
    ) -> Result<(), serde_json::Error> {
        let text = view.map(document_text).transpose()?;
        let mut now: BTreeMap<String, &RawValue> = match &text {
            Some(text) => serde_json::from_str(text)?,
            None => BTreeMap::new(),
        };
        if self.exists != text.is_some() {
            self.exists = text.is_some();
            let (empty, exists) = (Value::Object(serde_json::Map::new()), self.exists);
            for place in &self.roots {
                seen(Seen {
                    place: *place,
                    old: (!exists).then_some(&empty),
                    new: exists.then_some(&empty),
                });
            }
        }
        for (name, field) in &mut self.fields {
            let now = now.remove(name);
            if field.text.as_deref().map(RawValue::get) != now.map(RawValue::get) {
                let value = match now.map(|text| serde_json::from_str(text.get())) {
                    None => None,
                    Some(Ok(value)) => Some(value),
                    // It is deeper than a parser goes by itself.
                    Some(Err(_)) => document(view)?.get(name).cloned(),
                };
                field.becomes(now, value, &mut seen);
            }
        }
        Ok(())
    }
}

impl Field {
    fn becomes(
        &mut self,
        text: Option<&RawValue>,
        value: Option<Value>,
        seen: &mut dyn FnMut(Seen<'_>),
    ) {
        self.watched
            .compare(self.value.as_ref(), value.as_ref(), &mut |it| seen(it));
        self.text = text.map(ToOwned::to_owned);
        self.value = value;
    }
}
