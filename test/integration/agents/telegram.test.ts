import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { noAnswerNotice } from '../../../services/agents/telegram/workers/answer-question.ts';
import {
  botToken,
  echoChannel,
  startTelegramFixture,
  type TelegramFixture,
  webhookSecret,
} from './telegram-fixture.ts';

let fixture: TelegramFixture;
beforeAll(async () => {
  // The tests decide when the model replies, so the call must not time out.
  fixture = await startTelegramFixture(import.meta.url, { LLM_TIMEOUT_MS: '60000' });
});
afterAll(() => fixture.stop());
beforeEach(() => fixture.agents.llm.answerWith((messages) => `You said: ${messages.at(-1)?.content}`));

const agentId = async (slug = 'guide'): Promise<number> =>
  (await fixture.agents.env.sql<{ id: number }>('select id from agents.agents where slug = $1', [slug]))[0]?.id ?? 0;
const recordOf = async (chatId: number, slug = 'guide') =>
  await fixture.agents.env.sql<{ note_type: string; body: string }>(
    `select m.note_type, m.body from agents.messages m join agents.threads t on t.id = m.thread_id where t.thread_key = $1 order by m.id`,
    [`telegram:chat:${chatId}:agent:${await agentId(slug)}`],
  );

describe('a text message (rules/agents#messaging-webhook; D32, D34)', () => {
  it('answers a text message as HTML and records it in the thread of its chat', async () => {
    fixture.agents.llm.answerWith(() => '**Bold** and 1 < 2');
    const chat = fixture.next();
    const receipt = await fixture.ask(chat, { text: 'Hello *you*' });
    expect(receipt).toMatchObject({
      outcome: 'answered',
      kind: 'telegram',
      event: 'message',
      chat_id: chat,
      deliveries: 1,
    });
    expect(fixture.telegram.visible.filter((message) => message.chatId === chat)).toEqual([
      expect.objectContaining({
        text: 'Bold and 1 < 2',
        source: '<b>Bold</b> and 1 &lt; 2',
        html: true,
        replyTo: undefined,
      }),
    ]);
    expect(receipt.sends).toEqual([
      expect.objectContaining({ part: 1, status: 'sent', chat_id: chat, message_id: expect.any(Number) }),
    ]);
    expect(await recordOf(chat)).toEqual([
      { note_type: 'chat_visitor', body: 'Hello *you*' },
      { note_type: 'chat_agent', body: '**Bold** and 1 < 2' },
    ]);
    expect(fixture.telegram.callsOf('sendMessage').at(-1)).toMatchObject({ token: botToken });
  });

  it('continues only the thread of the message’s chat', async () => {
    const [one, two] = [fixture.next(), fixture.next()];
    await fixture.ask(one, { text: 'My name is Ada' });
    await fixture.ask(one, { text: 'And now?' });
    expect(fixture.agents.llm.requests.at(-1)?.messages.map((message) => message.content)).toContain('My name is Ada');
    await fixture.ask(two, { text: 'And here?' });
    expect(fixture.agents.llm.requests.at(-1)?.messages.map((message) => message.content)).not.toContain(
      'My name is Ada',
    );
  });

  it('sends the typing action while the model works', async () => {
    const chat = fixture.next();
    let typing = 0;
    fixture.agents.llm.answerWith(async () => {
      typing = await waitFor(
        () => fixture.telegram.callsOf('sendChatAction').filter((call) => call.body['chat_id'] === chat).length,
      );
      return 'done';
    });
    await fixture.ask(chat, { text: 'Hello' });
    expect(typing).toBe(1);
    expect(fixture.telegram.callsOf('sendChatAction').at(-1)?.body).toEqual({ chat_id: chat, action: 'typing' });
  });

  it('sends the reply to a group message as a Telegram reply, and in a topic if the message has one', async () => {
    const chat = -fixture.next();
    const topic = { message_thread_id: 7, chat: { id: chat, type: 'supergroup', is_forum: true } };
    await fixture.ask(chat, { ...topic, text: 'In a topic', message_id: 77, is_topic_message: true });
    await fixture.ask(chat, { ...topic, text: 'In a thread of replies', message_id: 78 });
    expect(fixture.telegram.visible.filter((message) => message.chatId === chat)).toEqual([
      expect.objectContaining({ topicId: 7, replyTo: 77 }),
      expect.objectContaining({ topicId: undefined, replyTo: 78 }),
    ]);
    const [first] = fixture.telegram.callsOf('sendMessage').filter((call) => call.body['chat_id'] === chat);
    expect(first?.body['reply_parameters']).toEqual({ message_id: 77, allow_sending_without_reply: true });
  });

  it('removes the bot’s name from the text for the model', async () => {
    const chat = -fixture.next();
    const entities = [{ type: 'bot_command', offset: 0, length: 16 }];
    await fixture.ask(chat, { text: '/ask@example_bot hello', entities });
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: hello']);
    const other = await fixture.ask(chat, { text: '/ask@another_bot hello', entities });
    expect([other.outcome, fixture.telegram.textsOf(chat).length]).toEqual(['ignored', 1]);
  });

  it('sends a long reply in several ordered messages', async () => {
    const chat = fixture.next();
    const answer = Array.from({ length: 900 }, (_value, index) => `**${index}** & more`).join('\n');
    fixture.agents.llm.answerWith(() => answer);
    const { sends } = await fixture.ask(chat, { text: 'Tell me a lot' });
    const texts = fixture.telegram.textsOf(chat);
    expect([sends.map((send) => send.status), texts.every((text) => text.length <= 4_096)]).toEqual([
      Array(3).fill('sent'),
      true,
    ]);
    expect(texts.join('')).toBe(answer.replaceAll('**', ''));
  });
});

