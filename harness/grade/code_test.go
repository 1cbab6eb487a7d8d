//go:build linux

package grade

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

const (
	goodLib = `pub fn value() -> i32 {
    base::two()
}

pub fn extra() {}

#[cfg(test)]
mod tests {
    #[test]
    fn own() {
        assert_eq!(super::value(), 2);
    }
}
`
	valueCheck = "#[test]\nfn check() {\n    assert_eq!(tiny::value(), 2);\n}\n"
	extraCheck = "#[test]\nfn check() {\n    tiny::extra();\n}\n"
)

func starterFiles() map[string]string {
	return map[string]string{
		"Cargo.toml":        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nbase = { path = \"../fixtures/base\" }\n",
		"src/lib.rs":        "pub fn value() -> i32 {\n    0\n}\n",
		"src/unused.rs":     "not even Rust",
		"tests/existing.rs": "#[test]\nfn there() {}\n",
	}
}

// newInput is a grading of a submission that is the starter with some files changed ("-" deletes).
func newInput(t *testing.T, changes map[string]string) Input {
	t.Helper()
	tools := realtools.Locate(t, setup.NeedSandbox, setup.NeedRust)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	scratch, err := workspace.OpenScratch(filepath.Join(root, "scratch"))
	require.NoError(t, err)
	batch, err := scratch.NewBatch()
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := os.ReadDir(batch.Dir)
		assert.NoError(t, err)
		assert.LessOrEqual(t, len(left), 2, "no grading copy stays behind: %v", left) // tools and the lock
		assert.NoError(t, batch.Close())
	})
	files := starterFiles()
	maps.Copy(files, changes)
	maps.DeleteFunc(files, func(_, content string) bool { return content == "-" })
	write(t, root, map[string]string{
		"checks/value_is_two.rs": valueCheck, "checks/extra_exists.rs": extraCheck,
		"base/Cargo.toml": "[package]\nname = \"base\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "base/src/lib.rs": "pub fn two() -> i32 {\n    2\n}\n",
	})
	return Input{
		Task: &task.Task{
			Name: "tiny", Starter: write(t, filepath.Join(root, "starter"), starterFiles()), Editable: []string{"src"}, FmtCheck: true,
			Deadlines: task.Deadlines{Grading: 5 * time.Minute},
			Checks:    []task.Check{{Name: "extra_exists", File: filepath.Join(root, "checks/extra_exists.rs")}, {Name: "value_is_two", File: filepath.Join(root, "checks/value_is_two.rs")}},
		},
		Fixtures:   map[string]string{"base": filepath.Join(root, "base")},
		Submission: &workspace.Submission{Dir: write(t, filepath.Join(root, "submission"), files)},
		Batch:      batch,
		Sandbox: sandbox.Runtime{
			Node: tools.ByName[setup.Node].Path, SRT: tools.ByName[setup.SRT].Path, Bwrap: tools.ByName[setup.Bubblewrap].Path, PrivateTmp: scratch.PrivateTmp,
		},
		Denied:   []string{scratch.Dir, filepath.Join(root, "checks")},
		Readable: workspace.Readable{Toolchain: tools.Toolchain.Dir, SRTVendor: realtools.SRTVendor(tools)},
		CargoBin: tools.Toolchain.Bin, Out: filepath.Join(root, "grading"),
	}
}

type verdicts struct{ build, lib, extra, value, fmt, overall result.Verdict }

func verdictsOf(c *result.Code) verdicts {
	return verdicts{c.Build, c.CargoTestLib, c.Hidden["extra_exists"], c.Hidden["value_is_two"], *c.CargoFmtCheck, c.Overall}
}

