//! The use of the session that asks, by its own transcript: what no import has brought into the log yet.
//!
//! Only the end of a transcript is read, so the result is a lower bound. Of Claude Code alone; transcripts of others name no tokens,
//! or no times, in a form that is cheap to read.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use annals::domain::Timestamp;
use annals::projections::{CostZone, PriceTable, TokenSums};
use chrono::{DateTime, NaiveDate};
use serde::Deserialize;
use serde_json::Value;

use super::LedgerCost;

/// The model of messages that the agent's program wrote itself, which cost nothing.
const SYNTHETIC: &str = "<synthetic>";
/// What a line with tokens has in it.
const MARK: &str = "\"usage\":";

/// What a session used on a day, by the end of its transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TranscriptUse {
    /// The cost on that day, or of a part of the day.
    pub cost: LedgerCost,
    /// The model of the last message.
    pub model: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Option<DateTime<chrono::FixedOffset>>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    server_tool_use: Option<Value>,
    /// Requests that were served `fast` have prices of their own.
    speed: Option<Value>,
    /// So have those of batches, and those that are served in the USA alone.
    service_tier: Option<Value>,
    inference_geo: Option<Value>,
    /// The steps of the request. Those of an advisor, and those that compact the context, are not in its totals.
    iterations: Option<Value>,
}

/// The types of steps that are not in the totals, as in an import.
const APART: [&str; 2] = ["advisor_message", "compaction"];

#[derive(Deserialize, Default)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

impl Usage {
    fn tokens(&self) -> TokenSums {
        let count = |count: Option<u64>| u128::from(count.unwrap_or(0));
        let of_hour = self.cache_creation.as_ref();
        TokenSums {
            uncached_input_tokens: count(self.input_tokens),
            cache_read_tokens: count(self.cache_read_input_tokens),
            cache_write_tokens: count(self.cache_creation_input_tokens),
            cache_write_1h_tokens: count(of_hour.and_then(|it| it.ephemeral_1h_input_tokens)),
            output_tokens: count(self.output_tokens),
            reasoning_tokens: 0,
        }
    }

    /// The name by which a model's tokens are priced, as in an import.
    fn priced_as(&self, model: &str) -> String {
        let is = |field: &Option<Value>, word: &str| {
            field.as_ref().and_then(Value::as_str) == Some(word)
        };
        let fast = if is(&self.speed, "fast") { "-fast" } else { "" };
        let us = if is(&self.inference_geo, "us") {
            "-us"
        } else {
            ""
        };
        format!("{model}{fast}{us}")
    }

    /// What the message cost, with what other models did in it.
    fn cost(&self, model: &str, at: Timestamp) -> LedgerCost {
        let priced_as = self.priced_as(model);
        let mut all = cost(&priced_as, &self.tokens(), at);
        let tools = self.server_tool_use.as_ref();
        let searches = tools.and_then(|it| it.get("web_search_requests")?.as_u64());
        all.add(search_cost(&priced_as, searches, at));
        let steps = self.iterations.as_ref().and_then(Value::as_array);
        for step in steps.into_iter().flatten() {
            let text = |name: &str| step.get(name).and_then(Value::as_str);
            if text("type").is_some_and(|kind| APART.contains(&kind))
                && let Ok(usage) = Usage::deserialize(step)
            {
                all.add(cost(text("model").unwrap_or(model), &usage.tokens(), at));
            }
        }
        all
    }
}

impl TranscriptUse {
    /// Reads at most `most` bytes at the end of a transcript of Claude Code. `None` if it cannot be read.
    pub fn read(path: &Path, day: NaiveDate, zone: CostZone, most: u64) -> Option<TranscriptUse> {
        let mut file = annals_files::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let from = length.saturating_sub(most);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        let whole = match from {
            0 => bytes.as_slice(),
            // The first line is cut.
            _ => {
                let end = bytes.iter().position(|byte| *byte == b'\n')?;
                bytes.get(end..)?
            }
        };
        Some(TranscriptUse::of(whole, day, zone))
    }

    /// A message counts once, by its last line, as in an import.
    fn of(bytes: &[u8], day: NaiveDate, zone: CostZone) -> TranscriptUse {
        let mut used = TranscriptUse::default();
        let mut costs: HashMap<String, LedgerCost> = HashMap::new();
        for line in String::from_utf8_lossy(bytes).lines() {
            if !line.contains(MARK) {
                continue;
            }
            let Ok(line) = serde_json::from_str::<Line>(line) else {
                continue;
            };
            if line.kind.as_deref() != Some("assistant") {
                continue;
            }
            let Some(message) = line.message else {
                continue;
            };
            let Some(model) = message.model.filter(|model| model != SYNTHETIC) else {
                continue;
            };
            let usage = message.usage.as_ref();
            if let (Some(at), Some(usage)) = (line.timestamp, usage) {
                let at = Timestamp::from(at.to_utc());
                if zone.day_at(at) == day {
                    let cost = usage.cost(&model, at);
                    // One without a name counts by itself.
                    let name = message
                        .id
                        .unwrap_or_else(|| format!("line {}", costs.len()));
                    costs.insert(name, cost);
                }
            }
            let priced_as = usage.map(|usage| usage.priced_as(&model));
            used.model = Some(priced_as.unwrap_or(model));
        }
        costs.values().for_each(|cost| used.cost.add(*cost));
        used
    }
}

