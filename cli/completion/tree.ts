/** Builds the command tree for shell completion. */
import type { Command } from 'commander';

export interface Node {
  /**
   * Path of the command: the names of its parents and its name, each after a space, e.g. ` jobs list`. Empty for the
   * program.
   */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Allowed values of the first argument. */
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
  const commands = help.visibleCommands(command).filter((item) => item.name() !== 'help'); // `help` is omitted, since every command has --help
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

/** Returns the words that can follow: subcommands or the argument's choices, otherwise options. */
export function listWords({ commands, choices, options, takesArguments }: Node): readonly Word[] {
  if (commands.length > 0) return commands;
  return takesArguments ? choices.map((word) => ({ word, description: '' })) : options;
}

/** Returns the text in single quotes for a shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
