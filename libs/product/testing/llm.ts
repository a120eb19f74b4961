/**
 * A scripted OpenAI-compatible server for chat and speech to text (rules/providers#language-models): real wire format,
 * and every fault that a chat must survive. Without a script it derives replies from the prompt and the last message,
 * which is enough for the demo.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer as readBytes } from 'node:stream/consumers';
import {
  defaultAnswer,
  type LlmMessage,
  defaultMemory,
  defaultSummary,
  defaultTranscription,
  readTranscriptionRequest,
  transcriptionBody,
  type TranscribedAnswer,
  type TranscriptionRequest,
} from './llm-answers.ts';
import {
  completion,
  sendFault,
  sendError,
  sendJson,
  sendStream,
  waitOrClose,
  type LlmFault,
  type LlmSpeech,
} from './llm-wire.ts';

export type { LlmMessage } from './llm-answers.ts';
export type { LlmFault, LlmSpeech } from './llm-wire.ts';
export type { TranscribedAnswer, TranscriptionRequest } from './llm-answers.ts';

export interface LlmRequest {
  readonly model: string;
  readonly messages: readonly LlmMessage[];
  /** Whether a streamed reply was requested. */
  readonly stream: boolean;
  readonly authorization: string | undefined;
}

export type LlmAnswer = (messages: readonly LlmMessage[]) => string | Promise<string>;

export interface LlmServer {
  /** Value for LLM_BASE_URL. */
  readonly baseUrl: string;
  /** Value for LLM_API_KEY; requests with another key receive 401. */
  readonly apiKey: string;
  /** Chat requests so far, oldest first. Requests for the memory, which request a JSON object, are not included. */
  readonly requests: readonly LlmRequest[];
  readonly memoryRequests: readonly LlmRequest[];
  /** Requests for published summaries of conversations. */
  readonly summaryRequests: readonly LlmRequest[];
  /** Requests with audio files to transcribe. */
  readonly transcriptionRequests: readonly TranscriptionRequest[];
  /** Number of requests in progress. */
  readonly pending: number;
  /** Makes the next requests fail, each with one of the faults in order. */
  fail(...faults: LlmFault[]): void;
  /** Makes the next requests for the memory fail, each with one of the faults in order. */
  failMemory(...faults: LlmFault[]): void;
  failSummary(...faults: LlmFault[]): void;
  failTranscription(...faults: LlmFault[]): void;
  /** Removes all pending faults. */
  clearFaults(): void;
  /** Sets the replies to later requests; undefined restores the default replies. */
  answerWith(answer: LlmAnswer | undefined, speech?: LlmSpeech): void;
  answerMemoryWith(answer: LlmAnswer | undefined): void;
  answerSummaryWith(answer: LlmAnswer | undefined): void;
  transcribeWith(answer: TranscribedAnswer | undefined): void;
  stop(): Promise<void>;
}

/**
 * Starts the server on the loopback interface; `port` 0 uses any free port. `recordsRequests: false` for a server that
 * runs for days.
 */
