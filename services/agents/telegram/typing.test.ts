import { describe, expect, it } from '@jest/globals';
import { runWhileTyping } from './typing.ts';

const place = { token: '1:t', chatId: 7, topicId: undefined };

/** Counts what is shown; the platform asks to leave it after `bears` times. */
function listen(bears = Number.POSITIVE_INFINITY) {
  const shown: number[] = [];
  let heard = (): void => undefined;
  const showTyping = (_token: string, chatId: number): Promise<boolean> => {
    shown.push(chatId);
    heard();
    return Promise.resolve(shown.length < bears);
  };
  const times = (count: number): Promise<void> =>
    new Promise((resolve) => {
      heard = () => shown.length >= count && resolve();
      heard();
    });
  return { bot: { showTyping } as never, shown, times };
}

describe('whileTyping (rules/providers#telegram-sending: shown 5 s or less, so it is said again)', () => {
  it('says it again and again while the work goes on, and no more after it', async () => {
    const { bot, shown, times } = listen();
    expect(await runWhileTyping(bot, place, () => times(3).then(() => 'done'), 1)).toBe('done');
    const count = shown.length;
    expect(shown).toEqual(Array(count).fill(7));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(shown).toHaveLength(count);
  });

  it('leaves it when the platform refuses, and ends with the work when that fails', async () => {
    const { bot, shown } = listen(1);
    const failing = runWhileTyping(bot, place, () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('no')), 20)), 1);
    await expect(failing).rejects.toThrow('no');
    expect(shown).toEqual([7]);
  });
});
