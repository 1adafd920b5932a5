//! Importers: how an imported event names who imported it, and what an importer that is not a person may not bring.

use crate::auth_context::{IMPORTED_BY, PERSON, importer_in, names_a_person};
use crate::origin::is_human;
use crate::{ActorKind, ActorRef, AnyEvent, Dialect, Refusal, intent, run, session, settings};

impl ActorRef {
    /// The actor of an event that an importer took over: its `auth_context` names the importer, as
    /// `imported by KIND:ID`.
    ///
    /// ```
    /// use annals_domain::ActorRef;
    /// let actor = ActorRef::system("forge").imported_by(&ActorRef::human("ada"));
    /// assert_eq!(actor.auth_context.as_deref(), Some("imported by human:ada"));
    /// ```
    pub fn imported_by(self, importer: &ActorRef) -> ActorRef {
        let named = format!("{IMPORTED_BY}{}:{}", importer.kind, importer.id);
        let context = match &self.auth_context {
            Some(context) if !context.trim().is_empty() => format!("{named}; {context}"),
            _ => named,
        };
        self.with_auth_context(context)
    }

    /// Returns the importer of this actor's event as `KIND:ID`, if one took it over.
    pub fn importer(&self) -> Option<&str> {
        importer_in(self.auth_context.as_deref()?)
    }

    /// Returns `false` if an importer took over this actor's event and was not a person. Where no importer is named, as
    /// in events of older versions, it may have been one.
    pub fn may_be_imported_by_a_person(&self) -> bool {
        self.importer()
            .is_none_or(|importer| importer.starts_with(PERSON))
    }
}

/// Checks that an importer may record an event: what only a person may do by a command, only a person may import.
///
/// # Errors
/// [`Refusal::NotPermitted`].
pub fn check_import(event: &AnyEvent, importer: &ActorRef) -> Result<(), Refusal> {
    permitted(persons_alone(event), importer)
}

/// Checks that an importer may copy an event, with its actor, from an export or another log. In addition to
/// [`check_import`] it refuses what a person did, and what the log itself decides by rule: nothing in a copied record shows
/// that the person did it, or by which rule it was decided.
///
/// # Errors
/// [`Refusal::NotPermitted`].
pub fn check_copy(event: &AnyEvent, actor: &ActorRef, importer: &ActorRef) -> Result<(), Refusal> {
    let what = persons_alone(event)
        .or_else(|| done_by_person(event, actor))
        .or_else(|| decided_by_rule(event));
    permitted(what, importer)
}

/// Checks that an importer may copy records that extend an object that the log has already: further events of it, and its
/// tasks, runs, plans and parts.
///
/// # Errors
/// [`Refusal::NotPermitted`].
pub fn check_extension(importer: &ActorRef) -> Result<(), Refusal> {
    permitted(
        Some("a further event, task, run, plan or part of an object that the log has"),
        importer,
    )
}

fn permitted(what: Option<&'static str>, importer: &ActorRef) -> Result<(), Refusal> {
    let Some(what) = what.filter(|_| !is_human(importer)) else {
        return Ok(());
    };
    let reason = format!(
        "{what} is imported by a person (an actor of the kind human), not by {} {:?}; let a person run the import, \
         with --actor human:NAME",
        importer.kind, importer.id
    );
    Err(Refusal::NotPermitted { reason })
}

/// Names an event that a person alone may cause.
fn persons_alone(event: &AnyEvent) -> Option<&'static str> {
    match event {
        AnyEvent::Intent(intent::Event::Approved(event)) if event.by == intent::Approver::Actor => {
            Some("the approval of an intent")
        }
        AnyEvent::Intent(intent::Event::ClarificationAnswered(_)) => {
            Some("the answer to a question")
        }
        AnyEvent::Intent(intent::Event::RerunRequested(_)) => Some("the rerun of an intent"),
        AnyEvent::Session(session::Event::Approved(_)) => Some("the approval of a session"),
        AnyEvent::Session(session::Event::Resumed(_)) => Some("the resumption of a session"),
        AnyEvent::Settings(settings::Event::Set(_)) => Some("a setting of the log"),
        AnyEvent::Settings(settings::Event::BudgetSet(_) | settings::Event::BudgetRemoved(_)) => {
            Some("a budget")
        }
        _ => None,
    }
}

/// Names an event that a person caused or imported, or that holds a person's verdict.
fn done_by_person(event: &AnyEvent, actor: &ActorRef) -> Option<&'static str> {
    if is_human(actor) {
        return Some("what a person did");
    }
    if actor.auth_context.as_deref().is_some_and(names_a_person) {
        return Some("what a person imported");
    }
    // Of older versions no importer is named.
    let is_importers = actor.kind == ActorKind::System
        && [Dialect::Contracts, Dialect::Forge]
            .map(Dialect::name)
            .contains(&actor.id.as_str());
    if is_importers && actor.may_be_imported_by_a_person() {
        return Some("what a person may have imported");
    }
    match event {
        AnyEvent::Run(run::Event::ToolDecided(event)) if event.is_persons() => {
            Some("a person's verdict on a tool call")
        }
        _ => None,
    }
}

