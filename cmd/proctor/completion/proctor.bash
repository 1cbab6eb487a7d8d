# Completes proctor in bash: source <(proctor completion bash)
_proctor() {
    local line=${COMP_LINE:0:COMP_POINT} words=() word out candidate files=
    # Bash also breaks words at ":" and "="; here blanks alone do.
    read -r -a words <<<"$line"
    [[ $line == *[[:space:]] || ${#words[@]} -eq 0 ]] && words+=("")
    word=${words[-1]}
    # What bash puts in the candidate's place is only what is behind the last break.
    local typed=${COMP_WORDS[COMP_CWORD]} kept=
    [[ $typed == [:=]* ]] && typed=${typed##*[:=]}
    kept=${word%"$typed"}
    COMPREPLY=()
    while IFS= read -r out; do
        if [[ $out == :files ]]; then
            files=1
            continue
        fi
        candidate=${out%%$'\t'*}
        COMPREPLY+=("${candidate#"$kept"}")
    done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r out; do
            COMPREPLY+=("$out")
        done < <(compgen -f -- "$typed")
    fi
}
complete -F _proctor proctor
