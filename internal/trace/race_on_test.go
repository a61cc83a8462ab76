//go:build race

package trace

// underRace tells tests to take fewer cases.
const underRace = true
