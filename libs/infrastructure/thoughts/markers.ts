/**
 * Markers of thoughts in replies (D84), as chat templates and servers write them: tags, words in brackets, control
 * tokens, and channels of the harmony format, which some servers return without control tokens.
 */

export interface Marker {
  /** `open`: thoughts follow. `close`: the reply follows. */
  readonly kind: 'open' | 'close';
  readonly length: number;
}

const tagNames = [
  'think',
  'thinking',
  'thought',
  'thoughts',
  'reason',
  'reasoning',
  'seed:think',
  'analysis',
  'reflection',
  'scratchpad',
];
const tag = new RegExp(String.raw`<(/?)\s{0,3}(?:${tagNames.join('|')})(?:\s[^<>]{0,200}?)?(/?)>`, 'iy');
const tagBeginning = /^<\/?\s{0,3}([a-z:]*)((?:\s[^<>]{0,200})?\/?)$/;

const messageToken = '<|message|>';
const channelToken = '<|channel|>';
/** Matches a channel token with the name of the channel. */
const channel = /<\|channel\|>\s{0,3}([a-z]*)[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>/iy;
const channelBeginning = /^<\|channel\|>[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?(?:<[|a-z]{0,11})?$/;

const words: Readonly<Record<string, Marker['kind']>> = {
  '[think]': 'open',
  '[/think]': 'close',
  '◁think▷': 'open',
  '◁/think▷': 'close',
  '<|start_thinking|>': 'open',
  '<|end_thinking|>': 'close',
  '<|begin_of_thought|>': 'open',
  '<|end_of_thought|>': 'close',
  '<|thinking|>': 'open',
  '<|/thinking|>': 'close',
  '<|start_response|>': 'close',
  '<|begin_of_solution|>': 'close',
  // Text after the end of a message is not part of the reply, so it is treated like thoughts.
  '<|end_response|>': 'open',
  '<|end_of_solution|>': 'open',
  '<|im_end|>': 'open',
  '<|eot_id|>': 'open',
  '<|endoftext|>': 'open',
  '<end_of_turn>': 'open',
  // In the harmony format, only the channel `final` is the reply. Text after the end of a message is not part of it.
  [channelToken]: 'open',
  '<|start|>': 'open',
  '<|end|>': 'open',
  '<|return|>': 'open',
  '<|call|>': 'open',
  '<|channel>': 'open',
  '<channel|>': 'close',
};
/** Start of a channel whose control tokens were removed: role and channel name. */
const strippedWords: Readonly<Record<string, Marker['kind']>> = {
  assistantfinal: 'close',
  assistantanalysis: 'open',
  assistantcommentary: 'open',
};

const byFirst = Map.groupBy(Object.entries(words), ([word]) => word[0]);
const longestMarker = 700;
const longestWord = Math.max(...Object.keys(words).map(({ length }) => length));

/** Matches the start of a possible marker. */
export const markerStarts = `[<[◁]|${Object.keys(strippedWords).join('|')}`;

/**
 * Returns the marker at a position that `markerStarts` matched; undefined without a marker. Returns `more` if the text
 * is too short to decide.
 * @param isEnd whether the text is complete
 */
export function readMarker(text: string, at: number, isEnd: boolean): Marker | 'more' | undefined {
  const sign = text[at] ?? '';
  if (sign === 'a') return readStripped(text, at);
  const next = text[at + 1] ?? '/';
  if ((sign === '<' && !/[/|a-z\s]/i.test(next)) || (sign === '[' && !/[/t]/i.test(next))) return undefined;
  const found = sign === '<' ? (readTag(text, at) ?? readChannel(text, at)) : undefined;
  if (found !== undefined) return found;
  if (!isEnd && text.length - at < longestMarker && mayBecomeMarker(text.slice(at).toLowerCase())) return 'more';
  const rest = text.slice(at, at + longestWord + 1).toLowerCase();
  const [word, kind] = byFirst.get(sign)?.find(([given]) => rest.startsWith(given)) ?? [];
  if (word === undefined || kind === undefined) return undefined;
  // `[think]` is the label of a link, not a marker.
  if (word === '[think]' && /^[([:]/.test(rest.slice(word.length))) return undefined;
  return { kind, length: word.length };
}

/** Returns whether a text is the beginning of a marker without control tokens. */
export function mayBecomeStripped(text: string): boolean {
  return Object.keys(strippedWords).some((word) => word.length > text.length && word.startsWith(text));
}

function readStripped(text: string, at: number): Marker | undefined {
  const found = Object.entries(strippedWords).find(([word]) => text.startsWith(word, at));
  return found === undefined ? undefined : { kind: found[1], length: found[0].length };
}

function readTag(text: string, at: number): Marker | undefined {
  tag.lastIndex = at;
  const found = tag.exec(text);
  if (found === null) return undefined;
  return { kind: found[1] === '' && found[2] === '' ? 'open' : 'close', length: found[0].length };
}

function readChannel(text: string, at: number): Marker | undefined {
  channel.lastIndex = at;
  const found = channel.exec(text);
  if (found === null) return undefined;
  return { kind: found[1]?.toLowerCase() === 'final' ? 'close' : 'open', length: found[0].length };
}

/** @param rest text from the first character of the possible marker to the end, in lower case */
function mayBecomeMarker(rest: string): boolean {
  if (rest === '[think]') return true;
  if (Object.keys(words).some((word) => word.length > rest.length && word.startsWith(rest))) return true;
  const [, name = '', attributes = ''] = tagBeginning.exec(rest) ?? [];
  if (name !== '' && (attributes === '' ? tagNames.some((known) => known.startsWith(name)) : tagNames.includes(name)))
    return true;
  if (/^<\/?\s{0,3}$/.test(rest)) return true;
  if (!rest.startsWith(channelToken)) return false;
  return channelBeginning.test(rest) && !rest.includes(messageToken);
}

/** Matches a channel name at the start of a reply whose control tokens were removed. */
const strippedBeginning = /^(?:analysis|commentary)/;
const strippedNames = ['analysis', 'commentary'];
/**
 * Matches words that start a sentence after a channel name; other words can continue a name such as `analysisResult`.
 */
const sentenceBeginning =
  /^(?:we|i|the|this|that|it|user|they|he|she|you|there|need|let|must|should|so|ok|okay|first)(?![a-z\d])/i;
const longestBeginning = 8;

/**
 * Returns whether a text starts with a channel of thoughts whose control tokens were removed; `more` if the text is too
 * short to decide.
 */
export function startsInChannel(text: string, isEnd: boolean): 'yes' | 'perhaps' | 'no' | 'more' {
  const [name] = strippedBeginning.exec(text) ?? [];
  if (name === undefined) return !isEnd && strippedNames.some((known) => known.startsWith(text)) ? 'more' : 'no';
  const next = text.slice(name.length);
  if (next.length < longestBeginning && !isEnd && /^[a-z]*$/i.test(next)) return 'more';
  return sentenceBeginning.test(next) ? 'yes' : 'perhaps';
}
