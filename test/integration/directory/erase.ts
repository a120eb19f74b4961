/** Exports and erasures for tests without the other services, which have no data of the person. */
import { connectBus } from '#libs/infrastructure/nats';
import { contextFor, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { DirectoryFixture } from './fixture.ts';

const { erasePerson, getErasure, getPerson } = directory.rpcs;

/** Caller of erasures of other services: the admin CLI. */
export const byCli = { account_id: null, key_id: null, via: null };

/** Replies for every other service, except those that run. */
export async function serveErasures(
  { env }: Pick<DirectoryFixture, 'env'>,
  { running = [] }: { readonly running?: readonly string[] } = {},
): Promise<void> {
  const handlers = {
    erasePerson: async () => ({ counts: {}, next: null }),
    exportPerson: async () => ({ items: [], next: null }),
    recordErasure: async () => ({}),
  };
  for (const { service, rpcs: all } of [transcripts, conversations, media, agents, events]) {
    if (running.includes(service)) continue;
    const rpcs = Object.fromEntries(Object.entries(all).filter(([name]) => name in handlers));
    const bus = await connectBus({
      url: env.settings['NATS_URL'] ?? '',
      name: service,
      prefix: env.settings['NATS_SUBJECT_PREFIX'],
      logger: env.logger,
      actors: env.actors,
    });
    env.onStop(() => bus.close());
    const own = Object.fromEntries(Object.entries(handlers).filter(([name]) => name in rpcs));
    await bus.serve({ service, rpcs, jobs: {}, events: {} } as never, own);
  }
}

/** Erases a person and waits for the end. */
export async function erase({ bus }: Pick<DirectoryFixture, 'bus'>, personId: number): Promise<void> {
  const path = { person_id: personId };
  const { name } = await bus.call(getPerson, path, contextFor(getPerson));
  await bus.call(erasePerson, { ...path, confirm: name }, contextFor(erasePerson));
  await waitFor(
    async () => (await bus.call(getErasure, path, contextFor(getErasure))).erasure.state !== 'running' || undefined,
    { what: 'the end of the erasure' },
  );
}
