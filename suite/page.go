package suite

import (
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// HTML writes c as one page that needs nothing else: the sources with each line coloured by what
// was exercised of it, which is told where the pointer rests. The error is w's.
func (c *Coverage) HTML(w io.Writer) error {
	var pages []pageContract
	for _, of := range c.Contracts {
		of.sum()
		p := pageContract{ContractCoverage: of}
		for _, k := range of.kinds() {
			p.Kinds = append(p.Kinds, pageKind{k.name, k.covered, k.total})
		}
		for _, f := range of.files {
			p.Files = append(p.Files, pageFileOf(of, f))
		}
		for _, point := range of.Points {
			if what := point.Missing(); what != "" {
				p.Missing = append(p.Missing, pageMissing{point, what, lineID(point.File, point.Line)})
			}
		}
		pages = append(pages, p)
	}
	return page.Execute(w, pages)
}

type pageContract struct {
	*ContractCoverage
	Kinds   []pageKind
	Files   []pageFile
	Missing []pageMissing
}

type pageKind struct {
	Name           string
	Covered, Total int
}

type pageMissing struct {
	*Point
	What string
	ID   string
}

type pageFile struct {
	Name  string
	Lines []pageLine
}

type pageLine struct {
	Number int
	ID     string
	Text   string
	Class  string // full, part, none; "" of a line without points
	Title  string
}

// lineID is the anchor of a line.
func lineID(file string, line int) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '"' || r == '#' {
			return '-'
		}
		return r
	}, file) + "-" + strconv.Itoa(line)
}

func pageFileOf(of *ContractCoverage, f *source.File) pageFile {
	out := pageFile{Name: f.Name}
	last := f.Position(len(f.Text)).Line
	if strings.HasSuffix(f.Text, "\n") {
		last--
	}
	for n := 1; n <= last; n++ {
		line := pageLine{Number: n, ID: lineID(f.Name, n), Text: f.Line(n)}
		covered, total := 0, 0
		var titles []string
		for _, p := range of.Points {
			if p.at.File != f || n < p.Line || n > p.EndLine {
				continue
			}
			a, b := p.sides()
			covered, total = covered+a, total+b
			titles = append(titles, p.Name+": "+p.counted())
		}
		switch {
		case total == 0:
		case covered == total:
			line.Class = "full"
		case covered == 0:
			line.Class = "none"
		default:
			line.Class = "part"
		}
		line.Title = strings.Join(titles, "\n")
		out.Lines = append(out.Lines, line)
	}
	return out
}

// counted says how often the sides of p were exercised.
func (p *Point) counted() string {
	var out []string
	words := [2]string{"held", "violated"}
	switch p.Kind {
	case "stage":
		words[0] = "accepted"
	case "grant":
		words[0] = "used"
	case "transition":
		words[0] = "walked"
	case "except":
		words[1] = "kept something away"
	}
	if p.passes {
		out = append(out, words[0]+" "+times(p.Passed))
	}
	if p.fails {
		out = append(out, words[1]+" "+times(p.Violated))
	}
	return strings.Join(out, ", ")
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	default:
		return strconv.Itoa(n) + " times"
	}
}

var page = template.Must(template.New("coverage").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coverage of contract tests</title>
<style>
:root { color-scheme: light dark; --back: #fdfdfc; --text: #1c2024; --faint: #6b7280; --rule: #e3e5e8; --card: #f4f5f6;
  --full: #d9f2df; --part: #fdf0c4; --none: #fadbd8; --fullm: #2c8a4b; --partm: #b98900; --nonem: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --back: #15181c; --text: #e4e6e9; --faint: #98a1ad; --rule: #2c3138; --card: #1d2127;
  --full: #17361f; --part: #3b3212; --none: #43211f; --fullm: #5bbf7b; --partm: #dfb233; --nonem: #ee7767; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 32px 20px 64px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0 0 4px; } h2 { font-size: 15px; margin: 32px 0 8px; }
.sum { color: var(--faint); margin: 0 0 16px; }
.bar { height: 6px; border-radius: 3px; background: var(--none); overflow: hidden; margin: 8px 0 16px; } .bar i { display: block; height: 100%; background: var(--fullm); }
.kinds { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 0; list-style: none; } .kinds li { background: var(--card); border-radius: 6px; padding: 4px 10px; font-size: 13px; }
details { margin: 24px 0 8px; } summary { font-weight: 600; cursor: pointer; margin-bottom: 6px; }
.kinds b { font-weight: 600; } .missing { padding-left: 18px; margin: 0; } .missing li { margin: 2px 0; } .missing span { color: var(--faint); }
a { color: inherit; text-decoration-color: var(--faint); }
.code { border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; padding: 8px 0; }
table { border-collapse: collapse; font: 13px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, monospace; width: 100%; }
td { padding: 0 12px 0 0; white-space: pre; } td:first-child { width: 1%; text-align: right; color: var(--faint); user-select: none; padding-left: 12px; border-left: 4px solid transparent; }
tr.full td { background: var(--full); } tr.part td { background: var(--part); } tr.none td { background: var(--none); }
tr.full td:first-child { border-left-color: var(--fullm); } tr.part td:first-child { border-left-color: var(--partm); } tr.none td:first-child { border-left-color: var(--nonem); }
tr:target td { outline: 1px solid var(--faint); outline-offset: -1px; }
.key { font-size: 13px; color: var(--faint); margin: 8px 0; } .key i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 4px 0 14px; }
</style>
</head>
<body>
{{range .}}<section>
<h1>{{.Name}}: {{.Percent}}% exercised</h1>
<p class="sum">{{.File}}, {{.Covered}} of {{.Total}}</p>
<div class="bar"><i style="width: {{.Percent}}%"></i></div>
<ul class="kinds">{{range .Kinds}}<li>{{.Name}} <b>{{.Covered}}</b> of {{.Total}}</li>{{end}}</ul>
{{if .Missing}}<details{{if le (len .Missing) 12}} open{{end}}><summary>{{len .Missing}} not exercised</summary>
<ul class="missing">{{range .Missing}}<li><a href="#{{.ID}}">{{.Name}}</a> <span>{{.What}}</span></li>{{end}}</ul></details>{{end}}
{{range .Files}}<h2>{{.Name}}</h2>
<p class="key">A rule is to hold and to refuse, a grant to be used, an exception to keep something away.<i style="background: var(--fullm)"></i>all of it<i style="background: var(--partm)"></i>a part<i style="background: var(--nonem)"></i>nothing</p>
<div class="code"><table>
{{range .Lines}}<tr id="{{.ID}}"{{if .Class}} class="{{.Class}}" title="{{.Title}}"{{end}}><td>{{.Number}}</td><td>{{.Text}}</td></tr>
{{end}}</table></div>
{{end}}</section>
{{end}}</body>
</html>
`))
