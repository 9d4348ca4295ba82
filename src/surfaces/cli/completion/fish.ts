import type { TableCommand } from './command-table.js';
import { described, kindText } from './shell-tables.js';

export function fishCompletion(commands: readonly TableCommand[]): string {
  const words = commands.map(({ path, commands: below, options }) =>
    branch(path, [
      ...below.map(({ name, description }) => described(name, description)),
      ...options.flatMap(({ names, description }) => names.map((name) => described(name, description))),
    ]),
  );
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) =>
      value === undefined ? [] : names.map((name) => branch(`${path} ${name}`, [kindText(value)])),
    ),
  );
  const kinds = commands
    .filter(({ values: each }) => each.length > 0)
    .map(({ path, values: each, isLastRepeated }) =>
      branch(path, [...each.map(kindText), ...(isLastRepeated ? ['...'] : [])]),
    );
  return `# fish completion for codemode. Made by: codemode completion fish
# Keep it with: codemode completion fish > ~/.config/fish/completions/codemode.fish

# What can follow a command: commands and options, each with a tab and its description.
${switchOf('__codemode_words', words)}

# What the value of an option is; nothing where it takes none.
${switchOf('__codemode_value', values)}

# What the arguments of a command are, a line each; ... where the last one may be repeated.
${switchOf('__codemode_arguments', kinds)}

function __codemode_is_command
    for line in (__codemode_words $argv[1])
        test (string split -f 1 \\t -- $line) = "$argv[2]"; and not string match -q -- '-*' $line; and return 0
    end
    return 1
end

# Offers a kind of value; the second word is the configuration file that was named.
function __codemode_offer
    switch "$argv[1]"
        case '' anything
        case files
            __fish_complete_path (commandline -ct)
        case '=*'
            string split ' ' -- (string sub -s 2 -- $argv[1])
        case '*'
            set -l named
            test -n "$argv[2]"; and set named --config $argv[2]
            command codemode $named completion values $argv[1] 2>/dev/null </dev/null
    end
end

function __codemode_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l typed codemode
    set -l config ''
    set -l place 0
    set -l at 2
    while test $at -le (count $tokens)
        set -l word $tokens[$at]
        if string match -q -- '-*' $word
            set -l kind (__codemode_value "$typed $word")
            if test -n "$kind"
                set at (math $at + 1)
                if test $at -gt (count $tokens)
                    __codemode_offer $kind $config
                    return
                end
                test $word = --config; and set config $tokens[$at]
            end
        else if test $place -eq 0; and __codemode_is_command $typed $word
            set typed "$typed $word"
        else
            set place (math $place + 1)
        end
        set at (math $at + 1)
    end
    for line in (__codemode_words $typed)
        if string match -q -- '-*' $line
            string match -q -- '-*' $current; and printf '%s\\n' $line
        else if test $place -eq 0; and not string match -q -- '-*' $current
            printf '%s\\n' $line
        end
    end
    string match -q -- '-*' $current; and return
    set -l last ''
    set at 0
    for kind in (__codemode_arguments $typed)
        if test $kind = ...
            __codemode_offer $last $config
            return
        end
        if test $at -eq $place
            __codemode_offer $kind $config
            return
        end
        set last $kind
        set at (math $at + 1)
    end
end

complete -c codemode -f -a '(__codemode_complete)'
`;
}

function switchOf(name: string, branches: readonly string[]): string {
  return [`function ${name}`, '    switch "$argv[1]"', ...branches, '    end', 'end'].join('\n');
}

function branch(path: string, lines: readonly string[]): string {
  return `        case ${quoted(path)}\n            printf '%s\\n' ${lines.map(quoted).join(' ')}`;
}

/** In single quotes fish reads only these two as escapes. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
