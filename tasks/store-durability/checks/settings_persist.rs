//! Settings are still there when the folder is opened again.

use app_settings::Settings;
use std::path::Path;
use std::{fs, mem};

#[test]
fn settings_persist() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings_persist");
    let _ = fs::remove_dir_all(&dir);

    let mut first = Settings::open(&dir).expect("open a new folder");
    first.set("theme", "light").expect("set theme");
    first.set("theme", "dark").expect("set theme again");
    first.set("language", "nl").expect("set language");
    first.set("draft", "yes").expect("set draft");
    drop(first);

    let mut second = Settings::open(&dir).expect("open the folder again");
    assert_eq!(second.get("theme"), Some("dark"), "theme after reopening");
    assert_eq!(
        second.get("language"),
        Some("nl"),
        "language after reopening"
    );
    assert_eq!(second.get("draft"), Some("yes"), "draft after reopening");
    second.set("language", "").expect("empty language");
    assert!(second.remove("draft").expect("remove draft"));
    // The second run ends with no chance to tidy up.
    mem::forget(second);

    let third = Settings::open(&dir).expect("open the folder a third time");
    assert_eq!(third.get("theme"), Some("dark"), "theme, twice reopened");
    assert_eq!(third.get("language"), Some(""), "language, twice reopened");
    assert_eq!(third.get("draft"), None, "draft was removed");
}
