package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/proctor-evals/proctor/internal/setup"
)

// A command is one word after `proctor`. Help, completion and the reference page are made of these, so that
// none of them can leave a command out.
type command struct {
	name  string
	args  string // what stands behind it, for the usage line
	short string // one line
	long  string // further sentences, or ""
	group string // heading in the overview
	exits string // its exit codes; 2 stands here only where it means more than wrong arguments or input files
	// examples are command lines without "proctor "; docs' tests hold that a test runs each.
	examples []string
	// names says what its names are, for completion.
	names nameKind
	// own are its flags that the environment variable of their name has nothing to do with.
	own []string
	run func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

// nameKind is what stands behind a command.
type nameKind string

const (
	noNames    nameKind = ""
	taskNames  nameKind = "task"
	runnable   nameKind = "task or suite"
	runNames   nameKind = "run"
	fileNames  nameKind = "file"
	needNames  nameKind = "need"
	shellNames nameKind = "shell"
	helpNames  nameKind = "command"
)

// Headings of the overview, in its order.
const (
	groupMake    = "Make an exam"
	groupRun     = "Hold it"
	groupLook    = "Look at what came out"
	groupMachine = "This machine"
)

const exitsRun = "0; 1 when a regression task or an attempt of a suite failed; 3 when the runner broke or was interrupted, something is missing, or nothing was measured"

// commands are all commands, in the order of the overview.
func commands() []command {
	return []command{
		{name: "init", args: "[-task] [SKILL.md]", group: groupMake, names: fileNames, run: erring(initEvals),
			short: "make an evals folder for a skill, which runs at once without a key",
			long: "Without a name the skill is looked for here, in skills/ and in the clients' skill folders. It writes a suite, where there is " +
				"a Cargo.toml (or with -task) a task of code, and in a Go module a test. Nothing is overwritten.",
			exits:    "0; 2 also when something is in the way",
			examples: []string{"init", "init -task skills/greet/SKILL.md"}},
		{name: "import", args: "[-suite NAME] [-skill NAME] FILE", group: groupMake, names: fileNames, run: erring(importSuite),
			short:    "make a suite of an agentskills evals.json, or of a set of trigger queries",
			exits:    "0; 2 also when the file is no such file",
			examples: []string{"import evals.json"}},
		{name: "check", args: "[-static] [-v] [TASK...]", group: groupMake, names: taskNames, run: check,
			short: "look for mistakes in tasks; no model, no key, no client (default: all tasks)",
			long: "It reads the files, then grades in the sandbox what each task's solution, its untouched starter and a few tampered " +
				"submissions come to. The rules are in docs/reference/task.md.",
			exits:    "0; 1 when there are problems; 3 when something is missing or could not be run",
			examples: []string{"check", "check -static"}},
		{name: "list", group: groupMake, run: erring(list),
			short: "list the tasks, and the suites' tasks", exits: "0", examples: []string{"list"}},

		{name: "run", args: "TASK... | SUITE...", group: groupRun, names: runnable, run: runTasks,
			short: "run tasks or suites, and compare the configurations",
			long: "A suite is named SUITE, SUITE::TASK, SUITE::TASK::N (one prompt of a trigger task) or '*'; tasks and suites are run apart. " +
				"Without -model a run follows each task's model script: it is free and needs no key, proves the plumbing and says nothing of the skill. " +
				"Ctrl-C ends a run cleanly; -resume goes on with it.",
			exits: exitsRun,
			examples: []string{"run store-durability", "run -k 5 -configurations without-symposium,staged-skills store-durability",
				"run -dry-run store-durability", "run -resume latest", "run release-notes -compare without-skill"}},
		{name: "grade", args: "RESULT...", group: groupRun, names: runNames, run: regrade,
			short: "grade kept submissions again: a trial's or a batch's folder, or a run",
			long:  "The new grading stands beside the old ones, and counts. No agent runs.",
			exits: exitsRun, examples: []string{"grade latest"}},
		{name: "rescore", args: "RUN | RUN::SUITE | RUN::SUITE::TASK", group: groupRun, names: runNames, run: rescore,
			short: "judge a run of suites by the assertions as they are now; no agent runs",
			exits: exitsRun, examples: []string{"rescore latest"}},
		{name: "score", args: "-cwd DIR -transcript FILE [-client NAME] TASK.yaml", group: groupRun, names: fileNames, run: score, own: []string{"client"},
			short: "grade any working directory and transcript against a suite's task",
			long: "FILE is a transcript as \"proctor transcript -json\" prints it, agent-exam's trajectory.json, or, with -client, what the " +
				"client printed.",
			exits: "0; 1 when the attempt fails; 3 when it cannot be decided"},

		{name: "show", args: "[RUN]", group: groupLook, names: runNames, run: erring(show),
			short: "print a run's trials and how each ended (default: the latest run)",
			long: "A run is named by its id, the start of it, latest or prev; of a run of suites also RUN::SUITE, RUN::SUITE::TASK or " +
				"RUN::SUITE::TASK::attempt-N. A run whose runner died is shown like any other.",
			exits: "0", examples: []string{"show", "show -json prev"}},
		{name: "report", args: "[-o FILE] [RUN]", group: groupLook, names: runNames, run: erring(htmlReport),
			short: "write a run's report as one HTML file (default: the latest run)",
			exits: "0; 2 also when the file could not be written", examples: []string{"report", "report -o report.html latest"}},
		{name: "runs", group: groupLook, run: erring(runs),
			short: "list the runs of tasks and of suites", exits: "0", examples: []string{"runs", "runs -limit 3"}},
		{name: "history", args: "NAME", group: groupLook, names: runnable, run: erring(history),
			short: "what the runs say of a task, a SUITE or a SUITE::TASK", exits: "0", examples: []string{"history store-durability"}},
		{name: "diff", args: "[RUN RUN]", group: groupLook, names: runNames, run: erring(diff),
			short: "what changed from one run to another (default: prev and latest)", exits: "0", examples: []string{"diff", "diff prev latest"}},
		{name: "transcript", args: "RESULT | -client NAME [-session FILE] FILE | -schema", group: groupLook, names: fileNames, run: ending(erring(showTranscript)), own: []string{"client"},
			short: "print a trial's session; with -client, that of a client's raw output",
			long:  "RESULT is a trial's folder, also as it stands below the results.", exits: "0; 3 when it was interrupted"},
		{name: "record-script", args: "RESULT", group: groupLook, names: fileNames, run: erring(recordScript),
			short: "turn what a trial's agent did into a model script to edit", exits: "0"},
		{name: "export", args: "-o DIR [RUN]", group: groupLook, names: runNames, run: erring(export), own: []string{"client"},
			short: "write a run of suites in the layout of agentskills: grading.json, timing.json, benchmark.json",
			exits: "0", examples: []string{"export -o exported latest"}},

		{name: "setup", args: "[NEED...]", group: groupMachine, names: needNames, run: runSetup,
			short: "install what a run needs (default: sandbox rust claude)",
			long:  "The needs are " + strings.Join(needs(), ", ") + ". Pinned versions go into the user's cache, once for all evals roots.",
			exits: "0; 3 when something could not be installed", examples: []string{"setup"}},
		{name: "doctor", args: "[-attack]", group: groupMachine, run: doctor,
			short: "check this machine; with -attack, try to break the isolation on it",
			exits: "0; 3 when something is missing, or a guarantee did not hold", examples: []string{"doctor", "doctor -attack"}},
		{name: "enter", args: "TASK COMMAND...", group: groupMachine, names: taskNames, run: enter,
			short: "run a command where a trial's agent would run, and see what it would see",
			exits: "the command's; 3 when it could not be started", examples: []string{"enter store-durability sh"}},
		{name: "completion", args: "bash | zsh | fish", group: groupMachine, names: shellNames, run: erring(completion),
			short: "print a script that completes commands, options, tasks, suites and runs in a shell",
			long: "For bash: source <(proctor completion bash), in ~/.bashrc to keep it. For zsh the same with zsh, after compinit. For fish: " +
				"proctor completion fish | source.",
			exits: "0", examples: []string{"completion bash"}},
		{name: "help", args: "[COMMAND]", group: groupMachine, names: helpNames, run: erring(help),
			short: "print the commands, or one command's options", exits: "0", examples: []string{"help", "help run"}},
	}
}

// erring makes a command of a function whose every error is one of usage: those that only read.
func erring(f func(args []string, stdout, stderr io.Writer) error) func(context.Context, []string, io.Writer, io.Writer) int {
	return func(_ context.Context, args []string, stdout, stderr io.Writer) int {
		return exit(stderr, f(args, stdout, stderr), exitUsage)
	}
}

// ending makes an interrupt end a command that only reads, which may wait for its input for ever: a pipe's other end.
func ending(f func(context.Context, []string, io.Writer, io.Writer) int) func(context.Context, []string, io.Writer, io.Writer) int {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		ended := make(chan int, 1)
		go func() { ended <- f(ctx, args, stdout, stderr) }()
		select {
		case code := <-ended:
			return code
		case <-ctx.Done():
			os.Exit(exitRunner) // f is left where it stands, with what it has not printed
			return exitRunner
		}
	}
}

// exitCodes are all of a command's exit codes, in order.
func (c command) exitCodes() string {
	const usage = "2 for wrong arguments or input files"
	switch before, after, runner := strings.Cut(c.exits, "; 3 "); {
	case strings.Contains(c.exits, "; 2 "):
		return strings.Replace(c.exits, "; 2 also", "; "+usage+", also", 1)
	case runner:
		return before + "; " + usage + "; 3 " + after
	}
	return c.exits + "; " + usage
}

func lookup(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func needs() (out []string) {
	for _, n := range setup.AllNeeds() {
		out = append(out, string(n))
	}
	return out
}
