//! A bulk writer's line of appends, with stand-ins for what a batch in it is.

#[allow(dead_code, reason = "the models need less of it than its crate")]
#[path = "../../annals/src/bulk/line.rs"]
pub(crate) mod line;

pub(crate) mod ahead {
    //! What a batch writes to.

    /// Nothing: the models decide nothing.
    #[derive(Debug, Default)]
    pub(crate) struct Touched;
}

pub(crate) mod given {
    //! A batch that was given.

    use uuid::Uuid;

    pub(crate) struct Given {
        pub(crate) batch: Batch,
    }

    pub(crate) struct Batch(pub(crate) Uuid);

    impl Batch {
        pub(crate) fn key(&self) -> Option<Uuid> {
            Some(self.0)
        }
    }
}
