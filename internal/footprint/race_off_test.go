//go:build !race

package footprint_test

const slow = false
