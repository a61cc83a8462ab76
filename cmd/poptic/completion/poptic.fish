# fish completion for poptic
function __poptic_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "=$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':folders*'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c poptic -f -a '(__poptic_complete)'
