package stats

// PassAt is pass@k: the chance that at least one of k trials succeeds, estimated without bias from s successes in n
// trials: 1 - C(n-s, k) / C(n, k). ok is false when k < 1, when fewer than k trials were made (a smaller k must not pass
// for a larger one) and for impossible counts.
//
// Source: M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374 (2021), equation 1. It is
// computed as they do, as a product, since the binomials themselves overflow.
func PassAt(k, s, n int) (chance float64, ok bool) {
	if k < 1 || k > n || !validArm(s, n) {
		return 0, false
	}
	if k == 1 {
		return float64(s) / float64(n), true // the success rate itself, to the last bit
	}
	return 1 - allOf(k, n-s, n), true
}

// PassHat is pass^k: the chance that all of k trials succeed, estimated without bias from s successes in n trials:
// C(s, k) / C(n, k). ok is as for PassAt.
//
// Source: S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv:2406.12045
// (2024), section 4.
func PassHat(k, s, n int) (chance float64, ok bool) {
	if k < 1 || k > n || !validArm(s, n) {
		return 0, false
	}
	return allOf(k, s, n), true
}

// allOf is the chance that k drawn from n, of which s are marked, are all marked: C(s, k) / C(n, k).
func allOf(k, s, n int) float64 {
	if s < k {
		return 0
	}
	chance := 1.0
	for i := range k {
		chance *= float64(s-i) / float64(n-i)
	}
	return chance
}
