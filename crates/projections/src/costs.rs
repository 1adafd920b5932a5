//! What agents' work cost: tokens and money, by what it was spent on.
//!
//! ```text
//! usage events ──▶ cells, rows with the log ──▶ groups by axes, priced ──▶ a report
//! ```
//!
//! A *cell* has the tokens of one run, model and actor in a quarter of an hour, and the costs that were recorded with
//! them. A cell is priced by a table of prices, and rounded to a millionth of the currency, once: every sum is a sum
//! of the same cells, so that the rows of any report add up to its total, to the last millionth. `docs/costs.md` says
//! what counts.

mod amount;
mod cell;
mod model;
mod prices;
mod report;
mod zone;

#[cfg(test)]
mod tests;

pub use crate::time_name::{InvalidTimeName as InvalidCostTime, TimeName as CostTime};
pub use amount::{amount_of_money, dollars_and_cents, parse_amount};
pub(crate) use cell::model_name;
pub use cell::{CostCell, Quarter, TokenSums, Used, continued_usage};
pub use model::{CostModel, CostRange};
pub use prices::{Price, PriceError, PriceRow, PriceTable};
pub(crate) use report::priced;
pub use report::{
    CostAxis, CostGroups, CostKey, CostReport, CostRow, CostSums, Family, REMOVED_PROJECT,
    RunPlace, UnknownAxis, UnpricedModel, UsedPrice,
};
pub use zone::{CostZone, InvalidZone, NamedZone};
