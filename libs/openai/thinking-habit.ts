/**
 * Whether a model's replies contain thoughts without an opening marker (D84). Some chat templates put that marker into
 * the prompt, so only the closing marker after all thoughts reveals them. The latest replies of the model tell; the
 * beginning of a reply is not enough.
 */

/** Consecutive plain replies after which a model's text is streamed again. */
export const plainRepliesRequired = 3;

/** Names of reasoning models. Their text is withheld until their replies prove to be plain. */
const reasoningModels = /(?<![a-z0-9])(?:r1|qwq|qwen3|magistral|gpt-oss|think(?:er|ing)?|reason(?:er|ing)?)(?![a-z])/i;

/** Plain replies assumed before the first one. Text of other models is streamed at once (C1). */
export function initialPlainReplies(model: string): number {
  return reasoningModels.test(model) ? 0 : plainRepliesRequired;
}

/** Habit of one model at one server. */
export interface ThinkingHabit {
  /** Its text has no thoughts without an opening marker and can be streamed. */
  isPlain(): Promise<boolean>;
  /** @param isUnopened the reply had thoughts without an opening marker; false for a reply without any thoughts. */
  record(isUnopened: boolean): Promise<void>;
}

/** In memory only. */
export function createThinkingHabit(model: string): ThinkingHabit {
  let plain = initialPlainReplies(model);
  return {
    isPlain: async () => plain >= plainRepliesRequired,
    record: async (isUnopened) => {
      plain = isUnopened ? 0 : plain + 1;
    },
  };
}

/** Phrases that hardly any reply starts with. Replies that do are withheld while the model's habit is not known. */
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

/** @param words the beginning of a reply, possibly incomplete. */
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
