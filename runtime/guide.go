package runtime

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/guide"
	"github.com/patchoptic/poptic/internal/tree"
)

// What an actor must know to write a proposal that is accepted.
type (
	// A Guide is all that an actor has to be told beside its view. It follows from the contract,
	// the request and the view. Its fields are
	//
	//	Task        string           // what the contract says of the stage, or a sentence made from what it may do
	//	Arguments   []GuideArgument  // what its parameters are bound to
	//	Places      []Place          // where it may write
	//	Omitted     int              // places that are not listed, beyond 100
	//	Takes       []string         // the places that it may copy and move from
	//	Types       []NamedShape     // the shapes that others name
	//	Produce     []string         // the places that must be there afterwards
	//	Conditions  []string         // what judges it, as far as the actor may know of it
	//	Next        []string         // phases to go on to; of several, the answer names one
	//	Example     json.RawMessage  // a patch that passes format, scope and schema on this view
	//	Guesses     bool             // but for keys in it of containers that the view does not show
	//	Attempts    int              // the tries of a step; 0 where the stage does not say
	Guide = guide.Guide

	// A GuideArgument is what a parameter is bound to. Its fields are Name, Value and
	// Meaning, what the contract says of the value, or under which condition a key is bound.
	GuideArgument = guide.Argument

	// A Place is somewhere a patch may write: there and, if something stands there, below.
	// Its fields are
	//
	//	Path     string           // a JSON Pointer, with the tokens of Keys to be replaced
	//	Keys     []PlaceKeys      // for each token that stands for many, in their order
	//	Ops      []string         // of add, replace and remove
	//	Exists   bool             // something is there
	//	Shape    Shape            // what may be put there
	//	Except   []string         // places among these that may not be written
	//	Doc      string           // what the contract says of it
	//	Example  json.RawMessage  // a value that fits, nil if none was found
	//	Guesses  bool             // it has made-up keys of containers that the view does not show
	Place = guide.Place

	// PlaceKeys says what a token of a path, such as <key>, stands for. Its fields are
	//
	//	Token  string    // as it stands in the path
	//	Of     string    // the container that it is a key, or a position, of
	//	Known  []string  // those that the view shows, as a pointer writes them; at most 20
	//	New    bool      // one that is not there yet is possible
	//	Fresh  string    // one that is not there, where not any text is one; else empty
	PlaceKeys = guide.Keys

	// A Shape says what a value may be. Its fields are
	//
	//	Kind          ShapeKind        // says which of the others are set
	//	Name          string           // of a named one, which Guide.Types describes
	//	Literal       json.RawMessage  // the only value
	//	Alternatives  []Shape          // of a union
	//	Of            *Shape           // of entries or elements
	//	KeyField      string           // of a keyed list: the member that equals the key of its entry
	//	Members       []ShapeMember    // of a record
	//	Rest          *Shape           // of a record that may have other members
	//	Target        string           // of a key: the container whose keys are meant
	//	Doc           string           // of a literal: what the contract says of it
	//	Where         []string         // what else must hold of it
	Shape = guide.Shape

	// A ShapeMember is one of a record. Its fields are Name, Optional, Shape and Doc.
	ShapeMember = guide.Member

	// A NamedShape is a shape that others name. Its fields are Name and Shape.
	NamedShape = guide.NamedShape

	// A ShapeKind is a form of values: "string", "number", "int", "bool", "null", "any", "literal",
	// "union", "map", "list", "set", "log", "keyed" (a list whose entries go by key, as an object),
	// "key" (a reference), "record", or "named".
	ShapeKind = guide.ShapeKind
)

// Guide tells what an actor must know beside a view that it was shown for a request. Errors: an
// *UnknownStageError, or that Value is no JSON. It costs about what the view does.
func (c *Contract) Guide(r Request, v View) (Guide, error) {
	if c.ir.Stage(r.Stage) == nil {
		return Guide{}, &UnknownStageError{Name: r.Stage}
	}
	seen, err := tree.Parse(v.Value, c.limits.State)
	if err != nil {
		return Guide{}, fmt.Errorf("the view cannot be read: %w", err)
	}
	return guide.Of(c.program, guide.Request{Stage: r.Stage, Phase: v.Phase, Args: r.Args}, seen), nil
}

// AttemptsLeft is how many more proposals of a step may be refused, as far as this process has
// read the log: of who asks, in a stage, a role and with arguments, until the next commit. limited
// is false if there is no end.
func (in *Instance) AttemptsLeft(r Request) (left int, limited bool) {
	step := in.stepOf(r.Principal.Subject, r.Stage, r.Role, r.Args)
	in.mu.Lock()
	defer in.mu.Unlock()
	most := in.most(r.Stage)
	return max(most-in.known.attempts.of(step).used, 0), most > 0
}

// ExamplePath is a JSON Pointer to a place: its path, with keys that there are in the place of
// its tokens, or a new one where there is none.
func ExamplePath(p *Place) string { return guide.ExamplePath(p) }