/// Prices are those of the day of use by UTC, as in reports.
fn cost(model: &str, tokens: &TokenSums, at: Timestamp) -> LedgerCost {
    let day = CostZone::Utc.day_at(at);
    let (micros, unpriced) = PriceTable::standard().cost(Some(model), day, tokens);
    LedgerCost {
        micros: super::fitting(micros),
        unpriced_tokens: super::fitting(unpriced),
    }
}

/// Returns the cost of searches of the web.
fn search_cost(model: &str, searches: Option<u64>, at: Timestamp) -> LedgerCost {
    let day = CostZone::Utc.day_at(at);
    let searches = searches.unwrap_or_default().into();
    let (micros, unpriced) = PriceTable::standard().search_cost(Some(model), day, searches);
    LedgerCost {
        micros: super::fitting(micros),
        unpriced_tokens: super::fitting(unpriced),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const MODEL: &str = "claude-opus-4-5";

    fn line(id: &str, model: &str, at: &str, output: u64) -> String {
        let line = json!({ "type": "assistant", "timestamp": at, "message": { "id": id, "model": model, "usage":
            { "input_tokens": 1_000_000, "output_tokens": output, "cache_read_input_tokens": null } } });
        format!("{line}\n")
    }

    fn read(text: &str, most: u64) -> TranscriptUse {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let day = "2026-11-28".parse().unwrap();
        TranscriptUse::read(file.path(), day, CostZone::Utc, most).unwrap()
    }

    #[test]
    fn a_message_counts_once_by_its_last_line_and_on_its_day() {
        let text = [
            line("m1", MODEL, "2026-11-27T23:59:59Z", 7),
            line("m2", MODEL, "2026-11-28T00:00:01Z", 7),
            line("m2", MODEL, "2026-11-28T00:00:02Z", 1_000_000),
            "{\"usage\": not JSON\n".to_owned(),
            line("m3", SYNTHETIC, "2026-11-28T00:00:03Z", 1_000_000),
        ];
        let used = read(&text.concat(), 1 << 20);
        assert_eq!(
            used.cost,
            LedgerCost {
                micros: 30_000_000,
                unpriced_tokens: 0
            }
        );
        assert_eq!(used.model.as_deref(), Some(MODEL));
    }

    #[test]
    fn fast_requests_and_advisors_have_prices_of_their_own() {
        let step = |kind: &str| json!({ "type": kind, "model": MODEL, "input_tokens": 1_000_000 });
        let usage = json!({
            "input_tokens": 1_000_000, "speed": "fast",
            "iterations": [step("message"), step("advisor_message"), 5],
        });
        let line = json!({
            "type": "assistant", "timestamp": "2026-11-28T00:00:01Z",
            "message": { "id": "m1", "model": "claude-opus-4-8", "usage": usage },
        });
        let used = read(&format!("{line}\n"), 1 << 20);
        assert_eq!(used.cost.micros, 10_000_000 + 5_000_000);
        assert_eq!(used.model.as_deref(), Some("claude-opus-4-8-fast"));
    }

    #[test]
    fn a_model_without_a_price_is_named_and_its_tokens_are_counted_as_such() {
        let text = line("m1", "new-model", "2026-11-28T10:00:00Z", 5);
        let used = read(&text, 1 << 20);
        assert_eq!(
            used.cost,
            LedgerCost {
                micros: 0,
                unpriced_tokens: 1_000_005
            }
        );
        assert_eq!(used.model.as_deref(), Some("new-model"));
    }

    #[test]
    fn searches_of_the_web_cost() {
        let searched = json!({ "type": "assistant", "timestamp": "2026-11-28T10:00:00Z", "message": { "id": "m",
            "model": MODEL, "usage": { "input_tokens": 0, "server_tool_use": { "web_search_requests": 3 } } } });
        assert_eq!(read(&format!("{searched}\n"), 1 << 20).cost.micros, 30_000);
    }

    #[test]
    fn of_a_long_transcript_the_end_is_read() {
        let long: String = (0..100)
            .map(|n| line(&format!("m{n}"), MODEL, "2026-11-28T10:00:00Z", 0))
            .collect();
        let all = read(&long, 1 << 20).cost.micros;
        assert_eq!(all, 100 * 5_000_000);
        let end = read(&long, 2_000).cost.micros;
        assert!(end > 0 && end < all / 5, "{end}");
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let day = NaiveDate::default();
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("gone")] {
            assert_eq!(TranscriptUse::read(&path, day, CostZone::Utc, 1), None);
        }
        assert_eq!(read("", 100), TranscriptUse::default());
        assert_eq!(
            read("\u{0}\n[]\n{\"usage\":1}", 100),
            TranscriptUse::default()
        );
    }
}
