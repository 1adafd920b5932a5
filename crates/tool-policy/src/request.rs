//! A part of a call as requests to Cedar, and what Cedar's answers mean.
//!
//! What is not known of a resource is not there. A policy that looks at it fails to evaluate, unless
//! what it looks at before decides already, and counts as one that may match. That is exact: Cedar
//! evaluates `&&` and `||` from the left and stops where they are decided.
//!
//! A request has only what the policies that are asked look at ([`Inputs`]), and what they said of the
//! same before is known: agents do much that is alike.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use cedar_policy::{
    AuthorizationError, Authorizer, Context, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicyId, PolicySet, Request, RestrictedExpression,
};

use crate::call::Call;
use crate::inputs::Inputs;
use crate::part::{Attribute, Part};
use crate::rules::{AsRule, Round};
use crate::tools;
use crate::verdict::{Rule, Verdict};

/// Answers that a group of policies keeps, and the bytes of the longest question of these.
const MOST_KEPT: usize = 8 * 1024;
const LONGEST_KEPT: usize = 1024;

/// What makes requests.
pub(crate) struct Requests {
    authorizer: Authorizer,
    types: HashMap<&'static str, EntityTypeName>,
}

/// What is around the parts of a call.
pub(crate) struct Around<'a> {
    call: &'a Call,
    principal: OnceCell<Option<Principal>>,
    context: OnceCell<Option<Context>>,
}

/// Who calls.
struct Principal {
    agent: EntityUid,
    session: Option<EntityUid>,
}

/// Policies that are asked together.
#[derive(Debug)]
pub(crate) struct Group {
    inputs: Inputs,
    set: PolicySet,
    rules: HashMap<PolicyId, Arc<Rule>>,
    /// What they said, by what they look at.
    answers: RwLock<HashMap<Box<[u8]>, Arc<Answer>>>,
}

/// What policies say.
#[derive(Debug)]
struct Answer {
    matching: Vec<Arc<Rule>>,
    /// Those that look at what is not known.
    maybe: Vec<Arc<Rule>>,
}

/// The policies that match, by what they say.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) denied: Vec<Arc<Rule>>,
    pub(crate) asking: Vec<Arc<Rule>>,
    pub(crate) allowing: Vec<Arc<Rule>>,
    /// Those that may match, for all that is known.
    pub(crate) maybe: Vec<Arc<Rule>>,
}

impl Found {
    pub(crate) fn is_empty(&self) -> bool {
        let lists = [&self.denied, &self.asking, &self.allowing, &self.maybe];
        lists.iter().all(|list| list.is_empty())
    }

    fn add(&mut self, answer: &Answer) {
        for rule in &answer.matching {
            let list = match rule.verdict {
                Verdict::Deny => &mut self.denied,
                Verdict::Ask => &mut self.asking,
                Verdict::Allow => &mut self.allowing,
            };
            list.push(Arc::clone(rule));
        }
        self.maybe.extend(answer.maybe.iter().cloned());
    }
}

/// The types of entities.
const TYPES: [&str; 8] = [
    "Action", "Agent", "Session", "Path", "Command", "Host", "Branch", "Tool",
];

impl<'a> Around<'a> {
    pub(crate) fn of(call: &'a Call) -> Around<'a> {
        Around {
            call,
            principal: OnceCell::new(),
            context: OnceCell::new(),
        }
    }

    fn context(&self) -> Option<&Context> {
        let made = self.context.get_or_init(|| {
            let known = self.known().into_iter().filter_map(|(name, value)| {
                let value = RestrictedExpression::new_string(value?.to_owned());
                Some((name.to_owned(), value))
            });
            Context::from_pairs(known).ok()
        });
        made.as_ref()
    }

    fn known(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("tool", Some(&self.call.tool)),
            ("agent", Some(&self.call.agent)),
            ("mode", self.call.mode.as_deref()),
            ("cwd", self.call.cwd.as_deref()),
        ]
    }
}