export async function startLlm(
  options: { port?: number; apiKey?: string; recordsRequests?: boolean } = {},
): Promise<LlmServer> {
  const { apiKey = 'llm-test-key', recordsRequests = true } = options;
  const chat = createLine<LlmRequest, LlmAnswer>(defaultAnswer);
  const memory = createLine<LlmRequest, LlmAnswer>(defaultMemory);
  const summary = createLine<LlmRequest, LlmAnswer>(defaultSummary);
  const speech = createLine<TranscriptionRequest, TranscribedAnswer>(defaultTranscription);
  let pending = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await readBytes(request);
    const path = request.method === 'POST' ? (request.url ?? '') : '';
    const isSpeech = path.endsWith('/audio/transcriptions');
    if (!isSpeech && !path.endsWith('/chat/completions')) return sendError(response, 404, 'Not found');
    if (request.headers.authorization !== `Bearer ${apiKey}`)
      return sendError(response, 401, 'Incorrect API key provided');
    await (isSpeech ? transcribe(request, response, bytes) : complete(request, response, bytes.toString('utf8')));
  };

  const complete = async (request: IncomingMessage, response: ServerResponse, text: string): Promise<void> => {
    const body = JSON.parse(text) as {
      model?: string;
      messages?: LlmMessage[];
      stream?: boolean;
      stream_options?: { include_usage?: boolean };
    };
    if (body.model === undefined || !Array.isArray(body.messages))
      return sendError(response, 400, 'model and messages are required');
    const [first] = body.messages;
    const instructions = first?.role === 'system' ? first.content : '';
    const line = isMemoryRequest.test(instructions) ? memory : isSummaryRequest.test(instructions) ? summary : chat;
    const { stream = false, model, messages } = body;
    if (recordsRequests) line.requests.push({ model, messages, stream, authorization: request.headers.authorization });
    const fault = line.faults.shift();
    if (fault?.kind === 'slow' && !(await waitOrClose(response, fault.delayMs))) return;
    if (fault !== undefined && (await sendFault(response, body.model, fault))) return;
    const answer = await line.answer(body.messages);
    if (fault?.kind === 'stream') return sendStream(response, body.model, answer, fault);
    if (stream && fault?.kind === 'no_streams' && fault.status !== undefined)
      return sendError(response, fault.status, 'no streams here');
    if (stream && fault?.kind !== 'no_streams') {
      const reportsUsage = body.stream_options?.include_usage === true && fault?.kind !== 'no_usage';
      return sendStream(response, body.model, answer, { kind: 'stream', ...line.speech }, reportsUsage);
    }
    const whole = completion(body.model, answer, 'stop');
    sendJson(response, 200, fault?.kind === 'no_usage' ? { ...whole, usage: undefined } : whole);
  };

  const transcribe = async (request: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> => {
    const requests = await readTranscriptionRequest(request.headers['content-type'] ?? '', bytes);
    if (recordsRequests) speech.requests.push(requests);
    const fault = speech.faults.shift();
    if (fault?.kind === 'slow' && !(await waitOrClose(response, fault.delayMs))) return;
    if (fault !== undefined && (await sendFault(response, requests.model, fault))) return;
    const transcribed = await speech.answer(requests, speech.requests.length - 1);
    if (transcribed === 'json_only' && requests.responseFormat !== 'json') {
      return sendError(response, 400, `response_format '${requests.responseFormat}' is not compatible with model`);
    }
    sendJson(response, 200, transcriptionBody(requests, transcribed));
  };

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    pending++;
    response.once('close', () => pending--);
    serve(request, response).catch((error: unknown) =>
      sendError(response, 400, error instanceof Error ? error.message : 'bad request'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey,
    requests: chat.requests,
    memoryRequests: memory.requests,
    summaryRequests: summary.requests,
    transcriptionRequests: speech.requests,
    get pending() {
      return pending;
    },
    fail: (...more) => void chat.faults.push(...more),
    failMemory: (...more) => void memory.faults.push(...more),
    failSummary: (...more) => void summary.faults.push(...more),
    failTranscription: (...more) => void speech.faults.push(...more),
    clearFaults: () => {
      for (const { faults } of [chat, memory, summary, speech]) faults.length = 0;
    },
    answerWith: (given, speech = {}) => {
      chat.answer = given ?? defaultAnswer;
      chat.speech = speech;
    },
    answerMemoryWith: (given) => void (memory.answer = given ?? defaultMemory),
    answerSummaryWith: (given) => void (summary.answer = given ?? defaultSummary),
    transcribeWith: (given) => void (speech.answer = given ?? defaultTranscription),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** State of one kind of request: the received requests, the pending faults, and the reply function. */
interface Line<Request, Answer> {
  readonly requests: Request[];
  readonly faults: LlmFault[];
  answer: Answer;
  speech: LlmSpeech;
}

function createLine<Request, Answer>(answer: Answer): Line<Request, Answer> {
  return { requests: [], faults: [], answer, speech: {} };
}

const isMemoryRequest = /^You keep the memory of a chat agent\./;
const isSummaryRequest = /^You write what is published of a recorded conversation\./;

if (import.meta.main) {
  const server = await startLlm({
    port: Number(process.env['PORT'] ?? 8089),
    apiKey: process.env['LLM_API_KEY'] ?? 'none',
  });
  console.log(
    `Scripted model server: LLM_BASE_URL=${server.baseUrl} LLM_API_KEY=${server.apiKey} LLM_MODEL=scripted. Ctrl-C stops it.`,
  );
}
