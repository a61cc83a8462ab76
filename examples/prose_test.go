package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
)

// readBack is a contract as prose, without its digest, which tells every two contracts apart.
func readBack(t *testing.T, c *ir.Contract) string {
	t.Helper()
	d, err := explain.Prose(c)
	require.NoError(t, err)
	return strings.ReplaceAll(d.Markdown(), c.Digest(), "DIGEST")
}

// TestTheExamplesReadBackAsProse compares what reviewers of the examples read with what is
// kept. POPTIC_UPDATE=1 writes it anew.
func TestTheExamplesReadBackAsProse(t *testing.T) {
	names := append(examples.Names(), "embed")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c := compiledExample(t, name)
		got := readBack(t, c)
		file := filepath.Join("testdata", "prose", name+".md")
		if os.Getenv("POPTIC_UPDATE") != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "%s is out of date", file)
		decoded, err := ir.Decode(ir.Encode(c))
		require.NoError(t, err)
		require.Equal(t, got, readBack(t, decoded), "a contract reads otherwise once it is stored")
	}
}

func compiledExample(t *testing.T, name string) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("."), Path: name + "/contract.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, name)
	return out.Contract
}

// spoken are the parts of a contract of which the prose has to speak, by what has them.
// Stages and phases are left out: what else names them would have nothing to name.
var spoken = map[string][]string{
	"Contract":  {"Doc", "Sealed", "Secrets", "Measures", "Invariants", "Compositions", "Claims"},
	"Phase":     {"Doc", "Arrows"},
	"Arrow":     {"ByHost", "Guard"},
	"Measure":   {"Doc", "Where"},
	"Invariant": {"Doc", "Message", "Together"},
	"Param":     {"Where"},
	"Expr":      {"Message", "Name"},
	"Stage": {
		"Doc", "From", "Values", "In", "By", "Read", "Write", "Rights", "Blind", "Source", "Delegable", "HasDelegable",
		"Require", "Ensure", "Produce", "Next", "After", "Attempts", "Gates", "DisclosesPhase",
	},
	"Grant":  {"Include", "Except"},
	"Type":   {"Members", "Alternatives", "Where", "Secret"},
	"Member": {"Doc", "Optional"},
}

// aLoss takes one part from a contract.
type aLoss struct {
	what string
	take func()
}

// losses lists what can be lost of a value and of what is in it, at the place at.
func losses(v reflect.Value, at string) (out []aLoss) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out = losses(v.Elem(), at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, losses(v.Index(i), fmt.Sprintf("%s[%d]", at, i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, f := v.Type().Field(i).Name, v.Field(i)
			place := at + "." + name
			isSpoken := slices.Contains(spoken[v.Type().Name()], name)
			switch {
			case isSpoken && name == "Rights": // less said is more allowed
				for j := range f.Len() {
					if right := f.Index(j); right.Interface() != ir.AllRights {
						out = append(out, aLoss{fmt.Sprintf("%s[%d]", place, j), func() { right.Set(reflect.ValueOf(ir.AllRights)) }})
					}
				}
			case isSpoken && f.Kind() == reflect.Slice:
				for j := range f.Len() {
					if g, ok := f.Index(j).Interface().(ir.Gate); ok && isClause(g) {
						continue
					}
					out = append(out, aLoss{fmt.Sprintf("%s[%d]", place, j), func() {
						drop(f, j)
						if rights := v.FieldByName("Rights"); name == "Write" && rights.Len() > 0 {
							drop(rights, j)
						}
					}})
				}
			case name == "HasDelegable" && v.FieldByName("Delegable").Len() > 0: // it says no more than that
			case isSpoken && !f.IsZero():
				out = append(out, aLoss{place, func() { f.SetZero() }})
			}
			if name != "Claims" && name != "Parts" {
				out = append(out, losses(f, place)...)
			}
		}
	}
	return out
}