describe('one reply per agent and update (D32)', () => {
  it('sends one reply for an update that is delivered repeatedly, concurrently and later', async () => {
    const chat = fixture.next();
    const update = fixture.compose(chat, { text: 'Once' });
    await Promise.all(Array.from({ length: 8 }, () => fixture.deliver(update)));
    await fixture.settled(update.update_id);
    await fixture.deliver(update);
    const receipt = await waitFor(async () =>
      (await fixture.find(update.update_id))?.deliveries === 9 ? await fixture.settled(update.update_id) : undefined,
    );
    expect([receipt.outcome, fixture.telegram.textsOf(chat)]).toEqual(['answered', ['You said: Once']]);
    expect(await recordOf(chat)).toHaveLength(2);
  });

  it('counts a broker message once when it is redelivered', async () => {
    const update = fixture.compose(fixture.next(), { text: 'Once' });
    const deliveryId = randomUUID();
    await fixture.deliver(update, { deliveryId });
    await fixture.settled(update.update_id);
    await fixture.deliver(update, { deliveryId });
    const later = fixture.compose(fixture.next(), { text: 'Later' });
    await fixture.deliver(later);
    await fixture.settled(later.update_id);
    expect((await fixture.find(update.update_id))?.deliveries).toBe(1);
  });

  it('replies to the same update id separately for each agent', async () => {
    const [chat, update] = [fixture.next(), fixture.compose(1, {})];
    const own = { ...update, message: { ...update.message, chat: { id: chat, type: 'private' }, text: 'Both' } };
    await fixture.deliver(own);
    await fixture.deliver(own, { slug: 'mirrored' });
    await waitFor(() => fixture.telegram.textsOf(chat).length === 2);
    expect((await recordOf(chat, 'mirrored')).map((note) => note.body)).toEqual(
      (await recordOf(chat)).map((note) => note.body),
    );
  });
});

describe('order of replies (D32: messages of one chat are answered in order)', () => {
  it('replies in order within a chat across replicas, and does not delay other chats behind a slow one', async () => {
    await fixture.agents.replica();
    const [slow, quick] = [fixture.next(), fixture.next()];
    let release = (): void => undefined;
    const pendingReply = new Promise<void>((resolve) => (release = resolve));
    fixture.agents.llm.answerWith(async (messages) => {
      const message = String(messages.at(-1)?.content);
      if (message === 'slow 0') await pendingReply;
      return message;
    });
    const texts = (name: string): string[] => Array.from({ length: 10 }, (_value, index) => `${name} ${index}`);
    for (let index = 0; index < 10; index++) {
      await fixture.deliver(fixture.compose(slow, { text: texts('slow')[index] ?? '' }));
      await fixture.deliver(fixture.compose(quick, { text: texts('quick')[index] ?? '' }));
    }
    await waitFor(() => fixture.telegram.textsOf(quick).length === 10);
    expect([fixture.telegram.textsOf(quick), fixture.telegram.textsOf(slow)]).toEqual([texts('quick'), []]);
    release();
    await waitFor(() => fixture.telegram.textsOf(slow).length === 10);
    expect(fixture.telegram.textsOf(slow)).toEqual(texts('slow'));
  });
});

