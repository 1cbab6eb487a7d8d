// Package harness is the engine: it plans an exam, runs its trials on the real
// parts and counts them. The command line and `go test` are two thin callers
// of it:
//
//	e, err := harness.Open(opts)
//	run, err := e.Start(ctx, e.Tasks())
//	for _, b := range run.Batches() {
//		err := b.Prepare(ctx)
//		for _, t := range b.Plan() { trial, err := b.RunTrial(ctx, t) }
//		benchmark, err := b.Finish()
//	}
//	err = run.Close()
//
// Whatever a trial does wrong is a value in its result. An error means that
// the runner itself broke, and that the run cannot go on.
package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/sandbox"
)

// DefaultClient is the client of a run that names none.
const DefaultClient = "claude"

// Scripted is the model of a run that names none: the task's own model script.
const Scripted = "scripted"

// Options choose what is run and where. The zero value of each field means its default.
type Options struct {
	// Evals is the evals root: the folder with tasks/. Default: the nearest one, see FindEvals.
	Evals string
	// Scratch is where trials live. Default: a private folder in /var/tmp.
	Scratch string
	// Results is where results are kept. Default: results/ in the evals root, with runs/ beside it;
	// when set, runs/ is inside it.
	Results string
	// Clients are the agent clients; each task has a batch with each. Default: claude.
	Clients []string
	// ClientPath runs this client program in place of the installed one. It needs a single client.
	ClientPath string
	// CargoAgents evaluates this cargo-agents in place of the installed one.
	CargoAgents string
	// Model is the model's name. Default: scripted.
	Model string
	// ClientModels are the models of clients that have another than Model; from the configuration of suites.
	ClientModels map[string]string
	// Configurations to compare. Default: without-symposium, with-symposium.
	Configurations []string
	// Trials per configuration. Default: DefaultTrials with the scripted model, else the task's own.
	Trials int
	// DefaultTrials is what the caller gives a scripted run that names no number. Default: 1.
	DefaultTrials int
	// Exploratory runs the client in its own sandbox in place of srt. Its results are labelled and
	// never compared.
	Exploratory bool
	// Jobs is how many batches run side by side. Default: 1.
	Jobs int
	// DenyRead are further regions no trial may read.
	DenyRead []string
	// MaxOutput caps what the client of one trial may print, in bytes. Default: 1 GiB.
	MaxOutput int64
	// MaxDisk and MaxFiles bound what one launch may have on the disk in the folders it may write: the
	// client's session, and each grading step. In allocated bytes and entries. Default: 20 GiB, 1 000 000.
	MaxDisk, MaxFiles int64
	// MaxProcesses and MaxMemory bound what one launch may take of the machine at once: processes and
	// threads together, and bytes. Default: 4096, three quarters of the machine's memory.
	MaxProcesses, MaxMemory int64
	// Direct gives the client the real key and lets it reach its provider itself.
	Direct bool
	// Record keeps a cassette of each trial's model traffic beside its result.
	Record bool
	// Replay answers from the cassettes below this folder: a run's, a batch's or a trial's.
	Replay string
	// Models are further models a trial may ask, beside Model. Default: none.
	Models []string
	// Endpoints are the providers' addresses and keys, by API; what is left out comes from the usual
	// environment variables.
	Endpoints map[string]EndpointOptions
	// Prices are by model.
	Prices map[string]gateway.Price
	// MaxTokens and MaxCost (US dollars) end a run at the end of a round; TrialMaxTokens and
	// TrialMaxCost end a trial. Counted at the wire. 0: no limit.
	MaxTokens, TrialMaxTokens int64
	MaxCost, TrialMaxCost     float64
	// MaxWaitSecs is how long a trial waits for a provider that is busy, in seconds. Default: 600.
	MaxWaitSecs int64
	// Cache is where setup keeps tools. Default: the user's cache folder.
	Cache string
	// OnEvent, if set, is told each stage as it begins. Calls do not overlap.
	OnEvent func(Event)
}

// Variable is an environment variable and what it is for.
type Variable struct{ Name, Meaning string }

// Variables are the environment variables Environ reads, with what each one is for.
var Variables = []Variable{
	{"PROCTOR_EVALS", "evals root: the folder with tasks/"},
	{"PROCTOR_SCRATCH", "where trials live"},
	{"PROCTOR_RESULTS", "where results are kept"},
	{"PROCTOR_CLIENT", "agent client, or several, comma-separated"},
	{"PROCTOR_CLIENT_PATH", "client program to run in place of the installed one"},
	{"PROCTOR_CARGO_AGENTS", "cargo-agents program to evaluate in place of the installed one"},
	{"PROCTOR_MODEL", "model; without one, the task's model script"},
	{"PROCTOR_DIRECT", "1: the client has the real key and reaches its provider itself; the agent can read the key"},
	{"PROCTOR_RECORD", "1: keep a cassette of each trial's model traffic beside its result"},
	{"PROCTOR_REPLAY", "folder of a recorded run, batch or trial, to answer from its cassettes"},
	{"PROCTOR_MAX_TOKENS", "tokens after which a run stops at the end of a round"},
	{"PROCTOR_MAX_COST", "US dollars after which a run stops at the end of a round; needs prices in proctor.toml"},
	{"PROCTOR_CONFIGURATIONS", "configurations to compare, comma-separated"},
	{"PROCTOR_TRIALS", "trials per configuration"},
	{"PROCTOR_EXPLORATORY", "1: the client's own sandbox in place of srt; results are not compared"},
	{"PROCTOR_JOBS", "batches that run side by side"},
	{"PROCTOR_CACHE", "where setup keeps tools"},
}

