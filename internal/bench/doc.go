// Package bench has no code but tests, and in package lean what they compare with: it
// measures what the gates, the certificates and the runtime cost, and holds the costs that
// the README and the specification state.
package bench