describe('a failing model (D33a)', () => {
  it('sends a failure notice to the chat when the model fails, records nothing, and replies on a replay', async () => {
    const chat = fixture.next();
    fixture.agents.llm.fail({ kind: 'status', status: 500 }, { kind: 'status', status: 500 });
    const receipt = await fixture.ask(chat, { text: 'Are you there?' });
    expect([receipt.outcome, fixture.telegram.textsOf(chat), await recordOf(chat)]).toEqual([
      'not_answered',
      [noAnswerNotice],
      [],
    ]);
    await fixture.replay(receipt.id);
    await waitFor(async () => (await fixture.settled(receipt.update_id ?? 0)).outcome === 'answered');
    expect(fixture.telegram.textsOf(chat)).toEqual([noAnswerNotice, 'You said: Are you there?']);
  });

  it('sends a notice instead of a model call when the daily token budget is used up (D71)', async () => {
    const use = (tokens: number) =>
      fixture.agents.env.sql(
        `insert into agents.token_budgets (agent_id, day, tokens) select id, (now() at time zone 'UTC')::date, $1 from agents.agents
         on conflict (agent_id) do update set day = excluded.day, tokens = excluded.tokens`,
        [tokens],
      );
    await use(2_000_000);
    const requestsBefore = fixture.agents.llm.requests.length;
    const chat = fixture.next();
    const receipt = await fixture.ask(chat, { text: 'Are you there?' });
    await use(0);
    const notice = expect.stringMatching(/^Sorry, I have answered as much as I may today\. .+ again in \d+ hours?\.$/);
    expect([receipt.outcome, fixture.telegram.textsOf(chat), await recordOf(chat)]).toEqual([
      'not_answered',
      [notice],
      [],
    ]);
    expect(fixture.agents.llm.requests).toHaveLength(requestsBefore);
  });

  it('sends a notice to the chat when no model is configured', async () => {
    const silent = await startTelegramFixture(import.meta.url, { LLM_BASE_URL: '' });
    try {
      const chat = fixture.next();
      expect((await silent.ask(chat, { text: 'Hello?' })).outcome).toBe('not_answered');
      expect(silent.telegram.textsOf(chat)).toEqual([noAnswerNotice]);
    } finally {
      await silent.stop();
    }
  });
});

