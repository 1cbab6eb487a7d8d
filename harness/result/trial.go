// Package result holds the records a run leaves on disk and the counting over
// them: result.json of a trial, benchmark.json of a batch, run.json of a run.
// It is for the engine, which writes them, and for every report, which reads
// nothing else. Where a trial counts, and when a difference is called real, is
// decided here and nowhere else (docs/reference/outcomes.md).
//
// Readers of these files keep fields they do not know. A number that is not
// known is null, never 0. Every file is replaced atomically. A record's text may
// come from a trial: whoever prints it escapes it.
package result

import (
	"math"
	"time"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// SchemaVersion is written into every record. It changes when a field changes its meaning.
const SchemaVersion = 1

// Verdict is the answer of one check or expectation.
type Verdict string

// The verdicts. Skipped checks did not run because an earlier one made them pointless.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Timeout      Verdict = "timeout" // counts as a failure
	Inconclusive Verdict = "inconclusive"
	Skipped      Verdict = "skipped"
)

// Execution says how the client's session went.
type Execution string

// The executions. SetupFailure and Cancelled trials were never started, or not to their end.
const (
	Completed    Execution = "completed"
	TimedOut     Execution = "timeout"
	ClientError  Execution = "client_error"
	SetupFailure Execution = "setup_failure"
	Cancelled    Execution = "cancelled"
)

// Outcome is the one place a trial counts in. Trials that are excluded or not started have none ("").
type Outcome string

// The outcomes of an eligible trial.
const (
	Succeeded           Outcome = "succeeded"
	Failed              Outcome = "failed"
	OutcomeInconclusive Outcome = "inconclusive"
)

// CauseModelEndpoint is the execution cause of a trial that failed because its model's host did. It
// counts as a failure, and forbids a verdict: it says nothing of the agent.
const CauseModelEndpoint = "model_endpoint"

// State is how far a trial's record has come.
type State string

// The states of a trial or a run.
const (
	Planned  State = "planned"
	Started  State = "started"
	Finished State = "finished"
)

// Trial is result.json.
type Trial struct {
	SchemaVersion int    `json:"schema_version"`
	RunID         string `json:"run_id"`
	BatchID       string `json:"batch_id"`
	State         State  `json:"state"`

	Task          Task            `json:"task"`
	Client        Client          `json:"client"`
	Model         Model           `json:"model"`
	Mode          string          `json:"mode"`
	Configuration Configuration   `json:"configuration"`
	Trial         int             `json:"trial"`
	Round         int             `json:"round"`
	Order         int             `json:"order"`
	Jobs          int             `json:"jobs"`
	Symposium     *Symposium      `json:"symposium"`
	OS            string          `json:"os"`
	Toolchain     string          `json:"toolchain"`
	Tools         map[string]Tool `json:"tools"`
	StandIns      []string        `json:"stand_ins"`

	StartedAt     time.Time  `json:"started_at"`
	FinishedAt    *time.Time `json:"finished_at"`
	DeadlinesSecs Deadlines  `json:"deadlines_secs"`
	ElapsedSecs   *float64   `json:"elapsed_secs"` // agent time
	Timings       Timings    `json:"timings"`
	Usage         Usage      `json:"usage"`

	Execution      Execution `json:"execution"`
	ExecutionCause string    `json:"execution_cause,omitempty"`
	Isolation      Isolation `json:"isolation"`
	Offered        []Offer   `json:"offered"`
	// ObservedLoad is the transcript's observation of each skill of the task, in every configuration.
	ObservedLoad map[string]string `json:"observed_load"`
	Gateway      *Gateway          `json:"gateway"`

	// Submission is what could not be kept of what the agent left; null in records of versions that did
	// not say, and where there is no submission.
	Submission   *Submission   `json:"submission"`
	Code         *Code         `json:"code"`
	Gradings     []Grading     `json:"gradings"`
	Expectations *Expectations `json:"expectations"`
	Findings     []Finding     `json:"findings"`
	Excluded     *Exclusion    `json:"excluded"`
	Success      Verdict       `json:"success,omitempty"`
	Outcome      Outcome       `json:"outcome,omitempty"`

	strays strays // fields of a newer writer
}

