// The name of a field: a word or a JSON string before ":" or "?:" on its line. A word of the
// grammar is no word of it there, which takes a look ahead.
#include "tree_sitter/parser.h"

enum { FIELD_NAME };

void *tree_sitter_poptic_external_scanner_create(void) { return 0; }
void tree_sitter_poptic_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_poptic_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_poptic_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

static void next(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_word(int32_t c, bool first) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
}

bool tree_sitter_poptic_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  if (!valid[FIELD_NAME]) return false;
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r' || lexer->lookahead == '\n') lexer->advance(lexer, true);
  if (lexer->lookahead == '"') {
    next(lexer);
    while (lexer->lookahead != '"') {
      if (lexer->lookahead == '\\') next(lexer);
      if (lexer->eof(lexer) || lexer->lookahead == '\n') return false;
      next(lexer);
    }
    next(lexer);
  } else if (is_word(lexer->lookahead, true)) {
    while (is_word(lexer->lookahead, false)) next(lexer);
  } else {
    return false;
  }
  lexer->mark_end(lexer);
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t') next(lexer);
  if (lexer->lookahead == '?') next(lexer);
  lexer->result_symbol = FIELD_NAME;
  return lexer->lookahead == ':';
}
