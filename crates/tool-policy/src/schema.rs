//! The schema of policies over tool calls, and whether a policy fits it.
//!
//! To check a policy takes as long as there are actions, and most of them are tools that do the same:
//! a policy tells two tools of a kind apart only by naming one of them. So it is checked against a
//! schema that has the kinds, one tool of each that no policy names, and those that are named.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use cedar_policy::{Policy, PolicySet, Schema, ValidationMode, ValidationResult, Validator};
use serde_json::Value;

/// The schema of policies over tool calls.
pub const SCHEMA: &str = include_str!("policies.cedarschema");

/// The same as JSON, which Cedar reads in a fraction of the time.
const JSON: &str = include_str!("policies.schema.json");

/// Checks policies.
pub(crate) struct Checker {
    small: Option<Validator>,
}

impl Checker {
    /// For these policies and no others.
    pub(crate) fn of<'a>(policies: impl Iterator<Item = &'a Policy>) -> Checker {
        let named = policies.flat_map(Policy::entity_literals);
        let named = named.filter(|uid| uid.type_name().basename() == "Action");
        let named = named.map(|uid| uid.id().unescaped().to_owned());
        Checker {
            small: small(&named.collect()).map(Validator::new),
        }
    }

    /// What is wrong with a policy; none, if there is no schema to check it against.
    pub(crate) fn check(&self, policy: &Policy) -> Option<ValidationResult> {
        let set = PolicySet::from_policies([policy.clone()]).ok()?;
        let small = self.small.as_ref();
        let fits = |found: &ValidationResult| {
            found.validation_passed() && found.validation_warnings().next().is_none()
        };
        let found = small.map(|small| small.validate(&set, ValidationMode::Strict));
        match found.filter(fits) {
            Some(found) => Some(found),
            // What is said of it is said as of the whole schema.
            None => Some(whole()?.validate(&set, ValidationMode::Strict)),
        }
    }
}

/// The whole schema, which is read once in a process, and only if it is needed.
fn whole() -> Option<&'static Validator> {
    static MADE: OnceLock<Option<Validator>> = OnceLock::new();
    let made = MADE.get_or_init(|| Schema::from_json_str(JSON).ok().map(Validator::new));
    made.as_ref()
}

/// The schema with the kinds, the actions that are named, and one more of each kind.
fn small(named: &BTreeSet<String>) -> Option<Schema> {
    let mut json: Value = serde_json::from_str(JSON).ok()?;
    let actions = json.get_mut("")?.get_mut("actions")?.as_object_mut()?;
    let mut kinds_with_one: BTreeSet<String> = BTreeSet::new();
    actions.retain(|name, action| match kind_of(action) {
        Some(_) if named.contains(name) => true,
        Some(kind) => kinds_with_one.insert(kind.to_owned()),
        None => true,
    });
    Schema::from_json_value(json).ok()
}

/// The kind that a tool's action is in; none, if it is that of a kind.
fn kind_of(action: &Value) -> Option<&str> {
    action.get("memberOf")?.get(0)?.get("id")?.as_str()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cedar_policy::SchemaFragment;

    use super::*;
    use crate::tools;

    #[test]
    fn the_json_is_that_of_the_schema() {
        let (fragment, _) = SchemaFragment::from_cedarschema_str(SCHEMA).expect("it is a schema");
        let made = fragment.to_json_value().expect("it has a form as JSON");
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policies.schema.json");
            let text = serde_json::to_string_pretty(&made).expect("it is JSON");
            std::fs::write(path, text + "\n").expect("it is written");
            return;
        }
        let kept: Value = serde_json::from_str(JSON).expect("it is JSON");
        assert_eq!(kept, made, "UPDATE_GOLDENS=1 writes it");
    }

    #[test]
    fn the_actions_are_the_kinds_and_the_tools() {
        let schema: Schema = SCHEMA.parse().expect("it is a schema");
        let all = schema.action_entities().expect("it has actions");
        let mut found: Vec<(String, Vec<String>)> = all
            .iter()
            .map(|entity| {
                let uid = entity.uid();
                let groups = all.ancestors(&uid).into_iter().flatten();
                let groups = groups.map(|uid| uid.id().unescaped().to_owned());
                (uid.id().unescaped().to_owned(), groups.collect())
            })
            .collect();
        found.sort();
        let mut expected: Vec<(String, Vec<String>)> = tools::actions()
            .map(|(kind, name)| {
                let groups = (name != kind.name()).then(|| kind.name().to_owned());
                (name.to_owned(), groups.into_iter().collect())
            })
            .collect();
        expected.sort();
        assert_eq!(found, expected);
    }

    /// Each policy is found right or wrong by the small schema as it is by the whole one.
    #[test]
    fn the_small_schema_says_what_the_whole_one_says() {
        let scopes = [
            "principal, action, resource",
            "principal, action in Action::\"run\", resource",
            "principal, action == Action::\"run\", resource",
            "principal, action == Action::\"Bash\", resource",
            "principal, action in [Action::\"Edit\", Action::\"read\"], resource",
            "principal, action in [Action::\"Edit\", Action::\"shell\"], resource is Path",
            "principal, action == Action::\"nothing\", resource",
            "principal is Session, action in Action::\"fetch\", resource",
            "principal == Session::\"a\", action in Action::\"push\", resource == Path::\"/a\"",
        ];
        let conditions = [
            "",
            "when { resource.program == \"a\" }",
            "when { resource.program == 1 }",
            "when { resource.nothing }",
            "when { resource.inside }",
            "when { action == Action::\"run\" && resource.nothing }",
            "when { action != Action::\"run\" && resource.nothing }",
            "when { action == Action::\"Bash\" || resource.nothing }",
            "when { !(action in [Action::\"Bash\", Action::\"shell\"]) && resource.nothing }",
            "when { action in Action::\"read\" && resource.inside }",
            "when { action == Action::\"Glob\" && resource.inside }",
            "when { action != Action::\"nothing\" }",
            "when { resource is Path && resource.inside }",
            "when { context.mode == \"a\" }",
            "when { context has mode && context.mode == \"a\" }",
            "when { principal is Agent && principal in Agent::\"a\" }",
            "when { false }",
        ];
        let whole = Validator::new(Schema::from_json_str(JSON).expect("it is a schema"));
        let (mut right, mut wrong) = (0, 0);
        for scope in scopes {
            for condition in conditions {
                let text = format!("permit ({scope}) {condition};");
                let policy = Policy::parse(None, &text).expect(&text);
                let checker = Checker::of(std::iter::once(&policy));
                let set = PolicySet::from_policies([policy]).expect("it is one");
                let fits = |validator: &Validator| {
                    let found = validator.validate(&set, ValidationMode::Strict);
                    found.validation_passed() && found.validation_warnings().next().is_none()
                };
                let small = checker.small.as_ref().expect("there is a small schema");
                assert_eq!(fits(small), fits(&whole), "{text}");
                match fits(&whole) {
                    true => right += 1,
                    false => wrong += 1,
                }
            }
        }
        assert!(right > 20 && wrong > 60, "{right} right, {wrong} wrong");
    }
}
