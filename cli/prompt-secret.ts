import { CliError } from './failure.ts';

/** Reads a line from the terminal without echo. @throws CliError on Ctrl-C. */
export function promptSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.setEncoding('utf8');
  let typed = '';
  return new Promise((resolve, reject) => {
    const end = (): void => {
      stdin.off('data', read);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
    };
    const read = (text: string): void => {
      for (const character of text) {
        if (character === '\r' || character === '\n') {
          end();
          resolve(typed);
          return;
        }
        if (character === '\u0003' || character === '\u0004') {
          end();
          reject(new CliError('Cancelled.', 'interrupted'));
          return;
        }
        typed = character === '\u007f' || character === '\b' ? typed.slice(0, -1) : typed + character;
      }
    };
    stdin.on('data', read);
  });
}
