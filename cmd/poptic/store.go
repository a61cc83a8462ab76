package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// A storeURL names a store on the command line, as SCHEME:WHERE. There is one scheme.
type storeURL struct {
	text string // as it was given, "" for none
	file string // of SQLite
}

const sqliteScheme = "sqlite:"

// Decode implements kong.MapperValue.
func (u *storeURL) Decode(ctx *kong.DecodeContext) error {
	text, err := given(ctx)
	if err != nil {
		return err
	}
	*u, err = parseStoreURL(text)
	return err
}

func parseStoreURL(text string) (storeURL, error) {
	file, found := strings.CutPrefix(text, sqliteScheme)
	switch scheme, _, hasScheme := strings.Cut(text, ":"); {
	case found && file == "":
		return storeURL{}, errors.New("it names no file: write sqlite:FILE, for example sqlite:desk.db")
	case found && strings.HasPrefix(file, "//"):
		return storeURL{}, errors.New("a file has no host: write sqlite:FILE without //, for example sqlite:/srv/desk.db")
	case found:
		return storeURL{text, file}, nil
	case !hasScheme:
		return storeURL{}, fmt.Errorf("%q names no store: write sqlite:FILE, for example sqlite:desk.db", text)
	default:
		return storeURL{}, fmt.Errorf("there is no store %q: the schemes are sqlite, as in sqlite:FILE", scheme+":")
	}
}

func (u storeURL) given() bool { return u.text != "" }

// open opens a store that is there, to go on with it.
func (u storeURL) open(c *console) (*sqlite.Store, error) {
	if err := u.readyToOpen(); err != nil {
		return nil, err
	}
	st, err := sqlite.Open(c.ctx, u.file, sqlite.Existing())
	if err != nil {
		return nil, instanceError(u.file, err)
	}
	return st, nil
}

// look opens a store that is there, to read it: it is left as it is.
func (u storeURL) look(c *console) (*sqlite.Store, error) {
	if err := u.readyToOpen(); err != nil {
		return nil, err
	}
	st, err := sqlite.OpenReadOnly(c.ctx, u.file)
	if err != nil {
		return nil, instanceError(u.file, err)
	}
	return st, nil
}

// readyToOpen checks that there is a database to go on with. To open a store
// makes its file, so this comes before.
func (u storeURL) readyToOpen() error {
	is, err := u.isDatabase()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("\"poptic create\" makes it with its first instance", "there is no store %s", u.file)
	case err != nil:
		return unreadable("store", u.file, err)
	case !is:
		return fail("\"poptic create\" makes a store with its first instance", "%s is no store", u.file)
	}
	return nil
}

// isDatabase looks at the first bytes of the file. What is no regular file is not even
// opened: a pipe would wait for somebody to write.
func (u storeURL) isDatabase() (bool, error) {
	info, err := os.Stat(u.file)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return false, err
	}
	return sqlite.IsFile(u.file)
}

