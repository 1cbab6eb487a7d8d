// Package attack tries to break a trial's isolation on the user's own machine,
// with the user's own tools and home, before money is spent on a result that
// rests on it.
//
// Each attack is a shell script that prints how it reached its target, or
// nothing. It runs twice: outside, where it must succeed (else it proves
// nothing), and in the place of a trial's client, where it must not.
package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// Verdict is what an attack showed.
type Verdict string

// The verdicts. CouldNotTell is not held: an attack that does not work outside, or did not run to
// its end inside, proves nothing.
const (
	Held         Verdict = "held"
	Broken       Verdict = "broken"
	CouldNotTell Verdict = "could not tell"
	// NoTarget says that this machine has nothing the attack could reach: no name server, no ssh agent.
	NoTarget Verdict = "no target"
)

// Result is one guarantee's answer.
type Result struct {
	Client        string
	Guarantee     string
	Configuration string
	Verdict       Verdict
	Detail        string // what was reached, or why it could not be told
}

// attack is one guarantee and the script that would break it.
type attack struct {
	guarantee string
	// script prints a line for each way that worked. $NAME variables are the targets'.
	script string
	// outside, if set, is run on the host in place of script, where the target differs there.
	outside string
	// fix, if set, is what a user can do when it is broken.
	fix string
	// only, if set, names the one configuration the attack is for.
	only string
	// needs, if set, names the target without which this machine has nothing to attack; without says
	// what is then not there.
	needs, without string
}

// unsure begins what an attack prints that could not be carried out: $UNSURE in its script.
const unsure = "UNSURE:"

// combined is all attacks in one script, each in a subshell with its output between two lines that
// begin with mark. The second is the subshell's own: without it, it was never run.
func combined(attacks []attack, mark string, outside bool) string {
	var b strings.Builder
	for i, a := range attacks {
		body := a.script
		if outside && a.outside != "" {
			body = a.outside
		}
		fmt.Fprintf(&b, "printf '\\n%s %d\\n'\n( %s\n%s\nprintf '\\n%s end\\n' ) </dev/null 2>/dev/null\n", mark, i, missing(body), body, mark)
	}
	return b.String()
}

// instruments are the programs that attacks use. One that is installed where a trial does not look
// would make its attack reach nothing.
var instruments = []string{"bash", "cat", "find", "getent", "grep", "head", "ipcs", "ls", "perl", "readlink", "socat", "tail", "timeout", "tr", "unshare"}

// missing is a line of script that says which instruments of body are not there.
func missing(body string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(body, func(r rune) bool { return !('a' <= r && r <= 'z') }) {
		if slices.Contains(instruments, word) && !strings.Contains(b.String(), "-v "+word+" ") {
			fmt.Fprintf(&b, "command -v %s >/dev/null || echo \"$UNSURE %s is not installed where a trial finds it\"; ", word, word)
		}
	}
	return b.String()
}

// answers maps an attack's index to what it printed, for those that ran to their end. What an
// attack printed may hold anything but mark, which is made anew for each run: if mark is found
// where it cannot be, everything from there on counts as not run.
func answers(out []byte, mark string, n int) map[int]string {
	got := map[int]string{}
	rest := string(out)
	for i := range n {
		before, after, ok := strings.Cut(rest, fmt.Sprintf("\n%s %d\n", mark, i))
		if !ok || strings.Contains(before, mark) || strings.TrimSpace(before) != "" {
			return got
		}
		body, next, ok := strings.Cut(after, fmt.Sprintf("\n%s end\n", mark))
		if !ok || strings.Contains(body, mark) {
			return got
		}
		got[i], rest = strings.TrimSpace(body), next
	}
	return got
}

// KeyVariable is the environment variable of the runner that stands for the user's keys. The caller
// sets it to something nobody else has, before Run.
const KeyVariable = "PROCTOR_ATTACK_KEY"

// Run attacks the given configurations of a prepared batch, one visit each.
func Run(ctx context.Context, b *harness.Batch, configurations []string) ([]Result, error) {
	return run(ctx, b, configurations, nil)
}

// run is Run with a change to each launch, which is told the targets: for tests that take a guarantee
// away.
func run(ctx context.Context, b *harness.Batch, configurations []string, change func(l *sandbox.Launch, targets map[string]string)) ([]Result, error) {
	var results []Result
	for _, c := range configurations {
		r, err := runOne(ctx, b, c, change)
		if err != nil {
			return results, fmt.Errorf("%s: %w", c, err)
		}
		results = append(results, r...)
	}
	if len(configurations) > 0 {
		results = append(results, surveyed(b.Survey(), strings.Join(configurations, ",")))
	}
	for i := range results {
		results[i].Client = b.Client()
	}
	return results, nil
}

// notLookedAt is what no search on this machine finds.
const notLookedAt = "not looked at: archives, packed or renamed copies, repositories that share neither a commit's name nor a place of origin, " +
	"and folders more than nine levels deep; name such in deny_read"

