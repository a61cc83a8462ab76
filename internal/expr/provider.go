package expr

import (
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/ir"
)

// objectName is a record type's name inside CEL. No identifier of an expression
// can be spelled so, which keeps records from being constructed.
func objectName(id ir.TypeID) string { return "@record" + strconv.Itoa(int(id)) }

// provider declares a contract's records to CEL. It is complete when it is made.
type provider struct {
	types.Provider // CEL's own types
	shapes         *shapes
	records        map[string]*shape
	fields         map[string]map[string]*types.FieldType
}

func newProvider(base types.Provider, ss *shapes) *provider {
	p := &provider{
		Provider: base,
		shapes:   ss,
		records:  map[string]*shape{},
		fields:   map[string]map[string]*types.FieldType{},
	}
	for id := 1; id < len(ss.types); id++ {
		s := ss.of(ir.TypeID(id))
		if s.kinds != kRecord || s.id != ir.TypeID(id) {
			continue
		}
		fields := map[string]*types.FieldType{}
		for name, f := range s.members {
			fields[name] = fieldType(name, f.shape)
		}
		p.records[objectName(s.id)], p.fields[objectName(s.id)] = s, fields
	}
	return p
}

// shapeOf is the record shape that a CEL object type was declared for, or nil.
func (p *provider) shapeOf(t *types.Type) *shape { return p.records[t.TypeName()] }

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if s, ok := p.records[name]; ok {
		return types.NewTypeTypeWithParam(s.cel), true
	}
	return p.Provider.FindStructType(name)
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if s, ok := p.records[name]; ok {
		return s.memberNames(), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p *provider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	s, ok := p.records[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, member)
	}
	if f, ok := p.fields[name][member]; ok {
		return f, true
	}
	if s.rest != nil {
		return fieldType(member, s.rest), true
	}
	return nil, false
}

// FindIdent hides the protocol buffer names that the registry brings along.
func (p *provider) FindIdent(name string) (ref.Val, bool) {
	if strings.HasPrefix(name, "google.") {
		return nil, false
	}
	return p.Provider.FindIdent(name)
}
