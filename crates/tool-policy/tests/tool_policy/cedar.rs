//! Each policy is asked as Cedar itself would be asked: alone, as it is written, about a request with all
//! that is known. Verdicts and the rules that are named are the same.

use std::collections::HashSet;
use std::sync::Arc;

use annals_tool_policy::{Attribute, Call, Kind, Part, Policies, Rule, SCHEMA, Verdict, read};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, Policy,
    PolicyId, PolicySet, Request, RestrictedExpression, Schema,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::reference::{Said, call, expected};

fn uid(of: &str, id: &str) -> EntityUid {
    let of: EntityTypeName = of.parse().expect("it is a type");
    EntityUid::from_type_name_and_id(of, EntityId::new(id))
}

/// All entities of the schema, and those of a part.
fn request(part: &Part, call: &Call, schema: &Schema) -> (Request, Entities) {
    let agent = uid("Agent", &call.agent);
    let session = call.session.as_ref().map(|it| uid("Session", it));
    let resource = uid(part.resource.of.name(), &part.resource.id);
    let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
    let value = |value: &Attribute| match value {
        Attribute::Text(it) => text(it),
        Attribute::Flag(it) => RestrictedExpression::new_bool(*it),
        Attribute::Set(all) => RestrictedExpression::new_set(all.iter().map(|it| text(it))),
        _ => panic!("there is no other kind"),
    };
    let attributes = part.resource.attributes.iter();
    let attributes = attributes.map(|(name, it)| ((*name).to_owned(), value(it)));
    let entity = Entity::new(resource.clone(), attributes.collect(), HashSet::new());
    let mut entities = vec![
        entity.expect("it is an entity"),
        Entity::new_no_attrs(agent.clone(), HashSet::new()),
    ];
    if let Some(session) = &session {
        let parents = HashSet::from([agent.clone()]);
        entities.push(Entity::new_no_attrs(session.clone(), parents));
    }
    let actions = schema.action_entities().expect("it has actions");
    entities.extend(actions.iter().cloned());
    let around = [
        ("tool", Some(&call.tool)),
        ("agent", Some(&call.agent)),
        ("mode", call.mode.as_ref()),
        ("cwd", call.cwd.as_ref()),
    ];
    let around = around
        .into_iter()
        .filter_map(|(name, it)| Some((name.to_owned(), text(it?))));
    let context = Context::from_pairs(around).expect("it is a context");
    let action = uid("Action", &part.action);
    let request = Request::new(session.unwrap_or(agent), action, resource, context, None);
    (
        request.expect("it is a request"),
        Entities::from_entities(entities, None).expect("they are entities"),
    )
}

/// A rule with its policy, and whether that names things of a type.
struct Written {
    rule: Arc<Rule>,
    set: PolicySet,
    names: HashSet<String>,
}

fn written(text: &str, rule: &Arc<Rule>) -> Written {
    let policy = Policy::parse(Some(PolicyId::new("it")), text).expect(text);
    let literals = policy.entity_literals();
    let names = literals.iter().map(|it| it.type_name().to_string());
    Written {
        rule: Arc::clone(rule),
        names: names.collect(),
        set: PolicySet::from_policies([policy]).expect("it is one policy"),
    }
}

impl Written {
    fn said(&self, part: &Part, (request, entities): &(Request, Entities)) -> Said {
        let answer = Authorizer::new().is_authorized(request, &self.set, entities);
        let matches = answer.diagnostics().reason().next().is_some();
        let failed = answer.diagnostics().errors().next().is_some();
        let may_be_named = !part.resource.is_known && self.names.contains(part.resource.of.name());
        let is_restriction = self.rule.verdict != Verdict::Allow;
        let matches = match (matches, failed) {
            (true, _) if may_be_named && !is_restriction => None,
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) if may_be_named && self.is_of(entities, request) => None,
            (false, false) => Some(false),
        };
        assert!(answer.decision() == Decision::Deny || matches != Some(false));
        (self.rule.verdict, self.rule.is_default, matches)
    }

    /// Whether the action is in the policy's scope.
    fn is_of(&self, entities: &Entities, request: &Request) -> bool {
        use cedar_policy::ActionConstraint as Of;
        let Some(action) = request.action() else {
            return false;
        };
        let policy = self.set.policies().next().expect("there is one");
        match policy.action_constraint() {
            Of::Any => true,
            Of::Eq(uid) => uid == *action,
            Of::In(uids) => uids
                .iter()
                .any(|uid| uid == action || entities.is_ancestor_of(uid, action)),
        }
    }
}

