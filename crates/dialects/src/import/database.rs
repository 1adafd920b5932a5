//! Recordings that are SQLite databases: a private copy, its rows in an order, each cell without its
//! secrets before anything reads it.
//!
//! The database may be in use, and may come from a stranger. It is copied with its write-ahead log
//! through files that are open, so that no other file is read than those that were found. Of the database there are as
//! many pages copied as its header counts, and holes stay holes. The copy has secrets: one that a killed process left is
//! removed by the next import of a database. Of the copy only tables are read, none of its views, triggers or functions, and no cell over [`LINE_LIMIT`].

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use annals_files::{Dir, Root, Scratch};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Statement};

use super::redacted::{NotUtf8, RedactedText};
use crate::lines::LINE_LIMIT;
use crate::secrets::{Hit, Secrets};

/// How a database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The bytes of a database's header.
const HEADER: usize = 100;

/// The longest database that is copied, and the longest write-ahead log, in bytes.
const MOST_COPIED: u64 = 16 << 30;

/// So many bytes are copied at once; those that are all zero become a hole.
const AT_ONCE: usize = 64 * 1024;

/// How the folders are named in which copies are.
const COPIES: &str = "annals-database-";

/// So often a database is copied again that was written meanwhile.
const TRIES: usize = 3;

/// The memory for pages of the copy, in KiB.
const CACHE_KIB: i64 = 8 * 1024;

/// So many columns of a row are in the list of keys.
const KEYS: usize = 4;

/// The limit of a table's name in a report, in characters.
const LONGEST_NAME: usize = 100;

/// The list of keys: the number of a row's table, its `rowid`, and what it is ordered by.
const LIST: &str = "CREATE TABLE keys (nr INTEGER, id INTEGER, a, b, c, d);
                    CREATE INDEX keys_by_name ON keys (nr, b, c);
                    BEGIN;";

/// The tables of a format's databases.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) tables: &'static [TableOf],
    /// Other tables of such a database, without content of conversations.
    pub(crate) beside: &'static [&'static str],
    /// Sets of columns by which an unknown table counts as one of sessions or messages.
    pub(crate) marks: &'static [&'static [&'static str]],
    /// How the rows are ordered: what follows `SELECT nr, id FROM keys AS k`. The list has of each row
    /// the number of its table within `tables` as `nr`, its `rowid` as `id` and its keys as `a` to `d`.
    pub(crate) order: &'static str,
}

/// A table.
#[derive(Debug)]
pub(crate) struct TableOf {
    pub(crate) name: &'static str,
    /// The columns that are read; one that a version does not have is left out.
    pub(crate) columns: &'static [&'static str],
    /// The columns that the rows are ordered by; at most [`KEYS`].
    pub(crate) keys: &'static [&'static str],
    /// Returns `true` if the absence of the table is a fault. `has` looks up another table.
    pub(crate) is_missed: fn(has: HasTable<'_>) -> bool,
}

/// Returns `true` if a database has a table of this name.
pub(crate) type HasTable<'a> = &'a dyn Fn(&str) -> bool;

/// A row: its cells that are texts or numbers, without their secrets.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    pub(crate) id: i64,
    pub(crate) cells: Vec<(&'static str, RedactedText)>,
}

impl Row {
    /// A cell; none where there is none.
    pub(crate) fn cell(&self, column: &str) -> Option<&str> {
        let (_, text) = self.cells.iter().find(|(name, _)| *name == column)?;
        Some(text.as_str())
    }

    /// How long its cells are, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let cells = self
            .cells
            .iter()
            .map(|(_, text)| text.as_str().len() as u64);
        cells.sum()
    }
}

