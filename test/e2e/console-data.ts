/** Test data for every page of the console. */
import { randomUUIDv7 } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor, type WebhookReceiver } from '#libs/product/testing';
import { applyDemo, createConversation, type Demo, type TestPlatform } from './test-platform.ts';

export interface ConsoleData {
  readonly demo: Demo;
  readonly job: string;
  readonly other: string;
  readonly queued: string;
  readonly receipt: number;
  readonly conversation: number;
  readonly thread: number;
  readonly key: string;
  readonly account: number;
  readonly endpoint: number;
}

/** @param token token of an editor, which becomes the owner of the created keys and endpoints */
export async function fillConsole(
  platform: TestPlatform,
  token: string,
  receiver: WebhookReceiver,
  folder: string,
): Promise<ConsoleData> {
  const demo = await applyDemo(platform, 'pages', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
  return {
    demo,
    ...(await makeConversations(platform, demo, folder)),
    ...(await makeJobs(platform)),
    ...(await makeAgents(platform)),
    ...(await makeEndpoint(platform, token, receiver)),
    ...(await makeKeys(platform, token)),
  };
}

async function makeConversations(platform: TestPlatform, demo: Demo, folder: string) {
  const ids = { conversation: 0, receipt: 0 };
  await writeFile(join(folder, 'talk.mp4'), 'a film');
  const transcript = Array.from({ length: 250 }, (_item, index) => ({
    start_ms: index * 1_000,
    end_ms: index * 1_000 + 900,
    speaker: 'Gwen',
    text: index < 2 ? `The river ${index}` : `Sentence number ${index}`,
  }));
  await writeFile(
    join(folder, 'talk.json'),
    JSON.stringify({ conversations: [{ key: 'talk', recording: { full: 'talk.mp4' }, transcript }] }),
  );
  ids.conversation = (await platform.ask('workspace', 'apply', join(folder, 'talk.json'))).ids.conversations.talk;
  for (const hour of ['09', '12', '15']) {
    const { id } = await createConversation(platform, demo, `2026-05-01T${hour}:00:00Z`);
    await platform.ask('conversations', 'move', String(id), 'import');
  }
  for (const at of ['09', '10', '11'])
    [{ id: ids.receipt } = { id: 0 }] = await platform.sql<{ id: number }>(
      `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, body, outcome)
       values ('booking', $1, 'x', $2, $3, '{}', 'BOOKING_CREATED', '{"uid": "it’s -x"}', 'person_not_found') returning id`,
      [at, `2026-05-01T${at}:00:00Z`, String(demo.ada)],
    );
  return ids;
}

async function makeJobs(platform: TestPlatform) {
  const ids = { job: '', other: '', queued: '' };
  const insert = (state: string, error: string | null): Promise<{ id: string }[]> =>
    platform.sql<{ id: string }>(
      `insert into media.jobs (id, type, payload, state, attempts, error, finished_at, run_at)
       values ($1, 'media.strange', '{"conversation_id": 42}', $2, 3, $3, case when $2 = 'dead' then now() end, now() + interval '1 day')
       returning id::text as id`,
      [randomUUIDv7(), state, error],
    );
  for (let count = 0; count < 3; count++)
    [{ id: ids.other } = { id: '' }] = await insert('dead', 'The store was away, too');
  for (let count = 0; count < 3; count++)
    [{ id: ids.job } = { id: '' }] = await insert('dead', 'The store was away: "it\'s <b>gone</b>"');
  [{ id: ids.queued } = { id: '' }] = await insert('queued', null);
  return ids;
}

async function makeAgents(platform: TestPlatform) {
  const ids = { thread: 0 };
  await platform.apply({ agents: ['guide', 'host'].map((slug) => ({ slug, name: `The ${slug}` })) });
  for (const visitor of ['v', 'w'])
    [{ id: ids.thread } = { id: 0 }] = await platform.sql<{ id: number }>(
      `insert into agents.threads (agent_id, thread_key, channel, visitor_id, turn_count)
       select id, 'web:visitor:' || $1 || ':agent:' || id, 'web', $1, 1 from agents.agents where slug = 'guide' returning id::int as id`,
      [visitor],
    );
  await platform.sql(
    `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
     values ($1, 1, 'chat_visitor', 'Hello', '', now()), ($1, 1, 'chat_agent', 'I see', '', now())`,
    [ids.thread],
  );
  await platform.sql(
    `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
     select agent_id, id, 'knowledge', body, 1 from agents.threads, unnest($1::text[]) body where id = $2`,
    [['Tea is served at five', 'Nobody works on Sunday'], ids.thread],
  );
  return ids;
}

async function makeEndpoint(platform: TestPlatform, token: string, receiver: WebhookReceiver) {
  const ids = { endpoint: 0 };
  const json = { url: receiver.url('/archive'), description: 'Archive' };
  for (let count = 0; count < 2; count++)
    ids.endpoint = (await platform.call('POST', '/api/v1/webhook-endpoints', { token, json })).json.endpoint.id;
  for (let count = 1; count <= 2; count++) {
    const path = `/api/v1/webhook-endpoints/${ids.endpoint}/test`;
    await platform.call('POST', path, { token, json: {} });
    await waitFor(() => receiver.received.length === count);
  }
  return ids;
}

async function makeKeys(platform: TestPlatform, token: string) {
  const ids = { key: '', account: 0 };
  for (const name of ['First', 'Second']) {
    const { key } = (await platform.client.createKey({ body: { name, scopes: ['ops:read'] } }, { token })).body;
    ids.key = key.id;
    ids.account = key.account.id;
  }
  return ids;
}

/** All pages with their path and a text that is visible once the page is loaded. */
export const consolePages: readonly (readonly [string, (data: ConsoleData) => string, string | RegExp])[] = [
  ['overview', () => 'overview', 'media.strange'],
  ['jobs', () => 'jobs?state=dead', 'The store was away'],
  ['one job', ({ job }) => `jobs/media/${job}`, 'The store was away'],
  ['webhooks', () => 'webhooks?kind=booking&q=it%E2%80%99s+-x', 'person_not_found'],
  ['one webhook', ({ receipt }) => `webhooks/${receipt}`, 'person_not_found'],
  ['pipelines', ({ demo }) => `pipelines?journey=${demo.journey}&step=import`, /^conversation \d+$/],
  ['conversations', () => 'conversations?q=river', 'About 2 matches'],
  ['one conversation', ({ conversation }) => `conversations/${conversation}`, 'Metadata'],
  ['threads', () => 'threads?agent=guide', /^thread \d+$/],
  ['one thread', ({ thread }) => `threads/${thread}`, 'Hello'],
  ['people', () => 'people?q=ada', 'ada-pages@example.org'],
  ['one person', ({ demo }) => `people/${demo.ada}`, 'Memberships (0)'],
  ['holons', () => 'holons?class=event', 'event-pages'],
  ['one holon', ({ demo }) => `holons/${demo.event}`, 'Relationships (0)'],
  ['agents', () => 'agents', 'The guide'],
  ['one agent', () => 'agents/guide', 'Tea is served at five'],
  ['events', () => 'events?types=conversation.*', 'No events since'],
  ['endpoints', () => 'endpoints', '/archive'],
  ['one endpoint', ({ endpoint }) => `endpoints/${endpoint}`, 'Archive'],
  ['audit', () => 'audit?action=login', 'login'],
  ['keys', ({ account }) => `keys?account_id=${account}`, 'Second'],
  ['one key', ({ key }) => `keys/${key}`, 'Second'],
];
