//! The arguments of a tool call, each as far as it is what is expected.

use annals_domain::Ordered;
use serde_json::Value;

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    members: Vec<(String, Value)>,
    /// What the call was given, where that is one text.
    whole: Option<String>,
}

impl Arguments {
    /// Reads the JSON of a call's arguments. Some agents write it as a text in a text; one that is no JSON is the
    /// tool's whole input.
    pub(super) fn read(json: Option<&str>) -> Arguments {
        let Some(json) = json else {
            return Arguments::default();
        };
        if let Ok(members) = serde_json::from_str::<Ordered<Value>>(json) {
            return Arguments {
                members: members.0,
                whole: None,
            };
        }
        let text = match serde_json::from_str(json) {
            Ok(Value::String(text)) => text,
            Ok(Value::Null) => return Arguments::default(),
            _ => json.to_owned(),
        };
        match serde_json::from_str::<Ordered<Value>>(&text) {
            Ok(members) => Arguments {
                members: members.0,
                whole: None,
            },
            Err(_) => Arguments {
                members: Vec::new(),
                whole: Some(text),
            },
        }
    }

    /// The text that the call was given, where that is all.
    pub(super) fn whole(&self) -> Option<&str> {
        self.whole.as_deref()
    }

    pub(super) fn members(&self) -> &[(String, Value)] {
        &self.members
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value)
    }

    /// The first of these that is there.
    pub(super) fn any(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The first of these that is a text with something in it.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        let mut texts = names.iter().filter_map(|name| self.get(name)?.as_str());
        texts.find(|text| !text.trim().is_empty())
    }

    /// The first of these that is a text, be it empty.
    pub(super) fn content(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name)?.as_str())
    }

    /// The first of these that is a whole number, also as a text.
    pub(super) fn number(&self, names: &[&str]) -> Option<i64> {
        names.iter().find_map(|name| whole_number(self.get(name)?))
    }

    /// Whether one of these is true.
    pub(super) fn is_set(&self, names: &[&str]) -> bool {
        let mut set = names.iter().filter_map(|name| self.get(name)?.as_bool());
        set.any(|set| set)
    }

    /// The first of these that is a list.
    pub(super) fn list(&self, names: &[&str]) -> Option<&[Value]> {
        let list = names.iter().find_map(|name| self.get(name)?.as_array());
        list.map(Vec::as_slice)
    }
}

/// A whole number, or a text that is one.
pub(super) fn whole_number(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_str()?.trim().parse().ok())
}
