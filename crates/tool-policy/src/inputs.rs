//! What a policy looks at, by its text: all that its answer can depend on.
//!
//! Policies that look at little are asked seldom: for two parts in which that is the same they say the
//! same. What is not understood here counts as all there is.

use std::collections::BTreeSet;

use serde_json::Value;

/// What some policies look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Inputs {
    /// The attributes that they name, of whatever it is.
    pub(crate) attributes: BTreeSet<String>,
    /// Whether they ask who calls.
    pub(crate) principal: bool,
    /// Whether they ask for the action; that of the scope does not count, see [`Inputs::of`].
    pub(crate) action: bool,
    /// Whether they ask which resource it is, and not only for its attributes.
    pub(crate) resource: bool,
    /// Whether they ask for what is around the call.
    pub(crate) context: bool,
    /// Whether they look at what is not understood.
    pub(crate) all: bool,
}

/// Attributes of which there are few values, so that what was found is found again. All others are
/// different in nearly every part.
const FEW_VALUES: [&str; 14] = [
    "code",
    "deletes",
    "extension",
    "force",
    "host",
    "inside",
    "options",
    "piped",
    "program",
    "protected_by",
    "remote",
    "scheme",
    "server",
    "via",
];

impl Inputs {
    /// What a policy looks at, whose JSON this is. The action of its scope is left to the caller, who
    /// asks it only about actions that are in it.
    pub(crate) fn of(policy: &Value, names: &BTreeSet<String>) -> Inputs {
        let mut inputs = Inputs::default();
        let op = |part: &str| policy.get(part)?.get("op")?.as_str();
        inputs.principal = op("principal") != Some("All");
        // The type of a resource is always looked at.
        let is_of_type = op("resource") == Some("is")
            && policy
                .get("resource")
                .is_some_and(|it| it.get("in").is_none());
        inputs.resource = !is_of_type && op("resource") != Some("All");
        match policy.get("conditions") {
            Some(conditions) => inputs.walk(conditions),
            None => inputs.all = true,
        }
        // A thing that is named may be the resource, whose attributes are then looked at by its name.
        let is_named = |types: &[&str]| types.iter().any(|it| names.contains(*it));
        inputs.resource |= is_named(&["Path", "Command", "Host", "Branch", "Tool"]);
        inputs.principal |= is_named(&["Agent", "Session"]);
        inputs
    }

    fn walk(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.field(name, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            _ => {}
        }
    }

    fn field(&mut self, name: &str, value: &Value) {
        match (name, value) {
            ("Var", Value::String(name)) => self.variable(name),
            ("." | "has", value) => {
                let attribute = value.get("attr").and_then(Value::as_str);
                let (Some(attribute), Some(of)) = (attribute, value.get("left")) else {
                    self.all = true;
                    return self.walk(value);
                };
                self.attributes.insert(attribute.to_owned());
                if !is_resource(of) {
                    self.walk(of);
                }
            }
            ("is", value) => {
                let is_type_alone = value.get("in").is_none();
                if !(is_type_alone && value.get("left").is_some_and(is_resource)) {
                    self.walk(value);
                }
            }
            ("__entity", value) => {
                self.action |= value.get("type").and_then(Value::as_str) == Some("Action");
            }
            (_, value) => self.walk(value),
        }
    }

    fn variable(&mut self, name: &str) {
        match name {
            "principal" => self.principal = true,
            "action" => self.action = true,
            "resource" => self.resource = true,
            "context" => self.context = true,
            _ => self.all = true,
        }
    }

    /// Whether they look at an attribute of a resource.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.all || self.attributes.contains(attribute)
    }

    /// Whether nearly every part differs in what they look at.
    pub(crate) fn is_wide(&self) -> bool {
        let is_few = |it: &String| FEW_VALUES.contains(&it.as_str());
        self.all || self.resource || !self.attributes.iter().all(is_few)
    }

    /// What these and those look at.
    pub(crate) fn or(mut self, others: Inputs) -> Inputs {
        self.attributes.extend(others.attributes);
        self.principal |= others.principal;
        self.action |= others.action;
        self.resource |= others.resource;
        self.context |= others.context;
        self.all |= others.all;
        self
    }
}

fn is_resource(value: &Value) -> bool {
    value.get("Var").and_then(Value::as_str) == Some("resource")
}

#[cfg(test)]
mod tests {
    use cedar_policy::Policy;

    use super::*;

    fn inputs(text: &str) -> (Vec<String>, String) {
        let policy = Policy::parse(None, text).expect(text);
        let literals = policy.entity_literals();
        let names = literals.iter().map(|it| it.type_name().to_string());
        let json = policy.to_json().expect("it has a form as JSON");
        let found = Inputs::of(&json, &names.collect());
        let flags = [
            ('p', found.principal),
            ('a', found.action),
            ('r', found.resource),
            ('c', found.context),
            ('*', found.all),
        ];
        let flags = flags.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag);
        let flags = flags.collect();
        (found.attributes.into_iter().collect(), flags)
    }

    #[test]
    fn what_a_policy_looks_at_is_found() {
        for (scope, when, attributes, flags) in [
            ("principal, action, resource", "", vec![], ""),
            (
                "principal, action in Action::\"run\", resource is Command",
                "when { resource.program == \"git\" }",
                vec!["program"],
                "",
            ),
            (
                "principal in Agent::\"a\", action, resource",
                "unless { [\"a\"].contains(resource.name) || resource has path }",
                vec!["name", "path"],
                "p",
            ),
            ("principal is Agent, action, resource", "", vec![], "p"),
            (
                "principal, action, resource == Path::\"/a\"",
                "",
                vec![],
                "r",
            ),
            (
                "principal, action, resource",
                "when { context.mode == \"plan\" }",
                vec!["mode"],
                "c",
            ),
            (
                "principal, action, resource",
                "when { context has mode && context.mode like \"*\" }",
                vec!["mode"],
                "c",
            ),
            (
                "principal, action, resource",
                "when { action in Action::\"run\" }",
                vec![],
                "a",
            ),
            (
                "principal, action, resource",
                "when { Action::\"Bash\" in [Action::\"run\"] }",
                vec![],
                "a",
            ),
            (
                "principal, action, resource",
                "when { Path::\"/a\".inside }",
                vec!["inside"],
                "r",
            ),
            (
                "principal, action, resource",
                "when { {\"x\": resource}.x.path == \"a\" }",
                vec!["path", "x"],
                "r",
            ),
            (
                "principal, action, resource",
                "when { (if resource is Path then resource else Path::\"/b\").path == \"a\" }",
                vec!["path"],
                "r",
            ),
            (
                "principal, action, resource",
                "when { principal in Agent::\"a\" && resource.segments.containsAny([\"a\"]) }",
                vec!["segments"],
                "p",
            ),
            (
                "principal, action, resource",
                "when { {\"Var\": principal, \".\": 3}.Var == principal }",
                vec!["Var"],
                "p*",
            ),
            (
                "principal, action, resource",
                "when { resource.hasTag(\"a\") }",
                vec![],
                "r",
            ),
        ] {
            let text = format!("permit ({scope}) {when};");
            let (found, found_flags) = inputs(&text);
            assert_eq!(
                (found, found_flags.as_str()),
                (
                    attributes.iter().map(|it| (*it).to_owned()).collect(),
                    flags
                ),
                "{text}"
            );
        }
    }
}
