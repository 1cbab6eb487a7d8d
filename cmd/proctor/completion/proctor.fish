# Completes proctor in fish: proctor completion fish | source
function __proctor_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for out in ($words[1] __complete $words[2..-1] "$last" 2>/dev/null)
        if test "$out" = :files
            __fish_complete_path "$last"
        else
            echo $out
        end
    end
end
complete -c proctor -f -a '(__proctor_complete)'
