package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Names of the files of a suite's attempt, in its folder, and of the folders of a suites' run. The
// tree and the fields are those of the public tool agent-exam, with additions.
const (
	AttemptFile    = "attempt.json"
	TrajectoryFile = "trajectory.json"  // the normalised transcript
	RawStreamFile  = "raw_stream.jsonl" // what the client printed
	ArchiveDir     = "cwd"              // the working directory as the agent left it
	ReportsDir     = "reports"
	ArtifactsDir   = "artifacts"
	JudgeCacheFile = "judge-cache.json"
)

// AttemptVerdict is how an attempt at a suite's task ended.
type AttemptVerdict string

// The verdicts of attempts. AttemptTimeout, AttemptError and AttemptFail fail a run.
const (
	AttemptPass           AttemptVerdict = "pass"
	AttemptFail           AttemptVerdict = "fail"
	AttemptTimeout        AttemptVerdict = "timeout"
	AttemptError          AttemptVerdict = "error" // the client, the sandbox or a judge failed: says nothing of the skill
	AttemptKnownIssue     AttemptVerdict = "known_issue"
	AttemptUnexpectedPass AttemptVerdict = "unexpected_pass"
)

// Gates says whether the verdict fails a run that is not a reality check.
func (v AttemptVerdict) Gates() bool {
	return v == AttemptFail || v == AttemptTimeout || v == AttemptError
}

// RunMode tells a run from a reality check: a run without the skills under test.
type RunMode string

// The modes.
const (
	ModeRun          RunMode = "run"
	ModeWithoutSkill RunMode = "without-skill"
	ModeNoSkills     RunMode = "no-skills"
	ModeCompare      RunMode = "compare" // a run and its reality check, interleaved
)

// SuiteConfig is what a run of suites was asked to do.
type SuiteConfig struct {
	K               int            `json:"k"`
	Models          []string       `json:"models"`
	Parallel        int            `json:"n_parallel"`
	WithoutSkill    bool           `json:"without_skill"`
	NoSkills        bool           `json:"no_skills"`
	NoTriggers      bool           `json:"no_triggers"` // also when the mode implies it
	Compare         string         `json:"compare,omitempty"`
	SkillsExcluded  []string       `json:"skills_excluded"` // in the reality check; sorted
	Tags            []string       `json:"tags"`
	ExcludeTags     []string       `json:"exclude_tags"`
	AllTags         bool           `json:"all_tags"`
	ExcludedByTag   map[string]int `json:"tasks_excluded_by_tag"`
	Specs           []string       `json:"specs_requested"`
	Provider        string         `json:"provider"` // the first client, by agent-exam's name
	Clients         []string       `json:"clients"`
	ScratchTopLevel string         `json:"tmp_root"`
}

// Attempt is attempt.json.
type Attempt struct {
	SchemaVersion     int       `json:"schema_version"`
	RunID             string    `json:"run_id"`
	Suite             string    `json:"suite"`
	Task              string    `json:"task"`
	Attempt           int       `json:"attempt"`
	Prompt            string    `json:"prompt"`
	Provider          string    `json:"provider"` // agent-exam's name of the client
	Client            string    `json:"client"`
	Configuration     string    `json:"configuration"`
	Model             string    `json:"model"` // the one used if known, else the one asked for
	StartedAt         time.Time `json:"started_at"`
	FinishedAt        time.Time `json:"finished_at"`
	RawTranscriptPath *string   `json:"raw_transcript_path"` // null when there is none
	Metrics           Metrics   `json:"metrics"`
	Execution         Execution `json:"execution"`
	ExecutionCause    string    `json:"execution_cause,omitempty"`
	// Stopped says that a trigger task's session was ended because its answer was known.
	Stopped bool `json:"stopped"`
	// SkillsStaged are the skills put into the client's skill folder.
	SkillsStaged   []string `json:"skills_staged"`
	SkillsExcluded []string `json:"skills_excluded"`
	// SkillsNotOffered are those of the staged that no request of the session offered the model under the
	// folder's name; null when there was no request to tell.
	SkillsNotOffered []string `json:"skills_not_offered"`
	// LeftOut is what of the working directory could not be kept.
	LeftOut []treecopy.Entry `json:"left_out"`
}

// Metrics are an attempt's numbers; null where they are not known.
type Metrics struct {
	WallSeconds       *float64       `json:"wall_time_seconds"` // of the agent alone
	Tokens            AttemptTokens  `json:"tokens"`
	CostUSD           *float64       `json:"cost_usd"`
	PeakContext       *int64         `json:"peak_context"` // tokens of the largest request, cached ones included
	Turns             *int64         `json:"turn_count"`
	ToolCalls         int            `json:"n_tool_calls"` // without the calls that load a skill
	ToolErrors        int            `json:"n_tool_errors"`
	PermissionDenials int            `json:"n_permission_denied"`
	ToolRejections    int            `json:"n_tool_rejected"`
	Raw               map[string]any `json:"raw"`
}

// AttemptTokens are an attempt's tokens; Input is without the cached ones.
type AttemptTokens struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Reasoning  *int64 `json:"reasoning"`
}

