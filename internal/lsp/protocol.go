package lsp

import "encoding/json"

// The part of the protocol that the server speaks: version 3.17, with the names that the
// protocol gives them. What a client sends beside that is ignored.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *markup { return &markup{"markdown", text} }

// Starting and ending.

type initializeParams struct {
	RootPath         string            `json:"rootPath"`
	RootURI          string            `json:"rootUri"`
	WorkspaceFolders []workspaceFolder `json:"workspaceFolders"`
	Capabilities     struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
			DocumentSymbol struct {
				Hierarchical bool `json:"hierarchicalDocumentSymbolSupport"`
			} `json:"documentSymbol"`
		} `json:"textDocument"`
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
			InlayHint struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"inlayHint"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   serverInfo         `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type serverCapabilities struct {
	PositionEncoding           string                 `json:"positionEncoding"`
	TextDocumentSync           syncOptions            `json:"textDocumentSync"`
	HoverProvider              bool                   `json:"hoverProvider"`
	CompletionProvider         *completionOptions     `json:"completionProvider,omitempty"`
	DefinitionProvider         bool                   `json:"definitionProvider"`
	ReferencesProvider         bool                   `json:"referencesProvider"`
	DocumentHighlightProvider  bool                   `json:"documentHighlightProvider"`
	RenameProvider             renameOptions          `json:"renameProvider"`
	DocumentSymbolProvider     bool                   `json:"documentSymbolProvider"`
	WorkspaceSymbolProvider    bool                   `json:"workspaceSymbolProvider"`
	FoldingRangeProvider       bool                   `json:"foldingRangeProvider"`
	SemanticTokensProvider     *semanticTokensOptions `json:"semanticTokensProvider,omitempty"`
	InlayHintProvider          bool                   `json:"inlayHintProvider,omitempty"`
	CodeActionProvider         *codeActionOptions     `json:"codeActionProvider,omitempty"`
	CodeLensProvider           *codeLensOptions       `json:"codeLensProvider,omitempty"`
	ExecuteCommandProvider     *executeCommandOptions `json:"executeCommandProvider,omitempty"`
	DocumentFormattingProvider bool                   `json:"documentFormattingProvider,omitempty"`
	Workspace                  workspaceCapabilities  `json:"workspace"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"` // 2: edits
}

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type renameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

type semanticTokensOptions struct {
	Legend semanticLegend `json:"legend"`
	Full   bool           `json:"full"`
	Range  bool           `json:"range"`
}

type semanticLegend struct {
	TokenTypes     []string `json:"tokenTypes"`
	TokenModifiers []string `json:"tokenModifiers"`
}

type codeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type codeLensOptions struct {
	ResolveProvider bool `json:"resolveProvider"`
}

type executeCommandOptions struct {
	Commands []string `json:"commands"`
}

type workspaceCapabilities struct {
	WorkspaceFolders struct {
		Supported           bool `json:"supported"`
		ChangeNotifications bool `json:"changeNotifications"`
	} `json:"workspaceFolders"`
}

type registrationParams struct {
	Registrations []registration `json:"registrations"`
}

type registration struct {
	ID              string `json:"id"`
	Method          string `json:"method"`
	RegisterOptions any    `json:"registerOptions,omitempty"`
}

type watchOptions struct {
	Watchers []watcher `json:"watchers"`
}

type watcher struct {
	GlobPattern string `json:"globPattern"`
}

// Documents.

type textDocument struct {
	URI string `json:"uri"`
}

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

// A contentChange replaces a range, or without one all of the text.
type contentChange struct {
	Range *textRange `json:"range"`
	Text  string     `json:"text"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

type rangeParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        textRange    `json:"range"`
}

type foldersParams struct {
	Event struct {
		Added   []workspaceFolder `json:"added"`
		Removed []workspaceFolder `json:"removed"`
	} `json:"event"`
}

// Diagnostics.

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`

	About *codeDescription `json:"codeDescription,omitempty"`

	Source  string    `json:"source"`
	Message string    `json:"message"`
	Tags    []int     `json:"tags,omitempty"`
	Related []related `json:"relatedInformation,omitempty"`
}

// A codeDescription is where the page of a code is.
type codeDescription struct {
	Href string `json:"href"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

// Answers.

type hover struct {
	Contents *markup    `json:"contents"`
	Range    *textRange `json:"range,omitempty"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label            string    `json:"label"`
	Kind             int       `json:"kind"`
	Detail           string    `json:"detail,omitempty"`
	Documentation    *markup   `json:"documentation,omitempty"`
	SortText         string    `json:"sortText,omitempty"`
	FilterText       string    `json:"filterText,omitempty"`
	InsertTextFormat int       `json:"insertTextFormat,omitempty"` // 2: a snippet
	TextEdit         *textEdit `json:"textEdit,omitempty"`
}

// Kinds of completion items.
const (
	itemFunction   = 3
	itemField      = 5
	itemVariable   = 6
	itemClass      = 7
	itemModule     = 9
	itemProperty   = 10
	itemValue      = 12
	itemKeyword    = 14
	itemSnippet    = 15
	itemFile       = 17
	itemEnumMember = 20
	itemConstant   = 21
	itemEvent      = 23
)

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type documentHighlight struct {
	Range textRange `json:"range"`
	Kind  int       `json:"kind"` // 2: read, 3: write
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type prepareRename struct {
	Range       textRange `json:"range"`
	Placeholder string    `json:"placeholder"`
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

// Kinds of symbols.
const (
	kindModule      = 2
	kindNamespace   = 3
	kindClass       = 5
	kindMethod      = 6
	kindProperty    = 7
	kindField       = 8
	kindEnum        = 10
	kindFunction    = 12
	kindVariable    = 13
	kindConstant    = 14
	kindArray       = 18
	kindObject      = 19
	kindKey         = 20
	kindEnumMember  = 22
	kindEvent       = 24
	kindOperator    = 25
	kindRule        = kindEvent
	kindComposition = kindOperator
)

type symbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

type workspaceSymbolParams struct {
	Query string `json:"query"`
}

type foldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

type semanticTokens struct {
	Data []uint32 `json:"data"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind,omitempty"` // 1: a type
	Tooltip     *markup  `json:"tooltip,omitempty"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}

type codeActionParams struct {
	rangeParams
	Context struct {
		Diagnostics []diagnostic `json:"diagnostics"`
		Only        []string     `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *workspaceEdit `json:"edit,omitempty"`
}

type codeLens struct {
	Range   textRange `json:"range"`
	Command *command  `json:"command,omitempty"`
	Data    any       `json:"data,omitempty"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type executeParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type showMessage struct {
	Type    int    `json:"type"` // 1: error, 3: information
	Message string `json:"message"`
}
