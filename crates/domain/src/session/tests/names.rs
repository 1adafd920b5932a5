//! What the gate does where names were removed: it allows nothing that it did not allow before.

use proptest::prelude::*;

use super::properties::Play;
use super::script::{body, scripts};
use super::*;
use crate::{IntegrityHash, is_removed_name, removed_name};

/// An event without its names, as a redaction leaves it.
fn without_names(number: usize, event: &AnyEvent) -> AnyEvent {
    let mut event = event.clone();
    let digest = IntegrityHash::of(&number.to_be_bytes());
    let mut place = 0;
    event.each_name(&mut |name| {
        *name = removed_name(&digest.0, place);
        place += 1;
    });
    event
}

/// The session after what was recorded, where the events that `is_removed` says have lost their names.
fn left(record: &[(i64, Emitted)], is_removed: impl Fn(usize, &Event) -> bool) -> Session {
    let mut state = State::Absent;
    for (number, (at, one)) in record.iter().enumerate() {
        let AnyEvent::Session(event) = &one.event else {
            continue;
        };
        if one.stream != SESSION.stream() {
            continue;
        }
        let stripped = without_names(number, &one.event);
        let event = match &stripped {
            AnyEvent::Session(stripped) if is_removed(number, event) => stripped,
            _ => event,
        };
        let tester = ActorRef::agent("tester");
        let origin = Origin::new(at_millis(*at), &tester);
        evolve(&mut state, event, &origin);
    }
    match state {
        State::Known(session) => Session::clone(&session),
        State::Absent => panic!("there is no session"),
    }
}

/// How much a verdict lets through: what is less comes later.
fn strictness(session: &Session, body: &CommandBody, at: Timestamp) -> u8 {
    match judge(session, &body.facts(), at, None) {
        Ok(Judgement::Accepted { .. }) => 0,
        Ok(Judgement::Throttled { .. }) => 1,
        Ok(Judgement::Queued) => 2,
        Ok(Judgement::Rejected { .. } | Judgement::Unsaid(_)) => 3,
        Err(_) => 4,
    }
}

fn recorded(stage: &mut Stage, commands: Vec<Command>) -> Vec<(i64, Emitted)> {
    let created = create(SESSION, stage.session().policy.unwrap().as_ref().clone());
    let created = Given::new().execute(created);
    let more = commands
        .into_iter()
        .flat_map(|command| stage.given.execute(command));
    created
        .into_iter()
        .chain(more)
        .map(|one| (0, one))
        .collect()
}

fn protects(branches: &[&str]) -> PolicyProfile {
    PolicyProfile {
        protected_branches: words(branches),
        ..anything()
    }
}

#[test]
fn nothing_is_judged_under_a_policy_whose_names_were_removed() {
    let mut stage = Stage::under(protects(&["main"]));
    let record = recorded(&mut stage, Vec::new());
    let session = left(&record, |_, event| matches!(event, Event::Created(_)));
    let error = judge(&session, &push("work").facts(), at_millis(0), None).unwrap_err();
    assert!(
        error.to_string().contains("were removed by a redaction"),
        "{error}"
    );
}

#[test]
fn a_commit_may_be_to_a_branch_whose_repository_was_removed() {
    let mut stage = Stage::under(protects(&["main"]));
    let commands = vec![submit(1, create_branch("work")).into(), succeeds(1).into()];
    let record = recorded(&mut stage, commands);
    let given = |event: &Event| matches!(event, Event::CommandReceived(_));
    let mut session = left(&record, |_, event| given(event));
    assert_eq!(strictness(&session, &commit(1), at_millis(0)), 3);
    assert!(lacks_names(&session, &commit(1).facts()));
    // Once a branch is created again, it is known.
    let again = submit(2, create_branch("work"));
    for one in stage
        .given
        .execute(again)
        .into_iter()
        .chain(stage.given.execute(succeeds(2)))
    {
        if let AnyEvent::Session(event) = &one.event {
            session.evolve(
                event,
                &Origin::new(at_millis(0), &ActorRef::agent("tester")),
            );
        }
    }
    assert_eq!(strictness(&session, &commit(1), at_millis(0)), 0);
    // Where nothing is protected, there is nothing to know.
    let mut stage = Stage::under(protects(&[]));
    let commands = vec![submit(1, create_branch("work")).into(), succeeds(1).into()];
    let record = recorded(&mut stage, commands);
    let session = left(&record, |_, event| given(event));
    assert_eq!(strictness(&session, &commit(1), at_millis(0)), 0);
}

#[test]
fn who_chooses_a_name_like_one_that_was_removed_gets_nothing_by_it() {
    let stage = Stage::under(protects(&["main"]));
    let name = removed_name(&[7; 32], 0);
    stage.check_invalid(submit(1, push(&name)), "branchName", "white space");
    assert!(is_removed_name(&name));
    for name in [
        "[removed]",
        "[removed a7.0]",
        "[removed a7a7a7a7a7a7a7a7.x]",
        "main",
    ] {
        assert!(!is_removed_name(name), "{name}");
    }
}

