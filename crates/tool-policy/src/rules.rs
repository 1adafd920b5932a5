//! Policies as they are parsed: their names, what they say when they match, and what Cedar finds
//! wrong with them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use cedar_policy::ffi::DetailedError;
use cedar_policy::{ActionConstraint, Effect, Policy, PolicyId, ValidationError};
use serde_json::Value;

use crate::inputs::Inputs;
use crate::part::Kind;
use crate::request::Group;
use crate::schema::Checker;
use crate::source::{self, Piece, PolicyError};
use crate::tools;
use crate::verdict::{Rule, Verdict};

/// Annotations that mean something.
const ANNOTATIONS: [&str; 5] = ["ask", "default", "id", "note", "reason"];

/// The attributes that the schema promises, and that are not there if they are not known.
const ATTRIBUTES: [&str; 26] = [
    "agent",
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
    "protected_by",
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
];

/// A policy that can be asked.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) rule: Arc<Rule>,
    pub(crate) policy: Policy,
    /// The types of which it names single things.
    pub(crate) names: BTreeSet<String>,
}

/// The policies of one round.
#[derive(Debug, Default)]
pub(crate) struct Round {
    policies: Vec<Askable>,
    /// Those that can match an action: made when it is first asked about.
    by_action: HashMap<&'static str, (Kind, OnceLock<Option<Asked>>)>,
    /// The kinds that it can forbid or ask about.
    pub(crate) objects: BTreeSet<Kind>,
}

/// A policy, and what it is asked as.
#[derive(Debug)]
struct Askable {
    parsed: Parsed,
    form: OnceLock<Option<Form>>,
}

/// A policy as it is asked.
#[derive(Debug)]
struct Form {
    policy: Policy,
    inputs: Inputs,
}

/// A policy as it is asked, and the rule that it is.
pub(crate) type AsRule = (Policy, Arc<Rule>);

/// The policies of a round that can match an action.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Each policy is in one of them.
    pub(crate) groups: Vec<Group>,
    /// Those that name single things, and the types of these.
    pub(crate) naming: Vec<(BTreeSet<String>, Arc<Rule>)>,
}

/// Parses the policies of files, and checks each of them against the schema.
pub(crate) fn parse(files: &[(&str, &str)], errors: &mut Vec<PolicyError>) -> Vec<Parsed> {
    let pieces = files.iter().flat_map(|(file, text)| {
        let pieces = source::pieces(text).into_iter();
        pieces.map(move |piece| Written { file, text, piece })
    });
    let read: Vec<(Written<'_>, Result<Policy, Vec<PolicyError>>)> =
        pieces.map(|written| (written, written.policy())).collect();
    let checker = Checker::of(read.iter().filter_map(|(_, read)| read.as_ref().ok()));
    let mut parsed = Vec::new();
    for (written, read) in read {
        match read.and_then(|policy| written.checked(&policy, &checker)) {
            Ok(policy) => parsed.push(policy),
            Err(found) => errors.extend(found),
        }
    }
    parsed
}

/// A policy as it is written.
#[derive(Debug, Clone, Copy)]
struct Written<'a> {
    file: &'a str,
    /// All of the file.
    text: &'a str,
    piece: Piece<'a>,
}

impl Written<'_> {
    fn wrong(&self, line: usize, rule: Option<&str>, reason: String) -> PolicyError {
        PolicyError {
            file: self.file.to_owned(),
            line,
            rule: rule.map(str::to_owned),
            reason,
        }
    }

    fn policy(&self) -> Result<Policy, Vec<PolicyError>> {
        let id = PolicyId::new("policy");
        Policy::parse(Some(id), self.piece.text).map_err(|errors| {
            let detailed = DetailedError::from(&errors);
            let all = std::iter::once(&detailed).chain(&detailed.related);
            let said = all.map(|error| source::said(error, self.text, self.piece));
            said.map(|(line, reason)| self.wrong(line, None, reason))
                .collect()
        })
    }

    fn checked(&self, policy: &Policy, checker: &Checker) -> Result<Parsed, Vec<PolicyError>> {
        let Written { file, text, piece } = *self;
        let id = match policy.annotation("id") {
            Some(id) if !id.trim().is_empty() => id.to_owned(),
            _ => format!("{file}:{}", piece.line),
        };
        let here = |reason: String| vec![self.wrong(piece.line, Some(&id), reason)];
        let rule = described(policy, &id, file, piece.line).map_err(here)?;
        if let Some(name) = tested_for(policy, piece.text).map_err(here)? {
            return Err(here(format!(
                "`has {name}` tells nothing: {name} is always there, and a call in which it is not known \
                 is asked about; leave it out"
            )));
        }
        let policy = policy.new_id(PolicyId::new(&id));
        let found = validated(&policy, checker, text, piece);
        if !found.is_empty() {
            let all = found.into_iter();
            return Err(all
                .map(|(line, reason)| self.wrong(line, Some(&id), reason))
                .collect());
        }
        let literals = policy.entity_literals();
        let names = literals.iter().map(|uid| uid.type_name().to_string());
        Ok(Parsed {
            rule: Arc::new(rule),
            names: names.collect(),
            policy,
        })
    }
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

