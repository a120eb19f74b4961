/** Prints the output of the demo: numbered steps in plain words, each with its results. */

const width = 100;

export interface Narrator {
  /** Starts a step with a title and one or two sentences on what happens and why. */
  step(title: string, explanation: string): void;
  /** Prints a result of the step. */
  result(line: string): void;
  /** Prints received text, set off from the text of the demo. */
  quote(text: string): void;
  plain(line: string): void;
}

export function createNarrator(write: (text: string) => void): Narrator {
  let count = 0;
  return {
    step: (title, explanation) => {
      count += 1;
      write(`\n${count}. ${title}\n${wrap(explanation, '   ')}\n`);
    },
    result: (line) => write(`   → ${line}\n`),
    quote: (text) =>
      write(
        `${text
          .split('\n')
          .map((line) => `     │ ${line}`)
          .join('\n')}\n`,
      ),
    plain: (line) => write(`${line}\n`),
  };
}

function wrap(text: string, indent: string): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > width && line !== indent) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Returns a size such as `12,345 bytes`. */
export function formatBytes(bytes: number): string {
  return `${bytes.toLocaleString('en')} bytes`;
}

/** Returns a time in ISO 8601 without fractions of a second. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
