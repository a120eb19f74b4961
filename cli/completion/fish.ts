import type { Node } from './tree.ts';

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

export function writeFish(name: string, nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options, choices, takesArguments }) => {
    const start = `complete -c ${name} -n ${quote(`__${name}_at ${quote(path)}`)}`;
    return [
      ...commands.map(({ word, description }) => `${start} -a ${word} -d ${quote(description)}`),
      ...(choices.length > 0 ? [`${start} -a ${quote(choices.join(' '))}`] : takesArguments ? [`${start} -F`] : []),
      ...options.map(({ word, description, takesValue, choices: values }) => {
        const value = !takesValue ? '' : values.length === 0 ? ' -r -F' : ` -x -a ${quote(values.join(' '))}`;
        return `${start} -l ${word.slice(2)}${value} -d ${quote(description)}`;
      }),
    ];
  });
  return `# Completes ${name} in fish: ${name} completion fish | source
set -g __${name}_commands ${nodes
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join(' ')}
function __${name}_at
  set -l at ''
  for word in (commandline -opc)
    contains -- "$at $word" $__${name}_commands; and set at "$at $word"
  end
  test "$at" = "$argv[1]"
end
complete -c ${name} -f
${lines.join('\n')}
`;
}