impl Requests {
    pub(crate) fn new() -> Option<Requests> {
        let types = TYPES.iter().map(|name| Some((*name, name.parse().ok()?)));
        Some(Requests {
            authorizer: Authorizer::new(),
            types: types.collect::<Option<_>>()?,
        })
    }

    /// The policies of a round that match a part; none, if they cannot be asked.
    pub(crate) fn ask(&self, round: &Round, part: &Part, around: &Around<'_>) -> Option<Found> {
        let asked = round.asked(&part.action)?;
        let mut found = Found::default();
        let mut key = Vec::new();
        for group in &asked.groups {
            key.clear();
            group.inputs.write_key(part, around, &mut key);
            let answer = match group.kept(&key) {
                Some(answer) => answer,
                None => group.keep(&key, self.answer(group, part, around)?),
            };
            found.add(&answer);
        }
        if !part.resource.is_known {
            // It may be the very thing that a policy names.
            let of = part.resource.of.name();
            for (_, rule) in asked.naming.iter().filter(|(names, _)| names.contains(of)) {
                found.allowing.retain(|it| it != rule);
                found.maybe.push(Arc::clone(rule));
            }
        }
        let lists = [
            &mut found.denied,
            &mut found.asking,
            &mut found.allowing,
            &mut found.maybe,
        ];
        for list in lists {
            list.sort_by(|a, b| (&a.file, a.line, &a.id).cmp(&(&b.file, b.line, &b.id)));
            list.dedup();
        }
        Some(found)
    }

    fn answer(&self, group: &Group, part: &Part, around: &Around<'_>) -> Option<Answer> {
        let made = around.principal.get_or_init(|| self.principal(around.call));
        let principal = made.as_ref()?;
        let resource = self.uid(part.resource.of.name(), &part.resource.id)?;
        let seen = part.resource.attributes.iter();
        let seen = seen.filter(|(name, _)| group.inputs.has(name));
        let seen = seen.map(|(name, value)| ((*name).to_owned(), expression(value)));
        let entity = Entity::new(resource.clone(), seen.collect(), HashSet::new()).ok()?;
        let mut entities = vec![entity];
        if group.inputs.principal || group.inputs.all {
            entities.extend(principal.entities());
        }
        if group.inputs.action || group.inputs.all {
            self.add_actions(&mut entities)?;
        }
        let context = match group.inputs.context || group.inputs.all {
            true => around.context()?.clone(),
            false => Context::empty(),
        };
        let action = self.uid("Action", &part.action)?;
        let request = Request::new(principal.uid().clone(), action, resource, context, None);
        let entities = Entities::from_entities(entities, None).ok()?;
        let answer = self
            .authorizer
            .is_authorized(&request.ok()?, &group.set, &entities);
        let rule = |id: &PolicyId| group.rules.get(id).cloned();
        let failed = answer.diagnostics().errors().map(|error| match error {
            AuthorizationError::PolicyEvaluationError(error) => error.policy_id(),
        });
        Some(Answer {
            matching: answer
                .diagnostics()
                .reason()
                .map(rule)
                .collect::<Option<_>>()?,
            maybe: failed.map(rule).collect::<Option<_>>()?,
        })
    }

    fn uid(&self, of: &str, id: &str) -> Option<EntityUid> {
        let of = self.types.get(of)?.clone();
        Some(EntityUid::from_type_name_and_id(of, EntityId::new(id)))
    }

    fn principal(&self, call: &Call) -> Option<Principal> {
        let session = match &call.session {
            Some(session) => Some(self.uid("Session", session)?),
            None => None,
        };
        Some(Principal {
            agent: self.uid("Agent", &call.agent)?,
            session,
        })
    }

