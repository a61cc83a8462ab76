// The grammar of spec/language.md, section 16, for editors. It is a little wider than the
// parser's: it is for text that is being written. CEL is cut into words, for colours.

const list = (rule) => seq(rule, repeat(seq(',', rule)));
const block = (rule) => seq('{', repeat(rule), '}');

module.exports = grammar({
  name: 'poptic',

  // The name of a field is a word or string before ":" or "?:", whatever word it is.
  externals: ($) => [$.field_name],
  extras: ($) => [/[\s\uFEFF]/, $.comment],
  word: ($) => $.name,
  conflicts: ($) => [[$.right, $.region_name]],

  rules: {
    source_file: ($) => seq(optional($.header), repeat($._declaration)),
    header: ($) => choice(seq('contract', $._dotted, optional('sealed')), seq('library', $._dotted)),
    _dotted: ($) => seq($.name, repeat(seq('.', $.name))),
    qualified_name: ($) => seq($.name, optional(seq('.', $.name))),

    comment: () => token(seq('#', /.*/)),
    name: () => /[A-Za-z_][A-Za-z0-9_]*/,
    string: () => /"([^"\\\n]|\\.)*"/,
    number: () => /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    boolean: () => choice('true', 'false'),

    _declaration: ($) => choice(
      $.import, $.const, $.define, $.state, $.type_declaration, $.roles, $.phases, $.region_declaration, $.measure, $.invariant,
      $.stage, $.delegate, $.compose, $.parallel, $.prove, $.given, $.test,
    ),
    import: ($) => seq('import', $.string, optional(seq('as', $.name))),
    const: ($) => seq('const', $.name, '=', choice($.string, $.number, $.boolean)),
    define: ($) => seq('define', $.name, '(', optional(list($.name)), ')', '=', $.cel),
    roles: ($) => seq('roles', $.name, '=', list($.name)),

    // Types.
    state: ($) => seq('state', $._type),
    type_declaration: ($) => seq('type', alias($.name, $.type_name), optional('='), $._type),
    _type: ($) => choice($.union, $._term),
    union: ($) => seq($._term, repeat1(seq('|', $._term))),
    _term: ($) => choice($.secret, $.container, $.constrained, $._primary),
    secret: ($) => seq('secret', $._term),
    container: ($) => prec.right(choice(
      seq(choice('map', 'set', 'log'), 'of', $._term),
      seq('list', 'of', $._term, optional(seq('by', alias($.name, $.field_name)))),
    )),
    constrained: ($) => prec.right(1, seq(choice($._primary, $.container), repeat1($.where))),
    where: ($) => seq('where', optional($.string), $.cel),
    _primary: ($) => choice(alias($.qualified_name, $.type_name), $.string, $.number, $.boolean, $.key, $.record, seq('(', $._type, ')')),
    key: ($) => seq('key', 'of', $.path),
    record: ($) => seq('{', repeat($.field), optional($.rest), '}'),
    field: ($) => seq($.field_name, choice(':', '?:'), $._type),
    rest: ($) => seq('*', ':', $._type),

    // Paths and regions.
    path: ($) => prec.right(seq('/', optional($._segment), repeat(seq(token.immediate('/'), optional($._segment))))),
    _segment: ($) => choice($.path_key, $.path_wildcard, $.path_parameter, $.path_choice),
    path_key: () => token.immediate(prec(1, choice(/[^\s,&#(){}"\/|*]+/, /"([^"\\\n]|\\.)*"/))),
    path_wildcard: () => token.immediate(prec(2, choice('*', '**', '-'))),
    path_parameter: ($) => seq(token.immediate('{'), alias(token.immediate(/[A-Za-z_][A-Za-z0-9_]*/), $.parameter_name), token.immediate('}')),
    path_choice: ($) => seq(token.immediate('('), $.path_key, repeat(seq(token.immediate('|'), $.path_key)), token.immediate(')')),
    region_declaration: ($) => seq('region', alias($.name, $.region_name), '=', $.region),
    region: ($) => prec.right(list($.grant)),
    grant: ($) => prec.right(seq(
      optional(choice('blind', list($.right))), $._atom, repeat(seq('&', $._atom)),
      optional(seq('except', choice($._atom, seq('(', list($._atom), ')')))),
    )),
    // A right rather than a region that is called as one.
    right: () => prec.dynamic(1, choice('create', 'update', 'delete')),
    _atom: ($) => choice($.path, $.region_name, 'secrets', seq('(', $.region, ')')),
    region_name: ($) => choice($.qualified_name, 'create', 'update', 'delete'),

    // Phases.
    phases: ($) => seq('phases', block($.phase)),
    phase: ($) => seq(alias($.name, $.phase_name), optional(seq('->', list($.arrow)))),
    arrow: ($) => seq(alias($.name, $.phase_name), repeat(choice(seq('by', 'host'), seq('when', $.cel)))),

    // Rules.
    measure: ($) => seq('measure', $.name, '=', choice('sum', 'count', 'min', 'max'), $.path, optional(seq('where', $.cel))),
    invariant: ($) => seq(choice('invariant', 'change'), $.name, optional($.each), optional($.string), choice($.cel, $.unique)),
    each: ($) => seq('each', $.name, optional(seq(',', $.name)), 'in', $.path),
    unique: ($) => seq('unique', list($.path)),

    // Stages.
    stage: ($) => seq('stage', alias($.name, $.stage_name), optional($.parameters), block($._clause)),
    delegate: ($) => seq('delegate', alias($.name, $.stage_name), 'from', alias($.name, $.stage_name), block($._clause)),
    parameters: ($) => seq('(', optional(list($.parameter)), ')'),
    parameter: ($) => seq(alias($.name, $.parameter_name), choice(
      seq(choice(seq(optional('new'), 'in'), '='), $.path, optional($.where)),
      seq(':', $._type),
    )),
    _clause: ($) => choice($.names_clause, $.region_clause, $.condition, $.produce, $.attempts, $.discloses),
    names_clause: ($) => seq(choice('in', 'by', 'next', 'after'), list($.name)),
    region_clause: ($) => seq(choice('read', 'write', 'source', seq('delegable', optional(choice('read', 'write', 'source')))), $.region),
    condition: ($) => seq(choice('require', 'ensure'), optional($.name), optional($.string), $.cel),
    produce: ($) => seq('produce', list($.path)),
    attempts: ($) => seq('attempts', $.number),
    discloses: ($) => seq('discloses', list($.gate)),
    gate: ($) => choice($.qualified_name, 'require', 'ensure', 'produce', 'phase', seq(choice('next', 'where'), $.name), $.path),

    // Claims.
    compose: ($) => seq('compose', $.name, '=', $.name, repeat(seq('+', $.name))),
    parallel: ($) => seq('parallel', $.name, '=', $.name, repeat(seq('|', $.name)), optional(seq('when', $.hypothesis))),
    prove: ($) => seq('prove', choice(
      seq($.name, 'commutes', 'with', $.name, optional(seq('when', $.hypothesis))),
      seq('all', 'commute', 'in', $.name),
      seq($.name, choice('within', 'before'), $.name),
      seq('no', 'stage', optional(seq('except', list($.name))), choice('reads', 'writes', 'copies'), $.region),
      seq('no', 'flow', 'from', $.region, 'to', $.region, optional(seq('with', 'memory'))),
    )),
    hypothesis: ($) => seq($._both, repeat(seq('or', $._both))),
    _both: ($) => seq($.differs, repeat(seq('and', $.differs))),
    differs: ($) => choice(seq($.name, 'differs', optional(seq('from', $.name))), seq('(', $.hypothesis, ')')),

    // Tests.
    given: ($) => seq('given', $.name, '=', $._test_state),
    test: ($) => seq('test', $.string, '{', repeat($._test_clause), repeat($.case), '}'),
    case: ($) => seq('case', $.string, optional($.arguments), optional(block($._test_clause))),
    _test_clause: ($) => choice($.test_state, $.test_clause, $.test_stage, $.patch, $.expect),
    test_state: ($) => seq('state', $._test_state),
    test_clause: ($) => choice(seq(choice('phase', 'role', 'advance', 'next'), $.name), seq(choice('actor', 'now'), $.string)),
    test_stage: ($) => seq('stage', alias($.name, $.stage_name), optional($.arguments)),
    patch: ($) => seq('patch', $._data),
    _test_state: ($) => seq(choice($.name, $._data), optional(seq('with', $._data))),
    _data: ($) => choice($.string, $.object, $.array),
    arguments: ($) => seq('(', optional(list($.argument)), ')'),
    argument: ($) => seq(alias($.name, $.parameter_name), ':', $._json),
    expect: ($) => seq('expect', choice(
      seq('commit', optional($.cel)), 'noop',
      seq(choice('reject', 'reply'), $.reason),
      seq('phase', $.name),
      seq($.path, '=', $._json),
      seq(choice('no', 'shown', 'hidden'), list($.path)),
      seq('state', '=', $._data),
      $.cel,
      seq('view', choice(seq('=', $._data), $.cel)),
    )),
    reason: ($) => seq(choice(seq(alias($.name, $.gate_name), optional($.qualified_name), optional($.string)), $.string), optional(seq('at', $.path))),

    _json: ($) => choice($.object, $.array, $.string, $.number, $.boolean, $.null),
    null: () => 'null',
    object: ($) => seq('{', optional(list($.pair)), '}'),
    pair: ($) => seq($.string, ':', $._json),
    array: ($) => seq('[', optional(list($._json)), ']'),

    // CEL, as far as its end and its colours take it.
    cel: ($) => seq('{', repeat($._cel), '}'),
    _cel: ($) => choice($.cel_string, $.cel_comment, $.cel_number, $.cel_name, $.cel_operator, $.cel_braces),
    cel_braces: ($) => seq('{', repeat($._cel), '}'),
    cel_comment: () => token(prec(1, seq('//', /.*/))),
    cel_name: () => token(choice(/[A-Za-z_][A-Za-z0-9_]*/, /`[^`\n]*`/)),
    cel_number: () => /0x[0-9A-Fa-f]+u?|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?u?/,
    cel_string: () => token(choice(
      /[bB]?"([^"\\\n]|\\.)*"/, /[bB]?'([^'\\\n]|\\.)*'/,
      /([rR][bB]?|[bB][rR])"[^"\n]*"/, /([rR][bB]?|[bB][rR])'[^'\n]*'/,
      /[rRbB]{0,2}"""([^"]|"[^"]|""[^"])*"""/, /[rRbB]{0,2}'''([^']|'[^']|''[^'])*'''/,
    )),
    cel_operator: () => /&&|\|\||[=!<>]=|[^\s{}"'`A-Za-z0-9_]/,
  },
});
