/** Clients that write and read one object. Their answers must be linearizable. */
import { createHash } from 'node:crypto';
import { FormData } from 'undici';
import type { Client, Request } from '../client.ts';
import type { Entry } from '../history.ts';
import type { ChaosPlatform } from '../platform.ts';

type Step = () => Promise<void>;

const firstTime = Date.UTC(2021, 0, 1);
/** Slots shared by several clients, which use the same person and times and therefore find the same conversations. */
const shared = { pair: 20, found: 21 } as const;
const audioBytes = 24 * 1024;
/** Maximum number of uploads or keys for one conversation; then a new conversation is used. */
const maxOperationsPerObject = 30;

const at = (count: number): string => new Date(firstTime - count * 3_600_000).toISOString().replace('.000', '');
const parse = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const conversation = (id: number, rest = ''): string => `/api/coherence/conversations/${id}${rest}`;

/**
 * Returns a request that finds or creates the conversation of a person at a time. Each time is earlier than the
 * previous one, so that the conversation is new.
 */
export function describeFind(person: number, journey: string, time: string): Request {
  const query = new URLSearchParams({ person_id: String(person), journey, time });
  return {
    kind: 'find or create',
    object: `singleton conversation of ${person} in ${journey} at ${time}`,
    input: { do: 'find' },
    method: 'GET',
    path: `/api/coherence/conversations?${query.toString()}`,
    read: (bytes) => (parse(bytes) as { id: number; start: string }[]).find(({ start }) => start === time)?.id,
  };
}

/**
 * Returns the id of the client's conversation with this number, or of a conversation of a shared slot. Returns 0 if the
 * run has ended.
 */
async function find(client: Client, count: number, slot: number = client.number): Promise<number> {
  const { workspace } = client.target;
  const { output } = await client.insist(describeFind(workspace.people[slot] ?? 0, workspace.journey, at(count)));
  return typeof output === 'number' ? output : 0;
}

/** Returns a function that returns the same conversation for `steps` calls, then the next conversation. */
function takeTurns(client: Client, steps: number, slot?: number): (count: number) => Promise<number> {
  const found = new Map<number, number>();
  return async (count) => {
    const turn = Math.floor(count / steps);
    const id = found.get(turn) ?? (await find(client, turn, slot));
    if (id !== 0) found.set(turn, id);
    return id;
  };
}

interface Pair {
  readonly left: string;
  readonly right: string;
}

/**
 * Returns both halves of the pair, or null if neither exists. Halves of two different writes are returned unchanged, so
 * that the checker detects them.
 */
function readPair(bytes: Buffer): Partial<Pair> | null {
  const { infos } = parse(bytes) as { infos: Partial<Pair> };
  return infos.left === undefined && infos.right === undefined
    ? null
    : { left: infos.left ?? '', right: infos.right ?? '' };
}

const describePairRead = (id: number): Request => ({
  kind: 'GET conversation',
  object: `register pair of conversation ${id}`,
  input: { do: 'read' },
  method: 'GET',
  path: conversation(id),
  read: readPair,
});

async function patch(client: Client, id: number, value: string): Promise<void> {
  const pair: Pair = { left: value, right: value };
  await client.sendRequest({
    kind: 'PATCH conversation',
    object: `register pair of conversation ${id}`,
    input: { do: 'write', value: pair },
    method: 'PATCH',
    path: conversation(id),
    json: { infos: pair },
    read: readPair,
  });
}

async function patchAndRead(client: Client): Promise<Step> {
  const take = takeTurns(client, 2 * maxOperationsPerObject, shared.pair);
  let count = 0;
  return async () => {
    const id = await take(count);
    count += 1;
    if (id === 0) return;
    if (client.random.below(2) === 0) await patch(client, id, `${client.number}-${count}`);
    else await client.sendRequest(describePairRead(id));
  };
}

/** Writes and reads pairs. Several clients use the same conversations concurrently. */
export const patchPair = patchAndRead;
export const patchPairBeside = patchAndRead;

/** Finds or creates conversations that a second client requests too. */
export async function findOrMake(client: Client): Promise<Step> {
  let count = 0;
  return async () => void (await find(client, count++, shared.found));
}

const stepOf =
  (target: ChaosPlatform) =>
  (bytes: Buffer): number =>
    target.workspace.steps.indexOf((parse(bytes) as { step_slug: string }).step_slug);

const describeStepRead = (target: ChaosPlatform, id: number): Request => ({
  kind: 'GET conversation',
  object: `counter steps of conversation ${id}`,
  input: { do: 'read' },
  method: 'GET',
  path: conversation(id),
  read: stepOf(target),
});

