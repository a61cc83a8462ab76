package trace

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// What a Redactor writes is compared with what a plain one does, which asks the types and
// the set of secrets anew at each step and remembers nothing.
type plainRedactor struct {
	contract *ir.Contract
	key      *Key
	secrets  region.Cursor
	dst      []byte
	redacted []string
	most     int
	tooLong  bool
}

func newPlain(c *ir.Contract, key *Key) *plainRedactor {
	return &plainRedactor{contract: c, key: key, secrets: region.Compile(c.Secrets).Start(region.Binding{})}
}

func (p *plainRedactor) op(op *tree.Op, where string) {
	p.dst = append(p.dst, `{"op":"`+string(op.Kind)+`","path":`...)
	p.path(op.RawPath, op.Path, where+"/path")
	if op.Kind.HasFrom() {
		p.dst = append(p.dst, `,"from":`...)
		p.path(op.RawFrom, op.From, where+"/from")
	}
	if op.Kind.HasValue() {
		p.dst = append(p.dst, `,"value":`...)
		p.value(p.find(op.Path), op.Value, where+"/value")
	}
	p.dst = append(p.dst, '}')
}

func (p *plainRedactor) old(o *OldValue, most int, where string) {
	p.dst = append(p.dst, fmt.Sprintf(`{"op":%d,"path":`, o.Op)...)
	p.path(o.Text, o.Path, where+"/path")
	p.dst = append(p.dst, `,"value":`...)
	written, noted := len(p.dst), len(p.redacted)
	p.most, p.tooLong = written+most, false
	p.value(p.find(o.Path), o.Value, where+"/value")
	if p.most = 0; p.tooLong {
		p.dst, p.redacted = p.dst[:written], p.redacted[:noted]
		p.replace(o.Value, where+"/value")
	}
	p.dst = append(p.dst, '}')
}

func (p *plainRedactor) path(text string, tokens tree.Pointer, where string) {
	at := p.root()
	for i, token := range tokens {
		if p.hides(at) {
			shown := append(tree.Pointer{}, tokens...)
			for ; i < len(shown); i++ {
				shown[i] = p.key.digest(useValue, []byte(shown[i]))
			}
			p.redacted = append(p.redacted, where)
			text = shown.String()
			break
		}
		at = p.token(at, token)
	}
	p.dst = quote(p.dst, text)
}

func (p *plainRedactor) full(n int) bool {
	p.tooLong = p.tooLong || p.most > 0 && len(p.dst)+n > p.most
	return p.tooLong
}

func (p *plainRedactor) value(at []spot, n *tree.Node, where string) {
	fits := false
	for _, s := range at {
		fits = fits || admits(p.contract.Type(s.typ), n.Kind())
	}
	begin := byte(0)
	switch {
	case p.hides(at) || !fits:
		p.replace(n, where)
		p.full(0)
	case n.Kind() == ir.Object:
		begin = '{'
		for name, child := range n.Members() {
			if p.full(len(name)) {
				return
			}
			p.dst = append(quote(append(p.dst, begin), name), ':')
			p.value(p.member(at, name), child, where+"/"+region.EscapeToken(name))
			begin = ','
		}
		p.close(begin, "{}")
	case n.Kind() == ir.Array:
		begin = '['
		for i, child := range n.Elements() {
			if p.full(0) {
				return
			}
			p.dst = append(p.dst, begin)
			p.value(p.element(at, i), child, where+"/"+strconv.Itoa(i))
			begin = ','
		}
		p.close(begin, "[]")
	default:
		if !p.full(n.Size()) {
			p.dst = tree.AppendJSON(p.dst, n)
		}
	}
}

func (p *plainRedactor) close(begin byte, brackets string) {
	if begin != ',' {
		p.dst = append(p.dst, brackets[0])
	}
	p.dst = append(p.dst, brackets[1])
}

func (p *plainRedactor) replace(n *tree.Node, where string) {
	digest := n.Digest()
	p.dst = quote(p.dst, p.key.digest(useValue, digest[:]))
	p.redacted = append(p.redacted, where)
}

