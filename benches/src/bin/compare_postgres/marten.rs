//! Marten's schema (`marten.sql`), written to as its mode Quick does: a call of `mt_quick_append_events` for what is
//! appended to a stream.

use annals_benches::new_id;
use annals_measure::store::{EVENT_TYPE, StoreError, stream_name};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::connection::Connection;
use crate::target::{Client, Place, Target};

/// `{s}` is the schema.
const SCHEMA: &str = include_str!("marten.sql");

const APPEND: &str = "SELECT {s}.mt_quick_append_events($1::varchar, NULL, $2::varchar, $3::uuid[], $4::varchar[], \
    $4::varchar[], $5::text[]::jsonb[])";

/// The only tenant of a store without tenants.
const TENANT: &str = "*DEFAULT*";

/// Stores in schemas of their own, which are the logs.
pub struct Marten {
    url: String,
    schemas: Vec<String>,
}

impl Marten {
    /// Makes them in an empty database.
    pub fn make(place: Place<'_>) -> Result<Marten, StoreError> {
        let connection = Connection::open(place.url)?;
        let schemas: Vec<String> = (0..place.logs).map(|log| format!("marten_{log}")).collect();
        for schema in &schemas {
            connection.run(&SCHEMA.replace("{s}", schema))?;
        }
        Ok(Marten {
            url: place.url.to_owned(),
            schemas,
        })
    }
}

impl Target for Marten {
    fn client(&self, log: usize) -> Result<Box<dyn Client>, StoreError> {
        let schema = self.schemas.get(log);
        let schema = schema.ok_or_else(|| StoreError::failed("there is no such log"))?;
        let connection = Connection::open(&self.url)?;
        Ok(Box::new(MartenClient {
            append: connection.prepare(&APPEND.replace("{s}", schema))?,
            connection,
        }))
    }

    fn events(&self) -> Result<u64, StoreError> {
        let connection = Connection::open(&self.url)?;
        let count = |schema: &String| {
            connection.number(&format!("SELECT count(*) FROM {schema}.mt_events"))
        };
        self.schemas.iter().map(count).sum()
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

struct MartenClient {
    append: Statement,
    connection: Connection,
}

impl Client for MartenClient {
    fn append(&mut self, stream: usize, payloads: Vec<String>) -> Result<(), StoreError> {
        let stream = stream_name(stream);
        let ids: Vec<Uuid> = payloads.iter().map(|_| new_id()).collect();
        let types = vec![EVENT_TYPE; payloads.len()];
        self.connection
            .execute(&self.append, &[&stream, &TENANT, &ids, &types, &payloads])
    }
}
