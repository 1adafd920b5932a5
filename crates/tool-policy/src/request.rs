//! A part of a call as a request to Cedar, and what Cedar's answer means.
//!
//! What is not known of a resource is not there. A policy that looks at it fails to evaluate, unless
//! what it looks at before decides already, and counts as one that may match. That is exact: Cedar
//! evaluates `&&` and `||` from the left and stops where they are decided.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cedar_policy::{
    AuthorizationError, Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName,
    EntityUid, PolicyId, PolicySet, Request, Response, RestrictedExpression,
};

use crate::call::Call;
use crate::part::{Attribute, Part, Resource};
use crate::rules::{Round, schema};
use crate::verdict::Rule;

/// What makes requests.
pub(crate) struct Requests {
    authorizer: Authorizer,
    actions: HashMap<String, Action>,
    types: HashMap<&'static str, EntityTypeName>,
}

/// An action, the groups that it is in, and both as entities.
struct Action {
    uid: EntityUid,
    groups: Vec<String>,
    entities: Vec<Entity>,
}

/// What is the same for all parts of a call.
pub(crate) struct Around {
    principal: EntityUid,
    entities: Vec<Entity>,
    context: Context,
}

/// A request, with what it is about.
pub(crate) struct Asked<'a> {
    authorizer: &'a Authorizer,
    action: String,
    groups: &'a [String],
    request: Request,
    entities: Entities,
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
}

/// The types of entities.
const TYPES: [&str; 7] = [
    "Agent", "Session", "Path", "Command", "Host", "Branch", "Tool",
];

impl Requests {
    pub(crate) fn new() -> Option<Requests> {
        let all = schema()?.action_entities().ok()?;
        let mut actions = HashMap::new();
        for entity in all.iter() {
            let uid = entity.uid();
            let groups: Vec<&EntityUid> = all.ancestors(&uid).into_iter().flatten().collect();
            let related = groups.iter().filter_map(|uid| all.get(uid)).chain([entity]);
            let entities = related.cloned().collect();
            let groups = groups
                .iter()
                .map(|uid| uid.id().unescaped().to_owned())
                .collect();
            let name = uid.id().unescaped().to_owned();
            actions.insert(
                name,
                Action {
                    uid,
                    groups,
                    entities,
                },
            );
        }
        let types = TYPES.iter().map(|name| Some((*name, name.parse().ok()?)));
        Some(Requests {
            authorizer: Authorizer::new(),
            actions,
            types: types.collect::<Option<_>>()?,
        })
    }

    fn uid(&self, of: &str, id: &str) -> Option<EntityUid> {
        let of = self.types.get(of)?.clone();
        Some(EntityUid::from_type_name_and_id(of, EntityId::new(id)))
    }

    /// Who calls, and what is around the call.
    pub(crate) fn around(&self, call: &Call) -> Option<Around> {
        let agent = self.uid("Agent", &call.agent)?;
        let mut entities = vec![Entity::new_no_attrs(agent.clone(), HashSet::new())];
        let principal = match &call.session {
            Some(session) => {
                let session = self.uid("Session", session)?;
                let parents = HashSet::from([agent]);
                entities.push(Entity::new_no_attrs(session.clone(), parents));
                session
            }
            None => agent,
        };
        let known = [
            ("tool", Some(&call.tool)),
            ("agent", Some(&call.agent)),
            ("mode", call.mode.as_ref()),
            ("cwd", call.cwd.as_ref()),
        ];
        let pairs = known.into_iter().filter_map(|(name, value)| {
            Some((
                name.to_owned(),
                RestrictedExpression::new_string(value?.clone()),
            ))
        });
        Some(Around {
            principal,
            entities,
            context: Context::from_pairs(pairs).ok()?,
        })
    }

    /// The request that a part is.
    pub(crate) fn of(&self, part: &Part, around: &Around) -> Option<Asked<'_>> {
        let action = self.actions.get(&part.action)?;
        let resource = self.uid(part.resource.of.name(), &part.resource.id)?;
        let attributes = part.resource.attributes.iter();
        let attributes = attributes.map(|(name, value)| ((*name).to_owned(), expression(value)));
        let entity = Entity::new(resource.clone(), attributes.collect(), HashSet::new()).ok()?;
        let all = action
            .entities
            .iter()
            .chain(&around.entities)
            .cloned()
            .chain([entity]);
        let request = Request::new(
            around.principal.clone(),
            action.uid.clone(),
            resource,
            around.context.clone(),
            None,
        );
        Some(Asked {
            authorizer: &self.authorizer,
            action: part.action.clone(),
            groups: &action.groups,
            request: request.ok()?,
            entities: Entities::from_entities(all, None).ok()?,
        })
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

impl Asked<'_> {
    /// The policies of a round that match; none, if they cannot be asked.
    pub(crate) fn ask(
        &self,
        round: &Round,
        resource: &Resource,
        rules: &HashMap<String, Arc<Rule>>,
    ) -> Option<Found> {
        let sets = round.sets(&self.action, self.groups)?;
        let mut found = Found::default();
        let rule = |id: &PolicyId| -> Option<Arc<Rule>> {
            let text: &str = id.as_ref();
            rules.get(text).cloned()
        };
        if let Some(response) = self.response(&sets.plain) {
            let matching = response.diagnostics().reason().filter_map(rule);
            match response.decision() {
                Decision::Allow => found.allowing = matching.collect(),
                Decision::Deny => found.denied = matching.collect(),
            }
            found.maybe.extend(failed(&response).filter_map(rule));
        }
        if let Some(response) = self.response(&sets.asks) {
            found.asking = response.diagnostics().reason().filter_map(rule).collect();
            found.maybe.extend(failed(&response).filter_map(rule));
        }
        if !resource.is_known {
            // It may be the very thing that a policy names.
            let named = round.naming.get(resource.of.name()).into_iter().flatten();
            for rule in named {
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
            // Cedar's sets have no order.
            list.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
            list.dedup();
        }
        Some(found)
    }

    fn response(&self, set: &PolicySet) -> Option<Response> {
        let asked = !set.is_empty();
        asked.then(|| {
            self.authorizer
                .is_authorized(&self.request, set, &self.entities)
        })
    }
}

fn failed(response: &Response) -> impl Iterator<Item = &PolicyId> {
    response.diagnostics().errors().map(|error| match error {
        AuthorizationError::PolicyEvaluationError(error) => error.policy_id(),
    })
}
