//! Policies as they are parsed: their names, what they say when they match, and what Cedar finds
//! wrong with them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use cedar_policy::ffi::DetailedError;
use cedar_policy::{
    ActionConstraint, Effect, Policy, PolicyId, PolicySet, Schema, ValidationError, ValidationMode,
    Validator,
};
use serde_json::Value;

use crate::part::Kind;
use crate::source::{self, Piece, PolicyError};
use crate::verdict::{Rule, Verdict};

/// The schema of policies over tool calls.
pub const SCHEMA: &str = include_str!("policies.cedarschema");

/// Annotations that mean something.
const ANNOTATIONS: [&str; 5] = ["ask", "default", "id", "note", "reason"];

/// The attributes that the schema promises, and that are not there if they are not known.
const ATTRIBUTES: [&str; 25] = [
    "args",
    "code",
    "deletes",
    "extension",
    "folded",
    "force",
    "host",
    "inside",
    "name",
    "options",
    "path",
    "piped",
    "program",
    "relative",
    "remote",
    "scheme",
    "segments",
    "server",
    "sets",
    "subcommand",
    "text",
    "tool",
    "url",
    "via",
    "agent",
];

/// A policy that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) rule: Arc<Rule>,
    pub(crate) policy: Policy,
    /// The types of which it names single things.
    pub(crate) names: BTreeSet<String>,
}

/// The policies of one round.
#[derive(Debug, Default)]
pub(crate) struct Round {
    policies: Vec<(Arc<Rule>, Policy)>,
    /// Those that can match an action, for each that was asked about: made once.
    by_action: HashMap<String, OnceLock<Option<Sets>>>,
    /// The types of which policies name single things, and those policies.
    pub(crate) naming: HashMap<String, Vec<Arc<Rule>>>,
    /// The kinds that it can forbid or ask about.
    pub(crate) objects: BTreeSet<Kind>,
}

/// The policies of a round that can match an action.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    /// Those that permit and forbid.
    pub(crate) plain: PolicySet,
    /// Those that ask, each as one that permits, so that Cedar names all that match.
    pub(crate) asks: PolicySet,
}

/// The schema, which is parsed once in a process.
pub(crate) fn schema() -> Option<&'static Schema> {
    static PARSED: OnceLock<Option<Schema>> = OnceLock::new();
    PARSED.get_or_init(|| SCHEMA.parse().ok()).as_ref()
}

fn validator() -> Option<&'static Validator> {
    static MADE: OnceLock<Option<Validator>> = OnceLock::new();
    MADE.get_or_init(|| schema().cloned().map(Validator::new))
        .as_ref()
}

/// Parses the policies of a file, and checks each of them against the schema.
pub(crate) fn parse(file: &str, text: &str, errors: &mut Vec<PolicyError>) -> Vec<Parsed> {
    let mut parsed = Vec::new();
    for piece in source::pieces(text) {
        match one(file, text, piece) {
            Ok(policy) => parsed.push(policy),
            Err(found) => errors.extend(found),
        }
    }
    parsed
}

fn one(file: &str, text: &str, piece: Piece<'_>) -> Result<Parsed, Vec<PolicyError>> {
    let wrong = |line: usize, rule: Option<&str>, reason: String| PolicyError {
        file: file.to_owned(),
        line,
        rule: rule.map(str::to_owned),
        reason,
    };
    let policy = Policy::parse(Some(PolicyId::new("policy")), piece.text).map_err(|errors| {
        let detailed = DetailedError::from(&errors);
        let all = std::iter::once(&detailed).chain(&detailed.related);
        let said = all.map(|error| source::said(error, text, piece));
        said.map(|(line, reason)| wrong(line, None, reason))
            .collect::<Vec<_>>()
    })?;
    let id = match policy.annotation("id") {
        Some(id) if !id.trim().is_empty() => id.to_owned(),
        _ => format!("{file}:{}", piece.line),
    };
    let here = |reason: String| vec![wrong(piece.line, Some(&id), reason)];
    let rule = described(&policy, &id, file, piece.line).map_err(here)?;
    let json = policy.to_json().map_err(|error| here(error.to_string()))?;
    if let Some(name) = tested_for(&json) {
        return Err(here(format!(
            "`has {name}` tells nothing: {name} is always there, and a call in which it is not known \
             is asked about; leave it out"
        )));
    }
    let policy = policy.new_id(PolicyId::new(&id));
    let found = validated(&policy, text, piece);
    if !found.is_empty() {
        let all = found.into_iter();
        return Err(all
            .map(|(line, reason)| wrong(line, Some(&id), reason))
            .collect());
    }
    let names = policy
        .entity_literals()
        .iter()
        .map(|uid| uid.type_name().to_string())
        .collect();
    let policy = match rule.verdict {
        Verdict::Ask => permitting(json, &id).map_err(here)?,
        _ => policy,
    };
    Ok(Parsed {
        rule: Arc::new(rule),
        policy,
        names,
    })
}

