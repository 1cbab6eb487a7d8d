package client

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// The rollout: one record a line, {timestamp, type, payload}. It is decoded
// into a transcript of its own, which is then merged into the stream's.

type codexRecord struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type codexPayload struct {
	Type string `json:"type"`

	ID      string `json:"id"` // session_meta: the thread
	Cwd     string `json:"cwd"`
	Version string `json:"cli_version"`
	Model   string `json:"model"` // turn_context

	// response_item
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"` // JSON in a string
	Input     json.RawMessage `json:"input"`     // custom_tool_call: a text
	Action    json.RawMessage `json:"action"`    // local_shell_call, web_search_call
	Output    json.RawMessage `json:"output"`
	Meta      struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`

	Item       json.RawMessage `json:"item"`        // event_msg/item_completed
	DurationMS json.RawMessage `json:"duration_ms"` // event_msg/task_complete

	// token_usage_record
	ResponseID string          `json:"response_id"`
	Usage      json.RawMessage `json:"usage"`

	State json.RawMessage `json:"state"` // world_state
}

// codexExecution is what the client measured of a command.
type codexExecution struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Output   json.RawMessage `json:"aggregated_output"`
	ExitCode json.RawMessage `json:"exit_code"`
}

type codexSession struct {
	*transcript.Builder
	loads     *loadWatch
	home      string // as the record tells
	given     Recording
	turn      int
	answered  bool                      // the current turn's calls have outcomes: the next one is of a new answer
	ran       map[string]codexExecution // measured, and not yet answered
	running   map[string]bool           // answered while it still ran
	counted   map[string]bool           // responses whose usage is counted
	shellCall map[string]bool           // calls that start a command
}

// decodeCodexSession reads a rollout. What it says of the session's folders
// counts where r says nothing.
func decodeCodexSession(r Recording, maxLine int) (*codexSession, error) {
	s := &codexSession{
		Builder: transcript.NewBuilder("codex"), given: r, turn: -1,
		ran: map[string]codexExecution{}, running: map[string]bool{}, counted: map[string]bool{}, shellCall: map[string]bool{},
	}
	s.loads = newLoadWatch(r.Home, r.Project, codexHomeSkills, codexProjectSkills)
	err := readLines(s.Builder, r.Session, maxLine, s.record)
	for _, load := range s.loads.unfinished(s.T.SkillsListed) {
		s.Load(load)
	}
	return s, err
}

func (s *codexSession) record(data []byte) string {
	var rec codexRecord
	if reason := parse(data, &rec); reason != "" {
		return reason
	}
	var p codexPayload
	if !into(rec.Payload, &p) {
		return "unexpected shape"
	}
	switch rec.Type {
	case "session_meta":
		if s.T.SessionID != "" {
			s.Ignore("session_meta again") // copied from the session it was forked from
			return ""
		}
		s.T.SessionID, s.T.ClientVersion = transcript.Name(p.ID), transcript.Name(p.Version)
		s.placed(p.Cwd)
	case "turn_context":
		if s.T.Model == "" {
			s.T.Model = transcript.Name(p.Model)
		}
	case "response_item":
		return s.item(&p, stamp(rec.Timestamp))
	case "event_msg":
		s.event(&p)
	case "token_usage_record":
		s.count(&p)
	case "world_state":
		s.world(p.State)
	case "compacted", "inter_agent_communication":
		s.Ignore(rec.Type)
	default:
		return "unknown record"
	}
	return ""
}

// placed takes the folder the session ran in.
func (s *codexSession) placed(cwd string) {
	s.T.Cwd = transcript.Name(cwd)
	if s.given.Project == "" && path.IsAbs(cwd) {
		s.loads = newLoadWatch(s.given.Home, cwd, codexHomeSkills, codexProjectSkills)
	}
}

func (s *codexSession) item(p *codexPayload, at string) string {
	switch p.Type {
	case "message":
		return s.message(p, at)
	case "reasoning":
		s.Ignore("response_item/reasoning") // its text, if any, stands in the stream
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		return s.call(p, at)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		return s.answer(p)
	case "web_search_call", "image_generation_call", "ghost_snapshot", "compaction":
		s.Ignore("response_item/" + p.Type) // the stream has it, or it is no tool of the trial
	default:
		return "unknown item"
	}
	return ""
}

// skillContext is how the client hands over a skill the prompt called by "$name".
var skillContext = regexp.MustCompile(`^\s*<skill>\s*<name>([^<>\s]{1,200})</name>`)

func (s *codexSession) message(p *codexPayload, at string) string {
	said, ok := codexMessage(p.Content)
	if !ok {
		return "unexpected shape"
	}
	prompt := false
	for _, kind := range p.Meta.Kinds {
		prompt = prompt || kind == "user.text"
	}
	switch {
	case p.Role == "assistant":
		s.turn = s.Turn(transcript.Turn{Role: transcript.RoleAssistant, Text: said, Time: at})
		s.answered = false
	case p.Role == "user" && prompt:
		s.Turn(transcript.Turn{Role: transcript.RoleUser, Text: said, Time: at})
	case p.Role == "user":
		// Never from the prompt: a person can write the same words.
		if m := skillContext.FindStringSubmatch(said); m != nil {
			s.Load(transcript.SkillLoad{Skill: m[1], State: transcript.LoadLoaded, How: "injected"})
		}
		s.Ignore("message/user")
	default:
		s.Ignore("message/" + p.Role)
	}
	return ""
}

// codexMessage is the text of a message's content parts.
func codexMessage(raw json.RawMessage) (string, bool) {
	if s, ok := text(raw); ok {
		return s, true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if !into(raw, &parts) {
		return "", len(raw) == 0
	}
	all := make([]string, 0, len(parts))
	for _, part := range parts {
		all = append(all, part.Text)
	}
	return strings.Join(all, "\n"), true
}

// commandTools start a command.
var commandTools = map[string]bool{"exec_command": true, "shell": true, "local_shell": true, "unified_exec": true, "shell_command": true, "container.exec": true}

func (s *codexSession) call(p *codexPayload, at string) string {
	name, input := p.Name, json.RawMessage(nil)
	switch {
	case p.Type == "local_shell_call":
		name, input = "local_shell", p.Action
	case p.Type == "custom_tool_call":
		input = object("input", p.Input)
	default:
		input = p.Arguments
		if inner, ok := text(p.Arguments); ok {
			input = json.RawMessage(inner)
			if !json.Valid(input) {
				input = object("arguments", inner) // the model's mistake, kept as it is
			}
		}
	}
	if s.turn < 0 || s.answered {
		s.turn = s.Turn(transcript.Turn{Role: transcript.RoleAssistant, Time: at})
		s.answered = false
	}
	var args struct {
		Cmd     json.RawMessage `json:"cmd"`
		Command json.RawMessage `json:"command"`
		Workdir string          `json:"workdir"`
	}
	command := ""
	if commandTools[name] {
		name = "command_execution" // as the stream calls it
		if into(input, &args) {
			command = codexCommand(args.Cmd, args.Command)
			input = object("command", command, "workdir", optional(args.Workdir))
		}
	}
	if !s.CallReused(s.turn, p.CallID, name, input) {
		return "tool call id taken"
	}
	if name == "command_execution" {
		if len(s.shellCall) < transcript.MaxOpenCalls {
			s.shellCall[transcript.Name(p.CallID)] = true
		}
		s.loads.shell(p.CallID, "", command, s.loads.absolute(args.Workdir, s.loads.project))
	}
	return ""
}

// optional is a text as JSON, nothing when it is empty.
func optional(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}

// codexCommand is the script of a command given as a text or as arguments.
func codexCommand(raws ...json.RawMessage) string {
	for _, raw := range raws {
		if s, ok := text(raw); ok {
			return codexScript(s)
		}
		var argv []string
		if into(raw, &argv) {
			if n := len(argv); n == 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
				return argv[2]
			}
			return strings.Join(argv, " ")
		}
	}
	return ""
}

// answer takes what the model was told of a call.
func (s *codexSession) answer(p *codexPayload) string {
	id := transcript.Name(p.CallID)
	output := codexOutput(p.Output)
	s.answered = true
	if ran, ok := s.ran[id]; ok {
		delete(s.ran, id)
		measured, status := ran.outcome()
		return s.close(id, measured, status)
	}
	status := codexAnswer(output, s.shellCall[id])
	if status == transcript.StatusUnfinished {
		if len(s.running) < transcript.MaxOpenCalls {
			s.running[id] = true
		}
		return ""
	}
	return s.close(id, output, status)
}

func (s *codexSession) close(id string, output string, status transcript.Status) string {
	delete(s.running, id)
	if !s.Result(id, output, status) {
		return "result without a call"
	}
	found, _ := s.loads.result(id, status, output, s.T.SkillsListed)
	for _, load := range found {
		s.Load(load)
	}
	return ""
}

func (e codexExecution) outcome() (string, transcript.Status) {
	i := codexItem{Type: "command_execution", Status: e.Status, Output: e.Output, ExitCode: e.ExitCode}
	return i.outcome()
}

// codexExit is a command's exit code in what the model is told: of a process,
// or of a patch the client applied itself.
var codexExit = regexp.MustCompile(`(?m)^(?:Process exited with code|Output:\nExit code:) (-?\d+)$`)

// codexAnswer is the status of a call by the words the model got; the phrases
// are those of the client's source and of streams.
func codexAnswer(output string, command bool) transcript.Status {
	head := output[:min(len(output), 2000)]
	header, printed, _ := strings.Cut(head, "\nOutput:\n")
	if strings.HasPrefix(printed, "Exit code: ") {
		line, _, _ := strings.Cut(printed, "\n")
		header += "\nOutput:\n" + line
	}
	if m := codexExit.FindStringSubmatch(header); command && m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n == 0 {
			return transcript.StatusOK
		}
		return transcript.StatusError
	}
	switch {
	case command && strings.Contains(header, "Process running with session ID"):
		return transcript.StatusUnfinished
	case strings.HasPrefix(head, "unsupported call:") || strings.HasPrefix(head, "unsupported custom tool call:") ||
		strings.HasPrefix(head, "failed to parse function arguments"):
		return transcript.StatusRejected
	case strings.Contains(head, "rejected by user") || strings.Contains(head, "approval policy") || strings.HasPrefix(head, "exec command rejected") ||
		strings.Contains(head, "blocked by policy") || strings.Contains(head, "denied by"):
		return transcript.StatusDenied
	case strings.HasPrefix(head, "aborted"):
		return transcript.StatusAborted
	case command:
		return transcript.StatusError // it did not run to an exit code
	}
	return transcript.StatusOK
}

func (s *codexSession) event(p *codexPayload) {
	var e codexExecution
	switch {
	case p.Type == "item_completed" && into(p.Item, &e) && e.Type == "CommandExecution":
		id := transcript.Name(e.ID)
		if s.running[id] {
			output, status := e.outcome()
			s.close(id, output, status)
		} else if s.IsOpen(id) && len(s.ran) < transcript.MaxOpenCalls {
			s.ran[id] = e
		}
	case p.Type == "task_complete":
		s.T.Timing.DurationMS = transcript.Add(orZero(s.T.Timing.DurationMS), rounded(p.DurationMS))
	default:
		s.Ignore("event_msg/" + p.Type)
	}
}

func orZero(n *int64) *int64 {
	if n == nil {
		return new(int64)
	}
	return n
}

// count adds a response's tokens, once a response.
func (s *codexSession) count(p *codexPayload) {
	var u codexUsage
	if s.counted[p.ResponseID] || len(s.counted) >= maxMessages || !into(p.Usage, &u) {
		return
	}
	s.counted[p.ResponseID] = true
	if s.T.Usage.Source == "" {
		s.T.Usage = transcript.Usage{Input: new(int64), Output: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64), Source: "messages"}
	}
	s.T.Usage = plus(s.T.Usage, u.usage())
}

var (
	codexRoot  = regexp.MustCompile("(?m)^- `(r\\d+)` = `([^`]+)`$")
	codexSkill = regexp.MustCompile(`(?m)^- ([^:\s]+): .*\(file: [^()]*SKILL\.md\)$`)
)

// maxListing is how much of a listing of skills is looked at, in bytes.
const maxListing = 1 << 20

// world takes the skills the client offers, and the folders they lie in.
func (s *codexSession) world(raw json.RawMessage) {
	var state struct {
		Skills struct {
			Body string `json:"body"`
		} `json:"host_skills"`
	}
	if !into(raw, &state) || state.Skills.Body == "" {
		s.Ignore("world_state")
		return
	}
	body := state.Skills.Body[:min(len(state.Skills.Body), maxListing)]
	for _, m := range codexRoot.FindAllStringSubmatch(body, 100) {
		if path.IsAbs(m[2]) {
			s.loads.root(path.Clean(m[2]))
			if home, ok := strings.CutSuffix(path.Clean(m[2]), "/.codex/skills/.system"); ok && s.home == "" {
				s.home = home
			}
		}
	}
	var names []string
	for _, m := range codexSkill.FindAllStringSubmatch(body, transcript.MaxListed) {
		names = append(names, m[1])
	}
	s.Listed(names)
}
