/** Lists the measured operations: the request to the platform and the equivalent request to the baseline. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import pg from 'pg';
import { pick, type Request } from './load.ts';
import type { BenchPlatform } from './platform.ts';

export interface Scenario {
  name: string;
  floor: string;
  goal?: number;
  platformRequest: (index: number) => Request;
  floorRequest: (index: number) => Request;
  /** Service that is stopped while the platform is measured. */
  without?: 'conversations';
  /**
   * The platform is compared with itself: `floorRequest` is sent to the platform too, and the ratio compares processor
   * time.
   */
  isOfItself?: true;
  /** Alternations per round. More alternations spread noise evenly, which is needed if the results differ little. */
  turns?: number;
}

const conversationCount = 1_000;
const authorization = 'Bearer bench-token';
const json = { authorization, 'content-type': 'application/json' };

/** Test data that the operations use. */
interface Filled {
  readonly personIds: readonly number[];
  readonly conversationIds: readonly number[];
  readonly journeyId: number | undefined;
  /** Header with a service key. */
  readonly ofKey: string;
}

/** Creates people and conversations of 3 KB each, and returns the scenarios that use them. */
export async function prepareScenarios(platform: BenchPlatform, log: (line: string) => void): Promise<Scenario[]> {
  log(`preparing ${conversationCount} conversations of 3 KB`);
  const filled = await fill(platform);
  await addFloorStream(platform.settings['NATS_URL'] ?? '');
  return [...describeReads(filled), ...describeWrites(filled), describeIntake(filled)];
}

