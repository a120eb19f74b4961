/** Lines and events of a stream that are no part of a completion: pings, which change nothing, and errors, after which there is no answer (D85). */

const keepAlives = new Set(['ping', 'pong', 'heartbeat', 'keepalive']);
/** Fields with which servers report an error in the place of a chunk. */
const errorTexts = ['error', 'errors', 'detail', 'message', 'msg', 'exception', 'error_message', 'error_msg', 'reason'];
const codes = ['code', 'status', 'status_code', 'error_code', 'state', 'type', 'event', 'object'];
const errorWord = /error|exception|fail|denied|abort|unavailable|overload/i;

/** An event name, data or a line that only says that the server is there. */
export function isKeepAlive(text: string): boolean {
  return text.length < 40 && keepAlives.has(text.replace(/[^a-z]/gi, '').toLowerCase());
}

export function isErrorName(event: string): boolean {
  return errorWord.test(event);
}

/** Whether a line is a field or a comment. Others are no events but what a server or proxy writes when it fails. */
export function isStreamField(line: string): boolean {
  const [, name] = /^([a-z][\w-]*)?(?::|$)/i.exec(line) ?? [];
  return name === undefined ? line.startsWith(':') || isKeepAlive(line) : !errorWord.test(name);
}

/** @param event an object or array. */
export function isErrorEvent(event: object): boolean {
  if (Array.isArray(event)) return event.some((item) => typeof item === 'object' && item !== null && isErrorEvent(item));
  const fields = event as Readonly<Record<string, unknown>>;
  const choice = Array.isArray(fields['choices']) ? (fields['choices'][0] as { readonly error?: unknown } | null | undefined) : undefined;
  if ([fields['error'], fields['errors'], choice?.error].some(isSet)) return true;
  if (codes.some((name) => isErrorCode(fields[name]))) return true;
  // Some servers add `code: 0, message: "Success"` to each chunk.
  if (choice !== undefined || codes.some((name) => isSuccess(fields[name]))) return false;
  return errorTexts.some((name) => isSet(fields[name]));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);
}

function isErrorCode(value: unknown): boolean {
  return typeof value === 'string' && !/^\d+$/.test(value) ? errorWord.test(value) : Number(value) >= 400;
}

function isSuccess(value: unknown): boolean {
  return (
    value === 0 || value === 200 || (typeof value === 'string' && /^(?:0|200|ok|success|succeeded|processing|queued|ping)$/i.test(value))
  );
}
