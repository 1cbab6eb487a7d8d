//! Settings read back as they were set while the folder stays open.

use app_settings::Settings;
use std::fs;
use std::path::Path;

#[test]
fn settings_read_back() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings_read_back");
    let _ = fs::remove_dir_all(&dir);

    let mut settings = Settings::open(dir.join("one")).expect("open a missing folder");
    assert_eq!(settings.get("theme"), None, "nothing is set at first");

    settings.set("theme", "light").expect("set theme");
    settings.set("theme", "dark").expect("set theme again");
    settings
        .set("motto", "a = b\nc \u{2603}")
        .expect("set motto");
    assert_eq!(settings.get("theme"), Some("dark"), "the last value counts");
    assert_eq!(settings.get("motto"), Some("a = b\nc \u{2603}"));
    assert_eq!(settings.get("Theme"), None, "names are exact");

    assert!(settings.remove("theme").expect("remove theme"));
    assert!(!settings.remove("theme").expect("remove theme again"));
    assert_eq!(settings.get("theme"), None, "theme was removed");

    let other = Settings::open(dir.join("two")).expect("open another folder");
    assert_eq!(other.get("motto"), None, "folders are apart");
}