/// Why a database, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    #[error("it cannot be copied: {0}")]
    Copy(#[from] io::Error),
    #[error("it has {0} bytes, and at most {most} (16 GiB) are copied", most = MOST_COPIED)]
    TooLong(u64),
    #[error("it changes while it is copied; repeat the import when its program rests")]
    Changing,
    #[error("it is cut: it has {found} bytes of {expected}")]
    Cut { expected: u64, found: u64 },
    #[error("it has no table \"{0}\"")]
    NoTable(&'static str),
    #[error("it is compressed: decompress it, and import it again")]
    Compressed,
    #[error(
        "its table \"{table}\" is not read, as its form is not known (rows: {rows}); a newer version of this program may read it"
    )]
    UnknownTable { table: String, rows: u64 },
    #[error("it has none of the tables that were expected: {0}")]
    NoTables(String),
    #[error("the database cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("rows of the table \"{table}\" cannot be read: {reason}")]
    Rows { table: &'static str, reason: String },
    #[error("row {id} of the table \"{table}\": {reason}")]
    Row {
        table: &'static str,
        id: i64,
        reason: String,
    },
}

/// Whether a file is a database, by its first bytes.
pub(crate) fn is_one(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// A private copy of a database.
pub(crate) struct Database {
    connection: Connection,
    /// The list of keys.
    keys: Connection,
    /// The tables that it has, each with its number and the columns that it has.
    tables: Vec<Found>,
    order: &'static str,
    /// What is wrong with it, which keeps no other row from being read.
    faults: Vec<DatabaseError>,
    /// Where the copy is, as long as it is needed.
    _folder: Scratch,
}

/// A table that a database has.
struct Found {
    nr: i64,
    of: &'static TableOf,
    columns: Vec<&'static str>,
}

/// What is wrong with a row or the database, or a row with the secrets that it had.
type ReadRow = Result<(Row, Vec<Hit>), DatabaseError>;

impl Database {
    /// Copies a database that was opened at `path`, which is below `root`, and opens the copy.
    pub(crate) fn copied(
        file: &mut File,
        root: &Root,
        path: &Path,
        tables: &'static Tables,
    ) -> Result<Database, DatabaseError> {
        let folder = Scratch::new(COPIES, None).map_err(io::Error::from)?;
        let copy = folder.path().join("copy.db");
        let mut faults = Vec::new();
        let has_log = copy_whole(file, root, path, &copy)?;
        // What the log has need not be in the database yet.
        faults.extend(filled_up(&copy)?.filter(|_| !has_log));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&copy, flags)?;
        guard(&connection)?;
        let found = found(&connection, tables)?;
        faults.extend(missing(tables, &found));
        // A fault here must not keep the known tables from being read.
        faults.extend(unknown(&connection, tables).unwrap_or_else(|fault| vec![fault]));
        // A file for temporary data, which no fault of the database reaches.
        let keys = Connection::open("")?;
        keys.pragma_update(None, "cache_size", -CACHE_KIB)?;
        keys.execute_batch(LIST)?;
        for table in &found {
            faults.extend(list(&connection, &keys, table));
        }
        Ok(Database {
            connection,
            keys,
            tables: found,
            order: tables.order,
            faults,
            _folder: folder,
        })
    }

    /// Gives what is wrong to `each`, and then each row with its secrets, or what is wrong with it,
    /// until `each` says that there is enough.
    pub(crate) fn rows<E>(
        mut self,
        secrets: &Secrets,
        mut each: impl FnMut(ReadRow) -> Result<(), E>,
    ) -> Result<Result<(), E>, DatabaseError> {
        for fault in std::mem::take(&mut self.faults) {
            if let Err(enough) = each(Err(fault)) {
                return Ok(Err(enough));
            }
        }
        let mut selects = Vec::new();
        for table in &self.tables {
            let (columns, name) = (quoted(&table.columns), table.of.name);
            let select = format!("SELECT {columns} FROM main.\"{name}\" WHERE rowid = ?1");
            selects.push((table, self.connection.prepare(&select)?));
        }
        let order = format!("SELECT nr, id FROM keys AS k {}", self.order);
        let mut order = self.keys.prepare(&order)?;
        let mut keys = order.query(())?;
        while let Some(key) = keys.next()? {
            let (nr, id): (i64, i64) = (key.get(0)?, key.get(1)?);
            let select = selects.iter_mut().find(|(table, _)| table.nr == nr);
            let Some((table, select)) = select else {
                continue;
            };
            let named = |reason| DatabaseError::Row {
                table: table.of.name,
                id,
                reason,
            };
            let read = row(select, table, id, secrets).map_err(named);
            if let Err(enough) = each(read) {
                return Ok(Err(enough));
            }
        }
        Ok(Ok(()))
    }
}

