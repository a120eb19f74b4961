/**
 * Detects whether a model writes thoughts without an opening marker (D84). Some chat templates put the opening marker
 * into the prompt, so only the closing marker after the thoughts reveals them. The start of a reply is therefore not
 * enough; the model's latest replies decide.
 */

/** Number of consecutive replies without thoughts after which a model's text is streamed again. */
export const plainRepliesRequired = 3;

/** Matches names of reasoning models. Their text is withheld until enough replies contain no thoughts. */
const reasoningModels = /(?<![a-z0-9])(?:r1|qwq|qwen3|magistral|gpt-oss|think(?:er|ing)?|reason(?:er|ing)?)(?![a-z])/i;

/**
 * Returns the number of plain replies assumed at the start: 0 for reasoning models; other models are streamed
 * immediately (C1).
 */
export function initialPlainReplies(model: string): number {
  return reasoningModels.test(model) ? 0 : plainRepliesRequired;
}

/** Whether one model at one server writes thoughts without an opening marker. */
export interface ThinkingHabit {
  /** Returns true when the model writes no thoughts without an opening marker, so its text can be streamed. */
  isPlain(): Promise<boolean>;
  /** @param isUnopened true: the reply had thoughts without an opening marker; false: it had no thoughts */
  record(isUnopened: boolean): Promise<void>;
}

/** Stores the habit in memory only. */
export function createThinkingHabit(model: string): ThinkingHabit {
  let plain = initialPlainReplies(model);
  return {
    isPlain: async () => plain >= plainRepliesRequired,
    record: async (isUnopened) => {
      plain = isUnopened ? 0 : plain + 1;
    },
  };
}

/**
 * Phrases that are rare at the start of a reply. Text that starts with one is withheld while the model may be thinking.
 */
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
/** Matched without a word boundary, since Chinese has no spaces between words. */
const withoutSpaces = /^(?:好的|好，|嗯|首先|用户|ユーザー|사용자|我们|我需要|我应该|现在|让我)/u;

/**
 * Returns whether the text can be the start of a thought.
 * @param text the start of a reply, possibly incomplete
 */
export function startsLikeThought(text: string): boolean {
  const start = text
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
