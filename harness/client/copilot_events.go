package client

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// The events of "copilot --output-format json" and of the session's
// events.jsonl: the same envelope, the same events. The stream adds passing
// ones ("ephemeral"), the file tokens and skills.

type copilotEvent struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Ephemeral bool            `json:"ephemeral"`
	AgentID   string          `json:"agentId"` // of a subagent

	// result, the stream's last line
	SessionID string          `json:"sessionId"`
	ExitCode  json.RawMessage `json:"exitCode"`
	Usage     struct {
		APIMS      json.RawMessage `json:"totalApiDurationMs"`
		DurationMS json.RawMessage `json:"sessionDurationMs"`
	} `json:"usage"`
}

type copilotData struct {
	Parent string `json:"parentToolCallId"` // of a subagent's event
	Agent  string `json:"agentId"`

	// session.start
	SessionID string `json:"sessionId"`
	Version   string `json:"copilotVersion"`
	Context   struct {
		Cwd string `json:"cwd"`
	} `json:"context"`

	Skills json.RawMessage `json:"skills"` // session.skills_loaded

	// user.message, assistant.message, assistant.reasoning
	MessageID string          `json:"messageId"`
	Source    string          `json:"source"`
	Content   json.RawMessage `json:"content"`
	Reasoning json.RawMessage `json:"reasoningText"`
	Model     string          `json:"model"`
	Requests  json.RawMessage `json:"toolRequests"`

	// tool.execution_start, tool.execution_complete
	CallID    string          `json:"toolCallId"`
	Tool      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Success   bool            `json:"success"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Shell     *struct {
		ExitCode json.RawMessage `json:"exitCode"`
	} `json:"shellExecution"`

	// skill.invoked
	Name    string `json:"name"`
	Trigger string `json:"trigger"`

	// model.call_failure, session.error, abort
	Status  json.RawMessage `json:"statusCode"`
	Failure json.RawMessage `json:"errorMessage"`
	Kind    string          `json:"errorType"`
	Message json.RawMessage `json:"message"`
	Reason  string          `json:"reason"`

	UsageRecord json.RawMessage `json:"usage"`        // session.usage_record
	Metrics     json.RawMessage `json:"modelMetrics"` // session.shutdown
}

type copilotRequest struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// copilotUsage is a number of tokens as Copilot counts: inputTokens holds what
// came from and went into the cache, outputTokens the reasoning.
type copilotUsage struct {
	Model      string          `json:"model"`
	CallID     string          `json:"apiCallId"`
	Input      json.RawMessage `json:"inputTokens"`
	Output     json.RawMessage `json:"outputTokens"`
	CacheRead  json.RawMessage `json:"cacheReadTokens"`
	CacheWrite json.RawMessage `json:"cacheWriteTokens"`
	Reasoning  json.RawMessage `json:"reasoningTokens"`
}

func (u copilotUsage) usage(source string) transcript.Usage {
	read, write := transcript.Count(u.CacheRead), transcript.Count(u.CacheWrite)
	return transcript.Usage{
		Input: without(transcript.Count(u.Input), read, write), CacheRead: read, CacheWrite: write,
		Output: transcript.Count(u.Output), Reasoning: transcript.Count(u.Reasoning), Source: source,
	}
}

// copilotPassing are events that are known and leave nothing in the record.
var copilotPassing = map[string]bool{
	"assistant.turn_end": true, "assistant.idle": true, "assistant.intent": true, "assistant.usage": true,
	"assistant.message_start": true, "assistant.message_delta": true, "assistant.tool_call_delta": true, "assistant.reasoning_delta": true,
	"agent.interrupted": true, "model.call_start": true, "model.call_finished": true, "skill.context_delivered_ref": true,
	"tool.shell_output": true, "tool.execution_partial_result": true, "tool.execution_progress": true, "tool.user_requested": true,
	"subagent.started": true, "subagent.completed": true, "subagent.failed": true, "subagent.selected": true, "subagent.deselected": true,
	"hook.start": true, "hook.end": true, "hook.progress": true, "system.message": true, "system.notification": true,
	"permission.requested": true, "permission.completed": true, "pending_messages.modified": true,
}

var (
	copilotShellEnd = regexp.MustCompile(`\n?<shellId: \S{1,40} completed with exit code -?\d+>\s*$`)
	copilotBadInput = regexp.MustCompile(`^(?:"[^"\n]{1,200}": |Invalid (?:input|arguments)|Missing required)`)
)

// withoutShellEnd takes the client's notice off a command's output.
func withoutShellEnd(output string) string {
	tail := max(0, len(output)-200)
	if at := copilotShellEnd.FindStringIndex(output[tail:]); at != nil {
		return output[:tail+at[0]]
	}
	return output
}

// outcome is a tool call's output and status; the phrases were measured with
// 1.0.102.
func (e *copilotData) outcome() (output string, status transcript.Status) {
	if e.Success {
		var result struct {
			Content json.RawMessage `json:"content"`
		}
		if into(e.Result, &result) {
			output = codexOutput(result.Content)
		} else {
			output = words(e.Result)
		}
		if e.Shell != nil && string(e.Shell.ExitCode) != "0" {
			return output, transcript.StatusError
		}
		return output, transcript.StatusOK
	}
	var failure struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	}
	if !into(e.Error, &failure) {
		return words(e.Error), transcript.StatusError
	}
	switch m := failure.Message; {
	case failure.Code == "denied" || failure.Code == "rejected":
		return m, transcript.StatusDenied
	case strings.HasPrefix(m, "Tool '") && strings.HasSuffix(m, "does not exist.") || strings.HasPrefix(m, "Skill not found") || copilotBadInput.MatchString(m):
		return m, transcript.StatusRejected
	}
	return failure.Message, transcript.StatusError
}

// copilotCause sorts a session.error event. A request that has just failed for
// good is its cause.
func copilotCause(e *copilotData, requestFailed bool) *transcript.ClientError {
	cause := &transcript.ClientError{Kind: transcript.ErrorClient, Status: transcript.Count(e.Status), Message: transcript.Name(words(e.Message))}
	switch e.Kind {
	case "authentication", "rate_limit", "quota":
		cause.Kind = transcript.ErrorModelEndpoint
	}
	if cause.Status != nil || requestFailed {
		cause.Kind = transcript.ErrorModelEndpoint
	}
	return cause
}
