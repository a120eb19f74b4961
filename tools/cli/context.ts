/** What every command is given: calls to the services over NATS, and how results and failures are shown. */
import type { ReplyOf, RequestOf, Rpc } from '#libs/contract';
import { AppError } from '#libs/errors';
import { createLogger } from '#libs/logger';
import { connectBus, newContext, type Bus } from '#libs/nats';
import { toPrintable } from './printable.ts';
import { readSettings } from './settings.ts';

/** A failure whose text is all that a user needs; ends the process with `exitCode`. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

export interface CliContext {
  /** Calls a service. @throws AppError of the service; CliError when NATS cannot be reached. */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>): Promise<ReplyOf<R>>;
  /** The connection, made on first use. @throws CliError when NATS cannot be reached. */
  bus(): Promise<Bus>;
  /** Settings of the platform: the environment, else those of the running `npm start` of this folder. */
  setting(name: string): string | undefined;
  /** All of them; an empty variable counts as absent. */
  settings(): Readonly<Record<string, string | undefined>>;
  /** Prints one value as JSON, indented. */
  printJson(value: unknown): void;
  printLine(line: string): void;
  close(): Promise<void>;
}

const connectTimeoutMs = 3_000;

export function createContext(): CliContext {
  let settings: ReturnType<typeof readSettings> | undefined;
  let connection: Promise<Bus> | undefined;
  const readAll = () => (settings ??= readSettings());
  const setting = (name: string): string | undefined => readAll()[name];

  const connect = async (): Promise<Bus> => {
    const url = setting('NATS_URL');
    if (url === undefined) {
      throw new CliError('NATS_URL is not set and no platform started by `npm start` runs in this folder.');
    }
    const logger = createLogger({ service: 'cli', level: 'silent' });
    try {
      return await connectBus({ url, name: 'cli', caller: 'cli', prefix: setting('NATS_SUBJECT_PREFIX'), logger, connectTimeoutMs });
    } catch (error) {
      throw new CliError(error instanceof Error ? error.message : String(error));
    }
  };
  const bus = (): Promise<Bus> => (connection ??= connect());

  return {
    bus,
    setting,
    settings: () => Object.fromEntries(Object.entries(readAll()).filter(([, value]) => value !== '')),
    call: async (rpc, request) => (await bus()).call(rpc, request, newContext()),
    printJson: (value) => void process.stdout.write(`${toPrintable(JSON.stringify(value, null, 2))}\n`),
    printLine: (line) => void process.stdout.write(`${toPrintable(line)}\n`),
    close: async () => {
      const open = await connection?.catch(() => undefined);
      await open?.close();
    },
  };
}

/** What went wrong, for a terminal. */
export function describeFailure(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof AppError) return error.reason === undefined ? error.message : `${error.message} (${error.reason})`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
