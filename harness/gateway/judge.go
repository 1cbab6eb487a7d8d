package gateway

import (
	"context"
	"fmt"
	"strings"
)

// criterionHead stands before the criterion in a judge's prompt; the last one counts, since what comes
// before it may be the agent's.
const criterionHead = "\nCRITERION:\n"

// ScriptedJudge is a model that answers judges' questions from a script's [[judge]] tables. It makes no
// tool calls. A criterion that no table matches is unclear.
type ScriptedJudge struct{ script *Script }

// NewScriptedJudge returns the model of the script's judges.
func NewScriptedJudge(s *Script) *ScriptedJudge { return &ScriptedJudge{s} }

// Kind is KindScripted.
func (j *ScriptedJudge) Kind() string { return KindScripted }

// Turn answers the question that the conversation's first prompt asks. It returns no error.
func (j *ScriptedJudge) Turn(_ context.Context, r *Request) (*Turn, error) {
	t := textTurn(sideCallText)
	if !r.SideCall || len(r.Tools) == 0 {
		if criterion, ok := criterionOf(r.Messages); ok {
			t = textTurn(j.answer(criterion))
		}
	}
	t.Usage = scriptedUsage(r, t)
	return t, nil
}

func (j *ScriptedJudge) answer(criterion string) string {
	for _, judge := range j.script.Judges {
		if judge.Match.MatchString(criterion) {
			return strings.TrimSpace(judge.Reason + "\nVERDICT: " + strings.ToUpper(judge.Answer))
		}
	}
	return fmt.Sprintf("The model script has no judge for this criterion: %s\nVERDICT: UNCLEAR", strings.Join(strings.Fields(criterion), " "))
}

// criterionOf finds the criterion in the user's messages.
func criterionOf(messages []Message) (string, bool) {
	for _, m := range messages {
		if m.Role != "user" {
			continue
		}
		for _, text := range textsOf(m) {
			if i := strings.LastIndex(text, criterionHead); i >= 0 {
				return text[i+len(criterionHead):], true
			}
		}
	}
	return "", false
}