func (p *plainRedactor) hides(at []spot) bool {
	for _, s := range at {
		if s.secret.In() {
			return true
		}
	}
	return len(at) == 0
}

func (p *plainRedactor) root() []spot { return p.keep(nil, p.contract.State, p.secrets) }

func (p *plainRedactor) keep(to []spot, typ ir.TypeID, at region.Cursor) []spot {
	if t := p.contract.Type(typ); t.Kind == ir.UnionType {
		for _, alternative := range t.Alternatives {
			to = p.keep(to, alternative, at)
		}
		return to
	}
	for _, s := range to {
		if s == (spot{typ, at}) {
			return to
		}
	}
	return append(to, spot{typ, at})
}

func (p *plainRedactor) find(tokens tree.Pointer) []spot {
	at := p.root()
	for _, token := range tokens {
		if p.hides(at) {
			return nil
		}
		at = p.token(at, token)
	}
	return at
}

func (p *plainRedactor) token(at []spot, token string) []spot {
	to := p.member(at, token)
	if index, isIndex := arrayToken(token); isIndex {
		for _, s := range p.element(at, index) {
			to = p.keep(to, s.typ, s.secret)
		}
	}
	return to
}

func (p *plainRedactor) member(at []spot, name string) (to []spot) {
	for _, s := range at {
		t := p.contract.Type(s.typ)
		m, known := t.Member(name)
		switch {
		case t.Kind == ir.RecordType && known:
			to = p.keep(to, m.Type, s.secret.Key(name))
		case t.Kind == ir.RecordType && t.Rest != ir.NoType:
			to = p.keep(to, t.Rest, s.secret.Key(name))
		case t.Kind == ir.MapType || t.Kind == ir.KeyedType:
			to = p.keep(to, t.Elem, s.secret.Key(name))
		case t.Kind == ir.AnyType:
			to = p.keep(to, s.typ, s.secret.Key(name))
		}
	}
	return to
}

func (p *plainRedactor) element(at []spot, index int) (to []spot) {
	for _, s := range at {
		switch t := p.contract.Type(s.typ); t.Kind {
		case ir.ListType, ir.SetType, ir.LogType:
			to = p.keep(to, t.Elem, s.secret.Index(index))
		case ir.AnyType:
			to = p.keep(to, s.typ, s.secret.Index(index))
		}
	}
	return to
}

// A drawer draws contracts: types of every kind within each other, of which some are secret.
type drawer struct {
	scribe
	c *ir.Contract
}

func drawContract(random *rand.Rand) *ir.Contract {
	d := drawer{scribe{Rand: random}, &ir.Contract{Name: "drawn", Types: make([]ir.Type, 1)}}
	t := d.record(3)
	d.c.Types = append(d.c.Types, t)
	d.c.State = ir.TypeID(len(d.c.Types) - 1)
	for id := range d.c.Types {
		d.c.Types[id].Secret = id > 0 && ir.TypeID(id) != d.c.State && random.Intn(6) == 0
	}
	d.secrets(d.c.State, "", 4)
	if random.Intn(3) == 0 { // whatever is there: below "any", too
		d.c.Secrets = append(d.c.Secrets, region.Of("/:"+d.token()+d.pick("", "/:*", "/[*]")+"/:"+d.token())...)
	}
	return d.c
}

func (d *drawer) add(depth int) ir.TypeID {
	t := ir.Type{Kind: ir.StringType}
	switch kind := d.Intn(10); {
	case depth == 0 && kind < 3:
		t.Kind = ir.NumberType
	case depth == 0:
	case kind < 2:
		t = d.record(depth)
	case kind < 4:
		t = ir.Type{Kind: ir.MapType, Elem: d.add(depth - 1)}
	case kind < 6:
		t = ir.Type{Kind: []ir.TypeKind{ir.ListType, ir.SetType, ir.LogType}[d.Intn(3)], Elem: d.add(depth - 1)}
	case kind < 8:
		t = ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{d.add(depth - 1), d.add(depth - 1)}}
	case kind < 9:
		t.Kind = ir.AnyType
	}
	d.c.Types = append(d.c.Types, t)
	return ir.TypeID(len(d.c.Types) - 1)
}