/// Puts the keys of a table's rows into the list. A damaged page keeps the rows before it, which are
/// read from the first one on, and those behind it, which are read from the last one back.
fn list(database: &Connection, keys: &Connection, table: &Found) -> Option<DatabaseError> {
    let columns = (0..KEYS).map(|at| table.of.keys.get(at));
    let columns = columns.map(|key| match key {
        Some(key) if table.columns.contains(key) => format!("\"{key}\""),
        _ => "NULL".to_owned(),
    });
    let columns: Vec<String> = columns.collect();
    let (columns, name) = (columns.join(", "), table.of.name);
    let select = format!("SELECT rowid, {columns} FROM main.\"{name}\"");
    let forwards = format!("{select} WHERE rowid >= ?1 ORDER BY rowid");
    let backwards = format!("{select} WHERE rowid > ?1 ORDER BY rowid DESC");
    let mut last = i64::MIN;
    let wanted = |order| Wanted {
        table: table.nr,
        order,
    };
    let forwards = wanted((&forwards, Ordering::Less));
    let Err(reason) = list_in_order(database, keys, &forwards, &mut last) else {
        return None;
    };
    let fault = DatabaseError::Rows {
        table: name,
        reason: reason.to_string(),
    };
    // It ends where the other ended, or at another such page.
    let backwards = wanted((&backwards, Ordering::Greater));
    list_in_order(database, keys, &backwards, &mut last).ok();
    Some(fault)
}

/// Rows whose keys are listed.
struct Wanted<'a> {
    /// The number of their table.
    table: i64,
    /// What selects them, and how each row's id is to that of the row behind it.
    order: (&'a str, Ordering),
}

/// Why not all rows of a table are in the list.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A page that is in the table many times would make a short file a list without end.
    #[error("they are not in order")]
    NotInOrder,
}

/// Puts the keys of the rows that are selected from `last` on into the list; `last` is then the last one.
fn list_in_order(
    database: &Connection,
    keys: &Connection,
    wanted: &Wanted<'_>,
    last: &mut i64,
) -> Result<(), ListError> {
    let insert = "INSERT INTO keys (nr, id, a, b, c, d) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = keys.prepare(insert)?;
    let (select, order) = wanted.order;
    let mut select = database.prepare(select)?;
    let mut rows = select.query([*last])?;
    let mut before: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if before.is_some_and(|before| before.cmp(&id) != order) {
            return Err(ListError::NotInOrder);
        }
        before = Some(id);
        *last = id;
        insert.raw_bind_parameter(1, wanted.table)?;
        for column in 0..=KEYS {
            let key = ToSqlOutput::Borrowed(row.get_ref(column)?);
            insert.raw_bind_parameter(column + 2, key)?;
        }
        insert.raw_execute()?;
    }
    Ok(())
}

fn row(
    select: &mut Statement<'_>,
    table: &Found,
    id: i64,
    secrets: &Secrets,
) -> Result<(Row, Vec<Hit>), String> {
    let said = |error: rusqlite::Error| error.to_string();
    let mut rows = select.query([id]).map_err(said)?;
    let Some(row) = rows.next().map_err(said)? else {
        return Err("it is not there".to_owned());
    };
    let (mut cells, mut hits) = (Vec::new(), Vec::new());
    for (at, column) in table.columns.iter().enumerate() {
        let read = cell(row.get_ref(at).map_err(said)?, secrets);
        let read = read.map_err(|reason| format!("in its column \"{column}\": {reason}"))?;
        if let Some((text, found)) = read {
            cells.push((*column, text));
            hits.extend(found);
        }
    }
    let row = Row {
        table: table.of.name,
        id,
        cells,
    };
    Ok((row, hits))
}

