package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// EndpointOptions say where a provider's API is and where its key is kept. Both may be "".
type EndpointOptions struct {
	URL     string
	KeyFile string // absolute
}

// The APIs an endpoint can be configured for, by their names in proctor.toml.
const (
	APIAnthropic = "anthropic" // Messages
	APIOpenAI    = "openai"    // Responses and Chat Completions
)

// apis are the APIs: their dialects, their usual variables and their providers' own addresses.
var apis = map[string]struct {
	dialects         []string
	keyVar, urlVar   string
	url              string
	tokenVar, direct string // direct mode only: another credential's variable, and its name for the client
}{
	APIAnthropic: {[]string{gateway.DialectMessages}, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "", ""},
	APIOpenAI:    {[]string{gateway.DialectResponses, gateway.DialectChat}, "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1", "", ""},
}

// apiOf is the API a client speaks to the gateway.
func apiOf(clientName string) string {
	if clientName == "claude" {
		return APIAnthropic
	}
	return APIOpenAI
}

// kind is where the run's model answers come from.
func (o Options) kind() string {
	switch {
	case o.Replay != "":
		return gateway.KindReplay
	case o.Model == Scripted || o.Model == "":
		return gateway.KindScripted
	case o.Direct:
		return gateway.KindDirect
	}
	return gateway.KindForward
}

// checkModel looks at what was said of the model. Keys are looked for when a run starts.
func (o *Options) checkModel() (problems []error) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.Replay != "" {
		path, err := filepath.Abs(o.Replay)
		if err != nil {
			return append(problems, err)
		}
		o.Replay = path
		problems = append(problems, o.checkReplay()...)
	}
	if o.Direct && (o.Model == "" || o.Model == Scripted || o.Replay != "") {
		bad("direct: the agent asks a real model itself; name one with PROCTOR_MODEL or -model, and replay nothing")
	}
	if o.Record && (o.Direct || o.Replay != "") {
		bad("record: only what passes the gateway can be recorded, and a replay is recorded already; leave out -direct and -replay")
	}
	for name, e := range o.Endpoints {
		if e.URL == "" {
			continue
		}
		if err := gateway.CheckBaseURL(e.URL); err != nil {
			bad("%s: endpoints.%s.url: %w", ConfigFile, name, err)
		}
	}
	limits := o.MaxCost > 0 || o.TrialMaxCost > 0
	spent := limits || o.MaxTokens > 0 || o.TrialMaxTokens > 0
	if spent && o.kind() == gateway.KindDirect {
		bad("limits of tokens and cost need the gateway; with -direct nothing is counted at the wire")
	}
	if limits && o.kind() == gateway.KindForward {
		for _, m := range o.models() {
			if _, ok := o.Prices[m]; !ok {
				bad("a limit of cost needs the price of each model: add [prices.%q] with input, output, cache_read and cache_write, in US dollars for a million tokens, to %s", m, ConfigFile)
			}
		}
	}
	return problems
}

