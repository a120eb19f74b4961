/** The conversations service with the real directory service, and functions that call both. */
import type { Actor, ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { compileSchema } from '#libs/infrastructure/schema';
import { contextFor, createTestEnvironment, startService, type TestEnvironment, waitFor } from '#libs/product/testing';
import { type Clock, type Instant, parseInstant } from '#libs/infrastructure/time';
import { type ConversationOut, conversations, type RecordedWrite, type RoomWrite } from '#services/conversations';
import { directory } from '#services/directory';
import { workspace } from './workspace.ts';

export interface ConversationFixture {
  readonly env: TestEnvironment;
  readonly bus: Bus;
  /** The clock of the service; starts at 2030-01-01T00:00:00Z. */
  readonly clock: SettableClock;
  /** Ids of the workspace's items by list and key. */
  readonly ids: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Calls an RPC and validates the reply against its schema. */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, actor?: Actor): Promise<ReplyOf<R>>;
  /** Returns the error of a call; throws when the call succeeds. */
  refusal<R extends Rpc>(rpc: R, request: RequestOf<R>): Promise<AppError>;
  apply(document: unknown): Promise<ReplyOf<typeof directory.rpcs.applyWorkspace>>;
  personId(key: string): number;
  /** Creates a conversation on the journey (default `open-circle`), at its first step, through the service. */
  create(journey?: string, person?: string): Promise<ConversationOut>;
  get(id: number): Promise<ConversationOut>;
  patch(
    id: number,
    body: Omit<RequestOf<typeof conversations.rpcs.patch>, 'conversation_id'>,
  ): Promise<ConversationOut>;
  recorded(id: number, write?: RecordedWrite, key?: string | null): Promise<ConversationOut>;
  writeRoom(id: number, write: RoomWrite): Promise<ReplyOf<typeof conversations.rpcs.writeRoom>>;
  notes(id: number): Promise<ReplyOf<typeof conversations.rpcs.listConversationNotes>['items']>;
  /** Returns the jobs that were sent to the transcript importer, which does not run here. */
  importsOf(conversationId: number): ImportJob[];
  stopDirectory(): Promise<void>;
  /** Restarts the service with these settings. */
  restart(overrides: Overrides): Promise<void>;
  stop(): Promise<void>;
}

export interface ImportJob {
  readonly conversation_id: number;
  readonly step_id: number | null;
  readonly cause: string;
}

export class SettableClock implements Clock {
  #now: Instant = instant('2030-01-01T00:00:00Z');
  now(): Instant {
    return this.#now;
  }
  set(text: string): void {
    this.#now = instant(text);
  }
}

export function instant(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new Error(`${text} is no instant`);
  return parsed.instant;
}

export type Overrides = Readonly<Record<string, string>>;

/**
 * Starts the fixture; `overrides` are settings of the conversations service, or a function that derives settings from
 * the environment.
 * @param options.dueIntervalMs milliseconds between two searches for due work
 */
export async function startConversationFixture(
  fileUrl: string,
  overrides: Overrides | ((env: TestEnvironment) => Promise<Overrides>) = {},
  { dueIntervalMs = 500 }: { readonly dueIntervalMs?: number } = {},
): Promise<ConversationFixture> {
  const env = await createTestEnvironment(fileUrl);
  const clock = new SettableClock();
  const options = { clock, dueIntervalMs };
  const directoryService = await startService('directory', env);
  let service = await startService(
    'conversations',
    env,
    typeof overrides === 'function' ? await overrides(env) : overrides,
    options,
  );
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'admin',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  env.onStop(() => bus.close());
  const call: ConversationFixture['call'] = async (rpc, request, actor) => {
    const reply = await bus.call(rpc, request, contextFor(rpc, actor));
    const problem = checkOf(rpc)(parseJson(JSON.stringify(reply)));
    if (problem !== undefined)
      throw new Error(`reply of ${rpc.subject} breaks its schema at ${problem.path.join('.')}: ${problem.message}`);
    return reply;
  };
  const apply: ConversationFixture['apply'] = (document) =>
    call(directory.rpcs.applyWorkspace, { document, dry_run: false });
  const { ids } = await apply(workspace);
  const { rpcs } = conversations;
  const imports: ImportJob[] = [];
  const imported = {
    stream: 'JOBS',
    durable: 'test-imports',
    filter: 'jobs.transcripts.transcript-import',
    concurrency: 1,
  } as const;
  const importer = await bus.consume(imported, async (delivery) => {
    imports.push((JSON.parse(Buffer.from(delivery.data).toString('utf8')) as { payload: ImportJob }).payload);
    delivery.ack();
  });
  env.onStop(() => importer.stop());
  const personId = (key: string): number => ids['people']?.[key] ?? 0;
  let day = 0;
  return {
    env,
    bus,
    clock,
    ids,
    call,
    apply,
    personId,
    stopDirectory: () => directoryService.stop(),
    restart: async (changed) => {
      await service.stop();
      service = await startService('conversations', env, changed, options);
    },
    refusal: async (rpc, request) => {
      try {
        await bus.call(rpc, request, contextFor(rpc));
      } catch (error) {
        if (error instanceof AppError) return error;
        throw error;
      }
      throw new Error(`${rpc.subject} succeeded`);
    },
    create: async (journey = 'open-circle', person = 'ada') => {
      // Each conversation starts before all existing ones, so that no existing conversation is active at its time.
      const time = new Date(Date.UTC(2029, 0, 1) - ++day * 86_400_000).toISOString();
      const [created] = await call(rpcs.findActive, { person_id: personId(person), journey, time });
      if (created === undefined) throw new Error('nothing was created');
      return created;
    },
    get: (id) => call(rpcs.get, { conversation_id: id }),
    patch: (id, body) => call(rpcs.patch, { conversation_id: id, ...body }),
    recorded: (id, write = {}, key = null) => call(rpcs.recorded, { conversation_id: id, idempotency_key: key, write }),
    writeRoom: (id, write) => call(rpcs.writeRoom, { conversation_id: id, write }),
    notes: async (id) => (await call(rpcs.listConversationNotes, { conversation_id: id })).items,
    importsOf: (id) => imports.filter((job) => job.conversation_id === id),
    stop: () => env.stop(),
  };
}

const checks = new Map<Rpc, ReturnType<typeof compileSchema>>();
function checkOf(rpc: Rpc): ReturnType<typeof compileSchema> {
  const check = checks.get(rpc) ?? compileSchema(rpc.reply);
  checks.set(rpc, check);
  return check;
}

export { waitFor };
