package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

type replayVerb struct {
	First  string   `arg:"" name:"log" optional:"" help:"Database of a store; with --store, leave it out." placeholder:"FILE"`
	Second string   `arg:"" name:"contract" optional:"" help:"A .poptic file or a compiled contract; the bytes tell which." placeholder:"CONTRACT"`
	Others []string `arg:"" name:"others" optional:"" help:"The other contracts of an instance that was migrated, in any order." placeholder:"CONTRACT"`
	Root   string   `help:"Folder that imports may not leave; by default the current directory, or the contract's folder outside of it." placeholder:"DIR"`
	logFlags
	forceFlag
	At     *uint64  `help:"Print the state after this many commits, instead of making decisions again." placeholder:"VERSION"`
	Output fileName `short:"o" help:"File for that state; - is standard output." default:"-" placeholder:"FILE"`
	Format string   `enum:"text,json" default:"text" help:"How the result is printed: ${enum}."`
}

// Help is printed by --help.
func (replayVerb) Help() string {
	return `Makes every decision of a log again, from the first state on, and shows every view again: what comes out must be what was recorded. The first difference is named. LOG is the database of a store, or --store names it: a trace does not hold enough to decide.

With --at, prints the state as it was after a number of commits.

Examples:

    poptic replay desk.db desk.poptic
    poptic replay --store sqlite:desk.db --instance T-7 desk.poptic
    poptic replay desk.db desk.poptic --instance T-7 --at 12 -o then.json
    poptic replay desk.db desk.poptic desk2.poptic --instance T-7

Exit codes:

    0  everything comes out as it was recorded
    1  something does not, or the log is damaged
    2  usage, unreadable input, another contract than the log's, a log of another format`
}

// Run implements the verb.
func (v *replayVerb) Run(c *console) error {
	if v.Output != "-" && (v.At == nil || v.Format == "json") {
		return fail("give --at VERSION, without --format json", "-o is for the state at a version")
	}
	log, of, err := v.named()
	if err != nil {
		return err
	}
	contracts := make([]*runtime.Contract, len(of))
	kinds := make([]*ir.Contract, len(of))
	for i := range of {
		if kinds[i], err = of[i].load(c); err != nil {
			return err
		}
		if contracts[i], err = runtime.Load(ir.Encode(kinds[i])); err != nil {
			return broken(of[i].Contract, err)
		}
	}
	st, err := log.openDatabase(c)
	if err == nil && st == nil {
		err = fail("give the database that the trace was taken from", "%s is no database, and a trace does not hold the patches and the first state", log.name())
	}
	if err != nil {
		return v.answer(c, log, err)
	}
	defer st.Close()
	if v.At != nil {
		return v.answer(c, log, v.past(c, log, contracts, kinds, st))
	}
	return v.answer(c, log, v.replay(c, log, contracts, st))
}

// replayWanted says how the verb's two arguments are given.
const replayWanted = "write \"poptic replay LOG CONTRACT...\", or \"poptic replay --store URL CONTRACT...\""

// named are the log and the contracts: with --store, the contracts are the only arguments.
func (v *replayVerb) named() (log logArg, of []contractArg, err error) {
	log = logArg{v.First, v.logFlags}
	names := append([]string{v.Second}, v.Others...)
	if is, _ := (storeURL{file: v.First}).isDatabase(); v.Store.given() && (!is || v.Second == "") {
		if is {
			return log, nil, fail(replayWanted, "which contract? %s is a database, and --store names the log", v.First)
		}
		log.Log, names = "", append([]string{v.First}, names...)
	}
	if err := log.settle(); err != nil {
		return log, nil, err
	}
	for _, name := range names {
		if name != "" {
			of = append(of, contractArg{Contract: name, Root: v.Root})
		}
	}
	if len(of) == 0 {
		return log, nil, fail(replayWanted, "which contract? One argument is missing")
	}
	return log, of, nil
}

