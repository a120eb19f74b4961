/**
 * Life of a service process: start, run until a signal, drain, stop within a deadline (architecture §1: any replica may go
 * at any time).
 */
import { inspect } from 'node:util';
import { ConfigError } from '#libs/config';

export { listen, reachableAddress } from './listen.ts';
export { prepareDrain, type DrainOptions } from './drain-server.ts';

export interface Service {
  /** Resolves when the service can work; rejects when it cannot. */
  start(): Promise<void>;
  /** Refuses new work, finishes what runs, closes connections. */
  stop(): Promise<void>;
}

/** Time between the first signal and a forced exit. */
const stopDeadlineMs = 25_000;

/**
 * Runs a service as this process's only task. SIGTERM, SIGINT and the loss of a parent that holds an IPC channel stop it;
 * exit status 0 after a clean stop, 1 after a configuration error (printed as text), a failed start, an uncaught error or an
 * exceeded deadline.
 */
export async function runService(name: string, create: () => Promise<Service>): Promise<void> {
  let service: Service | undefined;
  let stopping: Promise<void> | undefined;

  const stop = (cause: string, status: number): void => {
    if (stopping !== undefined) return;
    process.exitCode = status;
    const deadline = setTimeout(() => exitWith(name, 1, `did not stop within ${stopDeadlineMs / 1000} s after ${cause}`), stopDeadlineMs);
    deadline.unref();
    stopping = (service?.stop() ?? Promise.resolve()).then(
      () => process.exit(status),
      (error: unknown) => exitWith(name, 1, `failed to stop after ${cause}`, error),
    );
  };

  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGINT', () => stop('SIGINT', 0));
  process.on('uncaughtException', (error) => {
    report(name, 'uncaught error', error);
    stop('an uncaught error', 1);
  });
  process.on('unhandledRejection', (error) => {
    report(name, 'unhandled rejection', error);
    stop('an unhandled rejection', 1);
  });
  if (process.channel !== undefined) {
    process.on('disconnect', () => stop('the loss of its parent', 0));
    process.channel.unref();
  }

  try {
    service = await create();
    await service.start();
  } catch (error) {
    if (error instanceof ConfigError) exitWith(name, 1, error.message);
    exitWith(name, 1, 'could not start', error);
  }
}

function exitWith(name: string, status: number, message: string, error?: unknown): never {
  report(name, message, error);
  process.exit(status);
}

/** Written synchronously to standard error: the logger may not exist yet, or not be flushed any more. */
function report(name: string, message: string, error?: unknown): void {
  const cause = error === undefined ? '' : `: ${inspect(error)}`;
  process.stderr.write(`${name}: ${message}${cause}\n`);
}
