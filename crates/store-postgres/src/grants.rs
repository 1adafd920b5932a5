//! What the roles may do with the tables: a writer what appends, redactions and read models take, and a reader nothing
//! but read. A role that does not exist is passed over; it is granted at the next migration, or by hand
//! (docs/postgres.md).

use deadpool_postgres::ClientWrapper;

use crate::failure::Failure;
use crate::settings::Settings;
use crate::statements::in_schema;

/// Of a writer. Records are added, and changed by a redaction alone; none is ever deleted.
const WRITER: &str = "
    GRANT USAGE ON SCHEMA {s} TO {role};
    GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO {role};
    GRANT INSERT ON {s}.logs TO {role};
    GRANT INSERT, UPDATE ON {s}.heads, {s}.epochs TO {role};
    GRANT INSERT, UPDATE (record) ON {s}.records TO {role};
    GRANT INSERT, UPDATE (last, salt, digest) ON {s}.batches TO {role};
    GRANT INSERT, UPDATE (version) ON {s}.streams TO {role};
    GRANT INSERT ON {s}.tree TO {role};
    GRANT INSERT, DELETE ON {s}.blobs, {s}.removed_objects TO {role};
    GRANT INSERT, UPDATE, DELETE ON {s}.models, {s}.model_rows TO {role}";

/// Of a writer, from the second step on.
const WRITER_OF_LEASES: &str = "GRANT INSERT, UPDATE, DELETE ON {s}.leases TO {role}";

/// Of a reader.
const READER: &str = "
    GRANT USAGE ON SCHEMA {s} TO {role};
    GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO {role}";

/// Grants the roles that exist what they need in a schema of this version.
pub(crate) async fn give(
    client: &ClientWrapper,
    settings: &Settings,
    version: i64,
) -> Result<(), Failure> {
    let mut grants = vec![
        (&settings.writer_role, WRITER),
        (&settings.reader_role, READER),
    ];
    if version >= 2 {
        grants.push((&settings.writer_role, WRITER_OF_LEASES));
    }
    for (role, text) in grants {
        let exists = client
            .query_opt("SELECT 1 FROM pg_roles WHERE rolname = $1", &[role])
            .await?;
        if exists.is_none() {
            continue;
        }
        // Names of roles are checked to have no quotes.
        let text = in_schema(text, &settings.schema).replace("{role}", &format!("\"{role}\""));
        client.batch_execute(&text).await?;
    }
    Ok(())
}
