/**
 * Whether an answer that has no marker yet may still be a thought (D84). Some models' templates put the opening marker into the prompt, so that their
 * answers have the closing one alone, behind all that was thought. A model that has done so once is expected to do it again. Of one that is not
 * known yet, an answer that begins as thoughts do is waited for to its end; any other is shown as it comes.
 */

/** Answers without such thoughts after which a model is known to have none. */
const plainAnswers = 3;
/** The same for one that has had some, e.g. before its server was told to take them out. */
const plainAnswersAfterThoughts = 10;

/** Words that thoughts begin with. */
const beginnings = (
  "okay|ok|alright|all right|hmm|hm|um|well|so|now|wait|first|let me|let us|let’s|let's|i need|i should|i must|i think|i have to|i will|i want" +
  "|i recall|i'll|i’ll|we need|we should|we must|we have|we are|we can|the user|the visitor|the question|the person|the customer|the human" +
  '|the prompt|the system|the notes|the message|the memory|the assistant|the agent|the request|this user|this visitor|this question' +
  '|this is a|this person|user|visitor|they|he|she|thinking|thought|thoughts|reasoning|my thoughts|private|secret|internal|inner|need to' +
  '|looking at|considering|given|based on|step 1|analysis|also, ich|der nutzer|der besucher|die nutzerin|ich muss|ich soll|ich denke' +
  "|l'utilisateur|l’utilisateur|le visiteur|je dois|el usuario|el visitante|debo|tengo que|bueno"
).split('|');
const longestBeginning = Math.max(...beginnings.map(({ length }) => length));
/** Chinese has no spaces between words. */
const withoutSpaces = /^(?:好的|嗯|首先|用户|我们|我需要|我应该|现在|让我)/u;

/** What is known of a model. */
export class ThinkingHabit {
  #hasThought = false;
  #plain = 0;

  /** @param words the beginning of an answer, in which no thoughts have ended. */
  mayBeThought(words: string): boolean {
    if (this.#hasThought) return true;
    return this.#plain < plainAnswers && beginsLikeThoughts(words);
  }

  /** @param isUnopened the answer had thoughts that no marker opened. */
  learn(isUnopened: boolean): void {
    this.#plain = isUnopened ? 0 : this.#plain + 1;
    if (isUnopened || this.#plain >= plainAnswersAfterThoughts) this.#hasThought = isUnopened;
  }
}

function beginsLikeThoughts(words: string): boolean {
  const start = words
    .trimStart()
    .slice(0, longestBeginning + 8)
    .replace(/^[*_("“[]+/, '')
    .toLowerCase();
  if (withoutSpaces.test(start)) return true;
  return beginnings.some((beginning) =>
    start.length <= beginning.length
      ? beginning.startsWith(start)
      : start.startsWith(beginning) && !/^[\p{L}\p{N}]/u.test(start.slice(beginning.length)),
  );
}