// Task identifies what was examined.
type Task struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// ContentHash is sha256 over the task, its fixtures and its plugins.
	ContentHash string `json:"content_hash"`
}

// Client identifies the agent client.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// Model identifies the model. Kind is scripted, replay, forward or direct.
type Model struct {
	Name     string         `json:"name"`
	Kind     string         `json:"kind"`
	Settings map[string]any `json:"settings"`
}

// Configuration is the arm, as planned.
type Configuration struct {
	Name   string   `json:"name"`
	Mode   string   `json:"mode"`
	Skills string   `json:"skills"`
	Tools  []string `json:"tools"`
	Hooks  bool     `json:"hooks"`
}

// Symposium identifies the cargo-agents under evaluation.
type Symposium struct {
	Version  string  `json:"version"`
	SHA256   string  `json:"sha256"`
	Revision *string `json:"revision"`
	// Dialect is the spelling of the registry table this release understood.
	Dialect string `json:"dialect"`
}

// Tool is a program used by a trial.
type Tool struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// Deadlines are limits in seconds. Grading is per step.
type Deadlines struct {
	Setup   int `json:"setup"`
	Agent   int `json:"agent"`
	Grading int `json:"grading"`
}

// Timings are seconds; null for a stage that did not run.
type Timings struct {
	Setup   *float64 `json:"setup"`
	Agent   *float64 `json:"agent"`
	Grading *float64 `json:"grading"`
}

// Usage are token counts as the client reported them; null where it did not.
type Usage struct {
	InputTokens      *int64 `json:"input_tokens"`
	OutputTokens     *int64 `json:"output_tokens"`
	CacheReadTokens  *int64 `json:"cache_read_tokens"`
	CacheWriteTokens *int64 `json:"cache_write_tokens"`
	ReasoningTokens  *int64 `json:"reasoning_tokens"`
}

// Total is the sum of input, output and both cache counts. It is nil when input or output is not
// known, since a part must not pass for the whole, and when the counts are no counts: negative, or
// too large to add. A cache count that is not known adds nothing, since some clients have none.
func (u Usage) Total() *int64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return nil
	}
	var sum int64
	for _, n := range []*int64{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens} {
		if n == nil {
			continue
		}
		if *n < 0 || sum > math.MaxInt64-*n {
			return nil
		}
		sum += *n
	}
	return &sum
}

// Isolation says how the trial was kept apart.
type Isolation struct {
	Mode          string   `json:"mode"` // enforced or exploratory
	SRTVersion    string   `json:"srt_version"`
	AuditState    string   `json:"audit_state"` // clean, suspicious, not_interpretable, not_run
	AuditFindings []string `json:"audit_findings"`
	ConfigChanges []string `json:"config_changes"`
	Root          bool     `json:"root"` // the runner's euid was 0
}

// Offer is a skill the client's request offered to the model, and by what.
type Offer struct {
	Skill string `json:"skill"`
	Via   string `json:"via"`
	Path  string `json:"path,omitempty"`
}

