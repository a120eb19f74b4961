/** "typing …" in a chat while the agent thinks: the platform shows it for five seconds, so it is said again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotApi } from '../bot/index.ts';

const defaultRepeatMs = 4_500;

/** Runs `work` and shows typing until it ends, however it ends. */
export async function runWhileTyping<T>(
  bot: BotApi,
  place: { token: string; chatId: number; topicId: number | undefined },
  work: () => Promise<T>,
  repeatMs = defaultRepeatMs,
): Promise<T> {
  const done = new AbortController();
  const show = async (): Promise<void> => {
    while (!done.signal.aborted) {
      if (!(await bot.sendTyping(place.token, place.chatId, place.topicId, done.signal))) return;
      await sleep(repeatMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  };
  const showing = show();
  try {
    return await work();
  } finally {
    done.abort();
    await showing;
  }
}