describe('the echo channel (rules/agents#messaging-webhook; D33c)', () => {
  const echoes = (): string[] => fixture.telegram.textsOf(echoChannel);

  it('copies question and reply to the echo channel', async () => {
    await fixture.ask(fixture.next(), { text: 'What is *it*?' }, 'mirrored');
    await waitFor(() => echoes().at(-1) === 'Q: What is it?\n\nA: You said: What is it?');
  });

  it('sends a long echo in parts, and continues after the Retry-After of a 429 response', async () => {
    const [before, answer] = [
      echoes().length,
      Array.from({ length: 900 }, (_value, index) => `**${index}** & more`).join('\n'),
    ];
    fixture.agents.llm.answerWith(() => answer);
    fixture.telegram.fail(echoChannel, { kind: 'wait', seconds: 1 });
    await fixture.ask(fixture.next(), { text: 'Tell *me* a lot' }, 'mirrored');
    const whole = `Q: Tell me a lot\n\nA: ${answer.replaceAll('**', '')}`;
    const parts = await waitFor(() => {
      const mirrored = echoes().slice(before);
      return mirrored.join('') === whole ? mirrored : undefined;
    });
    expect([parts.length, parts.every((part) => part.length <= 4_096), fixture.telegram.impatient]).toEqual([
      3,
      true,
      0,
    ]);
  });

  it.each([
    [
      'an edited message',
      (chat: number) => ({ edited_message: { message_id: 1, chat: { id: chat, type: 'private' }, text: 'x' } }),
    ],
    [
      'a channel post',
      (chat: number) => ({ channel_post: { message_id: 1, chat: { id: chat, type: 'channel' }, text: 'x' } }),
    ],
    [
      'a photo',
      (chat: number) => ({ message: { message_id: 1, chat: { id: chat, type: 'private' }, photo: [], caption: 'x' } }),
    ],
    [
      'a bot’s message',
      (chat: number) => ({
        message: { message_id: 1, chat: { id: chat, type: 'group' }, text: 'x', from: { id: 5, is_bot: true } },
      }),
    ],
    ['a callback query', () => ({ callback_query: { id: '1', from: { id: 5 }, data: 'x' } })],
  ])('sends %s to the echo channel as raw JSON, without a reply to the chat', async (_what, make) => {
    const chat = fixture.next();
    const update = { update_id: fixture.next(), ...make(chat) };
    const requestsBefore = fixture.agents.llm.requests.length;
    await fixture.deliver(update, { slug: 'mirrored' });
    expect(await fixture.settled(update.update_id)).toMatchObject({ outcome: 'echoed' });
    expect([echoes().at(-1), fixture.telegram.textsOf(chat), fixture.agents.llm.requests.length]).toEqual([
      JSON.stringify(update),
      [],
      requestsBefore,
    ]);
  });

  const channel = { id: echoChannel, type: 'channel', username: 'StaffRoom' };
  it.each([
    [
      'a post in it, such as the echo of another bot',
      'mirrored',
      { channel_post: { message_id: 1, chat: channel, text: '{"update_id":1}' } },
    ],
    [
      'a post in it, where it has a name',
      'named',
      { channel_post: { message_id: 1, chat: channel, text: '{"update_id":1}' } },
    ],
    [
      'what is copied from it into its discussion group',
      'mirrored',
      {
        message: {
          message_id: 1,
          from: { id: 777_000, is_bot: false, first_name: 'Telegram' },
          sender_chat: channel,
          chat: { id: -1_007_777, type: 'supergroup' },
          is_automatic_forward: true,
          text: 'Q: What is it?',
        },
      },
    ],
  ])('does not send %s to the echo channel', async (_what, slug, update) => {
    const messaging = { bot_token: botToken, webhook_secret: webhookSecret, echo_channel: '@staffroom' };
    await fixture.agents.apply([{ slug: 'named', name: 'Named', config: { messaging } }]);
    const before = fixture.telegram.visible.length;
    const updateId = fixture.next();
    await fixture.deliver({ update_id: updateId, ...update }, { slug });
    expect(await fixture.settled(updateId)).toMatchObject({
      outcome: 'ignored',
      message: expect.stringContaining('echo channel'),
    });
    expect(fixture.telegram.visible.slice(before).filter(({ text }) => text.includes('update_id'))).toEqual([]);
  });

  it('truncates a long update to one echo message', async () => {
    const update = { update_id: fixture.next(), poll: { id: 'x'.repeat(5_000) } };
    await fixture.deliver(update, { slug: 'mirrored' });
    await fixture.settled(update.update_id);
    expect(echoes().at(-1)).toHaveLength(4_096);
  });

  it('sends the reply when the echo fails, and does not retry the echo', async () => {
    fixture.telegram.fail(echoChannel, { kind: 'broken', status: 502, delivered: false });
    const chat = fixture.next();
    expect((await fixture.ask(chat, { text: 'Still there?' }, 'mirrored')).outcome).toBe('answered');
    await waitFor(
      async () =>
        (
          await fixture.agents.env.sql(`select 1 from agents.webhook_receipts where chat_id = $1 and echo = 'failed'`, [
            chat,
          ])
        ).length === 1,
    );
    expect(echoes().filter((text) => text.includes('Still there?'))).toEqual([]);
    const raw = { update_id: fixture.next(), poll: { id: 'p' } };
    fixture.telegram.fail(echoChannel, { kind: 'error', status: 403, description: 'Forbidden: bot is not a member' });
    await fixture.deliver(raw, { slug: 'mirrored' });
    expect(await fixture.settled(raw.update_id)).toMatchObject({
      outcome: 'echo_failed',
      message: expect.stringContaining('Forbidden'),
    });
  });

  it('skips the echo for an agent without an echo channel', async () => {
    const update = { update_id: fixture.next(), poll: { id: 'p' } };
    await fixture.deliver(update);
    expect(await fixture.settled(update.update_id)).toMatchObject({ outcome: 'ignored' });
  });
});