/// Conditions of each kind of resource, and of what is around a call.
fn atoms(kind: Kind) -> Vec<&'static str> {
    let mut atoms = vec![
        "context has mode && context.mode == \"plan\"",
        "context.tool == \"Bash\"",
        "context.agent == \"codex\"",
        "principal in Agent::\"codex\"",
        "principal == Session::\"s-1\"",
        "principal is Session",
        "action in Action::\"run\"",
        "action == Action::\"Bash\"",
        "[Action::\"Edit\", Action::\"read\", Action::\"fetch\"].contains(action)",
        "{\"a\": principal}.a in Agent::\"claude-code\"",
    ];
    atoms.extend(match kind {
        Kind::Read | Kind::Edit => [
            "resource.name == \".env\"",
            "resource.inside",
            "resource == Path::\"/work/app/x.rs\"",
            "[\"rs\", \"env\"].contains(resource.extension)",
            "resource.segments.containsAny([\"src\", \"etc\"])",
            "(if resource.inside then resource.relative else resource.path) like \"*x*\"",
            "Path::\"/etc/x\" == resource",
        ],
        Kind::Run => [
            "resource.program == \"git\"",
            "resource.subcommand == \"push\"",
            "resource.text like \"*x.rs*\"",
            "resource.args.contains(\"origin\") || resource.code",
            "resource.via.contains(\"sudo\") && !resource.piped",
            "[\"ls\", \"cat\", \"rm\"].contains(resource.program)",
            "resource.options.containsAll([\"-r\", \"-f\"])",
        ],
        Kind::Fetch => [
            "resource.host == \"docs.rs\"",
            "resource.url like \"https:*\"",
            "resource == Host::\"docs.rs\"",
            "resource.scheme == \"http\"",
            "[\"a.example\"].contains(resource.host)",
            "resource.host like \"*.example\"",
            "resource in [Host::\"docs.rs\"]",
        ],
        Kind::Push => [
            "resource.name == \"main\"",
            "resource.force",
            "resource.deletes",
            "resource == Branch::\"main\"",
            "resource.remote == \"origin\"",
            "resource.name like \"t*\"",
            "resource.name != \"topic\"",
        ],
        _ => [
            "resource.name == \"mcp__a__b\"",
            "resource.server == \"a\"",
            "resource.tool == \"d\"",
            "resource == Tool::\"mcp__c__d\"",
            "resource.name like \"mcp__*\"",
            "resource.server != resource.tool",
            "[\"a\", \"c\"].contains(resource.server)",
        ],
    });
    atoms
}

fn condition(kind: Kind) -> impl Strategy<Value = String> {
    let atom = prop::sample::select(atoms(kind)).prop_map(str::to_owned);
    atom.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| format!("!({it})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) && ({b}))")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(({a}) || ({b}))")),
        ]
    })
}