/// A cell without its secrets; nothing where there is none.
fn cell(
    value: ValueRef<'_>,
    secrets: &Secrets,
) -> Result<Option<(RedactedText, Vec<Hit>)>, NotUtf8> {
    let bytes = match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
    };
    let (text, mut hits) = RedactedText::json(bytes, secrets)?;
    if text.is_json_of_parts() {
        return Ok(Some((text, hits)));
    }
    // A path, a version or a title: text, in which nothing is in quotes.
    let (text, found) = RedactedText::plain(text.as_str(), secrets);
    hits.extend(found);
    Ok(Some((text, hits)))
}

fn quoted(columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
    columns.join(", ")
}

/// Looks up the tables that are read.
fn found(connection: &Connection, tables: &'static Tables) -> Result<Vec<Found>, DatabaseError> {
    let mut found = Vec::new();
    for (nr, of) in (0..).zip(tables.tables) {
        if let Some(columns) = columns(connection, of)? {
            found.push(Found { nr, of, columns });
        }
    }
    if found.is_empty() {
        let names: Vec<&str> = tables.tables.iter().map(|table| table.name).collect();
        return Err(DatabaseError::NoTables(names.join(", ")));
    }
    Ok(found)
}

/// Lists the tables that are missing.
fn missing(tables: &'static Tables, found: &[Found]) -> Vec<DatabaseError> {
    let has = |name: &str| found.iter().any(|table| table.of.name == name);
    let all = tables.tables.iter();
    let missing = all.filter(|table| !has(table.name) && (table.is_missed)(&has));
    missing
        .map(|table| DatabaseError::NoTable(table.name))
        .collect()
}

/// Lists the tables of sessions or messages that are not empty and whose form is not known: those of a newer version of
/// the agent's program.
fn unknown(
    connection: &Connection,
    tables: &'static Tables,
) -> Result<Vec<DatabaseError>, DatabaseError> {
    let names = "SELECT name FROM main.sqlite_schema WHERE type = 'table' \
                 AND sql LIKE 'CREATE TABLE%' AND rootpage > 0 ORDER BY name";
    let mut names = connection.prepare(names)?;
    let names = names.query_map((), |row| row.get::<_, String>(0))?;
    let mut unknown = Vec::new();
    // A table whose name is not UTF-8 is none of them.
    for name in names.flatten() {
        let is = |other: &&str| other.eq_ignore_ascii_case(&name);
        let is_known = tables.tables.iter().any(|table| is(&table.name));
        if is_known || tables.beside.iter().any(is) {
            continue;
        }
        let is_like = |table: &TableOf| base(table.name) == base(&name);
        if !tables.tables.iter().any(is_like) && !has_mark(connection, tables, &name)? {
            continue;
        }
        let count = format!(
            "SELECT count(*) FROM main.\"{}\"",
            name.replace('"', "\"\"")
        );
        let rows: i64 = connection.query_row(&count, (), |row| row.get(0))?;
        if rows > 0 {
            let table = name.chars().take(LONGEST_NAME).collect();
            let rows = u64::try_from(rows).unwrap_or_default();
            unknown.push(DatabaseError::UnknownTable { table, rows });
        }
    }
    Ok(unknown)
}

/// Returns `true` if a table has the columns of a table of sessions or messages.
fn has_mark(connection: &Connection, tables: &Tables, name: &str) -> Result<bool, DatabaseError> {
    let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let columns = columns.query_map([name], |row| row.get::<_, String>(0))?;
    let columns: Vec<String> = columns.flatten().collect();
    let has = |name: &&str| columns.iter().any(|it| it.eq_ignore_ascii_case(name));
    Ok(tables.marks.iter().any(|mark| mark.iter().all(has)))
}

/// Returns a table's name without its version and its plural: `session` for `session_v3`.
fn base(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let plain = match plain.len() < name.len() {
        true => plain.strip_suffix("_v").unwrap_or(plain),
        false => plain,
    };
    plain.trim_end_matches('_').trim_end_matches('s').to_owned()
}

/// Nothing that a stranger put into the schema runs, and nothing takes much memory.
fn guard(connection: &Connection) -> Result<(), DatabaseError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    let most = i32::try_from(LINE_LIMIT).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(())
}

