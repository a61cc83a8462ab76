package view_test

import (
	"testing"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/view"
)

func BenchmarkNarrowViewOf20000Entries(b *testing.B) {
	root, set := entries(20_000), region.Compile(region.Of("/m/{p}"))
	b.ReportAllocs()
	for b.Loop() {
		view.Project(root, set.Start(region.Binding{"p": "k50"}))
	}
}

func BenchmarkWideViewOf20000Entries(b *testing.B) {
	root, set := entries(20_000), region.Compile(region.Of("/m/*/v", "!/m/*/w"))
	b.ReportAllocs()
	for b.Loop() {
		view.Project(root, set.Start(region.Binding{}))
	}
}
