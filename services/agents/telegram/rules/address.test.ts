import { describe, expect, it } from '@jest/globals';
import { needsBotName, readAddress } from './address.ts';
import type { Entity, Question } from './update.ts';

const bot = { id: 99, username: 'example_bot' };

/** A question whose commands and mentions are marked as the platform does. */
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
  ])('reads %j as %j', (text, wanted) => {
    expect(readAddress(ask(text), bot)).toEqual({ kind: 'ours', text: wanted });
  });

  it('takes a mention by number out too', () => {
    expect(readAddress(ask('Example, hello', [{ type: 'text_mention', offset: 0, length: 7, userId: 99 }]), bot)).toEqual({
      kind: 'ours',
      text: 'hello',
    });
    const other = ask('Ann, hello', [{ type: 'text_mention', offset: 0, length: 3, userId: 5 }]);
    expect(readAddress(other, bot)).toEqual({ kind: 'ours', text: 'Ann, hello' });
  });

  it('leaves a command for another bot alone', () => {
    expect(readAddress(ask('/ask@other_bot hello'), bot)).toEqual({ kind: 'other_bot', username: 'other_bot' });
  });

  it('takes every command as its own while it does not know its name', () => {
    expect(readAddress(ask('/ask@other_bot hello'), { id: 99, username: undefined })).toEqual({ kind: 'ours', text: 'hello' });
  });

  it('needs the name of the bot only where one is written', () => {
    expect([ask('hello'), ask('/ask hello'), ask('/ask@x_bot hello'), ask('@x_bot')].map(needsBotName)).toEqual([false, false, true, true]);
  });
});
