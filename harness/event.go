package harness

import "time"

// Stage is a step of a trial's life.
type Stage string

// The stages, in order.
const (
	StageSetup   Stage = "setup"
	StageAgent   Stage = "agent"
	StageGrading Stage = "grading"
	StageDone    Stage = "done"
)

// Event tells that a trial entered a stage.
type Event struct {
	Time   time.Time
	Task   string
	Client string
	Trial  string
	Stage  Stage
	Detail string // the grading step; the outcome when done
}

func (e *Engine) emit(task, client, trial string, stage Stage, detail string) {
	if e.opts.OnEvent == nil {
		return
	}
	e.eventMu.Lock()
	defer e.eventMu.Unlock()
	e.opts.OnEvent(Event{Time: time.Now(), Task: task, Client: client, Trial: trial, Stage: stage, Detail: detail})
}
