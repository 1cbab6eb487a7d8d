package gateway

import (
	"regexp"
	"strconv"
	"strings"
)

// Codex hands a command that takes long back to the model, which has to ask after it. The form is that of 0.171.0: lines
// of the client's, then "Output:" and what the command printed.
var stillRunning = regexp.MustCompile(`(?m)^Process running with session ID ([0-9]{1,18})$`)

const codexOutput = "\nOutput:"

// poll asks after the command of the last step while it runs, or returns nil. The call's id names the same step.
func poll(r *Request, step, next int) *Turn {
	if step == 0 {
		return nil
	}
	tool, ok := r.tool("write_stdin")
	if !ok {
		return nil
	}
	session, asked := int64(-1), 0
	for i, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Kind == BlockToolCall && b.Name == tool.Name {
				asked++
			}
			if b.Kind != BlockToolResult || i < next {
				continue
			}
			session = -1
			head, _, _ := strings.Cut(b.Text, codexOutput)
			if id := stillRunning.FindStringSubmatch(head); id != nil {
				session, _ = strconv.ParseInt(id[1], 10, 64) //nolint:errcheck // at most 18 digits
			}
		}
	}
	if session < 0 {
		return nil
	}
	input := encodeJSON(codexPoll{session, "", codexYield})
	if !tool.takesAll(input) {
		return nil
	}
	return &Turn{
		Blocks: []Block{{
			Kind: BlockToolCall, CallID: callID(step, tool.Name+strconv.Itoa(asked), input), Name: tool.Name, Input: input,
		}},
		StopReason: StopToolUse,
		Step:       &step,
	}
}
