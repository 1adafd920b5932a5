//! Who approves what a session asks for: a person, and another one than who asks.

use super::*;
use crate::settings::{SetSetting, Setting};

/// A session in which this actor has given a push that waits.
fn asked_by(actor: ActorRef) -> Stage {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let given = Stage::under(policy).given.by(actor);
    Stage {
        given: given.command(submit(1, push("a"))),
    }
}

/// What an actor's approval is refused with, if it is.
fn approval_by(stage: &Stage, actor: ActorRef) -> Option<String> {
    let decided = stage.given.clone().by(actor).decide(approve());
    decided.err().map(|refusal| refusal.to_string())
}

#[test]
fn who_asked_a_session_for_an_approval_does_not_give_it() {
    let ada = || ActorRef::human("ada");
    let stage = asked_by(ada());
    let refused = approval_by(&stage, ada()).unwrap();
    assert!(
        refused.contains(r#"human "ada" requested this"#),
        "{refused}"
    );
    assert!(refused.contains("approval.own_requests"), "{refused}");
    let named = ActorRef {
        display_name: Some("Ada".into()),
        ..ada()
    };
    assert!(approval_by(&stage, named).is_some());
    assert_eq!(approval_by(&stage, ActorRef::human("bob")), None);
}

#[test]
fn a_session_is_approved_by_a_person() {
    let stage = asked_by(ActorRef::agent("coder"));
    for other in [
        ActorRef::agent("coder"),
        ActorRef::agent("reviewer"),
        ActorRef::system("ci"),
        ActorRef::mcp_client("desk"),
    ] {
        let refused = approval_by(&stage, other).unwrap();
        assert!(refused.contains("approved by a person"), "{refused}");
    }
    assert_eq!(approval_by(&stage, ActorRef::human("coder")), None);
}

/// An approval of pushes frees all that wait.
#[test]
fn nobody_frees_a_push_of_their_own_by_approving_anothers() {
    let stage = asked_by(ActorRef::agent("coder"));
    let bob = ActorRef::human("bob");
    let given = stage.given.by(bob.clone()).command(submit(2, push("b")));
    let stage = Stage { given };
    assert!(approval_by(&stage, bob).is_some());
    assert_eq!(approval_by(&stage, ActorRef::human("ada")), None);
}

#[test]
fn who_asked_stays_who_asked_when_it_is_asked_again() {
    let stage = asked_by(ActorRef::human("bob"));
    let request = submit(2, request_approval(&["deploy"]));
    let given = stage.given.by(ActorRef::human("cleo")).command(request);
    // Once the first is answered, the second is requested again, by the event of who answered.
    let first = ApproveSession {
        request: Some(id(1)),
        ..approve()
    };
    let given = given.by(ActorRef::human("ada")).command(first);
    let stage = Stage { given };
    assert_eq!(stage.session().pending.len(), 1);
    assert!(approval_by(&stage, ActorRef::human("cleo")).is_some());
    assert_eq!(approval_by(&stage, ActorRef::human("ada")), None);
}

#[test]
fn a_setting_lets_people_approve_what_they_asked_for() {
    let ada = ActorRef::human("ada");
    let allow = SetSetting {
        setting: Setting::OwnRequests,
        value: "true".into(),
    };
    let given = asked_by(ada.clone()).given.command(allow.clone());
    let stage = Stage { given };
    assert_eq!(approval_by(&stage, ada), None);
    // And no agent, which cannot set it either.
    let coder = ActorRef::agent("coder");
    assert!(approval_by(&stage, coder.clone()).is_some());
    let set = Given::new().by(coder).decide(allow).unwrap_err();
    assert!(set.to_string().contains("human or system"), "{set}");
}

#[test]
fn an_agent_denies_what_it_asked_for_and_nothing_else() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let given_by = |mut stage: Stage, actor: ActorRef, command: SubmitCommand| {
        stage.given = stage.given.by(actor);
        stage.given.execute(command);
        stage
    };
    let denied = |stage: &Stage, actor: ActorRef, request: u128| {
        let deny = DenySession {
            request: Some(id(request)),
            ..deny("no")
        };
        stage.given.clone().by(actor).decide(deny)
    };
    let (bot, ada) = (ActorRef::agent("bot"), ActorRef::human("ada"));
    let by_ada = given_by(
        Stage::under(policy.clone()),
        ada.clone(),
        submit(1, push("a")),
    );
    assert!(matches!(
        denied(&by_ada, bot.clone(), 1),
        Err(Refusal::NotPermitted { .. })
    ));
    assert!(denied(&by_ada, ActorRef::human("bob"), 1).is_ok());
    // A denial of its own request would reject a person's push, too.
    let asks = submit(2, request_approval(&["docs"]));
    let both = given_by(by_ada, bot.clone(), asks.clone());
    assert!(denied(&both, bot.clone(), 2).is_err());
    let own = given_by(Stage::under(policy), bot.clone(), asks);
    assert!(denied(&own, bot, 2).is_ok());
    assert!(denied(&own, ActorRef::agent("another"), 2).is_err());
}
