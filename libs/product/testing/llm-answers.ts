/** Default replies of the fake language model: enough for the demo. */
export interface LlmMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/**
 * Returns a simple reply: greets, repeats an earlier message of the visitor, or quotes the sentence of the agent's
 * prompt that shares the most words with the question.
 */
export function defaultAnswer(messages: readonly LlmMessage[]): string {
  const prompt = messages.find((message) => message.role === 'system')?.content ?? '';
  const input = messages.filter((message) => message.role === 'user').map((message) => message.content);
  const question = input.at(-1) ?? '';
  const role = /you are ([^.!?\n]+)/i.exec(prompt)?.[1]?.trim() ?? 'here to help';
  if (input.length > 1 && /\b(before|earlier|remember|so far)\b/i.test(question)) {
    return `Before this you said:\n\n${input
      .slice(0, -1)
      .map((text) => `- ${text.split('\n', 1)[0]}`)
      .join('\n')}`;
  }
  if (/^\s*(hi|hello|hey|good (morning|evening|day))\b/i.test(question))
    return `Hello! I am **${role}**. What would you like to know?`;
  const sentence = findClosest(question, prompt);
  if (sentence !== undefined) return `You asked: *${question.split('\n', 1)[0]}*\n\n${sentence}`;
  return `I am **${role}**. I heard: *${question.split('\n', 1)[0]}*. Tell me a little more, please.`;
}

/**
 * Returns a simple memory: the first lines of the questions become the summary, sentences about the visitor become
 * facts, and questions become knowledge.
 */
export function defaultMemory(messages: readonly LlmMessage[]): string {
  const data = JSON.parse(messages.at(-1)?.content ?? '{}') as {
    summary?: string;
    facts?: string[];
    turns?: { visitor?: string }[];
    notes?: string[];
  };
  const short = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 200);
  if (data.notes !== undefined) return JSON.stringify({ summary: data.notes.slice(0, 5).join(' ').slice(0, 1_000) });
  // A turn may contain only an operator's message and no visitor's message.
  const input = (data.turns ?? []).flatMap(({ visitor = '' }) => (visitor === '' ? [] : [short(visitor)]));
  const aboutThemselves = input.filter((text) => /\b(i|my|me|i'm)\b/i.test(text));
  return JSON.stringify({
    summary: [data.summary ?? '', ...input]
      .filter((text) => text !== '')
      .join(' / ')
      .slice(-1_000),
    facts: [...new Set([...(data.facts ?? []), ...aboutThemselves])].slice(-20),
    knowledge: input.filter((text) => text.endsWith('?') && !aboutThemselves.includes(text)).slice(-5),
  });
}

/**
 * Returns notes about a part of a transcript, or a published summary; both consist of the first sentences of the input.
 */
export function defaultSummary(messages: readonly LlmMessage[]): string {
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
  const requested = words(question);
  let best: { sentence: string; score: number } | undefined;
  for (const sentence of prompt.split(/(?<=[.!?])\s+|\n+/)) {
    const score = [...words(sentence)].filter((word) => requested.has(word)).length;
    if (score > (best?.score ?? 0)) best = { sentence: sentence.trim(), score };
  }
  return best?.sentence;
}

/** Speech to text of the fake language model: the multipart request, and replies in the real formats. */

export interface TranscriptionRequest {
  readonly model: string;
  readonly fileName: string;
  readonly bytes: Buffer;
  /** `json` when the request does not specify one. */
  readonly responseFormat: string;
  readonly language: string | null;
  readonly prompt: string | null;
}

export interface TranscribedSentence {
  /** Seconds from the start of the file. Values of other types are sent unchanged, to simulate invalid replies. */
  readonly start: unknown;
  readonly end: unknown;
  readonly text: string;
}

/**
 * Returns the transcription of file number `index`. `json_only`: the model does not support segments and rejects
 * requests for them.
 */
export type TranscribedAnswer = (
  request: TranscriptionRequest,
  index: number,
) => readonly TranscribedSentence[] | 'json_only' | Promise<readonly TranscribedSentence[] | 'json_only'>;

/** Returns the default transcription: one sentence in the first second of each file. */
export function defaultTranscription(_request: TranscriptionRequest, index: number): TranscribedSentence[] {
  return [{ start: 0, end: 1, text: ` This is what was said in part ${index + 1}.` }];
}

/**
 * Parses the request.
 * @throws Error when the body is not a form with a file and a model
 */
export async function readTranscriptionRequest(contentType: string, body: Buffer): Promise<TranscriptionRequest> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  const text = (name: string): string | null => {
    const value = form.get(name);
    return typeof value === 'string' ? value : null;
  };
  const file = form.get('file');
  const model = text('model');
  if (!(file instanceof File) || model === null) throw new Error('file and model are required');
  return {
    model,
    fileName: file.name,
    bytes: Buffer.from(await file.arrayBuffer()),
    responseFormat: text('response_format') ?? 'json',
    language: text('language'),
    prompt: text('prompt'),
  };
}

export function transcriptionBody(
  request: TranscriptionRequest,
  transcribed: readonly TranscribedSentence[] | 'json_only',
): unknown {
  const sentences = transcribed === 'json_only' ? [{ start: 0, end: 1, text: ' All that was said.' }] : transcribed;
  const text = sentences
    .map((sentence) => sentence.text)
    .join('')
    .trim();
  if (request.responseFormat !== 'verbose_json') return { text };
  const segments = sentences.map((sentence, id) => ({
    id,
    seek: 0,
    ...sentence,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.2,
  }));
  return { task: 'transcribe', language: request.language ?? 'english', duration: 0, text, segments };
}
