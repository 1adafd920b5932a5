//! Damage ends with 3.

use std::fs;

use crate::support::{Place, story};

#[test]
fn a_damaged_log_fails_its_verification() {
    let place = Place::with_log();
    story(&place);
    // A copy is made of finished tables, which is where damage can be done.
    place.run(&["backup", "copy"]).ok();
    for entry in fs::read_dir(place.path("copy")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".sst") || name.ends_with(".log") {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 3;
            for byte in bytes.iter_mut().skip(middle).take(64) {
                *byte ^= 0xff;
            }
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }
    let ran = place.run(&["--log", "copy", "verify", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let code = ran.error_code();
    assert!(
        ["corrupt", "verification_failed"].contains(&code.as_str()),
        "{code}"
    );
    // The log itself is as it was: the files of the copy were replaced.
    place.run(&["verify"]).ok();
}

#[test]
fn a_log_without_its_watermark_is_corrupt() {
    let place = Place::with_log();
    story(&place);
    fs::remove_file(place.log_dir().join("WATERMARK")).unwrap();
    place.run(&["stats"]).fails(3, &["WATERMARK", "corrupt"]);
    assert_eq!(
        place
            .run(&["show", "12345678", "--json"])
            .fails(3, &[])
            .error_code(),
        "corrupt"
    );
}
