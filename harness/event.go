package harness

import (
	"time"

	"github.com/proctor-evals/proctor/harness/result"
)

// Stage is a step of a trial's life.
type Stage string

// The stages, in order.
const (
	StageSetup   Stage = "setup"
	StageAgent   Stage = "agent"
	StageGrading Stage = "grading"
	StageDone    Stage = "done"
)

// Event tells that a trial entered a stage. Its JSON form is a line of `proctor run -json`.
type Event struct {
	Time          time.Time `json:"time"`
	Task          string    `json:"task"`
	Client        string    `json:"client"`
	Configuration string    `json:"configuration,omitempty"`
	Trial         string    `json:"trial"`
	Stage         Stage     `json:"stage"`
	Detail        string    `json:"detail,omitempty"` // the grading step; the outcome when done

	// LimitSecs is how long the stage, or the grading step, may take, in seconds; 0 where nothing is said.
	LimitSecs int `json:"limit_secs,omitempty"`
	// Dir, Execution, Outcome, Tokens and CostUSD are there when the trial is done; null where not known.
	Dir       string           `json:"dir,omitempty"`
	Execution result.Execution `json:"execution,omitempty"`
	Outcome   result.Outcome   `json:"outcome,omitempty"`
	Tokens    *int64           `json:"tokens,omitempty"`
	CostUSD   *float64         `json:"cost_usd,omitempty"`
}

// Step is the stage with its detail, for people.
func (ev Event) Step() string {
	if ev.Detail == "" {
		return string(ev.Stage)
	}
	return string(ev.Stage) + "  " + ev.Detail
}

func (e *Engine) emit(task, client, trial string, stage Stage, detail string) {
	e.tell(Event{Task: task, Client: client, Trial: trial, Stage: stage, Detail: detail})
}

func (e *Engine) tell(ev Event) {
	if e.opts.OnEvent == nil {
		return
	}
	e.eventMu.Lock()
	defer e.eventMu.Unlock()
	ev.Time = time.Now()
	e.opts.OnEvent(ev)
}

// event is an event of the trial, under a name.
func (t *trial) event(name string, s Stage, detail string) Event {
	ev := Event{Task: t.Task.Name, Client: t.Client(), Configuration: t.plan.Configuration.Name, Trial: name, Stage: s, Detail: detail}
	switch d := t.Task.Deadlines; s {
	case StageSetup:
		ev.LimitSecs = secs(d.Setup)
	case StageAgent:
		ev.LimitSecs = secs(d.Agent)
	case StageGrading:
		ev.LimitSecs = secs(d.Grading)
	case StageDone:
		ev.Dir, ev.Execution, ev.Outcome, ev.Tokens = t.dir, t.rec.Execution, t.rec.Outcome, t.rec.Usage.Total()
		if g := t.rec.Gateway; g != nil {
			ev.CostUSD = g.CostUSD
			if wire := g.Usage.Total(); wire != nil {
				ev.Tokens = wire
			}
		}
	}
	return ev
}

// Spent is what the run's trials took so far by the wire, in tokens and US dollars; cost is nil where a
// model without a price answered. Both are nothing for a scripted model and a direct run.
func (r *Run) Spent() (tokens int64, cost *float64) { return r.spend.Tokens(), r.spend.Cost() }
