// Package lsp is a language server for contracts: what an editor shows of a file while it is
// being written.
//
// It is a front of package compiler. An edit makes a new version of a document; a version is
// compiled once, whoever asks first (workspace.go), and everything the server says is read off
// that: diagnostics (publish.go), hover (hover.go), completion (complete.go), definitions,
// references and renaming (names.go), symbols and folds (outline.go), colours (tokens.go),
// hints and lenses (hints.go), fixes (actions.go), canonical form (format.go).
//
// Notifications are handled in the order in which they come, so that edits cannot overtake
// each other. A request is answered beside them, about the documents as they were when it
// came, until the client cancels it. Offsets are bytes; what they are to the client, is known
// to content.go alone.
package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/footprint"
)

// Options are what a server is told by the program that it runs in.
type Options struct {
	Version string
	// Replay makes what runs the stages of a contract, given its folder and its path, to
	// refute claims; nil leaves claims unknown that need it.
	Replay func(fsys fs.FS, path string) footprint.Replayer
	// Libraries is the folder where the libraries that come with the compiler are written for
	// the editor to open; "" for nowhere.
	Libraries string
	Log       io.Writer // of what went wrong inside; nil for nowhere
}

// Serve speaks the protocol until the client says exit, or goes away. clean reports that it
// asked for a shutdown before. The error is that of ctx.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) (clean bool, err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &server{
		Options: o, units: utf16Units, docs: &snapshot{}, log: log.New(o.Log, "poptic lsp: ", 0),
		dirty: make(chan struct{}, 1), ready: make(chan struct{}), exit: make(chan struct{}), running: map[jsonrpc2.ID]context.CancelFunc{},
	}
	s.publisher.server = s
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := jsonrpc2.NewBufferedStream(pipe{in, out}, codec{s.log})
	s.conn = jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(s.log))
	close(s.ready)
	var work sync.WaitGroup
	work.Go(func() { s.publisher.run(ctx) })
	select {
	case <-s.exit:
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.conn.Close()
	cancel()
	work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life == ended, err
}

// A pipe is the two streams of a client.
type pipe struct {
	io.Reader
	io.Writer
}

// Close closes what can be: a read that waits ends with its stream only.
func (p pipe) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// server is one session with a client.
type server struct {
	Options
	conn      *jsonrpc2.Conn
	log       *log.Logger
	units     encoding
	client    initializeParams
	analyses  analyses
	publisher publisher
	dirty     chan struct{} // something changed that diagnostics may depend on
	ready     chan struct{} // closed once there is a connection
	exit      chan struct{} // closed when the client says so
	exited    sync.Once

	mu       sync.Mutex
	life     life
	docs     *snapshot
	running  map[jsonrpc2.ID]context.CancelFunc
	checking context.CancelFunc // of the diagnostics of a version that may be superseded
}

// life is where a session stands.
type life uint8

const (
	unborn life = iota // before initialize
	alive
	ended // after shutdown
)

// The errors of the protocol that have no name in the library.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeFailed         = -32803
)

// refuse is an answer that says why there is none.
func refuse(format string, args ...any) error {
	return &jsonrpc2.Error{Code: codeFailed, Message: fmt.Sprintf(format, args...)}
}

// A method is what the server does for one of the protocol's. Those in order are done before
// the next message is read.
type method struct {
	inOrder bool
	run     func(ctx context.Context, s *server, docs *snapshot, params json.RawMessage) (any, error)
}

// answer makes a method of a function that takes and gives what the protocol says.
func answer[P, R any](f func(s *server, ctx context.Context, docs *snapshot, p P) (R, error)) method {
	return method{false, func(ctx context.Context, s *server, docs *snapshot, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		return f(s, ctx, docs, p)
	}}
}

// note makes a method of a notification.
func note[P any](f func(s *server, p P)) method {
	m := answer(func(s *server, _ context.Context, _ *snapshot, p P) (any, error) { f(s, p); return nil, nil })
	m.inOrder = true
	return m
}

// ordered makes a request one that is answered before the next message is read.
func ordered(m method) method {
	m.inOrder = true
	return m
}

var methods map[string]method