// surveyed tells what the look around the machine did and did not look at.
func surveyed(s harness.Survey, configurations string) Result {
	r := Result{
		Guarantee: "copies of the evals root, of its skills and of cargo-agents in usual places are denied", Configuration: configurations, Verdict: Held,
		Detail: fmt.Sprintf("looked at: the clients' and Symposium's folders of the user, folders beside the evals root, /opt, /srv and the like; %d found and denied; %s", len(s.Denied), notLookedAt),
	}
	switch {
	case !s.Machine:
		r.Verdict, r.Detail = CouldNotTell, "the search of the machine's usual places was cut short by its time limit; "+notLookedAt
	case !s.Neighbours:
		r.Verdict, r.Detail = CouldNotTell, "there are more repositories beside the evals root than are looked at; deny the folder above it with deny_read"
	}
	return r
}

func runOne(ctx context.Context, b *harness.Batch, configuration string, change func(*sandbox.Launch, map[string]string)) (results []Result, err error) {
	targets, err := plant(b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, targets.remove()) }()
	attacks, without := list(configuration, targets.vars)
	for _, a := range without {
		results = append(results, Result{Guarantee: a.guarantee, Configuration: configuration, Verdict: NoTarget, Detail: "this machine has " + a.without})
	}
	mark, err := workspace.NewID()
	if err != nil {
		return nil, err
	}

	host := exec.CommandContext(ctx, "/bin/sh", "-s")
	host.Stdin = strings.NewReader(targets.prelude() + search(true) + combined(attacks, mark, true))
	host.Env = append(os.Environ(), targets.hostEnv()...)
	host.Dir = targets.hostDir
	outside, _ := host.Output() // an attack's failure is its own

	had, _ := segments()
	watch := watchFor(targets.vars["ORPHAN"])
	script := &lateReader{}
	escaped := false
	var inside bytes.Buffer
	ended, err := b.Enter(ctx, harness.Visit{
		Configuration: configuration, Argv: []string{"/bin/sh", "-s"}, Stdin: script, Stdout: &inside,
		Change: func(l *sandbox.Launch) {
			if change != nil {
				change(l, targets.vars)
			}
		},
		Before: func(run *workspace.Run) error {
			targets.inRun(run, b.Place().Staged)
			script.Reader = strings.NewReader(targets.prelude() + search(false) + combined(attacks, mark, false) + leftBehind)
			return nil
		},
		After: func(run *workspace.Run) error {
			policy, err := os.ReadFile(run.Path("srt.json"))
			if err != nil {
				return err
			}
			_, err = os.Lstat(run.Path("written"))
			escaped = err == nil || !bytes.Contains(policy, []byte("denyRead"))
			return nil
		},
	})
	alive := watch.stop()
	if err != nil {
		return nil, err
	}
	if !ended.Started {
		return nil, fmt.Errorf("the sandbox did not start: %s", ended.Diagnosis)
	}
	control, got := answers(outside, mark, len(attacks)), answers(inside.Bytes(), mark, len(attacks))
	for i, a := range attacks {
		results = append(results, judge(a, configuration, control, got, i))
	}
	outlives := Result{Guarantee: "no process outlives the trial", Configuration: configuration, Verdict: Held}
	orphans := processesNaming(targets.vars["ORPHAN"])
	endAll(orphans)
	switch {
	case len(orphans) > 0:
		outlives.Verdict, outlives.Detail = Broken, "a process started in the trial is still there"
	case !alive:
		outlives.Verdict, outlives.Detail = CouldNotTell, "the process was never seen alive"
	}
	memory := Result{Guarantee: "no shared memory outlives the trial", Configuration: configuration, Verdict: Held}
	left, cannotTell := newSegments(had, targets.vars["SEGMENT"])
	for _, id := range left {
		_ = exec.Command("ipcrm", "-m", id).Run()
	}
	switch {
	case cannotTell != nil:
		memory.Verdict, memory.Detail = CouldNotTell, cannotTell.Error()
	case len(left) > 0:
		memory.Verdict, memory.Detail = Broken, "a segment made in the trial is still there"
	case !strings.Contains(inside.String(), targets.vars["ORPHAN"]+" made a segment"):
		memory.Verdict, memory.Detail = CouldNotTell, "the trial could make none (ipcmk, of util-linux)"
	}
	beside := Result{Guarantee: "what is written beside the trial's own folders stays in the sandbox", Configuration: configuration, Verdict: Held}
	if escaped {
		beside.Verdict, beside.Detail = Broken, "the trial wrote into its run directory or its policy"
	}
	return append(results, outlives, memory, beside), nil
}

func judge(a attack, configuration string, control, got map[int]string, i int) Result {
	r := Result{Guarantee: a.guarantee, Configuration: configuration, Verdict: Held}
	answer, ran := got[i]
	switch {
	case !ran:
		r.Verdict, r.Detail = CouldNotTell, "the attack did not run to its end inside"
	case strings.HasPrefix(answer, unsure):
		r.Verdict, r.Detail = CouldNotTell, strings.TrimSpace(strings.TrimPrefix(answer, unsure))
	case answer != "":
		r.Verdict, r.Detail = Broken, answer
		if a.fix != "" {
			r.Detail += ": " + a.fix
		}
	case control[i] == "":
		r.Verdict, r.Detail = CouldNotTell, "the attack reaches nothing outside the sandbox either, so it proves nothing"
	}
	return r
}
