; Later patterns count where several fit.

(comment) @comment
(string) @string
(number) @number
[(boolean) (null)] @constant.builtin
(type_name) @type
((type_name) @type.builtin
  (#any-of? @type.builtin "string" "bool" "null" "number" "int" "decimal" "any"))
(field_name) @property
(stage_name) @function
(parameter_name) @variable.parameter
(region_name) @variable
(phase_name) @constant
(gate_name) @constant
(pair . (string) @property)

["/" "|" (path_key)] @string.special.path
(path_wildcard) @operator
["=" "->" "|" "&" "+" "*"] @operator
["{" "}" "(" ")" "[" "]"] @punctuation.bracket
["," ":" "?:" "."] @punctuation.delimiter
(path ["/"] @string.special.path)

(cel_comment) @comment
(cel_string) @string
(cel_number) @number
(cel_operator) @operator
(cel_name) @variable
((cel_name) @variable.builtin
  (#any-of? @variable.builtin "state" "before" "after" "self" "view" "phase" "role" "actor" "now"))
((cel_name) @constant.builtin
  (#any-of? @constant.builtin "true" "false" "null"))
((cel_name) @keyword.operator
  (#eq? @keyword.operator "in"))

(right) @keyword

; Words of the grammar.
[
  "actor" "advance" "after" "all" "and" "as" "at" "attempts" "before" "blind" "by" "case" "change"
  "commit" "commute" "commutes" "compose" "const" "contract" "copies" "count" "define" "delegable"
  "delegate" "differs" "discloses" "each" "ensure" "except" "expect" "flow" "from" "given" "hidden"
  "host" "import" "in" "invariant" "key" "library" "list" "log" "map" "max" "measure" "memory" "min"
  "new" "next" "no" "noop" "now" "of" "or" "parallel" "patch" "phase" "phases" "produce" "prove" "read"
  "reads" "region" "reject" "reply" "require" "role" "roles" "sealed" "secret" "secrets" "set" "shown"
  "source" "stage" "state" "sum" "test" "to" "type" "unique" "view" "when" "where" "with" "within"
  "write" "writes"
] @keyword
