//! Whether what a server acknowledges survives: the settings that it rests on, read when a log is opened.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::Error;

const ASK: &str = "SELECT current_setting('synchronous_commit', true), current_setting('synchronous_standby_names', true),
    current_setting('fsync', true), current_setting('full_page_writes', true)";

/// The settings of a server, as one of its sessions sees them, on which it rests that nothing acknowledged is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Durability {
    /// `synchronous_commit`: whether a commit waits for the disk, and for standbys.
    pub synchronous_commit: String,
    /// `synchronous_standby_names`: for which standbys it waits; empty for none.
    pub synchronous_standby_names: String,
    /// `fsync`: whether the disk is waited for at all.
    pub fsync: String,
    /// `full_page_writes`: whether a page that is torn by a power cut can be mended.
    pub full_page_writes: String,
}

impl Durability {
    /// Reads them, as this session sees them now. What an engine does not have is empty.
    pub(crate) async fn read(client: &ClientWrapper) -> Result<Durability, Error> {
        let ask = client.prepare_cached(ASK).await?;
        let row = client.query_one(&ask, &[]).await?;
        let setting = |at: usize| -> Result<String, Error> {
            let value: Option<String> = row.try_get(at)?;
            Ok(value.unwrap_or_default())
        };
        Ok(Durability {
            synchronous_commit: setting(0)?,
            synchronous_standby_names: setting(1)?,
            fsync: setting(2)?,
            full_page_writes: setting(3)?,
        })
    }

    /// Each setting by which something acknowledged could be lost, with what it must be.
    pub fn risks(&self) -> Vec<String> {
        let mut risks = Vec::new();
        for (name, value) in [
            ("fsync", &self.fsync),
            ("full_page_writes", &self.full_page_writes),
        ] {
            if value != "on" {
                risks.push(format!("{name} is {value:?} and must be \"on\""));
            }
        }
        let commit = self.synchronous_commit.as_str();
        // What is only sent to a standby, or written there and not synced, is lost with both machines.
        let enough: &[&str] = match self.synchronous_standby_names.is_empty() {
            true => &["on", "local", "remote_write", "remote_apply"],
            false => &["on", "remote_apply"],
        };
        if !enough.contains(&commit) {
            risks.push(format!(
                "synchronous_commit is {commit:?} and must be one of {enough:?}"
            ));
        }
        risks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(commit: &str, standbys: &str, fsync: &str, pages: &str) -> Durability {
        Durability {
            synchronous_commit: commit.to_owned(),
            synchronous_standby_names: standbys.to_owned(),
            fsync: fsync.to_owned(),
            full_page_writes: pages.to_owned(),
        }
    }

    #[test]
    fn each_setting_by_which_something_is_lost_is_named() {
        let risks =
            |commit, standbys, fsync, pages| server(commit, standbys, fsync, pages).risks().len();
        assert_eq!(risks("on", "", "on", "on"), 0);
        assert_eq!(risks("remote_apply", "ANY 1 (a, b)", "on", "on"), 0);
        assert_eq!(risks("local", "", "on", "on"), 0);
        assert_eq!(risks("local", "ANY 1 (a, b)", "on", "on"), 1);
        assert_eq!(risks("remote_write", "ANY 1 (a, b)", "on", "on"), 1);
        assert_eq!(risks("off", "", "off", "off"), 3);
        // An engine that does not say is not taken to be safe.
        assert_eq!(risks("", "", "", ""), 3);
    }
}
