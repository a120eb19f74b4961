/** `completion bash|zsh|fish`: a static script with all commands, so that completion starts no process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { writeBash } from './completion/bash.ts';
import { writeFish } from './completion/fish.ts';
import type { Node } from './completion/tree.ts';
import { writeZsh } from './completion/zsh.ts';
import type { CliContext } from './context.ts';

const writers = { bash: writeBash, zsh: writeZsh, fish: writeFish } as const;

export function register(completion: Command, context: CliContext): void {
  completion
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(writers)))
    .addHelpText(
      'after',
      `
Once, in ~/.bashrc:                     source <(coherence completion bash)
in ~/.zshrc, after compinit:            source <(coherence completion zsh)
in ~/.config/fish/config.fish:          coherence completion fish | source`,
    )
    .action((shell: keyof typeof writers) => {
      // Written by `node tools/generate.ts`: loading all command modules takes a second.
      const nodes = JSON.parse(
        readFileSync(join(import.meta.dirname, 'completion', 'commands.json'), 'utf8'),
      ) as Node[];
      const script = writers[shell]('coherence', nodes);
      context.print({ shell, script }, script.trimEnd());
    });
}
