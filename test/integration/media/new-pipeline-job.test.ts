import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import { unavailable } from '#libs/infrastructure/errors';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import { newContext } from '#libs/infrastructure/nats';
import { createRegistry, pipelineJobs, type PipelineJob } from '#libs/product/pipeline';
import { pipelineWorker, type PipelineExtension } from '#libs/product/pipeline-worker';
import { fastJobTuning, startService, waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { startMediaFixture, type MediaFixture } from './fixture.ts';

/** A new pipeline job needs only one declaration … */
const config = Type.Object(
  { greeting: Type.String({ default: 'Hello' }), advance_on_success: Type.Boolean({ default: false }) },
  { additionalProperties: false },
);
const greeting: PipelineJob<typeof config> = {
  name: 'test_greeting',
  summary: 'Greets.',
  jobType: 'media.test-greeting',
  policy: { maxAttempts: 2, firstDelayMs: 10, maxDelayMs: 10, expiresAfterMs: 7 * 86_400_000 },
  config,
  fields: { greeting: 'read_write', advance_on_success: 'read_write' },
};
/** The worker of the new pipeline job. */
const worker = pipelineWorker(greeting, async (step) => {
  const fault = faults[step.config.greeting];
  if (fault !== undefined) await fault(step.run.signal);
  await step.finish(() =>
    Promise.resolve({
      result: { greeting: step.config.greeting },
      note: `${step.config.greeting}, conversation`,
      succeeded: true,
      publishing: { fields: { summary: { value: step.config.greeting, provenance: { by: 'test' } } } },
    }),
  );
});
/** Ways in which the job fails, selected by the greeting in its configuration. */
const faults: Readonly<Record<string, (signal: AbortSignal) => Promise<never>>> = {
  Refused: () => Promise.reject(new PermanentJobError('nobody wants it')),
  Failing: () => Promise.reject(new Error('secret words')),
  Away: () => Promise.reject(unavailable('the greeter is away')),
  Waiting: () => Promise.reject(new RetryLater('nobody has come yet', { delayMs: 20 })),
  Hanging: (signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
};
const registry = createRegistry([...pipelineJobs.values(), greeting]);

let fixture: MediaFixture;
beforeAll(async () => {
  // The accounts at the test servers are derived from the contracts, which do not contain the job of this test. Without
  // the secret the services do not use these accounts.
  delete process.env['TEST_SERVICE_SECRET'];
  fixture = await startMediaFixture(import.meta.url, { registry });
  const pipeline: PipelineExtension = { registry, workers: [worker] };
  await startService('media', fixture.env, fixture.mediaSettings, { pipeline, tuning: fastJobTuning });
});
afterAll(() => fixture.stop());

describe('a new pipeline job is one declaration and one worker (rules/steps#pipeline-jobs)', () => {
  it('validates, starts and runs a newly declared job, adds its note, publishes its value and advances the conversation', async () => {
    const step = {
      slug: 'greet',
      title: 'Greet',
      pipeline_job: greeting.name,
      config: { greeting: 'Welcome', advance_on_success: true },
    };
    const { ids } = await fixture.call(directory.rpcs.applyWorkspace, { document: workspace(step), dry_run: false });
    const actor = { ...fixture.actor, coherenceAccess: true };
    const patch = { journey_slug: 'greeted', step_slug: 'greet', write: { config: { greeting: 7 } } };
    const refused = fixture.bus.call(directory.rpcs.patchStepConfig, patch, { ...newContext(), actor });
    await expect(refused).rejects.toMatchObject({ reason: 'invalid_step_config' });

    const request = { person_id: ids['people']?.['ada'] ?? 0, journey: 'greeted', time: '2029-05-01T10:00:00Z' };
    const [created] = await fixture.call(conversations.rpcs.findActive, request);
    const id = created?.id ?? 0;
    await fixture.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });
    const read = () => fixture.call(conversations.rpcs.get, { conversation_id: id });
    await waitFor(async () => (await read()).step_slug === 'review');
    expect((await read()).infos).toEqual({
      publishing: { fields: { summary: { value: 'Welcome', provenance: { by: 'test' } } } },
    });
    const notes = (await fixture.listNotes(id)).map(({ body }) => body);
    expect(notes).toEqual(expect.arrayContaining(['Welcome, conversation', 'test_greeting finished: Greet → Review']));
  });

  let day = 10;
  const died = `update media.jobs set lease = lease + 1, lease_until = now() - interval '1 second', attempts = 2`;
  const aged = `update media.jobs set alive_since = now() - interval '7 days'`;
  it.each([
    ['Refused', 'nobody wants it', undefined],
    ['Failing', 'Internal error (Error) (given up after 2 attempts)', undefined],
    ['Away', 'the greeter is away (given up after 2 attempts)', undefined],
    ['Waiting', 'nobody has come yet (given up after 7 days)', aged],
    ['Hanging', 'The worker stopped before the job was done (its lease expired) (given up after 2 attempts)', died],
  ])('adds a note with the error when a pipeline job is dead: %s', async (text, expected, change) => {
    const step = { slug: 'greet', title: 'Greet', pipeline_job: greeting.name, config: { greeting: text } };
    const { ids } = await fixture.call(directory.rpcs.applyWorkspace, { document: workspace(step), dry_run: false });
    const request = {
      person_id: ids['people']?.['ada'] ?? 0,
      journey: 'greeted',
      time: `2029-06-${++day}T10:00:00Z`,
    };
    const [created] = await fixture.call(conversations.rpcs.findActive, request);
    const id = created?.id ?? 0;
    await fixture.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });
    if (change !== undefined) {
      const sql = `${change} where payload->>'conversation_id' = $1 and ${text === 'Hanging' ? `state = 'running'` : `error is not null`} returning 1`;
      await waitFor(async () => (await fixture.env.sql(sql, [String(id)])).length === 1);
    }
    const readNotes = async () =>
      (await fixture.listNotes(id)).map(({ body }) => body).filter((body) => body.startsWith('test_greeting'));
    await waitFor(async () => (await readNotes()).length > 0);
    expect(await readNotes()).toEqual([`test_greeting failed: ${expected}`]);
  });
});

const workspace = (step: unknown): unknown => ({
  journeys: [
    {
      slug: 'greeted',
      name: 'Greeted',
      svc_app: 'coherence',
      object_kind: 'holon',
      applies_to: 'event',
      is_conversation: true,
      steps: [{ slug: 'held', title: 'Held' }, step, { slug: 'review', title: 'Review' }],
    },
  ],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
  holons: [{ slug: 'greeting-event', name: 'Greetings', class: 'event', parent: null, journeys: ['greeted'] }],
});
