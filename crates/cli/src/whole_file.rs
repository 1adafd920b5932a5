//! A file that is there once it is whole: it is written next to its place, and moved
//! there when all of it is on the disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::CliError;

/// A file that is being written. Dropped before [`WholeFile::finish`], it goes.
pub(crate) struct WholeFile {
    place: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
    finished: bool,
}

impl WholeFile {
    /// Begins a file, which replaces the one that is there. It is for this user alone.
    pub(crate) fn create(place: &Path) -> Result<WholeFile, CliError> {
        let mut name = OsString::from(".");
        name.push(place.file_name().unwrap_or_default());
        // The name cannot be guessed, and a file that is there already is not written to.
        name.push(format!(".{}.part", Uuid::new_v4().simple()));
        let part = place.with_file_name(name);
        let file =
            annals_files::create_own(&part).map_err(|source| CliError::file(place, source))?;
        Ok(WholeFile {
            place: place.to_owned(),
            part,
            out: BufWriter::new(file),
            finished: false,
        })
    }

    /// What to write to.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Puts the file into its place.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        let placed = self.place();
        placed.map_err(|source| CliError::file(&self.place, source))?;
        self.finished = true;
        Ok(())
    }

    fn place(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        fs::rename(&self.part, &self.place)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed is named as what it is.
            let _ = fs::remove_file(&self.part);
        }
    }
}
