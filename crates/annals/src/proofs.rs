//! Proofs: checkpoints of a log, what shows that events are in it, and that it has only grown.

use crate::Annals;

/// What a log can show to a person who does not trust it: checkpoints and proofs, and the seals of objects.
/// [`Annals::proofs`] gives it; the module [`proof`](crate::proof) has the types, and what is done without a log.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::Annals;
/// use annals::domain::ActorRef;
///
/// let annals = Annals::open("memory:").await?;
/// let ada = ActorRef::human("ada");
/// annals.by(&ada).submit("Add pagination").await?;
/// // Kept where the log's owner cannot change it.
/// let kept = annals.proofs().head(None).await?;
/// annals.by(&ada).submit("Add a cache").await?;
///
/// annals.proofs().check(&kept).await?;
/// let now = annals.proofs().head(None).await?;
/// let proof = annals.proofs().consistency(&kept, &now).await?;
/// proof.check(&now)?;
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Proofs<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Checkpoints, proofs and seals.
    pub fn proofs(&self) -> Proofs<'_> {
        Proofs { annals: self }
    }
}
