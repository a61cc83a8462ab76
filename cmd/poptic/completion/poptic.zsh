#compdef poptic
# zsh completion for poptic
_poptic() {
    local line candidate
    local -a values shown
    while IFS= read -r line; do
        candidate="${line%%$'\t'*}"
        case "$candidate" in
        :files) _files ;;
        :folders) _files -/ ;;
        *)
            values+=("$candidate")
            shown+=("$candidate  ${line#*$'\t'}")
            ;;
        esac
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT-1]}" "=${words[CURRENT]}" 2>/dev/null)
    (( ${#values} )) && compadd -Q -l -d shown -- "${values[@]}"
}
compdef _poptic poptic