// An instanceFlags names an instance of a store, instead of a state document.
type instanceFlags struct {
	State    string   `xor:"state" help:"State document; - is standard input." placeholder:"FILE"`
	Store    storeURL `xor:"state" help:"Instead of a state: the store of the instance that --instance names, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `help:"Instance of the store." placeholder:"ID"`
}

// principalFlags say who acts on an instance.
type principalFlags struct {
	Principal stated `help:"Of an instance: who acts, for its log; tries are counted for each." placeholder:"SUBJECT"`
	Token     stated `help:"Of an instance: the name of what the principal showed to prove that, never a secret." placeholder:"NAME"`
	OnBehalf  stated `help:"Of an instance: whom the principal acts for." placeholder:"SUBJECT"`
}

// principal is who acts. Without an instance there is no log that could tell it.
func (f *principalFlags) principal(of storeURL) (runtime.Principal, error) {
	p := runtime.Principal{Subject: string(f.Principal), Token: string(f.Token), OnBehalf: string(f.OnBehalf)}
	if p != (runtime.Principal{}) && !of.given() {
		return p, fail("give --store and --instance instead of --state", "--principal, --token and --on-behalf are about the log of an instance, and a state document has none")
	}
	if err := p.Check(); err != nil {
		return p, fail("nothing was decided", "%s", err)
	}
	return p, nil
}

// stored reports whether an instance of a store is meant. The error says which flags
// do not go together.
func (f *instanceFlags) stored(phase string) (bool, error) {
	switch {
	case !f.Store.given() && f.State == "":
		return false, fail("give one of them: a state document, or --instance ID of a store", "missing flags: --state=FILE or --store=URL")
	case !f.Store.given() && f.Instance != "":
		return false, fail("give --store sqlite:FILE instead of --state", "an instance is in a store, and --state names none")
	case f.Store.given() && phase != "":
		return false, fail("leave --phase out", "the log of an instance tells its phase")
	}
	return f.Store.given(), nil
}

// A running instance is one that was opened, with its store.
type running struct {
	*runtime.Instance
	contract *ir.Contract
	store    *sqlite.Store
	file     string
}

func (r *running) close() {
	_ = r.Instance.Close(context.Background())
	r.store.Close()
}

// explain turns an error of the instance's methods into a failure, as far as it knows it.
func (r *running) explain(err error) error {
	return instanceError(r.file, misnamed(r.contract, err))
}

// open goes on with the instance that the flags name. The caller closes it.
func (f *instanceFlags) open(c *console, of *contractArg) (*running, error) {
	return f.from(c, of, f.Store.open)
}

// look opens the instance that the flags name, to ask it what leaves no trace.
func (f *instanceFlags) look(c *console, of *contractArg) (*running, error) {
	return f.from(c, of, f.Store.look)
}

func (f *instanceFlags) from(c *console, of *contractArg, open func(*console) (*sqlite.Store, error)) (*running, error) {
	contract, err := of.load(c)
	if err != nil {
		return nil, err
	}
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return nil, broken(of.Contract, err)
	}
	st, err := open(c)
	if err != nil {
		return nil, err
	}
	if f.Instance == "" {
		err = needInstance(c, st, f.Store.file)
		st.Close()
		return nil, err
	}
	in, err := runtime.Open(c.ctx, loaded, st, string(f.Instance))
	if err != nil {
		defer st.Close()
		if errors.Is(err, store.ErrNotFound) {
			err = noInstance(c, st, f.Store.file, string(f.Instance))
		}
		return nil, instanceError(f.Store.file, err)
	}
	return &running{in, contract, st, f.Store.file}, nil
}

// maxListed is how many instances a message lists at most.
const maxListed = 10

// instancesOf lists the instances of a store.
func instancesOf(c *console, st store.Store) (ids []string, err error) {
	for e, err := range st.Instances(c.ctx, "") {
		if err != nil {
			return nil, err
		}
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// needInstance says that no instance was named, and which there are.
func needInstance(c *console, st store.Store, name string) error {
	ids, err := instancesOf(c, st)
	if err != nil {
		return err
	}
	return fail(instanceHelp(name, "", ids), "which instance of %s? --instance is missing", name)
}

// noInstance says that a store has no instance of a name, and which is near it.
func noInstance(c *console, st store.Store, name, id string) error {
	ids, err := instancesOf(c, st)
	if err != nil {
		return err
	}
	return fail(instanceHelp(name, spell.Nearest(id, ids), ids), "%s has no instance %q", name, id)
}

func instanceHelp(name, nearest string, ids []string) string {
	switch {
	case len(ids) == 0:
		return "it has none; \"poptic create\" begins one"
	case nearest == "" && len(ids) > maxListed:
		return "\"poptic instances --store sqlite:" + name + "\" lists the " + terminal.Grouped(len(ids)) + " that there are"
	}
	known := make([]string, len(ids))
	for i, id := range ids {
		known[i] = terminal.Word(id)
	}
	return didYouMean("instance", nearest, known)
}

// instanceError explains why an instance of the store called name cannot be begun or
// gone on with; what it does not know, it gives back.
func instanceError(name string, err error) error {
	var id *runtime.IDError
	var format *runtime.FormatError
	var older *runtime.OlderFormatError
	var version *sqlite.VersionError
	var other *runtime.ContractMismatchError
	var invalid *runtime.InvalidStateError
	switch {
	case errors.As(err, &id):
		return fail("an id is 1 to 255 bytes of UTF-8 text without control characters", "the instance cannot be called that: %s", id.Reason)
	case errors.As(err, &format):
		return fail(versionWanted, "%s was %s", name, format)
	case errors.As(err, &older):
		return fail("\"poptic migrate CONTRACT --store sqlite:"+name+" --instance "+terminal.Word(older.Instance)+" --to CONTRACT\", twice the contract that it has, lets it go on",
			"the instance %q was written in format %d: migrate it first", older.Instance, older.Have)
	case errors.As(err, &version):
		return fail(versionWanted, "%s was %s", name, version)
	case errors.As(err, &other):
		return &failure{
			What:  fmt.Sprintf("the instance %q runs under another contract", other.Instance),
			Where: []string{"it runs under " + other.Have, "this contract is " + other.Want},
			Help:  "give the contract that it runs under, or its compiled form; \"poptic migrate\" puts it under another one",
		}
	case errors.As(err, &invalid):
		return &failure{
			What:  fmt.Sprintf("the state of the instance %q breaks the contract's own rules", invalid.Instance),
			Where: oneLineEach(invalid.Violations),
		}
	case damage(err) != "":
		return fail("\"poptic audit "+name+" --verify\" tells what holds", "the store %s is damaged: %s", name, damage(err))
	}
	return err
}
