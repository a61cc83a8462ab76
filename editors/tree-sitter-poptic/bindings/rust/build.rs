fn main() {
    cc::Build::new().std("c11").include("src").files(["src/parser.c", "src/scanner.c"]).warnings(false).compile("tree-sitter-poptic");
    for file in ["src/parser.c", "src/scanner.c"] {
        println!("cargo:rerun-if-changed={file}");
    }
}
