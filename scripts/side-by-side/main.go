// Command side-by-side runs suites with the public package agent-exam and with Proctor, on the same client and the same
// scripted model, and prints verdict by verdict what they say, and the time of both. Linux; needs Python 3 with venv,
// and what `proctor setup` installs. Not part of CI.
//
//	go run ./scripts/side-by-side [-agent-exam FILE] [-n N] [-keep] [DIR]
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/internal/setup"
)

// pinned is the release that the comparison is with.
const pinned = "agent-exam==0.2.0"

// modelName is what the public package is told; the scripted model answers to any.
const modelName = "claude-haiku-4-5"

// asked are the runs; both programs spell the options with two dashes.
var asked = [][]string{{"side"}, {"side", "--without-skill"}, {"breaks"}}

func main() {
	exam := flag.String("agent-exam", "", "the public package's program; without it "+pinned+" is installed in a temporary folder")
	parallel := flag.Int("n", 2, "attempts at once, of both")
	keep := flag.Bool("keep", false, "keep the runs, and say where")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	stdout, stderr := report.NewPrinter(os.Stdout), report.NewPrinter(os.Stderr)
	err := run(ctx, *exam, cmp.Or(flag.Arg(0), "testdata/side-by-side"), *parallel, *keep, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "side-by-side:", err)
	}
	if errors.Join(err, stdout.Flush(), stderr.Flush()) != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context, exam, evals string, parallel int, keep bool, stdout, stderr io.Writer) error {
	work, err := os.MkdirTemp("", "side-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(stderr, "the runs are in", work)
	} else {
		defer os.RemoveAll(work)
	}
	proctor := filepath.Join(work, "proctor")
	if err := call(ctx, "go", "build", "-o", proctor, "./cmd/proctor"); err != nil {
		return err
	}
	if exam == "" {
		venv := filepath.Join(work, "venv")
		if err := errors.Join(call(ctx, "python3", "-m", "venv", venv), call(ctx, filepath.Join(venv, "bin", "pip"), "install", "-q", pinned)); err != nil {
			return err
		}
		exam = filepath.Join(venv, "bin", "agent-exam")
	}
	tools, err := setup.Locate(ctx, setup.Options{}, setup.NeedClaude)
	if err != nil {
		return err
	}
	bin := filepath.Join(work, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(tools.ByName[setup.Claude].Path, filepath.Join(bin, "claude"))); err != nil {
		return err
	}
	for i, args := range asked {
		dir := filepath.Join(work, strconv.Itoa(i))
		theirs, theirTime, err := public(ctx, exam, bin, filepath.Join(dir, "theirs"), evals, args, parallel)
		if err != nil {
			return err
		}
		began := time.Now()
		ours, err := attempts(ctx, nil, filepath.Join(dir, "ours"), evals, append([]string{proctor, "run", "-n", strconv.Itoa(parallel)}, flagsFirst(args)...))
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "**`%s`**, %d at once\n\n%s\ntime: agent-exam %.0f s, Proctor %.0f s\n\n", strings.Join(args, " "), parallel, table(theirs, ours), theirTime.Seconds(), time.Since(began).Seconds())
	}
	return nil
}

// flagsFirst puts options before names, as Proctor wants them.
func flagsFirst(args []string) (out []string) {
	for _, options := range []bool{true, false} {
		for _, a := range args {
			if strings.HasPrefix(a, "-") == options {
				out = append(out, a)
			}
		}
	}
	return out
}

// public runs the public package with a home of its own and the scripted model as its client's endpoint.
func public(ctx context.Context, exam, bin, dir, evals string, args []string, parallel int) (map[string]string, time.Duration, error) {
	cases, err := casesOf(evals, args[0])
	if err != nil {
		return nil, 0, err
	}
	model, err := newManyTasks(cases)
	if err != nil {
		return nil, 0, err
	}
	g, err := gateway.Open(ctx, gateway.Options{Model: model, ModelName: modelName})
	if err != nil {
		return nil, 0, err
	}
	defer g.Close() //nolint:errcheck // it has no log
	home := dir + "-home"
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, 0, err
	}
	env := []string{
		"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + g.URL(), "ANTHROPIC_API_KEY=" + g.Token(),
		"IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	}
	began := time.Now()
	found, err := attempts(ctx, env, dir, evals, append([]string{exam, "run", "--model", modelName, "-n", strconv.Itoa(parallel)}, args...))
	took := time.Since(began)
	if s := g.Summary(); err == nil && s.Err != nil {
		err = s.Err
	}
	if s := g.Summary(); err == nil && s.Answered == 0 {
		err = errors.New("the public package's client never asked the scripted model")
	}
	return found, took, err
}

// casesOf are the cases of a suite.
func casesOf(evals, name string) ([]suite.Case, error) {
	project, err := suite.Load(evals, name)
	if err != nil {
		return nil, err
	}
	specs, err := suite.ParseSpecs([]string{name})
	if err != nil {
		return nil, err
	}
	selected, err := project.Select(specs, suite.Selection{})
	return selected.Cases, err
}

// attempts runs a program in a copy of the evals folder and reads the verdicts off its report; without a report there
// are none. Its exit status is a verdict of its own.
func attempts(ctx context.Context, env []string, dir, evals string, argv []string) (map[string]string, error) {
	if err := os.CopyFS(dir, os.DirFS(evals)); err != nil {
		return nil, err
	}
	log, err := os.Create(dir + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), log, log
	if err := cmd.Run(); cmd.ProcessState == nil {
		return nil, err
	}
	found := map[string]string{"exit code": strconv.Itoa(cmd.ProcessState.ExitCode())}
	reports, err := filepath.Glob(filepath.Join(dir, "runs", "*", "reports", "*.json"))
	for _, path := range reports {
		var report struct {
			Attempts []struct {
				Suite, Task, Verdict string
				Attempt              int
			}
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &report)
		}
		if err != nil {
			return nil, err
		}
		for _, a := range report.Attempts {
			found[fmt.Sprintf("%s::%s", a.Suite, a.Task)] = a.Verdict
		}
	}
	return found, err
}

// table sets the verdicts side by side.
func table(theirs, ours map[string]string) string {
	var b strings.Builder
	b.WriteString("| attempt | agent-exam | Proctor | |\n|---|---|---|---|\n")
	all := maps.Clone(theirs)
	maps.Copy(all, ours)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		word := "same"
		if theirs[name] != ours[name] {
			word = "**different**"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, cmp.Or(theirs[name], "-"), cmp.Or(ours[name], "-"), word)
	}
	return b.String()
}

// call runs a command whose output is of interest only when it fails.
func call(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
