/** The directory service alone, and helpers to call it. */
import type { Actor, ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { connectBus, newContext, type Bus } from '#libs/infrastructure/nats';
import { contextFor, createTestEnvironment, startService, type TestEnvironment } from '#libs/product/testing';
import type { Clock } from '#libs/infrastructure/time';
import { directory } from '#services/directory';

export interface DirectoryFixture {
  readonly env: TestEnvironment;
  readonly bus: Bus;
  /** Calls as a superuser, or as `actor`; null means anonymous. */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, actor?: Actor | null): Promise<ReplyOf<R>>;
  /** Returns the error of a call; throws when the call succeeds. */
  refusal<R extends Rpc>(rpc: R, request: RequestOf<R>, actor?: Actor | null): Promise<AppError>;
  apply(document: unknown): Promise<ReplyOf<typeof directory.rpcs.applyWorkspace>>;
  stop(): Promise<void>;
}

interface DirectoryOptions {
  readonly replicas?: number;
  readonly clock?: Clock | undefined;
  /** Prepares the environment before the service starts. Returns further settings. */
  readonly prepare?: (env: TestEnvironment) => Promise<Record<string, string>>;
}

export async function startDirectoryFixture(
  fileUrl: string,
  settings: Record<string, string> = {},
  { replicas = 1, clock, prepare }: DirectoryOptions = {},
): Promise<DirectoryFixture> {
  const env = await createTestEnvironment(fileUrl);
  const own = { ...settings, ...(await prepare?.(env)) };
  for (let replica = 0; replica < replicas; replica++)
    await startService('directory', env, own, clock === undefined ? {} : { clock });
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'admin',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  env.onStop(() => bus.close());
  const call: DirectoryFixture['call'] = (rpc, request, actor) =>
    bus.call(rpc, request, actor === null ? newContext() : contextFor(rpc, actor));
  return {
    env,
    bus,
    call,
    refusal: async (rpc, request, actor) => {
      try {
        await call(rpc, request, actor);
      } catch (error) {
        if (error instanceof AppError) return error;
        throw error;
      }
      throw new Error(`${rpc.subject} succeeded`);
    },
    apply: (document) => call(directory.rpcs.applyWorkspace, { document, dry_run: false }),
    stop: () => env.stop(),
  };
}
