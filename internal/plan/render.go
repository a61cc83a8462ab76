package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
)

// Render gives a graph in one of the formats dot, mermaid, svg, html and json.
func (g Graph) Render(format string) ([]byte, error) {
	var b bytes.Buffer
	switch format {
	case "dot":
		g.Dot(&b)
	case "mermaid":
		g.Mermaid(&b)
	case "svg":
		g.SVG(&b)
	case "html":
		g.HTML(&b)
	case "json":
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err := e.Encode(g)
		return b.Bytes(), err
	default:
		return nil, fmt.Errorf("there is no format %q for graphs", format)
	}
	return b.Bytes(), nil
}

// drawn is how the formats other than json begin.
var drawn = regexp.MustCompile(`\A(digraph "[^"\n]*" \{\n  compound=true\n|flowchart LR\n  subgraph p0\[|<svg [^>]*>\n<title>contract |<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>contract )`)

// IsDrawing reports whether data looks like what Render gives, of any graph in any
// format.
func IsDrawing(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var g Graph
	return drawn.Match(data) || d.Decode(&g) == nil && g.Contract != "" && g.Phases != nil
}

// HTML writes a page that needs nothing else: the picture, and below it every edge in
// words.
func (g Graph) HTML(w io.Writer) {
	title := html.EscapeString("contract " + g.Contract)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<div class=\"picture\">\n", title, pageStyle, title)
	g.SVG(w)
	io.WriteString(w, "</div>\n")
	for _, part := range []struct {
		kind  EdgeKind
		title string
	}{{MoveEdge, "Moves"}, {ConflictEdge, "Stages that do not commute"}, {ConditionEdge, "Stages that commute for some arguments"}, {FlowEdge, "Flows"}} {
		g.list(w, part.kind, part.title)
	}
	io.WriteString(w, "</body>\n</html>\n")
}

func (g Graph) list(w io.Writer, kind EdgeKind, title string) {
	open := false
	for _, e := range g.Edges {
		if e.Kind != kind {
			continue
		}
		if !open {
			fmt.Fprintf(w, "<h2>%s</h2>\n<ul>\n", title)
			open = true
		}
		fmt.Fprintf(w, "<li>%s</li>\n", html.EscapeString(e.title()))
	}
	if open {
		io.WriteString(w, "</ul>\n")
	}
}

const pageStyle = "body{font-family:Helvetica,Arial,sans-serif;color:#1f2933;margin:2rem}.picture{overflow-x:auto}path:hover{stroke-width:4}li{margin:.2rem 0}"
