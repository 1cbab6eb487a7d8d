package evaltest

import (
	"sync"
	"testing"

	"github.com/proctor-evals/proctor/harness"
)

// stages logs each stage of a trial to the trial's own test, a line each: `go test -v` shows it as it comes.
type stages struct {
	mu    sync.Mutex
	tests map[[3]string]*testing.T
}

// of makes t the test of a trial until the returned function is called. A test that has ended must not
// be logged to.
func (s *stages) of(t *testing.T, task, client, trial string) func() {
	key := [3]string{task, client, trial}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests == nil {
		s.tests = map[[3]string]*testing.T{}
	}
	s.tests[key] = t
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tests, key)
	}
}

func (s *stages) tell(ev harness.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tests[[3]string{ev.Task, ev.Client, ev.Trial}]; t != nil {
		logStage(t, ev)
	}
}

func logStage(t *testing.T, ev harness.Event) {
	t.Helper()
	t.Log(sayf("%s  %s  %s", ev.Time.Format("15:04:05"), ev.Trial, ev.Step()))
}
