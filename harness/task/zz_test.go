package task
import "testing"
func TestZZ(t *testing.T){ x,err := LoadAll("../.."); t.Logf("%d\n%v",len(x),err) }
