package result

// Decide sets Success, Outcome and the grading exclusion of a finished trial from its execution,
// code and expectations, by the two tables of docs/reference/outcomes.md. It is the only place
// that does.
func (t *Trial) Decide() {
	t.Success, t.Outcome = "", ""
	switch t.Execution {
	case SetupFailure, Cancelled:
		t.Excluded = nil // not started, so there is nothing to exclude
		return
	}
	if t.Excluded != nil && t.Excluded.Kind == ExcludedGrading {
		t.Excluded = nil // decided anew below, so that a regrade can lift it
	}
	if t.Excluded != nil {
		return
	}
	infra := t.Code == nil || t.Code.InfrastructureError != ""
	switch {
	case t.Execution != Completed:
		// A timeout or client error is a failure whatever the code does, also when grading it broke.
		t.fail()
	case infra:
		cause := "the submission was not graded"
		if t.Code != nil {
			cause = t.Code.InfrastructureError
		}
		t.Excluded = &Exclusion{Kind: ExcludedGrading, Cause: cause}
	case t.Code.Overall != Pass:
		t.fail()
	default:
		t.Success, t.Outcome = Pass, Succeeded
		for _, v := range t.Expectations.All() {
			switch v {
			case Fail:
				t.fail()
				return
			case Inconclusive:
				t.Success, t.Outcome = Inconclusive, OutcomeInconclusive
			}
		}
	}
}

func (t *Trial) fail() { t.Success, t.Outcome = Fail, Failed }

// Judge sets Overall from the single verdicts.
func (c *Code) Judge() {
	c.Overall = Pass
	verdicts := []Verdict{c.Build, c.CargoTestLib}
	for _, v := range c.Hidden {
		verdicts = append(verdicts, v)
	}
	if c.CargoFmtCheck != nil {
		verdicts = append(verdicts, *c.CargoFmtCheck)
	}
	for _, v := range verdicts {
		if v != Pass {
			c.Overall = Fail
		}
	}
	if len(c.InvalidSubmission) > 0 {
		c.Overall = Fail
	}
	if c.InfrastructureError != "" {
		c.Overall = Inconclusive
	}
}
