package sqlite_test

import (
	"flag"
	"testing"
)

// long runs the tests of this package at their full size also where that takes
// minutes.
var long = flag.Bool("long", false, "run at full size")

// size is how large a test is: at full size, in a usual run, in a short one or with
// the race detector.
func size(full, usual, short int) int {
	switch {
	case *long:
		return full
	case raced || testing.Short():
		return short
	}
	return usual
}
