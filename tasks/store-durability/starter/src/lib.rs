//! The settings of an application: text values under text names, kept in a
//! folder of their own, where the next run of the application finds them.
//!
//! The folder is a `fixture_store::Store`.

use std::io;
use std::path::Path;

/// The settings in one folder.
#[derive(Debug)]
pub struct Settings {}

impl Settings {
    /// Opens the settings kept in `dir`. A missing folder is made and holds no
    /// settings yet.
    pub fn open(_dir: impl AsRef<Path>) -> io::Result<Settings> {
        todo!("open the store in the folder")
    }

    /// Returns the value of the setting `name`, or `None` when it is not set.
    pub fn get(&self, _name: &str) -> Option<&str> {
        todo!("look the setting up")
    }

    /// Sets `name` to `value`. When this returns `Ok`, the setting is saved: the
    /// next run finds it, however this one ends.
    pub fn set(&mut self, _name: &str, _value: &str) -> io::Result<()> {
        todo!("save the setting")
    }

    /// Removes the setting `name` and returns whether it was set. When this
    /// returns `Ok`, the removal is saved in the same way.
    pub fn remove(&mut self, _name: &str) -> io::Result<bool> {
        todo!("remove the setting")
    }
}
