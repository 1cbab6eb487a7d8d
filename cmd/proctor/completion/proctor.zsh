#compdef proctor
# Completes proctor in zsh: source <(proctor completion zsh), after compinit
_proctor() {
    local out candidate about files=
    local -a candidates
    for out in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z $out ]] && continue
        if [[ $out == :files ]]; then
            files=1
            continue
        fi
        candidate=${out%%$'\t'*}
        about=${out#*$'\t'}
        candidates+=("${candidate//:/\\:}:$about")
    done
    (( ${#candidates} )) && _describe -t proctor proctor candidates
    [[ -n $files ]] && _files
}
compdef _proctor proctor
