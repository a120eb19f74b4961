/**
 * Structured logs: pino JSON on standard output, readable lines in a terminal; one line per request and job attempt
 * (rules/operations#logs). Callers never log bodies, tokens or speech; the redaction is a second line of defence.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { releaseVersion } from '#libs/infrastructure/release';
import { boundFields, boundText, secretSerializers } from './redact.ts';
import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';

export type Logger = pino.Logger;

/**
 * Creates the logger of a service with LOG_LEVEL `level`. Secrets become `[redacted]` and long values are truncated,
 * down to the third nesting level. A line over 16 KiB keeps only its top-level texts and numbers.
 */
export function createLogger(options: {
  service: string;
  level?: string;
  destination?: pino.DestinationStream;
}): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level ?? 'info',
    base: { service: options.service, version: releaseVersion, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: boundFields },
    serializers: {
      // Fields of child loggers are passed to serializers only, not to `formatters.log`.
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

/** Redacts message texts. For an error without a text, the message of the error is used. */
function boundArguments<Arguments extends unknown[]>(given: Arguments): Arguments {
  const [first, text] = given;
  const args = first instanceof Error && text === undefined ? [first, first.message] : given;
  return args.map((arg) => (typeof arg === 'string' ? boundText(arg) : arg)) as Arguments;
}

const maxLineLength = 16_384;

function boundLine(line: string): string {
  if (line.length <= maxLineLength) return line;
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>).filter(
    ([, value]) => typeof value !== 'object',
  );
  return `${JSON.stringify({ ...boundFields(Object.fromEntries(fields)), cutFrom: line.length })}\n`;
}

function boundLines(destination: pino.DestinationStream): pino.DestinationStream {
  return { write: (line) => destination.write(boundLine(line)) };
}

/** Buffer size. Lines are buffered because one system call per line would cost as much as a small request. */
const bufferedBytes = 8192;
const bufferedMs = 100;
const warnLevel = 40;
let standardOutput: pino.DestinationStream | undefined;

/**
 * Returns the standard output of the process as a destination. It is flushed at exit and immediately for `warn` and
 * higher levels.
 */
function getStandardOutput(): pino.DestinationStream {
  if (standardOutput !== undefined) return standardOutput;
  const output = pino.destination({ dest: 1, sync: true, minLength: bufferedBytes, periodicFlush: bufferedMs });
  process.once('exit', () => output.flushSync());
  const toVisible = isatty(1) ? createReadableLines({ colors: true }) : (line: string): string => line;
  standardOutput = Object.assign(
    {
      lastLevel: 0,
      write(this: { lastLevel: number }, line: string): void {
        output.write(toVisible(boundLine(line)));
        if (this.lastLevel >= warnLevel) output.flushSync();
      },
    },
    // With this symbol pino passes the level of each line.
    { [Symbol.for('pino.metadata')]: true },
  );
  return standardOutput;
}

/** Characters that could hide or reorder text and that pino-pretty does not escape; they are written as code points. */
const hidden = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns a function that formats a JSON line for a terminal; other lines are unchanged. pino-pretty is loaded on the
 * first call only, to save memory where logs are JSON.
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
  // In a JSON line such a character is inside a string, so its escape needs a second backslash.
  return (line) =>
    print(line.replace(hidden, (found) => `\\\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)) ?? `${line}\n`;
}
