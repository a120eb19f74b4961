import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Entity, needsBotName, type Question, readAddress, readUpdate, verifyUpdate } from './update.ts';

const open = { deliveryId: 'd', digest: null };
const read = (update: object) => readUpdate(Buffer.from(JSON.stringify(update)));
const ann = { id: 1001, is_bot: false, first_name: 'Ann' };
const group = { id: -100, type: 'group', title: 'Group' };
const message = (more: object) => ({
  update_id: 7,
  message: { message_id: 42, date: 1, from: ann, chat: { id: 1001, type: 'private' }, ...more },
});

describe('readUpdate (rules/agents#messaging-webhook; D32)', () => {
  it.each([
    ['private', { id: 1001, type: 'private' }],
    ['group', group],
    ['supergroup', { id: -1_001_234_567_890, type: 'supergroup' }],
  ])('reads a text from a %s chat as a question', (chatType, chat) => {
    expect(read(message({ chat, text: 'hello' }))).toEqual({
      updateId: 7,
      field: 'message',
      chatId: chat.id,
      senderId: 1001,
      chatNames: [String(chat.id)],
      content: {
        kind: 'question',
        chatId: chat.id,
        chatType,
        messageId: 42,
        topicId: undefined,
        senderId: 1001,
        text: 'hello',
        entities: [],
      },
    });
  });

  it('reads a text of an anonymous administrator as a question without a sender (rules/providers#telegram-updates)', () => {
    const from = { id: 1_087_968_824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
    const anonymous = message({ chat: group, from, sender_chat: group, text: 'hello' });
    expect(read(anonymous)).toMatchObject({
      senderId: undefined,
      content: { kind: 'question', senderId: undefined, text: 'hello' },
    });
  });

  it('reads the names of the chat and of the chat on whose behalf a message was sent', () => {
    const chat = { id: -100_777, type: 'supergroup', username: 'TeaHouseTalk' };
    const post = message({
      chat,
      sender_chat: { id: -100_999, type: 'channel', username: 5 },
      text: 'x',
      is_automatic_forward: true,
    });
    expect(read(post)?.chatNames).toEqual(['-100777', '@teahousetalk', '-100999']);
    expect(read({ update_id: 7, poll: { id: 'p' } })?.chatNames).toEqual([]);
  });

  it('reads the topic id only from a message in a topic', () => {
    const topic = { chat: group, text: 'x', message_thread_id: 7 };
    expect(read(message({ ...topic, is_topic_message: true }))?.content).toMatchObject({ topicId: 7 });
    expect(read(message(topic))?.content).toMatchObject({ topicId: undefined });
  });

  it.each([
    ['a channel’s message', message({ chat: { id: -5, type: 'channel' }, text: 'x' })],
    ['an edited message', { update_id: 7, edited_message: message({ text: 'x' }).message }],
    ['a channel post', { update_id: 7, channel_post: message({ text: 'x' }).message }],
    ['a photo', message({ photo: [], caption: 'x' })],
    ['a blank text', message({ text: ' \n' })],
    ['a text that is none', message({ text: 5 })],
    ['a chat without a number', message({ chat: { type: 'private' }, text: 'x' })],
    ['a bot’s message', message({ from: { ...ann, is_bot: true }, text: 'x' })],
    ['a post copied into the discussion group', message({ chat: group, text: 'x', is_automatic_forward: true })],
    ['a callback query', { update_id: 7, callback_query: { id: '1', from: ann, data: 'x' } }],
    ['an unknown kind', { update_id: 7, new_kind_of_thing: {} }],
    ['nothing', { update_id: 7 }],
  ])('reads %s as an update that is only acknowledged', (_what, update) => {
    expect(read(update)?.content).toEqual({ kind: 'other' });
  });

  it('reads the migration of a group from the message in the old and in the new chat', () => {
    expect(read(message({ chat: group, migrate_to_chat_id: -200 }))?.content).toEqual({
      kind: 'migration',
      chatId: -100,
      from: -100,
      to: -200,
    });
    const supergroup = { id: -200, type: 'supergroup' };
    expect(read(message({ chat: supergroup, migrate_from_chat_id: -100 }))?.content).toEqual({
      kind: 'migration',
      chatId: -200,
      from: -100,
      to: -200,
    });
  });

  it.each([
    ['of a private chat', { chat: { id: 7, type: 'private' }, migrate_to_chat_id: -200 }],
    ['of a private chat by a supergroup', { chat: { id: -200, type: 'supergroup' }, migrate_from_chat_id: 7 }],
    ['of a group to a private chat', { chat: group, migrate_to_chat_id: 7 }],
    ['of a supergroup', { chat: { id: -200, type: 'supergroup' }, migrate_to_chat_id: -300 }],
    ['told by a group', { chat: group, migrate_from_chat_id: -300 }],
    ['told by a channel', { chat: { id: -200, type: 'channel' }, migrate_from_chat_id: -300 }],
    ['to where it is', { chat: group, migrate_to_chat_id: group.id }],
    ['to zero', { chat: group, migrate_to_chat_id: 0 }],
  ])('ignores a migration %s, because only a group can become a supergroup', (_what, more) => {
    expect(read(message(more))?.content).toEqual({ kind: 'other' });
  });

  it('removes control characters from a text and preserves line breaks (D74)', () => {
    expect(read(message({ text: 'a\u0000\u001b[31m\tb\nc\u009b\ud83d' }))?.content).toMatchObject({
      text: 'a[31m\tb\nc\ufffd',
    });
    expect(read(message({ text: '\u0000\u0007\n' }))?.content).toEqual({ kind: 'other' });
  });

  it('accepts texts up to the maximum length of the platform', () => {
    expect(read(message({ text: 'x'.repeat(16_384) }))?.content).toMatchObject({ kind: 'question' });
    expect(read(message({ text: 'x'.repeat(16_385) }))?.content).toEqual({ kind: 'other' });
  });

  it('ignores invalid entities', () => {
    const entities = [
      { type: 'bot_command', offset: 0, length: 4 },
      { type: 'mention', offset: -1, length: 2 },
      { offset: 0, length: 1 },
      null,
      'x',
    ];
    expect(read(message({ text: '/ask x', entities }))?.content).toMatchObject({
      entities: [{ type: 'bot_command', offset: 0, length: 4 }],
    });
  });
});

describe('verifyUpdate (D31, D33d)', () => {
  const body = (text: string): Buffer => Buffer.from(text);
  const unsigned = { secret: undefined, allowUnsigned: true };
  const trust = { secret: 'secret', allowUnsigned: false };

  it('rejects updates without a configured secret unless unsigned webhooks are allowed (D64)', () => {
    for (const sent of [body('{"update_id":7}'), body('no JSON'), null]) {
      expect(verifyUpdate(sent, open, { secret: undefined, allowUnsigned: false })).toMatchObject({
        outcome: 'rejected_unsigned',
        message: expect.stringContaining('webhook_secret'),
      });
    }
    expect(verifyUpdate(body('{"update_id":7}'), open, unsigned)).toMatchObject({ kind: 'update' });
    expect(verifyUpdate(body('{"update_id":7}'), open, { ...trust, allowUnsigned: true })).toMatchObject({
      outcome: 'rejected_secret',
    });
  });

  it.each([
    ['no JSON', '{"update_id":'],
    ['no object', '[1]'],
    ['no update_id', '{"message":{}}'],
    ['an update_id that is no integer', '{"update_id":"7"}'],
    ['too deep', `{"update_id":7,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['nothing', ''],
  ])('rejects the body %s as unreadable', (_what, text) => {
    expect(verifyUpdate(body(text), open, unsigned)).toMatchObject({ outcome: 'rejected_unreadable' });
  });

  it.each([
    ['U+0000', body('{"update_id":7,"message":{"caption":"a\\u0000"}}')],
    ['a byte that is not UTF-8', Buffer.from('{"update_id":7,"message":{"caption":"\u00eb"}}', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff{"update_id":7}', 'utf16le')],
  ])('accepts an update with %s (rules/webhooks#text; D106)', (_what, sent) => {
    expect(verifyUpdate(sent, open, unsigned)).toMatchObject({ kind: 'update', update: { updateId: 7 } });
  });

  it('rejects a body that is not JSON in any encoding, and a body over the size limit', () => {
    expect(verifyUpdate(Buffer.from([0x7b, 0xff, 0x7d]), open, unsigned)).toMatchObject({
      outcome: 'rejected_unreadable',
    });
    expect(verifyUpdate(null, open, unsigned)).toMatchObject({ outcome: 'rejected_too_large' });
  });

  it('verifies the secret before it parses the body', () => {
    const digest = (secret: string): string => createHmac('sha256', 'd').update(secret).digest('hex');
    const verify = (given: string | null) =>
      verifyUpdate(body('{"update_id":7}'), { deliveryId: 'd', digest: given }, trust);
    expect(verify(digest('secret'))).toMatchObject({ kind: 'update' });
    for (const wrong of [null, '', digest('other'), digest('secret').toUpperCase(), 'x'.repeat(64)]) {
      expect(verify(wrong)).toMatchObject({ outcome: 'rejected_secret' });
    }
    expect(verifyUpdate(body('no JSON'), open, trust)).toMatchObject({ outcome: 'rejected_secret' });
    const ofAnother = { deliveryId: 'other', digest: digest('secret') };
    expect(verifyUpdate(body('{"update_id":7}'), ofAnother, trust)).toMatchObject({ outcome: 'rejected_secret' });
  });
});

const bot = { id: 99, username: 'example_bot' };

/** Returns a question whose commands and mentions are marked as entities, as Telegram does. */
function ask(text: string, more: readonly Entity[] = []): Question {
  const marks = [...text.matchAll(/(?<=^|\s)(\/[A-Za-z0-9_]+(?:@\w+)?|@\w+)/g)];
  const entities = marks.map((match) => {
    const type = match[0].startsWith('/') ? 'bot_command' : 'mention';
    return { type, offset: match.index, length: match[0].length, userId: undefined };
  });
  return {
    kind: 'question',
    chatId: -1,
    chatType: 'group',
    messageId: 1,
    topicId: undefined,
    senderId: 1,
    text,
    entities: [...entities, ...more],
  };
}

describe('readAddress (D32; rules/providers#telegram-updates)', () => {
  it.each([
    ['hello', 'hello'],
    ['/ask@example_bot hello', 'hello'],
    ['/ask@Example_Bot   hello', 'hello'],
    ['/ask hello', 'hello'],
    ['/ask', '/ask'],
    ['/ask@example_bot', '/ask'],
    ['/start@example_bot', '/start'],
    ['/summarize@example_bot this text', '/summarize this text'],
    ['@example_bot hello', 'hello'],
    ['@example_bot, hello', 'hello'],
    ['hello @example_bot', 'hello'],
    ['hello @example_bot how are you', 'hello how are you'],
    ['/ask@example_bot hello @example_bot', 'hello'],
    ['hello @other_bot', 'hello @other_bot'],
    ['@example_bot', '@example_bot'],
    ['mail me at a@example_bot.org', 'mail me at a@example_bot.org'],
    ['see /ask@other_bot', 'see /ask@other_bot'],
  ])('interprets the text %j as %j', (text, wanted) => {
    expect(readAddress(ask(text), bot)).toEqual({ kind: 'ours', text: wanted });
  });

  it('removes a mention of the bot by its id', () => {
    expect(
      readAddress(ask('Example, hello', [{ type: 'text_mention', offset: 0, length: 7, userId: 99 }]), bot),
    ).toEqual({
      kind: 'ours',
      text: 'hello',
    });
    const other = ask('Ann, hello', [{ type: 'text_mention', offset: 0, length: 3, userId: 5 }]);
    expect(readAddress(other, bot)).toEqual({ kind: 'ours', text: 'Ann, hello' });
  });

  it('ignores a command addressed to another bot', () => {
    expect(readAddress(ask('/ask@other_bot hello'), bot)).toEqual({ kind: 'other_bot', username: 'other_bot' });
  });

  it('accepts every command while the bot’s name is unknown', () => {
    expect(readAddress(ask('/ask@other_bot hello'), { id: 99, username: undefined })).toEqual({
      kind: 'ours',
      text: 'hello',
    });
  });

  it('needs the bot’s name only for texts that contain a bot name', () => {
    expect([ask('hello'), ask('/ask hello'), ask('/ask@x_bot hello'), ask('@x_bot')].map(needsBotName)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