func TestGradingOfRealCrates(t *testing.T) {
	t.Parallel()
	const pass, fail, skipped = result.Pass, result.Fail, result.Skipped
	tests := map[string]struct {
		changes map[string]string
		want    verdicts
		reasons map[string]string
	}{
		// Everything outside editable is the starter's again: a build configuration that would break
		// the build, a hidden check's name taken, a manifest that is none, a file the agent deleted.
		"good, with sabotage outside editable": {map[string]string{
			"src/lib.rs": goodLib, "src/unused.rs": "-", ".cargo/config.toml": "[build]\nrustc = \"/bin/false\"\n", "rust-toolchain.toml": "[toolchain]\nchannel = \"1.0\"\n",
			"tests/value_is_two.rs": "#[test] fn a() {}\n#[test] fn b() {}\n", "tests/extra_exists/main.rs": "fn", "Cargo.toml": "broken", "build.rs": "fn main() { panic!() }", "tests/existing.rs": "-",
		}, verdicts{pass, pass, pass, pass, pass, pass}, nil},
		"does not build": {map[string]string{"src/lib.rs": "pub fn value( {"},
			verdicts{fail, skipped, skipped, skipped, skipped, fail}, map[string]string{"build": "exit code 101"}},
		"own tests fail, not formatted": {map[string]string{"src/lib.rs": strings.ReplaceAll(goodLib, "super::value(), 2", "super::value(),   3")},
			verdicts{pass, fail, pass, pass, fail, fail}, map[string]string{"test-lib": "exit code 101", "fmt": "exit code 1"}},
		"a hidden check fails, another does not compile": {map[string]string{"src/lib.rs": "pub fn value() -> i32 {\n    3\n}\n"},
			verdicts{pass, pass, fail, fail, pass, fail}, map[string]string{"hidden-extra_exists": "the check does not compile", "hidden-value_is_two": "--test value_is_two: exit code 101"}},
		"the library exits successfully": {map[string]string{"src/lib.rs": "pub fn value() -> i32 {\n    std::process::exit(0)\n}\n\npub fn extra() {}\n"},
			verdicts{pass, pass, pass, fail, pass, fail}, map[string]string{"hidden-value_is_two": "no test result was printed"}},
		"a test crashes": {map[string]string{"src/lib.rs": "pub fn value() -> i32 {\n    std::process::abort()\n}\n\npub fn extra() {}\n"},
			verdicts{pass, pass, pass, fail, pass, fail}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInput(t, tt.changes)
			var steps []string
			in.OnStep = func(step string) { steps = append(steps, step) }
			got := Code(t.Context(), in)
			require.Empty(t, got.InfrastructureError)
			assert.Equal(t, tt.want, verdictsOf(got), "%v", got.Reasons)
			for step, want := range tt.reasons {
				assert.Contains(t, got.Reasons[step], want)
			}
			for _, step := range steps {
				if strings.HasPrefix(step, "hidden-") {
					step += "-build" // a check that does not compile has no output of its own
				}
				assert.FileExists(t, filepath.Join(in.Out, step+".stdout"))
				assert.FileExists(t, filepath.Join(in.Out, step+".stderr"))
			}
			want := []string{"build", "test-lib", "hidden-extra_exists", "hidden-value_is_two", "fmt"}
			if tt.want.build != pass {
				want = want[:1]
			}
			assert.Equal(t, want, steps)
		})
	}
}

// A test that never ends takes its own step's deadline and no more; what it started is dead.
func TestStepDeadline(t *testing.T) {
	t.Parallel()
	in := newInput(t, nil)
	marker := filepath.Base(in.Batch.Dir) // "sleep 600", but known by its argv
	lib := goodLib + `
#[cfg(test)]
mod endless {
    #[test]
    fn endless() {
        std::process::Command::new("setsid").args(["/bin/sh", "-c", "sleep 600; true", "` + marker + `"]).spawn().unwrap();
        std::fs::write("../target/started", "").unwrap();
        loop {}
    }
}
`
	require.NoError(t, os.WriteFile(filepath.Join(in.Submission.Dir, "src", "lib.rs"), []byte(lib), 0o644))
	in.Task.FmtCheck = false
	in.OnStep = func(step string) {
		in.Task.Deadlines.Grading = 5 * time.Minute
		if step == "test-lib" {
			in.Task.Deadlines.Grading = 3 * time.Second
		}
	}
	got := Code(t.Context(), in)
	require.Empty(t, got.InfrastructureError)
	assert.Equal(t, result.Pass, got.Build)
	assert.Equal(t, result.Timeout, got.CargoTestLib)
	assert.Equal(t, map[string]result.Verdict{"extra_exists": result.Pass, "value_is_two": result.Pass}, got.Hidden)
	assert.Equal(t, result.Fail, got.Overall)
	assert.Contains(t, got.Reasons["test-lib"], "3s")
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, p := range procs {
		if cmdline, err := os.ReadFile(p); err == nil {
			assert.NotContains(t, string(cmdline), marker)
		}
	}
}

