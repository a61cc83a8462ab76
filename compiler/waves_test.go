package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

// mistakes has one mistake of each kind; $ marks the lines that hold one, and what
// follows the mark is the code that is to be found there, and nothing else.
const mistakes = `contract shop sealed
state {
  orders: map of Order
  users:  map of { name: string  mail: secret string }
  total:  int
  limit:  int
  odd:    Sting                                                     #$ unknown_type
}
type Order { user: key of /users  amount: int  note?: string }
region notes = /orders/*/nota                                       #$ unknown_member
region mails = /users/*/mail
measure sums = sum /orders/*/note                                   #$ measure_type
measure fine = sum /orders/*/amount
invariant a { sums >= 0 }
invariant b each o in /orders/* { o.amuont > 0 }                    #$ unknown_member
invariant c each o in /order/* { o.amount > 0 }                     #$ unknown_member
invariant d { state.total <= state.limit }
phases {
  one -> two
  two -> three                                                      
  three
}
stage ok(order in /orders) { in one  read /orders/{order}  write /orders/{order}/note  next two }
stage on { in two  next three }
stage bad_region { in one  read notes, /total  write notes }
stage bad_phase { in tow  read /total }                             #$ unknown_phase
stage bad_param(p in /oders) { in one  read /orders/{p}  require { before.orders[p].amount > 0 } } #$ unknown_member
stage bad_rule { in one  read /total  require { before.totl > 0 } } #$ unknown_member
stage unread { in one  write /total }                               #$ not_read
stage untold { in one  read /total  write /total }                  #$ undisclosed_gate
stage tells { in one  read /total, /limit  write /total  discloses b, f } #$ unknown_gate
stage mail { in one  read /users }
delegate more from ok { read /orders }                              #$ delegate_exceeds
delegate less from bad_region { read /total }
prove ok commutes with nobody                                       #$ unknown_stage
prove no stage reads mails
prove no stage reads notes
prove bad_region commutes with bad_phase
prove bad_region within ok
`

func TestOneMistakeOfEachKindIsReportedAtOnceAndNothingThatFollows(t *testing.T) {
	requireMarked(t, mistakes)
}

// nameless lacks a name in each marked line; what follows from a guess of it is not said.
const nameless = `contract shop
phases { one -> two  two }
state { a: int  m: map of int  n: map of string }
invariant few { size(state.m) <= state.a }
stage gate { in one  discloses next read /a  write /a }              #$ missing_name
stage gates { in one  discloses few, next read /a  write /a }        #$ missing_name
stage none { in one  discloses read /a }                             #$ missing_name
stage when { in read /a }                                            #$ missing_name
stage who { in one by next two  read /a }                            #$ missing_name
stage order { in one after read /a }                                 #$ missing_name
stage param(in /m) { in one  read /a }                               #$ missing_name
stage later(p in /m, in /m) { in one  read /m/{p} }                  #$ missing_name
stage same(p in /n, = /n/{p}) { in two  read /n/{p} }                #$ missing_name
stage more(p q in /m) { in one  read /m/{p} }                        #$ unexpected
stage sees { in one  read write /a }                                 #$ missing_name
stage takes { in one  read /a  source by clerk }                     #$ missing_name
region b c = /a                                                      #$ unexpected
prove no stage except reads /a                                       #$ missing_name
prove no stage except param, writes /a                               #$ dangling_comma
`

func TestAMissingNameIsSaidOnceAndNotGuessed(t *testing.T) {
	requireMarked(t, nameless)
}

func TestAFalseClaimIsReportedBesideOtherErrors(t *testing.T) {
	requireMarked(t, `contract c
state { a: int  b: int  s: secret string }
stage r { read /s, /a  write /a }
stage q { read /b  write /c }                                       #$ unknown_member
stage u { read /b  require { before.z > 0 } }                       #$ unknown_member
prove no stage reads secrets                                        #$ claim_refuted
prove no stage reads /b
prove q within r
prove no flow from secrets to /a                                    #$ claim_refuted
prove no stage reads /nothing                                       #$ unknown_member
`)
}

// requireMarked checks that a source has exactly the findings that its lines name.
func requireMarked(t *testing.T, text string) {
	t.Helper()
	var want, got []string
	for i, line := range strings.Split(text, "\n") {
		if _, code, marked := strings.Cut(line, "#$ "); marked {
			want = append(want, fmt.Sprint(i+1, " ", code))
		}
	}
	for _, d := range compile(text).Diagnostics {
		if d.Severity == source.Error {
			line := d.Span.File.Position(d.Span.Start).Line
			got = append(got, fmt.Sprint(line, " ", d.Code))
		}
	}
	require.Equal(t, want, got)
}