// Gateway sums up the trial's model traffic.
type Gateway struct {
	Requests  int `json:"requests"`
	Turns     int `json:"turns"`
	SideCalls int `json:"side_calls"`
	Refused   int `json:"refused"`
	Failures  int `json:"failures"`
	// Answered are turns the model answered whole and without an error; TranscriptTurns those the client's
	// stream tells of, null where they are not compared.
	Answered        int  `json:"answered"`
	TranscriptTurns *int `json:"transcript_turns"`
	// Usage is counted at the wire, side calls included; null where the provider did not tell.
	Usage Usage `json:"usage"`
	// CostUSD is what the wire's tokens cost by proctor.toml's prices, guesses for what was not told
	// included; null without prices.
	CostUSD *float64 `json:"cost_usd"`
	// Waits and WaitSecs are the time a busy provider was waited for; it is not in the agent's time.
	Waits    int     `json:"waits"`
	WaitSecs float64 `json:"wait_secs"`
	// Stripped are tools and fields that run at the provider and were not sent on.
	Stripped []string `json:"stripped,omitempty"`
	// Unplayed are recorded answers that a replay did not ask for; null but in a replay.
	Unplayed *int   `json:"unplayed,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Submission says what of the project is not in submission/: links, special files, what was too large.
type Submission struct {
	LeftOut []treecopy.Entry `json:"left_out"`
	// SHA256 is [treecopy.Hash] of the kept folder; "" in a record of before it was taken.
	SHA256 string `json:"sha256,omitempty"`
}

// Code are the verdicts on the submission's code.
type Code struct {
	Build             Verdict            `json:"build"`
	CargoTestLib      Verdict            `json:"cargo_test_lib"`
	Hidden            map[string]Verdict `json:"hidden"`
	CargoFmtCheck     *Verdict           `json:"cargo_fmt_check"`
	EditsOutside      []string           `json:"edits_outside_editable"`
	InvalidSubmission []string           `json:"invalid_submission,omitempty"`
	Reasons           map[string]string  `json:"reasons,omitempty"`
	// Suspicious lists what in the editable paths could lead a grader astray. It is listed, never graded.
	Suspicious          []string `json:"suspicious,omitempty"`
	InfrastructureError string   `json:"infrastructure_error,omitempty"`
	Overall             Verdict  `json:"overall"`
}

// Grading is one grading of the submission; the first is in grading/, a regrade in grading-2/.
type Grading struct {
	Folder string    `json:"folder"`
	Time   time.Time `json:"time"`
	// ChecksHash identifies everything the grading took from the evals root: see harness.checksHash.
	ChecksHash string `json:"checks_hash"`
	// Toolchain is the rustc that built it; "" in records of versions that did not say.
	Toolchain string `json:"toolchain,omitempty"`
	Reason    string `json:"reason"`
	// Counts marks the grading that Code and Success mirror; see Trial.Counting.
	Counts bool  `json:"counts"`
	Code   *Code `json:"code"`
}

// Expectations are the task author's assertions, decided.
type Expectations struct {
	Skills map[string]SkillExpectation `json:"skills"`
	Hooks  map[string]Verdict          `json:"hooks"`
	Sync   SyncExpectation             `json:"sync"`
	// Causes explains verdicts other than pass, keyed like "sync.session_start".
	Causes map[string]string `json:"causes,omitempty"`
}

// SkillExpectation: a verdict is null where the task expects nothing of the kind.
type SkillExpectation struct {
	Installed    *Verdict `json:"installed,omitempty"`
	NotInstalled *Verdict `json:"not_installed,omitempty"`
	Used         *Verdict `json:"used,omitempty"`
	NotUsed      *Verdict `json:"not_used,omitempty"`
	ObservedLoad string   `json:"observed_load"`
}

// SyncExpectation is required of every with-symposium trial.
type SyncExpectation struct {
	SkillDirEmptyBefore Verdict `json:"skill_dir_empty_before"`
	SessionStart        Verdict `json:"session_start"`
	SyncRecorded        Verdict `json:"sync_recorded"`
}

// All lists every expectation verdict.
func (e *Expectations) All() []Verdict {
	if e == nil {
		return nil
	}
	out := []Verdict{e.Sync.SkillDirEmptyBefore, e.Sync.SessionStart, e.Sync.SyncRecorded}
	for _, v := range e.Hooks {
		out = append(out, v)
	}
	for _, s := range e.Skills {
		for _, v := range []*Verdict{s.Installed, s.NotInstalled, s.Used, s.NotUsed} {
			if v != nil {
				out = append(out, *v)
			}
		}
	}
	return out
}

// Finding is something worth a reader's attention that does not by itself change the count.
type Finding struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

// Exclusion takes a started trial out of the eligible ones. Kind is isolation or grading.
type Exclusion struct {
	Kind  string `json:"kind"`
	Cause string `json:"cause"`
}

// The kinds of exclusion.
const (
	ExcludedIsolation = "isolation"
	ExcludedGrading   = "grading"
)
