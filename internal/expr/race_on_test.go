//go:build race

package expr

const raceDetector = true
