import { createInterface } from 'node:readline/promises';
import { CliError } from './failure.ts';

/**
 * Something must be typed, so that nobody destroys by a habit of pressing Enter.
 * @throws CliError when something else is typed, or there is no terminal to ask in.
 */
export async function confirm(question: string, answer: string, remedy = 'use --yes'): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError(`There is no terminal to ask for confirmation; ${remedy}.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await terminal.question(`${question} Type ${answer} to go on: `);
    if (typed.trim() !== answer) throw new CliError('Nothing was changed.');
  } finally {
    terminal.close();
  }
}
