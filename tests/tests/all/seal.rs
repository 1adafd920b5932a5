//! Sealing: the checksum is that of the object as it is then, and any later
//! event breaks it.

use annals::domain::intent::CreateIntent;
use annals::domain::metadata::{Seal, SetMetadata, Visibility};
use annals::domain::{ActorRef, IntegrityHash, IntentId};
use annals::projections::IntentView;
use annals::{Annals, Request};
use futures::executor::block_on;
use uuid::Uuid;

fn sealing(intent: IntentId) -> Request {
    let command = Seal::new(intent.0);
    Request::new(ActorRef::system("keeper"), command)
}

async fn checksum(annals: &Annals, intent: IntentId) -> (Option<IntegrityHash>, IntegrityHash) {
    let view: IntentView = annals.get(intent).await.expect("an intent");
    let json = serde_json::to_value(&view).expect("JSON");
    (view.header.checksum, IntegrityHash::seal(&json))
}

#[test]
fn a_seal_holds_until_something_happens() {
    block_on(async {
        let annals = Annals::open("memory:").await.expect("a log");
        let actor = ActorRef::human("alice");
        let intent = annals
            .by(&actor)
            .submit("Add pagination")
            .await
            .expect("an intent");
        assert_eq!(checksum(&annals, intent).await.0, None);

        annals
            .proofs()
            .seal(intent, sealing(intent))
            .await
            .expect("a seal");
        let (recorded, computed) = checksum(&annals, intent).await;
        assert_eq!(recorded, Some(computed));

        let publish = SetMetadata::new(intent.0).with_visibility(Visibility::Public);
        annals
            .execute(Request::new(actor, publish))
            .await
            .expect("an event");
        assert_eq!(
            checksum(&annals, intent).await.0,
            None,
            "the seal is broken"
        );
        annals
            .proofs()
            .seal(intent, sealing(intent))
            .await
            .expect("a seal");
        let (recorded, computed) = checksum(&annals, intent).await;
        assert_eq!(recorded, Some(computed));
    });
}

#[test]
fn a_seal_with_a_key_is_made_once() {
    block_on(async {
        let annals = Annals::open("memory:").await.expect("a log");
        let create = CreateIntent::new("x");
        let created = annals
            .execute(Request::new(ActorRef::human("alice"), create))
            .await;
        let intent = IntentId(created.expect("an intent").id.expect("its id"));
        let key = Uuid::now_v7();
        let first = annals
            .proofs()
            .seal(intent, sealing(intent).key(key))
            .await
            .expect("a seal");
        let position = annals.position();
        let again = annals
            .proofs()
            .seal(intent, sealing(intent).key(key))
            .await
            .expect("the same seal");
        assert_eq!((first.id, first.position), (again.id, again.position));
        assert_eq!(annals.position(), position);
    });
}
