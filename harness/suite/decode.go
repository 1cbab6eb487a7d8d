package suite

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/task"
)

// The messages are those agent-exam's users know (pydantic's), so that they find them again.
const (
	wantString  = "Input should be a valid string"
	wantList    = "Input should be a valid list"
	wantMap     = "Input should be a valid dictionary"
	wantInteger = "Input should be a valid integer"
	wantBool    = "Input should be a valid boolean"
	wantNumber  = "Input should be a valid number"
	required    = "Field required"
	extra       = "Extra inputs are not permitted"
)

// decoder collects problems.
type decoder struct {
	problems task.Problems
}

func (d *decoder) add(s spot, loc, message, fix string) {
	if loc != "" {
		message = loc + ": " + message
	}
	d.problems = append(d.problems, s.problem(message, fix))
}

// object is a mapping that is being read. A nil one reads as empty: its fault is told already.
type object struct {
	d   *decoder
	v   *value
	loc string // dotted, of the mapping; "" is the file
}

// object wants a mapping with keys among these.
func (d *decoder) object(v *value, loc string, keys ...string) *object {
	o := &object{d, v, loc}
	if v.kind != isMap {
		d.add(v.at, loc, wantMap, "")
		o.v = nil
		return o
	}
	for _, f := range v.fields {
		if _, ok := f.key.(string); !ok {
			d.add(f.at, o.at(f.name), "Keys should be strings", "quote the key")
		} else if !slices.Contains(keys, f.name) {
			fix := "the keys are " + strings.Join(keys, ", ")
			if len(keys) == 0 {
				fix = "remove it"
			}
			if near := task.Near(f.name, keys); near != "" {
				fix = fmt.Sprintf("did you mean %s?", near)
			}
			d.add(f.at, o.at(f.name), extra, fix)
		}
	}
	return o
}

func (o *object) at(key string) string {
	if o.loc == "" {
		return key
	}
	return o.loc + "." + key
}

func (o *object) get(key string) *value {
	if o.v == nil {
		return nil
	}
	return o.v.get(key)
}

// given is a value that is there and not null.
func (o *object) given(key string) *value {
	if v := o.get(key); v != nil && !v.isNull() {
		return v
	}
	return nil
}

// need is a value that must be there; null is one.
func (o *object) need(key string) *value {
	v := o.get(key)
	if v == nil && o.v != nil {
		o.d.add(o.v.at, o.at(key), required, "")
	}
	return v
}

// text wants a string.
func (d *decoder) text(v *value, loc string) (string, bool) {
	s, ok := v.scalar.(string)
	if ok {
		return s, true
	}
	fix := ""
	if t, scalar := pythonText(v.scalar); scalar && v.kind == isScalar && v.scalar != nil {
		fix = fmt.Sprintf("YAML 1.1 reads this as %s: quote it if it is a text", t)
	}
	d.add(v.at, loc, wantString, fix)
	return "", false
}

// filled wants a string that is not blank.
func (d *decoder) filled(v *value, loc string) string {
	s, ok := d.text(v, loc)
	if ok && strings.TrimSpace(s) == "" {
		d.add(v.at, loc, "must be a non-empty string", "")
	}
	return s
}

// optional is a string or "" when it is missing or null.
func (o *object) optional(key string) string {
	if v := o.given(key); v != nil {
		s, _ := o.d.text(v, o.at(key))
		return s
	}
	return ""
}

// note is a string, or nil when it is missing or null.
func (o *object) note(key string) *string {
	v := o.given(key)
	if v == nil {
		return nil
	}
	s, _ := o.d.text(v, o.at(key))
	return &s
}

// requiredText is a string that must be there and not be blank.
func (o *object) requiredText(key string) string {
	if v := o.need(key); v != nil {
		return o.d.filled(v, o.at(key))
	}
	return ""
}

// list wants a list; of a missing key there is none.
func (o *object) list(key string) []*value {
	v := o.get(key)
	if v == nil {
		return nil
	}
	if v.kind != isList {
		o.d.add(v.at, o.at(key), wantList, "")
		return nil
	}
	return v.items
}

// texts wants a list of strings. A missing key is nil; a list is never nil.
func (o *object) texts(key string) []string {
	v := o.get(key)
	if v == nil {
		return nil
	}
	out := []string{}
	for i, item := range o.list(key) {
		if s, ok := o.d.text(item, fmt.Sprintf("%s[%d]", o.at(key), i)); ok {
			out = append(out, s)
		}
	}
	return out
}

// optionalTexts is texts that may be null.
func (o *object) optionalTexts(key string) []string {
	if o.given(key) == nil {
		return nil
	}
	return o.texts(key)
}

