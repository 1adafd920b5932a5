//! Subscriptions with names, whose place in the log is kept with it.

use std::pin::pin;
use std::time::Duration;

use annals_event_log::{
    Classification, Classified, CommitError, ErrorClass, Position, ReadError, Record, Row,
    SUBSCRIPTIONS,
};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use crate::Annals;
use crate::deadline::within;

/// How often a place is written again because another subscription's was written meanwhile.
const ATTEMPTS: u32 = 64;
/// The longest name, in bytes.
const NAME_BYTES: usize = 100;
/// Places that are read at once.
const PAGE: usize = 1_000;

/// Why a subscription's place was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscriptionError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The place could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The name has other characters, none, or too many.
    #[error(
        "invalid name of a subscription {name:?}: expected 1 to 100 of `a-z`, `A-Z`, `0-9`, `-`, `_`, `.` and `:`"
    )]
    InvalidName {
        /// The name, cut to its first 100 characters.
        name: String,
    },
    /// A place behind the end of the log, or before what was acknowledged already.
    #[error(
        "subscription {name} cannot acknowledge {position}: it has acknowledged {acknowledged}, and the log ends at {end}"
    )]
    OutOfPlace {
        /// The subscription's name.
        name: String,
        /// What was to be acknowledged.
        position: Position,
        /// What was acknowledged last.
        acknowledged: Position,
        /// The log's end.
        end: Position,
    },
    /// Another process reads by the same name, and is further on or further back: both would handle each event.
    #[error(
        "subscription {name} was at {expected} here and is at {actual} now: another process reads by the same name"
    )]
    TwoReaders {
        /// The subscription's name.
        name: String,
        /// Where this one was.
        expected: Position,
        /// Where it is now.
        actual: Position,
    },
    /// Its place is not what this version writes.
    #[error("the place of subscription {name} is malformed; drop the subscription")]
    Malformed {
        /// The subscription's name.
        name: String,
    },
}

impl Classified for SubscriptionError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid};
        match self {
            SubscriptionError::Read(error) => error.classify(),
            SubscriptionError::Commit(error) => error.classify(),
            SubscriptionError::InvalidName { .. } => Invalid.code("invalid_name"),
            SubscriptionError::OutOfPlace { .. } => Invalid.code("out_of_place"),
            SubscriptionError::TwoReaders { .. } => Contended.code("two_readers"),
            SubscriptionError::Malformed { .. } => Failed.code("unreadable"),
        }
    }
}

/// Where a subscription is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionPlace {
    /// Its name.
    pub name: String,
    /// The last event that was acknowledged; [`Position::START`] if none was.
    pub acknowledged: Position,
    /// How many events the log has behind it.
    pub behind: u64,
}

/// The log from where this subscription's events were acknowledged the last time, in this process or an earlier one.
///
/// Each event comes *at least once*: what was handled and not acknowledged when the process ended comes again, and so
/// may what was acknowledged right before a power cut. To count each exactly once, fold the events into a read model in
/// the same store ([`ReadModel`](crate::projections::ReadModel)), or remember their event ids beside what is made of
/// them.
///
/// A subscription's place outlives redactions. One process at a time reads by a name; where a second one does, the
/// slower one's acknowledgement is [`SubscriptionError::TwoReaders`].
///
/// ```
/// # use annals::{Annals, SubscriptionError};
/// # use annals::domain::ActorRef;
/// # use annals::event_log::Position;
/// # futures::executor::block_on(async {
/// let annals = Annals::open("memory:").await?;
/// annals.by(&ActorRef::human("ada")).submit("Mend the parser").await?;
///
/// let mut mailer = annals.subscription("mailer").await?;
/// let record = mailer.next().await?;
/// assert_eq!(record.event_type(), "intent.submitted");
/// // The mail is sent; then:
/// mailer.acknowledge(record.position()).await?;
///
/// // The next one, also in another process, goes on behind it.
/// let again = annals.subscription("mailer").await?;
/// assert_eq!(again.acknowledged(), record.position());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Subscription {
    annals: Annals,
    name: String,
    acknowledged: Position,
    records: BoxStream<'static, Result<Record, ReadError>>,
}

