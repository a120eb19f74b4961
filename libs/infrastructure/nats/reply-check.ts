/**
 * Validates replies against their contracts before they are sent: values from handlers, JSON from SQL or joined by
 * hand, and streams. It is enabled in every test (`CHECK_REPLIES`) and disabled in production, where the code that
 * creates the replies is trusted.
 */
import type { Rpc, TSchema } from '#libs/infrastructure/contract';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { compileSchema } from '#libs/infrastructure/schema';
import { JsonStream, RawJson } from './reply.ts';
import { decodeText } from './wire.ts';

/** A reply that does not match its contract. The message has the path and the rule, never the value. */
export class InvalidReply extends Error {
  constructor(subject: string, problem: string) {
    super(`reply of ${subject} breaks its contract: ${problem}`);
    this.name = 'BrokenReply';
  }
}

/**
 * Checks a reply. Returns the body to send; a returned stream fails at its end if it does not match. @throws
 * InvalidReply
 */
export type ReplyCheck = <Body>(body: Body) => Body | JsonStream;

/** Maximum size of a streamed reply that is checked. It is buffered until its end; larger streams are not checked. */
const maxHeldBytes = 32 * 1024 * 1024;

export function compileReplyCheck(rpc: Rpc): ReplyCheck {
  const check = compileSchema(closedReplyOf(rpc));
  const checkValue = (value: unknown): void => {
    const problem = check(value);
    if (problem !== undefined)
      throw new InvalidReply(rpc.subject, `${problem.path.join('.') || 'body'} ${problem.message}`);
  };
  const checkBytes = (bytes: Uint8Array, json: boolean): void => {
    const text = decodeText(bytes);
    checkValue(json ? parse(rpc.subject, text) : text);
  };
  return (body) => {
    if (body instanceof JsonStream) return new JsonStream(checkedStream(body, checkBytes), body.json, body.isLive);
    if (body instanceof RawJson) checkBytes(body.bytes, body.json);
    // Checks the JSON that the caller receives, which omits undefined fields.
    else checkValue(parse(rpc.subject, JSON.stringify(body) ?? 'null'));
    return body;
  };
}

/** One closed schema per contract, because the schema compiler caches by schema object. */
const closedReplies = new WeakMap<Rpc, TSchema>();

function closedReplyOf(rpc: Rpc): TSchema {
  const closed = closedReplies.get(rpc) ?? (closeSchema(rpc.reply) as TSchema);
  closedReplies.set(rpc, closed);
  return closed;
}

/** Keywords whose values are data, not schemas. */
const data = new Set(['const', 'enum', 'default', 'examples', 'required']);
const named = new Set(['properties', 'patternProperties']);

/**
 * Returns the stricter schema for responders: no undeclared fields, and times with an offset. Readers of a reply must
 * accept more than that.
 */
function closeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeSchema);
  if (!isJsonObject(schema)) return schema;
  const closed = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (data.has(key)) return [key, value];
      if (!named.has(key) || !isJsonObject(value)) return [key, closeSchema(value)];
      return [key, Object.fromEntries(Object.entries(value).map(([name, property]) => [name, closeSchema(property)]))];
    }),
  );
  if (closed['format'] === 'date-time') closed['format'] = 'date-time-offset';
  const hasFields = isJsonObject(closed['properties']) && Object.keys(closed['properties']).length > 0;
  return hasFields && closed['patternProperties'] === undefined ? { additionalProperties: false, ...closed } : closed;
}

function parse(subject: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new InvalidReply(subject, 'it is no JSON');
  }
}

/**
 * Passes a stream on chunk by chunk, as without a check. If the complete text is invalid, the stream fails at its end.
 */
async function* checkedStream(
  { source, json }: JsonStream,
  check: (bytes: Uint8Array, json: boolean) => void,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
    size += bytes.length;
    if (size <= maxHeldBytes) held.push(bytes);
    else held = [];
    yield bytes;
  }
  if (size <= maxHeldBytes) check(Buffer.concat(held, size), json);
}
