/**
 * Structured logs: pino JSON on standard output, one line per request and per job attempt (operations, Signals).
 * Never bodies, tokens or speech; the redaction below is the second line of defence, not the first.
 */
import pino from 'pino';
import { redactSecrets, secretSerializers } from './redact.ts';

export type Logger = pino.Logger;

/** Logger of one service. `level` is LOG_LEVEL; secrets are replaced by `[redacted]` down to the third level of nesting. */
export function createLogger(options: { service: string; level?: string; destination?: pino.DestinationStream }): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level ?? 'info',
    base: { service: options.service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: redactSecrets },
    serializers: {
      // Fields that a child logger binds pass through serializers only.
      ...secretSerializers,
      err: (error: Error) => redactSecrets(pino.stdSerializers.err(error)),
    },
  };
  return pino(settings, options.destination ?? getStandardOutput());
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
  standardOutput = Object.assign(
    {
      lastLevel: 0,
      write(this: { lastLevel: number }, line: string): void {
        output.write(line);
        if (this.lastLevel >= warnLevel) output.flushSync();
      },
    },
    // pino tells such a destination the level of each line.
    { [Symbol.for('pino.metadata')]: true },
  );
  return standardOutput;
}