/// Names an event by which the log lets something pass, or holds it back.
fn decided_by_rule(event: &AnyEvent) -> Option<&'static str> {
    match event {
        AnyEvent::Intent(intent::Event::Approved(_)) => Some("the approval of an intent"),
        AnyEvent::Intent(intent::Event::Rejected(_)) => Some("the rejection of an intent"),
        AnyEvent::Intent(intent::Event::Instructed(_)) => Some("an instruction for an intent"),
        AnyEvent::Session(
            session::Event::CommandAccepted(_)
            | session::Event::CommandRejected(_)
            | session::Event::Throttled(_),
        ) => Some("the verdict of a gate"),
        // The log holds it to the policy of the session that began it.
        AnyEvent::Session(session::Event::Created(event)) if event.config.parent.is_some() => {
            Some("a session that another one began")
        }
        AnyEvent::Session(session::Event::Adopted(event))
            if event.config.as_ref().is_some_and(|it| it.parent.is_some()) =>
        {
            Some("a session that another one began")
        }
        AnyEvent::Bucket(_) => Some("a use of a rate limit"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::intent::{Approved, Approver, ClarificationAnswered};
    use crate::{Pieces, ToolInvocationId};

    fn approved(by: Approver) -> AnyEvent {
        AnyEvent::Intent(Approved { by, reason: None }.into())
    }

    #[test]
    fn an_agent_imports_nothing_that_only_a_person_may_do() {
        let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
        let answered = AnyEvent::Intent(
            ClarificationAnswered {
                question: 0,
                answer: Pieces::new().text("yes"),
            }
            .into(),
        );
        for event in [approved(Approver::Actor), answered] {
            assert_eq!(check_import(&event, &ada), Ok(()));
            for other in [
                coder.clone(),
                ActorRef::system("sync"),
                ActorRef::mcp_client("c"),
            ] {
                let refused = check_import(&event, &other).map_err(|it| it.code());
                assert_eq!(refused, Err("not_permitted"), "{event:?} by {other:?}");
            }
        }
        let by_rule = approved(Approver::System);
        assert_eq!(check_import(&by_rule, &coder), Ok(()));
        assert!(check_copy(&by_rule, &coder, &coder).is_err());
        assert_eq!(check_copy(&by_rule, &coder, &ada), Ok(()));
        assert!(check_extension(&coder).is_err() && check_extension(&ada).is_ok());
    }

    #[test]
    fn an_agent_copies_nothing_that_a_person_did() {
        let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
        let started = || AnyEvent::Intent(intent::ExecutionStarted {}.into());
        let contracts = || ActorRef::system("contracts");
        for (actor, expected) in [
            (ada.clone(), false),
            (coder.clone(), true),
            (coder.clone().imported_by(&ada), false),
            (contracts(), false),
            (contracts().imported_by(&coder), true),
            (contracts().imported_by(&ada), false),
            (ActorRef::system("forge"), false),
            (ActorRef::system("ci"), true),
        ] {
            let checked = check_copy(&started(), &actor, &coder);
            assert_eq!(checked.is_ok(), expected, "{actor:?}");
            assert_eq!(check_copy(&started(), &actor, &ada), Ok(()));
            let by_system = check_copy(&started(), &actor, &ActorRef::system("backup"));
            assert_eq!(by_system.is_ok(), expected, "{actor:?}");
        }
        let decided = |by, inferred, source: Option<&str>| {
            let decided = run::ToolDecided {
                tool_invocation: ToolInvocationId(Uuid::from_u128(1)),
                tool_name: None,
                verdict: run::ToolVerdict::Allow,
                by,
                by_name: None,
                source: source.map(str::to_owned),
                scope: run::GrantScope::Once,
                grant: None,
                inferred,
                reason: None,
                permission_mode: None,
                in_force: None,
            };
            check_copy(&AnyEvent::Run(decided.into()), &coder, &coder).is_ok()
        };
        assert!(!decided(run::ToolDecider::Person, false, None));
        assert!(decided(run::ToolDecider::Person, true, None));
        assert!(decided(
            run::ToolDecider::Person,
            false,
            Some("telemetry (OTLP)")
        ));
        assert!(decided(run::ToolDecider::Rule, false, None));
    }

    #[test]
    fn an_importer_is_named_beside_what_was_known_of_the_actor() {
        let actor = ActorRef::agent("coder").with_auth_context("oidc".to_owned());
        let named = actor.imported_by(&ActorRef::agent("sync"));
        let context = named.auth_context.as_deref();
        assert_eq!(context, Some("imported by agent:sync; oidc"));
        assert_eq!(named.importer(), Some("agent:sync"));
        assert!(!named.may_be_imported_by_a_person());
        for (context, expected) in [
            (None, true),
            (Some("oidc"), true),
            (Some("[removed]"), true),
            (Some("imported by human:ada"), true),
            (Some("imported by humanoid:x"), false),
        ] {
            let actor = ActorRef::system("contracts").with_auth_context(context.map(str::to_owned));
            assert_eq!(actor.may_be_imported_by_a_person(), expected, "{context:?}");
        }
    }
}