// models are all models a trial may ask.
func (o Options) models() []string {
	out := []string{o.Model}
	for _, m := range o.Models {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// checkReplay takes the model's name from the cassettes.
func (o *Options) checkReplay() []error {
	found, err := cassettesIn(o.Replay)
	if err != nil {
		return []error{err}
	}
	c, err := gateway.LoadCassette(found[0])
	if err != nil {
		return []error{fmt.Errorf("replay: %w", err)}
	}
	if o.Model != "" && o.Model != c.Model() {
		return []error{fmt.Errorf("replay: %s was recorded with the model %s, not %s; name none", o.Replay, c.Model(), o.Model)}
	}
	o.Model = c.Model()
	return nil
}

// cassettesIn lists all cassettes below a folder of results.
func cassettesIn(dir string) ([]string, error) {
	root := dir
	if run, err := result.ReadRun(dir); err == nil && len(run.Batches) > 0 {
		// A run's folder is runs/<id>; its batches are told relative to what holds runs/.
		var all []string
		for _, b := range run.Batches {
			more, err := cassettesIn(filepath.Join(filepath.Dir(filepath.Dir(dir)), filepath.FromSlash(b.Results)))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	var found []string
	for depth := 0; depth <= 4; depth++ {
		parts := append([]string{root}, slices.Repeat([]string{"*"}, depth)...)
		more, err := filepath.Glob(filepath.Join(append(parts, gateway.CassetteFile)...))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("replay: no %s in %s; name a run's folder, a batch's or a trial's that was recorded with -record", gateway.CassetteFile, dir)
	}
	return found, nil
}

// cassetteOf is the cassette of a planned trial, or an error that says which is missing. It lies in
// <task>/<client>/<batch>/<trial>/, or in less of that where the replayed folder is one further in.
func (b *Batch) cassetteOf(p plan.Trial) (string, error) {
	found, err := cassettesIn(b.run.engine.opts.Replay)
	if err != nil {
		return "", err
	}
	var fit []string
	for _, path := range found {
		trial := filepath.Dir(path)
		batch := filepath.Dir(trial)
		if filepath.Base(trial) != p.Name() {
			continue
		}
		clientDir := filepath.Dir(batch)
		if batch != b.run.engine.opts.Replay && (filepath.Base(clientDir) != b.Client() || filepath.Base(filepath.Dir(clientDir)) != b.Task.Name) {
			continue
		}
		fit = append(fit, path)
	}
	if len(fit) != 1 {
		return "", fmt.Errorf("replay: %d cassettes fit %s of %s with %s in %s; one is needed", len(fit), p.Name(), b.Task.Name, b.Client(), b.run.engine.opts.Replay)
	}
	return fit[0], nil
}

// endpoint is the run's endpoint for a client's API, its key from the environment or a file.
func (o Options) endpoint(clientName string) (gateway.Endpoint, error) {
	name := apiOf(clientName)
	api, conf := apis[name], o.Endpoints[name]
	e := gateway.Endpoint{BaseURL: strings.TrimRight(firstOf(conf.URL, os.Getenv(api.urlVar), api.url), "/")}
	if err := gateway.CheckBaseURL(e.BaseURL); err != nil {
		return e, fmt.Errorf("%s: %w", api.urlVar, err)
	}
	if conf.KeyFile != "" {
		data, err := os.ReadFile(conf.KeyFile)
		if err != nil {
			return e, fmt.Errorf("%s: endpoints.%s.key_file: %w", ConfigFile, name, err)
		}
		e.Key = gateway.Key(strings.TrimSpace(string(data)))
	} else {
		e.Key = gateway.Key(strings.TrimSpace(os.Getenv(api.keyVar)))
	}
	if e.Key == "" {
		return e, fmt.Errorf("model %s with %s needs a key: set %s, or name a file that holds it as key_file under [endpoints.%s] in %s",
			o.Model, clientName, api.keyVar, name, ConfigFile)
	}
	if strings.ContainsAny(string(e.Key), "\r\n\x00") {
		return e, fmt.Errorf("the key for %s holds a line break; give the key alone", clientName)
	}
	return e, nil
}

// keyFiles are the files that hold keys.
func (o Options) keyFiles() (files []string) {
	for _, e := range o.Endpoints {
		if e.KeyFile != "" {
			files = append(files, e.KeyFile)
		}
	}
	slices.Sort(files)
	return files
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// checkKeys says before anything is planned which keys are missing.
func (e *Engine) checkKeys() error {
	var problems []error
	for _, a := range e.clients {
		var err error
		switch e.opts.kind() {
		case gateway.KindForward:
			_, err = e.opts.endpoint(a.Name())
		case gateway.KindDirect:
			_, err = e.opts.credential(a.Name())
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Model says in a line for a report of the machine where answers come from, or what is missing for it.
func (e *Engine) Model() (string, error) {
	if err := e.checkKeys(); err != nil {
		return "", err
	}
	switch o := e.opts; o.kind() {
	case gateway.KindDirect:
		return "warning  " + DirectWarning, nil
	case gateway.KindForward:
		return fmt.Sprintf("ok       model %s, forwarded: the key stays outside the trial", o.Model), nil
	case gateway.KindReplay:
		return fmt.Sprintf("ok       model %s, replayed from %s", o.Model, o.Replay), nil
	}
	return "ok       scripted model: no key, no cost", nil
}

// spend is a counter with the given limits and the run's prices.
func (o Options) spend(tokens int64, cost float64) *gateway.Spend {
	return gateway.NewSpend(gateway.Limits{Tokens: tokens, Cost: cost}, o.Prices)
}

// newModel makes the trial's model: what answers its gateway.
func (t *trial) newModel() (gateway.Model, error) {
	o := t.run.engine.opts
	switch o.kind() {
	case gateway.KindReplay:
		path, err := t.cassetteOf(t.plan)
		if err != nil {
			return nil, err
		}
		cassette, err := gateway.LoadCassette(path)
		if err != nil {
			return nil, err
		}
		if cassette.Client() != t.Client() || cassette.Model() != o.Model {
			return nil, fmt.Errorf("replay: %s was recorded with %s and %s", path, cassette.Client(), cassette.Model())
		}
		return gateway.NewReplay(cassette, gateway.ReplayOptions{RunDir: t.space.Dir, BatchDir: t.Batch.space.Dir}), nil
	case gateway.KindForward:
		endpoint, err := o.endpoint(t.Client())
		if err != nil {
			return nil, err
		}
		t.spend, t.clock = o.spend(o.TrialMaxTokens, o.TrialMaxCost), &gateway.Clock{}
		to := map[string]gateway.Endpoint{}
		for _, dialect := range apis[apiOf(t.Client())].dialects {
			to[dialect] = endpoint
		}
		return gateway.NewForward(gateway.ForwardOptions{
			Endpoints: to, Models: o.models(), Trial: t.spend, Run: t.run.spend, Clock: t.clock,
			MaxWait: time.Duration(o.MaxWaitSecs) * time.Second,
		}), nil
	}
	return gateway.NewScripted(t.script), nil
}

// openGateway opens the trial's model endpoint, which serves until ctx ends; a direct trial has none.
func (t *trial) openGateway(ctx context.Context, beforeTurn func()) error {
	o := t.run.engine.opts
	t.stopped, t.stop = context.WithCancelCause(context.Background())
	if o.kind() == gateway.KindDirect {
		return nil
	}
	model, err := t.newModel()
	if err != nil {
		return err
	}
	options := gateway.Options{
		BeforeTurn: beforeTurn, Model: model, ModelName: o.Model, ProjectDir: t.space.Path("project"),
		Prompt: t.Task.Prompt, LogPath: filepath.Join(t.dir, "gateway.jsonl"), OnStop: t.stop,
	}
	if o.Record {
		options.Tape = &gateway.TapeOptions{
			Path: filepath.Join(t.dir, gateway.CassetteFile), Client: t.Client(), Model: o.Model, Models: o.models(), Kind: model.Kind(),
			RunDir: t.space.Dir, BatchDir: t.Batch.space.Dir,
		}
		if o.kind() == gateway.KindForward {
			endpoint, err := o.endpoint(t.Client())
			if err != nil {
				return err
			}
			options.Tape.Secrets = []string{string(endpoint.Key)}
		}
	}
	if t.gw, err = gateway.Open(ctx, options); err != nil {
		return &runnerError{err}
	}
	if replay, ok := model.(*gateway.Replay); ok {
		t.replay = replay
	}
	return nil
}

// withDeadline ends ctx after the agent's deadline, time in which the provider was waited for not
// counted, or when the model finds that the trial should end.
func (t *trial) withDeadline(ctx context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(t.stopped, func() { cancel(context.Cause(t.stopped)) })
	began := time.Now()
	timer := time.NewTimer(limit)
	go func() {
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				waited, _ := t.clock.Waited()
				left := limit - (time.Since(began) - waited)
				if left <= 0 {
					cancel(cause)
					return
				}
				timer.Reset(max(left, 10*time.Millisecond))
			}
		}
	}()
	return ctx, func() { unhook(); cancel(nil) }
}

// stopExecution is what a stop by the model means for the trial; ok is false when cause is none.
func (t *trial) stopExecution(cause error) (e result.Execution, word string, ok bool) {
	switch {
	case errors.Is(cause, gateway.ErrReplay):
		// The recording does not fit: nothing is known of the agent.
		return result.Cancelled, gateway.ErrReplay.Error(), true
	case errors.Is(cause, gateway.ErrEndpoint):
		return result.ClientError, result.CauseModelEndpoint, true
	case errors.Is(cause, gateway.ErrMaxTokens), errors.Is(cause, gateway.ErrMaxCost):
		word, _, _ = strings.Cut(cause.Error(), ":")
		return result.ClientError, word, true
	}
	return "", "", false
}

// reconcile compares the gateway's turns with the transcript's. More at the gateway than the client
// tells of means that something else in the trial asked the model.
func (t *trial) reconcile() {
	if t.rec.Gateway == nil || t.rec.Model.Kind == gateway.KindScripted || t.transcript == nil {
		return
	}
	told := t.assistantTurns()
	t.rec.Gateway.TranscriptTurns = &told
	if extra := t.rec.Gateway.Answered - told; extra > 0 {
		t.find("gateway_surplus", fmt.Sprintf("the model answered %d turns and the transcript tells of %d: %d were asked for by something else, or are not in the client's stream",
			t.rec.Gateway.Answered, told, extra))
	}
}

// assistantTurns are the turns of the model in the transcript, subagents' included.
func (t *trial) assistantTurns() int {
	n := 0
	for _, turn := range t.transcript.Turns {
		if turn.Role == transcript.RoleAssistant && !turn.Synthetic {
			n++
		}
	}
	return n
}

// blameEndpoint finds the provider at fault where a session did not come to its end, or seems to have
// and its last turn was never answered.
func (t *trial) blameEndpoint() {
	switch t.rec.Execution {
	case result.Completed, result.TimedOut, result.ClientError:
	default:
		return
	}
	if t.gw == nil || t.rec.ExecutionCause == result.CauseModelEndpoint {
		return
	}
	if fault := t.gw.Summary().Fault; fault != "" {
		if t.rec.Execution == result.Completed {
			t.rec.Execution = result.ClientError
		}
		t.rec.ExecutionCause = result.CauseModelEndpoint
		t.find(result.CauseModelEndpoint, fault)
	}
}

// gatewayRecord is what the gateway saw, for the result.
func (t *trial) gatewayRecord(s gateway.Summary) *result.Gateway {
	g := &result.Gateway{
		Requests: s.Requests, Turns: s.Turns, SideCalls: s.SideCalls, Refused: s.Refused, Failures: s.Failures, Answered: s.Answered,
		Usage: result.Usage{
			InputTokens: s.Usage.InputTokens, OutputTokens: s.Usage.OutputTokens, CacheReadTokens: s.Usage.CacheReadTokens,
			CacheWriteTokens: s.Usage.CacheWriteTokens, ReasoningTokens: s.Usage.ReasoningTokens,
		},
		CostUSD: t.spend.Cost(), Stripped: s.Stripped,
	}
	waited, waits := t.clock.Waited()
	g.Waits, g.WaitSecs = waits, waited.Round(time.Millisecond).Seconds()
	if t.replay != nil {
		left := t.replay.Left()
		g.Unplayed = &left
	}
	return g
}

// overLimit is why a trial may not start: the run's limit was reached and the batch is at the end of a
// round. Only the first trial of a round asks, so that a round is never half run.
func (r *Run) overLimit(b *Batch, p plan.Trial) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Round == b.round {
		return nil
	}
	if over := r.spend.Over(); over != nil {
		return fmt.Errorf("the run's limit: %w", over)
	}
	b.round = p.Round
	return nil
}

// recordedRounds is the highest round of a replayed recording.
func (o Options) recordedRounds() int {
	found, err := cassettesIn(o.Replay)
	if err != nil {
		return 1
	}
	rounds := 1
	for _, path := range found {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(path)), "trial-%d-", &n); err == nil && n < 10_000 {
			rounds = max(rounds, n)
		}
	}
	return rounds
}
