/** Speech to text of the played language model: the multipart request, and replies in the formats of the real one. */

export interface TranscriptionRequest {
  readonly model: string;
  readonly fileName: string;
  readonly bytes: Buffer;
  /** `json` when the request names none. */
  readonly responseFormat: string;
  readonly language: string | null;
  readonly prompt: string | null;
}

export interface SpokenSentence {
  /** Seconds from the beginning of the file; anything else is sent as it is. */
  readonly start: unknown;
  readonly end: unknown;
  readonly text: string;
}

/** What is heard in the file number `index`; `json_only`: this model knows no segments, and says so. */
export type SpokenAnswer = (
  request: TranscriptionRequest,
  index: number,
) => readonly SpokenSentence[] | 'json_only' | Promise<readonly SpokenSentence[] | 'json_only'>;

/** Without ears: one sentence in the first second of each file. */
export function hearSensibly(_request: TranscriptionRequest, index: number): SpokenSentence[] {
  return [{ start: 0, end: 1, text: ` This is what was said in part ${index + 1}.` }];
}

/** @throws Error when it is no form with a file and a model */
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

export function transcriptionBody(request: TranscriptionRequest, spoken: readonly SpokenSentence[] | 'json_only'): unknown {
  const sentences = spoken === 'json_only' ? [{ start: 0, end: 1, text: ' All that was said.' }] : spoken;
  const text = sentences
    .map((sentence) => sentence.text)
    .join('')
    .trim();
  if (request.responseFormat !== 'verbose_json') return { text };
  const segments = sentences.map((sentence, id) => ({ id, seek: 0, ...sentence, tokens: [], temperature: 0, avg_logprob: -0.2 }));
  return { task: 'transcribe', language: request.language ?? 'english', duration: 0, text, segments };
}