// isClause reports whether a gate is a clause of its stage all of which the actor sees: the
// prose speaks of the clause.
func isClause(g ir.Gate) bool {
	return g.Visibility == ir.Seen && slices.Contains([]ir.GateKind{ir.BindGate, ir.RequireGate, ir.EnsureGate, ir.ProduceGate}, g.Kind)
}

func drop(slice reflect.Value, i int) {
	slice.Set(reflect.AppendSlice(slice.Slice3(0, i, i), slice.Slice(i+1, slice.Len())))
}

// withoutSpares empties the types that neither the state nor what hosts give has: nothing is
// said of them.
func withoutSpares(c *ir.Contract) {
	used := map[*ir.Type]bool{}
	mark := func(t *ir.Type) bool {
		used[t] = true
		return false
	}
	c.Holds(c.State, mark)
	for _, s := range c.Stages {
		for _, v := range s.Values {
			c.Holds(v.Type, mark)
		}
	}
	for i := range c.Types {
		if t := c.Type(ir.TypeID(i)); i > 0 && !used[t] {
			*t = ir.Type{Kind: ir.AnyType}
		}
	}
}

// everything is a contract that has one of all that the examples have not.
const everything = `
# All of it.
contract everything sealed
phases {
  # Where it begins.
  open -> closed by host, done when { state.m.size() > 0 }
  closed
  done
}
type Item {
  # How it is called.
  name: string where "short" { size(self) < 9 }
  note?: secret string
  kind:
      # like this
      "a"
    | "b"
  refs: set of key of /m
  n: int
}
state { m: map of Item  l: list of { id: string  v: decimal } by id  log: log of string  free: any }
# How many.
measure count_b = count /m/* where { self.kind == "b" }
# Kept few.
invariant few "few" { count_b < 9 }
invariant apart unique /m/*/name, /m/*/kind
change grows each k, x in /m/* "it grows" { after.n >= before.n && k != "" }
stage add(x new in /m, said: Item2) {
  in open  by clerk, boss  write create /m/{x}, /log/-  attempts 2
  ensure it "it is what was said" { after.m[x].n == said.n }
  discloses apart, few, /m/*/refs/*
}
type Item2 { n: int }
# Change one.
stage edit(x in /m where "yours" { state.m[x].name == actor }, r in /m/{x}/refs) {
  in open  read /m/{x} except (secrets, /m/{x}/kind), /m/{r}/name, /l  write update, create /m/{x}/n, /l  source /m/{x}/n
  require { before.m[x].n > 0 }  produce /m/{x}/n  after add  delegable /m/{x}/(n|name)}
stage put(x in /m) { in open  write blind /free/"x", delete /m/{x}/note  read /m/{x}/note, /free  by boss }
stage close { in open  by boss  read /m/*/n  next closed, done  discloses phase }
delegate less from edit { read /m/{x}/n  write update /m/{x}/n  source /m/{x}/n  by boss  discloses where x }
compose both = add + edit
prove no stage except put, edit reads secrets
prove less within edit
`

// TestNothingOfAContractIsLeftOutOfItsProse takes from contracts one part at a time: the
// prose of what is left is another.
func TestNothingOfAContractIsLeftOutOfItsProse(t *testing.T) {
	files := fstest.MapFS{"c.poptic": {Data: []byte(everything)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	contracts := []*ir.Contract{out.Contract}
	if !testing.Short() {
		contracts = append(contracts, compiledExample(t, "support"))
	}
	for _, c := range contracts {
		withoutSpares(c)
		encoded := ir.Encode(c)
		whole := readBack(t, c)
		for _, s := range c.Stages {
			require.Contains(t, whole, "### Step `"+s.Name+"`")
		}
		lost := len(losses(reflect.ValueOf(c), c.Name))
		require.Greater(t, lost, 100)
		for i := range lost {
			left, err := ir.Decode(encoded)
			require.NoError(t, err)
			loss := losses(reflect.ValueOf(left), c.Name)[i]
			loss.take()
			if readBack(t, left) == whole {
				t.Errorf("without %s the contract reads as before", loss.what)
			}
		}
	}
}
