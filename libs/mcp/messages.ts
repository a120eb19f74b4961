/** Messages of clients as the protocol's library wants them, and its answers as clients want them (rules/mcp#protocol; D104). */
import { isJsonObject, type JsonObject } from '#libs/json';

/** JSON-RPC: the parameters are not what the method takes. */
export const invalidParams = -32_602;
const internalError = -32_603;

/** Numbers as JavaScript has them, so that `1.0` is an integer; a parameter that is null counts as absent. */
export function readMessage(given: unknown): unknown {
  const message: unknown = JSON.parse(JSON.stringify(given));
  if (!isJsonObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  return isJsonObject(params)
    ? { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
    : message;
}

/** A client's answer to a request of ours. There are none, whatever it answers. */
export function isResponse(message: unknown): boolean {
  return isJsonObject(message) && message['method'] === undefined && ('result' in message || 'error' in message);
}

/** The answer to a request whose parameters are a list or a single value; undefined for every other message. */
export function refuseParams(message: unknown): JsonObject | undefined {
  if (!isJsonObject(message) || message['id'] === undefined || message['params'] === undefined || isJsonObject(message['params']))
    return undefined;
  return { jsonrpc: '2.0', id: message['id'], error: { code: invalidParams, message: 'Invalid params: params must be an object' } };
}

/** The one message of the library's answer, JSON or an event of a stream. */
export function readAnswer(text: string, contentType: string | null): unknown {
  if (contentType?.startsWith('text/event-stream') !== true) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(lines.at(-1)?.slice('data:'.length) ?? 'null');
}

/** The library reports parameters that do not fit its schemas as a fault of the server, or in words that are JSON themselves. */
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
