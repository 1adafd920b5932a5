//! What a person imported, decided or reviewed is not undone by an agent's import.

use crate::importers::{import, push, refused, status, taken_over, verdict};
use crate::support::{agent, human};

#[test]
fn an_end_by_an_agents_import_lifts_no_pause_of_a_person() {
    for held in ["Paused", "NeedsApproval"] {
        let place = taken_over();
        import(&place, "human:ada", &[status(3, held)]).ok();
        import(&place, "agent:coder", &[status(4, "Completed")]).ok();
        for (number, next) in [(5, "Running"), (6, "Unknown"), (7, "Paused")] {
            let says = "only a person's import lets it run again";
            refused(&place, "agent:coder", &[status(number, next)], says);
        }
        let rejected = verdict(&place, 1, push()).to_string();
        assert!(rejected.contains("terminal state"), "{rejected}");
    }
}
