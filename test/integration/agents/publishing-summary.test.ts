import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { connectBus, type Bus } from '#libs/infrastructure/nats';
import {
  contextFor,
  conversationJourney,
  createTestEnvironment,
  fastJobTuning,
  startLlm,
  startScriptProcess,
  startService,
  waitFor,
  watchJobs,
  type JobWatch,
  type LlmServer,
  type TestEnvironment,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { transcripts } from '#services/transcripts';
import { byCli } from '../directory/erase.ts';

let env: TestEnvironment;
let llm: LlmServer;
let bus: Bus;
let jobs: JobWatch;
let agents: { stop(): Promise<void> };
let settings: Record<string, string>;
let personId = 0;
let eveId = 0;
let hour = 0;

const call = <R extends Rpc>(rpc: R, request: RequestOf<R>): Promise<ReplyOf<R>> =>
  bus.call(rpc, request, contextFor(rpc));
const texts = {
  title: 'On water',
  summary: 'Two people speak about water.',
  videohost_description: 'A talk about water.',
};

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  jobs = watchJobs(env, 'agents.publishing-summary');
  llm = await startLlm();
  env.onStop(() => llm.stop());
  settings = {
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    LLM_MODEL: 'scripted',
    LLM_SUMMARY_MODEL: 'writer',
    LLM_PROMPT_TOKENS: '2000',
  };
  for (const name of ['directory', 'conversations', 'transcripts']) await startService(name, env);
  agents = await startService('agents', env, settings, { tuning: fastJobTuning });
  const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = env.settings;
  bus = await connectBus({ url, prefix, name: 'admin', logger: env.logger, actors: env.actors });
  env.onStop(() => bus.close());
  const { ids } = await call(directory.rpcs.applyWorkspace, { document: workspace, dry_run: false });
  personId = ids['people']?.['ada'] ?? 0;
  eveId = ids['people']?.['eve'] ?? 0;
});
afterEach(() => {
  llm.clearFaults();
  llm.answerSummaryWith(undefined);
});
afterAll(() => env.stop());

async function addConversation(lines: readonly string[], infos: Record<string, unknown> = {}): Promise<number> {
  const time = new Date(Date.UTC(2027, 0, 1) - ++hour * 3_600_000).toISOString();
  const [found] = await call(conversations.rpcs.findActive, { person_id: personId, journey: 'told', time });
  const id = found?.id ?? 0;
  await call(conversations.rpcs.patch, { conversation_id: id, infos });
  const rows = lines.map((text, index) => ({
    start_ms: index * 1_000,
    end_ms: index * 1_000 + 900,
    person_id: personId,
    speaker: null,
    text,
  }));
  if (rows.length > 0)
    await call(transcripts.rpcs.installLegacy, { items: [{ conversation_id: id, rows }], dry_run: false });
  return id;
}

const enter = (id: number) =>
  call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });

type Publishing = { fields?: Record<string, unknown>; records?: Record<string, unknown> } | undefined;
async function published(id: number): Promise<Publishing> {
  return ((await call(conversations.rpcs.get, { conversation_id: id })).infos as { publishing?: Publishing })
    .publishing;
}
const written = (id: number) =>
  waitFor(async () => {
    const fields = (await published(id))?.fields;
    return fields?.['summary'] === undefined ? undefined : fields;
  });

