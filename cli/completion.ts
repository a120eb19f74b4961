/**
 * `completion bash|zsh|fish`: made from the tree of commands and complete in itself, so that a press of Tab starts no process; a
 * library that asks the program would take the start of two Nodes for each.
 */
import { Argument, type Command } from 'commander';
import { writeBash } from './completion/bash.ts';
import { writeFish } from './completion/fish.ts';
import { listNodes } from './completion/tree.ts';
import { writeZsh } from './completion/zsh.ts';
import type { CliContext } from './context.ts';

const writers = { bash: writeBash, zsh: writeZsh, fish: writeFish } as const;

export function register(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('Prints what lets a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(writers)))
    .addHelpText(
      'after',
      `
Once, in ~/.bashrc:                     source <(coherence completion bash)
in ~/.zshrc, after compinit:            source <(coherence completion zsh)
in ~/.config/fish/config.fish:          coherence completion fish | source`,
    )
    .action((shell: keyof typeof writers) => {
      const script = writers[shell](program.name(), listNodes(program));
      context.print({ shell, script }, script.trimEnd());
    });
}
