package evals_test

import (
	"testing"

	"github.com/proctor-evals/proctor/harness/evaltest"
)

func TestEval(t *testing.T) { evaltest.Run(t) }
