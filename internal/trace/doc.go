// Package trace is the record of what happened to an instance, written for
// auditors: one JSON line for every view, proposal, decision and move, each line
// hash-chained to the one before.
//
// A line and what it seals. Every record of an instance's log has two parts. The
// line holds what an auditor may read. What must not be read without authority
// over the state — the patch as it arrived, the initial state — is sealed: kept
// beside the line in the log, and bound to it by an HMAC-SHA256 in the member
// "seal". A trace is the log without the sealed parts, so log and trace have one
// and the same chain: an auditor's file can be compared with the log by the hash
// of its last line.
//
// Secrets. In the line, every value that belongs to a secret type, and every value
// whose place in the state cannot be told, is replaced by an HMAC under a key that
// each instance draws for itself and keeps in the sealed part of its first record.
// Equal values of one instance have equal HMACs, so an auditor can follow a secret
// without knowing it; across instances they cannot be compared. What was replaced
// is listed in "redacted", not recognised by its looks. Digests of states and views
// are under the key too: a secret may be short enough to be guessed, and a hash of
// what holds it would tell whether a guess is right. For the same reason sizes are
// rounded, and messages about the text of a patch are replaced. The hashes of the
// chain are plain; they are over lines, which hold no secret.
//
// The chain. "prev" is the hash of the line before, Origin for the first line.
// "hash" is the last member; it is the SHA-256 of the line's bytes up to the comma
// before "hash", followed by "}". A line that was changed, removed, repeated or
// moved breaks the chain there. Two things the chain alone cannot tell: that lines
// are missing at the end, and that all lines were written anew. Both show when
// Head, which Verify returns, is compared with one known from elsewhere.
//
// Entry points: Record and Seal write, Redactor replaces secrets, Verify checks a
// trace (Scan also shows its lines), CheckRecord one record of a log with its
// sealed part, Write renders a log.
package trace
