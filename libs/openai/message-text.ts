/** What a message says: its text, or that of its parts which are text. Undefined when it has none. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : undefined;
  return content.map((part: { type?: unknown; text?: unknown } | null) => (part?.type === 'text' ? textOf(part.text) : '')).join('');
}

/** Some servers say "no reason yet" without a null. */
export function readFinish(finish: unknown): unknown {
  return finish === '' || finish === 'null' ? null : finish;
}

/** How servers say that the model has said all that it wanted to: OpenAI's word, and the words of models that some servers hand on. */
const completeFinishReasons = new Set(['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence']);

export function isCompleteFinish(finish: unknown): boolean {
  return typeof finish === 'string' && completeFinishReasons.has(finish.toLowerCase());
}

/** Whether a message or a piece of one has thoughts apart from its text. */
export function hasReasoning(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false;
  const { reasoning_content: content, reasoning, content: parts } = message as Readonly<Record<string, unknown>>;
  if ([content, reasoning].some((text) => typeof text === 'string' && text.trim() !== '')) return true;
  return Array.isArray(parts) && parts.some((part: { type?: unknown } | null) => part?.type === 'thinking');
}