// Environ reads options from the environment; getenv is os.Getenv or a test's. All mistakes are
// reported at once.
func Environ(getenv func(string) string) (Options, error) {
	o := Options{
		Evals: getenv("PROCTOR_EVALS"), Scratch: getenv("PROCTOR_SCRATCH"), Results: getenv("PROCTOR_RESULTS"),
		Clients: SplitList(getenv("PROCTOR_CLIENT")), ClientPath: getenv("PROCTOR_CLIENT_PATH"), CargoAgents: getenv("PROCTOR_CARGO_AGENTS"),
		Model: getenv("PROCTOR_MODEL"), Configurations: SplitList(getenv("PROCTOR_CONFIGURATIONS")), Cache: getenv("PROCTOR_CACHE"),
		Replay: getenv("PROCTOR_REPLAY"),
	}
	var problems []error
	for name, field := range map[string]*int{"PROCTOR_TRIALS": &o.Trials, "PROCTOR_JOBS": &o.Jobs} {
		if text := getenv(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				problems = append(problems, fmt.Errorf("%s=%q: give a whole number of at least 1", name, text))
				continue
			}
			*field = n
		}
	}
	for name, field := range map[string]*bool{"PROCTOR_EXPLORATORY": &o.Exploratory, "PROCTOR_DIRECT": &o.Direct, "PROCTOR_RECORD": &o.Record} {
		switch text := getenv(name); text {
		case "", "0":
		case "1":
			*field = true
		default:
			problems = append(problems, fmt.Errorf("%s=%q: give 1 or 0", name, text))
		}
	}
	if text := getenv("PROCTOR_MAX_TOKENS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			problems = append(problems, fmt.Errorf("PROCTOR_MAX_TOKENS=%q: give a whole number of at least 1", text))
		}
		o.MaxTokens = n
	}
	if text := getenv("PROCTOR_MAX_COST"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0) || math.IsInf(n, 0) {
			problems = append(problems, fmt.Errorf("PROCTOR_MAX_COST=%q: give a number above 0, in US dollars", text))
		}
		o.MaxCost = n
	}
	return o, errors.Join(problems...)
}

// SplitList splits a comma-separated list; blanks around items are dropped, an empty text is no list.
func SplitList(s string) []string {
	var out []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// complete fills in proctor.toml's values and the defaults, makes paths absolute and checks names.
func (o Options) complete() (Options, error) {
	root, err := FindEvals(o.Evals)
	if err != nil {
		return o, err
	}
	o.Evals = root
	problems := []error{o.mergeFile(filepath.Join(root, ConfigFile))}
	if len(o.Clients) == 0 {
		o.Clients = []string{DefaultClient}
	}
	problems = append(problems, o.checkModel()...)
	if o.Model == "" {
		o.Model = Scripted
	}
	if len(o.Configurations) == 0 {
		o.Configurations = plan.Default()
	}
	if o.DefaultTrials == 0 {
		o.DefaultTrials = 1
	}
	if o.Jobs == 0 {
		o.Jobs = 1
	}
	confs, err := plan.Lookup(o.Configurations...)
	if err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, o.checkClients(confs)...)
	for _, p := range []*string{&o.Scratch, &o.Results, &o.Cache, &o.ClientPath, &o.CargoAgents} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			problems = append(problems, err)
		}
	}
	return o, errors.Join(problems...)
}

// RunsDir is the folder that holds the run records of the given options.
func RunsDir(o Options) (string, error) {
	o, err := o.complete()
	if err != nil {
		return "", err
	}
	return o.runsDir(), nil
}

// mode is the isolation of the agent's session.
func (o Options) mode() string {
	if o.Exploratory {
		return sandbox.Exploratory
	}
	return sandbox.Enforced
}

// quota bounds what a launch of a trial may leave on the disk and take of the machine.
func (o Options) quota() sandbox.Quota {
	return sandbox.Quota{Bytes: o.MaxDisk, Files: o.MaxFiles, Processes: o.MaxProcesses, Memory: o.MaxMemory}
}

func (o Options) resultsDir() string {
	if o.Results != "" {
		return o.Results
	}
	return filepath.Join(o.Evals, "results")
}

func (o Options) runsDir() string {
	if o.Results != "" {
		return filepath.Join(o.Results, "runs")
	}
	return filepath.Join(o.Evals, "runs")
}

// FindEvals returns the evals root: dir if it is given, else the first folder, from the current one
// upwards, that holds tasks/ or suites/ itself or in evals/.
func FindEvals(dir string) (string, error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if !isEvals(abs) {
			return "", fmt.Errorf("evals root %s: no folder tasks/ in it", abs)
		}
		return abs, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := cwd; ; d = filepath.Dir(d) {
		for _, candidate := range []string{d, filepath.Join(d, "evals")} {
			if isEvals(candidate) {
				return candidate, nil
			}
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no evals root: no folder tasks/ or evals/tasks/ in %s or above; set PROCTOR_EVALS, or make tasks/<name>/task.toml", cwd)
		}
	}
}

func isEvals(dir string) bool {
	for _, sub := range []string{"tasks", "suites"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err == nil && info.IsDir() {
			return true
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
	}
	return false
}
