//! What comes from other systems, taken over as it was there.

use crate::Annals;

/// What comes from other systems: it is taken over as it was there, and never judged. [`Annals::imports`]
/// gives it.
///
/// This is for importers, such as those of `annals-dialects`. What a service does itself are commands:
/// [`Annals::execute`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::{Annals, CameFrom};
///
/// let annals = Annals::open("memory:").await?;
/// let intent = annals.by(&ActorRef::human("ada")).submit("Add pagination").await?;
///
/// let from = annals.imports().came_from(intent.stream()).await?;
/// assert_eq!(from, CameFrom::Commands);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Imports<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Objects and events of other systems, taken over as they were there.
    pub fn imports(&self) -> Imports<'_> {
        Imports { annals: self }
    }
}
