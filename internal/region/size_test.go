//go:build !race

package region

const raceDetector = false
