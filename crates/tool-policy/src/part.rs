//! What a call is made of: each thing that it does, to what, as policies see it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A file or folder is read.
    Read,
    /// A file or folder is written, created, moved or removed.
    Edit,
    /// A command is run.
    Run,
    /// Something is asked of a host.
    Fetch,
    /// A command is given a path or a host, and what it does with that is not known.
    Mention,
    /// A branch of a remote repository is changed.
    Push,
    /// A branch is created, moved or deleted here.
    Branch,
    /// The branch that is checked out is changed.
    Commit,
    /// A tool of an MCP server is called.
    Mcp,
    /// Any other tool is called.
    Other,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 10] = [
        Kind::Read,
        Kind::Edit,
        Kind::Run,
        Kind::Fetch,
        Kind::Mention,
        Kind::Push,
        Kind::Branch,
        Kind::Commit,
        Kind::Mcp,
        Kind::Other,
    ];

    /// Its name, which is that of the action in policies.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Edit => "edit",
            Kind::Run => "run",
            Kind::Fetch => "fetch",
            Kind::Mention => "mention",
            Kind::Push => "push",
            Kind::Branch => "branch",
            Kind::Commit => "commit",
            Kind::Mcp => "mcp",
            Kind::Other => "other",
        }
    }
}

/// What kind of thing it is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum Type {
    /// A file or folder.
    Path,
    /// A simple command.
    Command,
    /// A host.
    Host,
    /// A branch.
    Branch,
    /// A tool.
    Tool,
}

impl Type {
    /// Its name, which is that of the entity type in policies.
    pub fn name(self) -> &'static str {
        match self {
            Type::Path => "Path",
            Type::Command => "Command",
            Type::Host => "Host",
            Type::Branch => "Branch",
            Type::Tool => "Tool",
        }
    }
}

/// What is known of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Attribute {
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Some texts, in no order.
    Set(BTreeSet<String>),
}

/// What something is done to. An attribute that is not known is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Resource {
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub of: Type,
    /// Its name in policies (`Path::"/etc/passwd"`); for what is not known, the text that stands for it.
    pub id: String,
    /// Whether `id` is its name.
    pub is_known: bool,
    /// What is known of it.
    pub attributes: BTreeMap<&'static str, Attribute>,
}

impl Resource {
    pub(crate) fn new(of: Type, id: impl Into<String>, is_known: bool) -> Resource {
        Resource {
            of,
            id: id.into(),
            is_known,
            attributes: BTreeMap::new(),
        }
    }

    pub(crate) fn text(mut self, name: &'static str, value: impl Into<String>) -> Resource {
        self.attributes.insert(name, Attribute::Text(value.into()));
        self
    }

    pub(crate) fn flag(mut self, name: &'static str, value: bool) -> Resource {
        self.attributes.insert(name, Attribute::Flag(value));
        self
    }

    pub(crate) fn set(
        mut self,
        name: &'static str,
        values: impl IntoIterator<Item = String>,
    ) -> Resource {
        let values = values.into_iter().collect();
        self.attributes.insert(name, Attribute::Set(values));
        self
    }

    /// An attribute that is a text, if it is known.
    pub fn known_text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(Attribute::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// One thing that a call does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// What is done.
    pub kind: Kind,
    /// The action in policies: the tool's own name where the tool does it itself, or else the kind's.
    pub action: String,
    /// What it is done to.
    pub resource: Resource,
    /// Whether it has to be permitted; otherwise it only can be forbidden, since it goes with a command
    /// that has to be.
    pub needs_permission: bool,
    /// Why it cannot be allowed without asking, whatever policies say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsure: Option<String>,
}

impl Part {
    pub(crate) fn new(kind: Kind, resource: Resource) -> Part {
        Part {
            kind,
            action: kind.name().to_owned(),
            resource,
            needs_permission: !matches!(
                kind,
                Kind::Mention | Kind::Push | Kind::Branch | Kind::Commit
            ),
            unsure: None,
        }
    }

    pub(crate) fn unsure(mut self, reason: impl Into<String>) -> Part {
        self.unsure.get_or_insert_with(|| reason.into());
        self
    }

    /// The same as what a tool does by itself, under the tool's name.
    pub(crate) fn by_tool(mut self, action: &str) -> Part {
        action.clone_into(&mut self.action);
        self.needs_permission = true;
        self
    }
}

/// What a call would do, as far as that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// What it does.
    pub parts: Vec<Part>,
    /// Why it cannot be allowed without asking, whatever its parts are: what could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
}

impl Reading {
    /// Adds a part, once.
    pub(crate) fn add(&mut self, part: Part) {
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }

    pub(crate) fn doubt(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.unsure.contains(&reason) {
            self.unsure.push(reason);
        }
    }
}
