//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"proctor": main})
}

// scripts is where the scripts, the tiny task and the fake client lie.
const scripts = "../../testdata/script"

// TestScript runs the scripts of testdata/script on the real sandbox, toolchain and, where a script
// says so, client. A missing tool is a failure: `proctor setup` installs it.
//
// Each script starts in an empty evals root, $WORK/exam, with its own scratch, results and home.
// Commands beside testscript's own:
//
//	task NAME [LINE...]        make tasks/NAME from the tiny task, with further lines for task.toml
//	prompt NAME FILE           take the task's prompt from a file
//	exits CODE PROG [ARG...]   run a program that must end with this exit code
//	signal [-group] SIG        signal the last program started in the background
//	waitfile GLOB              wait until a file is there
//	allow GLOB                 let the paused fake client whose "ready" file matches go on
//	[!] alive                  a process of a trial is (or within ten seconds none is) there
//	trials                     print the newest run's trials as a reader finds them
//	serve                      open services that answer "canary" (see cmdServe)
//	locate NAME GLOB           set the variable NAME to the one path that matches
func TestScript(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the enforced sandbox is Linux only")
	}
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	testscript.Run(t, testscript.Params{
		Dir: scripts, Setup: setupScript, RequireExplicitExec: true, RequireUniqueNames: true,
		UpdateScripts: os.Getenv("PROCTOR_UPDATE") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"task": cmdTask, "prompt": cmdPrompt, "exits": cmdExits, "signal": cmdSignal, "waitfile": cmdWaitFile, "allow": cmdAllow,
			"alive": cmdAlive, "trials": cmdTrials, "locate": cmdLocate, "serve": cmdServe,
		},
	})
}

// setupScript gives a script folders of its own and lets it find the machine's tools, which its
// neutral HOME would hide.
func setupScript(env *testscript.Env) error {
	user, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{env.WorkDir}, parts...)...) }
	for _, dir := range []string{in("exam", "tasks"), in("home"), in("bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	fake, err := os.ReadFile(filepath.Join(scripts, "fake-client"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(in("bin", "fake-client"), fake, 0o755); err != nil {
		return err
	}
	env.Cd = in("exam")
	env.Setenv("HOME", in("home"))
	env.Setenv("REPO", repo)
	env.Setenv("PROCTOR_CACHE", or(os.Getenv("PROCTOR_CACHE"), filepath.Join(cache, "proctor")))
	env.Setenv("PROCTOR_SCRATCH", in("scratch"))
	env.Setenv("PROCTOR_CONFIGURATIONS", "without-symposium")
	env.Setenv("PROCTOR_TRIALS", "1")
	env.Setenv("FAKE", in("bin", "fake-client"))
	for name, fallback := range map[string]string{
		"RUSTUP_HOME": filepath.Join(user, ".rustup"), "CARGO_HOME": filepath.Join(user, ".cargo"),
	} {
		env.Setenv(name, or(os.Getenv(name), fallback))
	}
	return goEnv(env)
}

// goEnv lets scripts run go offline on what this test was built from.
func goEnv(env *testscript.Env) error {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		return err
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		env.Setenv(name, values[i])
	}
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOFLAGS", "-mod=mod")
	env.Setenv("GOTOOLCHAIN", "local")
	return nil
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
