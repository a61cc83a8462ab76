package tree

import (
	"strconv"
	"testing"
)

// tickets is a document of about 10 MB: 20,000 entries of 500 bytes.
func tickets() *Node {
	body := NewString("The parcel arrived, but what is in it is not what was ordered. " +
		"It should be a lamp and it is two chairs, of which one is broken. Please advise. " +
		"The order was placed on Monday and confirmed on Tuesday; nobody answers the telephone. " +
		"A photograph of the chairs can be sent if that helps to find out what went wrong.")
	members := make(map[string]*Node, 20_000)
	for i := range 20_000 {
		members["T"+strconv.Itoa(i)] = NewObject(map[string]*Node{
			"subject": NewString("Wrong parcel " + strconv.Itoa(i)), "body": body, "status": NewString("open"),
			"customer": NewString("C" + strconv.Itoa(i%997)), "n": NewInt(int64(i)),
			"labels": NewArray([]*Node{NewString("parcel"), NewString("urgent")}),
		})
	}
	return NewObject(map[string]*Node{"tickets": NewObject(members)})
}

func BenchmarkParse10MB(b *testing.B) {
	data := AppendJSON(nil, tickets())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, DefaultLimits); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode10MB(b *testing.B) {
	n := tickets()
	b.SetBytes(int64(n.Size()))
	dst := make([]byte, 0, n.Size())
	for b.Loop() {
		dst = AppendJSON(dst[:0], n)
	}
}

func BenchmarkReplaceOneOf100000(b *testing.B) {
	n := wideObject(100_000)
	b.ReportAllocs()
	for b.Loop() {
		n.With("k5000", once)
	}
}

func BenchmarkAddOneTo100000(b *testing.B) {
	n := wideObject(100_000)
	b.ReportAllocs()
	for b.Loop() {
		n.With("new", once)
	}
}

func BenchmarkDigestAfterEdit(b *testing.B) {
	n := tickets()
	n.Digest()
	patch, _ := ParsePatch([]byte(`[{"op":"replace","path":"/tickets/T77/status","value":"solved"}]`), DefaultPatchLimits)
	b.ReportAllocs()
	for b.Loop() {
		next, _, problem := ApplyAll(n, patch)
		if problem != nil {
			b.Fatal(problem)
		}
		next.Digest()
	}
}

func BenchmarkParseAndApplyFiveOperations(b *testing.B) {
	n := tickets()
	n.Digest()
	data := []byte(`[{"op":"test","path":"/tickets/T77/status","value":"open"},
		{"op":"replace","path":"/tickets/T77/status","value":"solved"},{"op":"add","path":"/tickets/T77/reply","value":"Sorry."},
		{"op":"add","path":"/tickets/T78/labels/-","value":"new"},{"op":"remove","path":"/tickets/T78/customer"}]`)
	b.ReportAllocs()
	for b.Loop() {
		patch, _ := ParsePatch(data, DefaultPatchLimits)
		next, _, problem := ApplyAll(n, patch)
		if problem != nil {
			b.Fatal(problem)
		}
		next.Digest()
	}
}

func BenchmarkInsertInFrontOf100000(b *testing.B) {
	n := wideArray(100_000)
	b.ReportAllocs()
	for b.Loop() {
		n.InsertAt(0, once)
	}
}

// Of a million elements, one in front is the worst for the digest.
func BenchmarkDigestAfterAnInsertInFrontOf1000000(b *testing.B) {
	elements := make([]*Node, 1_000_000)
	for i := range elements {
		elements[i] = NewInt(int64(i))
	}
	n := NewArray(elements)
	n.Digest()
	b.ReportAllocs()
	for b.Loop() {
		n.InsertAt(0, once).Digest()
	}
}