/// What a policy says when it matches, by its effect and annotations.
fn described(policy: &Policy, id: &str, file: &str, line: usize) -> Result<Rule, String> {
    if let Some((name, _)) = policy
        .annotations()
        .find(|(name, _)| !ANNOTATIONS.contains(name))
    {
        let known = ANNOTATIONS.map(|it| format!("@{it}")).join(", ");
        return Err(format!(
            "unknown annotation @{name}: expected one of {known}"
        ));
    }
    let ask = policy.annotation("ask");
    let default = policy.annotation("default");
    if default.is_some_and(|value| !value.is_empty()) {
        return Err(
            "@default takes no value: the policy's effect says what is the default".to_owned(),
        );
    }
    let verdict = match (ask, policy.effect()) {
        (Some(_), _) => Verdict::Ask,
        (None, Effect::Permit) => Verdict::Allow,
        (None, Effect::Forbid) => Verdict::Deny,
    };
    let reason = policy
        .annotation("reason")
        .or(ask)
        .filter(|text| !text.trim().is_empty());
    Ok(Rule {
        id: id.to_owned(),
        verdict,
        is_default: default.is_some(),
        reason: reason.map(str::to_owned),
        file: file.to_owned(),
        line,
    })
}

fn validated(policy: &Policy, text: &str, piece: Piece<'_>) -> Vec<(usize, String)> {
    let Some(validator) = validator() else {
        return vec![(
            piece.line,
            "the schema of policies cannot be read".to_owned(),
        )];
    };
    let set = match PolicySet::from_policies([policy.clone()]) {
        Ok(set) => set,
        Err(error) => return vec![(piece.line, error.to_string())],
    };
    let result = validator.validate(&set, ValidationMode::Strict);
    // What follows from a mistake is not said beside it.
    let follows =
        |error: &&ValidationError| matches!(error, ValidationError::InvalidActionApplication(_));
    let errors: Vec<&ValidationError> = result.validation_errors().collect();
    let is_alone = errors.iter().all(&follows);
    let errors = errors
        .into_iter()
        .filter(|error| is_alone || !follows(error));
    let mut errors: Vec<DetailedError> = errors.map(DetailedError::from).collect();
    if errors.is_empty() {
        // A rule that never matches, or one whose text is not what it looks like.
        errors.extend(result.validation_warnings().map(DetailedError::from));
    }
    let mut found: Vec<(usize, String)> = errors
        .into_iter()
        .map(|error| source::said(&error, text, piece))
        .map(|(line, reason)| (line, without_id(&reason, policy)))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Cedar's messages begin with the policy's id, which is said already.
fn without_id(reason: &str, policy: &Policy) -> String {
    let begin = format!("for policy `{}`, ", policy.id());
    reason.replace(&begin, "")
}

/// A policy that asks, as one that permits.
fn permitting(mut json: Value, id: &str) -> Result<Policy, String> {
    if let Some(effect) = json.get_mut("effect") {
        *effect = Value::from("permit");
    }
    Policy::from_json(Some(PolicyId::new(id)), json).map_err(|error| error.to_string())
}

/// An attribute for which a policy tests whether it is there.
fn tested_for(json: &Value) -> Option<&str> {
    let mut rest = vec![json];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                let attribute = fields.get("has").and_then(|has| has.get("attr")?.as_str());
                if let Some(name) = attribute.filter(|name| ATTRIBUTES.contains(name)) {
                    return Some(name);
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    None
}

impl Round {
    /// The policies of a round. Their ids are all different.
    pub(crate) fn of<'a>(policies: impl Iterator<Item = &'a Parsed>) -> Round {
        let mut round = Round::default();
        for parsed in policies {
            for name in &parsed.names {
                let naming = round.naming.entry(name.clone()).or_default();
                naming.push(Arc::clone(&parsed.rule));
            }
            if parsed.rule.verdict != Verdict::Allow {
                round.objects.extend(kinds(&parsed.policy));
            }
            let policy = (Arc::clone(&parsed.rule), parsed.policy.clone());
            round.policies.push(policy);
        }
        let actions = schema().into_iter().flat_map(Schema::actions);
        let named = actions.map(|uid| (uid.id().unescaped().to_owned(), OnceLock::new()));
        round.by_action = named.collect();
        round
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// The policies that can match an action, which is in these groups; none, if there is no such action.
    pub(crate) fn sets(&self, action: &str, groups: &[String]) -> Option<&Sets> {
        let made = self.by_action.get(action)?.get_or_init(|| {
            let mut sets = Sets::default();
            for (rule, policy) in self
                .policies
                .iter()
                .filter(|(_, it)| covers(it, action, groups))
            {
                let set = match rule.verdict {
                    Verdict::Ask => &mut sets.asks,
                    Verdict::Allow | Verdict::Deny => &mut sets.plain,
                };
                set.add(policy.clone()).ok()?;
            }
            Some(sets)
        });
        made.as_ref()
    }
}

/// Whether a policy is of an action, by its scope.
fn covers(policy: &Policy, action: &str, groups: &[String]) -> bool {
    let is_it = |name: &str| name == action || groups.iter().any(|group| group == name);
    match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(uid) => uid.id().unescaped() == action,
        ActionConstraint::In(uids) => uids.iter().any(|uid| is_it(uid.id().unescaped())),
    }
}

/// The kinds of which a policy can be. A tool's own action is of no kind that goes with a command.
fn kinds(policy: &Policy) -> Vec<Kind> {
    let named: Vec<String> = match policy.action_constraint() {
        ActionConstraint::Any => return Kind::ALL.to_vec(),
        ActionConstraint::In(uids) => uids
            .iter()
            .map(|uid| uid.id().unescaped().to_owned())
            .collect(),
        ActionConstraint::Eq(uid) => vec![uid.id().unescaped().to_owned()],
    };
    let is_named = |kind: &Kind| named.iter().any(|name| name == kind.name());
    Kind::ALL.into_iter().filter(is_named).collect()
}
