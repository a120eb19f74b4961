/**
 * Structured logs: pino JSON on standard output, readable lines in a terminal; one per request and per job attempt (rules/operations#logs).
 * Never bodies, tokens or speech; the redaction below is the second line of defence, not the first.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { releaseVersion } from '#libs/release';
import { boundFields, boundText, secretSerializers } from './redact.ts';
import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';

export type Logger = pino.Logger;

/**
 * Logger of one service. `level` is LOG_LEVEL; secrets are replaced by `[redacted]` and long values cut, in texts and down to the third level
 * of nesting; a line that is over 16 KiB all the same keeps its own texts and numbers only.
 */
export function createLogger(options: { service: string; level?: string; destination?: pino.DestinationStream }): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level ?? 'info',
    base: { service: options.service, version: releaseVersion, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: boundFields },
    serializers: {
      // Fields that a child logger binds pass through serializers only.
      ...secretSerializers,
      err: (error: Error) => boundFields(pino.stdSerializers.err(error)),
    },
    hooks: {
      logMethod(args, method) {
        method.apply(this, boundArguments(args));
      },
    },
  };
  return pino(settings, options.destination === undefined ? getStandardOutput() : boundLines(options.destination));
}

/** Texts of a line; that of an error alone is its message. */
function boundArguments<Arguments extends unknown[]>(given: Arguments): Arguments {
  const [first, text] = given;
  const args = first instanceof Error && text === undefined ? [first, first.message] : given;
  return args.map((arg) => (typeof arg === 'string' ? boundText(arg) : arg)) as Arguments;
}

const maxLineLength = 16_384;

function boundLine(line: string): string {
  if (line.length <= maxLineLength) return line;
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>).filter(([, value]) => typeof value !== 'object');
  return `${JSON.stringify({ ...boundFields(Object.fromEntries(fields)), cutFrom: line.length })}\n`;
}

function boundLines(destination: pino.DestinationStream): pino.DestinationStream {
  return { write: (line) => destination.write(boundLine(line)) };
}

/** Lines are gathered up to this many bytes or milliseconds: a system call for each would cost as much as a small request. */
const gatheredBytes = 8192;
const gatheredMs = 100;
const warnLevel = 40;
let standardOutput: pino.DestinationStream | undefined;

/** Standard output of the process; from `warn` on a line is written at once, and everything at the process's end. */
function getStandardOutput(): pino.DestinationStream {
  if (standardOutput !== undefined) return standardOutput;
  const output = pino.destination({ dest: 1, sync: true, minLength: gatheredBytes, periodicFlush: gatheredMs });
  process.once('exit', () => output.flushSync());
  const toShown = isatty(1) ? createReadableLines({ colors: true }) : (line: string): string => line;
  standardOutput = Object.assign(
    {
      lastLevel: 0,
      write(this: { lastLevel: number }, line: string): void {
        output.write(toShown(boundLine(line)));
        if (this.lastLevel >= warnLevel) output.flushSync();
      },
    },
    // pino tells such a destination the level of each line.
    { [Symbol.for('pino.metadata')]: true },
  );
  return standardOutput;
}

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
