package harness

import (
	"path/filepath"
	"sync"

	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/symposium"
)

// witness is what the runner itself saw of Symposium's evidence while the trial ran. The agent acts
// only on the model's answers, and these go through the gateway, which waits for the witness: what
// stood there before the first answer is the work of the client and its hooks, never the agent's.
type witness struct {
	evidenceDir string
	look        func() grade.Seen

	mu   sync.Mutex
	seen *grade.Seen
}

// beforeTurn is called before each turn of the model: the first call looks at everything, each
// further one at the hook trace's size.
func (w *witness) beforeTurn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		seen := w.look()
		w.seen = &seen
	}
	w.seen.LastTurn = symposium.TraceSize(w.evidenceDir)
}

// result is what was seen, nil when the model was never asked.
func (w *witness) result() *grade.Seen {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// newWitness watches over the trial's run directory. The spec and the skills are known by then.
func (t *trial) newWitness() *witness {
	evidence, home, project := t.space.Path("evidence"), t.space.Path("home"), t.space.Path("project")
	skillDir := t.space.Path("project", filepath.FromSlash(t.spec.SkillDir))
	wanted := t.wantedSkills()
	return &witness{evidenceDir: evidence, look: func() grade.Seen {
		seen := grade.Seen{
			Trace: symposium.ReadTrace(evidence), Sync: symposium.ReadSync(home, project), Installed: map[string]symposium.Installed{},
		}
		for _, s := range wanted {
			seen.Installed[s.Name] = symposium.CheckInstalled(skillDir, s)
		}
		return seen
	}}
}