// Report is a file below reports/: the verdicts of one scoring of a run's attempts.
type Report struct {
	SchemaVersion int             `json:"schema_version"`
	StartedAt     time.Time       `json:"started_at"`
	FinishedAt    time.Time       `json:"finished_at"`
	Scope         *Scope          `json:"scope"` // null: the whole run
	Attempts      []ReportAttempt `json:"attempts"`
	// Comparisons set the run against its reality check, by task and client.
	Comparisons []SuiteComparison `json:"comparisons,omitempty"`
	JudgeCost   *float64          `json:"judge_cost_usd"` // null when a judge's cost is unknown
}

// Scope is a part of a run.
type Scope struct {
	Suite string `json:"suite"`
	Task  string `json:"task,omitempty"`
}

// ReportAttempt is one attempt's verdict.
type ReportAttempt struct {
	Suite         string            `json:"suite"`
	Task          string            `json:"task"`
	Attempt       int               `json:"attempt"`
	Client        string            `json:"client"`
	Configuration string            `json:"configuration"`
	Verdict       AttemptVerdict    `json:"verdict"`
	Cause         string            `json:"cause,omitempty"` // of a timeout or an error
	KnownIssue    *string           `json:"known_issue"`
	Assertions    []AssertionResult `json:"assertions"`
	Dir           string            `json:"dir"` // the attempt's folder, below the run's
}

// AssertionResult is one assertion, decided. Details is what its type adds.
type AssertionResult struct {
	Type          string          `json:"type"`
	Config        any             `json:"config"` // as in the task's file
	Pass          bool            `json:"pass"`   // false when Error is set
	Reason        string          `json:"reason"`
	Details       json.RawMessage `json:"details"`
	Error         string          `json:"error,omitempty"` // why it could not be decided
	KnownIssue    *string         `json:"known_issue"`
	SkippedReason *string         `json:"skipped_reason"`
}

// SuiteComparison sets the configurations of one task and client against each other. What was
// counted leaves out the assertions that turn round without the skill.
type SuiteComparison struct {
	Suite          string            `json:"suite"`
	Task           string            `json:"task"`
	Client         string            `json:"client"`
	Configurations map[string]Counts `json:"configurations"`
	LeftOut        []string          `json:"left_out"` // types of the assertions that were not counted
	// Comparison is null when nothing can be compared; NotCompared then says why.
	Comparison  *Comparison `json:"comparison"`
	NotCompared string      `json:"not_compared,omitempty"`
}

// ReadAttempt reads an attempt.json. A missing one is fs.ErrNotExist.
func ReadAttempt(dir string) (*Attempt, error) {
	var a Attempt
	if err := read(dir, AttemptFile, &a, new(strays)); err != nil {
		return nil, err
	}
	return &a, nil
}

// ReadReport reads a report of the run in dir by its file name.
func ReadReport(dir, name string) (*Report, error) {
	var r Report
	if err := read(filepath.Join(dir, ReportsDir), name, &r, new(strays)); err != nil {
		return nil, err
	}
	return &r, nil
}

// SpecName is the name of a suite's task everywhere: suite::task.
func SpecName(suite, task string) string { return fmt.Sprintf("%s::%s", suite, task) }

// CompareAttempts orders attempts by suite, task, number, client and configuration.
func CompareAttempts(a, b ReportAttempt) int {
	return cmp.Or(
		cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Attempt, b.Attempt),
		cmp.Compare(a.Client, b.Client), cmp.Compare(a.Configuration, b.Configuration),
	)
}

// WriteReport writes a report of the run in dir under the time it was finished, and returns its file
// name. clean, if not nil, takes what must not be kept. Of two in one second the later one has a number: see [ReportNames].
func WriteReport(dir string, r *Report, clean func([]byte) []byte) (string, error) {
	folder := filepath.Join(dir, ReportsDir)
	base := r.FinishedAt.UTC().Format("2006-01-02-150405")
	for n := 1; ; n++ {
		name := base + ".json"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.json", base, n)
		}
		// Two rescores at once must not take one name.
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("result: write a report: %w", err)
		}
		if err := f.Close(); err != nil {
			return "", fmt.Errorf("result: write a report: %w", err)
		}
		return name, WriteClean(folder, name, r, clean)
	}
}

// reportName is a report's file name: its time, and its number within the second.
var reportName = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}-\d{6})(?:-(\d+))?\.json$`)

// ReportNames lists the reports of the run in dir, the oldest first.
func ReportNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, ReportsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("result: list the reports: %w", err)
	}
	var out []string
	for _, e := range entries {
		if reportName.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := reportName.FindStringSubmatch(a), reportName.FindStringSubmatch(b)
		n := func(s string) int { i, _ := strconv.Atoi(s); return i }
		return cmp.Or(cmp.Compare(x[1], y[1]), cmp.Compare(n(x[2]), n(y[2])))
	})
	return out, nil
}

// LatestReport reads the newest report of the run in dir; fs.ErrNotExist when there is none.
func LatestReport(dir string) (*Report, string, error) {
	names, err := ReportNames(dir)
	if err != nil {
		return nil, "", err
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("the run %s has no report: %w", filepath.Base(dir), fs.ErrNotExist)
	}
	name := names[len(names)-1]
	r, err := ReadReport(dir, name)
	return r, name, err
}
