/**
 * How many tokens a text is at most likely to be, without any model's tokenizer: servers behind `LLM_BASE_URL` have different ones, and
 * an estimate that is too high costs a little history while one that is too low costs the answer. Prose comes out at one and a half times to
 * twice what byte-pair tokenizers make of it; what they split most (digits, capitals in the middle of words, emoji) is counted as split.
 */

/** ASCII small letters and spaces share tokens. */
const charactersPerToken = 3;
/** UTF-8 bytes of other scripts: a Cyrillic letter is one token, a Chinese character one and a half. */
const bytesPerToken = 2;
/** A character of four bytes, such as an emoji. */
const tokensPerAstral = 3;
/** Role and separators that a chat template adds to each message. */
const tokensPerMessage = 8;

/** Estimated tokens of a text. */
export function estimateTokens(text: string): number {
  let letters = 0;
  let others = 0;
  let astral = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) {
      if (code >= 0xd800 && code <= 0xdbff) astral++;
    } else if (code === 0x20 || (code >= 0x61 && code <= 0x7a)) letters++;
    else others++;
  }
  const otherBytes = Math.max(0, Buffer.byteLength(text) - letters - others - 4 * astral);
  return Math.ceil(letters / charactersPerToken + others + otherBytes / bytesPerToken + astral * tokensPerAstral);
}

/** Estimated tokens of a text as a message of a chat. */
export function estimateMessage(text: string): number {
  return estimateTokens(text) + tokensPerMessage;
}