/// A policy, without its name.
fn policy() -> impl Strategy<Value = String> {
    let kinds = [
        Kind::Read,
        Kind::Edit,
        Kind::Run,
        Kind::Run,
        Kind::Fetch,
        Kind::Push,
        Kind::Mcp,
    ];
    prop::sample::select(kinds.to_vec()).prop_flat_map(|kind| {
        let name = kind.name();
        let tool = match kind {
            Kind::Read => "Read",
            Kind::Edit => "Edit",
            Kind::Run => "Bash",
            Kind::Fetch => "WebFetch",
            _ => name,
        };
        let actions = vec![
            format!("action in Action::{name:?}"),
            format!("action == Action::{name:?}"),
            format!("action == Action::{tool:?}"),
            format!("action in [Action::{tool:?}, Action::{name:?}]"),
        ];
        let principals = [
            "principal",
            "principal in Agent::\"codex\"",
            "principal is Agent",
        ];
        let begins = [
            "permit",
            "forbid",
            "@ask(\"?\") permit",
            "@ask(\"?\") forbid",
        ];
        let begins: Vec<String> = begins
            .into_iter()
            .flat_map(|it| [it.to_owned(), it.to_owned(), format!("@default {it}")])
            .collect();
        (
            prop::sample::select(begins),
            prop::sample::select(principals.to_vec()),
            prop::sample::select(actions),
            vec(
                (
                    prop::sample::select(&["when", "unless"][..]),
                    condition(kind),
                ),
                0..2,
            ),
        )
            .prop_map(|(begin, principal, action, conditions)| {
                let conditions = conditions.into_iter();
                let conditions = conditions.map(|(how, it)| format!(" {how} {{ {it} }}"));
                let conditions: String = conditions.collect();
                format!("{begin} ({principal}, {action}, resource){conditions};")
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn policies_say_what_cedar_says_of_each_of_them(
        texts in vec(policy(), 1..8),
        calls in vec((call(), prop::option::of(prop::sample::select(&["plan", "default"][..]))), 1..12),
        otherwise in prop::sample::select(Verdict::ALL.to_vec()),
    ) {
        // Those that can never match are refused.
        let is_valid = |text: &String| Policies::parse(&[("p", text)]).is_ok();
        let texts = texts.into_iter().filter(is_valid).enumerate();
        let texts: Vec<String> = texts.map(|(id, text)| format!("@id(\"r{id}\") {text}")).collect();
        let all = texts.join("\n");
        let policies = Policies::parse(&[("p", &all)]).expect(&all).otherwise(otherwise);
        let written: Vec<Written> = texts.iter().zip(policies.rules()).map(|(text, rule)| written(text, rule)).collect();
        let schema: Schema = SCHEMA.parse().expect("it is a schema");
        for (call, mode) in calls {
            let call = call.with_mode(mode.map(str::to_owned));
            let judged = policies.judge(&call);
            for (part, found) in read(&call).parts.iter().zip(&judged.parts) {
                let request = request(part, &call, &schema);
                let said: Vec<Said> = written.iter().map(|it| it.said(part, &request)).collect();
                let expected = expected(&said, part, otherwise);
                prop_assert_eq!(found.verdict, expected, "{}\n{:?}\n{:#?}\n{:?}", all, call, found, said);
                if found.because.is_some() {
                    continue;
                }
                for is_default in [false, true] {
                    let of_round = said.iter().enumerate().filter(|(_, it)| it.1 == is_default);
                    let deciding = of_round.filter(|(_, it)| it.0 == expected && it.2 == Some(true));
                    let deciding: Vec<String> = deciding.map(|(at, _)| format!("r{at}")).collect();
                    let named = found.rules.iter().filter(|it| it.is_default == is_default);
                    let named: Vec<String> = named.map(|it| it.id.clone()).collect();
                    let decides = found.rules.first().is_some_and(|it| it.is_default == is_default);
                    prop_assert!(!decides || named == deciding, "{all}\n{found:#?}\n{said:?}");
                }
            }
        }
    }

    /// In whichever order, by whichever copy of the same policies: nothing flips.
    #[test]
    fn the_same_policies_flip_nothing(
        texts in vec(policy(), 1..6),
        calls in vec(call(), 1..20),
    ) {
        let is_valid = |text: &String| Policies::parse(&[("p", text)]).is_ok();
        let texts: Vec<String> = texts.into_iter().filter(is_valid).collect();
        let all = texts.join("\n");
        let parse = || Policies::parse(&[("p", &all)]).expect(&all);
        let (first, second) = (parse(), parse());
        let forward: Vec<_> = calls.iter().map(|call| first.judge(call)).collect();
        let mut backward: Vec<_> = calls.iter().rev().map(|call| second.judge(call)).collect();
        backward.reverse();
        prop_assert_eq!(&forward, &backward);
        let beside: Vec<_> = std::thread::scope(|scope| {
            let judge = |call| first.judge(call);
            let threads: Vec<_> = calls.iter().map(|call| scope.spawn(move || judge(call))).collect();
            threads.into_iter().map(|it| it.join().expect("it does not panic")).collect()
        });
        prop_assert_eq!(&forward, &beside);
    }
}