/// The columns of a table that it has; none if there is no such table.
fn columns(
    connection: &Connection,
    table: &'static TableOf,
) -> Result<Option<Vec<&'static str>>, DatabaseError> {
    // A virtual table would be code that the file names.
    let kind = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 \
                AND sql LIKE 'CREATE TABLE%' AND rootpage > 0 \
                AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE rootpage = 0 \
                AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE %')";
    let found: Option<i64> = connection
        .query_row(kind, [table.name], |row| row.get(0))
        .optional()?;
    if found.is_none() {
        return Ok(None);
    }
    let mut names = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = names.query_map([table.name], |row| row.get::<_, String>(0))?;
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let is_there = |column: &&&str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
    let columns: Vec<&str> = table.columns.iter().filter(is_there).copied().collect();
    Ok(Some(columns).filter(|columns| !columns.is_empty()))
}

/// Copies a database and its write-ahead log so that they belong together; whether there is a log with
/// anything in it.
fn copy_whole(
    file: &mut File,
    root: &Root,
    path: &Path,
    copy: &Path,
) -> Result<bool, DatabaseError> {
    for _ in 0..TRIES {
        let mut log = log_of(root, path)?;
        let before = (state(file)?, log.as_ref().map(state).transpose()?);
        file.rewind()?;
        let counted = counted(file)?;
        copy_file(file, copy, counted)?;
        let copied_log = copy.with_file_name("copy.db-wal");
        match &mut log {
            Some(log) => copy_file(log, &copied_log, None)?,
            None => remove(&copied_log)?,
        }
        let after = (state(file)?, log.as_ref().map(state).transpose()?);
        if before == after {
            return Ok(after.1.is_some_and(|(bytes, _)| bytes > 0));
        }
    }
    Err(DatabaseError::Changing)
}

/// How many bytes a database has by the pages that its header counts; nothing where its newest writer did not count them.
/// What a file has behind them is not of the database.
fn counted(file: &mut File) -> io::Result<Option<u64>> {
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header)?;
    file.rewind()?;
    let header = <[u8; HEADER]>::try_from(header.as_slice()).ok();
    Ok(header.and_then(|header| {
        let bytes = expected(&header, 0);
        (bytes > 0).then_some(bytes)
    }))
}

/// Fills up a copy that ends before its last page does, or before as many pages as it says, so that the
/// other pages can be read; nothing, if it is whole.
fn filled_up(copy: &Path) -> Result<Option<DatabaseError>, DatabaseError> {
    let mut file = File::options().read(true).write(true).open(copy)?;
    let found = file.metadata()?.len();
    let mut header = [0; HEADER];
    if found < HEADER as u64 {
        return Ok(None);
    }
    file.read_exact(&mut header)?;
    let expected = expected(&header, found);
    if expected <= found || expected > MOST_COPIED {
        return Ok(None);
    }
    file.set_len(expected)?;
    Ok(Some(DatabaseError::Cut { expected, found }))
}

/// How many bytes a database of so many should have, by its header: a multiple of its pages. The number
/// of pages in it counts only where the newest writer set it.
fn expected(header: &[u8; HEADER], found: u64) -> u64 {
    let number = |at: usize| {
        let bytes = header.get(at..at + 4).unwrap_or_default();
        bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let page = match number(14) & 0xffff {
        1 => 65_536,
        page => page.max(512),
    };
    let pages = match number(24) == number(92) {
        true => number(28),
        false => 0,
    };
    found.next_multiple_of(page).max(pages.saturating_mul(page))
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where a database has its write-ahead log, if it writes one; of other files `None`.
pub(crate) fn log_path(path: &Path) -> Option<PathBuf> {
    let is_database = path.extension().is_some_and(|ending| ending == "db");
    is_database.then(|| path.with_file_name(log_name(path.file_name().unwrap_or_default())))
}

fn log_name(name: &OsStr) -> OsString {
    let mut log = name.to_owned();
    log.push("-wal");
    log
}

/// The write-ahead log next to a database, if there is one.
fn log_of(root: &Root, path: &Path) -> io::Result<Option<File>> {
    let Some(name) = path.file_name() else {
        return Ok(None);
    };
    let log = log_name(name);
    let parent = path.parent().unwrap_or(path);
    let around = match root {
        Root::Folder(_) => root.folder(parent)?,
        Root::File(_) if parent.as_os_str().is_empty() => Dir::open(Path::new("."))?,
        Root::File(_) => Dir::open(parent)?,
    };
    match around.open_file(&log) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What changes when a file is written.
fn state(file: &File) -> io::Result<(u64, std::time::SystemTime)> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.modified()?))
}

