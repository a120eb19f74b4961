/** The context of a command: calls over HTTP and NATS, output of results and errors. */
import { join } from 'node:path';
import type { ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import type { Bus } from '#libs/infrastructure/nats';
import type { ApiReply, Client } from '../clients/typescript/index.ts';
import type { Target } from './api.ts';
import { CliError, describeMissing, isBareNotFound, toFailure } from './failure.ts';
import { toPrintable } from './output/printable.ts';
import { screenOf } from './output/screen.ts';
import type { View } from './output/table.ts';
import { readSettings } from './settings.ts';

export interface CliContext {
  /** True with --json. */
  readonly json: boolean;
  /** Value of --profile. */
  readonly profile: string | undefined;
  /**
   * Calls an operation of the HTTP APIs with the credential of the profile.
   * @param subject e.g. `person 12`, for the error message of a plain 404
   * @throws AppError of the API; CliError without a profile, or when the API cannot be reached
   */
  http<Reply extends ApiReply<number, unknown>>(
    call: (api: Client) => Promise<Reply>,
    subject?: string,
  ): Promise<Reply>;
  /** Returns the installation and the credential that `http` uses. @throws CliError without a profile */
  target(): Promise<Target>;
  /**
   * Calls a service over NATS.
   * @param subject e.g. `conversation 12`, for the error message when the service replies a plain `not_found`
   * @throws AppError of the service; CliError when NATS cannot be reached
   */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, subject?: string): Promise<ReplyOf<R>>;
  /** Returns the NATS connection, opened on first use. @throws CliError when NATS cannot be reached */
  bus(): Promise<Bus>;
  /**
   * Returns a setting of the platform, from the environment or from the platform that `npm start` runs in this folder.
   */
  setting(name: string): string | undefined;
  /** Returns all settings. Empty variables count as absent. */
  settings(): Readonly<Record<string, string | undefined>>;
  /** Prints the result, once per command: `data` with --json, otherwise the views. */
  print(data: unknown, ...views: readonly View[]): void;
  /** Prints an error, with --json to standard output unless a result was printed. @returns the exit status */
  fail(error: unknown): number;
  close(): Promise<void>;
}

const connectTimeoutMs = 3_000;
const repoDir = join(import.meta.dirname, '..');

/**
 * @param json print only JSON, also for errors
 * @param profile profile of the HTTP APIs; default: the current one
 * @param utc exact times in tables
 * @param variables replace the environment variables
 */
export function createContext({
  json,
  profile,
  utc = false,
  variables,
}: {
  json: boolean;
  profile?: string | undefined;
  utc?: boolean;
  variables?: Readonly<Record<string, string>>;
}): CliContext {
  let settings: ReturnType<typeof readSettings> | undefined;
  let connection: Promise<Bus> | undefined;
  let chosen: Promise<{ target: Target; client: Client }> | undefined;
  let answered = false;
  const readAll = () => (settings ??= readSettings(variables));
  const setting = (name: string): string | undefined => readAll()[name];

  const connect = async (): Promise<Bus> => {
    if (setting('NATS_URL') === undefined) {
      throw new CliError(
        `NATS_URL is not set and no platform of \`npm start\` is running in ${repoDir}.`,
        'unavailable',
      );
    }
    // Loaded on first use, so that completion and help start faster.
    const [{ buildNatsUrl }, { createLogger }, { connectBus }] = await Promise.all([
      import('#libs/infrastructure/config'),
      import('#libs/infrastructure/logger'),
      import('#libs/infrastructure/nats'),
    ]);
    const logger = createLogger({ service: 'cli', level: 'silent' });
    try {
      const url = buildNatsUrl(readAll());
      return await connectBus({
        url,
        name: 'cli',
        caller: 'cli',
        prefix: setting('NATS_SUBJECT_PREFIX'),
        logger,
        connectTimeoutMs,
      });
    } catch (error) {
      throw new CliError(error instanceof Error ? error.message : String(error), 'unavailable');
    }
  };
  const openApi = async () => {
    const { findTarget, openClient } = await import('./api.ts'); // loaded on first use, like NATS
    const target = await findTarget(readAll(), profile);
    return { target, client: openClient(target) };
  };
  const api = () => (chosen ??= openApi());
  const bus = (): Promise<Bus> => (connection ??= connect());
  const write = (text: string): void => void process.stdout.write(`${toPrintable(text)}\n`);

  return {
    json,
    profile,
    bus,
    http: async (call, subject) => {
      const { client } = await api();
      const { translateErrors } = await import('./api.ts');
      return translateErrors(() => call(client), subject);
    },
    target: async () => (await api()).target,
    setting,
    settings: () => Object.fromEntries(Object.entries(readAll()).filter(([, value]) => value !== '')),
    call: async (rpc, request, subject) => {
      const { newContext } = await import('#libs/infrastructure/nats');
      try {
        return await (await bus()).call(rpc, request, newContext());
      } catch (error) {
        throw subject !== undefined && isBareNotFound(error) ? notFound(describeMissing(subject)) : error;
      }
    },
    print: (data, ...views) => {
      if (answered) throw new Error('A command must print its result only once');
      answered = true;
      if (json) {
        write(JSON.stringify(data, null, 2));
        return;
      }
      const screen = screenOf(process.stdout, utc);
      for (const view of views) {
        const lines = typeof view === 'string' ? [toPrintable(view)] : view(screen); // the cells of a view are already printable
        process.stdout.write(lines.map((line) => `${line}\n`).join(''));
      }
    },
    fail: (error) => {
      const { exitCode, body, text } = toFailure(error);
      if (json && !answered && exitCode !== 0) write(JSON.stringify({ error: body }, null, 2));
      else if (text !== '') process.stderr.write(`${screenOf(process.stderr).paint('red', toPrintable(text))}\n`);
      return exitCode;
    },
    close: async () => {
      const open = await connection?.catch(() => undefined);
      await open?.close();
    },
  };
}
