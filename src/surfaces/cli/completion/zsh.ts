import type { TableCommand } from './command-table.js';
import { posixTables } from './shell-tables.js';

/** A file for `$fpath`, which can also be sourced. In zsh `path` is PATH, so no variable has that name. */
export function zshCompletion(commands: readonly TableCommand[]): string {
  return `#compdef codemode
# zsh completion for codemode. Made by: codemode completion zsh
# Load it in ~/.zshrc, after compinit, with: source <(codemode completion zsh)

${posixTables(commands)}

# Whether the second word is a command below the first.
_codemode_is_command() {
  local line
  while IFS= read -r line; do
    [[ $line != -* && "\${line%%$'\\t'*}" == "$2" ]] && return 0
  done < <(_codemode_words "$1")
  return 1
}

# Offers a kind of value; the second word is the configuration file that was named.
# Names come from files of the user's and of projects: they are offered and never evaluated.
_codemode_offer() {
  local -a found
  case "$1" in
    '' | anything) return 1 ;;
    files) _files ;;
    '='*)
      found=(\${=1#=})
      compadd -a found
      ;;
    *)
      found=("\${(@f)$(command codemode \${2:+--config} \${2:+"$2"} completion values "$1" 2>/dev/null </dev/null)}")
      compadd -a found
      ;;
  esac
}

_codemode() {
  local typed=codemode config='' word kind='' last='' line
  integer place=0 at=2
  local -a commands options
  while (( at < CURRENT )); do
    word="\${words[at]}"
    if [[ $word == -* ]]; then
      kind="$(_codemode_value "$typed $word")"
      if [[ -n $kind ]]; then
        (( at += 1 ))
        if (( at >= CURRENT )); then
          _codemode_offer "$kind" "$config"
          return
        fi
        [[ $word == --config ]] && config="\${(Q)words[at]}"
      fi
    elif (( place == 0 )) && _codemode_is_command "$typed" "$word"; then
      typed+=" $word"
    else
      (( place += 1 ))
    fi
    (( at += 1 ))
  done
  while IFS= read -r line; do
    word="\${line%%$'\\t'*}"
    line="\${word//:/\\\\:}:\${line#*$'\\t'}"
    if [[ $word == -* ]]; then options+=("$line"); else commands+=("$line"); fi
  done < <(_codemode_words "$typed")
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o 'option' options
    return
  fi
  (( place == 0 && \${#commands} > 0 )) && _describe 'command' commands
  kind=''
  at=0
  while IFS= read -r line; do
    if [[ $line == ... ]]; then
      kind="$last"
      break
    fi
    last="$line"
    if (( at == place )); then
      kind="$line"
      break
    fi
    (( at += 1 ))
  done < <(_codemode_arguments "$typed")
  _codemode_offer "$kind" "$config"
}

if [[ "\${funcstack[1]}" == _codemode ]]; then
  _codemode "$@"
else
  compdef _codemode codemode
fi
`;
}
