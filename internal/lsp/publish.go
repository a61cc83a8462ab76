package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/compiler/lint"
	catalogue "github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// Diagnostics. One goroutine compiles what is open, the file that was edited last first, and
// publishes what it finds at once. An edit ends the work on the version before it. Claims, and
// rules that compare all stages, may take longer than all the rest: they are published with it
// where they are answered within a moment, and by themselves later.

// moment is how long other findings wait for the answers to claims and for all rules.
const moment = 3 * time.Millisecond

// A publisher tells the client what is found in each file.
type publisher struct {
	*server
	of   map[string][]source.Diagnostic // what the latest analysis of a file found, by its name
	sent map[string]string              // what the client knows, by URI
}

// run publishes whenever something may have changed, until ctx ends.
func (p *publisher) run(ctx context.Context) {
	p.of, p.sent = map[string][]source.Diagnostic{}, map[string]string{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.dirty:
		}
		p.mu.Lock()
		docs := p.docs
		checking, stop := context.WithCancel(ctx)
		p.checking = stop
		p.mu.Unlock()
		p.guarded("diagnostics", func() (any, error) { return nil, p.check(checking, docs) })
		stop()
	}
}

// check brings what the client knows to a snapshot. The error is that of ctx: then there is a
// newer one.
func (p *publisher) check(ctx context.Context, docs *snapshot) error {
	for name := range p.of {
		if docs.docs[name] == nil {
			delete(p.of, name)
		}
	}
	names := slices.Sorted(maps.Keys(docs.docs))
	if i := slices.Index(names, docs.recent); i > 0 {
		names = append([]string{docs.recent}, slices.Delete(names, i, i+1)...)
	}
	var open []*analysis // that are not whole
	for _, name := range names {
		a, err := p.analyses.of(ctx, docs, name)
		if err != nil {
			return err
		}
		if !a.whole {
			soon, stop := context.WithTimeout(ctx, moment)
			if done, err := p.finish(soon, docs, a); err == nil {
				a = done
			} else {
				open = append(open, a)
			}
			stop()
		}
		p.of[name] = withConfig(name, a.found)
		p.publish(docs)
	}
	p.publish(docs) // of files that are not open any more
	for _, a := range open {
		done, err := p.finish(ctx, docs, a)
		if err != nil {
			return err
		}
		p.of[a.name] = withConfig(a.name, done.found)
		p.publish(docs)
	}
	return nil
}

// withConfig adds to the findings of a file what is wrong with the configuration that should
// hold for it.
func withConfig(name string, found []source.Diagnostic) []source.Diagnostic {
	_, wrong := configOf(name)
	if wrong == nil {
		return found
	}
	text, _ := os.ReadFile(wrong.File)
	at := source.Span{File: source.NewFile(wrong.File, string(text))}
	at.Start = min(at.File.LineStart(wrong.Line)+max(wrong.Column-1, 0), len(text))
	at.End = min(at.File.LineStart(wrong.Line)+len(at.File.Line(wrong.Line)), len(text))
	at.Start = min(at.Start, at.End)
	return append(slices.Clone(found), source.Diagnostic{Severity: source.Error, Message: wrong.Message, Help: wrong.Help, Span: at})
}

// finish answers the claims of an analysis and asks all rules.
func (p *publisher) finish(ctx context.Context, docs *snapshot, a *analysis) (*analysis, error) {
	d := docs.disk(a.name)
	defer d.close()
	done := *a
	done.out.Diagnostics = slices.Clone(a.out.Diagnostics)
	var replay footprint.Replayer
	if p.Replay != nil {
		replay = p.Replay(d, d.path)
	}
	if err := done.out.Decide(ctx, replay); err != nil {
		return nil, err
	}
	found, err := lint.Findings(ctx, lint.Input{Output: done.out, FS: d, Path: d.path, Config: a.config})
	if err != nil {
		return nil, err
	}
	done.whole, done.found, done.read = true, found, maps.Clone(a.read)
	maps.Copy(done.read, d.read)
	p.analyses.keep(a, &done)
	return &done, nil
}

// publish tells the client of the files of which something else is known now.
func (p *publisher) publish(docs *snapshot) {
	files := map[string][]source.Diagnostic{}
	for name := range docs.docs {
		files[name] = nil
	}
	for root, found := range p.of {
		for _, d := range found {
			name := root
			if d.Span.File != nil {
				name = d.Span.File.Name
			}
			if !strings.HasPrefix(name, stdPrefix) {
				files[name] = append(files[name], d)
			}
		}
	}
	now := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		params := publishParams{URI: docs.uriOf(name), Diagnostics: diagnosticsOf(docs, p.units, name, files[name])}
		if d := docs.docs[name]; d != nil {
			params.Version = &d.version
		}
		text, _ := json.Marshal(params)
		now[params.URI] = string(text)
		if p.sent[params.URI] != string(text) {
			p.conn.Notify(context.Background(), "textDocument/publishDiagnostics", json.RawMessage(text))
		}
	}
	for uri := range p.sent {
		if _, known := now[uri]; !known {
			p.conn.Notify(context.Background(), "textDocument/publishDiagnostics", publishParams{URI: uri, Diagnostics: []diagnostic{}})
		}
	}
	p.sent = now
}

// diagnosticsOf renders the findings of a file, in their order and each once: contracts that
// import a library find the same in it.
func diagnosticsOf(docs *snapshot, units encoding, name string, found []source.Diagnostic) []diagnostic {
	texts := contents{docs: docs, units: units, of: map[*source.File]*content{}}
	out := []diagnostic{}
	seen := map[string]bool{}
	for _, d := range source.Sort(slices.Clone(found)) {
		r := texts.render(name, d)
		key, _ := json.Marshal(r)
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, r)
		}
	}
	return out
}

// Contents are the texts that spans are in.
type contents struct {
	docs  *snapshot
	units encoding
	of    map[*source.File]*content
}

// textRange is where a span is.
func (c contents) textRange(s source.Span) textRange {
	if s.File == nil {
		return textRange{}
	}
	text := c.of[s.File]
	if text == nil {
		text = newContent(s.File.Text)
		c.of[s.File] = text
	}
	return text.span(s.Start, s.End, c.units)
}

// location is where a span is, and in which file.
func (c contents) location(s source.Span) location {
	return location{c.docs.uriOf(s.File.Name), c.textRange(s)}
}

// plain is a text without characters that change how others look: names of a file that is
// read are in it.
func plain(text string) string { return string(ir.Plain([]byte(text))) }

// severities are the protocol's: 1 is an error, 2 a warning, 3 an information.
var severities = map[source.Severity]int{source.Error: 1, source.Warning: 2, source.Info: 3}

// render writes a finding in a file as the protocol has it. What is to be done about it
// follows the message on a line of its own.
func (c contents) render(file string, d source.Diagnostic) diagnostic {
	out := diagnostic{Range: c.textRange(d.Span), Severity: severities[d.Severity], Code: d.Code, Source: "poptic", Message: plain(d.Message)}
	if d.Help != "" {
		out.Message += "\n" + plain(d.Help)
	}
	if d.Code != "" {
		out.About = &codeDescription{catalogue.HelpURI(d.Code)}
	}
	if strings.HasPrefix(d.Code, "unused") {
		out.Tags = []int{1} // unnecessary
	}
	for _, r := range d.Related {
		at := location{c.docs.uriOf(file), out.Range}
		if r.Span.File != nil && !strings.HasPrefix(r.Span.File.Name, stdPrefix) {
			at = c.location(r.Span)
		}
		out.Related = append(out.Related, related{at, plain(r.Message)})
	}
	return out
}
