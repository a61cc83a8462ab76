//! The grammar of Poptic for tree-sitter.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_poptic() -> *const ();
}

/// The language, for `tree_sitter::Parser::set_language`.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_poptic) };

/// What colours the nodes of a tree.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
