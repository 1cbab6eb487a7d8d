// Package gateway is the model endpoint of one trial: an HTTP server on 127.0.0.1, with its own port and one-time
// token, that an agent client takes for its model provider.
//
// It is for the engine, which opens one gateway a trial, hands its URL and token to the client in place of the real
// host and key, and closes it when the trial's process tree is dead. Two things are kept apart:
//
//   - a codec knows one wire dialect. It turns a body into a neutral [Request] and a neutral [Turn] into an answer,
//     streamed or whole. Today: Anthropic Messages, OpenAI Responses and Chat Completions.
//   - a [Model] knows where turns come from: [Scripted] follows a task's model script, [Forward] asks a real provider,
//     [Replay] plays a recorded trial.
//
// What always holds:
//
//   - A provider's key is held by [Forward] alone, on the runner's side, and sent to its endpoint alone. The token opens
//     this one gateway and nothing else; neither is ever logged or recorded.
//   - A request that does not name this gateway's own address and token is refused, and the refusal is recorded.
//   - Everything that arrives is hostile: bodies, connections and the log are bounded, and nothing it says can panic the
//     runner. The agent knows its token, so it could call the gateway itself; what the gateway saw is evidence about the
//     trial's traffic, and gateway.jsonl keeps the user agent of each request to tell who asked.
//   - What a request or a script makes go wrong is an answer and a record. A Go error from [Open] or [Gateway.Close], or
//     a non-empty [Summary.Err], means the runner broke.
package gateway
