import type { TableCommand } from './command-table.js';
import { posixTables } from './shell-tables.js';

/** Works in bash 3.2 (the version of macOS) and newer. */
export function bashCompletion(commands: readonly TableCommand[]): string {
  return `# bash completion for codemode. Made by: codemode completion bash
# Load it in ~/.bashrc with: source <(codemode completion bash)

${posixTables(commands)}

# Whether the second word is a command below the first.
_codemode_is_command() {
  local word
  while IFS=$'\\t' read -r word _; do
    [ "$word" = "$2" ] && case "$word" in -*) return 1 ;; *) return 0 ;; esac
  done < <(_codemode_words "$1")
  return 1
}

# Offers what fits: the kind of value, what was typed so far, and the configuration file that was named.
# Names come from files of the user's and of projects: they are compared and never evaluated.
_codemode_offer() {
  local word
  case "$1" in
    '' | anything) ;;
    files)
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$2")
      ;;
    '='*)
      for word in \${1#=}; do
        case "$word" in "$2"*) COMPREPLY+=("$word") ;; esac
      done
      ;;
    *)
      while IFS= read -r word; do
        case "$word" in "$2"*) COMPREPLY+=("$word") ;; esac
      done < <(command codemode \${3:+--config "$3"} completion values "$1" 2>/dev/null </dev/null)
      ;;
  esac
}

_codemode() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path=codemode config='' place=0 at=1 word kind last=''
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      -*)
        kind="$(_codemode_value "$path $word")"
        if [ -n "$kind" ]; then
          at=$((at + 1))
          if [ "$at" -ge "$COMP_CWORD" ]; then
            _codemode_offer "$kind" "$cur" "$config"
            return
          fi
          [ "$word" = --config ] && config="\${COMP_WORDS[at]}"
        fi
        ;;
      *)
        if [ "$place" -eq 0 ] && _codemode_is_command "$path" "$word"; then path="$path $word"; else place=$((place + 1)); fi
        ;;
    esac
    at=$((at + 1))
  done
  while IFS=$'\\t' read -r word _; do
    case "$cur:$word" in
      -*:-*) case "$word" in "$cur"*) COMPREPLY+=("$word") ;; esac ;;
      -*) ;;
      *:-*) ;;
      *) [ "$place" -eq 0 ] && case "$word" in "$cur"*) COMPREPLY+=("$word") ;; esac ;;
    esac
  done < <(_codemode_words "$path")
  case "$cur" in -*) return ;; esac
  kind=''
  at=0
  while IFS= read -r word; do
    if [ "$word" = ... ]; then
      kind="$last"
      break
    fi
    last="$word"
    if [ "$at" -eq "$place" ]; then
      kind="$word"
      break
    fi
    at=$((at + 1))
  done < <(_codemode_arguments "$path")
  _codemode_offer "$kind" "$cur" "$config"
}

complete -F _codemode codemode
`;
}
