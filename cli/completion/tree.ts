/** The command tree for shell completion. */
import type { Command } from 'commander';

export interface Node {
  /** Names of the command and its parents, each after a space: ` jobs list`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Choices of the first argument. */
  readonly choices: readonly string[];
  readonly takesArguments: boolean;
}

export interface Word {
  readonly word: string;
  readonly description: string;
}

export interface OptionWord extends Word {
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export function listNodes(command: Command, path = ''): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((item) => item.name() !== 'help'); // there is --help
  const node: Node = {
    path,
    commands: commands.map((item) => ({ word: item.name(), description: item.description() })),
    options: help.visibleOptions(command).flatMap(({ long, description, required, argChoices }) => {
      return long === undefined || long === null
        ? []
        : [{ word: long, description, takesValue: required, choices: argChoices ?? [] }];
    }),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    takesArguments: command.registeredArguments.length > 0,
  };
  return [node, ...commands.flatMap((item) => listNodes(item, `${path} ${item.name()}`))];
}

/** What may come next: commands or the argument's choices; options where there is neither. */
export function listWords({ commands, choices, options, takesArguments }: Node): readonly Word[] {
  if (commands.length > 0) return commands;
  return takesArguments ? choices.map((word) => ({ word, description: '' })) : options;
}

/** In a shell's single quotes. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
