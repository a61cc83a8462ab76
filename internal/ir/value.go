package ir

// Kind is the kind of a JSON value.
type Kind uint8

// The six kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String is the kind's name as messages use it.
func (k Kind) String() string {
	return [...]string{"null", "bool", "number", "string", "array", "object"}[k]
}

// Article is the kind's name with its article.
func (k Kind) Article() string {
	switch k {
	case Null:
		return "null"
	case Array, Object:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

// A Value is a JSON value as expressions read it. Implementations are immutable
// and safe for concurrent use; iteration allocates nothing per step beyond what
// the callback does.
type Value interface {
	Kind() Kind
	// Len is the number of members or elements; 0 for scalars.
	Len() int
	// Member returns the member of an object, nil if it is absent or v is no object.
	Member(name string) Value
	// Element returns element i of an array, nil if there is none.
	Element(i int) Value
	// EachMember calls f for every member in ascending order of names until f returns false.
	EachMember(f func(name string, v Value) bool)
	// EachElement calls f for every element in order until f returns false.
	EachElement(f func(i int, v Value) bool)
	// EachSorted calls f for every element of an array until f returns false, in an
	// order that depends on what the elements are, not on where they stand.
	EachSorted(f func(v Value) bool)
	// Bool is the value of a bool.
	Bool() bool
	// Text is the value of a string, or the literal of a number as it was written.
	Text() string
}
