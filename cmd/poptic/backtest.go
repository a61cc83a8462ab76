package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
)

type backtestVerb struct {
	New      string   `arg:"" name:"contract" help:"The contract to judge by: a .poptic file or a compiled contract." placeholder:"CONTRACT"`
	Under    []string `arg:"" name:"under" optional:"" help:"Contracts that the instances ran under, in any order; needed only where the types of the state changed." placeholder:"CONTRACT"`
	Root     string   `help:"Folder that imports may not leave; by default the current directory, or a contract's folder outside of it." placeholder:"DIR"`
	Store    storeURL `required:"" help:"Store with what was decided, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `help:"Judge the decisions of this instance only." placeholder:"ID"`
	Expect   []string `enum:"same,refused,allowed,result,state,phase,stage" default:"same" help:"What may come of it, each of ${enum}; else the exit code is 1. May be given several times." placeholder:"ANSWER"`
	Format   string   `enum:"text,json" default:"text" help:"How the result is printed: ${enum}."`
}

// Help is printed by --help.
func (backtestVerb) Help() string {
	return `Judges by another contract what was decided before: every recorded decision of every instance, on the state it was made on, for the same principal and by the same clock. So it is known before a contract is changed what the change would have refused and allowed. The store is left as it is.

History stays what it was: of what follows from a refusal nothing is made up. Each kind of difference is shown with how often it is, in which stages, and its first example with the rule that makes it:

    same     accepted or refused, as before; "reason" counts what is refused by another rule
    refused  now refused
    allowed  now accepted
    result   accepted, and leads to another state or phase
    state    was made on what is no state of the contract: its type or a rule says no
    phase    was made in a phase that is gone
    stage    was made by a stage that is gone, or that has another parameter
    patch    cannot be judged: the log did not keep the patch
    format   cannot be judged: a log of an older format does not have what is needed

Examples:

    poptic backtest desk2.poptic --store sqlite:desk.db
    poptic backtest desk2.poptic --store sqlite:desk.db --instance T-7 --expect refused
    poptic backtest desk2.poptic desk.poptic --store sqlite:desk.db --format json

Exit codes:

    0  every decision comes out the same, or as --expect says
    1  one does not
    2  usage, unreadable input, a log that does not hold, a contract that is needed and not given; nothing to judge`
}

// A tested is what came of all decisions, as JSON shows it.
type tested struct {
	Contract  string         `json:"contract"`
	Instances int            `json:"instances"`
	Decisions int            `json:"decisions"`
	Expected  bool           `json:"expected"` // nothing came out that was not expected
	Answers   []testedAnswer `json:"answers"`
}

// A testedAnswer is what came out the same way.
type testedAnswer struct {
	Answer   runtime.Answer    `json:"answer"`
	Count    int               `json:"count"`
	Expected bool              `json:"expected"`
	Stages   map[string]int    `json:"stages"` // how often in each; moves of the host are under ""
	First    *runtime.Rejudged `json:"first"`
}

// Run implements the verb.
func (v *backtestVerb) Run(c *console) error {
	contracts := make([]*runtime.Contract, 0, 1+len(v.Under))
	for _, name := range append([]string{v.New}, v.Under...) {
		contract, err := contractArg{Contract: name, Root: v.Root}.load(c)
		if err != nil {
			return err
		}
		loaded, err := runtime.Load(ir.Encode(contract))
		if err != nil {
			return broken(name, err)
		}
		contracts = append(contracts, loaded)
	}
	st, err := v.Store.look(c)
	if err != nil {
		return err
	}
	defer st.Close()
	ids, err := logArg{v.Store.file, logFlags{v.Store, v.Instance}}.ids(c, st)
	if err != nil {
		return instanceError(v.Store.file, err)
	}
	if len(ids) == 0 {
		return fail("name a store with instances", "%s has no instances: there is nothing to judge", v.Store.file)
	}
	out := &tested{Contract: contracts[0].Digest(), Instances: len(ids), Expected: true}
	tell := newProgress(c, "decisions")
	for i, id := range ids {
		err := runtime.Backtest(c.ctx, contracts[0], st, id, func(r runtime.Rejudged) error {
			out.take(&r)
			tell.at(out.Decisions, i, len(ids))
			return nil
		}, contracts[1:]...)
		if err != nil {
			return v.explain(id, err)
		}
	}
	out.expect(v.Expect)
	if v.Format == "json" {
		err = c.printJSON(out)
	} else {
		out.write(c.outText())
	}
	return cmp.Or(err, out.answer())
}

func (v *backtestVerb) explain(id string, err error) error {
	var other *runtime.ContractMismatchError
	if errors.As(err, &other) {
		return &failure{
			What:  "the log of " + terminal.Word(id) + " cannot be read under the types of " + v.New,
			Where: []string{"it was under " + other.Have},
			Help:  "give that contract too, or its compiled form, after the one to judge by",
		}
	}
	return instanceError(v.Store.file, err)
}

func (t *tested) take(r *runtime.Rejudged) {
	t.Decisions++
	i := slices.IndexFunc(t.Answers, func(a testedAnswer) bool { return a.Answer == r.Answer })
	if i < 0 {
		i = len(t.Answers)
		first := *r
		t.Answers = append(t.Answers, testedAnswer{Answer: r.Answer, Stages: map[string]int{}, First: &first})
	}
	t.Answers[i].Count++
	t.Answers[i].Stages[r.Stage]++
}

// harmless are the answers that are no change, or none that is known of.
var harmless = []runtime.Answer{runtime.AnswerSame, runtime.AnswerReason, runtime.AnswerPatch, runtime.AnswerFormat}

// expect puts the answers in order, and says which were expected.
func (t *tested) expect(wanted []string) {
	order := runtime.Answers()
	slices.SortFunc(t.Answers, func(a, b testedAnswer) int {
		return cmp.Compare(slices.Index(order, a.Answer), slices.Index(order, b.Answer))
	})
	for i := range t.Answers {
		a := &t.Answers[i]
		a.Expected = slices.Contains(harmless, a.Answer) || slices.Contains(wanted, string(a.Answer))
		t.Expected = t.Expected && a.Expected
	}
	t.Answers = orEmpty(t.Answers)
}

func (t *tested) answer() error {
	if t.Expected {
		return nil
	}
	return errNo
}

// answerWords say what came out, for people.
var answerWords = map[runtime.Answer]string{
	runtime.AnswerSame:    "the same",
	runtime.AnswerReason:  "still refused, by another rule",
	runtime.AnswerRefused: "now refused",
	runtime.AnswerAllowed: "now allowed",
	runtime.AnswerResult:  "accepted, with another result",
	runtime.AnswerState:   "made on what is not a state of the new contract",
	runtime.AnswerPhase:   "made in a phase that is gone",
	runtime.AnswerStage:   "made by a stage that is gone or has another parameter",
	runtime.AnswerPatch:   "not judged: the log has not kept the patch",
	runtime.AnswerFormat:  "not judged: the log is of an older format",
}

func (t *tested) write(p *terminal.Printer) {
	p.Line("%s of %s", terminal.Plural(t.Decisions, "decision"), terminal.Plural(t.Instances, "instance"))
	width := 0
	for _, a := range t.Answers {
		width = max(width, len(terminal.Grouped(a.Count)))
	}
	for _, a := range t.Answers {
		words := answerWords[a.Answer]
		if !a.Expected {
			words = p.Red(words)
		}
		p.Line("  %*s %s", width, terminal.Grouped(a.Count), words)
		if a.Answer == runtime.AnswerSame {
			continue
		}
		p.Wrapped("      ", "        ", "in "+stagesOf(a.Stages))
		p.Wrapped("      ", "        ", "first: "+placeOf(a.First))
		if why := whyOf(a.First); why != "" {
			p.Wrapped("        ", "          ", why)
		}
	}
}

// maxStagesShown is of how many stages a line tells how often they are meant.
const maxStagesShown = 8

// stagesOf lists stages, those that come most often first.
func stagesOf(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var words []string
	for i, name := range names {
		if i == maxStagesShown {
			words = append(words, "and "+terminal.Plural(len(names)-i, "other stage"))
			break
		}
		words = append(words, stageWord(name)+" "+terminal.Grouped(counts[name]))
	}
	return strings.Join(words, ", ")
}

func stageWord(name string) string {
	if name == "" {
		return "moves of the host"
	}
	return terminal.Word(name)
}

func placeOf(r *runtime.Rejudged) string {
	what := "a move of the host"
	if r.Stage != "" {
		what = "stage " + terminal.Word(r.Stage)
	}
	return terminal.Word(r.Instance) + ", " + recordNumber(r.Seq) + ": " + what + " on version " + terminal.Grouped(int(r.Version)) + ", phase " + terminal.Word(r.Phase)
}

// whyOf says which rule makes the difference.
func whyOf(r *runtime.Rejudged) string {
	why := r.Why
	if why == nil {
		return ""
	}
	text := "gate " + string(why.Gate)
	if why.Rule != "" {
		text += ", " + why.Rule
	}
	if why.Path != nil {
		text += ", at " + terminal.Word(place(*why.Path))
	}
	return text + ": " + why.Message
}

// A progress tells on a terminal how far something is that takes long.
type progress struct {
	p    *terminal.Printer // nil where nobody looks
	what string
	next time.Time
}

// progressEvery is how much time passes between two lines at least.
const progressEvery = 2 * time.Second

func newProgress(c *console, what string) *progress {
	g := &progress{what: what, next: time.Now().Add(progressEvery)}
	if c.err.IsTerminal() {
		g.p = c.errText()
	}
	return g
}

// at tells that done things are done, and part of all instances.
func (g *progress) at(done, part, all int) {
	if g.p == nil || done%64 != 0 || time.Now().Before(g.next) {
		return
	}
	g.next = time.Now().Add(progressEvery)
	g.p.Line("%s", g.p.Dim(terminal.Grouped(done)+" "+g.what+", "+terminal.Grouped(part)+" of "+terminal.Plural(all, "instance")))
}
