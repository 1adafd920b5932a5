//! What tokens cost: a table of prices, each valid from a day on.
//!
//! A price is for the names of models that it lists, as recordings have them, and for no others: what a model costs
//! that the table does not have is not guessed. `prices.toml` next to this file is the table that counts where no
//! other is given.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use annals_event_log::{Classification, Classified, ErrorClass};
use chrono::NaiveDate;
use serde::Deserialize;

use super::cell::TokenSums;

/// The table that comes with this version.
const STANDARD: &str = include_str!("prices.toml");
/// The prices are for so many tokens.
const TOKENS: u128 = 1_000_000;
/// The price of searches is for so many.
const SEARCHES: u128 = 1_000;
/// The highest price for a million tokens.
const HIGHEST: f64 = 1e9;
/// Characters of a text that an error quotes.
const QUOTED: usize = 100;

/// What a model's tokens cost, in millionths of the currency for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Price {
    /// Prompt tokens that came from no cache and went into none.
    pub input: u64,
    /// Those read from a cache, where the table says it.
    pub cache_read: Option<u64>,
    /// Those written to a cache, for a short time.
    pub cache_write: Option<u64>,
    /// Those written to a cache for an hour.
    pub cache_write_1h: Option<u64>,
    /// Completion tokens, those of thoughts included.
    pub output: u64,
    /// A thousand searches of the web that the vendor makes for the model, where the table says it.
    pub web_search: Option<u64>,
}

impl Price {
    /// Returns the cost of searches of the web in millionths of the currency, rounded to the nearest, half up; and the number
    /// of those without a price.
    pub fn search_cost(&self, searches: u128) -> (u128, u128) {
        match self.web_search {
            Some(price) => {
                let sum = searches.saturating_mul(price.into());
                (sum.saturating_add(SEARCHES / 2) / SEARCHES, 0)
            }
            None => (0, searches),
        }
    }

    /// What tokens cost in millionths of the currency, rounded to the nearest, half up; and how many of them have no
    /// price.
    pub fn cost(&self, tokens: &TokenSums) -> (u128, u128) {
        let for_an_hour = tokens.cache_write_1h_tokens.min(tokens.cache_write_tokens);
        let parts = [
            (tokens.uncached_input_tokens, Some(self.input)),
            (tokens.cache_read_tokens, self.cache_read),
            (tokens.cache_write_tokens - for_an_hour, self.cache_write),
            (for_an_hour, self.cache_write_1h),
            (tokens.output_tokens, Some(self.output)),
        ];
        let (mut sum, mut unpriced) = (0_u128, 0_u128);
        for (tokens, price) in parts {
            match price {
                Some(price) => sum = sum.saturating_add(tokens.saturating_mul(price.into())),
                None => unpriced = unpriced.saturating_add(tokens),
            }
        }
        let (whole, rest) = (sum / TOKENS, sum % TOKENS);
        (whole + u128::from(rest >= TOKENS / 2), unpriced)
    }
}

/// Prices of models, each valid from a day on until the next one of that model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    currency: String,
    as_of: NaiveDate,
    /// Of each model, from which day on which price is valid.
    models: BTreeMap<String, BTreeMap<NaiveDate, PriceRow>>,
}

/// A row of a table, for one model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceRow {
    /// The first day on which the price is valid.
    pub from: NaiveDate,
    /// The price.
    pub price: Price,
    /// The page that the price is from.
    pub source: Option<String>,
}

/// Why a text is no table of prices.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// It is not TOML, or has other fields.
    #[error("line {line}: {reason}")]
    Form {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A value is not what its field is for.
    #[error("{place}: {reason}")]
    Value {
        /// Where it is.
        place: String,
        /// What is wrong, and what is expected.
        reason: &'static str,
    },
}

impl Classified for PriceError {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_prices")
    }
}

/// The file's form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    currency: String,
    as_of: String,
    #[serde(default)]
    price: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    models: Vec<String>,
    from: String,
    input: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
    output: f64,
    web_search: Option<f64>,
    #[serde(default)]
    source: Option<String>,
    /// For people.
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

