/**
 * A chat completion that came as server-sent events, put together to what it would have been without streaming (rules/providers#language-models).
 * A stream that ends before its `finish_reason` is cut off; an error in the middle of it is no answer.
 */

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly refusal?: unknown };
    readonly finish_reason?: unknown;
  }[];
  readonly usage?: unknown;
  readonly error?: unknown;
}

/** The completion, or `{}` for what is none. */
export function assembleEventStream(text: string): Record<string, unknown> {
  const parts: string[] = [];
  let refusal = '';
  let finishReason: unknown;
  let usage: unknown;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    if (data === '' || data === '[DONE]') continue;
    const chunk = parseChunk(data);
    if (chunk === undefined || chunk.error !== undefined) return {};
    usage = chunk.usage ?? usage;
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (typeof choice?.delta?.content === 'string') parts.push(choice.delta.content);
    if (typeof choice?.delta?.refusal === 'string') refusal += choice.delta.refusal;
    finishReason = choice?.finish_reason ?? finishReason;
  }
  const message = { role: 'assistant', content: parts.join(''), refusal: refusal === '' ? null : refusal };
  return { choices: [{ index: 0, message, finish_reason: finishReason ?? 'length' }], usage };
}

function parseChunk(data: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
