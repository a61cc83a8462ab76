package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// A Rule describes a code of findings.
type Rule struct {
	Code     string
	Category string // "" if it has none
	Level    string // info, warning or error, or off
	What     string // what is found, in a few words
	Why      string // why it matters
	Help     string // the address of its page
}

// The parts of SARIF 2.1.0 (OASIS) that are written. Its regions count lines and columns from 1, and columns in
// code points, as this package does everywhere, which columnKind says.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string        `json:"id"`
		ShortDescription sarifText     `json:"shortDescription"`
		FullDescription  sarifText     `json:"fullDescription"`
		HelpURI          string        `json:"helpUri,omitempty"`
		Configuration    sarifDefault  `json:"defaultConfiguration"`
		Properties       *sarifTagging `json:"properties,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifTagging struct {
		Tags []string `json:"tags"`
	}
	sarifDefault struct {
		Enabled bool   `json:"enabled"`
		Level   string `json:"level"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    *int              `json:"ruleIndex,omitempty"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn"`
		EndLine     int        `json:"endLine"`
		EndColumn   int        `json:"endColumn"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// SARIF writes diagnostics as a log of SARIF 2.1.0, sorted by file and position, with the
// rules that the codes stand for; version is that of the program. Files are named relative
// to where they were checked from, as their diagnostics name them. ds is not changed. The
// error is w's.
func SARIF(w io.Writer, ds []source.Diagnostic, rules []Rule, version string) error {
	ds = source.Sort(slices.Clone(ds))
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "poptic", Version: version, InformationURI: "https://github.com/patchoptic/poptic", Rules: []sarifRule{}}
	at := map[string]int{}
	for i, r := range rules {
		at[r.Code] = i
		rule := sarifRule{ID: r.Code, ShortDescription: sarifText{r.What}, FullDescription: sarifText{r.Why}, HelpURI: r.Help,
			Configuration: sarifDefault{Enabled: r.Level != "off", Level: sarifLevel(r.Level)}}
		if r.Category != "" {
			rule.Properties = &sarifTagging{Tags: []string{r.Category}}
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, d := range ds {
		run.Results = append(run.Results, newResult(d, at))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifLevel(level string) string {
	if level == "info" || level == "off" {
		return "note"
	}
	return level
}

func newResult(d source.Diagnostic, at map[string]int) sarifResult {
	text := d.Message
	if d.Help != "" {
		text += ". " + strings.ToUpper(d.Help[:1]) + strings.TrimSuffix(d.Help[1:], ".")
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
	}
	r := sarifResult{RuleID: d.Code, Level: sarifLevel(d.Severity.String()), Message: sarifText{text}, Locations: []sarifLocation{newLocation(d.Span)},
		Fingerprints: map[string]string{"poptic/v1": Fingerprint(d)}}
	if i, ok := at[d.Code]; ok {
		r.RuleIndex = &i
	}
	for i, x := range d.Related {
		l := newLocation(x.Span)
		l.ID, l.Message = i+1, &sarifText{x.Message}
		if !x.Span.IsZero() {
			r.Related = append(r.Related, l)
		}
	}
	for _, f := range d.Fixes {
		r.Fixes = append(r.Fixes, sarifFix{sarifText{f.Title}, []sarifChange{{artifact(f.Span), []sarifReplacement{{*newRegion(f.Span), sarifText{f.Text}}}}}})
	}
	return r
}

func newLocation(s source.Span) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: artifact(s)}}
	if !s.IsZero() {
		l.Physical.Region = newRegion(s)
		if text := s.Text(); text != "" && len(text) < 4096 {
			l.Physical.Region.Snippet = &sarifText{text}
		}
	}
	return l
}

// artifact names a file by a relative reference, as far as it is called by one.
func artifact(s source.Span) sarifArtifact {
	if s.IsZero() {
		return sarifArtifact{"."}
	}
	name := filepath.ToSlash(s.File.Name)
	u := url.URL{Path: name}
	if filepath.IsAbs(s.File.Name) {
		u.Scheme = "file"
	}
	return sarifArtifact{u.String()}
}

func newRegion(s source.Span) *sarifRegion {
	a, b := s.File.Position(s.Start), s.File.Position(s.End)
	return &sarifRegion{StartLine: a.Line, StartColumn: a.Column, EndLine: b.Line, EndColumn: b.Column}
}

// Fingerprint tells one finding from others by its code, its message and the text of its
// line, whatever its line number is.
func Fingerprint(d source.Diagnostic) string {
	line := ""
	if !d.Span.IsZero() {
		line = strings.Join(strings.Fields(d.Span.File.Line(d.Span.File.Position(d.Span.Start).Line)), " ")
	}
	sum := sha256.Sum256([]byte(d.Code + "\x00" + d.Message + "\x00" + line))
	return hex.EncodeToString(sum[:16])
}
