package ir

// A Hypothesis is what a claim assumes of the parameters of its two runs: that two of
// them differ, or all or any of several hypotheses. One field is set.
type Hypothesis struct {
	Differ *Difference  `json:"differ,omitempty"`
	All    []Hypothesis `json:"all,omitempty"`
	Any    []Hypothesis `json:"any,omitempty"`
}

// A Difference says that a parameter of the first run is not one of the second.
type Difference struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

// Holds evaluates a hypothesis, given which parameters differ; nil always holds.
func (h *Hypothesis) Holds(differ func(first, second string) bool) bool {
	switch {
	case h == nil:
		return true
	case h.Differ != nil:
		return differ(h.Differ.First, h.Differ.Second)
	case len(h.Any) > 0:
		for i := range h.Any {
			if h.Any[i].Holds(differ) {
				return true
			}
		}
		return false
	}
	for i := range h.All {
		if !h.All[i].Holds(differ) {
			return false
		}
	}
	return true
}

// isWhole reports whether exactly one field is set, here and below.
func (h *Hypothesis) isWhole() bool {
	parts := append(h.All[:len(h.All):len(h.All)], h.Any...)
	for i := range parts {
		if !parts[i].isWhole() {
			return false
		}
	}
	if h.Differ != nil {
		return len(parts) == 0
	}
	return len(h.All) > 0 != (len(h.Any) > 0)
}
