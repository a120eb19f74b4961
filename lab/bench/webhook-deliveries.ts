/** Delivers events at a steady rate to healthy and failing endpoints, and compares the results (V6, V7). */
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Actor, ReplyOf } from '#libs/infrastructure/contract';
import { newContext } from '#libs/infrastructure/nats';
import type { ReceivedWebhook, ReceiverAnswer, WebhookReceiver } from '../../libs/product/testing/webhook-receiver.ts';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import type { FaultEnvironment } from './feed-environment.ts';
import { contextFor, journey, superuser } from './feed-faults.ts';

type FeedEvent = ReplyOf<typeof events.rpcs.readFeed>['items'][number];

/** Answers of the failing endpoints, which are three of ten endpoints. The other endpoints answer at once. */
const ill: readonly ReceiverAnswer[] = [500, 'hang', 'redirect', 410, 'drop'];
const illOfTen = 3;
const endpointsOfAccount = 5;
const subjects = 20;
const targetMs = 1_000;
/** Maximum time in which all deliveries must succeed after the endpoints have recovered. */
const mendMs = 300_000;

export interface Run {
  readonly deliveries: number;
  readonly endpoints: number;
  /** Deliveries started per second. */
  readonly rate: number;
  readonly log: (line: string) => void;
}

/** Results of all endpoints with the same answer during the faults. */
export interface Row {
  readonly answer: string;
  readonly endpoints: number;
  readonly requests: number;
  /** Events that an endpoint never received, summed over the endpoints. */
  readonly missing: number;
  /** Requests with an invalid signature, id or body. */
  readonly wrong: number;
  /** Maximum concurrent requests per endpoint. */
  readonly open: number;
  /** Milliseconds from the commit of an event to its first receipt. */
  readonly p50: number;
  readonly p95: number;
  readonly slowest: number;
}

interface Endpoint {
  readonly id: number;
  readonly path: string;
  readonly secret: string;
  readonly answer: ReceiverAnswer;
}

const healthy = 204;

/** Returns true when no event is lost or changed, and failing endpoints do not delay healthy ones. */
export function isWithinTargets(rows: readonly Row[]): boolean {
  return rows.every(
    ({ answer, missing, wrong, p95 }) => missing + wrong === 0 && (answer !== String(healthy) || p95 < targetMs),
  );
}

export async function runDeliveries(
  environment: FaultEnvironment,
  receiver: WebhookReceiver,
  run: Run,
): Promise<Row[]> {
  const { log } = run;
  const ids = await setUp(environment, Math.ceil(run.endpoints / endpointsOfAccount));
  const endpoints = await makeEndpoints(environment, receiver, ids.accounts, run.endpoints);
  const made = Math.ceil(run.deliveries / run.endpoints);
  log(`${made} events for ${run.endpoints} endpoints`);
  await write(environment, ids.conversations, { made, everyMs: (1_000 * run.endpoints) / run.rate });
  const emitted = await readEmitted(environment);
  const well = endpoints.filter(({ answer }) => answer === healthy);
  await untilAll(receiver, well, emitted);
  const rows = well.length === 0 ? [] : [describe(receiver, well, emitted)];
  log(`${rows[0]?.requests ?? 0} came where they are answered; the others are mended`);
  for (const { path } of endpoints) receiver.answer(path, healthy);
  const { updateEndpoint, recoverEndpoint } = events.rpcs;
  const asRoot = { ...newContext(), actor: superuser };
  for (const { id, answer } of endpoints) {
    if (answer === healthy) continue;
    if (answer === 410) await environment.bus.call(updateEndpoint, { endpoint_id: id, disabled: false }, asRoot);
    await environment.bus.call(recoverEndpoint, { endpoint_id: id, since: '2020-01-01T00:00:00Z' }, asRoot);
  }
  await untilAll(receiver, endpoints, emitted);
  const others = ill
    .map((kind) => endpoints.filter(({ answer }) => answer === kind))
    .filter(({ length }) => length > 0);
  return [...rows, ...others.map((alike) => describe(receiver, alike, emitted))];
}

async function setUp(
  { bus }: FaultEnvironment,
  accounts: number,
): Promise<{ accounts: Actor[]; conversations: number[] }> {
  const names = Array.from({ length: Math.max(accounts, subjects) }, (_, index) => `p${index}`);
  const document = {
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
    journeys: [journey],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['circle'] }],
    people: names.map((key) => ({ key, name: key, contact: {} })),
    accounts: names
      .slice(0, accounts)
      .map((person) => ({ email: `${person}@example.org`, person, password: `secret-of-${person}-1` })),
  };
  const { applyWorkspace } = directory.rpcs;
  const { findActive } = conversations.rpcs;
  const { ids } = await bus.call(applyWorkspace, { document, dry_run: false }, contextFor(applyWorkspace));
  const people = Object.values(ids['people'] ?? {});
  const found = await Promise.all(
    people
      .slice(0, subjects)
      .map((id) =>
        bus.call(
          findActive,
          { person_id: id, journey: 'circle', time: '2030-01-01T10:00:00Z' },
          contextFor(findActive),
        ),
      ),
  );
  const user = { kind: 'user', personId: null, superuser: false, globalEditor: false, coherenceAccess: true } as const;
  return {
    accounts: Object.values(ids['accounts'] ?? {}).map((accountId) => ({ ...user, accountId })),
    conversations: found.flatMap((items) => items.map(({ id }) => id)),
  };
}

