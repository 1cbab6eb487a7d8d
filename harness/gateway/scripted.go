package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	closingText  = "Done."                        // the answer when the script has no more to say
	sideCallText = "Session"                      // the answer to a title request
	summaryText  = "The work so far has come to " // and the id of the last call: the answer to a summary request
)

// Scripted is a model that follows a script. Make one a trial: it counts the attempts of the script's failing steps.
//
// Where it stands in the script it reads off the conversation, never off a count of requests, for clients repeat
// requests and make side calls: each tool call's id names its step, and the next answer goes on behind the last step the
// conversation holds. A client that replaces the conversation by a summary gets that id in the summary, where it is found
// again. The same body so gets the same answer, except at a fail_with step, which counts its own attempts.
type Scripted struct {
	script *Script

	mu       sync.Mutex
	attempts map[int]int // by step index
	newest   Block       // the last tool call given
}

// NewScripted returns the model of one trial that follows s.
func NewScripted(s *Script) *Scripted {
	return &Scripted{script: s, attempts: map[int]int{}}
}

// Kind is KindScripted.
func (m *Scripted) Kind() string { return KindScripted }

// Turn answers r; see [Scripted]. It returns no error.
func (m *Scripted) Turn(_ context.Context, r *Request) (*Turn, error) {
	t := m.answer(r)
	if n := len(t.Blocks); n > 0 && t.Blocks[n-1].Kind == BlockToolCall {
		m.mu.Lock()
		m.newest = t.Blocks[n-1]
		m.mu.Unlock()
	}
	t.Usage = scriptedUsage(r, t)
	return t, nil
}

func (m *Scripted) answer(r *Request) *Turn {
	last, lastMessage, mark := m.position(r.Messages)
	if r.SideCall {
		if id := m.retold(r.Messages); id != "" {
			mark = id // newer than what an earlier summary tells
		}
		if mark == "" {
			return textTurn(sideCallText)
		}
		return textTurn(summaryText + mark)
	}
	taken := m.script.taken(r.Offered, r.Prompt)
	if t := poll(r, last, lastMessage); t != nil {
		return t
	}
	var says, notes []string
	var lastSay int
	for i := last; i < len(m.script.Steps); i++ {
		st := m.script.Steps[i]
		if !taken[i] {
			continue
		}
		switch st.Action {
		case ActionSay:
			says = append(says, st.Arg)
			lastSay = i + 1
		case ActionFailWith:
			if t := m.fail(i, st); t != nil {
				t.Note = strings.Join(notes, "; ")
				return t
			}
		default:
			tool, input, ok := call(r, st, m.script.known(i, taken))
			if !ok && st.Action == ActionLoadSkill {
				// Nothing was offered and nothing can be asked: a client without a skill tool. The model goes on.
				notes = append(notes, fmt.Sprintf("step %d: the request lists no tool that can load a skill; step left out", i+1))
				continue
			}
			if !ok {
				t := textTurn(fmt.Sprintf("I have no tool to %s %s.", st.Action, st.Arg))
				t.Step = new(i + 1)
				t.Note = strings.Join(append(notes, fmt.Sprintf("step %d: the request lists no tool that can %s; the script ends here", i+1, st.Action)), "; ")
				return t
			}
			return &Turn{
				Blocks: append(sayBlocks(says), Block{
					Kind: BlockToolCall, CallID: callID(i+1, tool, input), Name: tool, Input: input,
				}),
				StopReason: StopToolUse,
				Step:       new(i + 1),
				Note:       strings.Join(notes, "; "),
			}
		}
	}
	t := textTurn(closingText)
	if ending := strings.Join(says, "\n\n"); len(says) > 0 && !said(r.Messages[lastMessage:], ending) {
		t = textTurn(ending)
		t.Step = new(lastSay)
	}
	t.Note = strings.Join(notes, "; ")
	return t
}

var (
	scriptedCall = regexp.MustCompile(`^toolu_step_([0-9]{1,6})_[0-9a-f]{16}$`)
	summaryMark  = regexp.MustCompile(regexp.QuoteMeta(summaryText) + `(toolu_step_[0-9]{1,6}_[0-9a-f]{16})\b`)
)

// callID names the step in the form of the Messages API's own ids; the hash tells calls of edited scripts apart.
func callID(step int, tool string, input []byte) string {
	sum := sha256.Sum256(append([]byte(tool+"\x00"), input...))
	return fmt.Sprintf("toolu_step_%d_%s", step, hex.EncodeToString(sum[:8]))
}

