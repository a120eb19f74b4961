/** Services that are stopped, replaced and killed while clients use them (rules/operations#promises). Two replicas of each. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLlm, startRealtimeKit, type LlmServer, type RealtimeKitServer, waitFor } from '#libs/testing';
import { clientCount, digest, startConstantLoad, type Ledger } from './shutdown/constant-load.ts';
import { applyDemo, startWorld, type Demo, type World } from './world.ts';

const services = ['directory', 'conversations', 'media', 'transcripts', 'agents', 'api-gateway'] as const;
/** Schemas that have jobs. */
const workingServices = ['directory', 'conversations', 'media', 'transcripts', 'agents'] as const;
const testTimeoutMs = 240_000;
/** A killed worker's jobs are taken over when its lease has ended, half a minute later. */
const settleTimeoutMs = 120_000;

let llm: LlmServer;
let provider: RealtimeKitServer;
let world: World;
let demo: Demo;
let token: string;
let people: number[];
beforeAll(async () => {
  llm = await startLlm();
  llm.answerWith(async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return `You said: ${messages.at(-1)?.content ?? ''}`;
  });
  provider = await startRealtimeKit();
  world = await startWorld(
    import.meta.url,
    {
      LLM_BASE_URL: llm.baseUrl,
      LLM_API_KEY: llm.apiKey,
      LLM_MODEL: 'played',
      MEMORY_DELAY_MS: '200',
      REALTIMEKIT_BASE_URL: provider.baseUrl,
      REALTIMEKIT_API_TOKEN: provider.apiToken,
      DRAIN_WINDOW_SECONDS: '2',
    },
    { replicas: 2 },
  );
  demo = await applyDemo(world, 'shut', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
  await world.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
  const keys = Array.from({ length: clientCount }, (_, index) => `client-${index}`);
  const { ids } = await world.apply({ people: keys.map((key) => ({ key, name: key })) });
  people = keys.map((key) => ids['people']?.[key] ?? 0);
  token = await world.login('root-shut@example.org', 'secret-of-root-shut');
}, testTimeoutMs);
afterAll(async () => {
  await world.stop();
  await Promise.all([llm.stop(), provider.stop()]);
});

const startLoad = (tag: string, from: string) =>
  startConstantLoad({ world, demo, token, provider, agent: 'guide', tag, from: new Date(from), people });

/** Stops one replica of every service in turn, then the other one, each started again; a service's second replica goes only when its first is back. */
async function replaceAll(signal: NodeJS.Signals, rounds: readonly string[], expectedEnd: string): Promise<void> {
  for (const suffix of rounds) {
    const back: Promise<void>[] = [];
    for (const service of services) {
      const name = `${service}${suffix}`;
      const item = world.platform.processes.get(name);
      item?.kill(signal);
      expect([name, await item?.ended]).toEqual([name, expectedEnd]);
      back.push(world.platform.restart(name));
    }
    await Promise.all(back);
  }
}

/** Jobs by service that are due and not done, and events and jobs that the broker has not got. */
async function listUnfinished(): Promise<string[]> {
  const found = await Promise.all(
    workingServices.map(async (service) => {
      const rows = await world.sql<{ line: string }>(
        `select format('%s %s attempts %s: %s', type, state, attempts, error) as line from ${service}.jobs where state <> 'succeeded' and run_at < now() + interval '10 minutes'
         union all select format('outbox %s', subject) from ${service}.outbox`,
      );
      return rows.map(({ line }) => `${service}: ${line}`);
    }),
  );
  return found.flat();
}

/** As `doctor` tells of it. */
async function describeStream(name: string): Promise<string | undefined> {
  const findings = JSON.parse((await world.cli('doctor', '--json')).stdout) as { name: string; detail: string }[];
  return findings.find((finding) => finding.name === `stream ${name}`)?.detail;
}