func init() {
	ignored := note(func(*server, json.RawMessage) {})
	methods = map[string]method{
		"initialize":                          ordered(answer((*server).initialize)),
		"initialized":                         note((*server).initialized),
		"shutdown":                            ordered(answer((*server).shutdown)),
		"$/setTrace":                          ignored,
		"textDocument/didOpen":                note((*server).didOpen),
		"textDocument/didChange":              note((*server).didChange),
		"textDocument/didClose":               note((*server).didClose),
		"textDocument/didSave":                note(func(s *server, _ documentParams) { s.recheck() }),
		"workspace/didChangeWatchedFiles":     note(func(s *server, _ json.RawMessage) { s.recheck() }),
		"workspace/didChangeConfiguration":    note(func(s *server, _ json.RawMessage) { s.recheck() }),
		"workspace/didChangeWorkspaceFolders": note((*server).didChangeFolders),
		"textDocument/hover":                  answer((*server).hover),
		"textDocument/definition":             answer((*server).definition),
		"textDocument/references":             answer((*server).references),
		"textDocument/prepareRename":          answer((*server).prepareRename),
		"textDocument/rename":                 answer((*server).rename),
		"textDocument/documentHighlight":      answer((*server).highlight),
		"textDocument/documentSymbol":         answer((*server).documentSymbol),
		"workspace/symbol":                    answer((*server).workspaceSymbol),
		"textDocument/foldingRange":           answer((*server).foldingRange),
		"textDocument/completion":             answer((*server).completion),
		"textDocument/semanticTokens/full":    answer((*server).semanticTokens),
		"textDocument/semanticTokens/range":   answer((*server).semanticTokensRange),
		"textDocument/inlayHint":              answer((*server).inlayHint),
		"textDocument/codeAction":             answer((*server).codeAction),
		"textDocument/codeLens":               answer((*server).codeLens),
		"textDocument/formatting":             answer((*server).formatting),
		"codeLens/resolve":                    answer((*server).resolveLens),
		"workspace/executeCommand":            answer((*server).execute),
	}
}

// Handle implements jsonrpc2.Handler: it is called for one message after the other.
func (s *server) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-s.ready
	switch req.Method {
	case "exit":
		s.exited.Do(func() { close(s.exit) })
		return
	case "$/cancelRequest":
		s.cancel(req)
		return
	}
	m, known := methods[req.Method]
	if err := s.admit(req, known); err != nil {
		if !req.Notif {
			s.conn.ReplyWithError(ctx, req.ID, err)
		}
		return
	}
	if !known {
		return
	}
	var params json.RawMessage = []byte("null")
	if req.Params != nil {
		params = *req.Params
	}
	s.mu.Lock()
	docs := s.docs
	ctx, stop := context.WithCancel(ctx)
	if !req.Notif {
		s.running[req.ID] = stop
	}
	s.mu.Unlock()
	if m.inOrder {
		s.serve(ctx, stop, m, docs, req, params)
		return
	}
	go s.serve(ctx, stop, m, docs, req, params)
}

// admit says why a message cannot be served where the session stands.
func (s *server) admit(req *jsonrpc2.Request, known bool) *jsonrpc2.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life == unborn && req.Method != "initialize":
		return &jsonrpc2.Error{Code: codeNotInitialized, Message: "the first request is initialize"}
	case s.life == alive && req.Method == "initialize", s.life == ended:
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "this session is past that"}
	case !known:
		return &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "there is no method " + req.Method + " here"}
	}
	return nil
}

// serve answers one message. What fails inside fails this answer, and no other.
func (s *server) serve(ctx context.Context, stop context.CancelFunc, m method, docs *snapshot, req *jsonrpc2.Request, params json.RawMessage) {
	defer stop()
	result, err := s.guarded(req.Method, func() (any, error) { return m.run(ctx, s, docs, params) })
	if req.Notif {
		return
	}
	s.mu.Lock()
	delete(s.running, req.ID)
	s.mu.Unlock()
	var failure *jsonrpc2.Error
	switch {
	case ctx.Err() != nil:
		failure = &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}
	case err != nil:
		if known, ok := err.(*jsonrpc2.Error); ok {
			failure = known
		} else {
			failure = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		}
	}
	if failure != nil {
		s.conn.ReplyWithError(context.Background(), req.ID, failure)
		return
	}
	s.conn.Reply(context.Background(), req.ID, result)
}

// guarded makes an error of a panic.
func (s *server) guarded(what string, do func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Printf("%s: %v\n%s", what, r, strings.ReplaceAll(string(debug.Stack()), "\t", "  "))
			err = fmt.Errorf("%s failed inside the server", what)
		}
	}()
	return do()
}

