/** Replies that the model was told to write as one JSON object. */
import { toStorableText } from '#libs/json';
import { dropThoughts } from '#libs/thoughts';

/** A reply of the model that is not what was asked for. Its message says what is wrong and quotes nothing. */
export class UnusableReply extends Error {
  override readonly name = 'UnusableReply';
}

/**
 * The value of a reply, without thoughts in its texts (D84) and characters that cannot be stored (D75). Models like to fence JSON although they are told not to.
 * @throws SyntaxError; RangeError when it is nested deeper than the parser goes
 */
export function parseJsonReply(text: string): unknown {
  return JSON.parse(removeCodeFence(text.trim()), (_key, value: unknown) =>
    typeof value === 'string' ? toStorableText(dropThoughts(value)) : value,
  );
}

function removeCodeFence(text: string): string {
  const opening = /^```(?:json)?[^\S\n]*\n/.exec(text)?.[0];
  return opening !== undefined && text.endsWith('```') ? text.slice(opening.length, -3) : text;
}