async function makeEndpoints(
  { bus }: FaultEnvironment,
  receiver: WebhookReceiver,
  accounts: readonly Actor[],
  count: number,
): Promise<Endpoint[]> {
  const made: Endpoint[] = [];
  for (let index = 0; index < count; index++) {
    const path = `/${index}`;
    const position = Math.floor(index / 10) * illOfTen + (index % 10);
    const answer = index % 10 < illOfTen ? (ill[position % ill.length] ?? healthy) : healthy;
    receiver.answer(path, answer);
    const actor = accounts[Math.floor(index / endpointsOfAccount)] ?? superuser;
    const expected = { url: receiver.url(path), types: ['conversation.updated'] };
    const { endpoint, secret } = await bus.call(events.rpcs.createEndpoint, expected, { ...newContext(), actor });
    made.push({ id: endpoint.id, path, secret: secret ?? '', answer });
  }
  return made;
}

/** Writes at a fixed rate, even when the platform replies slowly. */
async function write(
  { bus }: FaultEnvironment,
  ids: readonly number[],
  pace: { made: number; everyMs: number },
): Promise<void> {
  const { patch } = conversations.rpcs;
  const beganMs = performance.now();
  const writing: Promise<unknown>[] = [];
  for (let n = 0; n < pace.made; n++) {
    await sleep(Math.max(0, beganMs + n * pace.everyMs - performance.now()));
    writing.push(bus.call(patch, { conversation_id: ids[n % ids.length] ?? 0, infos: { n } }, contextFor(patch)));
  }
  await Promise.all(writing);
}

/** Returns the events of the feed, after waiting until all events have been published. */
async function readEmitted({ bus, sql }: FaultEnvironment): Promise<FeedEvent[]> {
  while ((await sql('select 1 from conversations.feed_outbox limit 1')).length > 0) await sleep(100);
  await sleep(targetMs);
  const { readFeed } = events.rpcs;
  const emitted: FeedEvent[] = [];
  for (let after: string | undefined, more = true; more;) {
    const expected = { ...(after !== undefined && { after }), types: 'conversation.updated', wait: 0, limit: 500 };
    const page = await bus.call(readFeed, expected, contextFor(readFeed));
    emitted.push(...page.items);
    [after, more] = [page.next, page.has_more];
  }
  return emitted;
}

const requestsOf = (receiver: WebhookReceiver, { path }: Endpoint): ReceivedWebhook[] =>
  receiver.received.filter((request) => request.path === path);

/** Waits until the endpoints have accepted every event, for at most `mendMs`. */
async function untilAll(
  receiver: WebhookReceiver,
  endpoints: readonly Endpoint[],
  emitted: readonly FeedEvent[],
): Promise<void> {
  const endMs = Date.now() + mendMs;
  const isWhole = (endpoint: Endpoint): boolean =>
    new Set(takenBy(receiver, endpoint).map(({ id }) => id)).size >= emitted.length;
  while (Date.now() < endMs && !endpoints.every(isWhole)) await sleep(500);
}

const takenBy = (receiver: WebhookReceiver, endpoint: Endpoint): ReceivedWebhook[] =>
  requestsOf(receiver, endpoint).filter(({ answer }) => answer === healthy);

function describe(receiver: WebhookReceiver, alike: readonly Endpoint[], emitted: readonly FeedEvent[]): Row {
  const delays: number[] = [];
  let [requests, missing, wrong] = [0, 0, 0];
  for (const endpoint of alike) {
    const got = requestsOf(receiver, endpoint);
    const taken = new Set(takenBy(receiver, endpoint).map(({ id }) => id));
    requests += got.length;
    missing += emitted.filter(({ id }) => !taken.has(id)).length;
    wrong +=
      got.filter((request) => !isGenuine(request, endpoint.secret)).length +
      new Set(bodiesOf(got)).size -
      new Set(idsOf(got)).size;
    const firstMs = new Map(got.toReversed().map(({ id, atMs }) => [id, atMs]));
    delays.push(...emitted.map(({ id, occurred_at: at }) => (firstMs.get(id) ?? Infinity) - Date.parse(at)));
  }
  delays.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(delays[Math.floor((delays.length - 1) * share)] ?? 0);
  const open = Math.max(...alike.map(({ path }) => receiver.maxOpen(path)));
  const answer = String(alike[0]?.answer);
  return {
    answer,
    endpoints: alike.length,
    requests,
    missing,
    wrong,
    open,
    p50: at(0.5),
    p95: at(0.95),
    slowest: at(1),
  };
}

const idsOf = (requests: readonly ReceivedWebhook[]): string[] => requests.map(({ id }) => id);
const bodiesOf = (requests: readonly ReceivedWebhook[]): string[] => requests.map(({ body }) => body);

/**
 * Returns true when the signature is valid according to the algorithm of the reference library; ignores the age of the
 * timestamp.
 */
function isGenuine({ id, body, headers }: ReceivedWebhook, secret: string): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const event = JSON.parse(body) as { id?: unknown };
  return event.id === id && new Webhook(secret).sign(id, at, body) === headers['webhook-signature'];
}
