package result

import "time"

// Run is run.json: what one invocation planned, and how far it came. It is
// written before the first trial starts, so that a plan is on disk whatever
// happens next.
type Run struct {
	SchemaVersion int        `json:"schema_version"`
	RunID         string     `json:"run_id"`
	State         State      `json:"state"`
	Cause         string     `json:"cause,omitempty"` // why it ended early
	StartedAt     time.Time  `json:"started_at"`
	FinishedAt    *time.Time `json:"finished_at"`
	Proctor       string     `json:"proctor"` // this program's version
	Jobs          int        `json:"jobs"`
	// RunMode and Config are there for a run of suites only.
	RunMode RunMode      `json:"run_mode,omitempty"`
	Config  *SuiteConfig `json:"config,omitempty"`
	Batches []Batch      `json:"batches"`
	// Resumed are the times the run was taken up again.
	Resumed []Resumption `json:"resumed,omitempty"`
	// Summary is what several tasks say together, for each configuration; see Summarize.
	Summary []Summary `json:"summary,omitempty"`

	strays strays // fields of a newer writer
}

// Resumption says how many trials an earlier runner had brought to an end when the run was taken up
// again, and how many were to be run then.
type Resumption struct {
	At   time.Time `json:"at"`
	Kept int       `json:"kept"`
	Run  int       `json:"run"`
}

// Batch is all trials of one task with one client.
type Batch struct {
	BatchID        string          `json:"batch_id"`
	Task           Task            `json:"task"`
	Client         string          `json:"client"`
	Model          Model           `json:"model"`
	Isolation      string          `json:"isolation"`
	Configurations []Configuration `json:"configurations"`
	Rounds         int             `json:"rounds"`
	// Detectable says what this number of trials could show, for guesses of the baseline's rate; empty
	// where nothing is compared.
	Detectable []Detectable `json:"detectable,omitempty"`
	// Results is the batch's folder, relative to the folder that holds runs/.
	Results string         `json:"results"`
	Trials  []PlannedTrial `json:"trials"`
}

// PlannedTrial is one line of the plan.
type PlannedTrial struct {
	Name          string    `json:"name"`
	Configuration string    `json:"configuration"`
	Round         int       `json:"round"`
	Order         int       `json:"order"`
	State         State     `json:"state"`
	Execution     Execution `json:"execution,omitempty"`
	Outcome       Outcome   `json:"outcome,omitempty"`
	// Verdict is an attempt's, of a suite's task.
	Verdict AttemptVerdict `json:"verdict,omitempty"`
	Cause   string         `json:"cause,omitempty"`
}

// CauseLost is the cause of a trial whose runner died before it could say how the trial ended.
const CauseLost = "lost"

// CauseNotRun is the cause of cancelled trials that nobody asked for: `go test -run` named others.
const CauseNotRun = "not run"
