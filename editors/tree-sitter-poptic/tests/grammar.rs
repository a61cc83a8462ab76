use std::{fs, path::Path};
use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator, Tree};

fn language() -> Language {
    tree_sitter_poptic::LANGUAGE.into()
}

fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&language()).unwrap();
    parser.parse(text, None).unwrap()
}

fn visit(dir: &Path, see: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "node_modules" && name != "target" {
            visit(&path, see);
        } else if name.ends_with(".poptic") {
            see(&path);
        }
    }
}

fn first_error(node: Node) -> Option<Node> {
    if node.is_error() || node.is_missing() {
        return Some(node);
    }
    (0..node.child_count()).find_map(|i| first_error(node.child(i as u32).unwrap()))
}

#[test]
fn every_file_of_the_repository_is_read_without_an_error() {
    let mut files = 0;
    let mut wrong = vec![];
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut |path| {
        files += 1;
        let text = fs::read_to_string(path).unwrap();
        if let Some(node) = first_error(parse(&text).root_node()) {
            let line = node.start_position().row;
            wrong.push(format!("{}:{}: {}", path.display(), line + 1, text.lines().nth(line).unwrap_or("")));
        }
    });
    assert!(files > 40, "{files} files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// The cases have the format of `tree-sitter test`.
#[test]
fn trees_are_those_of_the_corpus() {
    let mut cases = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus")).unwrap() {
        let corpus = fs::read_to_string(entry.unwrap().path()).unwrap();
        let parts: Vec<&str> = corpus.split("==================\n").skip(1).collect();
        for case in parts.chunks(2) {
            let (text, tree) = case[1].split_once("\n---\n").unwrap();
            let words = |s: &str| s.replace('(', " (").replace(')', " ) ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&parse(text).root_node().to_sexp()), words(tree), "{}", case[0]);
            cases += 1;
        }
    }
    assert!(cases > 5, "{cases} cases");
}

#[test]
fn words_paths_and_names_have_their_colours() {
    let text = "contract c\nstage s(k in /m) {\n  read /m/{k}, big\n  ensure { state.a > 1 && by != \"}\" }\n}\ntype T {\n  by: list of T by by # why\n}\n";
    let tree = parse(text);
    let query = Query::new(&language(), tree_sitter_poptic::HIGHLIGHTS_QUERY).unwrap();
    let mut cursor = QueryCursor::new();
    let mut seen = vec![];
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    while let Some(m) = matches.next() {
        for c in m.captures() {
            seen.push(format!("{} {} {}", c.node.start_position().row, &text[c.node.byte_range()], query.capture_names()[c.index as usize]));
        }
    }
    for want in [
        "0 contract keyword", "1 stage keyword", "1 s function", "1 k variable.parameter", "2 read keyword", "2 k variable.parameter", "3 state variable.builtin",
        "3 \"}\" string", "3 && operator", "5 T type", "6 by property", "6 by keyword", "6 # why comment", "6 list keyword",
    ] {
        assert!(seen.iter().any(|s| s == want), "{want}: {seen:#?}");
    }
}