// What is the machine's or the runner's fault is no verdict on the submission.
func TestInfrastructureErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sabotage func(t *testing.T, in *Input)
		want     string
	}{
		"a fixture is missing":      {func(_ *testing.T, in *Input) { in.Fixtures["base"] += "-gone" }, "fixture base"},
		"the starter is missing":    {func(_ *testing.T, in *Input) { in.Task.Starter += "-gone" }, "starter"},
		"srt is missing":            {func(_ *testing.T, in *Input) { in.Sandbox.SRT += "-gone" }, "the sandbox did not start"},
		"bubblewrap is missing":     {func(_ *testing.T, in *Input) { in.Sandbox.Bwrap += "-gone" }, "bwrap-gone"},
		"cargo is missing":          {func(t *testing.T, in *Input) { in.CargoBin = t.TempDir() }, "the Rust toolchain"},
		"the submission is missing": {func(_ *testing.T, in *Input) { in.Submission.Dir += "-gone" }, "submission"},
		"output cannot be kept":     {func(t *testing.T, in *Input) { write(t, filepath.Dir(in.Out), map[string]string{"grading": "a file"}) }, "grading"},
		"a link is in the kept submission": {func(t *testing.T, in *Input) {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(in.Submission.Dir, "src", "late.rs")))
		}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInput(t, map[string]string{"src/lib.rs": goodLib})
			tt.sabotage(t, &in)
			got := Code(t.Context(), in)
			assert.Contains(t, got.InfrastructureError, tt.want)
			assert.NotEqual(t, result.Pass, got.Overall)
			assert.NotEqual(t, result.Fail, got.Overall)
		})
	}
	t.Run("cancelled before", func(t *testing.T) {
		t.Parallel()
		in := newInput(t, map[string]string{"src/lib.rs": goodLib})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("stopped by the user"))
		assert.Contains(t, Code(ctx, in).InfrastructureError, "stopped by the user")
	})
	t.Run("cancelled in a step", func(t *testing.T) {
		t.Parallel()
		in := newInput(t, map[string]string{"src/lib.rs": goodLib})
		ctx, cancel := context.WithCancelCause(t.Context())
		in.OnStep = func(step string) { cancel(errors.New("stopped in " + step)) }
		got := Code(ctx, in)
		assert.Contains(t, got.InfrastructureError, "stopped in build")
		assert.Equal(t, []string{"build.stderr", "build.stdout"}, names(t, in.Out))
	})
	t.Run("a hidden check is gone", func(t *testing.T) {
		t.Parallel()
		in := newInput(t, map[string]string{"src/lib.rs": goodLib})
		require.NoError(t, os.Remove(in.Task.Checks[0].File))
		got := Code(t.Context(), in)
		assert.Contains(t, got.InfrastructureError, "hidden check extra_exists")
		assert.Equal(t, result.Pass, got.Build, "what was found out stays")
		assert.Equal(t, result.Skipped, got.Hidden["value_is_two"])
	})
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Code of the submission sees no hidden check, no other copy, no network and nobody's credentials,
// and cannot write a verdict.
func TestWhatGradedCodeReaches(t *testing.T) {
	t.Parallel()
	in := newInput(t, nil)
	lib := goodLib + `
#[cfg(test)]
mod reach {
    #[test]
    fn reach() {
        let check = "` + in.Task.Checks[0].File + `";
        assert!(std::fs::read(check).is_err(), "hidden check readable");
        for entry in std::fs::read_dir("tests").unwrap() {
            assert_eq!(entry.unwrap().file_name(), "existing.rs");
        }
        assert!(std::fs::write("` + in.Out + `/hidden-value_is_two.stdout", "forged").is_err());
        assert!(std::fs::write("../fixtures/base/src/lib.rs", "forged").is_err());
        assert!(std::fs::write("../bin/start", "forged").is_err());
        let err = std::net::TcpStream::connect("127.0.0.1:1").unwrap_err();
        assert_eq!(err.kind(), std::io::ErrorKind::ConnectionRefused);
        assert_eq!(std::fs::read_to_string("/proc/net/dev").unwrap().lines().count(), 3, "loopback alone");
        // Besides what the step is given, cargo sets variables of its own.
        let known = ["HOME", "TMPDIR", "PATH", "RUSTUP_HOME"];
        for (name, _) in std::env::vars() {
            let own = name.starts_with("CARGO") || name.starts_with("SSL_CERT_") || name == "LD_LIBRARY_PATH" || name.starts_with("RUST");
            assert!(own || known.contains(&name.as_str()), "{name} is in the environment");
        }
    }
}
`
	require.NoError(t, os.WriteFile(filepath.Join(in.Submission.Dir, "src", "lib.rs"), []byte(lib), 0o644))
	in.Task.FmtCheck, in.Task.Checks = false, in.Task.Checks[1:]
	got := Code(t.Context(), in)
	require.Empty(t, got.InfrastructureError)
	out, err := os.ReadFile(filepath.Join(in.Out, "test-lib.stdout"))
	require.NoError(t, err)
	assert.Equal(t, result.Pass, got.CargoTestLib, "%s", out)
	assert.Equal(t, result.Pass, got.Overall)
}
