/**
 * Whether an answer that has no marker yet may still be a thought (D84). Some models' templates put the opening marker into the prompt, so that their
 * answers have the closing one alone, behind all that was thought. A model that has done so is expected to do it again. Of others an answer that begins
 * as thoughts do is waited for to its end, of a model that is not known yet also one that may begin so; any other is shown as it comes.
 */

/** Answers without such thoughts after which a model is known to have none. */
const plainAnswers = 3;

/** Words that hardly anything else begins with. */
const surely = (
  "hmm|let me think|let me see|let me check|let me analyze|let me consider|let's think|let’s think|let's see|i need to|i should|i must|i have to" +
  '|we need to|we should|we must|we have to|the user|the visitor|the question is|the person|the customer|the human|the prompt says|the system prompt' +
  '|the notes say|the message is|the assistant|this user|this visitor|user|visitor|thinking|thought|thoughts|my thoughts|reasoning|need to' +
  '|looking at the|okay, so|okay, the|okay, let|okay, i|okay, they|ok, so|ok, the|ok, let|alright, so|alright, the|alright, let|first, i|so the user' +
  "|der nutzer|der besucher|die nutzerin|l'utilisateur|l’utilisateur|el usuario"
).split('|');
/** Words that answers begin with too. */
const perhaps = (
  "okay|ok|alright|all right|hm|um|well|so|now|wait|let me|let us|let’s|let's|i think|i will|i want|i recall|i'll|i’ll|we have|we are|we can" +
  '|the question|the prompt|the system|the notes|the message|the memory|the agent|the request|this question|this is a|this person|they|he|she' +
  '|first,|first i|first we|first the|first let|first of all|first off|private|secret|internal|inner|looking at|considering|given|based on' +
  '|step 1|analysis|also, ich|ich muss|ich soll|ich denke|le visiteur|je dois|el visitante|debo|tengo que|bueno'
).split('|');
const longestBeginning = Math.max(...[...surely, ...perhaps].map(({ length }) => length));
/** Chinese has no spaces between words. */
const withoutSpaces = /^(?:好的|嗯|首先|用户|我们|我需要|我应该|现在|让我)/u;

/** What is known of a model. */
export class ThinkingHabit {
  #hasThought = false;
  #plain = 0;

  /** @param words the beginning of an answer, in which no thoughts have ended. */
  mayBeThought(words: string): boolean {
    if (this.#hasThought) return true;
    return beginsWith(words, this.#plain < plainAnswers ? [...surely, ...perhaps] : surely);
  }

  /** @param isUnopened the answer had thoughts that no marker opened. */
  learn(isUnopened: boolean): void {
    this.#plain = isUnopened ? 0 : this.#plain + 1;
    if (isUnopened || this.#plain >= plainAnswers) this.#hasThought = isUnopened;
  }
}

function beginsWith(words: string, beginnings: readonly string[]): boolean {
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