async function fill(platform: BenchPlatform): Promise<Filled> {
  const people = Array.from({ length: conversationCount }, (_, index) => ({
    key: `p${index}`,
    name: `Person ${index}`,
    contact: { email: `p${index}@example.org` },
  }));
  const file = join(tmpdir(), `bench-workspace-${process.pid}.json`);
  writeFileSync(file, JSON.stringify({ ...workspace, people }));
  const { ids } = JSON.parse(platform.cli(['workspace', 'apply', file, '--json'])) as {
    ids: Record<string, Record<string, number>>;
  };
  rmSync(file);
  const personIds = Object.values(ids['people'] ?? {});
  const pool = new pg.Pool({ connectionString: platform.settings['DATABASE_URL'], max: 2 });
  const infos = JSON.stringify({
    publishing: { fields: { title: 'A conversation', summary: 'x'.repeat(2_600) } },
    theme: ['a', 'b'],
  });
  const journeyId = ids['journeys']?.['open-circle'];
  for (const id of personIds) {
    const answer = await fetch(`${platform.baseUrl}${findPath(id)}`, { headers: { authorization } });
    if (answer.status !== 200) throw new Error(`find or create answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  await pool.query('update conversations.conversations set infos = $1::jsonb', [infos]);
  await pool.query('vacuum analyze conversations.all_conversations');
  const { rows } = await pool.query<{ id: number }>('select id from conversations.conversations order by id');
  await pool.end();
  return { personIds, conversationIds: rows.map((row) => row.id), journeyId, ofKey: `Bearer ${makeKey(platform)}` };
}

const conversationPath = ({ conversationIds }: Filled, index: number): string =>
  `/api/coherence/conversations/${pick(conversationIds, index)}`;
const sqlFloor = 'bare koa, one bare NATS request, the same SQL by the bare driver';
const floorRead =
  (operation: string, values: (index: number) => unknown[]) =>
  (index: number): Request => ({
    method: 'GET',
    path: `/${operation}?${encodeURIComponent(JSON.stringify(values(index)))}`,
  });
const floorCall =
  (operation: string, values: (index: number) => unknown[]) =>
  (index: number): Request => ({
    method: 'POST',
    path: `/${operation}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(values(index)),
  });

function describeReads(filled: Filled): Scenario[] {
  const { personIds, conversationIds, journeyId, ofKey } = filled;
  return [
    {
      name: 'single read',
      floor: sqlFloor,
      goal: 0.85,
      platformRequest: (index) => ({
        method: 'GET',
        path: conversationPath(filled, index),
        headers: { authorization },
      }),
      floorRequest: floorRead('read', (index) => [pick(conversationIds, index)]),
    },
    {
      name: 'single read with a key',
      floor: 'the same platform, asked with the shared token; ratio of processor time',
      goal: 0.97,
      isOfItself: true,
      turns: 2,
      platformRequest: (index) => ({
        method: 'GET',
        path: conversationPath(filled, index),
        headers: { authorization: ofKey },
      }),
      floorRequest: (index) => ({ method: 'GET', path: conversationPath(filled, index), headers: { authorization } }),
    },
    {
      name: 'find or create (hit)',
      floor: sqlFloor,
      platformRequest: (index) => ({
        method: 'GET',
        path: findPath(pick(personIds, index)),
        headers: { authorization },
      }),
      floorRequest: floorRead('find', (index) => [pick(personIds, index), journeyId, findTime, 100]),
    },
  ];
}

function describeWrites(filled: Filled): Scenario[] {
  const { conversationIds } = filled;
  return [
    {
      name: 'PATCH',
      floor: sqlFloor,
      goal: 0.85,
      platformRequest: (index) => ({
        method: 'PATCH',
        path: conversationPath(filled, index),
        headers: json,
        body: JSON.stringify({ infos: { n: index } }),
      }),
      floorRequest: floorCall('patch', (index) => [
        pick(conversationIds, index),
        JSON.stringify({ n: index }),
        '{}',
        null,
      ]),
    },
    {
      name: 'room write',
      floor: sqlFloor,
      platformRequest: (index) => ({
        method: 'POST',
        path: `${conversationPath(filled, index)}/enter-coherence`,
        headers: json,
        body: JSON.stringify({ phase: 'conversation', version: index }),
      }),
      floorRequest: floorCall('room', (index) => [
        pick(conversationIds, index),
        JSON.stringify({ phase: 'conversation', version: index }),
      ]),
    },
  ];
}

function describeIntake({ personIds }: Filled): Scenario {
  return {
    name: 'webhook intake',
    floor: 'bare koa, one synced JetStream publish',
    goal: 1,
    without: 'conversations',
    platformRequest: (index) => ({
      method: 'POST',
      path: `/api/coherence/hook/booking/${personIds[0]}`,
      headers: { 'content-type': 'application/json' },
      body: booking(index),
    }),
    floorRequest: (index) => ({
      method: 'POST',
      path: '/publish',
      headers: { 'content-type': 'application/json' },
      body: booking(index),
    }),
  };
}

/** @returns the token of a new service key */
function makeKey(platform: BenchPlatform): string {
  platform.cli(['accounts', 'create', 'bench@example.org', '--service', 'Bench']);
  const made = platform.cli([
    'keys',
    'create',
    'bench@example.org',
    '--name',
    'Bench',
    '--scope',
    'conversations:read',
    '--json',
  ]);
  return (JSON.parse(made) as { token: string }).token;
}

const findTime = '2026-05-01T10:00:00Z';
const findPath = (personId: number): string =>
  `/api/coherence/conversations?person_id=${personId}&journey=open-circle&time=${findTime}`;

const workspace = {
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
  journeys: [
    {
      slug: 'open-circle',
      name: 'Open circle',
      is_conversation: true,
      texts: { welcome: 'Welcome', enter: 'Come in', post: 'Thank you', goodbyeURL: 'https://example.org' },
      questions: [{ text: 'What matters now?' }, { text: 'What next?' }],
      steps: [
        { slug: 'held', title: 'Held' },
        { slug: 'done', title: 'Done' },
      ],
    },
  ],
  holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['open-circle'] }],
};

/** Returns a test ping of the booking provider, which is stored like other webhooks but changes no conversation. */
function booking(index: number): string {
  return JSON.stringify({
    triggerEvent: 'PING',
    createdAt: '2030-01-10T09:00:00.120Z',
    payload: {
      type: 'Test',
      title: `Test ${index}`,
      description: 'x'.repeat(1_500),
      startTime: '2030-01-15T10:00:00Z',
      endTime: '2030-01-15T10:30:00Z',
    },
  });
}

async function addFloorStream(servers: string): Promise<void> {
  const connection = await connect({ servers });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: 'FLOOR-WEBHOOKS',
    subjects: ['floor-webhooks.>'],
    retention: 'workqueue',
    storage: 'file',
  });
  await connection.close();
}