fn validated(
    policy: &Policy,
    checker: &Checker,
    text: &str,
    piece: Piece<'_>,
) -> Vec<(usize, String)> {
    let Some(result) = checker.check(policy) else {
        let reason = "the schema of policies cannot be read".to_owned();
        return vec![(piece.line, reason)];
    };
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

/// An attribute for which a policy tests whether it is there.
fn tested_for(policy: &Policy, text: &str) -> Result<Option<&'static str>, String> {
    // Most policies do not have the word, and need no other form.
    if !text.contains("has") {
        return Ok(None);
    }
    let json = policy.to_json().map_err(|error| error.to_string())?;
    let mut rest = vec![&json];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                let attribute = fields.get("has").and_then(|has| has.get("attr")?.as_str());
                let known = ATTRIBUTES.into_iter().find(|it| attribute == Some(*it));
                if known.is_some() {
                    return Ok(known);
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    Ok(None)
}

/// A policy as it is asked: as one that permits, so that Cedar names all that match and none goes
/// before another, and of every action, since it is asked only about those that it is of.
fn form(parsed: &Parsed) -> Option<Form> {
    let mut json = parsed.policy.to_json().ok()?;
    let inputs = Inputs::of(&json, &parsed.names);
    *json.get_mut("effect")? = Value::from("permit");
    *json.get_mut("action")? = serde_json::json!({ "op": "All" });
    let policy = Policy::from_json(Some(PolicyId::new(&parsed.rule.id)), json).ok()?;
    Some(Form { policy, inputs })
}

impl Round {
    /// The policies of a round. Their ids are all different.
    pub(crate) fn of(policies: impl Iterator<Item = Parsed>) -> Round {
        let mut round = Round::default();
        for parsed in policies {
            if parsed.rule.verdict != Verdict::Allow {
                round.objects.extend(kinds(&parsed.policy));
            }
            let form = OnceLock::new();
            round.policies.push(Askable { parsed, form });
        }
        let actions = tools::actions();
        round.by_action = actions
            .map(|(kind, name)| (name, (kind, OnceLock::new())))
            .collect();
        round
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// The policies that can match an action; none, if there is no such action, or they cannot be asked.
    pub(crate) fn asked(&self, action: &str) -> Option<&Asked> {
        let (kind, made) = self.by_action.get(action)?;
        made.get_or_init(|| self.of_action(action, *kind)).as_ref()
    }

    fn of_action(&self, action: &str, kind: Kind) -> Option<Asked> {
        let mut by_inputs: Vec<(Inputs, Vec<AsRule>)> = Vec::new();
        let mut naming = Vec::new();
        let of_it = |it: &&Askable| covers(&it.parsed.policy, action, kind);
        for Askable { parsed, form: made } in self.policies.iter().filter(of_it) {
            let Form { policy, inputs } = made.get_or_init(|| form(parsed)).as_ref()?;
            let asked = (policy.clone(), Arc::clone(&parsed.rule));
            if !parsed.names.is_empty() {
                naming.push((parsed.names.clone(), Arc::clone(&parsed.rule)));
            }
            // Where nothing is found again anyway, one request is less than several.
            let is_alike = |(others, _): &&mut (Inputs, _)| {
                others == inputs || (Inputs::is_wide(others) && inputs.is_wide())
            };
            match by_inputs.iter_mut().find(is_alike) {
                Some((others, policies)) => {
                    *others = std::mem::take(others).or(inputs.clone());
                    policies.push(asked);
                }
                None => by_inputs.push((inputs.clone(), vec![asked])),
            }
        }
        let groups = by_inputs.into_iter();
        let groups = groups.map(|(inputs, policies)| Group::new(inputs, policies));
        Some(Asked {
            groups: groups.collect::<Option<_>>()?,
            naming,
        })
    }
}

/// Whether a policy is of an action, by its scope.
fn covers(policy: &Policy, action: &str, kind: Kind) -> bool {
    match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(uid) => uid.id().unescaped() == action,
        ActionConstraint::In(uids) => {
            let mut names = uids.iter().map(|uid| uid.id().unescaped());
            names.any(|name| name == action || name == kind.name())
        }
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