async function settle(): Promise<void> {
  await waitFor(
    async () => {
      expect(await describeStream('WEBHOOKS')).toMatch(/^0 messages/); // what a killed replica had taken comes again after a while
      const pending = JSON.parse((await world.cli('webhooks', 'list', '--outcome', 'pending', '--json')).stdout) as unknown[];
      expect([pending.length, await listUnfinished()]).toEqual([0, []]);
      return true;
    },
    { timeoutMs: settleTimeoutMs, intervalMs: 1_000, what: 'every job done' },
  );
}

/** Everything that was acknowledged is there, once. */
async function expectEverythingKept(ledger: Ledger): Promise<void> {
  const get = async (path: string) => (await world.call('GET', path)).json;
  for (const [id, count] of ledger.patched) {
    const { infos } = await get(`/api/coherence/conversations/${id}`);
    expect(infos.count).toBeGreaterThanOrEqual(count);
    const missing = Array.from({ length: count }, (_, index) => `k${index + 1}`).filter((key) => infos[key] === undefined);
    expect(missing.length).toBeLessThanOrEqual(ledger.failures.filter((line) => line.includes('PATCH')).length);
  }
  for (const { person, time, id } of ledger.found) {
    const found = await get(`/api/coherence/conversations?person_id=${person}&journey=${demo.journey}&time=${time}`);
    const made = found.filter((item: any) => item.start === time);
    expect([time, made.map((item: any) => item.id)]).toEqual([time, [id]]);
  }
  for (const [id, expected] of ledger.uploaded) {
    const answer = await fetch(`${world.baseUrl}/api/coherence/conversations/${id}/audio`, {
      headers: { authorization: `Bearer ${world.sharedToken}` },
    });
    expect([id, answer.status, digest(new Uint8Array(await answer.arrayBuffer()))]).toEqual([id, 200, expected]);
  }
  for (const { uid, start } of ledger.booked) {
    const found = await get(`/api/coherence/conversations?person_id=${demo.ada}&journey=${demo.journey}&time=${start}`);
    expect([uid, found.map((item: any) => item.config.booking?.uid)]).toEqual([uid, [uid]]);
  }
  for (const id of ledger.recorded) {
    const evidence = await get(`/api/coherence/conversations/${id}/transcript/import-evidence`);
    expect([id, evidence.status]).toEqual([id, 'imported']);
  }
  const record = (await world.cli('agents', 'record', 'guide', '--json', '--limit', '1000')).stdout;
  expect(ledger.asked.filter((question) => record.split(question).length === 1)).toEqual([]);
}

describe('SIGTERM to each service under load, two replicas (rules/operations#promises)', () => {
  it(
    'fails no request, loses no webhook, upload or job, and works each job once',
    async () => {
      const load = startLoad('term', '2031-01-01T00:00:00Z');
      try {
        await replaceAll('SIGTERM', ['', '#2'], 'ended with status 0');
      } finally {
        await load.stop();
      }
      const { ledger } = load;
      expect(ledger.failures).toEqual([]);
      await settle();
      await expectEverythingKept(ledger);
      const receipts = await world.sql<{ outcome: string; count: number }>(
        `select outcome, count(*)::int as count from conversations.webhook_receipts group by outcome`,
      );
      expect(receipts).toEqual([{ outcome: 'applied', count: ledger.booked.length }]);
      for (const service of workingServices) {
        const repeated = await world.sql(`select type, attempts, error from ${service}.jobs where attempts > 1`);
        expect([service, repeated]).toEqual([service, []]);
      }
    },
    testTimeoutMs,
  );
});

describe('kill -9 of each service under load, two replicas (rules/operations#promises)', () => {
  it(
    'loses nothing that was acknowledged, and every job is done in the end',
    async () => {
      const load = startLoad('kill', '2021-01-01T00:00:00Z'); // before all that the other load has made
      try {
        await replaceAll('SIGKILL', [''], 'was ended by SIGKILL');
      } finally {
        await load.stop();
      }
      expect(load.ledger.requests - load.ledger.failures.length).toBeGreaterThan(load.ledger.failures.length);
      await settle();
      await expectEverythingKept(load.ledger);
    },
    testTimeoutMs,
  );
});
