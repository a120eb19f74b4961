/**
 * Whether a model leaves thoughts in its answers that no marker opens (D84). Some chat templates put the opening marker into the prompt, so that only the
 * closing one, behind all the thoughts, shows what the text before it was. The model's latest answers tell that; the beginning of an answer alone does not.
 */

/** Plain answers in a row after which text of a model that had them is streamed again. */
export const plainRepliesRequired = 3;

/** Names of models that think: their text is withheld until their answers show that it has no thoughts. */
const reasoningModels = /(?<![a-z0-9])(?:r1|qwq|qwen3|magistral|gpt-oss|think(?:er|ing)?|reason(?:er|ing)?)(?![a-z])/i;

/** Plain answers that a model counts as having given before its first one: text of other models is streamed at once (C1). */
export function initialPlainReplies(model: string): number {
  return reasoningModels.test(model) ? 0 : plainRepliesRequired;
}

/** Known of one model at one address. */
export interface ThinkingHabit {
  /** Its text has no unopened thoughts and can be streamed. */
  isPlain(): Promise<boolean>;
  /** @param isUnopened an answer had thoughts that no marker opened; false for a plain answer, which had no thoughts at all. */
  record(isUnopened: boolean): Promise<void>;
}

/** Known in this process only. */
export function createThinkingHabit(model: string): ThinkingHabit {
  let plain = initialPlainReplies(model);
  return {
    isPlain: async () => plain >= plainRepliesRequired,
    record: async (isUnopened) => {
      plain = isUnopened ? 0 : plain + 1;
    },
  };
}

/** What hardly any answer begins with. Withholds the first answers of a model that is not known to leave thoughts in its text. */
const thoughtBeginnings = (
  "hmm|let me think|let me see|let me check|let me analyze|let me consider|let's think|let’s think|let's see|i need to|i should|i must|i have to" +
  '|we need to|we should|we must|we have to|the user|the visitor|the question is|the person|the customer|the human|the prompt says|the system prompt' +
  '|the notes say|the message is|the assistant|this user|this visitor|user|visitor|thinking|thought|thoughts|my thoughts|reasoning|need to' +
  '|looking at the|okay, so|okay, the|okay, let|okay, i|okay, they|ok, so|ok, the|ok, let|alright, so|alright, the|alright, let|first, i|so the user' +
  '|it seems the user|it seems the visitor|it looks like the user|got it, the user|got it, the visitor|greeting from' +
  "|here's a thinking process|here is a thinking process|1. **analyze|1. analyze|analyzing|analyze the" +
  "|der nutzer|der besucher|die nutzerin|l'utilisateur|l’utilisateur|el usuario|l'utente|o usuário|de gebruiker|użytkownik|kullanıcı|пользователь"
).split('|');
const longestBeginning = Math.max(...thoughtBeginnings.map(({ length }) => length));
/** Chinese has no spaces between words. */
const withoutSpaces = /^(?:好的|好，|嗯|首先|用户|ユーザー|사용자|我们|我需要|我应该|现在|让我)/u;

/** @param words the beginning of an answer, or a part of it. */
export function startsLikeThought(words: string): boolean {
  const start = words
    .trimStart()
    .slice(0, longestBeginning + 8)
    .replace(/^[*_("“[]+/, '')
    .toLowerCase();
  if (withoutSpaces.test(start)) return true;
  return thoughtBeginnings.some((beginning) =>
    start.length <= beginning.length
      ? beginning.startsWith(start)
      : start.startsWith(beginning) && !/^[\p{L}\p{N}]/u.test(start.slice(beginning.length)),
  );
}
