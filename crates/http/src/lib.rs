//! What the HTTP servers of this program share: the viewer and the receiver of telemetry.
//!
//! Both listen on this machine, where web pages and other users reach them, so that the rules for requests and the bounds
//! on what a client costs are in one place:
//!
//! - [`Hosts`] refuses requests under other names (DNS rebinding) and requests of pages of other sites.
//! - [`Token`] is a bearer token; [`Peer`] finds the user at the other end of a connection on this machine.
//! - [`serve`] bounds connections: how many, from how many addresses, and how long each may take.
//! - [`Bodies`] bounds the bodies of requests: their size, their time, and the memory that they take together.

mod body;
mod connections;
mod hosts;
mod peer;
mod serve;
mod token;

pub use body::{Bodies, BodyError, BodyLimits, HeldBody};
pub use connections::Limits;
pub use hosts::{Browsing, Hosts, Refused};
pub use peer::{Peer, PeerUser};
pub use serve::{ended, serve};
pub use token::Token;
