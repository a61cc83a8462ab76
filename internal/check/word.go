package check

import "github.com/patchoptic/poptic/internal/region"

// wordOf is the word of a pattern without wildcards.
func wordOf(p region.Pattern) region.Word {
	var w region.Word
	for _, s := range p.Segments {
		switch s.Kind {
		case region.ParamSegment:
			w = append(w, region.Param(s.Text))
		case region.IndexLiteral:
			w = append(w, region.Index(s.Index))
		default:
			w = append(w, region.Key(s.Text))
		}
	}
	return w
}
