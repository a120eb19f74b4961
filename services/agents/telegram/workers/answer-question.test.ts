import { describe, expect, it } from '@jest/globals';
import { runWhileTyping } from './answer-question.ts';

const target = { token: '1:t', chatId: 7, topicId: undefined };

/** Counts typing calls. The platform rejects further calls after `allowed` of them. */
function recordTyping(allowed = Number.POSITIVE_INFINITY) {
  const calls: number[] = [];
  let onCall = (): void => undefined;
  const sendTyping = (_token: string, chatId: number): Promise<boolean> => {
    calls.push(chatId);
    onCall();
    return Promise.resolve(calls.length < allowed);
  };
  const times = (count: number): Promise<void> =>
    new Promise((resolve) => {
      onCall = () => calls.length >= count && resolve();
      onCall();
    });
  return { bot: { sendTyping } as never, calls, times };
}

describe('runWhileTyping (rules/providers#telegram-sending)', () => {
  it('sends the typing action repeatedly until the work ends', async () => {
    const { bot, calls, times } = recordTyping();
    expect(await runWhileTyping(bot, target, () => times(3).then(() => 'done'), 1)).toBe('done');
    const count = calls.length;
    expect(calls).toEqual(Array(count).fill(7));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toHaveLength(count);
  });

  it('stops typing when Telegram rejects the typing action, and when the work fails', async () => {
    const { bot, calls } = recordTyping(1);
    const failing = runWhileTyping(
      bot,
      target,
      () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('no')), 20)),
      1,
    );
    await expect(failing).rejects.toThrow('no');
    expect(calls).toEqual([7]);
  });
});