impl Annals {
    /// A subscription by its name; a new one begins with the log's first event. Nothing is written before the first
    /// acknowledgement.
    ///
    /// # Errors
    /// [`SubscriptionError`].
    pub async fn subscription(&self, name: &str) -> Result<Subscription, SubscriptionError> {
        self.subscription_after(name, Position::START).await
    }

    /// The same, where a new one begins behind `after`.
    ///
    /// # Errors
    /// [`SubscriptionError`].
    pub async fn subscription_after(
        &self,
        name: &str,
        after: Position,
    ) -> Result<Subscription, SubscriptionError> {
        check_name(name)?;
        let acknowledged = self.place(name).await?;
        Ok(Subscription {
            records: self.subscribe(acknowledged.unwrap_or(after)).boxed(),
            annals: self.clone(),
            name: name.to_owned(),
            acknowledged: acknowledged.unwrap_or(Position::START),
        })
    }

    /// All subscriptions that have acknowledged something, by their names.
    ///
    /// # Errors
    /// [`SubscriptionError`].
    pub async fn subscriptions(&self) -> Result<Vec<SubscriptionPlace>, SubscriptionError> {
        let mut places = Vec::new();
        let mut after: Option<Bytes> = None;
        loop {
            let rows = self
                .log
                .scan(SUBSCRIPTIONS, b"", after.as_deref(), PAGE)
                .await?;
            let end = self.log.watermark();
            for row in &rows {
                let (name, acknowledged) = place_of(row)?;
                places.push(SubscriptionPlace {
                    behind: end.0.saturating_sub(acknowledged.0),
                    name,
                    acknowledged,
                });
            }
            match rows.into_iter().last() {
                Some((name, _)) => after = Some(name),
                None => return Ok(places),
            }
        }
    }

    /// Forgets a subscription; whether there was one. One that is opened by its name again begins with the first event.
    ///
    /// # Errors
    /// [`SubscriptionError`].
    pub async fn drop_subscription(&self, name: &str) -> Result<bool, SubscriptionError> {
        check_name(name)?;
        let was_there = self.place(name).await?.is_some();
        if was_there {
            self.put_place(name, None, None).await?;
        }
        Ok(was_there)
    }

    async fn place(&self, name: &str) -> Result<Option<Position>, SubscriptionError> {
        let found = self.log.get(SUBSCRIPTIONS, name.as_bytes()).await?;
        let row = found.map(|value| (Bytes::copy_from_slice(name.as_bytes()), value));
        row.map(|row| place_of(&row).map(|(_, position)| position))
            .transpose()
    }

    /// Writes a place, or removes it. Where one is expected, it must be there.
    async fn put_place(
        &self,
        name: &str,
        place: Option<Position>,
        expected: Option<Position>,
    ) -> Result<(), SubscriptionError> {
        let mut attempt = 0;
        loop {
            let checkpoint = self.log.checkpoint(SUBSCRIPTIONS).await?;
            let actual = self.place(name).await?.unwrap_or(Position::START);
            // An attempt whose answer was lost may have written the place: it is written once more, so that it is known
            // to survive.
            let is_own = attempt > 0 && Some(actual) == place;
            if let Some(expected) = expected.filter(|it| *it != actual && !is_own) {
                return Err(SubscriptionError::TwoReaders {
                    name: name.to_owned(),
                    expected,
                    actual,
                });
            }
            let value = place.map(|position| Bytes::copy_from_slice(&position.0.to_be_bytes()));
            let rows = vec![(Bytes::copy_from_slice(name.as_bytes()), value)];
            let position = place.unwrap_or_default().max(checkpoint.position);
            let done = self
                .log
                .commit(SUBSCRIPTIONS, checkpoint, rows, position)
                .await;
            attempt += 1;
            match done {
                // Another subscription's place was written meanwhile, or content was removed.
                Err(CommitError::Checkpoint { .. } | CommitError::Epoch { .. })
                    if attempt < ATTEMPTS => {}
                done => return Ok(done?),
            }
        }
    }
}

