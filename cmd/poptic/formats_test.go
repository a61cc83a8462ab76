package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/report"
)

// everyMistake is a folder with a file for each code, in which that is found.
func everyMistake(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, k := range diagnostic.All() {
		if k.Wrong == "" || k == diagnostic.TooManyMistakes {
			continue
		}
		files := map[string]string{cmp.Or(k.File, "c.poptic"): diagnostic.Source(k.Wrong)}
		for name, text := range k.Beside {
			files[name] = text
		}
		for name, text := range files {
			at := filepath.Join(dir, k.Code, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
	return dir
}

func checked(t *testing.T, args ...string) (code int, out []byte) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), append([]string{"check"}, args...), strings.NewReader(""), &stdout, &stderr)
	require.Empty(t, stderr.String())
	return code, stdout.Bytes()
}

func TestEveryFormatTellsTheSameFindingsEachAtItsPlace(t *testing.T) {
	dir := everyMistake(t)
	code, data := checked(t, "--format", "json", dir)
	require.Equal(t, exitNo, code)
	var doc report.Document
	require.NoError(t, json.Unmarshal(data, &doc))
	require.Greater(t, len(doc.Diagnostics), 120)
	for _, d := range doc.Diagnostics {
		require.NotEmpty(t, d.File, "%+v", d)
		require.Positive(t, d.Start.Line, "%+v", d)
		require.NotNil(t, diagnostic.Find(d.Code), d.Code)
	}

	t.Run("sarif", func(t *testing.T) {
		_, data := checked(t, "--format", "sarif", dir)
		requireSARIF(t, data)
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID, Level string
					RuleIndex     int
					Locations     []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(data, &log))
		results := log.Runs[0].Results
		require.Len(t, results, len(doc.Diagnostics))
		for i, d := range doc.Diagnostics {
			r := results[i]
			require.Equal(t, d.Code, r.RuleID)
			require.Equal(t, d.Code, log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
			at := r.Locations[0].PhysicalLocation
			require.True(t, strings.HasSuffix(at.ArtifactLocation.URI, filepath.ToSlash(d.File)), at.ArtifactLocation.URI)
			require.Equal(t, [4]int{d.Start.Line, d.Start.Column, d.End.Line, d.End.Column}, [4]int{at.Region.StartLine, at.Region.StartColumn, at.Region.EndLine, at.Region.EndColumn})
			require.Equal(t, map[string]string{"error": "error", "warning": "warning", "info": "note"}[d.Severity], r.Level)
		}
	})

	t.Run("junit", func(t *testing.T) {
		for strict, failing := range map[string]int{"": doc.Summary.Errors, "--strict": len(doc.Diagnostics)} {
			args := []string{"--format", "junit", dir}
			if strict != "" {
				args = append(args, strict)
			}
			_, data := checked(t, args...)
			var suites struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Suites   []struct {
					Cases []struct {
						Failure *struct {
							Message string `xml:"message,attr"`
						} `xml:"failure"`
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			require.NoError(t, xml.Unmarshal(data, &suites))
			require.Equal(t, failing, suites.Failures)
			cases, failed := 0, 0
			for _, s := range suites.Suites {
				for _, c := range s.Cases {
					cases++
					if c.Failure != nil {
						failed++
						require.NotEmpty(t, c.Failure.Message)
					}
				}
			}
			require.Equal(t, [2]int{suites.Tests, suites.Failures}, [2]int{cases, failed})
			require.GreaterOrEqual(t, cases, len(doc.Diagnostics))
		}
	})

	t.Run("github", func(t *testing.T) {
		_, data := checked(t, "--format", "github", dir)
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		require.Len(t, lines, len(doc.Diagnostics))
		command := regexp.MustCompile(`^::(error|warning|notice) file=([^,:]+),line=(\d+),endLine=\d+(,col=\d+,endColumn=\d+)?,title=([a-z_]+)::(.+)$`)
		for i, d := range doc.Diagnostics {
			m := command.FindStringSubmatch(lines[i])
			require.NotNil(t, m, lines[i])
			require.Equal(t, d.Code, m[5])
		}
	})
}

func TestNothingFoundIsWrittenInEveryFormat(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.poptic"), []byte("contract c\nstate { a: int }\n"), 0o644))
	code, data := checked(t, "--strict", "--format", "sarif", dir)
	require.Equal(t, exitFine, code)
	requireSARIF(t, data)
	code, data = checked(t, "--strict", "--format", "junit", dir)
	require.Equal(t, exitFine, code)
	require.Contains(t, string(data), `tests="1" failures="0"`)
	code, data = checked(t, "--strict", "--format", "github", dir)
	require.Equal(t, exitFine, code)
	require.Empty(t, data)
}

// requireSARIF validates a log against the schema of SARIF 2.1.0, and by what the standard says of rule indices and regions.
func requireSARIF(t *testing.T, data []byte) {
	t.Helper()
	file, err := os.Open("../../lang/report/testdata/sarif-2.1.0.schema.json")
	require.NoError(t, err)
	defer file.Close()
	schema, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("sarif.json", schema))
	compiled, err := c.Compile("sarif.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(value))
	broken := bytes.Replace(data, []byte(`"version": "2.1.0"`), []byte(`"version": "2"`), 1)
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(broken))
	require.NoError(t, err)
	require.Error(t, compiled.Validate(value), "the schema judges nothing")
}
