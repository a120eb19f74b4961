/** Lines of the log for people, by pino's own pretty printer: `12:34:56.789 INFO: directory: request {"status":200}`. */
import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';

/** What pino's printer leaves as it is, and what strangers could hide or turn round text with: shown by its number. */
const hidden = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A function that turns a JSON line (without its end) into lines that end; what is no JSON stays as it is. The printer is loaded by the call:
 * where logs are JSON it would only take memory.
 */
export function createReadableLines(options: { colors: boolean }): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const print = prettyFactory({
    colorize: options.colors,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,service,version',
    messageFormat: '{service}: {msg}',
  });
  // Inside of JSON text such a character is in a string, where its number needs a backslash before its own.
  return (line) => print(line.replace(hidden, (found) => `\\\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)) ?? `${line}\n`;
}
