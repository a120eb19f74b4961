/** What the played language model answers when nobody has told it what to answer: enough for the demo. */
export interface LlmMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/**
 * A modest answer without a model: greets, tells what the visitor said before, or quotes the sentence of the agent's prompt that
 * shares the most words with the question.
 */
export function answerSensibly(messages: readonly LlmMessage[]): string {
  const prompt = messages.find((message) => message.role === 'system')?.content ?? '';
  const said = messages.filter((message) => message.role === 'user').map((message) => message.content);
  const question = said.at(-1) ?? '';
  const role = /you are ([^.!?\n]+)/i.exec(prompt)?.[1]?.trim() ?? 'here to help';
  if (said.length > 1 && /\b(before|earlier|remember|so far)\b/i.test(question)) {
    return `Before this you said:\n\n${said
      .slice(0, -1)
      .map((text) => `- ${text.split('\n', 1)[0]}`)
      .join('\n')}`;
  }
  if (/^\s*(hi|hello|hey|good (morning|evening|day))\b/i.test(question)) return `Hello! I am **${role}**. What would you like to know?`;
  const sentence = findClosest(question, prompt);
  if (sentence !== undefined) return `You asked: *${question.split('\n', 1)[0]}*\n\n${sentence}`;
  return `I am **${role}**. I heard: *${question.split('\n', 1)[0]}*. Tell me a little more, please.`;
}

/**
 * Memory without a model: the first line of each question becomes the summary, sentences about oneself become facts, questions become
 * knowledge.
 */
export function rememberSensibly(messages: readonly LlmMessage[]): string {
  const data = JSON.parse(messages.at(-1)?.content ?? '{}') as {
    summary?: string;
    facts?: string[];
    turns?: { visitor?: string }[];
    notes?: string[];
  };
  const short = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 200);
  if (data.notes !== undefined) return JSON.stringify({ summary: data.notes.slice(0, 5).join(' ').slice(0, 1_000) });
  // A turn may be an operator's alone.
  const said = (data.turns ?? []).flatMap(({ visitor = '' }) => (visitor === '' ? [] : [short(visitor)]));
  const aboutThemselves = said.filter((text) => /\b(i|my|me|i'm)\b/i.test(text));
  return JSON.stringify({
    summary: [data.summary ?? '', ...said]
      .filter((text) => text !== '')
      .join(' / ')
      .slice(-1_000),
    facts: [...new Set([...(data.facts ?? []), ...aboutThemselves])].slice(-20),
    knowledge: said.filter((text) => text.endsWith('?') && !aboutThemselves.includes(text)).slice(-5),
  });
}

/** Notes of a part of a transcript, or what is published of one: its first sentences. */
export function summarizeSensibly(messages: readonly LlmMessage[]): string {
  const data = JSON.parse(messages.find(({ role }) => role === 'user')?.content ?? '{}') as {
    transcript?: string;
    notes?: string[];
    part?: number;
  };
  const text = (data.transcript ?? (data.notes ?? []).join(' '))
    .split('\n')
    .filter((line) => !/^(#|- |$)/.test(line))
    .join(' ')
    .replaceAll(/\*\*|\[[\d:.]+\]/g, '')
    .trim();
  const words = text === '' ? 'A conversation' : text;
  if (data.part !== undefined) return JSON.stringify({ notes: words.slice(0, 1_000) });
  return JSON.stringify({
    title: words.split(' ').slice(0, 6).join(' ').slice(0, 80),
    summary: words.slice(0, 600),
    videohost_description: words.slice(0, 300),
  });
}

function findClosest(question: string, prompt: string): string | undefined {
  const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
  const asked = words(question);
  let best: { sentence: string; score: number } | undefined;
  for (const sentence of prompt.split(/(?<=[.!?])\s+|\n+/)) {
    const score = [...words(sentence)].filter((word) => asked.has(word)).length;
    if (score > (best?.score ?? 0)) best = { sentence: sentence.trim(), score };
  }
  return best?.sentence;
}
