package task

// Near is the candidate that a typing error may have turned into got, or "".
func Near(got string, candidates []string) string { return closest(got, candidates) }