// answer tells damage as a no, and names the contract that is needed.
func (v *replayVerb) answer(c *console, log logArg, err error) error {
	var other *runtime.ContractMismatchError
	if errors.As(err, &other) {
		return fail("give the contract too that it runs under, or its compiled form: one that was migrated had several", "%s", other)
	}
	var unknown *runtime.UnknownVersionError
	if errors.As(err, &unknown) {
		return fail("", "%s", unknown)
	}
	if text := damage(err); text != "" {
		var corrupt *runtime.CorruptLogError
		if errors.As(err, &corrupt) {
			text = terminal.Word(corrupt.Instance) + ": " + text
		}
		c.errText().Wrapped("", "  ", c.errText().Red("damaged: ")+text)
		return errNo
	}
	return log.otherFormat(err)
}

func (v *replayVerb) replay(c *console, log logArg, contracts []*runtime.Contract, st store.Store) error {
	ids, err := log.recorded(c, st, false)
	if err != nil {
		return err
	}
	results := []runtime.Replayed{}
	var damaged, broken error
	for _, id := range ids {
		r, err := runtime.Replay(c.ctx, contracts[0], st, id, contracts[1:]...)
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case damage(err) != "":
			damaged = v.answer(c, log, err)
		case err != nil:
			broken = cmp.Or(broken, err)
		default:
			results = append(results, r)
		}
	}
	if err := cmp.Or(broken, damaged); len(results) == 0 && err != nil {
		return err
	}
	if v.Format == "json" {
		err = c.printJSON(results)
	} else {
		writeReplays(c.outText(), results)
	}
	different := func(r runtime.Replayed) bool { return r.Different != nil }
	if err == nil && (len(results) == 0 || slices.ContainsFunc(results, different)) {
		err = errNo // that nothing is there shows nothing
	}
	return cmp.Or(broken, err, damaged)
}

// writeReplays writes the results for people.
func writeReplays(p *terminal.Printer, results []runtime.Replayed) {
	if len(results) == 0 {
		p.Line("no instances: there is nothing to make again")
	}
	for _, r := range results {
		if d := r.Different; d != nil {
			p.Line("%s %s, %s %d: %s", p.Red("different:"), terminal.Word(r.Instance), d.Kind, d.Seq, d.Member)
			p.Field("  ", len("recorded"), "recorded", d.Recorded)
			p.Field("  ", len("recorded"), "again", d.Again)
			continue
		}
		if r.Outcomes > 0 {
			p.Line("%s: %s of an older format, which came to the states that were recorded; they were not made again", terminal.Word(r.Instance), terminal.Plural(int(r.Outcomes), "decision"))
		}
		if r.Unjudged > 0 {
			p.Line("%s: %s refused, to a contract that was not given: not made again", terminal.Word(r.Instance), terminal.Plural(int(r.Unjudged), "migration"))
		}
		p.Line("%s: %s made again and %s shown again, all as recorded", terminal.Word(r.Instance), terminal.Plural(int(r.Decisions), "decision"), terminal.Plural(int(r.Views), "view"))
		p.Line("  version %d, phase %s, state %s", r.Version, r.Phase, short(r.State))
	}
}

// past prints the state at a version: under that one of the contracts which the instance ran
// under then.
func (v *replayVerb) past(c *console, log logArg, contracts []*runtime.Contract, kinds []*ir.Contract, st store.Store) error {
	id, err := log.one(c, st, "--at")
	if err != nil {
		return err
	}
	past, err := runtime.At(c.ctx, contracts[0], st, id, *v.At)
	under := 0
	var other *runtime.ContractMismatchError
	for i := 1; i < len(contracts) && errors.As(err, &other); i++ {
		if past, err = runtime.At(c.ctx, contracts[i], st, id, *v.At); err == nil {
			under = i
		}
	}
	if err != nil {
		return err
	}
	o := output{name: string(v.Output), kind: stateKind(kinds[under]), force: v.Force, perm: c.inputs.perm("log")}
	if v.Format == "json" {
		return c.printJSON(struct {
			Instance string          `json:"instance"`
			Version  uint64          `json:"version"`
			Phase    string          `json:"phase"`
			Digest   string          `json:"digest"`
			State    json.RawMessage `json:"state"`
		}{id, past.Version, past.Phase, past.Digest, past.State})
	}
	var text bytes.Buffer
	if err := json.Indent(&text, past.State, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	if err := c.write(o, text.Bytes()); err != nil {
		return err
	}
	c.errText().Line("%s", fmt.Sprintf("%s at version %d, phase %s, state %s", terminal.Word(id), past.Version, past.Phase, short(past.Digest)))
	return nil
}
