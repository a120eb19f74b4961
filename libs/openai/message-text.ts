/** What a message says: its text, or that of its parts which are text. Undefined when it has none. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : undefined;
  return content.map((part: { type?: unknown; text?: unknown } | null) => (part?.type === 'text' ? textOf(part.text) : '')).join('');
}

/** Some servers say "no reason yet" without a null. */
export function readFinish(finish: unknown): unknown {
  return finish === '' || finish === 'null' ? null : finish;
}
