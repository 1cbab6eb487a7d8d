// Command proctor supervises exams for coding agents: it runs tasks with and
// without a skill, in isolation, on the real agent client, and counts.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/proctor-evals/proctor/harness/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	stdout, stderr := report.NewPrinter(os.Stdout), report.NewPrinter(os.Stderr)
	code := run(ctx, os.Args[1:], stdout, stderr)
	if err := errors.Join(stdout.Flush(), stderr.Flush()); err != nil {
		code = max(code, exitRunner)
	}
	stop()
	os.Exit(code)
}
