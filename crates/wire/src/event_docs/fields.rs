//! The fields of events, read from their JSON Schemas.

use serde_json::{Map, Value};

use super::schema::{EventSchema, definition_name, description};
use super::{EventDoc, FieldDoc, Part, words};

/// Reads schemas that refer to definitions.
pub(super) struct Reader<'a> {
    definitions: &'a Map<String, Value>,
}

/// The type of a value, as the documentation names it.
struct Type {
    kind: String,
    part: Part,
    words: Option<String>,
}

impl Type {
    fn new(kind: impl Into<String>, part: Part) -> Type {
        Type {
            kind: kind.into(),
            part,
            words: None,
        }
    }

    fn optional(mut self) -> Type {
        self.kind.push('?');
        self
    }

    fn list(self) -> Type {
        let (kind, part) = match self.part {
            Part::Group(fields) => (plural(&self.kind), Part::Groups(fields)),
            part => (self.kind, part),
        };
        Type {
            kind: format!("list of {kind}"),
            part,
            words: self.words,
        }
    }

    /// A pair and its like. One with content is content, and one with a name is a name.
    fn tuple(parts: Vec<Type>) -> Type {
        let has = |part| parts.iter().any(|of| of.part == part);
        let part = match (has(Part::Content), has(Part::Name)) {
            (true, _) => Part::Content,
            (false, true) => Part::Name,
            (false, false) => Part::Structure,
        };
        let kinds: Vec<&str> = parts.iter().map(|part| part.kind.as_str()).collect();
        Type::new(format!("({})", kinds.join(", ")), part)
    }
}

fn plural(noun: &str) -> String {
    match noun.ends_with('s') {
        true => format!("{noun}es"),
        false => format!("{noun}s"),
    }
}

impl<'a> Reader<'a> {
    /// A reader of schemas that refer to these definitions.
    pub(super) fn new(definitions: &'a Map<String, Value>) -> Reader<'a> {
        Reader { definitions }
    }

    /// The documentation of an event.
    pub(super) fn event(&self, event: &EventSchema) -> EventDoc {
        let schema = Value::Object(event.fields.clone());
        EventDoc {
            event_type: event.event_type,
            version: event.version,
            meaning: description(&schema),
            fields: self.fields(&schema),
        }
    }

    /// The fields of a struct. All of them are required, in the order in which they are stored.
    fn fields(&self, schema: &Value) -> Vec<FieldDoc> {
        let names = schema.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        let field = |name: &str| {
            let schema = schema.get("properties")?.get(name)?;
            let Type { kind, part, words } = self.type_of(schema);
            Some(FieldDoc {
                name: name.to_owned(),
                kind,
                part,
                words,
                meaning: description(schema),
            })
        };
        names.filter_map(field).collect()
    }

    fn type_of(&self, schema: &Value) -> Type {
        if let Some(name) = definition_name(schema) {
            return self.named(name);
        }
        if let Some([of, null]) = list_of(schema, "anyOf")
            && null.get("type").is_some_and(|null| null == "null")
        {
            return self.type_of(of).optional();
        }
        match list_of(schema, "type") {
            Some([of, null]) if null == "null" => self.simple(schema, of).optional(),
            _ => self.simple(schema, schema.get("type").unwrap_or(&Value::Null)),
        }
    }

    /// A type that has a definition: an enum, an id, content, or a group of fields.
    fn named(&self, name: &str) -> Type {
        let definition = self.definitions.get(name).unwrap_or(&Value::Null);
        let title = definition.get("title").and_then(Value::as_str);
        let title = title.unwrap_or(name);
        if has_part(definition, "content") {
            return Type::new(title, Part::Content);
        }
        if words::is_vocabulary(definition) {
            return Type {
                words: Some(name.to_owned()),
                ..Type::new("word", Part::Structure)
            };
        }
        if definition.get("properties").is_some() {
            return Type::new(title, Part::Group(self.fields(definition)));
        }
        match name {
            "GitOid" => Type::new("git id", Part::Structure),
            "IntegrityHash" => Type::new("SHA-256", Part::Structure),
            "Timestamp" => Type::new("time", Part::Structure),
            _ => self.type_of(definition),
        }
    }

    fn simple(&self, schema: &Value, name: &Value) -> Type {
        let format = schema.get("format").and_then(Value::as_str);
        let kind = match (name.as_str(), format) {
            (Some("array"), _) => return self.array(schema),
            (Some("string"), None) => return text(schema),
            (Some("string"), Some("uuid")) => "uuid",
            (Some("boolean"), _) => "bool",
            (Some("integer"), Some("uint8")) => "u8",
            (Some("integer"), Some("uint16")) => "u16",
            (Some("integer"), Some("uint32")) => "u32",
            (Some("integer"), Some("uint64")) => "u64",
            (Some("integer"), Some("int32")) => "i32",
            (Some("number"), Some("double")) => "f64",
            // A test fails where a field has such a type.
            _ => "unknown",
        };
        Type::new(kind, Part::Structure)
    }

    fn array(&self, schema: &Value) -> Type {
        match (schema.get("items"), list_of(schema, "prefixItems")) {
            (_, Some(parts)) => Type::tuple(parts.iter().map(|part| self.type_of(part)).collect()),
            (Some(items), None) => self.type_of(items).list(),
            (None, None) => Type::new("unknown", Part::Structure),
        }
    }
}

/// A text in a structure is a name, unless its field says that it stays.
fn text(schema: &Value) -> Type {
    match has_part(schema, "structure") {
        true => Type::new("text", Part::Structure),
        false => Type::new("text", Part::Name),
    }
}

fn has_part(schema: &Value, part: &str) -> bool {
    schema.get("x-part").is_some_and(|found| found == part)
}

fn list_of<'v>(schema: &'v Value, member: &str) -> Option<&'v [Value]> {
    schema.get(member)?.as_array().map(Vec::as_slice)
}