    /// The actions and the groups that they are in, for policies that ask for them.
    fn add_actions(&self, entities: &mut Vec<Entity>) -> Option<()> {
        for (kind, name) in tools::actions() {
            let uid = self.uid("Action", name)?;
            let parents = match name == kind.name() {
                true => HashSet::new(),
                false => HashSet::from([self.uid("Action", kind.name())?]),
            };
            entities.push(Entity::new_no_attrs(uid, parents));
        }
        Some(())
    }
}

impl Principal {
    fn uid(&self) -> &EntityUid {
        self.session.as_ref().unwrap_or(&self.agent)
    }

    fn entities(&self) -> impl Iterator<Item = Entity> {
        let agent = Entity::new_no_attrs(self.agent.clone(), HashSet::new());
        let session = self.session.clone();
        let parents = HashSet::from([self.agent.clone()]);
        let session = session.map(|uid| Entity::new_no_attrs(uid, parents));
        std::iter::once(agent).chain(session)
    }
}

fn expression(value: &Attribute) -> RestrictedExpression {
    match value {
        Attribute::Text(text) => RestrictedExpression::new_string(text.clone()),
        Attribute::Flag(flag) => RestrictedExpression::new_bool(*flag),
        Attribute::Set(texts) => RestrictedExpression::new_set(
            texts.iter().cloned().map(RestrictedExpression::new_string),
        ),
    }
}

impl Group {
    /// Policies that permit, with the rules that they are.
    pub(crate) fn new(inputs: Inputs, policies: Vec<AsRule>) -> Option<Group> {
        let (mut set, mut rules) = (PolicySet::new(), HashMap::new());
        for (policy, rule) in policies {
            rules.insert(policy.id().clone(), rule);
            set.add(policy).ok()?;
        }
        Some(Group {
            inputs,
            set,
            rules,
            answers: RwLock::default(),
        })
    }

    fn kept(&self, key: &[u8]) -> Option<Arc<Answer>> {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        answers.get(key).cloned()
    }

    fn keep(&self, key: &[u8], answer: Answer) -> Arc<Answer> {
        let answer = Arc::new(answer);
        if key.len() <= LONGEST_KEPT {
            let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
            if answers.len() >= MOST_KEPT {
                answers.clear();
            }
            answers.insert(key.into(), Arc::clone(&answer));
        }
        answer
    }
}

impl Inputs {
    /// Writes all of a request that these policies look at, so that no two that differ in it are written
    /// alike.
    fn write_key(&self, part: &Part, around: &Around<'_>, key: &mut Vec<u8>) {
        write_text(part.resource.of.name(), key);
        if self.resource || self.all {
            write_text(&part.resource.id, key);
        }
        let seen = part.resource.attributes.iter();
        let seen: Vec<_> = seen.filter(|(name, _)| self.has(name)).collect();
        write_number(seen.len(), key);
        for (name, value) in seen {
            write_text(name, key);
            write_attribute(value, key);
        }
        if self.principal || self.all {
            write_text(&around.call.agent, key);
            write_option(around.call.session.as_deref(), key);
        }
        if self.context || self.all {
            around
                .known()
                .iter()
                .for_each(|(_, value)| write_option(*value, key));
        }
    }
}

fn write_attribute(value: &Attribute, key: &mut Vec<u8>) {
    match value {
        Attribute::Text(text) => {
            key.push(b't');
            write_text(text, key);
        }
        Attribute::Flag(flag) => key.extend([b'f', u8::from(*flag)]),
        Attribute::Set(texts) => {
            key.push(b's');
            write_number(texts.len(), key);
            texts.iter().for_each(|text| write_text(text, key));
        }
    }
}

fn write_option(value: Option<&str>, key: &mut Vec<u8>) {
    key.push(u8::from(value.is_some()));
    write_text(value.unwrap_or_default(), key);
}

fn write_text(text: &str, key: &mut Vec<u8>) {
    write_number(text.len(), key);
    key.extend(text.as_bytes());
}

fn write_number(number: usize, key: &mut Vec<u8>) {
    key.extend(number.to_le_bytes());
}
