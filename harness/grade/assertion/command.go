package assertion

import (
	"context"
	"fmt"
	"time"

	"github.com/proctor-evals/proctor/harness/suite"
)

// DefaultCommandTime is how long a command may run when its assertion does not say.
const DefaultCommandTime = time.Minute

// CommandRun is one program to run on a copy of a working directory.
type CommandRun struct {
	Argv []string
	Cwd  string // the folder to copy; it stays as it is
	Time time.Duration
}

// CommandEnd is how it ended.
type CommandEnd struct {
	ExitCode int
	Output   string   // standard output and error together, as printed; bounded
	Cut      bool     // there was more output
	Late     bool     // it was ended after its time
	Limit    string   // the limit it was ended for, or ""
	Left     []string // entries of the working directory that were not copied, such as links
}

// CommandRunner runs a program in a sandbox, without a network, on a fresh copy. Its error means
// that it could not be run.
type CommandRunner func(context.Context, CommandRun) (CommandEnd, error)

// shownOutput is how much of a command's output a result keeps, in characters from its end.
const shownOutput = 2000

func (g *grading) command(ctx context.Context, c suite.Command) finding {
	switch {
	case g.tools.Command == nil:
		return broken("there is no sandbox to run a command in: install it with `proctor setup sandbox`")
	case g.rootErr != nil:
		return broken("%v", g.rootErr)
	}
	run := CommandRun{Argv: c.Run, Cwd: g.Cwd, Time: c.Timeout}
	if run.Time == 0 {
		run.Time = DefaultCommandTime
	}
	end, err := g.tools.Command(ctx, run)
	if err != nil {
		return broken("command: %v", err)
	}
	f := judgeCommand(c, end, run.Time)
	f.details = map[string]any{"exit_code": end.ExitCode, "output": tail(end.Output, shownOutput)}
	if len(end.Left) > 0 {
		f.details["not_copied"] = end.Left
	}
	return f
}

func judgeCommand(c suite.Command, end CommandEnd, limit time.Duration) finding {
	switch {
	case end.Late:
		return found(false, "not finished after %s", limit)
	case end.Limit != "":
		return found(false, "ended by a limit: %s", end.Limit)
	case end.ExitCode != c.ExitCode:
		return found(false, "exit code %d (expected %d)", end.ExitCode, c.ExitCode)
	case c.Output == nil:
		return found(true, "exit code %d", end.ExitCode)
	}
	f := search(end.Output, "the output", "", c.Output)
	f.reason = fmt.Sprintf("exit code %d, %s", end.ExitCode, f.reason)
	if end.Cut && !f.pass {
		f.reason += ", which was cut"
	}
	return f
}

// tail is the last max characters of s.
func tail(s string, max int) string {
	if runes := []rune(s); len(runes) > max {
		return "…" + string(runes[len(runes)-max:])
	}
	return string([]rune(s))
}
