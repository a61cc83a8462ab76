package certificate_test

// small is a contract with a delegate and a claim of every kind, all true.
const small = `contract small
state { m: map of E  n: map of int  log: log of string }
type E { a: int where { self >= 0 }  b: int  r: key of /n  h?: secret string }
phases { one -> two  two -> three  three }
region inner = /m/*/b
invariant sum each e in /m/* { e.a + e.b < 10 }
stage put(k in /m) { in one read /m/{k} except secrets write /m/{k}/(a|b), /log/- source /m/{k}/a }
stage low(k in /m) { in one read /m/{k}/a, /m/*/r write /m/{k}/r discloses /m/*/r }
stage tell { in two read /n write /n next three discloses /m/*/r }
stage go { in one next two }
delegate half from put { read /m/{k}/(a|b) write /m/{k}/b }
compose both = put + half
parallel side = put | low when k differs
prove put commutes with put when k differs
prove half within put
prove both within put
prove no stage reads secrets
prove no stage except put, go writes inner
prove no flow from secrets to /n
prove two before three
`
