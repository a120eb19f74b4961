import { listWords, type Node, quote, type Word } from './tree.ts';

/** Returns a script that can be sourced, or stored as a file \`_coherence\` in a folder of $fpath. */
export function writeZsh(name: string, nodes: readonly Node[]): string {
  const describe = (words: readonly Word[]): string =>
    words
      .map(({ word, description }) =>
        quote(description === '' ? word : `${word}:${description.replaceAll(':', '\\:')}`),
      )
      .join(' ');
  const deeper = nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  const values = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ word, choices }) => {
        const complete = choices.length === 0 ? '_files' : `compadd -- ${choices.map(quote).join(' ')}`;
        return `    (${quote(`${path} ${word}`)}) ${complete}; return ;;`;
      }),
  );
  return `#compdef ${name}
# Completes ${name} in Zsh: source <(${name} completion zsh)
_${name}() {
  local at='' index
  local -a found options
  for ((index = 2; index < CURRENT; index++)); do
    case "$at \${words[index]}" in
    (${deeper.join(' | ')}) at="$at \${words[index]}" ;;
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
${values.join('\n')}
  esac
  case "$at" in
${nodes.map((node) => `    (${quote(node.path)}) found=(${describe(listWords(node))}) options=(${describe(node.options)}) ;;`).join('\n')}
  esac
  [[ "$PREFIX" == -* ]] && found=($options)
  if (( $#found )); then _describe ${name} found; else _files; fi
}
if [[ "\${funcstack[1]}" == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}