impl PriceTable {
    /// The table that comes with this version: list prices, as of a day that it says.
    pub fn standard() -> &'static PriceTable {
        static TABLE: LazyLock<PriceTable> = LazyLock::new(|| {
            // A test reads it.
            PriceTable::parse(STANDARD).unwrap_or_else(|_| PriceTable::empty())
        });
        &TABLE
    }

    /// The text of that table, to begin one's own with.
    pub fn standard_text() -> &'static str {
        STANDARD
    }

    fn empty() -> PriceTable {
        PriceTable {
            currency: "USD".to_owned(),
            as_of: NaiveDate::default(),
            models: BTreeMap::new(),
        }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`PriceError`].
    pub fn parse(text: &str) -> Result<PriceTable, PriceError> {
        let file: File = toml::from_str(text).map_err(|error| form(text, &error))?;
        let is_code = file.currency.len() == 3;
        if !is_code || !file.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let reason = "expected a currency's three letters, such as \"USD\"";
            return Err(wrong("currency", &file.currency, reason));
        }
        let mut table = PriceTable {
            as_of: day("as_of", &file.as_of)?,
            currency: file.currency,
            models: BTreeMap::new(),
        };
        for entry in &file.price {
            table.take(entry)?;
        }
        Ok(table)
    }

    fn take(&mut self, entry: &Entry) -> Result<(), PriceError> {
        let names = entry.models.join(", ");
        let amount = |field: &str, value: f64| match millionths(value) {
            Some(amount) => Ok(amount),
            None => Err(wrong(
                &format!("the price of {names}, {field}"),
                &value.to_string(),
                "expected an amount from 0 to 1000000000, with at most six digits behind the point",
            )),
        };
        let some = |field: &str, value: Option<f64>| match value {
            Some(value) => amount(field, value).map(Some),
            None => Ok(None),
        };
        let price = Price {
            input: amount("input", entry.input)?,
            cache_read: some("cache_read", entry.cache_read)?,
            cache_write: some("cache_write", entry.cache_write)?,
            cache_write_1h: some("cache_write_1h", entry.cache_write_1h)?,
            output: amount("output", entry.output)?,
            web_search: some("web_search", entry.web_search)?,
        };
        let from = day(&format!("the price of {names}, from"), &entry.from)?;
        if entry.models.iter().all(|model| model.trim().is_empty()) {
            let reason = "expected the names of models in `models`, as recordings have them";
            return Err(wrong("a price", &entry.from, reason));
        }
        for model in &entry.models {
            let prices = self.models.entry(model.clone()).or_default();
            let row = PriceRow {
                from,
                price,
                source: entry.source.clone(),
            };
            if prices.insert(from, row).is_some() {
                let reason = "there is another price of it from that day on; leave one of the two";
                return Err(wrong(
                    &format!("the price of {model}, from"),
                    &entry.from,
                    reason,
                ));
            }
        }
        Ok(())
    }

    /// What tokens of a model cost on a day, and how many of them have no price, like [`Price::cost`]. Without a price for
    /// the model none of them has one.
    pub fn cost(&self, model: Option<&str>, on: NaiveDate, tokens: &TokenSums) -> (u128, u128) {
        match model.and_then(|model| self.price(model, on)) {
            Some(price) => price.cost(tokens),
            None => (0, tokens.total()),
        }
    }

    /// Returns the cost of searches of the web that are made for a model on a day, and the number of those without a price.
    pub fn search_cost(&self, model: Option<&str>, on: NaiveDate, searches: u128) -> (u128, u128) {
        match model.and_then(|model| self.price(model, on)) {
            Some(price) => price.search_cost(searches),
            None => (0, searches),
        }
    }

    /// The currency: three letters.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The day on which the prices were looked up. What changed since then it does not know.
    pub fn as_of(&self) -> NaiveDate {
        self.as_of
    }

    /// The price of a model on a day, by its exact name.
    pub fn price(&self, model: &str, on: NaiveDate) -> Option<&Price> {
        self.row(model, on).map(|row| &row.price)
    }

    /// The row with the price of a model on a day.
    pub fn row(&self, model: &str, on: NaiveDate) -> Option<&PriceRow> {
        let rows = self.models.get(model)?;
        rows.range(..=on).next_back().map(|(_, row)| row)
    }

    /// The names of the models that it has prices of.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }
}

/// An amount in millionths, where it is a whole number of those.
fn millionths(amount: f64) -> Option<u64> {
    if !(0.0..=HIGHEST).contains(&amount) {
        return None;
    }
    let millionths = (amount * 1e6).round();
    // The nearest float to a number of six digits behind the point is nearer to it than this.
    let is_whole = (amount * 1e6 - millionths).abs() < 1e-3;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number up to 10^15"
    )]
    is_whole.then_some(millionths as u64)
}

fn day(place: &str, text: &str) -> Result<NaiveDate, PriceError> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    // Other ways to write it are read, too.
    let day = day.filter(|day| day.to_string() == text);
    day.ok_or_else(|| wrong(place, text, "expected a day such as \"2026-01-31\""))
}

fn form(text: &str, error: &toml::de::Error) -> PriceError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    PriceError::Form {
        line: before.matches('\n').count() + 1,
        reason: error.message().to_owned(),
    }
}

fn wrong(place: &str, found: &str, reason: &'static str) -> PriceError {
    let short = |text: &str| text.chars().take(QUOTED).collect::<String>();
    PriceError::Value {
        place: format!("{} {:?}", short(place), short(found)),
        reason,
    }
}

#[cfg(test)]
mod tests;
