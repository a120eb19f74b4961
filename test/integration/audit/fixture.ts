/** All services with a small amount of data, and functions that create what calls of audited operations need. */
import { randomUUIDv7 } from 'node:crypto';
import type { Actor, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { connectBus, newContext } from '#libs/infrastructure/nats';
import { conversationJourney, createTestEnvironment, startService, startTelegram } from '#libs/product/testing';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { contracts } from '../../../libs/product/servers/service-contracts.ts';

export const issuer = 'https://id.example.org';
export const password = 'seven green parrots';
export const ip = '192.0.2.1';
export const endpointTypes = ['conversation.created'];

/** One call of an operation. `actor` is omitted for calls by operators and by unauthenticated callers. */
export interface Act {
  readonly request: object;
  readonly target: { readonly type: string; readonly id: number | string } | null;
  readonly actor?: Actor;
  /** Account that the entry names when the call has no actor. */
  readonly accountId?: number | null;
  readonly isRefused?: boolean;
  /** Waits for the end of the job that the call starts. The job writes an equal entry for what it changes. */
  readonly ended?: () => Promise<unknown>;
}
/** Creates what the call needs, and returns the call. */
export type Row = () => Promise<Act>;

/** The target is the object that the call creates, so its id is known only after the call. */
export const newest = (type: string) => ({ type, id: 'newest' });

export type AuditFixture = Awaited<ReturnType<typeof startAuditFixture>>;

/** Starts the fixture. Each `new…` function creates one object and returns its id. */
export async function startAuditFixture(fileUrl: string) {
  const env = await createTestEnvironment(fileUrl);
  const telegram = await startTelegram();
  env.onStop(() => telegram.stop());
  const settings = {
    OIDC_ISSUER: issuer,
    OIDC_LINK_BY_EMAIL: 'true',
    AGENT_KNOWLEDGE: 'reviewed',
    TELEGRAM_API_ROOT: telegram.apiRoot,
    CALCOM_API_KEY: 'cal_test',
    CALCOM_API_URL: 'http://127.0.0.1:9',
    OUTBOUND_ALLOWED_HOSTS: 'localhost:9,127.0.0.1:9',
    WEBHOOK_ALLOWED_HOSTS: 'localhost:9,127.0.0.1:9',
  };
  const services = await Promise.all(contracts.map(({ service }) => startService(service, env, settings)));
  // The services stop in parallel, because a running job waits for the services that it calls.
  env.onStop(async () => {
    await Promise.all(services.map((service) => service.stop()));
  });
  const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = env.settings;
  const bus = await connectBus({ url, prefix, name: 'admin', logger: env.logger, actors: env.actors });
  env.onStop(() => bus.close());
  const call = <R extends Rpc>(rpc: R, request: RequestOf<R>, actor?: Actor) =>
    bus.call(rpc, request, { ...newContext(), ...(actor === undefined ? {} : { actor }) });
  const document = {
    people: ['root', 'ben'].map((key) => ({ key, name: key })),
    accounts: [{ email: 'root@example.org', person: 'root', password, superuser: true }],
    classes: [
      {
        slug: 'event',
        object_kind: 'holon',
        parent: null,
        label: 'Event',
        plural_label: 'Events',
        conversation_event: true,
      },
    ],
    holons: [{ slug: 'autumn', name: 'Autumn', class: 'event', parent: null, journeys: ['circle'] }],
    journeys: [
      conversationJourney('circle', { slug: 'done', title: 'Done', pipeline_job: 'transcript_import', config: {} }),
    ],
  };
  const { ids } = await call(directory.rpcs.applyWorkspace, { document, dry_run: false });
  const messaging = { bot_token: '4242:test-bot-token', webhook_secret: 'a-secret-of-the-hook-that-nobody-guesses' };
  await call(agents.rpcs.applyWorkspace, {
    agents: [{ slug: 'guide', name: 'Guide', config: { messaging } }],
    dry_run: false,
  });

  let made = 0;
  const newName = (): string => `name-${++made}`;
  async function newPerson(key = newName()): Promise<number> {
    const document = { people: [{ key, name: key }] };
    return (await call(directory.rpcs.applyWorkspace, { document, dry_run: false })).ids['people']?.[key] ?? 0;
  }
  async function newAccount(): Promise<{ email: string; id: number; personId: number }> {
    const personId = await newPerson();
    const email = `${newName()}@example.org`;
    return {
      email,
      personId,
      id: (await call(directory.rpcs.createAccount, { email, password, person: personId })).id,
    };
  }
  async function logIn(email: string): Promise<{ actor: Actor; sessionKey: string }> {
    const { token } = await call(directory.rpcs.login, { email, password, ip });
    const { actor } = await call(directory.rpcs.verifySession, { token });
    return { actor, sessionKey: actor.sessionKey };
  }
  const one = async (sql: string, values: unknown[] = []): Promise<number> =>
    (await env.sql<{ id: number }>(sql, values))[0]?.id ?? 0;

  async function newConversation(participants: readonly number[] = []): Promise<number> {
    const item = {
      key: newName(),
      journey_id: ids['journeys']?.['circle'] ?? null,
      step_id: ids['steps']?.['circle/held'] ?? null,
      participant_ids: [...participants],
    };
    return (await call(conversations.rpcs.importConversations, { items: [item], dry_run: false })).items[0]?.id ?? 0;
  }
  const rowsOf = async (personId: number | null) => ({
    items: [
      {
        conversation_id: await newConversation(),
        rows: [{ start_ms: 0, end_ms: 1, person_id: personId, speaker: null, text: 'x' }],
      },
    ],
    dry_run: false,
  });
  const newBlob = async (
    kind: string,
    personId: number | null = null,
  ): Promise<{ conversationId: number; id: number }> => {
    const conversationId = await newConversation();
    const id = await one(
      `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source, created_by_person_id)
       values ($1, $2, gen_random_uuid()::text, 'x', 'audio/mpeg', 1, repeat('0', 64), 'upload', $3) returning id`,
      [kind, conversationId, personId],
    );
    return { conversationId, id };
  };
  const newThread = (): Promise<number> =>
    one(
      `with thread as (
         insert into agents.threads (agent_id, thread_key, channel, visitor_id, turn_count)
         select id, gen_random_uuid()::text, 'web', gen_random_uuid()::text, 1 from agents.agents where slug = 'guide' returning id
       )
       insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
       select id, 1, 'chat_visitor', 'Hello', '', now() from thread returning thread_id::int as id`,
    );
  const newSentence = async (): Promise<number> =>
    one(
      `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
       select agent_id, id, 'knowledge', 'A sentence', 1 from agents.threads where id = $1 returning id::int as id`,
      [await newThread()],
    );
  const newUpdate = (): Promise<number> =>
    one(
      `insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, body, outcome, kind)
       values (gen_random_uuid()::text, 'x', now(), 0, 'guide', $1, 'failed', 'message') returning id::int as id`,
      [
        Buffer.from(
          JSON.stringify({
            update_id: ++made,
            message: {
              message_id: 1,
              date: 1,
              chat: { id: made, type: 'private' },
              from: { id: made },
              text: 'needle',
            },
          }),
        ),
      ],
    );
  const newReceipt = (): Promise<number> =>
    one(
      `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, body, outcome)
       values ('booking', gen_random_uuid()::text, 'x', now(), '1', '{}', convert_to('{"needle": 1}', 'UTF8'), 'journey_error') returning id`,
    );
  async function newJob(service: string, state: 'dead' | 'queued'): Promise<string> {
    const id = randomUUIDv7();
    await env.sql(
      `insert into ${service}.jobs (id, type, payload, state, attempts, error, finished_at, run_at)
       values ($1, 'strange', '{}', $2, 3, 'x', case $2 when 'dead' then now() end, now() + interval '1 day')`,
      [id, state],
    );
    return id;
  }
  async function newEndpoint(): Promise<number> {
    return (await call(events.rpcs.createEndpoint, { url: 'http://localhost:9/hook', types: endpointTypes }, root))
      .endpoint.id;
  }
  const newKey = async (): Promise<string> =>
    (await call(directory.rpcs.createKey, { name: 'k', scopes: ['*'], account_id: root.accountId }, root)).key.id;

  const { actor } = await logIn('root@example.org');
  const root = actor as Extract<Actor, { kind: 'user' }>;
  return {
    env,
    call,
    root,
    ids,
    bus,
    newName,
    newPerson,
    newAccount,
    logIn,
    one,
    newConversation,
    rowsOf,
    newBlob,
    newThread,
    newSentence,
    newUpdate,
    newReceipt,
    newJob,
    newEndpoint,
    newKey,
  };
}
