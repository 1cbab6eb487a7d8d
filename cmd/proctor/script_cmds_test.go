//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for what must come.
const patience = 60 * time.Second

// deathBed is how long a killed trial may take to be gone.
const deathBed = 10 * time.Second

// poll asks until ok says yes or the time is over.
func poll(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// tinyTask is the start of every task.toml; the prompt comes last but for the caller's lines.
const tinyTask = `kind = "capability"
editable = ["src"]
model_script = "model.toml"
prompt = '''
%s'''
`

func cmdTask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: task NAME [LINE...]")
	}
	dir := ts.MkAbs(filepath.Join("tasks", args[0]))
	_, err := treecopy.Copy(dir, filepath.Join(scripts, "tiny"), treecopy.CopyOptions{})
	ts.Check(err)
	text := fmt.Sprintf(tinyTask, "Make answer() return 42.\n") + strings.Join(args[1:], "\n") + "\n"
	ts.Check(os.WriteFile(filepath.Join(dir, "task.toml"), []byte(text), 0o644))
}

func cmdPrompt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: prompt NAME FILE")
	}
	file := ts.MkAbs(filepath.Join("tasks", args[0], "task.toml"))
	old := ts.ReadFile(file)
	_, rest, ok := strings.Cut(old, "'''\nMake answer() return 42.\n'''\n")
	if !ok {
		ts.Fatalf("%s has a prompt of its own already", file)
	}
	ts.Check(os.WriteFile(file, []byte(fmt.Sprintf(tinyTask, ts.ReadFile(args[1]))+rest), 0o644))
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROG [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	group := len(args) == 2 && args[0] == "-group"
	if group {
		args = args[1:]
	}
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	running := ts.BackgroundCmds()
	if neg || len(args) != 1 || signals[args[0]] == 0 || len(running) == 0 {
		ts.Fatalf("usage: signal [-group] INT|TERM|KILL, after a program was started in the background")
	}
	pid := running[len(running)-1].Process.Pid
	if group {
		if got, err := syscall.Getpgid(pid); err != nil || got != pid {
			ts.Fatalf("process %d leads no group (%v): start it with `exec setsid`", pid, err)
		}
		pid = -pid
	}
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

func cmdWaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfile GLOB")
	}
	waitFile(ts, args[0])
}

func waitFile(ts *testscript.TestScript, glob string) string {
	var found []string
	if !poll(patience, func() bool {
		found, _ = filepath.Glob(ts.MkAbs(glob))
		return len(found) > 0
	}) {
		ts.Fatalf("no %s after %s", glob, patience)
	}
	return found[0]
}

func cmdAllow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: allow GLOB")
	}
	ready := waitFile(ts, args[0])
	ts.Check(os.WriteFile(filepath.Join(filepath.Dir(ready), "go"), nil, 0o644))
}

// cmdAlive looks for a batch folder of the script's scratch in every process's command line and
// environment.
func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: [!] alive")
	}
	mark := []byte(filepath.Join(ts.Getenv("PROCTOR_SCRATCH"), "b-"))
	switch {
	case !neg && !poll(deathBed, func() bool { return len(processes(mark)) > 0 }):
		ts.Fatalf("no process of a trial is there")
	case neg && !poll(deathBed, func() bool { return len(processes(mark)) == 0 }):
		ts.Fatalf("processes of a trial after %s: %q", deathBed, processes(mark))
	}
}

func processes(mark []byte) []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, dir := range dirs {
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(cmdline, mark) || bytes.Contains(environ, mark) {
			found = append(found, filepath.Base(dir)+": "+string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// cmdTrials prints a line a trial: TASK/TRIAL STATE EXECUTION OUTCOME (CAUSE).
func cmdTrials(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: trials")
	}
	runs, _ := filepath.Glob(ts.MkAbs(filepath.Join("runs", "*")))
	if len(runs) == 0 {
		ts.Fatalf("no run in runs/")
	}
	var run *result.Run
	for _, dir := range runs {
		r, err := result.ReadRun(dir)
		ts.Check(err)
		if run == nil || r.StartedAt.After(run.StartedAt) {
			run = r
		}
	}
	dash := func(s string) string { return or(s, "-") }
	for _, b := range run.Batches {
		for _, t := range b.Trials {
			fmt.Fprintf(ts.Stdout(), "%s/%s %s %s %s (%s)\n", b.Task.Name, t.Name, t.State, dash(string(t.Execution)), dash(string(t.Outcome)), t.Cause)
		}
	}
}

func cmdLocate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: locate NAME GLOB")
	}
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d paths match %s: %q", len(found), args[1], found)
	}
	ts.Setenv(args[0], found[0])
}
