//! Output to a path that the user named: a file is there once it is whole, a pipe or a device is written to, and
//! nothing is put into the folder of a log.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use annals::proof::log_around;
use annals_files::{OutputTo, Unfinished, output_to, part_name};
use uuid::Uuid;

use crate::error::CliError;
use crate::proof_error::ProofCommandError;
use crate::signals;

/// Output that is being written. Dropped before [`WholeFile::finish`], a file goes.
pub(crate) struct WholeFile {
    place: PathBuf,
    /// The file that is moved to its place at the end; `None` for a pipe or a device.
    part: Option<PathBuf>,
    out: BufWriter<File>,
    finished: bool,
    /// A signal that ends the program removes the part.
    _unfinished: Option<Unfinished>,
}

impl WholeFile {
    /// Begins a file, which replaces the one that is there and is for this user alone; or opens the pipe or the
    /// device that is there.
    pub(crate) fn create(place: &Path) -> Result<WholeFile, CliError> {
        outside(place)?;
        signals::remove_unfinished()?;
        let (part, file, unfinished) = match output_to(place) {
            Ok(OutputTo::Stream(stream)) => Ok((None, stream, None)),
            Ok(OutputTo::NewFile) => {
                let made = Unfinished::making(|| new_part(place), |(part, _)| part.clone());
                made.map(|((part, file), unfinished)| (Some(part), file, Some(unfinished)))
            }
            Err(error) => Err(error),
        }
        .map_err(|source| CliError::file(place, source))?;
        Ok(WholeFile {
            place: place.to_owned(),
            part,
            _unfinished: unfinished,
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
        let Some(part) = &self.part else {
            return Ok(());
        };
        self.out.get_ref().sync_all()?;
        fs::rename(part, &self.place)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part
            && !self.finished
        {
            // What cannot be removed is named as what it is.
            let _ = fs::remove_file(part);
        }
    }
}

/// A file next to its place.
fn new_part(place: &Path) -> io::Result<(PathBuf, File)> {
    // The name cannot be guessed, and a file that is there already is not written to.
    let id = Uuid::new_v4().simple().to_string();
    let name = part_name(place.file_name().unwrap_or_default(), &id);
    let part = place.with_file_name(name);
    let file = annals_files::create_own(&part)?;
    Ok((part, file))
}

/// Refuses a path inside a log: what is kept there goes with the log, or takes the place of its files.
pub(crate) fn outside(path: &Path) -> Result<(), CliError> {
    refuse_inside(path, path)
}

/// The same of a folder, which need not exist.
pub(crate) fn folder_outside(folder: &Path) -> Result<(), CliError> {
    let place = std::path::absolute(folder).map_err(|source| CliError::file(folder, source))?;
    let existing = place.ancestors().find(|at| at.is_dir());
    refuse_inside(folder, &existing.unwrap_or(&place).join("file"))
}

fn refuse_inside(path: &Path, file: &Path) -> Result<(), CliError> {
    let found = log_around(file).map_err(|source| ProofCommandError::Write {
        path: path.to_owned(),
        source,
    })?;
    match found {
        None => Ok(()),
        Some(log) => {
            let path = path.to_owned();
            Err(ProofCommandError::InsideLog { path, log }.into())
        }
    }
}
