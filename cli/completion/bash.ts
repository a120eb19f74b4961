import { listWords, type Node, quote } from './tree.ts';

/** Bash completes file names for arguments without choices. */
export function writeBash(name: string, nodes: readonly Node[]): string {
  const join = (words: readonly { word: string }[]): string => quote(words.map(({ word }) => word).join(' '));
  const deeper = nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  const values = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ word, choices }) => `    ${quote(`${path} ${word}`)}) words=${quote(choices.join(' '))} ;;`),
  );
  return `# Completes ${name} in Bash: source <(${name} completion bash)
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at='' words='' options='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
    ${deeper.join(' | ')}) at="$at \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$at" in
${nodes.map((node) => `    ${quote(node.path)}) words=${join(listWords(node))} options=${join(node.options)} ;;`).join('\n')}
  esac
  [[ $current == -* ]] && words="$options"
  case "$at $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}
