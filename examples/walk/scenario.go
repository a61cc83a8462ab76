// Package walk runs an example from its first state to its last: a scenario is a
// list of steps, each a proposal or a move of the host, with the verdict that is
// expected of it. Read loads a scenario, Run walks it through the runtime and
// returns what happened; telling it is the caller's matter.
package walk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
)

// FileName is the name of a scenario in an example's folder.
const FileName = "walk.json"

// A Scenario is the content of a walk.json.
type Scenario struct {
	Title string `json:"title"`
	About string `json:"about"`
	Steps []Step `json:"steps"`
}

// A Step is one thing an actor or the host does. Exactly one of Stage and Advance
// is set; a stage's proposal is Patch or the content of PatchFile.
type Step struct {
	Say       string            `json:"say"` // what happens, for the reader
	Stage     string            `json:"stage"`
	Args      map[string]string `json:"args"`
	Role      string            `json:"role"`
	Phase     string            `json:"phase"` // the phase the instance must be in, if given
	Patch     json.RawMessage   `json:"patch"`
	PatchFile string            `json:"patch_file"`
	Next      string            `json:"next"`
	Advance   string            `json:"advance"` // the host moves to this phase
	ShowView  bool              `json:"show_view"`

	Expect string `json:"expect"` // commit, noop or reject
	Gate   string `json:"gate"`   // of a reject: the gate of one of its violations
	Code   string `json:"code"`   // of a reject: that violation's code
}

// Read loads the scenario in the folder dir of fsys and the patches it refers to.
// Unknown members are errors, so that a misspelt expectation is not passed over.
func Read(fsys fs.FS, dir string) (*Scenario, error) {
	name := path.Join(dir, FileName)
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var s Scenario
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range s.Steps {
		if err := s.Steps[i].complete(fsys, dir); err != nil {
			return nil, fmt.Errorf("%s, step %d: %w", name, i+1, err)
		}
	}
	return &s, nil
}

// complete checks the step's shape and loads its patch.
func (s *Step) complete(fsys fs.FS, dir string) error {
	switch {
	case (s.Stage == "") == (s.Advance == ""):
		return fmt.Errorf("it needs either a stage or an advance")
	case s.Expect != "commit" && s.Expect != "noop" && s.Expect != "reject":
		return fmt.Errorf("it expects %q, which is no verdict", s.Expect)
	case s.Stage != "" && (s.Patch == nil) == (s.PatchFile == ""):
		return fmt.Errorf("it needs either a patch or a patch_file")
	case s.PatchFile == "":
		return nil
	}
	patch, err := fs.ReadFile(fsys, path.Join(dir, s.PatchFile))
	s.Patch = patch
	return err
}
