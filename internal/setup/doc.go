// Package setup installs and locates the real tools a trial runs on: the
// sandbox (srt on bubblewrap), the agent clients, cargo-agents and the
// user's own Rust toolchain. It serves `proctor setup`, which calls [Install],
// and every run, which calls [Locate] first.
//
// Invariants:
//
//   - What Proctor installs is pinned: versions.go for versions, the npm lock
//     files under npm/ for every byte npm may deliver, the crate's own
//     Cargo.lock for cargo-agents. No registry address is written anywhere: npm,
//     cargo and apt run with the user's environment and configuration.
//   - An install folder is whole or absent. It is built in <cache>/tmp, gets its
//     record (install.json) last, and is then renamed into place, under a lock
//     held across processes. Leftovers of a killed set-up are removed by the next.
//   - A changed tool is noticed: the recorded SHA-256 is compared at every
//     Install and Locate. Hashing is skipped for files whose size, modification
//     time and inode have not changed since they were last hashed.
//   - [Locate] never installs and never waits. Everything missing is reported at
//     once in a [*MissingError], each problem with the command that fixes it.
//   - Install scripts of npm packages never run, and a freshly installed tool is
//     asked for its version with a throw-away home directory.
package setup