func (s *server) cancel(req *jsonrpc2.Request) {
	var p struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if req.Params == nil || json.Unmarshal(*req.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	stop := s.running[p.ID]
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// The session.

func (s *server) initialize(_ context.Context, _ *snapshot, p initializeParams) (initializeResult, error) {
	s.client = p
	if slices.Contains(p.Capabilities.General.PositionEncodings, string(utf8Units)) {
		s.units = utf8Units
	}
	var folders []string
	for _, f := range p.WorkspaceFolders {
		folders = append(folders, f.URI)
	}
	if root := p.RootURI; len(folders) == 0 && root != "" {
		folders = []string{root}
	}
	s.mu.Lock()
	s.life, s.docs = alive, &snapshot{folders: foldersOf(folders)}
	if len(folders) == 0 && filepath.IsAbs(p.RootPath) {
		s.docs.folders = []string{filepath.Clean(p.RootPath)}
	}
	s.mu.Unlock()
	c := serverCapabilities{
		PositionEncoding:           string(s.units),
		TextDocumentSync:           syncOptions{OpenClose: true, Change: 2},
		HoverProvider:              true,
		DefinitionProvider:         true,
		ReferencesProvider:         true,
		RenameProvider:             renameOptions{PrepareProvider: true},
		DocumentHighlightProvider:  true,
		DocumentSymbolProvider:     true,
		WorkspaceSymbolProvider:    true,
		FoldingRangeProvider:       true,
		InlayHintProvider:          true,
		DocumentFormattingProvider: true,
		SemanticTokensProvider:     &semanticTokensOptions{Legend: semanticLegend{tokenTypes, tokenModifiers}, Full: true, Range: true},
		CodeActionProvider:         &codeActionOptions{CodeActionKinds: []string{quickFix, fixAll}},
		CodeLensProvider:           &codeLensOptions{ResolveProvider: true},
		ExecuteCommandProvider:     &executeCommandOptions{Commands: []string{showConflicts}},
		CompletionProvider:         &completionOptions{TriggerCharacters: []string{"/", ".", "{", "|", "\""}},
	}
	c.Workspace.WorkspaceFolders.Supported, c.Workspace.WorkspaceFolders.ChangeNotifications = true, true
	return initializeResult{c, serverInfo{"poptic", s.Version}}, nil
}

// foldersOf are the folders that URIs name.
func foldersOf(uris []string) []string {
	var out []string
	for _, uri := range uris {
		if name := fileName(uri); filepath.IsAbs(name) {
			out = append(out, name)
		}
	}
	return out
}

// initialized asks the client to tell when source files change on disk.
func (s *server) initialized(json.RawMessage) {
	if !s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return
	}
	go s.conn.Call(context.Background(), "client/registerCapability", registrationParams{[]registration{{
		ID: "files", Method: "workspace/didChangeWatchedFiles",
		RegisterOptions: watchOptions{[]watcher{{GlobPattern: "**/*" + extension}, {GlobPattern: "**/" + lint.ConfigFile}}},
	}}}, nil)
}

func (s *server) shutdown(context.Context, *snapshot, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = ended
	if s.checking != nil {
		s.checking()
	}
	return nil, nil
}

// Documents.

func (s *server) didOpen(p didOpenParams) {
	d := p.TextDocument
	s.put(&document{d.URI, fileName(d.URI), d.Version, newContent(d.Text)})
}

func (s *server) didChange(p didChangeParams) {
	name := fileName(p.TextDocument.URI)
	s.mu.Lock()
	open := s.docs.docs[name]
	s.mu.Unlock()
	if open == nil {
		s.log.Printf("a change of %s, which is not open", name)
		return
	}
	text := open.content
	for _, change := range p.ContentChanges {
		text = text.edited(change, s.units)
	}
	s.put(&document{open.uri, name, p.TextDocument.Version, text})
}

func (s *server) put(d *document) {
	s.mu.Lock()
	s.docs = s.docs.with(d)
	s.mu.Unlock()
	s.recheck()
}

func (s *server) didClose(p documentParams) {
	name := fileName(p.TextDocument.URI)
	s.mu.Lock()
	s.docs = s.docs.without(name)
	s.mu.Unlock()
	s.analyses.forget(name)
	s.recheck()
}

func (s *server) didChangeFolders(p foldersParams) {
	var added, removed []string
	for _, f := range p.Event.Added {
		added = append(added, f.URI)
	}
	for _, f := range p.Event.Removed {
		removed = append(removed, f.URI)
	}
	removed = foldersOf(removed)
	s.mu.Lock()
	docs := *s.docs
	docs.folders = slices.DeleteFunc(slices.Clone(docs.folders), func(f string) bool { return slices.Contains(removed, f) })
	docs.folders = append(docs.folders, foldersOf(added)...)
	s.docs = &docs
	s.mu.Unlock()
	s.recheck()
}

// recheck has the diagnostics found out anew of what may have changed; those that are being
// found out are of a version that is over.
func (s *server) recheck() {
	s.mu.Lock()
	if s.checking != nil {
		s.checking()
	}
	s.mu.Unlock()
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// A view is a document, and what is known of it, in a request.
type view struct {
	*analysis
	snap  *snapshot
	units encoding
	doc   *document
}

// view is what a request about a document of the client works with; one that is not open is
// read.
func (s *server) view(ctx context.Context, docs *snapshot, uri string) (*view, error) {
	name := fileName(uri)
	d := docs.docs[name]
	if d == nil {
		d = &document{uri: uri, name: name, content: newContent(docs.textOf(name))}
	}
	a, err := s.analyses.about(ctx, docs, name)
	if err != nil {
		return nil, err
	}
	if a.file(name) == nil {
		return nil, refuse("%s cannot be read", name)
	}
	return &view{a, docs, s.units, d}, nil
}

// at is the byte of a position in the view's document.
func (v *view) at(p position) int { return v.doc.offset(p, v.units) }

// rangeOf is where bytes of the view's document are.
func (v *view) rangeOf(start, end int) textRange { return v.doc.span(start, end, v.units) }
