/**
 * A platform with two replicas of each service under load, simulated external services, and the checks after the load.
 */
import { expect } from '@jest/globals';
import { startLlm, startRealtimeKit, waitFor } from '#libs/product/testing';
import { applyDemo, type Demo, startTestPlatform, type TestPlatform } from '../test-platform.ts';
import { clientCount, type ConstantLoad, digest, type Ledger, startConstantLoad } from './constant-load.ts';

export const services = [
  'directory',
  'conversations',
  'media',
  'transcripts',
  'agents',
  'events',
  'api-gateway',
] as const;
/** Schemas with jobs. */
export const workingServices = ['directory', 'conversations', 'media', 'transcripts', 'agents', 'events'] as const;
/** The lease of a killed worker expires after half a minute; then another worker takes its jobs. */
const settleTimeoutMs = 120_000;

export interface ServedPlatform {
  readonly platform: TestPlatform;
  readonly demo: Demo;
  /**
   * Starts the load. @param tag prefix of created objects @param from bookings start at or after this time @param
   * alsoRead additional paths to read
   */
  startLoad(tag: string, from: string, alsoRead?: readonly string[]): ConstantLoad;
  /** Waits until every job and webhook is processed and nothing is waiting to be published. */
  settle(): Promise<void>;
  /** Checks that every acknowledged write exists exactly once. */
  expectEverythingKept(ledger: Ledger): Promise<void>;
  /** Checks that the feed has an event for every acknowledged write, and one creation per conversation. */
  expectEverythingTold(ledger: Ledger): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the platform. @param startedFrom folder of the code that runs first; default: this repository */
export async function startServedPlatform(url: string, startedFrom?: string): Promise<ServedPlatform> {
  const llm = await startLlm();
  llm.answerWith(async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return `You said: ${messages.at(-1)?.content ?? ''}`;
  });
  const provider = await startRealtimeKit();
  const platform = await startTestPlatform(
    url,
    {
      LLM_BASE_URL: llm.baseUrl,
      LLM_API_KEY: llm.apiKey,
      LLM_MODEL: 'played',
      MEMORY_DELAY_MS: '200',
      REALTIMEKIT_BASE_URL: provider.baseUrl,
      REALTIMEKIT_API_TOKEN: provider.apiToken,
      DRAIN_WINDOW_SECONDS: '5', // on a busy machine, client connections may be idle for seconds
    },
    { replicas: 2, ...(startedFrom === undefined ? {} : { startedFrom }) },
  );
  const demo = await applyDemo(platform, 'shut', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
  const keys = Array.from({ length: clientCount }, (_, index) => `client-${index}`);
  const { ids } = await platform.apply({ people: keys.map((key) => ({ key, name: key })) });
  const people = keys.map((key) => ids['people']?.[key] ?? 0);
  const token = await platform.login('root-shut@example.org', 'secret-of-root-shut');

  /** Returns due, unfinished jobs by service, and events and jobs not yet published to the broker. */
  async function listUnfinished(): Promise<string[]> {
    const found = await Promise.all(
      workingServices.map(async (service) => {
        const rows = await platform.sql<{ line: string }>(
          `select format('%s %s attempts %s: %s', type, state, attempts, error) as line from ${service}.jobs where state <> 'succeeded' and run_at < now() + interval '10 minutes'
           union all select format('outbox %s', subject) from ${service}.outbox`,
        );
        return rows.map(({ line }) => `${service}: ${line}`);
      }),
    );
    return found.flat();
  }

  /** Returns what `doctor` reports about the stream. */
  async function describeStream(name: string): Promise<string | undefined> {
    const told = platform.ask('doctor').catch(({ answer }: { answer: unknown }) => answer); // `doctor` fails if any check fails, so the findings are read from the error.
    const findings = (await told) as { name: string; detail: string }[];
    return findings.find((finding) => finding.name === `stream ${name}`)?.detail;
  }

  async function settle(): Promise<void> {
    await waitFor(
      async () => {
        expect(await describeStream('WEBHOOKS')).toMatch(/^0 messages/); // messages of a killed replica are redelivered after a while
        const pending = (await platform.ask('webhooks', 'list', '--outcome', 'pending')) as unknown[];
        expect([pending.length, await listUnfinished()]).toEqual([0, []]);
        return true;
      },
      { timeoutMs: settleTimeoutMs, intervalMs: 1_000, what: 'every job done' },
    );
  }

  async function expectEverythingKept(ledger: Ledger): Promise<void> {
    const get = async (path: string) => (await platform.call('GET', path)).json;
    for (const [id, count] of ledger.patched) {
      const { infos } = await get(`/api/coherence/conversations/${id}`);
      expect(infos.count).toBeGreaterThanOrEqual(count);
      const missing = Array.from({ length: count }, (_, index) => `k${index + 1}`).filter(
        (key) => infos[key] === undefined,
      );
      expect(missing.length).toBeLessThanOrEqual(ledger.failures.filter((line) => line.includes('PATCH')).length);
    }
    for (const { person, time, id } of ledger.found) {
      const found = await get(`/api/coherence/conversations?person_id=${person}&journey=${demo.journey}&time=${time}`);
      const made = found.filter((item: any) => item.start === time);
      expect([time, made.map((item: any) => item.id)]).toEqual([time, [id]]);
    }
    for (const [id, expected] of ledger.uploaded) {
      const answer = await fetch(`${platform.baseUrl}/api/coherence/conversations/${id}/audio`, {
        headers: { authorization: `Bearer ${platform.sharedToken}` },
      });
      expect([id, answer.status, digest(new Uint8Array(await answer.arrayBuffer()))]).toEqual([id, 200, expected]);
    }
    for (const { uid, start } of ledger.booked) {
      const found = await get(
        `/api/coherence/conversations?person_id=${demo.ada}&journey=${demo.journey}&time=${start}`,
      );
      expect([uid, found.map((item: any) => item.config.booking?.uid)]).toEqual([uid, [uid]]);
    }
    for (const id of ledger.recorded) {
      const evidence = await get(`/api/coherence/conversations/${id}/transcript/import-evidence`);
      expect([id, evidence.status]).toEqual([id, 'imported']);
    }
    const record = JSON.stringify(await platform.ask('agents', 'record', 'guide', '--limit', '1000'));
    expect(ledger.asked.filter((question) => record.split(question).length === 1)).toEqual([]);
  }

  async function expectEverythingTold(ledger: Ledger): Promise<void> {
    const told = await platform.sql<{ id: number; made: number; changed: number }>(
      `select subject_id::int as id, count(*) filter (where type = 'conversation.created')::int as made,
              count(*) filter (where type = 'conversation.updated')::int as changed
         from events.feed where subject_type = 'conversation' group by subject_id`,
    );
    const byId = new Map(told.map((row) => [row.id, row]));
    expect(told.filter(({ made }) => made > 1)).toEqual([]);
    expect(ledger.found.filter(({ id }) => byId.get(id)?.made !== 1)).toEqual([]);
    const failed = ledger.failures.filter((line) => line.includes('PATCH')).length;
    expect([...ledger.patched].filter(([id, count]) => (byId.get(id)?.changed ?? 0) < count - failed)).toEqual([]);
  }

  return {
    platform,
    demo,
    startLoad: (tag, from, alsoRead = []) =>
      startConstantLoad({
        platform,
        demo,
        token,
        provider,
        agent: 'guide',
        tag,
        from: new Date(from),
        people,
        alsoRead,
      }),
    settle,
    expectEverythingKept,
    expectEverythingTold,
    stop: async () => {
      await platform.stop();
      await Promise.all([llm.stop(), provider.stop()]);
    },
  };
}
