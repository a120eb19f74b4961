/** A model's thinking habit, kept in the database so that no process learns it again. Another model or address is not known (D84). */
import { createHash } from 'node:crypto';
import type { Logger } from '#libs/logger';
import { plainAnswers, type ThinkingHabit } from '#libs/openai';
import type { Database } from '#libs/orm';
import { countAnswer, findPlainAnswers } from './statements/thinking-habits.ts';

/** Without the database a model counts as not known: its answers are not shown before they are whole. */
export function createStoredHabit(
  { db, logger }: { db: Database; logger: Logger },
  { baseUrl, model: name }: { readonly baseUrl: string; readonly model: string },
): ThinkingHabit {
  // An address may contain a password.
  const model = createHash('sha256')
    .update(JSON.stringify([baseUrl, name]))
    .digest('base64url');
  const warn = (err: unknown): undefined => {
    logger.warn({ err }, 'language model: thinking habit not available');
    return undefined;
  };
  return {
    isPlain: async () => ((await findPlainAnswers(db, { model }).catch(warn))?.plainAnswers ?? 0) >= plainAnswers,
    learn: async (isUnopened) => {
      await countAnswer(db, { model, isUnopened, most: plainAnswers }).catch(warn);
    },
  };
}
