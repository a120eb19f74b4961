import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { judgeUpdate, readUpdate } from './telegram-update.ts';

const open = { deliveryId: 'd', digest: null };
const read = (update: object) => readUpdate(Buffer.from(JSON.stringify(update)));
const ann = { id: 1001, is_bot: false, first_name: 'Ann' };
const group = { id: -100, type: 'group', title: 'Group' };
const message = (more: object) => ({
  update_id: 7,
  message: { message_id: 42, date: 1, from: ann, chat: { id: 1001, type: 'private' }, ...more },
});

describe('readUpdate (spec 02, POST /api/hook/agents/{slug}; D32)', () => {
  it.each([
    ['private', { id: 1001, type: 'private' }],
    ['group', group],
    ['supergroup', { id: -1_001_234_567_890, type: 'supergroup' }],
  ])('takes a text from a %s chat as a question', (chatType, chat) => {
    expect(read(message({ chat, text: 'hello' }))).toEqual({
      updateId: 7,
      field: 'message',
      chatId: chat.id,
      senderId: 1001,
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

  it('takes a text of an administrator who stays anonymous as one of nobody known (design of providers §2, Message)', () => {
    const from = { id: 1_087_968_824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
    const anonymous = message({ chat: group, from, sender_chat: group, text: 'hello' });
    expect(read(anonymous)).toMatchObject({ senderId: undefined, content: { kind: 'question', senderId: undefined, text: 'hello' } });
  });

  it('keeps the topic only of a message in a topic', () => {
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
  ])('leaves %s to the echo', (_what, update) => {
    expect(read(update)?.content).toEqual({ kind: 'other' });
  });

  it('tells a migration from either side', () => {
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

  it('leaves out entities that are none', () => {
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

describe('judgeUpdate (D31, D33d)', () => {
  const body = (text: string): Buffer => Buffer.from(text);

  it.each([
    ['no JSON', '{"update_id":'],
    ['no object', '[1]'],
    ['no update_id', '{"message":{}}'],
    ['an update_id that is no integer', '{"update_id":"7"}'],
    ['U+0000', '{"update_id":7,"message":{"text":"a\\u0000"}}'],
    ['too deep', `{"update_id":7,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['nothing', ''],
  ])('rejects %s as unreadable', (_what, text) => {
    expect(judgeUpdate(body(text), open, undefined)).toMatchObject({ outcome: 'rejected_unreadable' });
  });

  it('rejects a body that is not UTF-8, and one over the cap', () => {
    expect(judgeUpdate(Buffer.from([0x7b, 0xff, 0x7d]), open, undefined)).toMatchObject({ outcome: 'rejected_unreadable' });
    expect(judgeUpdate(null, open, undefined)).toMatchObject({ outcome: 'rejected_too_large' });
  });

  it('compares the secret before it reads the body', () => {
    const digest = (secret: string): string => createHmac('sha256', 'd').update(secret).digest('hex');
    const judge = (given: string | null) => judgeUpdate(body('{"update_id":7}'), { deliveryId: 'd', digest: given }, 'secret');
    expect(judge(digest('secret'))).toMatchObject({ kind: 'update' });
    for (const wrong of [null, '', digest('other'), digest('secret').toUpperCase(), 'x'.repeat(64)]) {
      expect(judge(wrong)).toMatchObject({ outcome: 'rejected_secret' });
    }
    expect(judgeUpdate(body('no JSON'), open, 'secret')).toMatchObject({ outcome: 'rejected_secret' });
    const ofAnother = { deliveryId: 'other', digest: digest('secret') };
    expect(judgeUpdate(body('{"update_id":7}'), ofAnother, 'secret')).toMatchObject({ outcome: 'rejected_secret' });
  });
});
