package suite

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A plain scalar of YAML 1.1, as PyYAML's safe loader resolves it (resolver.py, constructor.py):
// what agent-exam's files mean is what that loader reads. The YAML library resolves by 1.2's rules.
var (
	yamlFloat = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	yamlInt   = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	yamlTime  = regexp.MustCompile(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)
	timeParts = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?(?:[ \t]*(?:(Z)|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?$`)
)

// maxDigits bounds a number: longer ones take quadratic time, and Python refuses them from 4300 on.
const maxDigits = 4000

// stamp is a date, or a date with a time, as Python prints it.
type stamp string

// scalar is the value of a plain scalar: nil, bool, *big.Int, float64, stamp or string.
func scalar(s string) (any, error) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, nil
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, nil
	case "=", "<<":
		return nil, fmt.Errorf("a plain %s has no value in YAML 1.1; quote it", s)
	}
	switch {
	case len(s) > maxDigits:
		return s, nil
	case yamlFloat.MatchString(s):
		return float(s)
	case yamlInt.MatchString(s):
		return integer(s)
	case yamlTime.MatchString(s):
		return timestamp(s)
	}
	return s, nil
}

// sign cuts the sign off.
func sign(s string) (rest string, negative bool) {
	return strings.TrimLeft(s, "+-"), strings.HasPrefix(s, "-")
}

func integer(s string) (any, error) {
	digits, negative := sign(strings.ReplaceAll(s, "_", ""))
	n, ok := new(big.Int), true
	switch {
	case digits == "0":
	case strings.HasPrefix(digits, "0b"):
		_, ok = n.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		_, ok = n.SetString(digits[2:], 16)
	case strings.HasPrefix(digits, "0"):
		_, ok = n.SetString(digits, 8)
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			d, good := new(big.Int).SetString(part, 10)
			if ok = ok && good; !ok {
				break
			}
			n.Add(n.Mul(n, big.NewInt(60)), d)
		}
	default:
		_, ok = n.SetString(digits, 10)
	}
	if !ok {
		return nil, fmt.Errorf("%q is not a number; quote it if it is a text", s)
	}
	if negative {
		n.Neg(n)
	}
	return n, nil
}

func float(s string) (any, error) {
	digits, negative := sign(strings.ToLower(strings.ReplaceAll(s, "_", "")))
	var f float64
	switch {
	case digits == ".inf":
		f = math.Inf(1)
	case digits == ".nan":
		return math.NaN(), nil
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			d, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number; quote it if it is a text", s)
			}
			f = f*60 + d
		}
	default:
		var err error
		// An overflow is infinity, as in Python.
		if f, err = strconv.ParseFloat(digits, 64); err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("%q is not a number; quote it if it is a text", s)
		}
	}
	if negative {
		f = -f
	}
	return f, nil
}

func timestamp(s string) (any, error) {
	m := timeParts.FindStringSubmatch(s)
	if m == nil {
		return s, nil
	}
	n := func(i int) int {
		v, _ := strconv.Atoi(m[i]) // at most four digits, or empty
		return v
	}
	day := time.Date(n(1), time.Month(n(2)), n(3), 0, 0, 0, 0, time.UTC)
	if n(1) < 1 || int(day.Month()) != n(2) || day.Day() != n(3) || n(4) > 23 || n(5) > 59 || n(6) > 59 || n(10) > 23 || n(11) > 59 {
		return nil, fmt.Errorf("%q is not a date; quote it if it is a text", s)
	}
	text := day.Format("2006-01-02")
	if m[4] == "" {
		return stamp(text), nil
	}
	text += fmt.Sprintf(" %02d:%02d:%02d", n(4), n(5), n(6))
	if fraction := (m[7] + "000000")[:6]; fraction != "000000" {
		text += "." + fraction
	}
	switch {
	case m[8] != "":
		text += "+00:00"
	case m[9] != "" && n(10) == 0 && n(11) == 0:
		text += "+00:00"
	case m[9] != "":
		text += fmt.Sprintf("%s%02d:%02d", m[9], n(10), n(11))
	}
	return stamp(text), nil
}

// pythonText is str() of a scalar in Python, and whether v is one.
func pythonText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "None", true
	case string:
		return v, true
	case stamp:
		return string(v), true
	case bool:
		if v {
			return "True", true
		}
		return "False", true
	case *big.Int:
		return v.String(), true
	case float64:
		return pythonFloat(v), true
	}
	return "", false
}

// pythonFloat is repr() of a float: the shortest digits, with an exponent below -4 and from 16 on.
func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		if f < 0 {
			return "-inf"
		}
		return "inf"
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, e, _ := strings.Cut(scientific, "e")
	if exponent, _ := strconv.Atoi(e); exponent < -4 || exponent >= 16 {
		return scientific
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}
