//! Events are looked up by their ids, also those of imported sessions, with the ids that they came with.

use annals_domain::session::{Adopted, Event};
use annals_domain::{ActorRef, AnyEvent, Dialect, Emitted, Pieces, SessionId, Timestamp};
use annals_event_log::{Position, Version};
use futures::executor::block_on;
use uuid::Uuid;

use super::support::log_of;
use crate::{Annals, RecordedEvent};

fn import(annals: &Annals, session: u128, id: Uuid) {
    let stream = SessionId(Uuid::from_u128(session)).stream();
    let adopted = Adopted {
        dialect: Dialect::Contracts,
        config: None,
    };
    let recorded = RecordedEvent {
        id,
        at: Timestamp::EPOCH,
        emitted: Emitted {
            stream,
            event: AnyEvent::Session(Event::from(adopted)),
            pieces: Pieces::new(),
        },
    };
    let after = [(stream, Version::NONE)];
    let by = ActorRef::system("contracts");
    block_on(annals.imports().record(&after, &by, &[recorded])).unwrap();
}

#[test]
fn an_event_of_this_log_goes_before_one_that_came_with_its_id() {
    let annals = log_of(5);
    let find = |id| block_on(annals.proofs().find_event(id, |_| {})).unwrap();
    let ours = Uuid::from_u128(0xE0_0002);
    assert_eq!(find(ours), Some(Position(2)));
    import(&annals, 1, ours);
    assert_eq!(find(ours), Some(Position(2)));
    // Of two that came with an id, the first that came.
    let theirs = Uuid::from_u128(7);
    import(&annals, 2, theirs);
    import(&annals, 3, theirs);
    assert_eq!(find(theirs), Some(Position(7)));
}
