package task

// Positions tell where the keys of a TOML text stand, for problems that concern
// what a value means.
type Positions struct{ at *locations }

// PositionsIn finds the keys of a text that the TOML decoder has accepted; in
// another it finds what it can.
func PositionsIn(text string) Positions { return Positions{locate(text)} }

// At is the line and column, from 1, of the first place where a key stands: the
// names of its tables, then its own. For one that is not there it is the nearest
// table's, or 1:1.
func (p Positions) At(keys ...string) (line, col int) {
	for n := len(keys); n > 0; n-- {
		if s, ok := p.at.spans[pathOf(keys[:n]...)]; ok {
			return p.at.position(s.key)
		}
	}
	return 1, 1
}

// Item is At for an item of an array, from 0.
func (p Positions) Item(i int, keys ...string) (line, col int) {
	if s, ok := p.at.spans[itemOf(pathOf(keys...), i)]; ok {
		return p.at.position(s.key)
	}
	return p.At(keys...)
}
