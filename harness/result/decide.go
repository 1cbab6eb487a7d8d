package result

// skillsBySymposium is the value of Configuration.Skills of the configurations whose trials must
// also meet the task's expectations.
const skillsBySymposium = "symposium"

// Decide sets Success, Outcome and the grading exclusion of a finished trial from its execution,
// code and expectations, by the two tables of docs/reference/outcomes.md. It is the only place
// that does. Called again after a regrade, it lifts or sets the grading exclusion anew.
//
// A record whose execution or exclusion is not a known one gets no outcome, and Count refuses it.
func (t *Trial) Decide() {
	t.Success, t.Outcome = "", ""
	switch t.Execution {
	case SetupFailure, Cancelled:
		t.Excluded = nil // not started, so there is nothing to exclude
		return
	case Completed, TimedOut, ClientError:
	default:
		return
	}
	if t.Excluded != nil && t.Excluded.Kind == ExcludedGrading {
		t.Excluded = nil // decided anew below
	}
	if t.Excluded != nil {
		return
	}
	if t.Execution != Completed {
		// A failure whatever the code does, also when grading it broke.
		t.settle(Fail)
		return
	}
	code, cause := t.Code.verdict()
	switch {
	case code == Inconclusive:
		t.Excluded = &Exclusion{Kind: ExcludedGrading, Cause: cause}
	case code == Pass && t.Configuration.Skills == skillsBySymposium:
		t.settle(t.Expectations.verdict())
	default:
		t.settle(code)
	}
}

// settle sets Success and the outcome that mirrors it.
func (t *Trial) settle(v Verdict) {
	t.Success, t.Outcome = v, outcomeOf[v]
}

var outcomeOf = map[Verdict]Outcome{Pass: Succeeded, Fail: Failed, Inconclusive: OutcomeInconclusive}

// verdict is the grading's answer: pass, fail, or inconclusive with the reason why the runner has
// none.
func (c *Code) verdict() (v Verdict, cause string) {
	switch {
	case c == nil:
		return Inconclusive, "the submission was not graded"
	case c.InfrastructureError != "":
		return Inconclusive, c.InfrastructureError
	case c.Overall == Pass || c.Overall == Fail:
		return c.Overall, ""
	default:
		return Inconclusive, "the grading gave no verdict"
	}
}

// verdict folds the expectations: fail if any failed, pass if all passed, else inconclusive. What
// was never decided, or is not there, is inconclusive: it must not pass for a pass.
func (e *Expectations) verdict() Verdict {
	all := e.All()
	out := Pass
	if len(all) == 0 {
		out = Inconclusive
	}
	for _, v := range all {
		switch v {
		case Fail, Timeout:
			return Fail
		case Pass:
		default:
			out = Inconclusive
		}
	}
	return out
}

// Judge sets Overall from the single verdicts: pass if all passed, inconclusive if the runner could
// not finish the grading, else fail.
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
