// Package suite reads the inputs of suites: configuration, suites, tasks and
// their assertions, in the files of the public tool agent-exam and with our
// additions. It runs nothing.
//
// Everything is strict, and every problem of every file is reported at once
// with its place, as [task.Problems].
package suite

import "time"

// Project is a folder with suites.
type Project struct {
	Root   string // where relative skill folders start; absolute
	Evals  string // holds suites/, fixtures/, config.yaml; absolute
	Config Config
	Suites []*Suite // those that were asked for, by name
	known  []string // names of all
}

// Config is config.yaml with config.local.yaml merged over it.
type Config struct {
	DefaultHarness string
	// SkillsDirs are absolute. Nil means that none are configured; an empty list stages nothing.
	SkillsDirs        []string
	Providers         map[string]Provider // by harness name
	Judge             JudgeConfig
	DefaultTimeout    time.Duration
	ConcurrencyGroups map[string]int // at once, at least 1
	Tags              map[string]Tag
	// PreRun is a command that builds the skills before a run, by words; nil when there is none.
	PreRun []string
}

// Provider is what config.yaml says of one harness.
type Provider struct {
	DefaultModel   string
	JudgeModel     string
	ModelAliases   map[string]string
	ExtraArgs      []string
	PermissionMode string
	BlockedPlugins []string
	Pure           bool
	WritableRoots  []string
	NetworkAccess  *bool
}

// JudgeConfig is the judges' part of config.yaml.
type JudgeConfig struct {
	Timeout      time.Duration // of a judge
	AgentTimeout time.Duration // of an agent judge
	// IncludeTrajectory is the default of the assertions: the judge sees the transcript.
	IncludeTrajectory bool
	PassOn            []string // verdicts that pass: YES, NO, UNCLEAR; never empty
	// Model, Provider and Votes are ours: another model than the agent's may judge, more than once.
	Model    string // "": the provider's judge_model, else its default_model
	Provider string // harness name; "": the run's
	Votes    int    // odd, at least 1
}

// Tag is what config.yaml says of a tag.
type Tag struct {
	ExcludeByDefault bool
}

// Suite is a folder below suites/.
type Suite struct {
	Name            string
	Dir             string
	EvaluatedSkills []string // never empty; the suite's name by default
	Tags            []string
	Tasks           []*Task // by file name
	file            string  // suite.yml below the project's root, whether there is one or not
	tagsAt          []spot
}

// Kind says what a task asks.
type Kind string

// The kinds.
const (
	Execute Kind = "execute" // run to the end, then look
	Trigger Kind = "trigger" // stop when it is known whether the skill fires
)

// Task is one file below tasks/.
type Task struct {
	Name        string // the file's stem
	File        string // slash path below the project's root
	Suite       *Suite
	Kind        Kind
	Description string
	Setup       Setup
	Timeout     time.Duration // 0: the default of its kind
	Group       string        // concurrency group, or ""
	Tags        []string      // its own; [Task.AllTags] has the suite's too
	KnownIssue  *string
	Providers   []string // harness names it is run with; nil means all (ours)
	Harness     Harness

	// Of an execute task.
	Prompt     string
	Assertions []Assertion

	// Of a trigger task.
	Skill    string
	Positive []string
	Negative []string

	// ModelScript is the file of the scripted model, scripts/<task>.toml of the suite, "" when there is none.
	ModelScript string

	places places
}

// Setup is what a task's attempts start from.
type Setup struct {
	Fixture string             // folder below fixtures/, or ""
	Env     map[string]*string // nil unsets
}

// Case is what is run: an execute task, or one prompt of a trigger task.
type Case struct {
	Task   *Task
	Name   string // the task's name; of a trigger task with "-" and the prompt's number from 0
	Prompt string
	// Positive says that the skill should fire; only of a trigger task.
	Positive   bool
	Assertions []Assertion
}

// places are where a task's file says what is checked against other files.
type places struct {
	file, group, fixture spot
	tags                 []spot
}

// Place is where in a file something stands, both from 1.
type Place struct {
	Line, Col int
}

// Assertion is one entry of a task's list.
type Assertion struct {
	Type       string // as in YAML, such as "tool_called"
	Check      Check  // its typed form
	Raw        any    // its YAML value as JSON has it, for the report
	KnownIssue *string
	Providers  []string // harness names; nil means all
	At         Place
}

// Check is the typed form of an assertion's value: one of the types of assertion.go.
type Check interface{ assertion() }
