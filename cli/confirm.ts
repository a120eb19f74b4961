import { createInterface } from 'node:readline/promises';
import { CliError } from './failure.ts';

/**
 * Asks the user to type `answer`, since Enter alone is pressed by habit.
 * @throws CliError when something else is typed or there is no terminal
 */
export async function confirm(question: string, answer: string, remedy = 'use --yes'): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError(`No terminal for the confirmation prompt; ${remedy}.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await terminal.question(`${question} Type ${answer} to continue: `);
    if (typed.trim() !== answer) throw new CliError('Cancelled, nothing changed.');
  } finally {
    terminal.close();
  }
}