func (d *drawer) record(depth int) ir.Type {
	t := ir.Type{Kind: ir.RecordType}
	for _, name := range []string{"0", "A", "card", "customers", "name", "pick"} {
		if d.Intn(2) == 0 {
			t.Members = append(t.Members, ir.Member{Name: name, Type: d.add(depth - 1)})
		}
	}
	if d.Intn(3) == 0 {
		t.Rest = d.add(depth - 1)
	}
	return t
}

// secrets adds the patterns of the secret places at and below one of type id.
func (d *drawer) secrets(id ir.TypeID, at string, depth int) {
	t := d.c.Type(id)
	if t.Secret {
		d.c.Secrets = append(d.c.Secrets, region.Of(at)...)
		return
	}
	switch {
	case depth == 0:
	case t.Kind == ir.UnionType:
		for _, alternative := range t.Alternatives {
			d.secrets(alternative, at, depth)
		}
	case t.Kind == ir.RecordType:
		for _, m := range t.Members {
			d.secrets(m.Type, at+"/:"+m.Name, depth-1)
		}
		if t.Rest != ir.NoType {
			d.secrets(t.Rest, at+"/:*", depth-1)
		}
	case t.Kind == ir.MapType:
		d.secrets(t.Elem, at+"/:*", depth-1)
	case t.Kind != ir.AnyType && t.Elem != ir.NoType:
		d.secrets(t.Elem, at+"/[*]", depth-1)
	}
}

func TestWhatIsCompiledRedactsAsWhatIsPlain(t *testing.T) {
	contracts := 4000
	if testing.Short() || underRace {
		contracts = 400
	}
	random, key := rand.New(rand.NewSource(7)), testKey(t, 1)
	replaced, shown := 0, 0
	for range contracts {
		c := drawContract(random)
		if len(c.Secrets) == 0 {
			continue
		}
		r := NewRedactor(c, key)
		for range 25 {
			s := scribe{Rand: random}
			var ops []string
			for range 1 + random.Intn(3) {
				ops = append(ops, s.op(c))
			}
			if random.Intn(2) == 0 {
				ops = append(ops, `{"op":"move","from":"/`+s.token()+"/"+s.token()+`","path":"/`+s.token()+`"}`)
			}
			patch := patchOf(t, "["+strings.Join(ops, ",")+"]")
			plain := newPlain(c, key)
			for i := range patch {
				plain.dst = append(plain.dst, "[,"[min(i, 1)])
				plain.op(&patch[i], "/patch/"+strconv.Itoa(i))
			}
			got, redacted := r.Patch(patch)
			require.Equal(t, string(plain.dst)+"]", string(got), "%+v of %+v", c.Secrets, c.Types)
			require.Equal(t, plain.redacted, redacted)

			olds, most := []OldValue{}, random.Intn(120)
			plain = newPlain(c, key)
			for i := range patch {
				if patch[i].Kind.HasValue() {
					olds = append(olds, OldValue{Op: i, Path: patch[i].Path, Text: patch[i].RawPath, Value: patch[i].Value})
					plain.dst = append(plain.dst, "[,"[min(len(olds)-1, 1)])
					plain.old(&olds[len(olds)-1], most, "/old/"+strconv.Itoa(len(olds)-1))
				}
			}
			got, redacted = r.Old(olds, most)
			require.Equal(t, string(plain.dst)+"]", string(got), "%d bytes: %+v of %+v", most, c.Secrets, c.Types)
			require.Equal(t, plain.redacted, redacted)
			replaced += len(redacted)
			shown += len(olds)*2 - len(redacted)
		}
	}
	require.Greater(t, replaced, contracts)
	require.Greater(t, shown, contracts)
}
