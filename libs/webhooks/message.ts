/**
 * What travels on the stream of webhooks: those of one kind that came to a gateway in the same moment, so that the broker syncs once for
 * all of them. A line of JSON describes them, and their bodies follow, byte for byte as they came.
 */
import { isJsonObject, type JsonObject, parseJson } from '#libs/json';

/** One webhook as it was accepted. */
export interface Webhook {
  /** What is known besides the body, as the contract of its kind declares it; `id` is one per delivery. */
  readonly facts: Readonly<JsonObject> & { readonly id: string };
  /** W3C trace context of the request. */
  readonly traceparent?: string | undefined;
  /** Null when it was too large to be kept. */
  readonly body: Buffer | null;
}

const lineEnd = 0x0a;

/** The message that carries them, in their order. */
export function packWebhooks(webhooks: readonly Webhook[]): Buffer {
  const line = webhooks.map(({ facts, traceparent, body }) => ({ facts, traceparent, size: body?.length ?? null }));
  return Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), ...webhooks.flatMap(({ body }) => body ?? [])]);
}

/** What `packWebhooks` joined; undefined when the bytes are something else. The bodies share memory with `bytes`. */
export function unpackWebhooks(bytes: Uint8Array): Webhook[] | undefined {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = readLine(message);
  if (line === undefined) return undefined;
  let offset = line.end;
  const webhooks: Webhook[] = [];
  for (const item of line.items) {
    if (!isDescription(item)) return undefined;
    const { facts, traceparent, size } = item;
    webhooks.push({ facts, traceparent, body: size === null ? null : message.subarray(offset, offset + size) });
    offset += size ?? 0;
  }
  return offset === message.length ? webhooks : undefined;
}

interface Description extends Pick<Webhook, 'facts' | 'traceparent'> {
  readonly size: number | null;
}

function readLine(message: Buffer): { items: unknown[]; end: number } | undefined {
  const length = message.indexOf(lineEnd);
  if (length < 0) return undefined;
  try {
    const items = parseJson(message.toString('utf8', 0, length));
    return Array.isArray(items) ? { items, end: length + 1 } : undefined;
  } catch {
    return undefined;
  }
}

function isDescription(value: unknown): value is Description {
  if (!isJsonObject(value)) return false;
  const { facts, traceparent = '', size } = value;
  const isSize = size === null || (Number.isSafeInteger(size) && Number(size) >= 0);
  return isSize && typeof traceparent === 'string' && isJsonObject(facts) && typeof facts['id'] === 'string';
}
