// Package tree is the immutable JSON tree that states, views, patches and their
// values are made of, with RFC 6901 pointers and a strict RFC 6902 interpreter
// on it. It reads and writes JSON but knows nothing of contracts.
//
// The concepts, and where they enter:
//
//   - Node: one JSON value, immutable, sharing structure with the versions before
//     and after it. Parse reads one, the New functions build one, the editing
//     methods (With, Without, SetAt, InsertAt, DeleteAt) return a changed copy in
//     O(log n). A nil *Node is an absent value. Node implements ir.Value.
//   - Order: whether the order of an array's elements has a meaning. Sets and logs
//     are multisets to Equal and Digest.
//   - Digest: a SHA-256 Merkle digest that is equal exactly for equal values,
//     remembered per chunk, so that after an edit only the touched path is hashed.
//   - Fold, Map, Bag, Memo: what is derived from a value and remembered on its
//     chunks (memo.go). A Fold merges what the items of a container come to, Map makes
//     another container of it, a Bag counts keys; each is computed again, for the
//     next version, along the touched path alone. AppendRemembered does so for bytes.
//     Nothing that is remembered keeps a version alive that nobody else keeps.
//   - Limits: bounds on what is read and on what a patch may produce.
//   - Pointer, Op, Patch, Problem: a patch is parsed and checked whole by
//     ParsePatch, in one pass where it is as usual (scan.go). Resolve tells what an
//     operation reads and writes without running it, Apply runs one, ApplyAll a patch.
//     What is wrong is a Problem: it names the code, the operation and the path as
//     written, and never a value.
//   - Edit: what a patch runs in. It copies each chunk once, and changes in place what
//     nobody else has seen (edit.go).
//   - Diff and MergePatch make RFC 6902 patches out of two versions, or out of an
//     RFC 7396 merge patch.
//
// # Containers
//
// The members of an object, in ascending order of names, and the elements of an
// array sit in a tree of chunks (chunk.go, object.go). Where a chunk of an object ends
// is a function of the content alone, never of the history of edits. Two equal objects
// therefore have equal chunk trees, which is what lets a plain hash of the chunks be
// the digest of the value. Chunks of an array end where edits left them (array.go).
package tree
