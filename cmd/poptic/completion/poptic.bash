# bash completion for poptic
_poptic() {
    local line="${COMP_LINE:0:COMP_POINT}" current="" candidate prefix=""
    local -a words
    read -ra words <<<"$line"
    if [[ "$line" != *[[:space:]] ]]; then
        current="${words[-1]}"
        unset 'words[-1]'
    fi
    # Readline replaces only what follows the last "=", and the last ":" where that breaks words.
    local breaks="="
    [[ "$COMP_WORDBREAKS" == *:* ]] && breaks="=:"
    [[ "$current" == *[$breaks]* ]] && prefix="${current%"${current##*[$breaks]}"}"
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case "$candidate" in
        :files)
            compopt -o filenames
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "${current#"$prefix"}")
            ;;
        :folders)
            compopt -o filenames
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -d -- "${current#"$prefix"}")
            ;;
        *)
            COMPREPLY+=("${candidate#"$prefix"}")
            [[ "$candidate" == *[=:/] ]] && compopt -o nospace
            ;;
        esac
    done < <("${words[0]}" __complete "${words[@]:1}" "=$current" 2>/dev/null)
}
complete -F _poptic poptic