// position returns the number of the last step whose tool call the assistant made in this conversation (0: none), the
// index of the message behind it, and the call's id. A summary in the client's hands stands for the call it names.
func (m *Scripted) position(msgs []Message) (step, next int, mark string) {
	for i, msg := range msgs {
		for _, b := range msg.Blocks {
			id := ""
			switch {
			case msg.Role == "assistant" && b.Kind == BlockToolCall:
				id = b.CallID
			case b.Kind == BlockText && strings.Contains(b.Text, summaryText):
				if found := summaryMark.FindStringSubmatch(b.Text); found != nil {
					id = found[1]
				}
			}
			found := scriptedCall.FindStringSubmatch(id)
			if found == nil {
				continue
			}
			if n, err := strconv.Atoi(found[1]); err == nil && n >= max(step, 1) && n <= len(m.script.Steps) {
				step, next, mark = n, i+1, id
			}
		}
	}
	return step, next, mark
}

// retold returns the id of the newest call where a text tells its input, or "". OpenCode has a conversation summed up as
// one text, in which calls have no ids.
func (m *Scripted) retold(msgs []Message) string {
	m.mu.Lock()
	newest := m.newest
	m.mu.Unlock()
	input := string(newest.Input)
	input = input[:min(len(input), maxRetold)]
	if input == "" {
		return ""
	}
	for _, msg := range msgs {
		for _, t := range textsOf(msg) {
			if strings.Contains(t, newest.Name+"("+input) {
				return newest.CallID
			}
		}
	}
	return ""
}

const maxRetold = 150 // bytes of a call's input; a client may cut what is longer

// said reports whether the assistant has said text in one of these messages: then the script's last words are spoken.
func said(msgs []Message, text string) bool {
	for _, m := range msgs {
		if m.Role == "assistant" && strings.TrimSpace(strings.Join(textsOf(m), "\n\n")) == strings.TrimSpace(text) {
			return true
		}
	}
	return false
}

// fail counts an attempt of a fail_with step and returns its failing turn, or nil once it has failed often enough.
func (m *Scripted) fail(i int, st Step) *Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if st.Times > 0 && m.attempts[i] >= st.Times {
		return nil
	}
	m.attempts[i]++
	t := failureTurn(st.Arg)
	t.Step = new(i + 1)
	return t
}

// failureTurn is the turn of a fail_with value. The error types are those of
// https://docs.anthropic.com/en/api/errors; they are close enough in every dialect.
func failureTurn(what string) *Turn {
	status := func(code int, typ string) *Turn {
		return &Turn{Failure: &Failure{Kind: FailHTTP, Status: code, Type: typ, Message: "model script: fail_with = " + what}}
	}
	switch what {
	case "400":
		return status(http.StatusBadRequest, "invalid_request_error")
	case "401":
		return status(http.StatusUnauthorized, "authentication_error")
	case "429":
		t := status(http.StatusTooManyRequests, "rate_limit_error")
		t.Failure.RetryAfter = new(1)
		return t
	case "529":
		return status(529, "overloaded_error")
	case "refusal":
		return &Turn{StopReason: StopRefusal}
	case "truncated":
		t := textTurn("This answer breaks off before its end.")
		t.Failure = &Failure{Kind: FailTruncated}
		return t
	case "slow":
		return &Turn{StopReason: StopEndTurn, Failure: &Failure{Kind: FailSlow}}
	default: // "500"
		return status(http.StatusInternalServerError, "api_error")
	}
}

func textTurn(text string) *Turn {
	return &Turn{Blocks: []Block{{Kind: BlockText, Text: text}}, StopReason: StopEndTurn}
}

func sayBlocks(says []string) []Block {
	if len(says) == 0 {
		return nil
	}
	return []Block{{Kind: BlockText, Text: strings.Join(says, "\n\n")}}
}

// scriptedUsage makes up the usage of a scripted turn so that it is the same each time: a token is four bytes, in of the
// request's body, out of the answer's text and tool inputs. Nothing is cached, and an answer that is an error costs nothing.
func scriptedUsage(r *Request, t *Turn) Usage {
	in, out, none := estimateTokens(r.Raw), int64(0), int64(0)
	for _, b := range t.Blocks {
		out += int64(len(b.Text) + len(b.Input))
	}
	out /= bytesPerToken
	if t.Failure != nil && t.Failure.Kind == FailHTTP {
		in, out = 0, 0
	}
	return Usage{InputTokens: &in, OutputTokens: &out, CacheReadTokens: &none, CacheWriteTokens: &none}
}

const bytesPerToken = 4

func estimateTokens(body []byte) int64 { return int64(len(body)) / bytesPerToken }
