//! The part of `docs/performance.md` on logs on PostgreSQL.

use std::fmt::Write;

use super::compared::COMPARED;
use super::goals::of_goals;
use super::results::PostgresResults;
use super::table::{of_loads, of_many_logs};
use crate::marks::Marks;
use crate::table::Table;

/// Where the part is. Neither line is within one of `make compare`'s, so that each finds its own.
pub const MARKS: Marks = Marks {
    begin: "<!-- measured: written by `make compare-postgres` -->",
    end: "<!-- /measured by `make compare-postgres` -->",
};

/// The measured part: where and how, the tables, what the stores are.
pub fn measured(results: &PostgresResults) -> String {
    let mut text = summary(results);
    text += "### What an append is\n\n";
    let mut stores = Table::new(["Store", "An append, and a log"]);
    for store in COMPARED {
        stores.push([store.title, store.about]);
    }
    text + &stores.markdown()
}

/// Where and how it was measured, and the tables.
pub fn summary(results: &PostgresResults) -> String {
    let mut text = conditions(results);
    let mut add = |title: &str, table: String| {
        if !table.is_empty() {
            // Writing to a string cannot fail, here and below.
            let _ = write!(text, "### {title}\n\n{table}\n");
        }
    };
    add("Appends, by the same load", of_loads(results));
    add("Many logs and one", of_many_logs(results));
    add("What was asked for", of_goals(results));
    if let Some(copy) = &results.copy {
        let together = copy.copying_seconds + copy.verifying_seconds;
        let _ = writeln!(
            text,
            "A copy of {} events from RocksDB to PostgreSQL, as `annals log copy` makes it, took {together:.1} s: {:.1} s \
             until all were stored, and {:.1} s to read and check all of the copy.\n",
            copy.events, copy.copying_seconds, copy.verifying_seconds
        );
    }
    text
}

fn conditions(results: &PostgresResults) -> String {
    let settings = &results.settings;
    let mut table = Table::new(["", ""]);
    table.push(["Date", &results.date]);
    table.push(["Source", &results.revision]);
    for (what, text) in results.machine.lines() {
        table.push([what, &text]);
    }
    let server = results.server.iter();
    let server: Vec<_> = server
        .map(|setting| format!("`{}` {}", setting.name, setting.value))
        .collect();
    table.push(["PostgreSQL", &server.join(", ")]);
    let measured = format!(
        "medians of {} rounds, stores in turns; {} s each, behind {} s that do not count; payloads of {} bytes, JSON; \
         a new database each time, and a checkpoint before it",
        settings.rounds, settings.seconds, settings.warm_up_seconds, settings.payload_bytes
    );
    table.push(["Measured", &measured]);
    let mut text = table.markdown();
    if settings.quick {
        text += "\n**A quick run: it shows that the program works, and no figure of it means \
                 anything.**\n";
    }
    text + "\n"
}
