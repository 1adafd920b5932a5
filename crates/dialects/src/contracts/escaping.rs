//! Which characters of a text are written as they are, and which as escapes.
//!
//! The rule is that of System.Text.Json's relaxed escaping, as Contracts v1.1 asks
//! for it. It has one formatter for the compact and for the indented form.

use std::io::{self, Write};

use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a character is written as `\uXXXX`: every one beyond the basic
/// plane, and every one without a visible shape except for the plain space.
fn is_escaped(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    if c > '\u{ffff}' {
        return true;
    }
    match c.general_category() {
        GeneralCategory::Control
        | GeneralCategory::Format
        | GeneralCategory::Unassigned
        | GeneralCategory::PrivateUse
        | GeneralCategory::Surrogate
        | GeneralCategory::SpaceSeparator
        | GeneralCategory::LineSeparator
        | GeneralCategory::ParagraphSeparator => true,
        GeneralCategory::UppercaseLetter
        | GeneralCategory::LowercaseLetter
        | GeneralCategory::TitlecaseLetter
        | GeneralCategory::ModifierLetter
        | GeneralCategory::OtherLetter
        | GeneralCategory::NonspacingMark
        | GeneralCategory::SpacingMark
        | GeneralCategory::EnclosingMark
        | GeneralCategory::DecimalNumber
        | GeneralCategory::LetterNumber
        | GeneralCategory::OtherNumber
        | GeneralCategory::ConnectorPunctuation
        | GeneralCategory::DashPunctuation
        | GeneralCategory::OpenPunctuation
        | GeneralCategory::ClosePunctuation
        | GeneralCategory::InitialPunctuation
        | GeneralCategory::FinalPunctuation
        | GeneralCategory::OtherPunctuation
        | GeneralCategory::MathSymbol
        | GeneralCategory::CurrencySymbol
        | GeneralCategory::ModifierSymbol
        | GeneralCategory::OtherSymbol => false,
    }
}

/// Writes a character as one `\uXXXX`, or as two where it is beyond the basic
/// plane.
fn write_escape<W: ?Sized + Write>(writer: &mut W, c: char) -> io::Result<()> {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        write!(writer, "\\u{unit:04X}")?;
    }
    Ok(())
}

/// A formatter of serde_json with the relaxed escaping. How the parts are laid
/// out is up to the formatter inside.
pub(super) struct Relaxed<F>(F);

impl Relaxed<CompactFormatter> {
    /// Without any white space.
    pub(super) fn compact() -> Relaxed<CompactFormatter> {
        Relaxed(CompactFormatter)
    }
}

impl Relaxed<PrettyFormatter<'static>> {
    /// Indented by two spaces.
    pub(super) fn pretty() -> Relaxed<PrettyFormatter<'static>> {
        Relaxed(PrettyFormatter::new())
    }
}

/// Passes the parts of a layout on.
macro_rules! laid_out_inside {
    ($($method:ident($($arg:ident: $type:ty)?);)+) => {
        $(
            fn $method<W: ?Sized + Write>(&mut self, writer: &mut W $(, $arg: $type)?) -> io::Result<()> {
                self.0.$method(writer $(, $arg)?)
            }
        )+
    };
}

impl<F: Formatter> Formatter for Relaxed<F> {
    laid_out_inside! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    /// What needs no escape by JSON's own rule may need one by this.
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_escaped(*c)) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            write_escape(writer, c)?;
            rest = from.get(c.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            // serde_json writes these in lower case.
            CharEscape::AsciiControl(byte) => write_escape(writer, char::from(byte)),
            CharEscape::Quote
            | CharEscape::ReverseSolidus
            | CharEscape::Solidus
            | CharEscape::Backspace
            | CharEscape::FormFeed
            | CharEscape::LineFeed
            | CharEscape::CarriageReturn
            | CharEscape::Tab => self.0.write_char_escape(writer, escape),
        }
    }
}
