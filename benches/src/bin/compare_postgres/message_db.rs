//! message-db's schema (`message_db.sql`), written to as its clients do: a call of `write_message` for each message.

use annals_benches::new_id;
use annals_measure::store::{EVENT_TYPE, StoreError};
use tokio_postgres::Statement;

use crate::connection::Connection;
use crate::target::{Client, Place, Target};

const SCHEMA: &str = include_str!("message_db.sql");

const ONE: &str =
    "SELECT message_store.write_message($1::varchar, $2::varchar, $3::varchar, $4::text::jsonb)";

/// The function sees what its calls before have written, as it is volatile.
const MANY: &str = "SELECT count(message_store.write_message(m.id, $2::varchar, $3::varchar, m.body::jsonb)) \
    FROM unnest($1::varchar[], $4::text[]) AS m (id, body)";

/// One message store, whose categories are the logs.
pub struct MessageDb {
    url: String,
}

impl MessageDb {
    /// Makes it in an empty database.
    pub fn make(place: Place<'_>) -> Result<MessageDb, StoreError> {
        Connection::open(place.url)?.run(SCHEMA)?;
        Ok(MessageDb {
            url: place.url.to_owned(),
        })
    }
}

impl Target for MessageDb {
    fn client(&self, log: usize) -> Result<Box<dyn Client>, StoreError> {
        let connection = Connection::open(&self.url)?;
        Ok(Box::new(MessageDbClient {
            one: connection.prepare(ONE)?,
            many: connection.prepare(MANY)?,
            connection,
            log,
        }))
    }

    fn events(&self) -> Result<u64, StoreError> {
        Connection::open(&self.url)?.number("SELECT count(*) FROM message_store.messages")
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

struct MessageDbClient {
    one: Statement,
    many: Statement,
    connection: Connection,
    log: usize,
}

impl Client for MessageDbClient {
    fn append(&mut self, stream: usize, payloads: Vec<String>) -> Result<(), StoreError> {
        // The category is what is before the hyphen.
        let stream = format!("log{}-{stream:04}", self.log);
        let ids: Vec<String> = payloads.iter().map(|_| new_id().to_string()).collect();
        match (ids.as_slice(), payloads.as_slice()) {
            ([id], [payload]) => self
                .connection
                .execute(&self.one, &[id, &stream, &EVENT_TYPE, payload]),
            _ => self
                .connection
                .execute(&self.many, &[&ids, &stream, &EVENT_TYPE, &payloads]),
        }
    }
}
