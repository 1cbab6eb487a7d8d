package client

import (
	"encoding/json"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// mergeSession adds to b what only the session file tells: the model and the
// like, calls the stream leaves out with their outcomes, and skill loads. The
// stream is the primary record and wins wherever both speak. A file of another
// session (ours is false) adds nothing.
func mergeSession(b *transcript.Builder, s *transcript.Transcript, ours bool, same func(stream, session *transcript.ToolCall) bool) {
	t := b.T
	t.Session = &transcript.SessionFile{
		Lines: s.Lines, Understood: s.Understood, Unparsed: s.Unparsed,
		Matches: ours && s.Understood > 0 && (t.SessionID == "" || s.SessionID == t.SessionID),
	}
	if !t.Session.Matches {
		return
	}
	fill := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	fill(&t.SessionID, s.SessionID)
	fill(&t.Model, s.Model)
	fill(&t.ClientVersion, s.ClientVersion)
	fill(&t.Cwd, s.Cwd)
	if t.SkillsListed == nil {
		t.SkillsListed = s.SkillsListed
	}
	if t.Usage.Source == "" {
		t.Usage = s.Usage
	}
	if t.UsageByModel == nil {
		t.UsageByModel = s.UsageByModel
	}
	if t.Timing.DurationMS == nil {
		t.Timing.DurationMS = s.Timing.DurationMS
	}
	ids := b.Merge(s, same)
	for _, load := range s.SkillLoads {
		load.CallID, load.Source = ids[load.CallID], transcript.SourceSession
		b.MergeLoad(load)
	}
}

// sameID matches calls of clients that write the same id into both.
func sameID(stream, session *transcript.ToolCall) bool { return stream.ID == session.ID }

// merge adds what the rollout tells. Its ids are not those of the stream:
// calls are matched by what they do, in their order.
func (d *codexDecoder) merge(s *codexSession) {
	mergeSession(d.Builder, s.T, true, func(a, b *transcript.ToolCall) bool {
		switch a.Name {
		case "file_change":
			// The client takes a patch out of a command, and does not run it.
			return b.Name == "apply_patch" || b.Name == "command_execution" && strings.HasPrefix(strings.TrimSpace(command(b)), "apply_patch")
		case "todo_list":
			return b.Name == "update_plan"
		case "command_execution":
			return b.Name == a.Name && command(a) == command(b)
		}
		return a.Name == b.Name
	})
}

func command(c *transcript.ToolCall) string {
	var input struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Input, &input) != nil {
		return ""
	}
	return input.Command
}
