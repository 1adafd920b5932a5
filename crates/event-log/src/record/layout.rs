//! Where the parts of a record are: offsets in its header, and the numbers of formats and forms.

pub(super) const HEADER_FORMAT: u8 = 1;
pub(super) const AT_POSITION: usize = 1;
pub(super) const AT_VERSION: usize = 9;
pub(super) const AT_RECORDED: usize = 17;
pub(super) const AT_OCCURRED: usize = 29;
pub(super) const AT_EVENT: usize = 41;
pub(super) const AT_BATCH: usize = 57;
pub(super) const AT_CORRELATION: usize = 73;
pub(super) const AT_CAUSATION: usize = 89;
pub(super) const AT_SCHEMA: usize = 105;
pub(super) const AT_NAME_PIECE: usize = 107;
pub(super) const AT_AUTH_PIECE: usize = 109;
pub(super) const AT_STRUCTURE_DIGEST: usize = 111;
pub(super) const AT_CONTENT_DIGEST: usize = 143;
pub(super) const AT_TEXTS: usize = 175;
/// The header follows its u16 length.
pub(super) const HEADER_START: usize = 2;

pub(super) const INLINE: u8 = 1;
pub(super) const BLOB: u8 = 2;
pub(super) const ATTACHMENT: u8 = 3;
pub(super) const REMOVED: u8 = 4;
