package region

// OnlyKeys lists the keys through which words of the set lie strictly below this
// one, if they are a known few; only is false if any key may lead to some. A
// projection then looks these keys up instead of going through all members. The
// order is fixed; a key that is bound to several parameters is listed once.
func (c Cursor) OnlyKeys() (keys []string, only bool) {
	e := c.at.exits()
	if e.other[KeyLetter].isLive() {
		return nil, false
	}
	for i, l := range e.letters {
		if !e.to[i].isLive() {
			continue
		}
		switch l.Kind {
		case KeyLetter:
			keys = append(keys, l.Name)
		case valueLetter:
			keys = append(keys, c.run.values[l.Index])
		}
	}
	return keys, true
}
