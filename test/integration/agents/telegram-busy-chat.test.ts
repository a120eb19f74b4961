/** A locked chat does not block other chats, and its updates are answered in order afterwards (D20, D32). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { listLockWaits, waitFor } from '#libs/product/testing';
import { startTelegramFixture, type TelegramFixture } from './telegram-fixture.ts';

/** More than the service reads from the stream at once. */
const updateCount = 24;
let fixture: TelegramFixture;
let holder: Database;
beforeAll(async () => {
  fixture = await startTelegramFixture(import.meta.url, { DATABASE_POOL_SIZE: '4', LLM_TIMEOUT_MS: '60000' });
  const { env } = fixture.agents;
  const url = env.settings['DATABASE_URL'] ?? '';
  holder = await createDatabase({ url, schema: 'agents', poolSize: 1, logger: env.logger, applicationName: 'holder' });
});
afterAll(async () => {
  await holder.close();
  await fixture.stop();
});

describe('a Telegram chat whose row is locked by a process that does not respond', () => {
  it('uses one connection for all updates of the locked chat, does not block other chats, and replies in order later', async () => {
    const [chat, other] = [fixture.next(), fixture.next()];
    await fixture.ask(chat, { text: 'Hello' });
    const { promise: isHeld, resolve: tellHeld } = Promise.withResolvers<void>();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const holding = holder.transaction(async (tx) => {
      await tx.query({ name: 'hold', text: 'select 1 from agents.telegram_chats where chat_id = $1 for update' }, [
        chat,
      ]);
      tellHeld();
      await isOver;
    });
    await isHeld;
    const updates = Array.from({ length: updateCount }, (_value, index) =>
      fixture.compose(chat, { text: `Word ${index}` }),
    );
    const beside = fixture.compose(other, { text: 'And I?' });
    try {
      for (const update of updates) await fixture.deliver(update);
      const countWaiting = async (): Promise<number> => {
        const lockWaits = await listLockWaits(fixture.agents.env.sql);
        return lockWaits.filter(({ statement }) => statement.includes('telegram_chats')).length;
      };
      await waitFor(async () => (await countWaiting()) > 0, { what: 'an update to wait for its chat' });

      await expect(fixture.agents.say('Is anybody there?')).resolves.toMatchObject({
        agent_html: expect.stringContaining('Is anybody there?'),
      });
      await fixture.deliver(beside);
      await waitFor(() => fixture.find(beside.update_id), { what: 'the receipt of another chat' });
      expect(await countWaiting()).toBeLessThanOrEqual(1);
    } finally {
      end();
      await holding;
    }
    for (const { update_id: id } of [...updates, beside])
      await expect(fixture.settled(id)).resolves.toMatchObject({ outcome: 'answered' });
    expect(fixture.telegram.textsOf(chat)).toEqual([
      'You said: Hello',
      ...updates.map((_update, index) => `You said: Word ${index}`),
    ]);
  });
});
