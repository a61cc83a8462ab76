package witness

import "iter"

// diagonal enumerates the index vectors below dims, smallest sum first; of one
// sum, those with larger last components first. The vector is only lent.
func diagonal(dims []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		most := 0
		for _, d := range dims {
			if d == 0 {
				return
			}
			most += d - 1
		}
		at := make([]int, len(dims))
		for sum := 0; sum <= most; sum++ {
			if !spread(dims, at, 0, sum, yield) {
				return
			}
		}
	}
}

// spread distributes sum over the components from i on.
func spread(dims, at []int, i, sum int, yield func([]int) bool) bool {
	if i == len(dims) {
		return sum > 0 || yield(at)
	}
	rest := 0
	for _, d := range dims[i+1:] {
		rest += d - 1
	}
	for n := max(0, sum-rest); n < dims[i] && n <= sum; n++ {
		at[i] = n
		if !spread(dims, at, i+1, sum-n, yield) {
			return false
		}
	}
	return true
}
