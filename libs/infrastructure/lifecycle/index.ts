/** Lifecycle of a service process: start, run until a signal, drain, stop within a deadline (architecture#services). */
import { flushCompileCache } from 'node:module';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { ConfigError } from '#libs/infrastructure/config';
import { collectSoon } from '#libs/infrastructure/transfer';

export { listen, reachableAddress, prepareDrain, type DrainOptions } from './http-server.ts';

export interface Service {
  /** Resolves when the service is ready; rejects when it cannot start. */
  start(): Promise<void>;
  /** Rejects new work, finishes work in progress, closes connections. */
  stop(): Promise<void>;
}

export interface RunOptions {
  /**
   * Heap growth in percent after which a full collection runs. Without it V8 lets a busy heap grow to four times its
   * size.
   */
  readonly heapGrowingPercent?: number;
}

/** Time between the first signal and a forced exit. */
const stopDeadlineMs = 25_000;

/**
 * Runs a service as the only task of this process. SIGTERM, SIGINT and a closed IPC channel of the parent stop it. The
 * exit status is 0 after a clean stop. It is 1 after a configuration error (printed as text), a failed start, an
 * uncaught error or an exceeded deadline.
 */
export async function runService(
  name: string,
  create: () => Promise<Service>,
  { heapGrowingPercent }: RunOptions = {},
): Promise<void> {
  setHeapFlags(heapGrowingPercent);
  let service: Service | undefined;
  let stopping: Promise<void> | undefined;

  const stop = (cause: string, status: number): void => {
    if (stopping !== undefined) return;
    process.exitCode = status;
    const deadline = setTimeout(
      () => exitWith(name, 1, `did not stop within ${stopDeadlineMs / 1000} s after ${cause}`),
      stopDeadlineMs,
    );
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
    collectSoon(); // garbage of the start is a quarter of an idle heap
  } catch (error) {
    if (error instanceof ConfigError) exitWith(name, 1, error.message);
    exitWith(name, 1, 'could not start', error);
  }
}

function exitWith(name: string, status: number, message: string, error?: unknown): never {
  report(name, message, error);
  process.exit(status);
}

/**
 * Writes a report synchronously to standard error, because the logger may not exist yet or may no longer be flushed.
 */
function report(name: string, message: string, error?: unknown): void {
  const cause = error === undefined ? '' : `: ${inspect(error)}`;
  process.stderr.write(`${name}: ${message}${cause}\n`);
}

/**
 * Disables pretenuring, with which V8 allocates objects in the old generation when many objects of their type live for
 * a while. In the gateway this would soon affect most objects of a request
 * (docs/performance-notes.md#shared-compile-cache-and-heap-flags). The compile cache is flushed first, because its
 * entries are valid only for the flags at the time of writing.
 */
function setHeapFlags(heapGrowingPercent: number | undefined): void {
  flushCompileCache();
  setFlagsFromString('--no-allocation-site-pretenuring');
  if (heapGrowingPercent !== undefined) setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
}
