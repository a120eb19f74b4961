/**
 * Holds replies against their contracts before they are sent: those that a handler made of values, those whose JSON
 * came from SQL or was joined by hand, and streamed ones. On in every test (`CHECK_REPLIES`), off elsewhere: what a
 * service answers is its own code's doing.
 */
import type { Rpc, TSchema } from '#libs/contract';
import { isJsonObject, parseJson } from '#libs/json';
import { compileSchema } from '#libs/schema';
import { JsonStream, RawJson } from './reply.ts';
import { decodeText } from './wire.ts';

/** A service answered what its contract does not promise. Names the place and the rule, never the value. */
export class InvalidReply extends Error {
  constructor(subject: string, problem: string) {
    super(`reply of ${subject} breaks its contract: ${problem}`);
    this.name = 'BrokenReply';
  }
}

/** Gives back what may be sent: the body, or for a stream one that fails at its end. @throws BrokenReply */
export type ReplyCheck = <Body>(body: Body) => Body | JsonStream;

/**
 * A streamed reply is held until its end up to this size; beyond it only its beginning would be known, and nothing is
 * checked.
 */
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
    // As the caller will read it: without what is undefined.
    else checkValue(parse(rpc.subject, JSON.stringify(body) ?? 'null'));
    return body;
  };
}

/** Of each contract one, because what compiles it remembers what it has compiled. */
const closedReplies = new WeakMap<Rpc, TSchema>();

function closedReplyOf(rpc: Rpc): TSchema {
  const closed = closedReplies.get(rpc) ?? (closeSchema(rpc.reply) as TSchema);
  closedReplies.set(rpc, closed);
  return closed;
}

/** Keywords whose values are data, and ones whose values are schemas by name. */
const data = new Set(['const', 'enum', 'default', 'examples', 'required']);
const named = new Set(['properties', 'patternProperties']);

/**
 * The schema for who answers: no fields beside those declared, and times with their offsets. Readers of a reply must
 * bear more.
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
 * Passes a stream on piece by piece, so that it flows as it would unchecked; its reader sees it break where it would
 * have ended.
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
