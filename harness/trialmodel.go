package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

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
		BeforeTurn: beforeTurn, Model: model, ModelName: o.ModelOf(t.Client()), ProjectDir: t.space.Path("project"),
		Prompt: t.Task.Prompt, LogPath: filepath.Join(t.dir, "gateway.jsonl"), OnStop: t.stop, Secrets: t.run.secrets,
	}
	if o.Record {
		options.Tape = &gateway.TapeOptions{
			Path: filepath.Join(t.dir, gateway.CassetteFile), Client: t.Client(), Model: o.ModelOf(t.Client()), Models: o.models(), Kind: model.Kind(),
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
		return
	}
	// A request without tools counts as a side call, so turns alone miss what asks without them. A client whose own
	// total has its side calls must have counted what was answered. One that met a failure may not have.
	own, wire := t.transcript.Usage, t.rec.Gateway.Usage
	if own.Source == "total" && t.rec.Gateway.Failures == 0 && own.Output != nil && wire.OutputTokens != nil && *wire.OutputTokens > *own.Output {
		t.find("gateway_surplus", fmt.Sprintf("the model's answers came to %d output tokens and the client counts %d: something else asked the model, or the client miscounts",
			*wire.OutputTokens, *own.Output))
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
