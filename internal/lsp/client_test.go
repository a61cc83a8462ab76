package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/lsp"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// server is the built command line: sessions are with it, over its standard streams.
var server = sync.OnceValue(func() string {
	name := filepath.Join(built, "poptic")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", name, "../../cmd/poptic").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return name
})

var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "poptic-lsp"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// A client is an editor: it frames messages itself, and knows nothing of the server's types.
type client struct {
	tb   testing.TB
	cmd  *exec.Cmd // nil for a server in this process
	in   io.WriteCloser
	dir  string // the folder of the workspace
	next int

	served chan struct{} // closed when a server in this process has ended
	clean  bool          // as it was asked to

	mu        sync.Mutex
	changed   *sync.Cond
	answers   map[string]map[string]any
	published map[string]map[string]any // the last of each URI
	count     int                       // of publications
	asked     []map[string]any          // requests and other notifications of the server
	done      bool
}

// program begins a session with the built command line, without a word.
func program(tb testing.TB) *client {
	tb.Helper()
	c := newClient(tb)
	c.cmd = exec.Command(server(), "lsp")
	c.cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+c.dir+"/.cache")
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, c.cmd.Start())
	c.in = in
	go c.read(bufio.NewReader(out))
	tb.Cleanup(func() {
		in.Close()
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	return c
}

func newClient(tb testing.TB) *client {
	c := &client{tb: tb, dir: tb.TempDir(), answers: map[string]map[string]any{}, published: map[string]map[string]any{}}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// start begins a session with a server in this process, without a word.
func start(tb testing.TB) *client { return within(tb, os.Stderr) }

// within begins a session with a server in this process; log is what that writes.
func within(tb testing.TB, log io.Writer) *client {
	c := newClient(tb)
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	c.in, c.served = fromClient, make(chan struct{})
	go func() {
		c.clean, _ = lsp.Serve(context.Background(), in, out, lsp.Options{
			Log: log, Libraries: filepath.Join(c.dir, ".cache"),
			Replay: func(fs.FS, string) footprint.Replayer { return replay.New(replay.Options{}) },
		})
		out.Close()
		close(c.served)
	}()
	go c.read(bufio.NewReader(toClient))
	tb.Cleanup(func() {
		fromClient.Close()
		toClient.Close()
		<-c.served
	})
	return c
}

// open begins a session as a plain client with a workspace of some files.
func open(tb testing.TB, files map[string]string) *client {
	tb.Helper()
	return start(tb).with(files)
}

// with begins as a plain client with a workspace of some files.
func (c *client) with(files map[string]string) *client {
	c.tb.Helper()
	c.write(files)
	c.greets()
	return c
}

// greets says hello.
func (c *client) greets() {
	c.tb.Helper()
	c.call("initialize", map[string]any{"processId": nil, "rootUri": c.uri(""), "capabilities": map[string]any{
		"textDocument": map[string]any{"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true}},
	}})
	c.notify("initialized", map[string]any{})
}

func (c *client) write(files map[string]string) {
	for name, text := range files {
		require.NoError(c.tb, os.MkdirAll(filepath.Dir(filepath.Join(c.dir, name)), 0o755))
		require.NoError(c.tb, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
	}
}

func (c *client) uri(name string) string {
	return "file://" + filepath.ToSlash(filepath.Join(c.dir, name))
}

// read takes what the server says until it ends.
func (c *client) read(r *bufio.Reader) {
	defer func() {
		c.mu.Lock()
		c.done = true
		c.changed.Broadcast()
		c.mu.Unlock()
	}()
	for {
		head, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(head.Get("Content-Length"))
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m map[string]any
		if json.Unmarshal(body, &m) != nil {
			return
		}
		c.mu.Lock()
		method, _ := m["method"].(string)
		switch {
		case method == "textDocument/publishDiagnostics":
			p := m["params"].(map[string]any)
			c.published[p["uri"].(string)] = p
			c.count++
		case method != "":
			c.asked = append(c.asked, m)
			if id, ok := m["id"]; ok {
				go c.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": nil})
			}
		default:
			c.answers[fmt.Sprint(m["id"])] = m
		}
		c.changed.Broadcast()
		c.mu.Unlock()
	}
}

var sending sync.Mutex

func (c *client) send(m map[string]any) {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

func (c *client) raw(text string) {
	sending.Lock()
	defer sending.Unlock()
	io.WriteString(c.in, text)
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// ask sends a request and gives its id.
func (c *client) ask(method string, params any) string {
	c.next++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	return fmt.Sprint(c.next)
}

// wait blocks until something is so, which is asked for with the lock held.
func (c *client) wait(what string, is func() bool) {
	c.tb.Helper()
	late := time.AfterFunc(30*time.Second, func() {
		c.mu.Lock()
		c.done = true
		c.changed.Broadcast()
		c.mu.Unlock()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !is() {
		if c.done {
			c.tb.Fatalf("the session ended, or %s took too long", what)
		}
		c.changed.Wait()
	}
}

// answer waits for the answer to a request, with its error.
func (c *client) answer(id string) (result any, failure map[string]any) {
	c.tb.Helper()
	var m map[string]any
	c.wait("an answer", func() bool { m = c.answers[id]; return m != nil })
	failure, _ = m["error"].(map[string]any)
	return m["result"], failure
}

// call is a request that is answered.
func (c *client) call(method string, params any) any {
	c.tb.Helper()
	result, failure := c.answer(c.ask(method, params))
	require.Nil(c.tb, failure, method)
	return result
}

func (c *client) refused(method string, params any) string {
	c.tb.Helper()
	result, failure := c.answer(c.ask(method, params))
	require.NotNil(c.tb, failure, "%s was answered: %v", method, result)
	return failure["message"].(string)
}

func (c *client) didOpen(name, text string) {
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "languageId": "poptic", "version": 1, "text": text}})
}

// didChange replaces all of a text.
func (c *client) didChange(name string, version int, text string) {
	c.edit(name, version, map[string]any{"text": text})
}

func (c *client) edit(name string, version int, changes ...map[string]any) {
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "version": version}, "contentChanges": changes})
}

// findings waits until those of a version of a file are published, and as long as the server
// works on it: a request behind an edit is answered after.
func (c *client) findings(name string, version int) []string {
	c.tb.Helper()
	var out []string
	c.wait("diagnostics of "+name, func() bool {
		p := c.published[c.uri(name)]
		if p == nil || p["version"] != float64(version) {
			return false
		}
		out = nil
		for _, d := range p["diagnostics"].([]any) {
			out = append(out, shown(d.(map[string]any)))
		}
		return true
	})
	return out
}

// settled waits until the findings of a file are some.
func (c *client) settled(name string, want []string) {
	c.tb.Helper()
	var got []string
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		c.mu.Lock()
		got = nil
		if p := c.published[c.uri(name)]; p != nil {
			for _, d := range p["diagnostics"].([]any) {
				got = append(got, shown(d.(map[string]any)))
			}
		}
		c.mu.Unlock()
		if strings.Join(got, "\n") == strings.Join(want, "\n") {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	require.Equal(c.tb, want, got)
}

// shown is a finding as "code line:character-line:character".
func shown(d map[string]any) string {
	return fmt.Sprintf("%s %s", d["code"], rangeText(d["range"]))
}

func rangeText(r any) string {
	at := func(end string) string {
		p := r.(map[string]any)[end].(map[string]any)
		return fmt.Sprintf("%v:%v", p["line"], p["character"])
	}
	return at("start") + "-" + at("end")
}

// at is a request's place: of a mark in a text, by UTF-16.
func (c *client) at(name, text, mark string) map[string]any {
	c.tb.Helper()
	i := strings.Index(text, mark)
	require.GreaterOrEqual(c.tb, i, 0, "there is no %q", mark)
	return c.place(name, text, i)
}

// place is a request's place: a byte of a text.
func (c *client) place(name, text string, offset int) map[string]any {
	line := strings.Count(text[:offset], "\n")
	column := 0
	for _, r := range text[strings.LastIndexByte(text[:offset], '\n')+1 : offset] {
		if column++; r > 0xFFFF {
			column++
		}
	}
	return map[string]any{"textDocument": map[string]any{"uri": c.uri(name)}, "position": map[string]any{"line": line, "character": column}}
}

// ends says bye, and gives the exit code.
func (c *client) ends(shutdown bool) int {
	c.tb.Helper()
	if shutdown {
		c.call("shutdown", nil)
	}
	c.notify("exit", nil)
	return c.ended()
}

// ended waits for the end of the session, and gives the exit code.
func (c *client) ended() int {
	c.tb.Helper()
	c.wait("the end", func() bool { return c.done })
	if c.cmd == nil {
		<-c.served
		if c.clean {
			return 0
		}
		return 1
	}
	c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}
