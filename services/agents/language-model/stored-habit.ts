/** A model's thinking habit, stored so that every process knows it. Another model or address starts anew (D84). */
import { createHash } from 'node:crypto';
import type { Logger } from '#libs/logger';
import { initialPlainReplies, plainRepliesRequired, type ThinkingHabit } from '#libs/openai';
import type { Database } from '#libs/orm';
import { countPlainReply, findPlainReplies } from './statements/thinking-habits.ts';

/** Without the database the model counts as new. */
export function createStoredHabit(
  { db, logger }: { db: Database; logger: Logger },
  { baseUrl, model: name }: { readonly baseUrl: string; readonly model: string },
): ThinkingHabit {
  // An address may contain a password.
  const model = createHash('sha256')
    .update(JSON.stringify([baseUrl, name]))
    .digest('base64url');
  const initial = initialPlainReplies(name);
  const warn = (err: unknown): undefined => {
    logger.warn({ err }, 'language model: thinking habit not available');
    return undefined;
  };
  return {
    isPlain: async () => ((await findPlainReplies(db, { model }).catch(warn))?.plainAnswers ?? initial) >= plainRepliesRequired,
    record: async (isUnopened) => {
      await countPlainReply(db, { model, isUnopened, initial, most: plainRepliesRequired }).catch(warn);
    },
  };
}
