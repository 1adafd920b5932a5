//! The terminal: keys in, screens out, put back as it was at the end.

use std::io;
use std::time::Duration;

use annals::Annals;
use annals::event_log::Position;
use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use ratatui::DefaultTerminal;

use crate::app::App;
use crate::draw::draw;
use crate::error::ScreenError;
use crate::options::Options;
use crate::text::in_zone;

/// Events that come within this time are drawn together.
const TOGETHER: Duration = Duration::from_millis(200);

/// Why the terminal view ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuiError {
    /// The terminal could not be read, drawn on or put back.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// There is no such object or session, or it could not be read.
    #[error(transparent)]
    Screen(#[from] ScreenError),
}

/// Shows the log until its user leaves, or `ended` is done: the program was terminated.
///
/// # Errors
/// [`TuiError`]. The terminal is as it was before, also then.
pub async fn run(
    annals: &Annals,
    options: &Options,
    ended: impl Future<Output = ()>,
) -> Result<(), TuiError> {
    in_zone(options.zone);
    // An object that is not there is said on the user's own screen.
    let mut app = App::new(annals, options).await?;
    let mut terminal = ratatui::try_init()?;
    let shown = show(annals, &mut app, &mut terminal, ended).await;
    ratatui::try_restore()?;
    Ok(shown?)
}

async fn show(
    annals: &Annals,
    app: &mut App<'_>,
    terminal: &mut DefaultTerminal,
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut events = EventStream::new();
    let mut ended = std::pin::pin!(ended);
    while !app.is_done() {
        terminal.draw(|frame| draw(frame, app))?;
        // Only what changes something draws again.
        while !tokio::select! {
            () = &mut ended => return Ok(()),
            () = more(annals, app.seen()) => app.look().await,
            event = events.next() => match event {
                Some(Ok(Event::Key(key))) => app.press(key).await,
                Some(Ok(_)) => true,
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
        } {}
    }
    Ok(())
}

/// Waits until the log has more than was seen, and a moment for what comes with it.
async fn more(annals: &Annals, seen: Position) {
    match annals.wait_for(seen.next()).await {
        Ok(()) => tokio::time::sleep(TOGETHER).await,
        // Nothing comes any more.
        Err(_) => std::future::pending().await,
    }
}
