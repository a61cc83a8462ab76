package runtime

import "unicode/utf8"

// A Principal is who acts: the person or program that the host knows, where a role says
// only what for. The host gives it with every request, and the record of the request has
// it, as it was given. Nothing in it is secret: an auditor reads it. All of it may be
// empty; the tries of a step are counted for each Subject (see DefaultAttempts).
type Principal struct {
	Subject  string `json:"subject,omitempty"`   // the person or program
	Token    string `json:"token,omitempty"`     // the name of what it showed to prove that; never the token itself
	OnBehalf string `json:"on_behalf,omitempty"` // whom it acts for
}

// Check checks length and encoding of p's texts, as CheckGiven does of others that a
// host gives. The error is a *TooLongError or a *NotTextError.
func (p Principal) Check() error {
	for _, given := range [...]struct{ what, text string }{{"subject", p.Subject}, {"token", p.Token}, {"on behalf", p.OnBehalf}} {
		if len(given.text) > MaxGiven {
			return &TooLongError{given.what, MaxGiven}
		}
		if !utf8.ValidString(given.text) {
			return &NotTextError{given.what}
		}
	}
	return nil
}

// first is the principal that was given, if one was.
func first[T any](some []T) (x T) {
	if len(some) > 0 {
		x = some[0]
	}
	return x
}
