package expr

// nearest is the candidate closest to name by edit distance, an adjacent swap
// counting once, or "" if none is close enough to be what was meant.
func nearest(name string, candidates []string) string {
	best, distance := "", len(name)/3+2
	for _, c := range candidates {
		if c == name {
			continue
		}
		if d := editDistance(name, c, distance); d < distance {
			best, distance = c, d
		}
	}
	return best
}

func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