/** Records steps. A key advances its conversation by one step, however often it is sent. */
export async function recordSteps(client: Client): Promise<Step> {
  const take = takeTurns(client, maxOperationsPerObject);
  let count = 0;
  return async () => {
    const id = await take(count);
    const key = `key-${count}`;
    count += 1;
    if (id === 0) return;
    const request: Request = {
      kind: 'recorded',
      object: `counter steps of conversation ${id}`,
      input: { do: 'count', key },
      method: 'POST',
      path: conversation(id, '/recorded'),
      json: {},
      headers: { 'idempotency-key': key },
      read: stepOf(client.target),
    };
    await client.insist(request);
    if (client.random.below(3) === 0) await client.sendRequest(request);
    await client.sendRequest(describeStepRead(client.target, id));
  };
}

const describeRoomRead = (id: number): Request => ({
  kind: 'GET room',
  object: `register room of conversation ${id}`,
  input: { do: 'read' },
  method: 'GET',
  path: conversation(id, '/enter-coherence'),
  read: (bytes) => (parse(bytes) as { phase?: string | null }).phase ?? null,
});

export async function writeRoom(client: Client): Promise<Step> {
  const take = takeTurns(client, 2 * maxOperationsPerObject);
  let count = 0;
  return async () => {
    const id = await take(count);
    const phase = `phase-${count}`;
    count += 1;
    if (id === 0) return;
    await client.sendRequest({
      kind: 'POST room',
      object: `register room of conversation ${id}`,
      input: { do: 'write', value: phase },
      method: 'POST',
      path: conversation(id, '/enter-coherence'),
      json: { phase },
      read: (bytes) => (parse(bytes) as { phase: string }).phase,
    });
    if (client.random.below(2) === 0) await client.sendRequest(describeRoomRead(id));
  };
}

const describeAudioRead = (id: number): Request => ({
  kind: 'download',
  object: `register audio of conversation ${id}`,
  input: { do: 'read' },
  method: 'GET',
  path: conversation(id, '/audio'),
  read: sha256,
});

/** Uploads and downloads audio. A download must return the file that was uploaded last. */
export async function uploadAudio(client: Client): Promise<Step> {
  const take = takeTurns(client, maxOperationsPerObject);
  let count = 0;
  return async () => {
    const id = await take(count);
    count += 1;
    if (id === 0) return;
    const bytes = Uint8Array.from({ length: audioBytes }, () => client.random.below(256));
    const form = new FormData();
    form.append('audio', new Blob([bytes]), `talk-${count}.mp3`);
    const { outcome } = await client.sendRequest({
      kind: 'upload',
      object: `register audio of conversation ${id}`,
      input: { do: 'write', value: sha256(bytes) },
      method: 'POST',
      path: conversation(id, '/audio'),
      body: form,
      token: client.target.workspace.session,
    });
    if (outcome === 'done') await client.sendRequest(describeAudioRead(id));
  };
}

const describeHolonRead = ({ workspace }: ChaosPlatform): Request => ({
  kind: 'GET v1 holon',
  object: `register name of holon ${workspace.holon}`,
  input: { do: 'read' },
  method: 'GET',
  path: `/api/v1/holons/${workspace.holon}`,
  token: workspace.session,
  read: (bytes) => (parse(bytes) as { name: string }).name,
});

export async function renameHolon(client: Client): Promise<Step> {
  const { workspace } = client.target;
  const rename = (name: string): Request => ({
    kind: 'v1 update',
    object: `register name of holon ${workspace.holon}`,
    input: { do: 'write', value: name },
    method: 'POST',
    path: `/api/v1/holons/${workspace.holon}/update`,
    json: { name },
    token: workspace.session,
  });
  await client.insist(rename('Spring begins'));
  let count = 0;
  return async () => {
    await client.sendRequest(rename(`Spring ${count++}`));
    await client.sendRequest(describeHolonRead(client.target));
  };
}

/** Returns requests that read every written object once more. */
export function finalReads(entries: readonly Entry[], target: ChaosPlatform): Request[] {
  // Objects whose requests were all unanswered are skipped, since they may not exist.
  const objects = new Set(
    entries.filter(({ input, outcome }) => input.do !== 'effect' && outcome === 'done').map(({ object }) => object),
  );
  return [...objects].flatMap((object) => {
    const id = Number(/ of (?:conversation|holon) (\d+)$/.exec(object)?.[1]);
    if (object.startsWith('register pair')) return [describePairRead(id)];
    if (object.startsWith('register room')) return [describeRoomRead(id)];
    if (object.startsWith('register audio')) return [describeAudioRead(id)];
    if (object.startsWith('register name')) return [describeHolonRead(target)];
    if (object.startsWith('counter steps')) return [describeStepRead(target, id)];
    const [, person, journey, time] = /^singleton conversation of (\d+) in (\S+) at (\S+)$/.exec(object) ?? [];
    return person === undefined || journey === undefined || time === undefined
      ? []
      : [describeFind(Number(person), journey, time)];
  });
}
