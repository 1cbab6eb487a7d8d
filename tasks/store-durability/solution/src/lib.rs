//! The settings of an application: text values under text names, kept in a
//! folder of their own, where the next run of the application finds them.
//!
//! The folder is a `fixture_store::Store`.

use fixture_store::Store;
use std::io;
use std::path::Path;

/// The settings in one folder.
#[derive(Debug)]
pub struct Settings {
    store: Store,
}

impl Settings {
    /// Opens the settings kept in `dir`. A missing folder is made and holds no
    /// settings yet.
    pub fn open(dir: impl AsRef<Path>) -> io::Result<Settings> {
        let store = Store::open(dir)?;
        Ok(Settings { store })
    }

    /// Returns the value of the setting `name`, or `None` when it is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.store.get(name)
    }

    /// Sets `name` to `value`. When this returns `Ok`, the setting is saved: the
    /// next run finds it, however this one ends.
    pub fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.store.put(name, value)?;
        self.store.rotate()?;
        Ok(())
    }

    /// Removes the setting `name` and returns whether it was set. When this
    /// returns `Ok`, the removal is saved in the same way.
    pub fn remove(&mut self, name: &str) -> io::Result<bool> {
        let removed = self.store.remove(name)?;
        self.store.rotate()?;
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A folder for one test, not there yet.
    fn folder(test: &str) -> PathBuf {
        let name = format!("app-settings-{}-{test}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&dir);
        dir
    }

    #[test]
    fn the_last_value_counts() {
        let dir = folder("last");
        let mut settings = Settings::open(&dir).unwrap();
        assert_eq!(settings.get("theme"), None);
        settings.set("theme", "light").unwrap();
        settings.set("theme", "dark").unwrap();
        assert_eq!(settings.get("theme"), Some("dark"));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_removed_setting_is_not_set() {
        let dir = folder("remove");
        let mut settings = Settings::open(&dir).unwrap();
        settings.set("theme", "dark").unwrap();
        assert!(settings.remove("theme").unwrap());
        assert!(!settings.remove("theme").unwrap());
        assert_eq!(settings.get("theme"), None);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn settings_are_there_after_reopening() {
        let dir = folder("reopen");
        let mut settings = Settings::open(&dir).unwrap();
        settings.set("theme", "dark").unwrap();
        settings.set("draft", "yes").unwrap();
        settings.remove("draft").unwrap();
        drop(settings);

        let settings = Settings::open(&dir).unwrap();
        assert_eq!(settings.get("theme"), Some("dark"));
        assert_eq!(settings.get("draft"), None);
        fs::remove_dir_all(&dir).unwrap();
    }
}