describe('publishing_summary (rules/steps#pipeline-jobs; D18a)', () => {
  it('writes provenance envelopes, calls the model once per transcript, and retains edited fields', async () => {
    llm.answerSummaryWith(() => JSON.stringify(texts));
    const id = await addConversation(['Water is what I think of.', 'So do I.']);
    const before = llm.summaryRequests.length;
    await enter(id);
    await jobs.waitForState(id);
    const fields = await written(id);
    for (const [name, value] of Object.entries(texts)) {
      expect(fields[name]).toEqual({
        value,
        provenance: {
          source: 'publishing_summary',
          model: 'writer',
          prompt_version: 'publishing-summary-1',
          source_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          at: expect.stringMatching(/Z$/),
          value_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      });
    }
    expect((await published(id))?.records).toHaveProperty('publishing_summary.provenance.model', 'writer');
    const [request, ...more] = llm.summaryRequests.slice(before);
    expect([request?.model, more]).toEqual(['writer', []]);
    expect(request?.messages[1]?.content).toContain('Water is what I think of.');
    const notes = (await call(conversations.rpcs.listConversationNotes, { conversation_id: id })).items.map(
      ({ body }) => body,
    );
    expect(notes).toContain('publishing_summary finished: title, summary, videohost_description written from 1 part');

    await jobs.requeue(id);
    expect((await jobs.waitForState(id)).result).toEqual({ status: 'unchanged' });
    expect(llm.summaryRequests.length).toBe(before + 1);

    const edited = { ...fields, title: 'Mine', summary: { ...(fields['summary'] as object), value: 'My words.' } };
    await call(conversations.rpcs.patch, { conversation_id: id, infos: { publishing: { fields: edited } } });
    const rows = [{ start_ms: 0, end_ms: 1, person_id: personId, speaker: null, text: 'Another transcript.' }];
    await call(transcripts.rpcs.installLegacy, { items: [{ conversation_id: id, rows }], dry_run: false });
    llm.answerSummaryWith(() =>
      JSON.stringify({ ...texts, title: 'New', summary: 'New', videohost_description: 'New words.' }),
    );
    await jobs.requeue(id);
    await waitFor(async () => {
      const { fields: now } = (await published(id)) ?? {};
      return (now?.['videohost_description'] as { value: string } | undefined)?.value === 'New words.';
    });
    expect((await published(id))?.fields).toMatchObject({ title: 'Mine', summary: { value: 'My words.' } });
  });

  it('publishes nothing from speech that is erased during the job, and records what was published before', async () => {
    const lines = [{ start_ms: 0, end_ms: 1, person_id: eveId, speaker: null, text: 'My secret is out.' }];
    const [early, late] = [await addConversation([]), await addConversation([])];
    const items = [early, late].map((id) => ({ conversation_id: id, rows: lines }));
    await call(transcripts.rpcs.installLegacy, { items, dry_run: false });
    let pendingReply = Promise.resolve();
    llm.answerSummaryWith(async (messages) => {
      await pendingReply;
      const summary = messages[1]?.content.includes('secret') === true ? 'A secret.' : 'Nothing.';
      return JSON.stringify({ title: summary, summary: summary, videohost_description: summary });
    });
    await enter(early);
    await written(early);

    let release = (): void => undefined;
    pendingReply = new Promise<void>((resolve) => (release = resolve));
    const before = llm.summaryRequests.length;
    await enter(late);
    await waitFor(() => llm.summaryRequests.length === before + 1);
    await call(transcripts.rpcs.erasePerson, { person_id: eveId, after: 0, dry_run: false, by: byCli });
    release();
    expect((await written(late))['summary']).toHaveProperty('value', 'Nothing.');
    expect(llm.summaryRequests.length).toBe(before + 2);

    const notes = async (id: number) =>
      (await call(conversations.rpcs.listConversationNotes, { conversation_id: id })).items.map(({ body }) => body);
    await waitFor(async () =>
      (await notes(early)).some((body) => body.startsWith('Words of this transcript were erased')),
    );
    expect(await notes(early)).toContainEqual(
      expect.stringContaining('made from it: title, summary, videohost_description. Read them'),
    );
  });

  it('summarises a long transcript from notes on its parts', async () => {
    const lines = Array.from(
      { length: 60 },
      (_, index) => `Sentence number ${index} of a rather long conversation about rivers and lakes.`,
    );
    const id = await addConversation(lines);
    const before = llm.summaryRequests.length;
    await enter(id);
    await jobs.waitForState(id);
    const prompts = llm.summaryRequests
      .slice(before)
      .map(({ messages }) => JSON.parse(messages[1]?.content ?? '') as Record<string, unknown>);
    const parts = prompts.filter(({ part }) => part !== undefined);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ transcript }) => transcript).join('')).toContain('Sentence number 59 of');
    expect(prompts.at(-1)).toHaveProperty('notes');
  });

  it('describes the problem to the model in a retry, and fails on unusable replies without quoting speech', async () => {
    const replies = ['no JSON', JSON.stringify({ ...texts, title: '' }), JSON.stringify(texts)];
    llm.answerSummaryWith(() => replies.shift() ?? '');
    const mended = await addConversation(['Something.']);
    const before = llm.summaryRequests.length;
    await enter(mended);
    await jobs.waitForState(mended);
    const [, second, third] = llm.summaryRequests.slice(before);
    expect(second?.messages.at(-1)?.content).toContain('it is not valid JSON');
    expect(third?.messages.at(-1)?.content).toContain('/title');

    llm.answerSummaryWith(() => JSON.stringify({ title: 'secret words' }));
    const refused = await addConversation(['Something else.']);
    await enter(refused);
    const dead = await jobs.waitForState(refused, 'dead');
    expect(dead.error).toMatch(/^unusable reply of the language model: /);
    expect(dead.error).not.toContain('secret words');
    expect(await published(refused)).toBeUndefined();
  });

  it('postpones the summary until transcript and model are available, without counting attempts (D7a)', async () => {
    const id = await addConversation([]);
    await enter(id);
    await jobs.waitForError(id, 'The conversation has no transcript yet.');
    expect(await jobs.latest(id)).toMatchObject({ state: 'queued', attempts: 0 });
    const rows = [{ start_ms: 0, end_ms: 1, person_id: personId, speaker: null, text: 'Late words.' }];
    await call(transcripts.rpcs.installLegacy, { items: [{ conversation_id: id, rows }], dry_run: false });
    llm.failSummary({ kind: 'status', status: 500 }, { kind: 'status', status: 500 });
    await jobs.makeDue();
    await jobs.waitForError(id, 'No usable reply of the language model: status 500');
    await jobs.makeDue();
    expect(await jobs.waitForState(id)).toMatchObject({ attempts: 1 });
  });

  it('writes the summary once after a worker crash during the model call', async () => {
    await agents.stop();
    llm.failSummary({ kind: 'silent' });
    const id = await addConversation(['Words that outlive a worker.']);
    const child = startScriptProcess(join(import.meta.dirname, 'agents-process.ts'), {
      ...env.settings,
      ...settings,
      METRICS_PORT: '0',
    });
    const before = llm.summaryRequests.length;
    await enter(id);
    await waitFor(() => llm.summaryRequests.length === before + 1);
    await jobs.waitForPhase(id, 'writing the summary');
    child.signal('SIGKILL');
    await child.ended;
    await jobs.expireLeases();
    agents = await startService('agents', env, settings, { tuning: fastJobTuning });
    await jobs.requeueAfterCrash(id);
    await jobs.waitForState(id);
    expect((await written(id))['title']).toHaveProperty('value');
    const notes = (await call(conversations.rpcs.listConversationNotes, { conversation_id: id })).items.filter(
      ({ body }) => body.startsWith('publishing_summary'),
    );
    expect(notes).toHaveLength(1);
  });
});

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
    conversationJourney(
      'told',
      { slug: 'write', title: 'Write', pipeline_job: 'publishing_summary' },
      { slug: 'review', title: 'Review' },
    ),
  ],
  people: [
    { key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } },
    { key: 'eve', name: 'Eve' },
  ],
  holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['told'] }],
};
