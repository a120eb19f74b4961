/** Attempts of an erasure that overlap (rules/people#export-and-erasure; W20). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unavailable } from '#libs/infrastructure/errors';
import { connectBus } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import { serveErasures } from './erase.ts';
import { type DirectoryFixture, startDirectoryFixture } from './fixture.ts';

const { erasePerson, getErasure } = directory.rpcs;

let fixture: DirectoryFixture;
let personId: number;
/** Calls of the agents service that have no reply yet, in order. */
const pending: PromiseWithResolvers<{ counts: { messages: number } }>[] = [];
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  const { ids } = await fixture.apply({ people: [{ key: 'ada', name: 'Ada' }] });
  personId = ids['people']?.['ada'] ?? 0;
  const { env } = fixture;
  await serveErasures(fixture, { running: ['agents'] });
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'agents',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  env.onStop(() => bus.close());
  const erasePerson = () => {
    const reply = Promise.withResolvers<{ counts: { messages: number } }>();
    pending.push(reply);
    return reply.promise;
  };
  const rpcs = { erasePerson: agents.rpcs.erasePerson };
  await bus.serve({ service: 'agents', rpcs, jobs: {}, events: {} } as never, { erasePerson });
});
afterAll(() => {
  for (const { resolve } of pending) resolve({ counts: { messages: 0 } });
  return fixture.stop();
});

const start = () => fixture.call(erasePerson, { person_id: personId, confirm: 'Ada' });
const read = async () => (await fixture.call(getErasure, { person_id: personId })).erasure;

describe('directory.people.erase', () => {
  it('ignores the failure of an attempt that began before the latest request', async () => {
    await start();
    const { id } = await read();
    await waitFor(() => pending.length === 1);
    expect(await start()).toMatchObject({ erasure: { id } });
    await waitFor(() => pending.length === 2);
    const stateOf = async (name: string) => {
      const run = await read();
      return [run.state, run.services.find(({ service }) => service === name)?.state];
    };
    // The events service follows in the first attempt; its end shows that the failure was stored or ignored.
    pending[0]?.reject(unavailable('agents'));
    await waitFor(async () => (await stateOf('events'))[1] === 'done');
    expect(await stateOf('agents')).toEqual(['running', 'running']);
    pending[1]?.resolve({ counts: { messages: 0 } });
    await waitFor(async () => (await stateOf('directory'))[0] === 'done');
    expect(await stateOf('agents')).toEqual(['done', 'done']);
  });
});
