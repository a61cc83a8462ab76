// Package spell finds the name that was meant by one that does not exist.
package spell

import "strings"

// Nearest returns the candidate closest to name by edit distance (an adjacent
// swap counts once), or "" if none is close enough to be what was meant. Of a name of one
// letter the same letter in other case is.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1 // one edit for every three letters
	for _, c := range candidates {
		if c == name {
			continue
		}
		if len(name) == 1 && !strings.EqualFold(name, c) {
			continue
		}
		if d := editDistance(name, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance is the optimal-string-alignment distance of a and b, cut off at limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}