/// A session that another system kept may be on a protected branch, which none that began here is.
#[test]
fn a_repository_named_like_a_removed_one_does_not_hide_a_protected_branch() {
    let mut stage = Stage::before(protects(&["main"]));
    let record = recorded(&mut stage, Vec::new());
    let mut session = left(&record, |_, _| false);
    session.repo = None;
    session.branches.insert("/app".into(), "main".into());
    let mut facts = commit(1).facts();
    let verdict = |session: &Session, facts: &CommandFacts| {
        matches!(
            judge(session, facts, at_millis(0), None),
            Ok(Judgement::Rejected { .. })
        )
    };
    assert!(verdict(&session, &facts));
    let elsewhere = CreateBranch {
        repo: repo(&removed_name(&[7; 32], 0)),
        branch_name: "work".into(),
        from_ref: None,
    };
    let created = [
        stage.given.execute(submit(2, CommandBody::from(elsewhere))),
        stage.given.execute(succeeds(2)),
    ];
    for one in created.into_iter().flatten() {
        if let AnyEvent::Session(event) = &one.event {
            session.evolve(
                event,
                &Origin::new(at_millis(0), &ActorRef::agent("tester")),
            );
        }
    }
    assert!(verdict(&session, &facts), "it may be on main still");
    facts.repo = Some(removed_name(&[8; 32], 0));
    assert!(verdict(&session, &facts), "it may be any repository");
}

#[test]
fn nobody_judges_a_step_again_whose_tickets_state_was_removed() {
    let policy = PolicyProfile {
        allowed_work_item_transitions: Some(words(&["Open->Done"])),
        ..anything()
    };
    let mut stage = Stage::under(policy);
    let items = vec![WorkItemSummary {
        id: "A".into(),
        title: "t".into(),
        status: "Open".into(),
        assignee: None,
    }];
    let read = RecordBacklog {
        session: SESSION,
        id: id(1),
        items,
    };
    let commands = vec![submit(1, query_backlog()).into(), read.into()];
    let record = recorded(&mut stage, commands);
    let facts = transition("A", "Done").facts();
    let whole = left(&record, |_, _| false);
    assert!(!lacks_names(&whole, &facts));
    assert!(!lacks_names(&whole, &transition("B", "Done").facts()));
    let session = left(&record, |_, event| {
        matches!(event, Event::BacklogQueried(_))
    });
    assert!(lacks_names(&session, &facts));
    assert!(
        !lacks_names(&session, &commit(1).facts()),
        "it has no ticket"
    );
}

#[test]
fn a_policy_has_no_name_like_one_that_was_removed() {
    let name = removed_name(&[7; 32], 0);
    for policy in [
        PolicyProfile {
            name: name.clone(),
            ..anything()
        },
        protects(&[&name]),
    ] {
        let error = policy.check().expect_err("it stands for another");
        assert!(error.to_string().contains("a redaction removed"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whichever names are removed, no command is let through that was refused before; the rest of the
    /// session is as it was.
    #[test]
    fn removing_names_lets_nothing_through(
        script in scripts(),
        removed in proptest::collection::vec(any::<bool>(), 64),
        probes in proptest::collection::vec(body(), 24),
    ) {
        let play = Play::of(&script);
        let last = play.record.iter().map(|(at, _)| *at).max().unwrap_or_default();
        let at = at_millis(last + 1_000);
        let before = left(&play.record, |_, _| false);
        // The policy's names go rarely, as then nothing is judged.
        let goes = |number: usize, event: &Event| {
            removed[number % removed.len()]
                && (removed[0] && removed[1] && removed[2] || !matches!(event, Event::Created(_)))
        };
        let after = left(&play.record, goes);
        for probe in probes {
            let (was, is) = (strictness(&before, &probe, at), strictness(&after, &probe, at));
            prop_assert!(is >= was, "{probe:?}: {was} before, {is} after");
        }
        let shape = |session: &Session| {
            (
                (session.status, session.failures, session.changes),
                (session.level, session.open.keys().copied().collect::<Vec<_>>()),
                session.pending.iter().map(|pending| pending.request).collect::<Vec<_>>(),
                session.queue.iter().map(|waiting| waiting.command).collect::<Vec<_>>(),
            )
        };
        prop_assert_eq!(shape(&after), shape(&before));
    }
}

/// What the property above compares is seen to differ: the states of tickets, and branches.
#[test]
fn an_older_state_of_a_ticket_does_not_count_again() {
    let policy = PolicyProfile {
        allowed_work_item_transitions: Some(words(&["Open->Done"])),
        ..anything()
    };
    let mut stage = Stage::under(policy);
    let read = |number: u128, state: &str| -> Vec<Command> {
        let items = vec![WorkItemSummary {
            id: "A".into(),
            title: "t".into(),
            status: state.into(),
            assignee: None,
        }];
        let read = RecordBacklog {
            session: SESSION,
            id: id(number),
            items,
        };
        vec![submit(number, query_backlog()).into(), read.into()]
    };
    let record = recorded(&mut stage, [read(1, "Open"), read(2, "Done")].concat());
    let probe = transition("A", "Done");
    let read = |(_, one): &(i64, Emitted)| {
        matches!(&one.event, AnyEvent::Session(Event::BacklogQueried(_)))
    };
    let last = record.iter().rposition(read).unwrap();
    assert_eq!(
        strictness(&left(&record, |_, _| false), &probe, at_millis(0)),
        3
    );
    let after = left(&record, |number, _| number == last);
    assert_eq!(strictness(&after, &probe, at_millis(0)), 3);
    // The control: without the second reading it would be allowed.
    let earlier: Vec<_> = record[..last].to_vec();
    assert_eq!(
        strictness(&left(&earlier, |_, _| false), &probe, at_millis(0)),
        0
    );
}
