/** Erasures for tests without the other services, which have no data of the person. */
import { connectBus } from '#libs/nats';
import { contextFor, waitFor } from '#libs/testing';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { DirectoryFixture } from './fixture.ts';

const { followErasure, startErasure } = directory.rpcs;

/** Caller of erasures of other services: the admin CLI. */
export const byCli = { account_id: null, key_id: null, via: null };

/** Replies for every other service, except those that run. */
export async function serveErasures(
  { env }: Pick<DirectoryFixture, 'env'>,
  { running = [] }: { readonly running?: readonly string[] } = {},
): Promise<void> {
  const none = async () => ({ counts: {}, next: null });
  const replies = {
    transcripts: [{ erasePerson: transcripts.rpcs.erasePerson }, { erasePerson: none }],
    conversations: [{ erasePerson: conversations.rpcs.erasePerson }, { erasePerson: none }],
    media: [
      { erasePerson: media.rpcs.erasePerson, recordErasure: media.rpcs.recordErasure },
      { erasePerson: none, recordErasure: async () => ({}) },
    ],
    agents: [{ erasePerson: agents.rpcs.erasePerson }, { erasePerson: none }],
    events: [{ erasePerson: events.rpcs.erasePerson }, { erasePerson: none }],
  };
  for (const [service, [rpcs, handlers]] of Object.entries(replies)) {
    if (running.includes(service)) continue;
    const bus = await connectBus({
      url: env.settings['NATS_URL'] ?? '',
      name: service,
      prefix: env.settings['NATS_SUBJECT_PREFIX'],
      logger: env.logger,
      actors: env.actors,
    });
    env.onStop(() => bus.close());
    await bus.serve({ service, rpcs, jobs: {}, events: {} } as never, handlers as never);
  }
}

/** Erases a person and waits for the end. */
export async function erase({ bus }: Pick<DirectoryFixture, 'bus'>, personId: number): Promise<void> {
  const request = { person_id: personId, visitor_ids: [], telegram_user_ids: [], operator: 'test' };
  const { id } = await bus.call(startErasure, request, contextFor(startErasure));
  await waitFor(
    async () =>
      (await bus.call(followErasure, { erasure_id: id }, contextFor(followErasure))).state !== 'running' || undefined,
    { what: 'the end of the erasure' },
  );
}
