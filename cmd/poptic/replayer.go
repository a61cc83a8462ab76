package main

import (
	"io/fs"
	"path"
	"strings"

	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/footprint/replay"
)

// Limits on the JSON files that are read to find states for a replay.
const (
	maxStateFiles    = 64
	maxStateFileSize = 256 << 10
)

// replayer shows that stages do not commute, from made-up states and from the
// JSON files beside the contract and one folder below it.
func (l *location) replayer() footprint.Replayer {
	return replay.New(replay.Options{Fixtures: func() []string { return stateFiles(l.fs(), path.Dir(l.path)) }})
}

// stateFiles reads what may be states; files that cannot be read are left out.
func stateFiles(from fs.FS, dir string) []string {
	var out []string
	names, _ := fs.Glob(from, path.Join(escaped(dir), "*.json"))
	below, _ := fs.Glob(from, path.Join(escaped(dir), "*", "*.json"))
	for _, name := range append(names, below...) {
		info, err := fs.Stat(from, name)
		if err != nil || info.Size() > maxStateFileSize || len(out) == maxStateFiles {
			continue
		}
		if data, err := fs.ReadFile(from, name); err == nil {
			out = append(out, string(data))
		}
	}
	return out
}

// escaped writes a folder so that a glob takes it as it is.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
