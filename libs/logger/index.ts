/**
 * Structured logs: pino JSON on standard output, readable lines in a terminal; one line per request and job attempt
 * (rules/operations#logs). Callers never log bodies, tokens or speech; the redaction is a second line of defence.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { releaseVersion } from '#libs/release';
import { boundFields, boundText, secretSerializers } from './redact.ts';
import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';

export type Logger = pino.Logger;

/**
 * Logger of one service with LOG_LEVEL `level`. Secrets are replaced by `[redacted]` and long values truncated, down to
 * the third nesting level. A line over 16 KiB keeps only its top-level texts and numbers.
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
      // Bindings of child loggers pass through serializers only.
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

/** Redacts message texts; an error without a text is logged with its message. */
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

/** Buffer size and flush interval: one system call per line would cost as much as a small request. */
const bufferedBytes = 8192;
const bufferedMs = 100;
const warnLevel = 40;
let standardOutput: pino.DestinationStream | undefined;

/** Standard output of the process; flushed immediately from `warn` on, and at exit. */
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

/** Characters that pino-pretty does not escape and that could hide or reorder text; shown as code points. */
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
  // Within JSON such a character is part of a string, so its escape needs a second backslash.
  return (line) =>
    print(line.replace(hidden, (found) => `\\\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)) ?? `${line}\n`;
}
