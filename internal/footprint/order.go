package footprint

import "slices"

// decideBefore answers whether every way from the initial phase into q passes p:
// whether p dominates q. It does iff q cannot be reached once p is taken out.
func (m *Model) decideBefore(p, q string) Result {
	start := m.Contract.Phases[0].Name
	if start == p || p == q {
		return Proved{}
	}
	from := map[string]string{start: ""}
	queue := []string{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at == q {
			return Refuted{Route: route(from, q)}
		}
		for _, a := range m.Contract.Phase(at).Arrows {
			if _, known := from[a.To]; !known && a.To != p {
				from[a.To] = at
				queue = append(queue, a.To)
			}
		}
	}
	return Proved{}
}

func route(from map[string]string, to string) []string {
	var out []string
	for at := to; at != ""; at = from[at] {
		out = append(out, at)
	}
	slices.Reverse(out)
	return out
}