impl Subscription {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last event that was acknowledged; [`Position::START`] if none was.
    pub fn acknowledged(&self) -> Position {
        self.acknowledged
    }

    /// The next event; it waits for one where there is none, as long as it takes: a log that nobody writes to has no
    /// next one. May be given up and called again, and ends when the log is closed, also by another handle.
    /// [`Subscription::next_within`] waits no longer than it is told to.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::Closed`] when the log is closed.
    pub async fn next(&mut self) -> Result<Record, ReadError> {
        match self.records.next().await {
            Some(record) => record,
            None => Err(ReadError::Closed),
        }
    }

    /// The next event, or nothing, if none comes in that time. What comes later is next.
    ///
    /// # Errors
    /// As [`Subscription::next`].
    pub async fn next_within(&mut self, limit: Duration) -> Result<Option<Record>, ReadError> {
        let mut next = pin!(self.next());
        // What is there needs no clock.
        match (&mut next).now_or_never() {
            Some(next) => next.map(Some),
            None => within(limit, next).await.transpose(),
        }
    }

    /// Says that all events up to this position are dealt with. Several can be acknowledged at once: it is a write to
    /// the store.
    ///
    /// # Errors
    /// [`SubscriptionError`]; the place is as before then.
    pub async fn acknowledge(&mut self, position: Position) -> Result<(), SubscriptionError> {
        let (acknowledged, end) = (self.acknowledged, self.annals.log.watermark());
        if position < acknowledged || position > end {
            return Err(SubscriptionError::OutOfPlace {
                name: self.name.clone(),
                position,
                acknowledged,
                end,
            });
        }
        self.annals
            .put_place(&self.name, Some(position), Some(acknowledged))
            .await?;
        self.acknowledged = position;
        Ok(())
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("name", &self.name)
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<(), SubscriptionError> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.:".contains(&b);
    if name.is_empty() || name.len() > NAME_BYTES || !name.bytes().all(allowed) {
        let name = name.chars().take(NAME_BYTES).collect();
        return Err(SubscriptionError::InvalidName { name });
    }
    Ok(())
}

fn place_of((name, value): &Row) -> Result<(String, Position), SubscriptionError> {
    let name = String::from_utf8_lossy(name).into_owned();
    match value.as_ref().try_into().map(u64::from_be_bytes) {
        Ok(position) => Ok((name, Position(position))),
        Err(_) => Err(SubscriptionError::Malformed { name }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals_domain::ActorRef;
    use futures::executor::block_on;

    use super::*;
    use crate::{OpenOptions, RedactRequest, Target};

    async fn log(intents: usize) -> Annals {
        let annals = Annals::open("memory:").await.unwrap();
        let ada = ActorRef::human("ada");
        for number in 0..intents {
            let prompt = format!("intent {number}");
            annals.by(&ada).submit(&prompt).await.unwrap();
        }
        annals
    }

    async fn read(subscription: &mut Subscription, count: usize) -> Vec<u64> {
        let mut read = Vec::new();
        for _ in 0..count {
            read.push(subscription.next().await.unwrap().position().0);
        }
        read
    }

    #[test]
    fn what_was_not_acknowledged_comes_again() {
        block_on(async {
            let annals = log(4).await;
            let mut first = annals.subscription("mailer").await.unwrap();
            assert_eq!(read(&mut first, 3).await, [1, 2, 3]);
            first.acknowledge(Position(2)).await.unwrap();
            drop(first);
            let mut again = annals.subscription("mailer").await.unwrap();
            assert_eq!(read(&mut again, 2).await, [3, 4]);
            // Others have places of their own.
            let mut other = annals
                .subscription_after("Other:1", Position(3))
                .await
                .unwrap();
            assert_eq!(read(&mut other, 1).await, [4]);
            other.acknowledge(Position(4)).await.unwrap();
            let places = annals.subscriptions().await.unwrap();
            let places: Vec<_> = places
                .iter()
                .map(|it| (it.name.as_str(), it.acknowledged.0, it.behind))
                .collect();
            assert_eq!(places, [("Other:1", 4, 0), ("mailer", 2, 2)]);
            assert!(annals.drop_subscription("mailer").await.unwrap());
            assert!(!annals.drop_subscription("mailer").await.unwrap());
            let mut first = annals.subscription("mailer").await.unwrap();
            assert_eq!(read(&mut first, 1).await, [1]);
        });
    }

    #[test]
    fn who_waits_no_longer_than_a_time_has_what_comes_later() {
        block_on(async {
            let annals = log(1).await;
            let mut mailer = annals.subscription("mailer").await.unwrap();
            let short = Duration::from_millis(20);
            let first = mailer.next_within(short).await.unwrap();
            assert_eq!(first.map(|record| record.position()), Some(Position(1)));
            for _ in 0..2 {
                assert_eq!(mailer.next_within(short).await.unwrap(), None);
            }
            annals
                .by(&ActorRef::human("ada"))
                .submit("more")
                .await
                .unwrap();
            let long = Duration::from_secs(60);
            let second = mailer.next_within(long).await.unwrap();
            assert_eq!(second.map(|record| record.position()), Some(Position(2)));
        });
    }

    /// A log that nobody writes to has no next event: who waits for it is woken by closing the log.
    #[test]
    fn a_wait_for_a_log_that_nobody_writes_to_ends_with_the_log() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let path = path.to_str().unwrap();
        let create = OpenOptions::new().create(true).open(path).unwrap();
        block_on(create.close());
        let reader = OpenOptions::new().read_only(true).open(path).unwrap();
        let handle = reader.clone();
        let waiting = std::thread::spawn(move || {
            block_on(async {
                let mut mailer = handle.subscription("mailer").await.unwrap();
                let nothing = mailer.next_within(Duration::from_millis(200)).await;
                assert_eq!(nothing.unwrap(), None);
                mailer.next().await
            })
        });
        std::thread::sleep(Duration::from_millis(400));
        assert!(!waiting.is_finished());
        block_on(reader.close());
        let ended = waiting.join().unwrap();
        assert!(matches!(ended, Err(ReadError::Closed)), "{ended:?}");
    }

    #[test]
    fn a_redaction_leaves_the_place() {
        block_on(async {
            let annals = log(3).await;
            let mut mailer = annals.subscription("mailer").await.unwrap();
            mailer.acknowledge(Position(2)).await.unwrap();
            let target = Target::Event(Position(1));
            let request = RedactRequest::new(vec![target], ActorRef::human("ada"), "a secret");
            let redacted = annals.contents().redact(&request, &mut |_| {}).await;
            redacted.unwrap();
            // One that was read by before goes on, too.
            mailer.acknowledge(Position(3)).await.unwrap();
            let mut again = annals.subscription("mailer").await.unwrap();
            let redacted = again.next().await.unwrap();
            assert_eq!(redacted.event_type(), "intent.redacted");
        });
    }

    #[test]
    fn two_readers_by_one_name_are_told() {
        block_on(async {
            let annals = log(3).await;
            let mut first = annals.subscription("mailer").await.unwrap();
            let mut second = annals.subscription("mailer").await.unwrap();
            first.acknowledge(Position(1)).await.unwrap();
            let refused = second.acknowledge(Position(2)).await.unwrap_err();
            assert!(
                matches!(refused, SubscriptionError::TwoReaders { .. }),
                "{refused}"
            );
            for position in [Position(4), Position(0)] {
                let refused = first.acknowledge(position).await.unwrap_err();
                assert!(
                    matches!(refused, SubscriptionError::OutOfPlace { .. }),
                    "{refused}"
                );
            }
            assert_eq!(
                annals.subscriptions().await.unwrap()[0].acknowledged,
                Position(1)
            );
        });
    }

    #[test]
    fn names_are_plain() {
        block_on(async {
            let annals = log(1).await;
            for name in ["", "a b", "ä", "a/b", &"a".repeat(101)] {
                let refused = annals.subscription(name).await.unwrap_err();
                assert!(
                    refused.to_string().contains("expected 1 to 100"),
                    "{refused}"
                );
            }
        });
    }
}
