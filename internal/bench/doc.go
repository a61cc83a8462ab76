// Package bench has no code but tests: it measures what the gates, the certificates and
// the runtime cost, and holds the costs that the README and the specification state.
package bench
