//! Random choices out of a list of numbers, so that what is made of them
//! shrinks as the numbers do: towards the first choice.

use proptest::collection::vec;
use proptest::prelude::*;

/// Numbers to choose by; when they are used up, every choice is the first.
#[derive(Debug, Clone)]
pub struct Dice {
    rolls: std::vec::IntoIter<u16>,
}

impl Dice {
    /// Enough for one command.
    pub fn strategy() -> impl Strategy<Value = Dice> {
        vec(any::<u16>(), 24).prop_map(|rolls| Dice {
            rolls: rolls.into_iter(),
        })
    }

    /// A number from 0 to `sides` - 1.
    pub fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.rolls.next().unwrap_or(0)) % sides.max(1)
    }

    /// True once in `sides` times.
    pub fn once_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == sides - 1
    }

    /// One of several, unless there are none.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> Option<T> {
        let index = self.roll(choices.len());
        choices.get(index).cloned()
    }
}
