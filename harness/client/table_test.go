package client

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// TestCaptureTable says of each capture what a reader must know, so that a
// golden file cannot be rewritten wrongly without notice.
func TestCaptureTable(t *testing.T) {
	const (
		none    = transcript.NotObserved
		loaded  = transcript.Loaded
		unknown = transcript.Unknown
	)
	type row struct {
		capture string
		kind    string // of the client error, "" when completed
		status  int64
		final   string
		alpha   transcript.Load
		tokens  string // input output cacheRead cacheWrite reasoning; "" for unknown
		calls   string
	}
	for _, c := range []struct {
		decoder Decoder
		rows    []row
	}{
		{Codex{}, []row{
			{"success", "", 0, "All done: FINAL-ANSWER", loaded, "1100 47 2200 0 5", "command_execution ok, command_execution ok"},
			{"patch", "", 0, "`Settings` in src/lib.rs now keeps its values in the store and saves after every `set` and `remove`. The unit tests pass.", none, "68639 999 0 0 0",
				"command_execution ok, command_execution ok, command_execution ok, file_change ok, command_execution error"}, // a patch stands once
			{"ephemeral", "", 0, "END", none, "60 10 40 0 0", ""},
			{"hooks_plain", "", 0, "END", none, "180 30 120 0 0", "command_execution ok, command_execution error"},
			{"err429ok", "", 0, "FINE", none, "50 3 0 0 0", ""},
			{"err500ok", "", 0, "FINE", none, "50 3 0 0 0", ""},
			{"srt_proxy", "", 0, "END", none, "120 20 80 0 0", "command_execution ok"},
			{"err400", "model_endpoint", 0, "", none, "", ""},
			{"err401", "model_endpoint", 401, "", none, "", ""},
			{"err429always", "model_endpoint", 429, "", none, "", ""},
			{"err500always", "model_endpoint", 0, "", none, "", ""},
			{"srt_blocked", "model_endpoint", 403, "", none, "", ""},
			{"truncate", "model_endpoint", 0, "", none, "", ""},
			{"malformed", "model_endpoint", 0, "", none, "", ""},
			{"nr_idle", "model_endpoint", 0, "", none, "", ""},
			{"refused", "model_endpoint", 0, "", unknown, "", ""},
			{"sigterm_stream", "no_completion", 0, "", unknown, "", ""},
			{"sigterm_tool_srt", "no_completion", 0, "", unknown, "", "command_execution unfinished"},
			{"sigint_tool", "no_completion", 0, "", unknown, "", "command_execution unfinished"},
			{"stdout_closed", "unreadable", 0, "", unknown, "", ""},
		}},
		{Copilot{}, []row{
			{"success", "", 0, "All done: FINAL-ANSWER", loaded, "1300 62 3150 0 5", "create ok, skill ok, bash error"},
			{"anthropic", "", 0, "FINE", loaded, "200 20 80 14 -", "skill ok"},
			{"toolmix", "", 0, "FINE", loaded, "350 53 200 0 0", "no_such_tool rejected, view error, skill rejected, bash rejected, bash error, view ok"},
			{"srt_proxy", "", 0, "END", loaded, "", "bash ok, skill ok"}, // no session file was kept: tokens are unknown, not 0
			{"err429ok", "", 0, "FINE", none, "50 3 0 0 0", ""},
			{"err500ok", "", 0, "FINE", none, "50 3 0 0 0", ""},
			{"err401", "model_endpoint", 401, "", none, "", ""},
			{"err429always", "model_endpoint", 429, "", none, "", ""},
			{"err500always", "model_endpoint", 500, "", none, "", ""},
			{"malformed", "model_endpoint", 0, "", none, "", ""},
			{"refused", "model_endpoint", 0, "", none, "", ""},
			{"sigint_stream", "client", 0, "", none, "", ""}, // exit code 0, and a result with exit code 0
			{"sigterm_stream", "client", 0, "", unknown, "", ""},
			{"sigterm_tool", "client", 0, "", unknown, "", "bash aborted"}, // its session file is of another run
			{"sigterm_tool_srt", "no_completion", 0, "", unknown, "", "bash unfinished"},
			{"stdout_closed", "unreadable", 0, "", unknown, "110 13 40 0 0", "create ok"}, // all from the session file
			{"noprovider", "unreadable", 0, "", unknown, "", ""},
		}},
		{OpenCode{}, []row{
			{"success", "", 0, "All done: FINAL-ANSWER", loaded, "1300 62 3150 0 5", "write ok, skill ok, bash error"},
			{"anthropic", "", 0, "FINE", loaded, "200 20 80 14 0", "skill ok"},
			{"toolmix", "", 0, "FINE", loaded, "410 63 240 0 0", "no_such_tool rejected, read error, skill rejected, bash rejected, bash error, read ok, edit error"},
			{"deny", "", 0, "FINE", none, "110 13 40 0 0", "bash rejected"},
			{"git", "", 0, "END", loaded, "120 20 80 0 0", "write ok, skill ok"},
			{"err429ok", "", 0, "FINE", none, "50 3 0 0 0", ""},
			{"err400", "model_endpoint", 400, "", none, "", ""},
			{"err429always", "unreadable", 0, "", unknown, "", ""},
			{"err500always", "unreadable", 0, "", unknown, "", ""},
			{"refused", "unreadable", 0, "", unknown, "", ""},
			{"sigterm_stream", "unreadable", 0, "", unknown, "", ""},
			{"sigterm_tool", "no_completion", 0, "", unknown, "", ""},
			{"stdout_closed", "unreadable", 0, "", unknown, "", ""},
		}},
	} {
		for _, r := range c.rows {
			t.Run(c.decoder.Name()+"/"+r.capture, func(t *testing.T) {
				tr := decodeCapture(t, c.decoder, r.capture)
				exec, cause := tr.Execution()
				if r.kind == "" {
					assert.Equal(t, transcript.ExecutionCompleted, exec)
					assert.Nil(t, cause)
				} else if assert.NotNil(t, cause) {
					assert.Equal(t, transcript.ExecutionClientError, exec)
					assert.Equal(t, r.kind, cause.Kind)
					if r.status == 0 {
						assert.Nil(t, cause.Status)
					} else if assert.NotNil(t, cause.Status) {
						assert.Equal(t, r.status, *cause.Status)
					}
				}
				assert.Equal(t, r.final, tr.FinalText)
				assert.Equal(t, r.alpha, tr.LoadOf("alpha-skill"))
				assert.Equal(t, r.tokens, counts(tr.Usage))
				assert.Equal(t, r.calls, strings.Join(statuses(tr), ", "))
				assert.Equal(t, tr.Lines, tr.Understood, "%v", tr.Unparsed)
				if tr.Session != nil {
					assert.Equal(t, tr.Session.Lines, tr.Session.Understood, "%v", tr.Session.Unparsed)
					assert.Equal(t, r.capture != "sigterm_tool", tr.Session.Matches)
				}
			})
		}
	}
}

// The staged skill of a real trial was read with cat, and the others were not.
func TestCodexRealLoad(t *testing.T) {
	d := decodeCapture(t, Codex{}, "patch").Document()
	assert.Equal(t, map[string]transcript.Load{
		"fixture-store": transcript.Loaded, "imagegen": transcript.NotObserved, "openai-docs": transcript.NotObserved,
		"skill-creator": transcript.NotObserved, "skill-installer": transcript.NotObserved,
	}, d.Skills)
}

// counts is a usage in a row's form.
func counts(u transcript.Usage) string {
	if u.Source == "" {
		return ""
	}
	var all []string
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n == nil {
			all = append(all, "-")
		} else {
			all = append(all, strconv.FormatInt(*n, 10))
		}
	}
	return strings.Join(all, " ")
}

// decodeText decodes a stream and, unless it is empty, a session file.
func decodeText(t testing.TB, d Decoder, stream, session string) *transcript.Transcript {
	t.Helper()
	r := Recording{Stream: strings.NewReader(stream), Home: "/t/home", Project: "/t/project"}
	if session != "" {
		r.Session = strings.NewReader(session)
	}
	tr, err := d.Decode(r)
	require.NoError(t, err)
	return tr
}
