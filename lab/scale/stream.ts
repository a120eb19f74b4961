/** Measures `GET /conversations/search` without a filter, which streams everything to the client. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Client } from 'undici';
import { watchMemory, type MemoryUse } from './memory.ts';

export interface StreamTarget {
  baseUrl: string;
  userToken: string;
  processes: readonly { name: string; pid: number }[];
}

export interface StreamResult {
  items: number;
  bytes: number;
  firstByteMs: number;
  seconds: number;
  memory: MemoryUse[];
}

const path = '/api/coherence/conversations/search';
/** Every item contains this; no text of a filled database does. */
const itemMark = Buffer.from('"event":');
const readBeforeLeavingBytes = 256 * 1024;
const stopDeadlineMs = 30_000;

/** Reads everything. @throws Error if the answer is not 200 or is aborted */
export async function streamEverything(target: StreamTarget): Promise<StreamResult> {
  const client = new Client(target.baseUrl, { bodyTimeout: 60_000, headersTimeout: 60_000 });
  const watch = watchMemory(target.processes);
  const startedAt = performance.now();
  const result = { items: 0, bytes: 0, firstByteMs: Number.NaN };
  try {
    const answer = await open(client, target);
    let rest = Buffer.alloc(0);
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (result.bytes === 0) result.firstByteMs = performance.now() - startedAt;
      result.bytes += chunk.length;
      const text = Buffer.concat([rest, chunk]);
      for (let at = text.indexOf(itemMark); at >= 0; at = text.indexOf(itemMark, at + 1)) result.items += 1;
      rest = text.subarray(Math.max(0, text.length - itemMark.length + 1));
    }
  } finally {
    await client.destroy();
  }
  return { ...result, seconds: (performance.now() - startedAt) / 1_000, memory: watch.stop() };
}

/**
 * Reads the first bytes, then disconnects.
 * @returns milliseconds until PostgreSQL no longer runs the query
 * @throws Error if the query was never observed, or does not stop
 */
export async function closeStream(target: StreamTarget, pool: Pool): Promise<number> {
  const client = new Client(target.baseUrl);
  try {
    const answer = await open(client, target);
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes < readBeforeLeavingBytes) continue;
      if ((await countQueries(pool)) === 0) throw new Error('The query of the search was not seen in pg_stat_activity');
      break;
    }
  } finally {
    await client.destroy();
  }
  const closedAt = performance.now();
  while ((await countQueries(pool)) > 0) {
    if (performance.now() - closedAt > stopDeadlineMs)
      throw new Error(`The query still runs ${stopDeadlineMs} ms after its reader left`);
    await sleep(10);
  }
  return performance.now() - closedAt;
}

async function open(client: Client, { userToken }: StreamTarget): Promise<Awaited<ReturnType<Client['request']>>> {
  const answer = await client.request({ method: 'GET', path, headers: { authorization: `Bearer ${userToken}` } });
  if (answer.statusCode !== 200)
    throw new Error(`GET ${path} answered ${answer.statusCode}: ${await answer.body.text()}`);
  return answer;
}

async function countQueries(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ running: number }>(
    `select count(*)::integer as running from pg_stat_activity
     where datname = current_database() and application_name = 'conversations' and state <> 'idle'
       and (query like '%conversations.conversations%' or query like 'fetch % from batches')`,
  );
  return rows[0]?.running ?? 0;
}
