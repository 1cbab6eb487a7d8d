package stats

import "math"

// Mean is the arithmetic mean of values. ok is false for no values, and when a value or the sum is not a finite number:
// such a mean has no JSON form, and a wrong measurement must not pass for a number.
func Mean(values []float64) (mean float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, false
	}
	return sum / float64(len(values)), true
}

// MeanInterval is the two-sided 95 % t-interval of the mean of values, in their unit; lo <= mean <= hi. ok is false with
// fewer than two values, from which no spread can be seen, and where Mean or the spread is not finite.
//
// It is exact for values that are normally distributed. Times and token counts lean to the right, so with few trials it
// is a guide to the size of the noise and no test.
//
// Source: Student, "The probable error of a mean", Biometrika 6 (1908) 1-25.
func MeanInterval(values []float64) (lo, hi float64, ok bool) {
	mean, ok := Mean(values)
	n := len(values)
	if !ok || n < 2 {
		return 0, 0, false
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := T975(n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
	if lo, hi = mean-half, mean+half; math.IsInf(lo, 0) || math.IsInf(hi, 0) || math.IsNaN(half) {
		return 0, 0, false
	}
	return lo, hi, true
}

// manyDegrees is where the expansion of the t quantile is exact to the tenth digit.
const manyDegrees = 1000

// T975 is the 97.5 % quantile of Student's t distribution, for two-sided 95 % intervals; NaN for less than one degree of
// freedom.
//
// Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964): 26.7.3 and 26.7.4, the finite
// sums for whole degrees of freedom, inverted by bisection; above manyDegrees the expansion 26.7.5.
func T975(degrees int) float64 {
	if degrees < 1 {
		return math.NaN()
	}
	if degrees > manyDegrees {
		const z = z95
		const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
		v := float64(degrees)
		return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) + (3*z7+19*z5+17*z3-15*z)/(384*v*v*v)
	}
	lo, hi := 0.0, 13.0 // the largest, for one degree, is 12.706
	for range 60 {
		if mid := (lo + hi) / 2; within(mid, degrees) < 0.95 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// within is the chance that a t variable lies between -t and t.
func within(t float64, degrees int) float64 {
	sin, cos := math.Sincos(math.Atan(t / math.Sqrt(float64(degrees))))
	if degrees%2 == 0 {
		sum, term := 1.0, 1.0
		for i := 2; i <= degrees-2; i += 2 {
			term *= float64(i-1) / float64(i) * cos * cos
			sum += term
		}
		return sin * sum
	}
	angle := math.Atan2(sin, cos)
	if degrees == 1 {
		return 2 / math.Pi * angle
	}
	sum, term := cos, cos
	for i := 3; i <= degrees-2; i += 2 {
		term *= float64(i-1) / float64(i) * cos * cos
		sum += term
	}
	return 2 / math.Pi * (angle + sin*sum)
}
