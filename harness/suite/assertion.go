package suite

import "time"

// The assertions of agent-exam.
type (
	// FileExists passes when a regular file is at Path in the working directory.
	FileExists struct{ Path string }
	// FileContains passes when the file's text holds Pattern, or matches Regex when that is set.
	FileContains struct {
		Path    string
		Pattern string
		Regex   *Regexp // nil: Pattern is a plain substring
	}
	// ToolCalled passes when a tool was called, with an input that matches (ours).
	ToolCalled struct {
		Name  string
		Input map[string]*Regexp // by key of the input; dots go deeper
	}
	// ToolNotCalled passes when it was not.
	ToolNotCalled struct {
		Name  string
		Input map[string]*Regexp
	}
	// ToolCount bounds how often; nil is no bound.
	ToolCount struct {
		Name              string
		Exactly, Min, Max *int
	}
	// FirstSkill passes when the first skill that fired is this one.
	FirstSkill struct{ Skill string }
	// SkillInvoked passes when the skill fired, subagents included.
	SkillInvoked struct{ Skill string }
	// SkillNotInvoked passes when it did not.
	SkillNotInvoked struct{ Skill string }
	// NoPermissionErrors passes when no tool call was denied.
	NoPermissionErrors struct{}
	// Judge asks a model; with Agent, one that can read the working directory.
	Judge struct {
		Criterion         string
		IncludeTrajectory bool
		PassOn            []string // nil: the configured ones
		Agent             bool     // judge_agent
		Model             string   // "": the configured one (ours)
		Votes             int      // 0: the configured number (ours)
	}
)

// Our own assertions.
type (
	// ToolOrder passes when the tools were called in this order, others between them allowed.
	ToolOrder struct{ Names []string }
	// Command runs in a sandbox on a copy of the working directory.
	Command struct {
		Run      []string // by words; one shell line is {"bash", "-c", line}
		ExitCode int
		Output   *Regexp       // searched in standard output and error together; nil: any
		Timeout  time.Duration // 0: the default
	}
	// ResponseContains looks at the last answer.
	ResponseContains struct {
		Pattern string
		Regex   *Regexp // nil: Pattern is a plain substring
	}
	// JSONPath looks into a JSON file of the working directory, or the last answer when Path is "".
	JSONPath struct {
		Path     string
		Query    string
		Equals   any // as JSON has it; HasEqual says whether it is asked for
		HasEqual bool
		Matches  *Regexp // of a string or a number's text; nil: not asked for
	}
	// MaxCost bounds the attempt's cost in US dollars; an unknown cost fails.
	MaxCost struct{ USD float64 }
	// MaxTurns bounds the assistant's turns.
	MaxTurns struct{ Turns int }
	// MaxSeconds bounds the agent's time.
	MaxSeconds struct{ Seconds float64 }
)

func (FileExists) assertion()         {}
func (FileContains) assertion()       {}
func (ToolCalled) assertion()         {}
func (ToolNotCalled) assertion()      {}
func (ToolCount) assertion()          {}
func (FirstSkill) assertion()         {}
func (SkillInvoked) assertion()       {}
func (SkillNotInvoked) assertion()    {}
func (NoPermissionErrors) assertion() {}
func (Judge) assertion()              {}
func (ToolOrder) assertion()          {}
func (Command) assertion()            {}
func (ResponseContains) assertion()   {}
func (JSONPath) assertion()           {}
func (MaxCost) assertion()            {}
func (MaxTurns) assertion()           {}
func (MaxSeconds) assertion()         {}