/// Copies a file, or at most so many bytes of it. What is all zero becomes a hole.
fn copy_file(from: &mut File, to: &Path, counted: Option<u64>) -> Result<(), DatabaseError> {
    let bytes = from.metadata()?.len();
    let bytes = counted.map_or(bytes, |counted| counted.min(bytes));
    if bytes > MOST_COPIED {
        return Err(DatabaseError::TooLong(bytes));
    }
    let mut copy = File::create(to)?;
    let (mut piece, mut copied) = (Vec::with_capacity(AT_ONCE), 0);
    loop {
        piece.clear();
        let most = (bytes - copied).min(AT_ONCE as u64);
        let read = (&mut *from).take(most).read_to_end(&mut piece)?;
        if read == 0 {
            break;
        }
        match piece.iter().all(|byte| *byte == 0) {
            true => copy.seek_relative(i64::try_from(read).unwrap_or_default())?,
            false => copy.write_all(&piece)?,
        }
        copied += read as u64;
    }
    // A hole at the end.
    copy.set_len(copied)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_version_of_a_table_has_its_base_name() {
        for name in [
            "session",
            "sessions",
            "Session_v2",
            "session_v13",
            "session2",
            "session_2",
        ] {
            assert_eq!(base(name), "session", "{name}");
        }
        assert_eq!(base("session_message_v2"), "session_message");
        assert_eq!(base("session_share"), "session_share");
    }

    fn database(folder: &Path) -> PathBuf {
        let path = folder.join("a.db");
        let connection = Connection::open(&path).unwrap();
        let made = "CREATE TABLE t (a); INSERT INTO t VALUES (1);";
        connection.execute_batch(made).unwrap();
        path
    }

    #[test]
    fn no_more_is_copied_than_the_header_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let whole = std::fs::read(&path).unwrap();
        // A sparse file, far longer than the disk.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(200 << 30).unwrap();
        let (mut file, copy) = (File::open(&path).unwrap(), folder.path().join("copy.db"));
        let root = Root::of(&path).unwrap();
        copy_whole(&mut file, &root, &path, &copy).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), whole);
    }

    #[test]
    fn what_is_too_long_is_not_copied_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut bytes = std::fs::read(&path).unwrap();
        // Its newest writer counted no pages.
        bytes[92..96].copy_from_slice(&[0xff; 4]);
        std::fs::write(&path, bytes).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MOST_COPIED + 1).unwrap();
        let (mut file, copy) = (File::open(&path).unwrap(), folder.path().join("copy.db"));
        let root = Root::of(&path).unwrap();
        let refused = copy_whole(&mut file, &root, &path, &copy).unwrap_err();
        assert!(matches!(refused, DatabaseError::TooLong(_)), "{refused}");
        assert!(!copy.exists());
    }

    #[test]
    fn holes_stay_holes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a"), folder.path().join("b"));
        let mut file = File::create(&path).unwrap();
        file.write_all(b"begin").unwrap();
        file.set_len(64 << 20).unwrap();
        file.seek(io::SeekFrom::Start(32 << 20)).unwrap();
        file.write_all(b"middle").unwrap();
        copy_file(&mut File::open(&path).unwrap(), &copy, None).unwrap();
        assert!(std::fs::read(&copy).unwrap() == std::fs::read(&path).unwrap());
        let blocks = std::fs::metadata(&copy).unwrap().blocks();
        assert!(blocks * 512 < 4 << 20, "{blocks} blocks of 512 bytes");
    }
}
