/** Adapts client messages to the protocol library, and its responses to clients (rules/mcp#protocol; D104). */
import { isJsonObject, type JsonObject } from '#libs/json';

/** JSON-RPC code for invalid parameters. */
export const invalidParams = -32_602;
const internalError = -32_603;

/** Normalizes numbers, so that `1.0` is an integer; null parameters count as absent. */
export function readMessage(given: unknown): unknown {
  const message: unknown = JSON.parse(JSON.stringify(given));
  if (!isJsonObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  return isJsonObject(params)
    ? { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
    : message;
}

/** Whether the message is a client's response. We send no requests, so it is ignored. */
export function isResponse(message: unknown): boolean {
  return isJsonObject(message) && message['method'] === undefined && ('result' in message || 'error' in message);
}

/** Error response for parameters that are not an object; undefined for other messages. */
export function refuseParams(message: unknown): JsonObject | undefined {
  if (!isJsonObject(message) || message['id'] === undefined || message['params'] === undefined || isJsonObject(message['params']))
    return undefined;
  return { jsonrpc: '2.0', id: message['id'], error: { code: invalidParams, message: 'Invalid params: params must be an object' } };
}

/** The single message of the library's response, JSON or an event stream. */
export function readAnswer(text: string, contentType: string | null): unknown {
  if (contentType?.startsWith('text/event-stream') !== true) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(lines.at(-1)?.slice('data:'.length) ?? 'null');
}

/** Rewrites the library's parameter errors, which it reports as server errors or as JSON in the message. */
export function explainParams(answer: unknown): unknown {
  if (!isJsonObject(answer) || !isJsonObject(answer['error'])) return answer;
  const { code, message } = answer['error'];
  if ((code !== invalidParams && code !== internalError) || typeof message !== 'string') return answer;
  const problems = readProblems(message);
  if (problems === undefined) return answer;
  return { ...answer, error: { code: invalidParams, message: `Invalid params: ${problems.join('; ')}` } };
}

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function readProblems(message: string): string[] | undefined {
  const start = message.indexOf('[');
  if (start === -1) return undefined;
  try {
    const problems = JSON.parse(message.slice(start)) as Problem[];
    return problems.map((problem) => `${problem.path.join('.')}: ${problem.message.replace(/^Invalid input: /, '')}`);
  } catch {
    return undefined;
  }
}