// integer reads as pydantic does, but for booleans, which are no numbers here: 300, "300", 300.0.
func (o *object) integer(key string, least, def int) int {
	v := o.get(key)
	if v == nil {
		return def
	}
	n, ok := wholeNumber(v.scalar)
	switch {
	case v.kind != isScalar || !ok:
		o.d.add(v.at, o.at(key), wantInteger, "")
		return def
	case n < least && least == 1:
		o.d.add(v.at, o.at(key), "Input should be greater than 0", "")
	case n < least:
		o.d.add(v.at, o.at(key), fmt.Sprintf("Input should be greater than or equal to %d", least), "")
	}
	return n
}

// maxWhole bounds every number of the files: a billion seconds, times, or turns is no bound.
const maxWhole = 1_000_000_000

func wholeNumber(v any) (int, bool) {
	switch n := v.(type) {
	case *big.Int:
		return int(n.Int64()), n.IsInt64() && n.Int64() <= maxWhole && n.Int64() >= -maxWhole
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) <= maxWhole
	case string:
		i, err := strconv.Atoi(strings.TrimSpace(n))
		return i, err == nil && i <= maxWhole && i >= -maxWhole
	}
	return 0, false
}

// strictInteger takes integers only, from least on; nil when it is missing or null.
func (o *object) strictInteger(key string, least int) *int {
	v := o.given(key)
	if v == nil {
		return nil
	}
	big, ok := v.scalar.(*big.Int)
	n, small := wholeNumber(v.scalar)
	switch {
	case !ok || !small:
		o.d.add(v.at, o.at(key), wantInteger, "")
		return nil
	case big.Sign() < 0 || n < least:
		o.d.add(v.at, o.at(key), fmt.Sprintf("Input should be greater than or equal to %d", least), "")
		return nil
	}
	return &n
}

// number is an integer or a float above zero, or from zero on; 0 when it is missing or null.
func (o *object) number(key string, zero bool) float64 {
	v := o.given(key)
	if v == nil {
		return 0
	}
	var f float64
	switch n := v.scalar.(type) {
	case *big.Int:
		f, _ = new(big.Float).SetInt(n).Float64()
	case float64:
		f = n
	case bool:
		o.d.add(v.at, o.at(key), "must be a number, not a bool", "")
		return 0
	case string:
		o.d.add(v.at, o.at(key), "must be a number, not a string", "remove the quotes")
		return 0
	default:
		o.d.add(v.at, o.at(key), wantNumber, "")
		return 0
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f > maxWhole:
		o.d.add(v.at, o.at(key), wantNumber, fmt.Sprintf("at most %d", maxWhole))
		return 0
	case f < 0 && zero:
		o.d.add(v.at, o.at(key), "Input should be greater than or equal to 0", "")
		return 0
	case f <= 0 && !zero:
		o.d.add(v.at, o.at(key), "Input should be greater than 0", "")
		return 0
	}
	return f
}

// seconds is a duration above zero, or 0 when it is missing or null.
func (o *object) seconds(key string) time.Duration {
	return time.Duration(o.number(key, false) * float64(time.Second))
}

// strictBool takes booleans only.
func (o *object) strictBool(key string, def bool) bool {
	v := o.get(key)
	if v == nil {
		return def
	}
	b, ok := v.scalar.(bool)
	if !ok {
		o.d.add(v.at, o.at(key), wantBool, "write true or false without quotes")
	}
	return b
}

// boolean reads as pydantic does, also "yes", "off" and 1; nil when it is missing or null.
func (o *object) boolean(key string) *bool {
	v := o.given(key)
	if v == nil {
		return nil
	}
	text, _ := pythonText(v.scalar)
	yes := true
	switch strings.ToLower(text) {
	case "true", "1", "1.0", "t", "yes", "y", "on":
	case "false", "0", "0.0", "f", "no", "n", "off":
		yes = false
	default:
		o.d.add(v.at, o.at(key), wantBool, "")
		return nil
	}
	return &yes
}

// choice wants one of these strings; "" when it is missing or null.
func (o *object) choice(key string, choices ...string) string {
	v := o.given(key)
	if v == nil {
		return ""
	}
	return o.d.choice(v, o.at(key), choices...)
}

func (d *decoder) choice(v *value, loc string, choices ...string) string {
	s, ok := d.text(v, loc)
	if ok && !slices.Contains(choices, s) {
		d.add(v.at, loc, fmt.Sprintf("Input should be '%s'", strings.Join(choices, "' or '")), "")
	}
	return s
}
